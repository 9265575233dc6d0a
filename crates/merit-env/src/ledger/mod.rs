//! Purchases to add up: every price must be looked up and every sum computed, one action per turn.
//!
//! `buy 3 mug, buy 4 pen, return 2 cup. total?` is solved by a running total: `lookup mug`, `calc 3*47`, `lookup pen`,
//! `calc 141+4*12`, … `answer 159`. Prices are hidden in the task's table; only the lookup tool reveals them. What is asked is in
//! `purchase`, and `expert` plays right or wrong. There are three more kinds of tasks, in `kinds`, with answers of one word to four,
//! which `words` plays; calls may be JSON, in `calls`; `sql` is one more tool.
//!
//! With any of these settings every turn has the info `parsed` (it could be read), `quality` (of a call 1 where it answers and a right play
//! makes it, 0.5 where it answers; of an answer the share of its words that are right), `kind` (0 total, 1 lookup, 2 calc, 3 sql) and, with the
//! answer, `right`.

mod calls;
mod expert;
mod kinds;
mod purchase;
mod settings;
mod sql;
mod words;

pub use calls::CallForm;
pub use expert::{MANNER_WEIGHTS, Manner};
pub use kinds::{Kind, MAX_WORDS};
pub use purchase::{Entry, ITEMS, Purchase, Sign};
pub use settings::Ledger;

use calls::UNREAD;
use merit_api::{
    CommandCard, Demonstration, ExpertTurn, NoState, StepResult, TextGame, Tool, ToolBuilder, ToolError,
    line, sizes_of,
};
use merit_core::{Action, CallRecord, Message, Role, Split, Stream, ToolCall};
use merit_tools::{Calculator, Faulty, Lookup};
use settings::totals_alone;
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
/// What is answered to JSON that is no call.
const NO_CALL: &str = "no call";
const MAX_VERB_LENGTH: usize = 16;
const MAX_ANSWER_LENGTH: usize = 20;

impl Ledger {
    /// The lines that can be said, with what stands in them.
    fn lines(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let sql = self.has(Kind::Sql).then_some((
            "sql",
            "CONDITION",
            "the names of what fits a condition such as price<40",
        ));
        [("lookup", "NAME", "the unit price of an item"), ("calc", "SUM", "arithmetic such as 141+4*12")]
            .into_iter()
            .chain(sql)
            .collect()
    }

    fn hint(&self) -> String {
        if !self.is_more() {
            return HINT.to_owned();
        }
        let call = |(verb, input, _): &(&str, &str, &str)| match self.call {
            CallForm::Line => format!("{verb} {input}"),
            CallForm::Json => format!("{{\"{verb}\":\"{input}\"}}"),
        };
        let calls: Vec<String> = self.lines().iter().map(call).collect();
        format!("say {} or answer {}", calls.join(", "), if self.has_words() { "WORDS" } else { "NUMBER" })
    }

    fn manual(&self) -> String {
        if !self.is_more() {
            return INSTRUCTIONS.to_owned();
        }
        let call = |(verb, input, about): &(&str, &str, &str)| match self.call {
            CallForm::Line => format!("`{verb} {input}` for {about}"),
            CallForm::Json => format!("`{{\"{verb}\":\"{input}\"}}` for {about}"),
        };
        let calls: Vec<String> = self.lines().iter().map(call).collect();
        format!(
            "Answer the question. A total is that of the purchases; returns are subtracted. Prices are answered in the order of the \
             question, names in that of the alphabet, with spaces between. Say one line per turn: {}, and at the end `answer {}`.",
            calls.join(", "),
            if self.has_words() { "WORDS" } else { "NUMBER" }
        )
    }

    /// What a demonstrator that writes JSON says for a line: a share of its calls is spoiled the first time.
    fn as_json(&self, said: String, play: &Demonstration<'_>) -> String {
        let Action::Calls { calls } = parse(&said) else { return said };
        let Some(call) = calls.first() else { return said };
        let written = calls::written(call);
        let is_unread =
            |turn: &ExpertTurn| calls::read(line(&turn.said)).is_some_and(|call| call.tool == UNREAD);
        let made = play.turns.iter().filter(|turn| !is_unread(turn)).count() as u64;
        let again = play.turns.last().is_some_and(is_unread);
        let spoils = play.seed.child("unparsed", made).stream().chance(self.unparsed);
        if spoils && !again { calls::broken(&written, &play.seed.child("broken", made)) } else { written }
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
    parse_with(text, HINT, false)
}

/// The same with this hint, and with answers of words.
fn parse_with(text: &str, hint: &str, words: bool) -> Action {
    let malformed = |why: &str| Action::Malformed { why: why.to_owned() };
    let line = line(text);
    let Some((verb, rest)) = line.split_once(' ') else {
        return malformed(hint);
    };
    let rest = rest.trim_start_matches(' ');
    if line.contains(['\n', '\r']) {
        return malformed("one action per line");
    }
    if verb.is_empty() || verb.len() > MAX_VERB_LENGTH || !verb.bytes().all(|b| b.is_ascii_lowercase()) {
        return malformed(hint);
    }
    match verb {
        "answer" if is_number(rest) || words && are_words(rest) => Action::Answer { text: rest.to_owned() },
        "answer" if words => malformed("answer with one word to four"),
        "answer" => malformed("answer with a number"),
        tool => Action::Calls { calls: vec![ToolCall { tool: tool.to_owned(), input: rest.to_owned() }] },
    }
}

/// One short word to four, with a space between.
fn are_words(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_word = |word: &str| (1..=MAX_ANSWER_LENGTH).contains(&word.len()) && word.bytes().all(plain);
    text.split(' ').take(MAX_WORDS + 1).count() <= MAX_WORDS && text.split(' ').all(is_word)
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
        if totals_alone(&self.kinds) {
            return Purchase::draw(size, self.distractors, rng);
        }
        let kind = self.drawn_kind(rng);
        Purchase::draw(size, self.distractors, rng).asking(kind, rng)
    }

