//! The desk of a shop: find out what somebody wants, look it up, do it if the shop does that, and say what has to be said.
//!
//! The agent talks to a person (`ask name`, `tell 30`, `done`) and works on the shop's books (`find bob`, `order 14`, `cancel 14`, `move 14
//! rome`, `refund 14`). The person answers what is asked, may ask why first, and may name a wrong order and correct it a turn later.
//! Changing an order for a person who was not found in the books locks it. The books are right when they are exactly what they
//! have to be; nothing of that is said in words.

mod expert;
mod shop;

pub use shop::{Case, Change, Order, Wish};

use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Message, Role, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shop::{TOWNS, standing};
use std::collections::{BTreeMap, BTreeSet};

const FACTS: [&str; 4] = ["name", "order", "wish", "town"];
const HINT: &str = "say ask FACT, find NAME, order N, cancel N, move N TOWN, refund N, tell WORD or done";

/// The settings of `service`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Service {
    /// Facts that the person keeps back in training tasks, dealt in turn; 1 to 4.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Tell every fact in the prompt, whatever the size: a static request that needs no conversation.
    pub all_told: bool,
    /// Share of tasks in which the person names a wrong order and corrects it a turn later.
    pub slips: f64,
    /// Share of tasks in which the person asks why before giving a name.
    pub wary: f64,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Service {
    fn default() -> Self {
        Self {
            sizes: vec![2, 3, 4],
            held_out_sizes: Vec::new(),
            all_told: false,
            slips: 0.2,
            wary: 0.2,
            instructions: false,
        }
    }
}

impl Component for Service {
    const ABOUT: About = About {
        name: "service",
        summary: "The desk of a shop: a person to ask, books to look things up in and to change, rules to keep.",
        paper: "MUA-RL (2025); tau-bench (2024)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many facts are kept back, as in [2, 3, 4]"));
        }
        if let Some(size) =
            self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=4).contains(*size))
        {
            return Err(Refusal::new(format!("a size of {size}; give 1 to 4 facts that are kept back")));
        }
        Refusal::unless((0.0..=1.0).contains(&self.slips), "slips", self.slips, "a share between 0 and 1")?;
        Refusal::unless((0.0..=1.0).contains(&self.wary), "wary", self.wary, "a share between 0 and 1")
    }
}

/// What has happened at the desk.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desk {
    /// What became of orders, by number.
    pub changes: BTreeMap<u32, Change>,
    /// Who was last found in the books.
    pub found: Option<String>,
    /// How often each fact was asked for.
    pub asked: [u32; 4],
    /// What the person was told.
    pub told: BTreeSet<String>,
    /// Whether the person has named a wrong order and not yet said so.
    pub to_correct: bool,
    /// Changes that were tried before the person was found.
    pub early_writes: u32,
    /// Whether the order in question was looked up.
    pub looked_up: bool,
    /// How many items of the checklist have passed.
    #[serde(default)]
    pub passed: u8,
}

/// A line of the agent.
enum Command<'a> {
    Ask(usize),
    Find(&'a str),
    Look(u32),
    Write(u32, Change),
    Tell(&'a str),
    Done,
}

fn command(text: &str) -> Option<Command<'_>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| word.parse::<u32>().ok().filter(|number| number.to_string() == word);
    match words[..] {
        ["ask", fact] => FACTS.iter().position(|known| *known == fact).map(Command::Ask),
        ["find", name] => Some(Command::Find(name)),
        ["order", at] => number(at).map(Command::Look),
        ["cancel", at] => Some(Command::Write(number(at)?, Change::Cancelled)),
        ["refund", at] => Some(Command::Write(number(at)?, Change::Refunded)),
        ["move", at, town] if TOWNS.contains(&town) => {
            Some(Command::Write(number(at)?, Change::Moved(town.to_owned())))
        }
        ["tell", word] => Some(Command::Tell(word)),
        ["done"] => Some(Command::Done),
        _ => None,
    }
}

impl Desk {
    /// What the person answers to a question.
    fn answer(&mut self, case: &Case, fact: usize) -> String {
        let times = self.asked[fact];
        self.asked[fact] += 1;
        match fact {
            0 if case.wary && times == 0 => "why".to_owned(),
            1 if case.slip != 0 && times == 0 => {
                self.to_correct = true;
                format!("order {}", case.slip)
            }
            _ => case.fact(fact),
        }
    }

