//! A judge as a file says it: `judge.toml`, or a table of `[judges]` in a recipe.

use super::backend::JudgeBackend;
use crate::recipe_error::RecipeError;
use merit_api::ToolSettings;
use merit_core::registry::{Chosen, Components, Refusal};
use merit_judge::ask::Ask;
use merit_judge::{Asking, PanelRule, Tournament};
use merit_tools::formats::{CallFormat, call_format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model that judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeSettings {
    /// What it is asked: `score`, `compare`, `rank` or `check`.
    pub ask: Ask,
    /// What counts, in words. Empty: how well the task was done.
    #[serde(default)]
    pub rubric: String,
    /// Grade every turn too: it is asked about the episode as it was after each turn. Only in a recipe, for a credit rule or a term that
    /// reads turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_turn: bool,
    /// Who answers: `oracle`, `embedded` or `openai`; in a recipe also `policy` or `model`, which are the recipe's own.
    pub backend: JudgeBackend,
    /// Judged examples that it is shown before every question. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<ExamplesFrom>,
    /// Tools that it may call before it answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Chosen<dyn ToolSettings>>,
    /// How it writes calls. Absent: `hermes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Chosen<dyn CallFormat>>,
    /// Most turns of one answer; more than 1 only with tools. In the last it must answer.
    #[serde(default = "one")]
    pub turns: u32,
    /// How often each question is put; the votes are pooled.
    #[serde(default = "one")]
    pub votes: u32,
    /// How often a question is put that fails for no fault of its own, besides the tries of the endpoint.
    #[serde(default = "three")]
    pub tries: u32,
    /// Most answers that are paid for, those of former runs among them. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// The file of answers, beside this one unless it says a folder. Absent: answers are kept for as long as the command runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
    /// Most tokens of a turn.
    #[serde(default = "tokens")]
    pub tokens: usize,
    /// How answers are drawn; 0 is greedy.
    #[serde(default)]
    pub temperature: f32,
    /// Hold answers to the bare JSON object while they are sampled, so that each can be read. For models in this process, without `tools`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grammar: bool,
    /// Most characters of the task and of each candidate.
    #[serde(default = "length")]
    pub length: usize,
    /// Wall seconds of one answer with all its turns.
    #[serde(default = "deadline")]
    pub deadline_s: f64,
    /// Who meets whom where many are ranked by comparing two.
    #[serde(default)]
    pub tournament: Tournament,
    /// Seed of what is drawn.
    #[serde(default)]
    pub seed: u64,
}

/// Labelled data that examples are drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExamplesFrom {
    /// Pairs as for `merit judge test`, or answers with ratings for a judge that scores: a file beside this one. Only the training part of
    /// it is shown, and never the task that is asked about.
    pub from: PathBuf,
    /// How many are shown with each question.
    #[serde(default = "examples")]
    pub count: usize,
}

/// Several judges who are asked the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelSettings {
    /// Their files, beside this one.
    pub panel: Vec<PathBuf>,
    /// What each of them counts, for `majority` and `mean`. Empty: all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// How their verdicts become one.
    #[serde(default)]
    pub rule: PanelRule,
    /// Who meets whom where many are ranked by comparing two.
    #[serde(default)]
    pub tournament: Tournament,
}

/// What a judge's file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeFile {
    One(Box<JudgeSettings>),
    Panel(PanelSettings),
}

fn one() -> u32 {
    1
}

fn three() -> u32 {
    3
}

fn examples() -> usize {
    3
}

fn tokens() -> usize {
    512
}

fn length() -> usize {
    20_000
}

fn deadline() -> f64 {
    600.0
}

impl JudgeFile {
    /// Reads the file, or `judge.toml` of the folder, and says where it is.
    pub fn read(path: &Path, components: &Components) -> Result<(Self, PathBuf), RecipeError> {
        let file = if path.is_dir() { path.join("judge.toml") } else { path.to_owned() };
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file)
            .map_err(|error| RecipeError::Read { file: name.clone(), why: error.to_string() })?;
        Ok((Self::parse(&name, &text, components)?, file))
    }

    /// Reads the text of a file against these components.
    pub fn parse(file: &str, text: &str, components: &Components) -> Result<Self, RecipeError> {
        let wrong =
            |refusal: Refusal| RecipeError::Combination { file: file.to_owned(), why: refusal.to_string() };
        // With a mistake in the TOML itself, either reader says so.
        if toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("panel")) {
            let panel: PanelSettings = crate::mistakes::read(file, text, "", components)?;
            let few = panel.panel.len() < 2;
            Refusal::unless(!few, "panel", panel.panel.len(), "two judges or more").map_err(wrong)?;
            panel.check_weights().map_err(wrong)?;
            return Ok(Self::Panel(panel));
        }
        let one: JudgeSettings = crate::mistakes::read(file, text, "", components)?;
        one.check().map_err(wrong)?;
        let alone = "left out of a file; where an annotator asks this judge, say it beside `judge = …`";
        Refusal::unless(!one.per_turn, "per_turn", "true", alone).map_err(wrong)?;
        Ok(Self::One(Box::new(one)))
    }
}

