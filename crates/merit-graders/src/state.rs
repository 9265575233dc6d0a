//! Where the world ended, held against where it should: the goal's facts achieved, less what was touched besides.
//!
//! The state is a place in the environment's last snapshot, the final answer as JSON, the last state that a named tool showed,
//! or a place in the task's payload where its recorder put it. Where the episode has a snapshot, that is what
//! the environment really was; the others are for episodes without one. An answer that is no JSON is a parse failure; never asking the tool is worth 0. A
//! tool that shows no JSON, and a goal or initial state past the limits, are the grader's failures. With an initial state
//! the facts asked for are the changes, so that doing nothing earns nothing. A tool's states are also told by turn.

use crate::sources::answered;
use merit_reward::prelude::*;
use merit_reward::terms::{check_pointer, excerpt};
use merit_verify::json::{Limits, parse};
use merit_verify::state::{StateConfig as Check, StateError, StateVerdict, StateVerifier, Which};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The share of the goal's facts that the world's final state has, less what was touched besides.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Where the state is found.
    #[serde(default)]
    pub from: StateSource,
    /// Where the world should end; `answer` is the task's right answer as JSON text.
    #[serde(default = "goal")]
    pub goal: Reference,
    /// The place of the initial state in the task's payload. Absent: the facts asked for are all of the goal's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
    /// What a state that a tool shows says of its turn. Only with `from = { tool = … }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_turn: Option<ByTurn>,
    /// How states are compared.
    #[serde(default)]
    pub check: Check,
}

impl Component for State {
    const ABOUT: About = About {
        name: "state",
        summary: "The share of the goal's facts that the world's final state has, less what was touched besides.",
        paper: "Reward Prediction with Factorized World States (2026)",
    };
    const EXAMPLE: &'static str = r#"
from = { tool = "show_state" }
goal = { pointer = "/goal" }
initial = "/initial"
check = { goal = "part", ignore = ["/clock"], score = { type = "facts", collateral_weight = 1.0 } }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.goal.check()?;
        self.initial.as_deref().map_or(Ok(()), |pointer| check_pointer("initial", pointer))?;
        if let StateSource::Pointer(pointer) | StateSource::Episode(pointer) = &self.from {
            check_pointer("from", pointer)?;
        }
        if self.by_turn.is_some() && !matches!(self.from, StateSource::Tool(_)) {
            let why = "`by_turn` needs a tool that shows the state turn by turn: `from = { tool = \"…\" }`; remove it";
            return Err(Refusal::new(why));
        }
        Ok(())
    }
}

impl PreparedTerm for State {
    type Prepared = StateVerifier;

    fn kind(&self) -> TermKind {
        TermKind { parses: self.from == StateSource::Answer, ..TermKind::PARSED_VERDICT }
    }

    fn prepare(&self) -> Result<StateVerifier, Refusal> {
        StateVerifier::compile(self.check.clone()).map_err(|why| Refusal::new(format!("`check`: {why}")))
    }

    fn evaluate(
        &self,
        verifier: &StateVerifier,
        context: &EvalContext<'_>,
    ) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let wanted = self.wanted(episode)?;
        match &self.from {
            StateSource::Answer => {
                let Some(text) = episode.answer() else {
                    return Ok(TermResult::value(0.0, Evidence::new("parsed", "no final answer was given")));
                };
                let state = json(text, &self.check.limits).map_err(|why| {
                    TermResult::parse_failure(why, Evidence::new("parsed", format!("`{}`", excerpt(text))))
                })?;
                self.verify(verifier, &state, &wanted).map(|verdict| result(&verdict))
            }
            StateSource::Pointer(pointer) => {
                let missing =
                    || TermResult::not_applicable(format!("the task's payload has no state at `{pointer}`"));
                let state =
                    episode.task.payload.pointer(pointer).filter(|s| !s.is_null()).ok_or_else(missing)?;
                self.verify(verifier, state, &wanted).map(|verdict| result(&verdict))
            }
            StateSource::Episode(pointer) => {
                let missing = || {
                    TermResult::not_applicable(format!("the episode records no final state at `{pointer}`"))
                };
                let state = episode.state.as_ref().and_then(|state| state.pointer(pointer));
                let state = state.filter(|s| !s.is_null()).ok_or_else(missing)?;
                self.verify(verifier, state, &wanted).map(|verdict| result(&verdict))
            }
            StateSource::Tool(tool) => self.shown(verifier, episode, tool, &wanted),
        }
    }
}

