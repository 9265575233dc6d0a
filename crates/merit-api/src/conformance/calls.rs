//! Worlds that can be played by calls: whatever an expert says is one of the calls, or the final answer, and does what the line does.

use super::play::{open_tools, run_calls};
use super::{Found, Subject, turn_bound};
use crate::{CallLanguage, EnvError, ExpertTurn, ToolSpec};
use merit_core::{Action, Task, ToolCall};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// A longer name is refused by servers.
const MAX_NAME: usize = 64;

/// Every line that the expert says, right, wrong and in every manner, is a call or the final answer; the call does what the line does.
/// Arguments that do not fit are answered, and are never an answer of their own.
pub(super) fn check_calls(subject: &Subject) -> Found {
    let mut found = Found::new();
    for (at, task) in subject.some().enumerate() {
        let language = match subject.world.open(task, &subject.seed, None) {
            Ok(env) => env.call_language(),
            Err(error) => return vec![error.to_string()],
        };
        let Some(language) = language.filter(|language| !language.tools().is_empty()) else { continue };
        if at == 0 {
            found.extend(check_names(language.tools()));
        }
        found.extend(
            language.tools().iter().filter_map(|tool| check_card(subject, task, &*language, tool).err()),
        );
        found.extend(check_expert(subject, task, &*language));
    }
    found
}

fn check_names(tools: &[ToolSpec]) -> Found {
    let mut seen = HashSet::new();
    let mut found = Found::new();
    for tool in tools {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !(1..=MAX_NAME).contains(&tool.name.len()) || !tool.name.chars().all(plain) {
            found.push(format!("no server takes a call with the name `{}`", tool.name));
        }
        if !seen.insert(&tool.name) {
            found.push(format!("two calls have the name `{}`", tool.name));
        }
    }
    found
}

fn check_expert(subject: &Subject, task: &Arc<Task>, language: &dyn CallLanguage) -> Found {
    let Some(expert) = subject.world.expert() else { return Found::new() };
    let seed = &subject.seed;
    let skilled =
        [1.0, 0.0].map(|p| follow(subject, task, language, |turns| expert.say(task, turns, p, seed)));
    let named = subject.world.manners().into_iter();
    let manners = named
        .map(|manner| follow(subject, task, language, |turns| expert.say_in(manner.name, task, turns, seed)));
    skilled.into_iter().chain(manners).filter_map(Result::err).collect()
}

/// Plays a task twice, by lines and by the calls that they are. The error is where the two part.
fn follow(
    subject: &Subject,
    task: &Arc<Task>,
    language: &dyn CallLanguage,
    mut say: impl FnMut(&[ExpertTurn]) -> Result<String, EnvError>,
) -> Result<(), String> {
    let text = |error: EnvError| format!("task {}: {error}", task.id);
    let open = || {
        let mut env = subject.world.open(task, &subject.seed, None)?;
        env.reset()?;
        Ok(env)
    };
    let (mut by_lines, mut by_calls) = (open().map_err(text)?, open().map_err(text)?);
    let tools = open_tools(by_lines.as_ref(), task)?;
    let mut turns = Vec::new();
    for _ in 0..turn_bound(task.size) {
        let said = say(&turns).map_err(text)?;
        let action = by_lines.parse(&said);
        let told = |what: &str| format!("task {}: the line {said:?} {what}", task.id);
        let line = match language.read(&said) {
            Some((beside, calls)) => {
                let calls: Vec<ToolCall> =
                    calls.iter().map(|call| sent(language, call)).collect::<Result<_, _>>()?;
                language.write(&beside, &calls)
            }
            None if matches!(action, Action::Answer { .. }) => said.clone(),
            None => return Err(told("is no call and no answer")),
        };
        let again = by_calls.parse(&line);
        if again != action {
            return Err(told(&format!("is the call {line:?}, which means {again:?}")));
        }
        let results = run_calls(&action, &tools)?;
        let result = by_lines.step(&action, &results).map_err(text)?;
        if by_calls.step(&again, &results).map_err(text)? != result
            || by_calls.snapshot() != by_lines.snapshot()
        {
            return Err(told("does something else when it is called"));
        }
        let last = result.is_last();
        turns.push(ExpertTurn { said, observed: result.observations });
        if last {
            break;
        }
    }
    Ok(())
}