impl PanelSettings {
    fn check_weights(&self) -> Result<(), Refusal> {
        let Self { panel, weights, rule, .. } = self;
        if weights.is_empty() {
            return Ok(());
        }
        let fits = weights.len() == panel.len();
        let fits = fits && weights.iter().all(|weight| weight.is_finite() && *weight > 0.0);
        let want = "a number above 0 for each judge of the panel, or left out";
        Refusal::unless(fits, "weights", format!("{weights:?}"), want)?;
        let counts = *rule != PanelRule::Min;
        Refusal::unless(
            counts,
            "weights",
            "given",
            "left out where `rule` is `min`, for which the lowest verdict counts",
        )
    }
}

impl JudgeSettings {
    pub fn check(&self) -> Result<(), Refusal> {
        self.ask.check()?;
        self.asking().check()?;
        self.backend.check().map_err(|why| Refusal::new(format!("backend: {why}")))?;
        let held = !self.grammar || self.backend.elsewhere().is_none() || self.backend.is_here();
        let held = held && (!self.grammar || self.tools.is_empty());
        Refusal::unless(
            held,
            "grammar",
            "true",
            "left out where a server answers, and where there are `tools`",
        )?;
        let shown = self.examples.as_ref().is_none_or(|examples| (1..=100).contains(&examples.count));
        Refusal::unless(shown, "examples.count", "out of range", "from 1 to 100")?;
        let labelled = self.examples.is_none() || !matches!(self.ask, Ask::Check { .. });
        Refusal::unless(
            labelled,
            "examples",
            "given",
            "left out where `ask` is `check`: nobody has labelled its items",
        )?;
        let calls = self.calls.is_none() || !self.tools.is_empty();
        Refusal::unless(calls, "calls", "given", "left out where there are no `tools`")?;
        let enough = if self.tools.is_empty() { self.turns == 1 } else { (2..=100).contains(&self.turns) };
        Refusal::unless(enough, "turns", self.turns, "1 without `tools`, from 2 to 100 with them")?;
        let oracle = self.backend.oracle();
        let knows = oracle.is_none() || !matches!(self.ask, Ask::Check { .. });
        let want =
            "`score`, `compare` or `rank`: an oracle knows whether a task was done, not which sentence holds";
        Refusal::unless(knows, "ask", "check", want)?;
        let draws =
            self.votes == 1 || self.temperature > 0.0 || oracle.is_some_and(|oracle| oracle.errors > 0.0);
        Refusal::unless(
            draws,
            "votes",
            self.votes,
            "1 where `temperature` is 0, since every vote is then the same",
        )?;
        let warm = self.temperature == 0.0 || (0.001..=1000.0).contains(&self.temperature);
        Refusal::unless(warm, "temperature", self.temperature, "0 (greedy) or from 0.001 to 1000")?;
        Refusal::unless(self.tokens > 0, "tokens", self.tokens, "above 0")?;
        Refusal::unless(self.length >= 100, "length", self.length, "100 or more")?;
        let time = self.deadline_s > 0.0 && self.deadline_s <= 1e9;
        Refusal::unless(time, "deadline_s", self.deadline_s, "above 0 and at most 1e9 seconds")
    }

    pub(super) fn asking(&self) -> Asking {
        Asking { votes: self.votes, tries: self.tries, budget: self.budget }
    }

    pub(super) fn call_format(&self) -> Result<Arc<dyn CallFormat>, String> {
        match &self.calls {
            Some(calls) => Ok(calls.component()),
            None => call_format("hermes").map(|format| format.component()).map_err(|error| error.to_string()),
        }
    }

    /// Everything that an answer depends on besides the question and the weights of a model that learns.
    pub(super) fn asker_id(&self) -> String {
        let tools: Vec<String> =
            self.tools.iter().map(|tool| format!("{} {}", tool.about().name, tool.table())).collect();
        let Self { turns, tokens, temperature, seed, .. } = self;
        let tools = if tools.is_empty() {
            String::new()
        } else {
            format!(" tools [{}] turns {turns}", tools.join("; "))
        };
        let grammar = if self.grammar { " grammar" } else { "" };
        let who = self.backend.who();
        format!("{who} tokens {tokens} temperature {temperature} seed {seed}{grammar}{tools}")
    }
}