    /// What the books say to a change.
    fn write(&mut self, case: &Case, number: u32, change: Change) -> String {
        let Some(order) = case.order(number) else { return "none".to_owned() };
        if self.found.as_ref() != Some(&order.owner) {
            self.early_writes += 1;
            self.changes.insert(number, Change::Locked);
            return format!("locked {number}");
        }
        let said =
            if change == Change::Refunded { format!("paid {}", order.price) } else { format!("ok {number}") };
        self.changes.insert(number, change);
        said
    }

    fn state_right(&self, case: &Case) -> bool {
        self.changes == case.goal().into_iter().collect::<BTreeMap<_, _>>()
    }

    /// How much of what had to change, and of what was changed, is the same.
    fn state_share(&self, case: &Case) -> f64 {
        let goal: BTreeMap<u32, Change> = case.goal().into_iter().collect();
        let same = goal.iter().filter(|(number, change)| self.changes.get(number) == Some(change)).count();
        let all = goal.keys().chain(self.changes.keys()).collect::<BTreeSet<_>>().len();
        if all == 0 { 1.0 } else { same as f64 / all as f64 }
    }

    /// The share of the required calls that were made: find the person, look the order up, change it.
    fn calls_share(&self, case: &Case) -> f64 {
        let mut made = vec![self.found.as_ref() == Some(&case.name), self.looked_up];
        made.extend(case.goal().map(|(number, change)| self.changes.get(&number) == Some(&change)));
        made.iter().filter(|made| **made).count() as f64 / made.len() as f64
    }

    fn outputs_said(&self, case: &Case) -> bool {
        case.output().is_none_or(|output| self.told.contains(&output))
    }

    /// Whether the first item that has not passed holds now; then it passes. One a turn: an item needs those before it to have
    /// passed at an earlier turn.
    fn pass(&mut self, case: &Case, over: bool) -> bool {
        let (state, outputs) = (self.state_right(case), self.outputs_said(case));
        let holds = match self.passed {
            0 => self.found.as_ref() == Some(&case.name),
            1 => self.looked_up,
            // Where nothing is to be changed, or nothing to be told, that shows when the rest is done.
            2 => state && (case.goal().is_some() || outputs || over),
            3 => state && outputs && (case.output().is_some() || over),
            _ => false,
        };
        self.passed += u8::from(holds);
        holds
    }
}

impl Service {
    fn said(&self, case: &Case, desk: &mut Desk, result: StepResult, over: bool, read: bool) -> StepResult {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let idle = desk.told.iter().filter(|word| case.output().as_ref() != Some(word)).count();
        let (state, outputs) = (desk.state_right(case), desk.outputs_said(case));
        let round = desk.passed;
        let passes = read && desk.pass(case, over);
        let item = |item: u8| flag(passes && round == item);
        result.with_info([
            ("read", flag(read)),
            ("state_right", flag(over && state)),
            ("state_share", if over { desk.state_share(case) } else { 0.0 }),
            ("calls_share", if over { desk.calls_share(case) } else { 0.0 }),
            ("outputs_said", flag(over && outputs)),
            ("solved", flag(over && state && outputs)),
            ("identified", flag(desk.found.as_ref() == Some(&case.name))),
            ("early_writes", f64::from(desk.early_writes)),
            ("idle_tells", idle as f64),
            ("questions", f64::from(desk.asked.iter().sum::<u32>())),
            ("round", f64::from(round)),
            ("item_found", item(0)),
            ("item_looked", item(1)),
            ("item_changed", item(2)),
            ("item_told", item(3)),
        ])
    }
}

