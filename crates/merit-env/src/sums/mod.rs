//! Arithmetic that a small model cannot do in its head: by a calculator, by written steps, or not at all.
//!
//! `find: 347*582.` is solved by `calc 347*582`, whose answer is then given: `answer 201954`. `find mod 7: 3, +5, *4.` can also be
//! solved in text: `step 3+5=8=1`, `step 1*4=4`, `answer 4`. Steps are not judged. What is asked is in `problem`, the tool in
//! `calc`, and `expert` plays in five manners.
//!
//! The info of every step: `kind` (0 trivial, 1 product, 2 mod, 3 countdown), `needs_tool`, `calls` and `steps` so far,
//! `error_class` of this turn (0 none, 1 syntax, 2 unknown name, 3 arity, 4 division by zero, 5 range, 6 no such tool, 7 a line that
//! cannot be read), `repaired` (1 where this turn's call works and the call before it was refused) and, with the final answer,
//! `right`.

mod calc;
mod expert;
mod problem;

pub use calc::{Fault, StrictCalc, evaluate};
pub use problem::{Kind, Link, MAX_LINKS, Op, Problem};

use merit_api::{
    CommandCard, Demonstration, Manner, StepResult, TextGame, Tool, ToolBuilder, ToolError, line, sizes_of,
};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallEnd, CallRecord, Message, Role, Split, Stream, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How to act, in words, for models that were not warm-started on it.
pub const INSTRUCTIONS: &str = "Find the number. Say one line per turn: `calc EXPRESSION` to compute with whole numbers, as in \
12*(3+4) or mod(35,11), `step TEXT` to write a step down, and at the end `answer NUMBER`. If you are asked to make a number with \
others, answer with an expression that has each of them once.";

const HINT: &str = "say calc EXPRESSION, step TEXT or answer NUMBER";
const NO_TOOLS: &str = "no tools here";
const NOTED: &str = "ok";
const NO_SUCH_TOOL: u8 = 6;
const UNREADABLE: u8 = 7;
const MAX_LINE: usize = 80;

/// The settings of `sums`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sums {
    /// Shares of the kinds among tasks that are not trivial; they add up to 1.
    pub kinds: BTreeMap<Kind, f64>,
    /// Share of trivial tasks: a two-digit number and a digit, which need no tool.
    pub trivial: f64,
    /// Digits of the numbers of products, 2 to 5.
    pub digits: u32,
    /// Depth of training tasks, dealt in turn: operations of a product; a chain by a modulus and a countdown have one more.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// What chains by a modulus are taken by, drawn for each; 2 to 99.
    pub moduli: Vec<i64>,
    /// The operations of chains by a modulus, drawn for each link. Absent: all three.
    #[serde(skip_serializing_if = "Op::is_every")]
    pub ops: Vec<Op>,
    /// Whether the agent has the calculator. `none` is the control: the same tasks, and every call is answered `no tools here`.
    pub tool: ToolChoice,
    /// How tasks are worded.
    pub template: Template,
    /// The median of the optional steps that demonstrations write down first; heavy-tailed, at most 8. 0: none.
    pub scratchpad: f64,
    /// How often the manner `verbose` repeats each of its steps, 0 to 3.
    pub verbosity: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

/// The tools of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolChoice {
    /// A strict calculator.
    Calc,
    /// No tool: the agent writes its steps.
    None,
}

/// How tasks are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Template {
    /// The usual words.
    Plain,
    /// The same words in another order, to see whether what was learned hangs on the wording.
    Shifted,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            kinds: BTreeMap::from([(Kind::Product, 1.0)]),
            trivial: 0.0,
            digits: 3,
            sizes: vec![1, 2],
            held_out_sizes: Vec::new(),
            moduli: vec![5, 7, 9],
            ops: Op::EVERY.to_vec(),
            tool: ToolChoice::Calc,
            template: Template::Plain,
            scratchpad: 0.0,
            verbosity: 0,
            instructions: false,
        }
    }
}

impl Component for Sums {
    const ABOUT: About = About {
        name: "sums",
        summary: "Products, chains by a modulus and countdowns, with a strict calculator or by written steps.",
        paper: "",
    };

    const EXAMPLE: &'static str = "kinds = { product = 0.4, mod = 0.4, countdown = 0.2 }\ntrivial = 0.2\n";

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list the depths to train on, as in [1, 2]"));
        }
        for (name, sizes) in [("sizes", &self.sizes), ("held_out_sizes", &self.held_out_sizes)] {
            if let Some(size) = sizes.iter().find(|size| !(1..=MAX_LINKS).contains(size)) {
                return Err(Refusal::new(format!("`{name}` lists {size}; depths are 1 to {MAX_LINKS}")));
            }
        }
        if self.kinds.contains_key(&Kind::Trivial) {
            return Err(Refusal::new("`kinds` lists trivial; give its share of all tasks in `trivial`"));
        }
        let share = 0.0..=1.0;
        let sum: f64 = self.kinds.values().sum();
        if (sum - 1.0).abs() > 1e-6 || self.kinds.values().any(|one| !share.contains(one)) {
            return Err(Refusal::new(format!(
                "the shares in `kinds` add up to {sum}; give shares of 0 to 1 that add up to 1"
            )));
        }
        Refusal::unless(share.contains(&self.trivial), "trivial", self.trivial, "a share, 0 to 1")?;
        Refusal::unless((2..=5).contains(&self.digits), "digits", self.digits, "2 to 5")?;
        if self.moduli.is_empty() || self.moduli.iter().any(|by| !(2..=99).contains(by)) {
            return Err(Refusal::new("`moduli` must list at least one, and each must be 2 to 99"));
        }
        if self.ops.is_empty() {
            return Err(Refusal::new("`ops` is empty; list operations, as in [\"+\", \"*\"]"));
        }
        Refusal::unless((0.0..=4.0).contains(&self.scratchpad), "scratchpad", self.scratchpad, "0 to 4")?;
        Refusal::unless(self.verbosity <= 3, "verbosity", self.verbosity, "0 to 3")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    pub calls: u32,
    pub steps: u32,
    /// Whether the last call was refused.
    pub refused: bool,
}

