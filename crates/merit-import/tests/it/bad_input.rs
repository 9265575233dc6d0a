//! Bad input: named with its line, never lost, never a panic.

use merit_core::conformance::check_episode;
use merit_import::{
    AUTO, FORMATS, ImportError, ImportLimits, ImportOptions, Imported, ItemError, Skipped, read,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const OPENAI: &str = include_str!("../fixtures/openai.jsonl");
const TAU_BENCH: &str = include_str!("../fixtures/tau-bench.json");
const PLAIN: &str = include_str!("../fixtures/plain.jsonl");
const GOOD: &str = r#"{"prompt": "p", "response": "r"}"#;

fn tolerant() -> ImportOptions {
    ImportOptions { allow_skipped: true, ..ImportOptions::default() }
}

fn skipped(text: &str, options: &ImportOptions) -> Vec<Skipped> {
    match read(text.as_bytes(), AUTO, options) {
        Ok(imported) => imported.skipped,
        Err(ImportError::Skipped { skipped, .. }) => skipped,
        Err(other) => panic!("{other}"),
    }
}

fn why(line: &str) -> String {
    let found = skipped(&format!("{GOOD}\n{line}"), &tolerant());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].item), (2, 1));
    found[0].why.to_string()
}

#[test]
fn a_bad_line_fails_the_import_and_is_named() {
    let text = format!("{GOOD}\n\n{{\"prompt\": 3, \"response\": \"r\"}}\n{{\"prompt\": \n{GOOD}\n");
    let refused = read(text.as_bytes(), AUTO, &ImportOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("2 of 4 episodes cannot be imported, so nothing was:"), "{refused}");
    assert!(
        refused.contains("line 3 (item 1): `prompt` is a number, not a string or a list of messages"),
        "{refused}"
    );
    assert!(refused.contains("line 4 (item 2): not JSON"), "{refused}");
    let imported = read(text.as_bytes(), AUTO, &tolerant()).unwrap();
    assert_eq!((imported.episodes.len(), imported.skipped.len()), (2, 2));
}

#[test]
fn a_broken_first_line_does_not_hide_the_others() {
    let text = format!("{{\"prompt\": \n{GOOD}");
    assert_eq!(skipped(&text, &tolerant()).iter().map(|s| s.line).collect::<Vec<_>>(), [1]);
}

