//! That nothing of a recorded answer is lost: every field that holds something is read, or known to carry nothing of the answer.

use crate::servers::{SERVERS, answer, shape};
use merit_endpoint::Reply;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Fields that are read. `said` is the message or a piece of it.
const READ: &[&str] = &[
    "model",
    "prompt_token_ids",
    "choices.index",
    "choices.finish_reason",
    "choices.stop_reason",
    "choices.matched_stop",
    "choices.text",
    "choices.token_ids",
    "choices.response_token_ids",
    "choices.prompt_token_ids",
    "choices.said.content",
    "choices.said.reasoning",
    "choices.said.reasoning_content",
    "choices.said.tool_calls.id",
    "choices.said.tool_calls.index",
    "choices.said.tool_calls.function.name",
    "choices.said.tool_calls.function.arguments",
    "choices.logprobs.content.token",
    "choices.logprobs.content.id",
    "choices.logprobs.content.bytes",
    "choices.logprobs.content.logprob",
    "choices.logprobs.content.top_logprobs.token",
    "choices.logprobs.content.top_logprobs.id",
    "choices.logprobs.content.top_logprobs.bytes",
    "choices.logprobs.content.top_logprobs.logprob",
    "choices.logprobs.tokens",
    "choices.logprobs.token_logprobs",
    "choices.logprobs.top_logprobs",
    "usage.prompt_tokens",
    "usage.completion_tokens",
    "usage.prompt_tokens_details.cached_tokens",
    "usage.completion_tokens_details.reasoning_tokens",
    "usage.reasoning_tokens",
    "timings.cache_n",
    "timings.prompt_n",
    "timings.predicted_n",
];
/// Fields that carry nothing of the answer: names, times, sums of what is read, and what is the same each time.
const LEFT: &[&str] = &[
    "id",
    "object",
    "created",
    "system_fingerprint",
    "metadata.weight_version",
    "metadata.weight_versions.version",
    "metadata.weight_versions.start",
    "metadata.weight_versions.end",
    "choices.said.role",
    "choices.said.tool_calls.type",
    "choices.logprobs.text_offset",
    "usage.total_tokens",
    "usage.prompt_tokens_details.created_cache_tokens",
    // Never asked for by us.
    "prompt_logprobs",
];

/// Fields that are read only where the same is not told elsewhere.
const SECOND: &[&str] = &["usage.reasoning_tokens", "timings.prompt_n", "timings.predicted_n"];

/// Visits the fields that hold something. Lists are looked through; what has tokens for names is one field.
fn visit(at: &str, value: &mut Value, seen: &mut dyn FnMut(&str, &mut Value)) {
    let named_by_tokens = ["choices.logprobs.top_logprobs", "prompt_logprobs"].contains(&at);
    match value {
        Value::Null => {}
        Value::Array(list) => list.iter_mut().for_each(|value| visit(at, value, seen)),
        Value::Object(object) if named_by_tokens => {
            object.values_mut().for_each(|value| visit(at, value, seen))
        }
        Value::Object(object) => object.iter_mut().for_each(|(name, value)| {
            let name = if ["message", "delta"].contains(&name.as_str()) { "said" } else { name };
            visit(format!("{at}.{name}").trim_start_matches('.'), value, seen);
        }),
        _ => seen(at, value),
    }
}

/// The answer with every field of this name changed.
fn changed(body: &Value, field: &str) -> Value {
    let mut body = body.clone();
    visit("", &mut body, &mut |at, value| {
        if at == field {
            *value = match &*value {
                Value::String(text) => json!(format!("{text}x")),
                number => number
                    .as_u64()
                    .map_or_else(|| json!(number.as_f64().unwrap() - 1.0), |count| json!(count + 1)),
            };
        }
    });
    body
}

/// Every recorded answer, and every chunk of one, with its file.
fn bodies() -> Vec<(String, Value)> {
    let folder = std::fs::read_dir(format!("{}/tests/shapes", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut bodies = Vec::new();
    for file in names.filter(|name| SERVERS.iter().any(|server| name.starts_with(server))) {
        let text = shape(&file);
        let events =
            text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|event| *event != "[DONE]");
        let texts: Vec<&str> = if file.ends_with(".txt") { events.collect() } else { vec![&text] };
        bodies.extend(texts.into_iter().map(|text| (file.clone(), serde_json::from_str(text).unwrap())));
    }
    bodies.retain(|(_, body): &(String, Value)| body.get("choices").is_some());
    bodies
}

fn names(body: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    visit("", &mut body.clone(), &mut |at, _| {
        found.insert(at.to_owned());
    });
    found
}

#[test]
fn every_field_of_every_answer_is_read_or_carries_nothing() {
    for (file, body) in bodies() {
        // Beside the counts llama.cpp's times are times.
        let known = |name: &str| READ.contains(&name) || LEFT.contains(&name) || name.starts_with("timings.");
        assert_eq!(names(&body).iter().find(|name| !known(name)), None, "{file}");
    }
}

#[test]
fn an_answer_is_another_when_any_field_that_is_read_is() {
    let read = |body: &Value| answer(Reply::json(200, body), false).ok();
    let mut tried = 0;
    for (file, body) in bodies().into_iter().filter(|(file, _)| file.ends_with(".json")) {
        // Two answers at once are refused.
        let Some(whole) = read(&body) else { continue };
        for field in names(&body)
            .iter()
            .filter(|name| READ.contains(&name.as_str()) && !SECOND.contains(&name.as_str()))
        {
            assert_ne!(read(&changed(&body, field)).as_ref(), Some(&whole), "{file}: {field}");
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried}");
}