/// What a line means. Never fails: what cannot be understood is `Action::Malformed`.
///
/// ```
/// use merit_core::Action;
/// use merit_env::sums::parse;
/// assert_eq!(parse("answer 201954\n"), Action::Answer { text: "201954".to_owned() });
/// assert!(matches!(parse("calc 347*582"), Action::Calls { .. }));
/// assert!(matches!(parse("step 3*6=18=4"), Action::Say { .. }));
/// assert!(matches!(parse("It is 4."), Action::Malformed { .. }));
/// ```
pub fn parse(text: &str) -> Action {
    let malformed = |why: &str| Action::Malformed { why: why.to_owned() };
    let line = line(text);
    if line.contains(['\n', '\r']) || line.len() > MAX_LINE {
        return malformed("one short line");
    }
    match line.split_once(' ').map(|(verb, rest)| (verb, rest.trim_start_matches(' '))) {
        Some(("answer", rest)) if is_expression(rest) => Action::Answer { text: rest.to_owned() },
        Some(("answer", _)) => malformed("answer with a number"),
        Some(("step", rest)) if !rest.is_empty() => Action::Say { text: rest.to_owned() },
        Some((tool, rest)) if is_word(tool) && tool != "step" => {
            Action::Calls { calls: vec![ToolCall { tool: tool.to_owned(), input: rest.to_owned() }] }
        }
        _ => malformed(HINT),
    }
}

fn is_word(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase())
}

/// A number, or numbers with operations between them.
fn is_expression(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b"+-*/()".contains(&b))
}

impl Sums {
    /// What went wrong with a call; 0 for nothing.
    fn error_class(&self, record: &CallRecord) -> u8 {
        if self.tool == ToolChoice::None || record.call.tool != "calc" {
            return NO_SUCH_TOOL;
        }
        match evaluate(&record.call.input) {
            Err(fault) if record.end != CallEnd::Ok => fault as u8,
            _ => 0,
        }
    }
}

impl TextGame for Sums {
    type Puzzle = Problem;
    type State = Progress;

    const MANNERS: &'static [Manner] = expert::MANNERS;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Problem {
        let mut kind = Kind::Trivial;
        if !rng.chance(self.trivial) {
            let mut left = rng.unit();
            for (&listed, share) in self.kinds.iter().filter(|(_, share)| **share > 0.0) {
                kind = listed;
                left -= share;
                if left < 0.0 {
                    break;
                }
            }
        }
        Problem::draw(self, kind, size, rng)
    }

    fn identity(&self, problem: &Problem) -> String {
        problem.content()
    }

    fn answer(&self, problem: &Problem) -> Option<String> {
        (problem.kind != Kind::Countdown).then(|| problem.value().to_string())
    }

    fn check_puzzle(&self, problem: &Problem, _size: u32) -> Result<(), String> {
        problem.check()
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.then(|| INSTRUCTIONS.to_owned())
    }

    fn prompt(&self, problem: &Problem) -> String {
        problem.question(self.template == Template::Shifted)
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![
            CommandCard::new("step", "Write a step down.").text("text", "the step").example("step 3+5=8=1"),
            CommandCard::new("answer", "Give the answer, which ends it.")
                .word("number", "the number, or the expression that makes it, without spaces")
                .example("answer 201954"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        parse(text)
    }

    fn step(
        &self,
        problem: &Problem,
        so_far: &mut Progress,
        action: &Action,
        calls: &[CallRecord],
    ) -> StepResult {
        let (mut class, mut repaired) = (0, false);
        let result = match action {
            Action::Answer { .. } => StepResult::default().answered(),
            Action::Calls { .. } => {
                for record in calls {
                    class = self.error_class(record);
                    so_far.calls += 1;
                    repaired |= so_far.refused && class == 0;
                    so_far.refused = class != 0;
                }
                let output = |record: &CallRecord| match self.tool {
                    ToolChoice::Calc => Message::new(Role::Tool, record.output.clone()),
                    ToolChoice::None => Message::new(Role::Tool, NO_TOOLS),
                };
                StepResult::observing(calls.iter().map(output).collect())
            }
            Action::Say { .. } => {
                so_far.steps += 1;
                StepResult::saying(NOTED)
            }
            Action::Malformed { why } => {
                class = UNREADABLE;
                StepResult::saying(why.clone())
            }
        };
        let result = result.with_info([
            ("kind", f64::from(problem.kind as u8)),
            ("needs_tool", f64::from(u8::from(problem.kind == Kind::Product))),
            ("calls", f64::from(so_far.calls)),
            ("steps", f64::from(so_far.steps)),
            ("error_class", f64::from(class)),
            ("repaired", f64::from(u8::from(repaired))),
        ]);
        match action {
            Action::Answer { text } => {
                result.with_info([("right", f64::from(u8::from(problem.is_answer(text))))])
            }
            _ => result,
        }
    }

    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(match self.tool {
            ToolChoice::Calc => vec![builder.wrap(Arc::new(StrictCalc))],
            ToolChoice::None => Vec::new(),
        })
    }

    fn expert(&self, problem: &Problem, play: &Demonstration<'_>) -> Option<String> {
        expert::next_line(self, problem, play)
    }
}
