//! Answers held against right ones: are they the same? A judge may compute before it says so.
//!
//! `34*7 or 248` is judged `same` or `not`; then the next pair is shown, without a word on whether the verdict was right. `eval 34*7`,
//! `eval 3*(x+4) at 7` and `change 47 min s` compute. Near misses are made so that looking, or a probe at x = 0 or 1, is not enough.
//! A task is solved where every verdict is right. What the pairs are is in `pair`, what computes in `tools`.

mod pair;
mod tools;

pub use pair::Pair;
pub use tools::{Pure, UNITS, change, eval};

use merit_api::{
    CommandCard, Demonstration, Manner, StepResult, TextGame, Tool, ToolBuilder, ToolError, line, sizes_of,
    split_of,
};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallEnd, CallRecord, Message, Role, Split, Stream, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How to act, in words, for models that were not warm-started on it.
pub const INSTRUCTIONS: &str = "You are shown a right answer and another one, pair after pair. Say one line per turn: `same` where \
they mean the same, `not` where they do not. Before that you may compute: `eval EXPRESSION` with whole numbers, `eval EXPRESSION at \
NUMBER` with x at a number, `change NUMBER UNIT UNIT` for a quantity in another unit.";

const HINT: &str = "say same, not, eval SUM or change N UNIT UNIT";
const NO_TOOLS: &str = "no tools here";
const MAX_LINE: usize = 60;
const MAX_PAIRS: u32 = 8;
/// Half of all draws fall into a split.
const MAX_DRAWS: usize = 200;

/// The settings of `pairs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pairs {
    /// Pairs to judge in training tasks, dealt in turn; 2 to 8.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// The levels of pairs, drawn for each, 1 to 4: forms of numbers, sums, quantities with units, expressions in x. List a level twice
    /// to have it twice as often.
    pub levels: Vec<u32>,
    /// Whether the agent can compute. False is the control: the same tasks, and every call is answered `no tools here`.
    pub tools: bool,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Pairs {
    fn default() -> Self {
        Self {
            sizes: vec![3, 4],
            held_out_sizes: Vec::new(),
            levels: vec![1, 2, 3, 4],
            tools: true,
            instructions: false,
        }
    }
}

impl Component for Pairs {
    const ABOUT: About = About {
        name: "pairs",
        summary: "Answers to be held against right ones, with tools that compute and change units.",
        paper: "CoSineVerifier: Tool-Augmented Answer Verification for Computation-Oriented Scientific Questions (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new(
                "`sizes` is empty; list how many pairs there are to judge, as in [3, 4]",
            ));
        }
        let mut sizes = self.sizes.iter().chain(&self.held_out_sizes);
        if let Some(size) = sizes.find(|size| !(2..=MAX_PAIRS).contains(size)) {
            return Err(Refusal::new(format!("a size of {size}; give 2 to {MAX_PAIRS} pairs")));
        }
        if self.levels.is_empty() || self.levels.iter().any(|level| !(1..=4).contains(level)) {
            return Err(Refusal::new("`levels` must list at least one, and each must be 1 to 4"));
        }
        Ok(())
    }
}

/// The puzzle of a task. All its pairs are of one split, so that no pair is met in both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The pairs, in the order in which they are shown.
    pub pairs: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    pub pairs: u32,
    /// Pairs that were judged right.
    pub right: u32,
    pub calls: u32,
    /// Whether a call about the pair worked since the last verdict.
    pub checked: bool,
}

#[derive(Default)]
struct Turn {
    read: bool,
    /// Whether the verdict was `same`. Absent: there was none.
    verdict: Option<bool>,
    call: bool,
    call_ok: bool,
}

fn verdict(text: &str) -> Option<bool> {
    match text {
        "same" => Some(true),
        "not" => Some(false),
        _ => None,
    }
}

