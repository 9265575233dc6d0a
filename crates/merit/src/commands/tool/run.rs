//! `merit tool run`: one episode's worth of calls to a tool.

use super::named;
use super::settings::of_example;
use crate::cli::tools::ToolRun;
use crate::commands::{Findings, WrongInput};
use crate::out;
use anyhow::Result;
use merit_core::{Chosen, Components, Task, printable};
use merit_tools::{NoAnswer, Tool, ToolAnswer, ToolSettings, call_blocking};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn run(arguments: &ToolRun, components: &Components) -> Result<()> {
    let config = config(arguments, components)?;
    let built = config.build().map_err(|error| WrongInput(error.to_string()))?;
    let tool = choose(&built, &arguments.name, arguments.tool.as_deref())?;
    let task = task(arguments.task.as_deref())?;
    let session = tool.open(&task, None).map_err(|error| {
        WrongInput(format!(
            "{error}; give settings by --set KEY=VALUE or --settings FILE (`merit tool show {}` lists them), or a payload by --task FILE",
            arguments.name
        ))
    })?;
    let deadline = Duration::from_secs(arguments.seconds.into());
    let mut failed = 0;
    let inputs = if arguments.input.is_empty() {
        vec![tool.spec().example.clone()]
    } else {
        read_inputs(&arguments.input)?
    };
    for input in &inputs {
        let begun = Instant::now();
        let answer = call_blocking(&session, input, deadline);
        let seconds = begun.elapsed().as_secs_f64();
        let (end, text) = words(&answer);
        failed += usize::from(end != "ok");
        if arguments.json {
            out::line(json!({
                "tool": tool.spec().name, "input": input, "end": end, "output": text, "seconds": seconds,
            }))?;
        } else {
            let mark = if end == "ok" { String::new() } else { format!("[{end}] ") };
            out::line(format_args!("{mark}{}", printable::lines(&text)))?;
        }
    }
    if failed > 0 {
        return Err(Findings(format!("{} did not end well", printable::count(failed, "call"))).into());
    }
    Ok(())
}

/// The tool as it was asked for. Where nothing is said of it, and its defaults leave something out, it is that of its example.
fn config(arguments: &ToolRun, components: &Components) -> Result<Chosen<dyn ToolSettings>> {
    let ToolRun { name, set, settings, task, .. } = arguments;
    let given = named((name, components), set, settings.as_deref());
    let nothing = set.is_empty() && settings.is_none() && (task.is_none() || given.is_err());
    match nothing.then(|| of_example(name, components)).transpose()?.flatten() {
        Some(example) => {
            out::complain(format_args!("no settings given: the example of `{name}` is used"));
            Ok(example)
        }
        None => given,
    }
}

/// The one tool of a source that is meant.
fn choose<'a>(built: &'a [Arc<dyn Tool>], source: &str, wanted: Option<&str>) -> Result<&'a Arc<dyn Tool>> {
    let names = || built.iter().map(|tool| tool.spec().name.as_str());
    let found = match (wanted, built) {
        (None, [only]) => return Ok(only),
        (Some(wanted), _) => built.iter().find(|tool| tool.spec().name == wanted),
        (None, _) => None,
    };
    found.ok_or_else(|| {
        let known = names().collect::<Vec<_>>().join(", ");
        let why = match wanted {
            Some(wanted) => match merit_core::registry::nearest(wanted, names()) {
                Some(nearest) => format!("`{source}` has no tool `{wanted}` (did you mean `{nearest}`?)"),
                None => format!("`{source}` has no tool `{wanted}`"),
            },
            None => format!("`{source}` offers several tools; choose one with --tool"),
        };
        WrongInput(format!("{why}; it has: {known}")).into()
    })
}

pub(crate) fn task(file: Option<&Path>) -> Result<Task> {
    let payload = match file {
        None => merit_tools::conformance::example_task().payload,
        Some(path) => {
            let wrong = |why: String| WrongInput(format!("{}: {why}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            serde_json::from_str::<Value>(&text).map_err(|error| wrong(error.to_string()))?
        }
    };
    Ok(Task::new("by-hand", "by-hand").with_payload(payload))
}

/// The inputs in order; `-` is the whole of standard input.
fn read_inputs(given: &[String]) -> Result<Vec<String>> {
    let read = |input: &String| {
        if input != "-" {
            return Ok(input.clone());
        }
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|e| WrongInput(format!("standard input: {e}")))?;
        Ok(text)
    };
    given.iter().map(read).collect()
}

fn words(answer: &Result<ToolAnswer, NoAnswer>) -> (&'static str, String) {
    match answer {
        Ok(ToolAnswer::Ok(text)) => ("ok", text.clone()),
        Ok(ToolAnswer::Refused(text)) => ("refused", text.clone()),
        Ok(ToolAnswer::TimedOut(text)) => ("timed out", text.clone()),
        Ok(ToolAnswer::Broken(text)) => ("broken", text.clone()),
        Err(late @ NoAnswer::Late(_)) => ("timed out", late.to_string()),
        Err(error) => ("broken", error.to_string()),
    }
}
