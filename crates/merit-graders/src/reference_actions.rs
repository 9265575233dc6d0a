//! Which of the expected calls were carried out: their share, less a penalty for unexpected calls that change the world.
//!
//! Expected calls stand with the task, as in tau-bench's files: `{"name": …, "kwargs": {…}}`; `tool` and `arguments` are read
//! as well. Refused and timed-out calls changed nothing and count for nothing. Where nothing is expected there is nothing to
//! earn: an unexpected write is worth 0, and leaving things alone makes the term not applicable rather than full. By turn:
//! what the turn added, or how far things had come after it (`by_turn = "progress"`, the potential of `shaping`).

use crate::counted_calls::Calls;
use merit_reward::prelude::*;
use merit_verify::calls::{
    Alignment, CallMatch, CallPattern, Matching, ReferenceActions as Wanted, Rule, Step, TraceRules,
};
use merit_verify::json::Limits;
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// The share of expected calls that were carried out, less unexpected writes; by turn.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceActions {
    /// The expected calls: a place in the task's payload, or the list itself.
    #[serde(default = "actions")]
    pub reference: Reference,
    /// What order and company are allowed.
    #[serde(default = "unordered")]
    pub matching: Matching,
    /// Only expected calls of these tools count; the others, such as reads, are optional. Empty: all count.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Arguments that are not compared, such as free text.
    #[serde(default)]
    pub ignore_arguments: Vec<String>,
    /// Tools that change the world: a call of one that was not expected costs.
    #[serde(default)]
    pub writes: Vec<String>,
    /// What one unexpected write costs, in expected calls. Absent: as much as one expected call earns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_penalty: Option<f64>,
    /// What it says of each turn.
    #[serde(default)]
    pub by_turn: ByTurn,
    /// Sizes and work of one comparison.
    #[serde(default)]
    pub limits: Limits,
}

impl Component for ReferenceActions {
    const ABOUT: About = About {
        name: "reference-actions",
        summary: "The share of expected calls that were carried out, less unexpected writes; by turn.",
        paper: "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains (2024)",
    };
    const EXAMPLE: &'static str = r#"
by_turn = "progress"
writes = ["book_flight"]
ignore_arguments = ["summary"]
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reference.check()?;
        match &self.reference {
            Reference::Answer => {
                let why =
                    "`reference` cannot be the task's answer; give a `pointer` into its payload or a `value`";
                return Err(Refusal::new(why));
            }
            Reference::Value(value) => {
                read(value).map_err(Refusal::new)?;
            }
            Reference::Pointer(_) => {}
        }
        // Every task's calls go through the same rule, so that one made-up call shows whether it can work.
        let sample = CallPattern { tool: "sample".to_owned(), arguments: Map::new() };
        self.rules(vec![sample]).map(|_| ()).map_err(Refusal::new)
    }
}

impl Term for ReferenceActions {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        self.judge(context.episode).unwrap_or_else(|early| early)
    }
}

fn actions() -> Reference {
    Reference::Pointer("/actions".to_owned())
}

fn unordered() -> Matching {
    Matching::Unordered
}

impl ReferenceActions {
    fn rules(&self, calls: Vec<CallPattern>) -> Result<TraceRules, String> {
        let wanted = Wanted {
            calls,
            matching: self.matching,
            ignore_arguments: self.ignore_arguments.clone(),
            writes: self.writes.clone(),
            extra_penalty: self.extra_penalty,
        };
        TraceRules::compile(vec![Rule::ReferenceActions(wanted)], self.limits).map_err(|why| why.to_string())
    }
}

impl ReferenceActions {
    fn judge(&self, episode: &Episode) -> Result<TermResult, TermResult> {
        let from = &self.reference;
        let listed = from.of(episode).filter(|value| !value.is_null());
        let listed = listed.ok_or_else(|| TermResult::not_applicable(from.missing()))?;
        let mut expected = read(&listed).map_err(TermResult::broken)?;
        expected.retain(|call| self.tools.is_empty() || self.tools.contains(&call.tool));
        let calls = Calls::carried_out(episode);
        if expected.is_empty() {
            return self.nothing_expected(&calls);
        }
        let names: Vec<String> = expected.iter().map(|call| call.tool.clone()).collect();
        let rules = self.rules(expected).map_err(TermResult::broken)?;
        let mut verdicts = rules.apply(&calls.trace).map_err(|why| TermResult::broken(why.to_string()))?;
        let verdict = verdicts.pop().ok_or_else(|| TermResult::broken("the rule gave no verdict"))?;
        let alignment = verdict.alignment.ok_or_else(|| TermResult::broken("the rule gave no alignment"))?;
        let mut progress = vec![None; episode.turns.len()];
        calls.turns.iter().zip(&alignment.progress).for_each(|(&turn, &after)| progress[turn] = Some(after));
        Ok(TermResult::value(alignment.share, Evidence::new("compared", verdict.evidence))
            .with_evidence(Evidence::new("compared", matched(&calls, &alignment, &names)))
            .with_turns(self.by_turn.of(progress)))
    }

    fn nothing_expected(&self, calls: &Calls) -> Result<TermResult, TermResult> {
        let written = calls.trace.iter().zip(&calls.turns).find_map(|(step, turn)| match step {
            Step::Call { tool, .. } if self.writes.contains(tool) => Some((tool, turn)),
            _ => None,
        });
        match written {
            Some((tool, turn)) => {
                let finding = format!("nothing was to be done, and `{tool}` was called in turn {turn}");
                Ok(TermResult::value(0.0, Evidence::new("compared", finding)))
            }
            None => Err(TermResult::not_applicable("no call is expected, so there is none to earn by")),
        }
    }
}

/// Which turn carried out what.
fn matched(calls: &Calls, alignment: &Alignment, names: &[String]) -> String {
    const SHOWN: usize = 12;
    let told = |(kind, (turn, step)): (&CallMatch, (&usize, &Step))| match (kind, step) {
        (CallMatch::Expected { index }, _) => {
            Some(format!("turn {turn} is `{}` ({index})", names.get(*index).map_or("", String::as_str)))
        }
        (CallMatch::ExtraWrite, Step::Call { tool, .. }) => {
            Some(format!("turn {turn} writes `{tool}` unasked"))
        }
        _ => None,
    };
    let all = alignment.calls.iter().zip(calls.turns.iter().zip(&calls.trace)).filter_map(told);
    let shown: Vec<String> = all.take(SHOWN).collect();
    if shown.is_empty() { "no call is an expected one".to_owned() } else { shown.join(", ") }
}

/// The expected calls of a task.
fn read(listed: &Value) -> Result<Vec<CallPattern>, String> {
    let list = listed.as_array().ok_or("the reference is no list of calls")?;
    list.iter().enumerate().map(|(at, call)| pattern(call).ok_or_else(|| bad(at))).collect()
}

fn bad(at: usize) -> String {
    format!("expected call {at} is no table with a `name` (or `tool`) and `kwargs` (or `arguments`)")
}

fn pattern(call: &Value) -> Option<CallPattern> {
    let tool = call.get("name").or_else(|| call.get("tool"))?.as_str().filter(|name| !name.is_empty())?;
    let arguments = match call.get("kwargs").or_else(|| call.get("arguments")) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(_) => return None,
    };
    Some(CallPattern { tool: tool.to_owned(), arguments })
}