impl Pairs {
    fn told(
        &self,
        batch: &Batch,
        pair: &Pair,
        judged: &Judged,
        turn: &Turn,
        result: StepResult,
    ) -> StepResult {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let same = pair.same() == Some(true);
        let all = batch.pairs.len() as f64;
        let solved = turn.verdict.is_some() && judged.right as usize == batch.pairs.len();
        result.with_info([
            ("read", flag(turn.read)),
            ("level", f64::from(pair.level)),
            ("needs_tool", flag(pair.level > 1)),
            ("label", flag(same)),
            ("verdict", flag(turn.verdict.is_some())),
            ("right", flag(turn.verdict == Some(same))),
            ("false_same", flag(turn.verdict == Some(true) && !same)),
            ("false_not", flag(turn.verdict == Some(false) && same)),
            ("call", flag(turn.call)),
            ("call_ok", flag(turn.call_ok)),
            ("checked", flag(judged.checked)),
            ("rule_exact", flag(pair.rule_exact())),
            ("rule_probe", flag(pair.rule_probe())),
            ("calls", f64::from(judged.calls)),
            ("judged", f64::from(judged.pairs)),
            ("right_share", f64::from(judged.right) / all.max(1.0)),
            ("solved", flag(solved)),
        ])
    }

    /// The calls that judge a pair, each side alone or both at once.
    fn calls(&self, pair: &Pair, x: i64, at_once: bool) -> Vec<String> {
        let unit = |side: &str| side.split_once(' ').map_or("", |(_, unit)| unit).to_owned();
        let difference = || format!("eval {}", pair.difference());
        match pair.level {
            2 if self.tools && at_once => vec![difference()],
            4 if self.tools && at_once => vec![format!("{} at {x}", difference())],
            2 if self.tools => vec![format!("eval {}", pair.left)],
            3 if self.tools => vec![format!("change {} {}", pair.left, unit(&pair.right))],
            4 if self.tools => {
                vec![format!("eval {} at {x}", pair.left), format!("eval {} at {x}", pair.right)]
            }
            _ => Vec::new(),
        }
    }
}