fn goal() -> Reference {
    Reference::Pointer("/goal".to_owned())
}

/// Where a state is found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateSource {
    /// A place in the environment's last snapshot, which the episode records; `{ episode = "" }` is all of it.
    Episode(String),
    /// The final answer, as JSON.
    #[default]
    Answer,
    /// What this tool gave back last, as JSON.
    Tool(String),
    /// A place in the task's payload, put there by its recorder.
    Pointer(String),
}

/// What a state is held against.
struct Wanted<'a> {
    goal: Value,
    initial: Option<&'a Value>,
}

impl State {
    fn wanted<'a>(&self, episode: &'a Episode) -> Result<Wanted<'a>, TermResult> {
        let from = &self.goal;
        let goal = from.of(episode).filter(|goal| !goal.is_null());
        let goal = goal.ok_or_else(|| TermResult::not_applicable(from.missing()))?.into_owned();
        let goal = match (from, &goal) {
            (Reference::Answer, Value::String(text)) => json(text, &self.check.limits)
                .map_err(|why| TermResult::broken(format!("the task's right answer is no state: {why}")))?,
            _ => goal,
        };
        let Some(pointer) = &self.initial else { return Ok(Wanted { goal, initial: None }) };
        let missing =
            || TermResult::not_applicable(format!("the task's payload has no initial state at `{pointer}`"));
        let initial = episode.task.payload.pointer(pointer).filter(|s| !s.is_null()).ok_or_else(missing)?;
        Ok(Wanted { goal, initial: Some(initial) })
    }

    /// The states that a tool showed: the last one decides, each of them tells of its turn.
    fn shown(
        &self,
        verifier: &StateVerifier,
        episode: &Episode,
        tool: &str,
        wanted: &Wanted<'_>,
    ) -> Result<TermResult, TermResult> {
        let mut by_turn = vec![None; episode.turns.len()];
        let mut last = None;
        let mut unreadable = None;
        for (turn, after) in episode.turns.iter().zip(&mut by_turn) {
            let calls = turn.calls.iter().filter(|record| record.call.tool == tool && answered(record.end));
            for record in calls {
                match json(&record.output, &self.check.limits) {
                    Ok(state) => {
                        let verdict = self.verify(verifier, &state, wanted)?;
                        *after = verdict.score;
                        last = Some(verdict);
                    }
                    Err(why) => unreadable = Some(why),
                }
            }
        }
        match (last, unreadable) {
            (Some(verdict), _) => {
                Ok(result(&verdict).with_turns(self.by_turn.unwrap_or_default().of(by_turn)))
            }
            (None, Some(why)) => Err(TermResult::broken(format!("`{tool}` showed no state: {why}"))),
            (None, None) => Ok(TermResult::value(
                0.0,
                Evidence::new("executed", format!("`{tool}` was never asked for the state")),
            )),
        }
    }

    fn verify(
        &self,
        verifier: &StateVerifier,
        state: &Value,
        wanted: &Wanted<'_>,
    ) -> Result<StateVerdict, TermResult> {
        verifier.verify(wanted.initial, state, &wanted.goal).map_err(|why| match why {
            StateError::TooLarge { which: Which::Reached, .. } if self.from == StateSource::Answer => {
                TermResult::value(0.0, Evidence::new("parsed", why.to_string()))
            }
            other => TermResult::broken(other.to_string()),
        })
    }
}

fn json(text: &str, limits: &Limits) -> Result<Value, String> {
    let parsed = parse(text, limits);
    if let Some(limit) = parsed.too_large {
        return Err(format!("it is {limit}"));
    }
    let strict = parsed.is_strict();
    let why = parsed
        .faults
        .first()
        .map_or_else(|| "nothing is there".to_owned(), |f| format!("{} at byte {}", f.what, f.at));
    parsed.value.filter(|_| strict).ok_or_else(|| format!("it is not strict JSON: {why}"))
}

fn result(verdict: &StateVerdict) -> TermResult {
    let place = |changes: &[merit_verify::state::Change]| {
        changes.first().map_or_else(String::new, |change| format!(", first at `{}`", change.path))
    };
    let finding = format!(
        "{} of {} facts achieved{}; {} other changes{}",
        verdict.achieved,
        verdict.asked,
        place(&verdict.missed),
        verdict.collateral.len(),
        place(&verdict.collateral)
    );
    TermResult::judged(verdict, Pay::Score, Evidence::new("compared", finding))
}