    fn identity(&self, purchase: &Purchase) -> String {
        purchase.content()
    }

    fn answer(&self, purchase: &Purchase) -> Option<String> {
        Some(purchase.right())
    }

    fn check_puzzle(&self, purchase: &Purchase, _size: u32) -> Result<(), String> {
        // Where several kinds are asked every task says its own, or a total without its kind would be another task of the same entries.
        let known = purchase
            .kind
            .map_or(totals_alone(&self.kinds), |kind| !totals_alone(&self.kinds) && self.has(kind));
        if !known {
            return Err("its kind is none of those in `kinds`, or it has none".to_owned());
        }
        purchase.check()
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.then(|| self.manual())
    }

    fn prompt(&self, purchase: &Purchase) -> String {
        purchase.asked()
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![if self.has_words() {
            CommandCard::new("answer", "Give the answer, which ends it.")
                .text("words", "a number, prices or names, with spaces between")
                .example("answer 47 12")
        } else {
            CommandCard::new("answer", "Give the total, which ends it.")
                .number("number", "the total")
                .example("answer 159")
        }]
    }

    fn call_line(&self, call: &ToolCall) -> String {
        match self.call {
            CallForm::Line => format!("{} {}", call.tool, call.input),
            CallForm::Json => calls::written(call),
        }
    }

    fn parse(&self, text: &str) -> Action {
        if !self.is_more() {
            return parse(text);
        }
        let said = line(text);
        let action = match self.call {
            CallForm::Json if !said.contains(['\n', '\r']) => calls::read(said).map(|call| vec![call]),
            CallForm::Json | CallForm::Line => None,
        };
        match action {
            Some(calls) => Action::Calls { calls },
            None => match parse_with(text, &self.hint(), self.has_words()) {
                Action::Calls { .. } if self.call == CallForm::Json => Action::Malformed { why: self.hint() },
                action => action,
            },
        }
    }

    fn step(
        &self,
        purchase: &Purchase,
        _: &mut NoState,
        action: &Action,
        calls: &[CallRecord],
    ) -> StepResult {
        let output = |record: &CallRecord| {
            let unread = self.call == CallForm::Json && record.call.tool == UNREAD;
            let text = match (self.tools, unread) {
                (true, true) => NO_CALL.to_owned(),
                (true, false) => record.output.clone(),
                (false, _) => NO_TOOLS.to_owned(),
            };
            Message::new(Role::Tool, text)
        };
        let result = match action {
            Action::Answer { .. } => StepResult::default().answered(),
            Action::Calls { .. } => StepResult::observing(calls.iter().map(output).collect()),
            Action::Malformed { why } => StepResult::saying(why.clone()),
            Action::Say { .. } => StepResult::saying(self.hint()),
        };
        if !self.is_more() {
            return result;
        }
        let flag = |holds: bool| f64::from(u8::from(holds));
        let worth = purchase.worth(action, calls);
        let told = [
            ("parsed", flag(worth.parsed)),
            ("quality", worth.quality),
            ("kind", f64::from(purchase.kind() as u8)),
        ];
        let right = result.is_last().then_some(("right", flag(worth.right)));
        result.with_info(told.into_iter().chain(right))
    }

    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        if !self.tools {
            return Ok(Vec::new());
        }
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Lookup), Arc::new(Calculator)];
        if self.has(Kind::Sql) {
            tools.push(Arc::new(sql::Sql));
        }
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
        if !self.tools {
            return Some(expert::answer_unaided(purchase, manner, play.seed));
        }
        let next = |turns: &[ExpertTurn]| expert::next_line(purchase, turns, manner, play.seed);
        Some(match self.call {
            CallForm::Line => next(play.turns),
            CallForm::Json => self.as_json(next(&as_lines(play.turns)), play),
        })
    }
}

/// The turns with their calls as lines, so that a demonstrator reads them whatever their form.
fn as_lines(turns: &[ExpertTurn]) -> Vec<ExpertTurn> {
    let read = |turn: &ExpertTurn| match calls::read(line(&turn.said)) {
        Some(call) => {
            ExpertTurn { said: format!("{} {}", call.tool, call.input), observed: turn.observed.clone() }
        }
        None => turn.clone(),
    };
    turns.iter().map(read).collect()
}