impl TextGame for Pairs {
    type Puzzle = Batch;
    type State = Judged;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Computes where looking is not enough, and judges: right."),
        Manner::new("naive", "As `exact`, but probes x at 0 or 1, where near misses often agree."),
        Manner::new(
            "subtract",
            "As `exact`, but computes the difference of sums and expressions, which is 0 where they are the same.",
        ),
        Manner::new("strict", "Never computes; the same is only what is the same number or list at sight."),
        Manner::new("hasty", "Never computes, and guesses where it would have to."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Batch {
        let mut labels: Vec<bool> = (0..size).map(|_| rng.chance(0.5)).collect();
        // One of each at least, so that no constant verdict is right throughout.
        if labels.iter().all(|label| Some(label) == labels.first()) {
            let at = rng.below(u64::from(size)) as usize;
            if let Some(label) = labels.get_mut(at) {
                *label = !*label;
            }
        }
        let mut pairs: Vec<Pair> = Vec::new();
        for same in labels {
            let level = rng.pick(&self.levels).copied().unwrap_or(1);
            let mut pair = Pair::draw(level, same, rng);
            let split = split_of(&pairs.first().unwrap_or(&pair).text());
            for _ in 0..MAX_DRAWS {
                if split_of(&pair.text()) == split && pair.same() == Some(same) {
                    break;
                }
                pair = Pair::draw(level, same, rng);
            }
            pairs.push(pair);
        }
        Batch { pairs }
    }

    fn identity(&self, batch: &Batch) -> String {
        batch.pairs.first().map_or_else(String::new, Pair::text)
    }

    fn check_puzzle(&self, batch: &Batch, size: u32) -> Result<(), String> {
        if batch.pairs.len() != size as usize || !(1..=MAX_PAIRS).contains(&size) {
            return Err(format!("it has {} pairs, its size is {size}", batch.pairs.len()));
        }
        match batch.pairs.iter().find(|pair| pair.same().is_none()) {
            Some(pair) => Err(format!("`{}` is no pair of level {}", pair.text(), pair.level)),
            None => Ok(()),
        }
    }

    fn check_state(&self, batch: &Batch, judged: &Judged) -> Result<(), String> {
        let possible = judged.right <= judged.pairs && judged.pairs as usize <= batch.pairs.len();
        if possible { Ok(()) } else { Err("its verdicts are not possible".to_owned()) }
    }

    fn prompt(&self, batch: &Batch) -> String {
        batch.pairs.first().map_or_else(String::new, Pair::text)
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.then(|| INSTRUCTIONS.to_owned())
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![
            CommandCard::new("same", "Judge that the pair is the same.").example("same"),
            CommandCard::new("not", "Judge that the pair is not the same.").example("not"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let malformed = Action::Malformed { why: HINT.to_owned() };
        if said.contains(['\n', '\r']) || said.len() > MAX_LINE {
            return malformed;
        }
        match said.split_once(' ') {
            None if verdict(said).is_some() => Action::Say { text: said.to_owned() },
            Some((tool @ ("eval" | "change"), input)) if !input.trim().is_empty() => {
                let call = ToolCall { tool: tool.to_owned(), input: input.trim().to_owned() };
                Action::Calls { calls: vec![call] }
            }
            _ => malformed,
        }
    }

    fn step(&self, batch: &Batch, judged: &mut Judged, action: &Action, calls: &[CallRecord]) -> StepResult {
        let Some(pair) = batch.pairs.get(judged.pairs as usize) else { return StepResult::default().done() };
        let mut turn = Turn::default();
        let result = match action {
            Action::Calls { .. } => {
                let works = |record: &CallRecord| self.tools && record.end == CallEnd::Ok;
                turn = Turn { read: true, call: true, call_ok: calls.iter().any(works), verdict: None };
                judged.calls = judged.calls.saturating_add(calls.len() as u32);
                judged.checked |= calls.iter().any(|record| works(record) && pair.is_about(&record.call));
                let output = |record: &CallRecord| {
                    Message::new(Role::Tool, if self.tools { record.output.as_str() } else { NO_TOOLS })
                };
                StepResult::observing(calls.iter().map(output).collect())
            }
            Action::Say { text } if verdict(text).is_some() => {
                turn = Turn { read: true, verdict: verdict(text), ..turn };
                judged.pairs += 1;
                judged.right += u32::from(turn.verdict == pair.same());
                match batch.pairs.get(judged.pairs as usize) {
                    Some(next) => StepResult::saying(next.text()),
                    None => StepResult::default().done(),
                }
            }
            _ => StepResult::saying(HINT),
        };
        let result = self.told(batch, pair, judged, &turn, result);
        judged.checked &= turn.verdict.is_none();
        result
    }

    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let tools = if self.tools { &Pure::ALL[..] } else { &[] };
        Ok(tools.iter().map(|tool| builder.wrap(Arc::new(*tool))).collect())
    }

    fn expert(&self, batch: &Batch, play: &Demonstration<'_>) -> Option<String> {
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" });
        let is_verdict = |said: &str| verdict(line(said)).is_some();
        let at = play.turns.iter().filter(|turn| is_verdict(&turn.said)).count();
        let pair = batch.pairs.get(at)?;
        let called = play.turns.iter().rev().take_while(|turn| !is_verdict(&turn.said)).count();
        let mut rng = play.seed.child("pair", at as u64).stream();
        let x = if manner == "naive" { rng.between(0, 1) } else { rng.between(3, 9) };
        let same = match manner {
            "hasty" if pair.level > 1 => rng.chance(0.5),
            "strict" => pair.level == 1 && pair.same() == Some(true),
            "naive" => pair.agrees_at(x),
            _ => pair.same() == Some(true),
        };
        let calls = match manner {
            "exact" | "naive" => self.calls(pair, x, false),
            "subtract" => self.calls(pair, x, true),
            _ => Vec::new(),
        };
        let said = if same { "same" } else { "not" };
        Some(calls.into_iter().nth(called).unwrap_or_else(|| said.to_owned()))
    }
}