#[test]
fn each_reason_says_where() {
    let in_messages = |message: &str| {
        let text = format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"hi\"}}, {message}]}}");
        let found = skipped(&text, &ImportOptions::default());
        found[0].why.to_string()
    };
    assert_eq!(in_messages("{}"), "`messages[1].role` is missing");
    assert_eq!(
        in_messages(r#"{"role": "user", "content": "again"}"#),
        "it is no episode: it has no assistant message, and no error that would explain it"
    );
    assert_eq!(in_messages("5"), "`messages[1]` is a number, not an object");
    let known = "known: system, developer, user, assistant, tool, function";
    assert_eq!(in_messages(r#"{"role": "robot"}"#), format!("`messages[1].role` is `robot`; {known}"));
    assert_eq!(
        in_messages(r#"{"role": "assistant", "content": 7}"#),
        "`messages[1].content` is a number, not a string, null or an array of parts"
    );
    assert_eq!(
        in_messages(r#"{"role": "assistant", "tool_calls": {}}"#),
        "`messages[1].tool_calls` is an object, not an array"
    );
    assert_eq!(
        in_messages(r#"{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 1}}]}"#),
        "`messages[1].tool_calls[0].function.arguments` is a number, not a string or an object"
    );
    assert_eq!(
        why(r#"{"a": 1}"#),
        "it is no episode of this format: it has the fields `a`, wanted are `prompt` and `response`, or an episode"
    );
    assert_eq!(
        why(r#"{"prompt": "p", "response": "r", "reward": "high"}"#),
        "`reward` is a string, not a number"
    );
    assert!(why(r#"{"prompt": "p", "response": "r", "reward": NaN}"#).starts_with("not JSON"));
}

#[test]
fn a_call_without_a_name_is_the_agents_mistake() {
    let text = r#"{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]}, {"role": "assistant", "content": " "}]}"#;
    let imported = read(text.as_bytes(), AUTO, &ImportOptions::default()).unwrap();
    let turns = &imported.episodes[0].episode.turns;
    let whys: Vec<String> = turns.iter().map(|turn| format!("{:?}", turn.action)).collect();
    assert_eq!(
        whys,
        [
            r#"Malformed { why: "call 0 names no tool" }"#,
            r#"Malformed { why: "it says nothing and calls nothing" }"#
        ]
    );
}

#[test]
fn the_same_trial_twice_is_refused_and_so_is_another_task_of_the_same_name() {
    let mut file: Vec<Value> = serde_json::from_str(TAU_BENCH).unwrap();
    file.push(file[0].clone());
    let mut other = file[0].clone();
    other["trial"] = json!(5);
    other["info"]["task"]["instruction"] = json!("Something else.");
    file.push(other);
    let found = skipped(&serde_json::to_string_pretty(&file).unwrap(), &tolerant());
    assert_eq!(found.len(), 2);
    assert!(
        matches!(&found[0].why, ItemError::Duplicate { episode, item: 0, .. } if episode == "import/0/7/0")
    );
    assert!(
        matches!(&found[1].why, ItemError::OtherTask { task, what, .. } if task == "7" && what == "`instruction`")
    );
    assert!(found[0].line > 100, "items of an array are named by their own line");
}

#[test]
fn an_own_episode_that_breaks_the_rules_is_refused() {
    let native = include_str!("../../../merit-core/tests/golden/native-episode.json");
    let mut episode: Value = serde_json::from_str(native).unwrap();
    episode["cost"]["policy_tokens"] = json!(1);
    assert!(why(&episode.to_string()).contains("cost counts 1 policy tokens"));
    let mut episode: Value = serde_json::from_str(native).unwrap();
    episode["transcript"][1]["logprobs"][0] = json!(0.5);
    assert!(why(&episode.to_string()).contains("log-probability"));
}

#[test]
fn sizes_are_bounded() {
    let limited = |limits: ImportLimits| ImportOptions { limits, ..tolerant() };
    let whole = limited(ImportLimits { file_bytes: 100, ..ImportLimits::default() });
    assert!(matches!(read(PLAIN.as_bytes(), AUTO, &whole), Err(ImportError::TooLarge { limit: 100 })));
    let entry = limited(ImportLimits { entry_bytes: 110, ..ImportLimits::default() });
    assert!(matches!(skipped(PLAIN, &entry)[0].why, ItemError::TooLarge { limit: 110, .. }));
    let messages = limited(ImportLimits { messages: 5, ..ImportLimits::default() });
    assert_eq!(skipped(TAU_BENCH, &messages).len(), 2);
    let calls = limited(ImportLimits { calls: 1, ..ImportLimits::default() });
    assert_eq!(skipped(TAU_BENCH, &calls).len(), 1);
    let deep = format!("{GOOD}\n{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(skipped(&deep, &tolerant())[0].why, ItemError::NotJson(_)));
}

#[test]
fn what_is_no_json_at_all_is_said_so() {
    for text in ["", "\n \n", "[]"] {
        assert!(matches!(read(text.as_bytes(), AUTO, &tolerant()), Err(ImportError::Empty)), "{text:?}");
    }
    for text in ["hello", "[1, 2", "\u{1f}\u{8b}", "{\"a\":"] {
        let refused = read(text.as_bytes(), AUTO, &tolerant());
        assert!(matches!(refused, Err(ImportError::NotJson { .. })), "{text:?}: {refused:?}");
    }
}

/// Everything in the file is either an episode or named, and every episode keeps the rules.
fn check(bytes: &[u8], format: &str) -> Result<(), TestCaseError> {
    let account = |imported: &Imported| imported.episodes.len() + imported.skipped.len();
    match read(bytes, format, &tolerant()) {
        Ok(imported) => {
            prop_assert_eq!(account(&imported), imported.found.entries);
            for scored in &imported.episodes {
                prop_assert_eq!(check_episode(&scored.episode), Vec::<String>::new());
            }
        }
        Err(ImportError::Skipped { skipped, total }) => prop_assert_eq!(skipped.len(), total),
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "user",
        "assistant",
        "tool",
        "function",
        "system",
        "length",
        "stop",
        "text",
        "c1",
        "k1",
        "",
        "é\u{0}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "messages",
        "role",
        "content",
        "tool_calls",
        "function",
        "function_call",
        "name",
        "arguments",
        "id",
        "tool_call_id",
        "reward",
        "score",
        "answer",
        "task_id",
        "trial",
        "traj",
        "info",
        "task",
        "actions",
        "reward_info",
        "error",
        "prompt",
        "response",
        "group",
        "member",
        "finish_reason",
        "episode",
        "tools",
        "type",
        "text",
        "transcript",
        "turns",
        "end",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..8)
                .prop_map(|pairs| pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Value>()),
        ]
    })
}

/// Replaces the `nth` node of a value, in the order of reading.
fn replace(value: &mut Value, nth: &mut usize, new: &Value) {
    if *nth == 0 {
        *value = new.clone();
    }
    *nth = nth.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|inner| replace(inner, nth, new)),
        Value::Object(map) => map.values_mut().for_each(|inner| replace(inner, nth, new)),
        _ => {}
    }
}

fn valid_entries() -> Vec<Value> {
    let lines = OPENAI.lines().chain(PLAIN.lines()).filter(|line| !line.is_empty());
    let mut all: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    all.extend(serde_json::from_str::<Vec<Value>>(TAU_BENCH).unwrap());
    all.push(
        serde_json::from_str(include_str!("../../../merit-core/tests/golden/native-episode.json")).unwrap(),
    );
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_json_never_panics(values in prop::collection::vec(any_json(), 1..4), format in 0_usize..4) {
        let name = FORMATS.get(format).map_or(AUTO, |format| format.about.name);
        let lines: Vec<String> = values.iter().map(Value::to_string).collect();
        check(lines.join("\n").as_bytes(), name)?;
        check(Value::from(values).to_string().as_bytes(), name)?;
    }

    #[test]
    fn a_valid_entry_with_one_node_replaced_never_panics(which in 0_usize..14, nth in 0_usize..80, new in any_json()) {
        let mut entries = valid_entries();
        let at = which % entries.len();
        replace(&mut entries[at], &mut nth.clone(), &new);
        for format in FORMATS {
            check(entries[at].to_string().as_bytes(), format.about.name)?;
        }
        check(entries[at].to_string().as_bytes(), AUTO)?;
        let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
        check(lines.join("\n").as_bytes(), AUTO)?;
    }

    #[test]
    fn a_valid_file_with_damaged_bytes_never_panics(
        which in 0_usize..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        keep in any::<prop::sample::Index>(),
    ) {
        let mut bytes = [OPENAI, TAU_BENCH, PLAIN][which].as_bytes().to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes, AUTO)?;
        let keep = keep.index(bytes.len());
        check(&bytes[..keep], AUTO)?;
    }
}
