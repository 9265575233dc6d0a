//! Python programs in the sandbox: an interpreter per episode that keeps its variables, or a fresh one for every call.
//!
//! In: a program. Out: what it printed and the value of its last expression, or a refusal with the traceback. The program's own
//! failures, the limits it ran into and the calls it was not allowed are answers the agent learns from; a sandbox that cannot
//! be started or is lost is [`ToolAnswer::Broken`](crate::ToolAnswer::Broken).

mod session;
mod words;

use crate::{ExecKind, Tool, ToolError, ToolSession, ToolSettings, ToolSpec, no_state};
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Seed, Task};
use merit_sandbox::{Sandbox, SandboxSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use session::{Kept, Once};
use std::sync::{Arc, LazyLock};

/// What the registry says of it.
const ABOUT: About = About {
    name: "python",
    summary: "Runs a Python program in a sandbox; shows its output and the value of its last expression.",
    paper: "ReTool: Reinforcement Learning for Strategic Tool Use in LLMs (2025)",
};

static CARD: LazyLock<ToolSpec> =
    LazyLock::new(|| ToolSpec::text(ABOUT.name, ABOUT.summary, "code", "a Python program", "print(6 * 7)"));

/// `python`: the interpreter of an episode and its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PythonConfig {
    /// Whether an episode keeps one interpreter with its variables; otherwise every call has a fresh one.
    pub keep_variables: bool,
    /// Longest text the agent is shown; what is longer is cut in the middle.
    pub shown_chars: usize,
    /// The sandbox, with the limits of a call.
    pub sandbox: SandboxSettings,
}

impl Default for PythonConfig {
    fn default() -> Self {
        Self { keep_variables: true, shown_chars: 2_000, sandbox: SandboxSettings::default() }
    }
}

/// Fewer characters would not hold an error's last line.
const FEWEST_SHOWN: usize = 200;

impl Component for PythonConfig {
    const ABOUT: About = ABOUT;

    fn check(&self) -> Result<(), Refusal> {
        let (shown, least) = (self.shown_chars, FEWEST_SHOWN);
        Refusal::unless(shown >= least, "shown_chars", shown, &format!("at least {least}"))
    }
}

impl ToolSettings for PythonConfig {
    fn timeout_s(&self) -> Option<f64> {
        Some(self.sandbox.limits.seconds)
    }

    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let setting = |why: String| ToolError::Setting { tool: ABOUT.name.to_owned(), why };
        self.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        let sandbox = Sandbox::shared(&self.sandbox).map_err(|error| setting(error.to_string()))?;
        Ok(vec![Arc::new(Python { sandbox, config: self.clone() })])
    }
}

/// The interpreter as a tool.
pub struct Python {
    sandbox: Sandbox,
    config: PythonConfig,
}

impl Tool for Python {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Waiting
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        // Members of a group share the task, and with it what their programs draw at random.
        let seed = Seed::root(0).child(ABOUT.name, 0).child(&task.id, 0).as_u64();
        let bench = session::Bench { sandbox: self.sandbox.clone(), config: self.config.clone(), seed };
        if self.config.keep_variables {
            return Ok(Arc::new(Kept::open(bench, state)?));
        }
        no_state(ABOUT.name, state)?;
        Ok(Arc::new(Once(Arc::new(bench))))
    }
}
