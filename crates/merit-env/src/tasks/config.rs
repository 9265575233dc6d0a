//! The settings of the tasks world.

use super::cut::CutConfig;
use super::file::{self, SAMPLES};
use super::setting;
use crate::EnvError;
use merit_api::ToolSettings;
use merit_core::registry::{About, Chosen, Component, Refusal};
use merit_tools::formats::CallFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of `tasks`. A shipped sample brings `tools`, `calls`, `instructions` and `answer_mark` of its own,
/// and what is given replaces them; a file of one's own must say `tools` and `calls`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tasks {
    /// A file of JSON lines, or the name of a shipped sample.
    pub file: String,
    /// What the agent is told first, before the tools. Absent: as the sample has it, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether the tools and the answer's mark are told too. Language models need it; warm-started ones do not.
    pub advertise: bool,
    /// What the final answer follows. A turn without calls and without it is answered with a hint. Empty: such a turn is the
    /// answer as a whole. Absent: as the sample has it, or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_mark: Option<String>,
    /// Share of the lines that are held out, by their content; lines that say `split` are not counted.
    pub held_out: f64,
    /// How the answers of tools are cut.
    pub observations: CutConfig,
    /// How calls are written: the name of a call format, or a table with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Chosen<dyn CallFormat>>,
    /// The tools. Absent: those of the sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Chosen<dyn ToolSettings>>>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            file: SAMPLES[0].name.to_owned(),
            instructions: None,
            advertise: true,
            answer_mark: None,
            held_out: 0.2,
            observations: CutConfig::default(),
            calls: None,
            tools: None,
        }
    }
}

/// The settings with everything that a sample brings.
pub(super) struct Settled {
    /// Where the lines come from, for errors.
    pub(super) source: String,
    pub(super) text: String,
    pub(super) tools: Vec<Chosen<dyn ToolSettings>>,
    pub(super) calls: Chosen<dyn CallFormat>,
    pub(super) instructions: String,
    pub(super) answer_mark: String,
}

impl Component for Tasks {
    const ABOUT: About = super::ABOUT;

    fn check(&self) -> Result<(), Refusal> {
        if self.file.trim().is_empty() {
            return Err(Refusal::new("`file` is empty; give a file of JSON lines or the name of a sample"));
        }
        let share = (0.0..1.0).contains(&self.held_out);
        Refusal::unless(share, "held_out", self.held_out, "a share, 0 or more and below 1")?;
        if file::sample(&self.file).is_none() {
            if self.tools.is_none() {
                return Err(Refusal::new("`tools` is missing; list the tools of your tasks, or [] for none"));
            }
            if self.calls.is_none() {
                return Err(Refusal::new(
                    "`calls` is missing; say how calls are written, as in calls = \"hermes\"",
                ));
            }
        }
        self.observations.check()
    }
}

impl Tasks {
    pub(super) fn settled(&self) -> Result<Settled, EnvError> {
        let sample = file::sample(&self.file);
        let (source, text) = match sample {
            Some(sample) => (format!("sample `{}`", sample.name), sample.text.to_owned()),
            None => (self.file.clone(), file::read(&self.file)?),
        };
        let from_sample = |value: fn(&file::Sample) -> &'static str| sample.map_or("", value).to_owned();
        let brought = sample.map(file::Sample::brings).transpose()?;
        let (tools, calls) = match brought {
            Some((tools, calls)) => (Some(tools), Some(calls)),
            None => (None, None),
        };
        let missing = || setting("`tools` and `calls` are needed for a file of your own");
        Ok(Settled {
            source,
            text,
            tools: self.tools.clone().or(tools).ok_or_else(missing)?,
            calls: self.calls.clone().or(calls).ok_or_else(missing)?,
            instructions: self.instructions.clone().unwrap_or_else(|| from_sample(|s| s.instructions)),
            answer_mark: self.answer_mark.clone().unwrap_or_else(|| from_sample(|s| s.answer_mark)),
        })
    }
}
