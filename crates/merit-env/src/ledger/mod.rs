//! Purchases to add up: every price must be looked up and every sum computed, one action per turn.
//!
//! `buy 3 mug, buy 4 pen, return 2 cup. total?` is solved by a running total: `lookup mug`, `calc 3*47`, `lookup pen`,
//! `calc 141+4*12`, … `answer 159`. Prices are hidden in the task's table; only the lookup tool reveals them. What is asked is in
//! `purchase`, and `expert` plays right or wrong.

mod expert;
mod purchase;

pub use expert::{MANNER_WEIGHTS, Manner};
pub use purchase::{Entry, ITEMS, Purchase, Sign};

use merit_api::{Demonstration, NoState, StepResult, TextGame, Tool, ToolBuilder, ToolError, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Message, Role, Split, Stream, ToolCall};
use merit_tools::{Calculator, FaultPlan, Faulty, Lookup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How many entries a task may have.
pub const SIZES: RangeInclusive<u32> = 1..=5;
/// Most items in the table that no entry names.
pub const MAX_DISTRACTORS: u32 = 12;
/// How to act, in words, for models that were not warm-started on it.
pub const INSTRUCTIONS: &str = "Find the total of the purchases; returns are subtracted. Say one line per turn: \
`lookup NAME` for the unit price of an item, `calc SUM` for arithmetic such as 141+4*12, \
and at the end `answer NUMBER`.";

/// What an agent is told that said something else.
const HINT: &str = "say lookup NAME, calc SUM or answer NUMBER";
/// What every call is answered in the world without tools.
const NO_TOOLS: &str = "no tools here";
const MAX_VERB_LENGTH: usize = 16;
const MAX_ANSWER_LENGTH: usize = 20;

/// The settings of `ledger`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ledger {
    /// Entries per training task, dealt in turn; a size that is listed twice is dealt twice as often.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Whether the agent has the tools. False is the control: the same tasks, and every call is answered `no tools here`.
    pub tools: bool,
    /// Items in the table that no entry names.
    pub distractors: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
    /// Disturbs both tools. Absent: they answer at once and never fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultPlan>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2, 3],
            held_out_sizes: Vec::new(),
            tools: true,
            distractors: 3,
            instructions: false,
            faults: None,
        }
    }
}

impl Component for Ledger {
    const ABOUT: About = About {
        name: "ledger",
        summary: "Purchases to add up over several turns with a price lookup and a calculator.",
        paper: "",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list the sizes to train on, as in [1, 2, 3]"));
        }
        let (least, most) = (SIZES.start(), SIZES.end());
        for (name, sizes) in [("sizes", &self.sizes), ("held_out_sizes", &self.held_out_sizes)] {
            if let Some(size) = sizes.iter().find(|size| !SIZES.contains(size)) {
                return Err(Refusal::new(format!(
                    "`{name}` lists {size}; a task has {least} to {most} entries"
                )));
            }
        }
        if self.distractors > MAX_DISTRACTORS {
            return Err(Refusal::new(format!(
                "`distractors` is {}; at most {MAX_DISTRACTORS}",
                self.distractors
            )));
        }
        match &self.faults {
            Some(_) if !self.tools => {
                Err(Refusal::new("`faults` needs `tools = true`: there is nothing to disturb"))
            }
            Some(plan) => plan.check().map_err(|refusal| Refusal::new(format!("`faults`: {refusal}"))),
            None => Ok(()),
        }
    }
}

/// What a line means. Never fails: what cannot be understood is `Action::Malformed`.
///
/// ```
/// use merit_core::Action;
/// use merit_env::ledger::parse;
/// assert_eq!(parse("answer 159\n"), Action::Answer { text: "159".to_owned() });
/// assert!(matches!(parse("calc 3*47"), Action::Calls { .. }));
/// assert!(matches!(parse("I think 159"), Action::Malformed { .. }));
/// ```
pub fn parse(text: &str) -> Action {
    let malformed = |why: &str| Action::Malformed { why: why.to_owned() };
    let line = line(text);
    let Some((verb, rest)) = line.split_once(' ') else {
        return malformed(HINT);
    };
    let rest = rest.trim_start_matches(' ');
    if line.contains(['\n', '\r']) {
        return malformed("one action per line");
    }
    if verb.is_empty() || verb.len() > MAX_VERB_LENGTH || !verb.bytes().all(|b| b.is_ascii_lowercase()) {
        return malformed(HINT);
    }
    match verb {
        "answer" if is_number(rest) => Action::Answer { text: rest.to_owned() },
        "answer" => malformed("answer with a number"),
        tool => Action::Calls { calls: vec![ToolCall { tool: tool.to_owned(), input: rest.to_owned() }] },
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && text.len() <= MAX_ANSWER_LENGTH && digits.bytes().all(|b| b.is_ascii_digit())
}

impl TextGame for Ledger {
    type Puzzle = Purchase;
    type State = NoState;

    const MANNERS: &'static [merit_api::Manner] = expert::NAMED;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Purchase {
        Purchase::draw(size, self.distractors, rng)
    }

    fn identity(&self, purchase: &Purchase) -> String {
        purchase.content()
    }

    fn answer(&self, purchase: &Purchase) -> Option<String> {
        Some(purchase.total().to_string())
    }

    fn check_puzzle(&self, purchase: &Purchase, _size: u32) -> Result<(), String> {
        purchase.check()
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.then(|| INSTRUCTIONS.to_owned())
    }

    fn prompt(&self, purchase: &Purchase) -> String {
        purchase.question()
    }

    fn parse(&self, text: &str) -> Action {
        parse(text)
    }

    fn step(&self, _: &Purchase, _: &mut NoState, action: &Action, calls: &[CallRecord]) -> StepResult {
        let output = |record: &CallRecord| {
            let text = if self.tools { record.output.clone() } else { NO_TOOLS.to_owned() };
            Message::new(Role::Tool, text)
        };
        match action {
            Action::Answer { .. } => StepResult::default().answered(),
            Action::Calls { .. } => StepResult::observing(calls.iter().map(output).collect()),
            Action::Malformed { why } => StepResult::saying(why.clone()),
            Action::Say { .. } => StepResult::saying(HINT),
        }
    }

    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        if !self.tools {
            return Ok(Vec::new());
        }
        let tools: [Arc<dyn Tool>; 2] = [Arc::new(Lookup), Arc::new(Calculator)];
        let ready = |tool| {
            let tool = match self.faults {
                Some(plan) => Arc::new(Faulty::new(tool, plan)?) as Arc<dyn Tool>,
                None => tool,
            };
            Ok(builder.wrap(tool))
        };
        tools.into_iter().map(ready).collect()
    }

    fn expert(&self, purchase: &Purchase, play: &Demonstration<'_>) -> Option<String> {
        let drawn = || Manner::drawn(play.p_correct, play.seed);
        let manner = play.manner.and_then(Manner::named).unwrap_or_else(drawn);
        Some(if self.tools {
            expert::next_line(purchase, play.turns, manner, play.seed)
        } else {
            expert::answer_unaided(purchase, manner, play.seed)
        })
    }
}