/// A call after its way over a server: through JSON, held against the schema that the server was told.
fn sent(language: &dyn CallLanguage, call: &ToolCall) -> Result<ToolCall, String> {
    let told = |what: String| format!("the call {} {:?} {what}", call.tool, call.input);
    let tool = language.tools().iter().find(|tool| tool.name == call.tool);
    // An unknown tool has no schema; it is refused when it is called.
    let Some(tool) = tool else { return Ok(call.clone()) };
    let arguments = tool.arguments.arguments(&call.input).map_err(told)?;
    unfit(&tool.arguments.schema(), &arguments).map_or(Ok(()), |what| Err(told(what)))?;
    let input = tool.arguments.input(&arguments).map_err(told)?;
    Ok(ToolCall { tool: call.tool.clone(), input })
}

/// What does not fit of an object with plain properties.
fn unfit(schema: &Value, arguments: &Value) -> Option<String> {
    let given = arguments.as_object()?;
    let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = needed.into_iter().find(|name| !given.contains_key(*name)) {
        return Some(format!("lacks the argument `{missing}`"));
    }
    given.iter().find_map(|(name, value)| {
        let known = &schema["properties"][name];
        let of_type = match known["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64(),
            _ => true,
        };
        let among = known["enum"].as_array().is_none_or(|all| all.contains(value));
        (known.is_null() || !of_type || !among)
            .then(|| format!("has {value} as `{name}`, which its schema does not allow"))
    })
}

/// The example of a tool is a line that the world can read, and arguments that are none are answered in words.
fn check_card(
    subject: &Subject,
    task: &Arc<Task>,
    language: &dyn CallLanguage,
    tool: &ToolSpec,
) -> Result<(), String> {
    let text = |error: EnvError| format!("task {}: {error}", task.id);
    let call = |input: &str| ToolCall { tool: tool.name.clone(), input: input.to_owned() };
    let env = subject.world.open(task, &subject.seed, None).map_err(text)?;
    let example = language.write("", &[call(&tool.example)]);
    if matches!(env.parse(&example), Action::Malformed { .. }) {
        return Err(format!("the example of `{}`, {example:?}, is no line of the world", tool.name));
    }
    for (input, fits) in wrong(tool) {
        let mut env = subject.world.open(task, &subject.seed, None).map_err(text)?;
        env.reset().map_err(text)?;
        let tools = open_tools(env.as_ref(), task)?;
        let line = language.write("", &[call(&input)]);
        let action = env.parse(&line);
        let shown: String = line.chars().take(40).collect();
        let told = |what: &str| Err(format!("the wrong call {shown:?} {what}"));
        if matches!(action, Action::Answer { .. }) && !fits {
            return told("counts as an answer");
        }
        let result = env.step(&action, &run_calls(&action, &tools)?).map_err(text)?;
        if !result.is_last() && result.observations.iter().all(|message| message.text.is_empty()) {
            return told("is met with silence");
        }
    }
    Ok(())
}

/// Inputs that the tool does not take, each with whether it fits the schema all the same: words that mean nothing.
fn wrong(tool: &ToolSpec) -> Vec<(String, bool)> {
    let schema = tool.arguments.schema();
    let mut wrong = vec![json!({ "no such argument": 1 }), json!([1]), json!("text")];
    let mut odd = Vec::new();
    for name in schema["properties"].as_object().into_iter().flat_map(|known| known.keys()) {
        wrong.push(json!({ name: { "odd": [-1, "x"] } }));
        odd.push(json!({ name: "(\u{e9}\n ".repeat(2000) }));
    }
    if schema["required"].as_array().is_some_and(|needed| !needed.is_empty()) {
        wrong.push(json!({}));
    }
    let texts = wrong.iter().map(Value::to_string).chain(["no json".to_owned(), String::new()]);
    texts.map(|text| (text, false)).chain(odd.iter().map(|value| (value.to_string(), true))).collect()
}
