//! A tool in Python: a function, or a class whose objects can be called.
//!
//! `module` names it. The agent is told its name, the first paragraph of its docstring and a JSON Schema of its parameters, made of
//! their annotations; arguments that do not fit are refused before they reach it. merit brings the worker that serves it, in a process
//! of its own. A function keeps nothing between calls. Of a class each episode has an object of its own, made with `settings` and, where
//! it takes that, the task's payload as `task`; its worker serves no other episode meanwhile.
//!
//! A `ValueError` is a refusal that the agent reads. Any other exception, and a worker that dies or answers nonsense, is broken. A call
//! past `timeout_s` is timed out: its worker is killed, and an object is made what it was by repeating the calls before.

mod session;

use crate::simulated::{Declaration, Declared, declared};
use crate::{Arguments, ExecKind, Tool, ToolError, ToolSession, ToolSettings, ToolSpec, no_state};
use merit_command::{Limits, Pool, PythonPart, PythonRole};
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Seed, Task, canonical};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use session::{Function, Object};
use std::sync::Arc;
use std::time::Duration;

const ABOUT: About = About {
    name: "python-tool",
    summary: "A Python function, or a class with one object per episode, in a process of its own.",
    paper: "",
};

/// `python-tool`: a tool that is written in Python, and how it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonToolConfig {
    /// The function or class and where it is: `mine:tool`, looked for from the current directory, in `PYTHONPATH` and among what
    /// is installed, or `folder/mine.py:tool`.
    pub module: String,
    /// Keyword arguments of the class; for a function, parameters that the agent is not told of.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// The interpreter: a name in the path or a file, such as that of a virtual environment.
    #[serde(default = "python3")]
    pub python: String,
    /// What agents call it. Absent: as its author does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Seconds for the first answer of a worker: it starts and imports meanwhile.
    #[serde(default = "start_s")]
    pub start_s: f64,
    /// Seconds for a call.
    #[serde(default = "timeout_s", alias = "answer_s")]
    pub timeout_s: f64,
    /// Longest text the agent is shown; what is longer is cut in the middle.
    #[serde(default = "shown_chars")]
    pub shown_chars: usize,
}

fn python3() -> String {
    "python3".to_owned()
}

fn start_s() -> f64 {
    60.0
}

fn timeout_s() -> f64 {
    10.0
}

fn shown_chars() -> usize {
    4_000
}

impl PythonToolConfig {
    fn part(&self) -> PythonPart {
        let Self { python, module, settings, .. } = self.clone();
        PythonPart { python, module, settings }
    }
}

impl Component for PythonToolConfig {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str = "module = \"mine:weather\"";

    fn check(&self) -> Result<(), Refusal> {
        self.part().check().map_err(Refusal::new)?;
        for (key, seconds) in [("start_s", self.start_s), ("timeout_s", self.timeout_s)] {
            Refusal::unless((0.001..=3600.0).contains(&seconds), key, seconds, "0.001 to 3600")?;
        }
        Refusal::unless(self.shown_chars >= 100, "shown_chars", self.shown_chars, "at least 100")
    }
}

/// What a worker says of a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    summary: String,
    schema: Value,
    /// Arguments that are a good call. Absent: some that fit are drawn.
    example: Option<Value>,
    /// Whether each episode has an object of its own.
    by_episode: bool,
}

impl ToolSettings for PythonToolConfig {
    /// Starts a worker, which imports the tool, so that what is missing is known now.
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let refused = |why: String| ToolError::Setting { tool: ABOUT.name.to_owned(), why };
        self.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        let (start, answer) =
            (Duration::from_secs_f64(self.start_s), Duration::from_secs_f64(self.timeout_s));
        let (part, limits) = (self.part(), Limits { start, answer, ..Limits::default() });
        let pool = Pool::new({
            let part = part.clone();
            move || part.channel(PythonRole::Tool, limits)
        });
        let mut channel = pool.take();
        let described = part.describe(&mut channel).map_err(refused)?;
        pool.give_back(channel);
        let described = Described::deserialize(Value::Object(described))
            .map_err(|error| refused(format!("the worker of `{}` cannot be read: {error}", self.module)))?;
        let by_episode = described.by_episode;
        let (card, declared) = self.card(described).map_err(refused)?;
        let tool = Served { card, declared, by_episode, pool, shown_chars: self.shown_chars };
        Ok(vec![Arc::new(PythonTool(Arc::new(tool)))])
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(self.timeout_s)
    }

    fn needs(&self) -> &'static str {
        "a module"
    }
}

impl PythonToolConfig {
    fn card(&self, described: Described) -> Result<(ToolSpec, Arc<Declared>), String> {
        let Described { name, summary, schema, example, .. } = described;
        let declaration = Declaration {
            name: self.name.clone().unwrap_or(name),
            summary,
            parameters: schema,
            returns: None,
            examples: Vec::new(),
        };
        let declared = declared::all(vec![declaration])?.pop().ok_or("there is no tool")?;
        let mut card = declared.spec();
        if let Some(example) = example {
            declared.arguments(&canonical(&example)).map_err(|_| {
                format!("the `example` of `{}` does not fit its parameters: {example}", self.module)
            })?;
            card.example = canonical(&example);
        }
        if let Some((property, about)) = only_text(&declared.declaration.parameters) {
            let text = |example: &Value| example.get(&property).and_then(Value::as_str).map(str::to_owned);
            let example = serde_json::from_str(&card.example).ok().as_ref().and_then(text);
            card.example = example.unwrap_or_default();
            card.arguments = Arguments::Text { property, about };
        }
        Ok((card, declared))
    }
}

/// The one parameter of a tool that takes a text and nothing else: then the input is that text, in every format of calls.
fn only_text(schema: &Value) -> Option<(String, String)> {
    let properties = schema.get("properties")?.as_object()?;
    let (name, of) = properties.iter().next().filter(|_| properties.len() == 1)?;
    let required = schema.get("required")?.as_array()?.len() == 1;
    let about = of.get("description").and_then(Value::as_str).unwrap_or("a text");
    (required && of.get("type")? == "string").then(|| (name.clone(), about.to_owned()))
}

/// A tool and the workers that serve it.
pub(super) struct Served {
    card: ToolSpec,
    declared: Arc<Declared>,
    by_episode: bool,
    pool: Pool,
    shown_chars: usize,
}

/// A Python function or class as a tool.
pub struct PythonTool(Arc<Served>);

impl Tool for PythonTool {
    fn spec(&self) -> &ToolSpec {
        &self.0.card
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Waiting
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        if !self.0.by_episode {
            no_state(&self.0.card.name, state)?;
            return Ok(Arc::new(Function(Arc::clone(&self.0))));
        }
        // Members of a group share the task, and with it what their objects draw at random.
        let seed = Seed::root(0).child(ABOUT.name, 0).child(&task.id, 0).as_u64() >> 11;
        Ok(Arc::new(Object::open(&self.0, task.payload.clone(), seed, state)?))
    }
}