impl TextGame for Service {
    type Puzzle = Case;
    type State = Desk;
    const MANNERS: &'static [Manner] = &[
        Manner::new(
            "exact",
            "Asks what it does not know, finds the person, looks the order up, does it or says why not: right.",
        ),
        Manner::new(
            "hasty",
            "Guesses what it was not told and changes the order at once, without finding anybody.",
        ),
        Manner::new("blind", "Does what is wished without looking at the order, and tells nothing."),
        Manner::new("nosy", "Asks for everything, also for what it was told, and then does it right."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Case {
        Case::draw(size, self.all_told, self.slips, self.wary, rng)
    }

    fn identity(&self, case: &Case) -> String {
        // Only these fields define the task; the rest is scenery.
        format!("{} {} {} {} {:?}", case.name, case.number, case.wish.word(), case.town, case.told)
    }

    fn check_puzzle(&self, case: &Case, size: u32) -> Result<(), String> {
        let kept = case.kept();
        if kept != if self.all_told { 0 } else { size } {
            return Err(format!("{kept} facts are kept back, its size is {size}"));
        }
        case.check()
    }

    fn prompt(&self, case: &Case) -> String {
        let told: Vec<String> = (0..4).filter(|fact| case.told[*fact]).map(|fact| case.fact(fact)).collect();
        if told.is_empty() { "hello".to_owned() } else { format!("hello {}", told.join(" ")) }
    }

    fn instructions(&self) -> Option<String> {
        let text = "You work at the desk of a shop. Say one line per turn. To the person: `ask name`, `ask order`, `ask wish`, `ask town`, `tell WORD`, \
                    and `done` at the end. On the books: `find NAME`, `order NUMBER`, `cancel NUMBER`, `move NUMBER TOWN`, `refund NUMBER`. Find the \
                    person before you change anything. Orders that are open can be cancelled or moved, orders that were sent can be refunded; otherwise \
                    change nothing and tell `open` or `sent`. Tell the sum of a refund.";
        self.instructions.then(|| text.to_owned())
    }

    fn commands(&self) -> Vec<CommandCard> {
        let order = |name: &str, summary: &str| CommandCard::new(name, summary).number("order", "its number");
        vec![
            CommandCard::new("ask", "Ask the person for a fact.")
                .one_of("fact", "what to ask for", FACTS)
                .example("ask name"),
            CommandCard::new("find", "Look a person up in the books.")
                .word("name", "the person's name")
                .example("find bob"),
            order("order", "Look an order up in the books.").example("order 14"),
            order("cancel", "Cancel an order.").example("cancel 14"),
            order("move", "Send an order to another town.")
                .one_of("town", "where it goes instead", TOWNS)
                .example("move 14 rome"),
            order("refund", "Pay an order back.").example("refund 14"),
            CommandCard::new("tell", "Tell the person something.")
                .word("word", "a sum, or how an order stands: open or sent")
                .example("tell 30"),
            CommandCard::new("done", "Say that all is done, which ends it.").example("done"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text).split_whitespace().collect::<Vec<&str>>().join(" ");
        match command(&said) {
            Some(Command::Done) => Action::Answer { text: said },
            Some(_) => Action::Say { text: said },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, case: &Case, desk: &mut Desk, action: &Action, _: &[CallRecord]) -> StepResult {
        let correction = std::mem::take(&mut desk.to_correct)
            .then(|| Message::new(Role::User, format!("no {}", case.fact(1))));
        let text = match action {
            Action::Say { text } | Action::Answer { text } => text.as_str(),
            Action::Malformed { .. } | Action::Calls { .. } => "",
        };
        let (role, said) = match command(text) {
            Some(Command::Done) => {
                return self.said(case, desk, StepResult::default().answered(), true, true);
            }
            Some(Command::Ask(fact)) => (Role::User, desk.answer(case, fact)),
            Some(Command::Tell(word)) => {
                desk.told.insert(word.to_owned());
                (Role::User, "thanks".to_owned())
            }
            Some(Command::Find(name)) => {
                let known = case.orders.iter().any(|order| order.owner == name);
                desk.found = if known { Some(name.to_owned()) } else { desk.found.take() };
                (Role::Tool, if known { format!("found {name}") } else { "nobody".to_owned() })
            }
            Some(Command::Look(number)) => {
                desk.looked_up |= number == case.number;
                let found = case.order(number);
                let line = |o: &Order| format!("{} {} {} {}", o.owner, o.item, standing(o), o.price);
                (Role::Tool, found.map_or_else(|| "none".to_owned(), line))
            }
            Some(Command::Write(number, change)) => (Role::Tool, desk.write(case, number, change)),
            None => (Role::Tool, HINT.to_owned()),
        };
        let read = command(text).is_some();
        let said = std::iter::once(Message::new(role, said)).chain(correction).collect();
        self.said(case, desk, StepResult::observing(said), false, read)
    }

    fn expert(&self, case: &Case, play: &Demonstration<'_>) -> Option<String> {
        Some(expert::line(case, play))
    }
}
