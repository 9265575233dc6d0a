//! A shop to search in for somebody: find what has the wanted values, look at it, and recommend the one that is cheap enough.
//!
//! The person says `want red oak under 4 tell feel make`. `find red oak` lists the numbers of items with these values, `got 12 40`; `show
//! 12` tells all about one, its price last: `red oak big flat lux soft home 3`. `pick 12 soft lux` recommends it with claims about it,
//! and `none` says that the shop has nothing of the kind; both end the episode. `hm` and any words is a thought. What was right
//! and what was true is told as info, never in words.

mod expert;
mod request;
mod verdict;

pub use request::{Item, LISTED, Wish};

use super::{attribute_of, flag, plain_number};
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use request::SIZES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use verdict::Verdict;

const HINT: &str = "say find WORDS, show N, hm WORDS, pick N WORDS or none";
/// Words of a search and claims of a recommendation, at most.
const MAX_WORDS: usize = 4;
/// Words of a thought, at most.
const MAX_THOUGHT: usize = 16;
/// Calls from which on nothing was spared.
const MANY_CALLS: f64 = 8.0;

/// The settings of `shop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Shop {
    /// Constraints of training tasks, dealt in turn; 2 to 4, the price is always one of them.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Items in the shop, 8 to 60.
    pub items: u32,
    /// Share of tasks in which the shop has nothing that is wanted.
    pub infeasible: f64,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            sizes: vec![2, 3, 4],
            held_out_sizes: Vec::new(),
            items: 24,
            infeasible: 0.15,
            instructions: false,
        }
    }
}

impl Component for Shop {
    const ABOUT: About = About {
        name: "shop",
        summary: "A shop to search in: find the item that keeps all constraints, and say what is true of it.",
        paper: "ChatShopBuddy (2026)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new(
                "`sizes` is empty; list how many constraints there are, as in [2, 3, 4]",
            ));
        }
        if let Some(size) = self.sizes.iter().chain(&self.held_out_sizes).find(|size| !SIZES.contains(*size))
        {
            return Err(Refusal::new(format!(
                "a size of {size}; give 2 to 4 constraints, the price among them"
            )));
        }
        Refusal::unless((8..=60).contains(&self.items), "items", self.items, "8 to 60")?;
        let share = (0.0..=1.0).contains(&self.infeasible);
        Refusal::unless(share, "infeasible", self.infeasible, "a share between 0 and 1")
    }
}

/// What has been done in the shop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visit {
    /// Searches and looks so far.
    pub calls: u32,
    /// Words of thoughts so far.
    pub thoughts: u32,
    /// The items that were looked at.
    pub shown: BTreeSet<u32>,
    /// Whether all the wanted words were searched for at once.
    pub searched: bool,
}

/// A line of the agent.
enum Command {
    Find(Vec<(u8, u8)>),
    Show(u32),
    Think(usize),
    Pick(u32, Vec<(u8, u8)>),
    Nothing,
}

fn command(text: &str) -> Option<Command> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let values = |words: &[&str]| {
        let values: Option<Vec<(u8, u8)>> = words.iter().map(|word| attribute_of(word)).collect();
        values.filter(|values| {
            values.len() <= MAX_WORDS && values.iter().collect::<BTreeSet<_>>().len() == values.len()
        })
    };
    match words.split_first()? {
        (&"find", [_, ..]) => values(&words[1..]).map(Command::Find),
        (&"show", [number]) => plain_number(number).map(Command::Show),
        (&"hm", rest @ [_, ..]) if rest.len() <= MAX_THOUGHT => Some(Command::Think(rest.len())),
        (&"pick", [number, claims @ ..]) => Some(Command::Pick(plain_number(number)?, values(claims)?)),
        (&"none", []) => Some(Command::Nothing),
        _ => None,
    }
}

impl Shop {
    fn said(
        &self,
        wish: &Wish,
        visit: &Visit,
        result: StepResult,
        read: bool,
        verdict: &Verdict,
    ) -> StepResult {
        // The share is a quotient of small whole numbers: 1 is exact.
        let hard_ok = verdict.hard_share >= 1.0;
        let over = result.is_last();
        result.with_info([
            ("read", flag(read)),
            ("feasible", flag(wish.right().is_some())),
            ("exists", flag(verdict.exists)),
            ("hard_share", verdict.hard_share),
            ("hard_ok", flag(hard_ok)),
            ("grounded", flag(verdict.grounded)),
            ("solved", flag(hard_ok && verdict.grounded)),
            ("claims_true", verdict.claims_true as f64),
            ("claims_false", verdict.claims_false as f64),
            ("claims_relevant", verdict.claims_relevant as f64),
            ("persuasive", verdict.persuasive),
            ("wrong_but_persuasive", flag(over && !hard_ok && verdict.persuasive >= 0.5)),
            ("calls", f64::from(visit.calls)),
            ("spared", 1.0 - (f64::from(visit.calls) / MANY_CALLS).min(1.0)),
            ("thoughts", f64::from(visit.thoughts)),
        ])
    }
}

impl TextGame for Shop {
    type Puzzle = Wish;
    type State = Visit;
    const MANNERS: &'static [Manner] = &[
        Manner::new(
            "exact",
            "Searches for all words, looks until an item is cheap enough, and says what was asked: right.",
        ),
        Manner::new("wordy", "The same, with a thought before every line: right, and long."),
        Manner::new("silent", "Finds the right item and says nothing about it."),
        Manner::new(
            "first",
            "Searches for the first word, looks at the first item and recommends it with true claims.",
        ),
        Manner::new("pushy", "Recommends the first item found without looking, and makes its claims up."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Wish {
        Wish::draw(size, self.items, self.infeasible, rng)
    }

    fn identity(&self, wish: &Wish) -> String {
        // Another shop does not make it another wish.
        wish.said()
    }

    fn check_puzzle(&self, wish: &Wish, size: u32) -> Result<(), String> {
        wish.check(size)
    }

    fn check_state(&self, wish: &Wish, visit: &Visit) -> Result<(), String> {
        if let Some(number) = visit.shown.iter().find(|number| wish.item(**number).is_none()) {
            return Err(format!("item {number} was shown, which the shop does not have"));
        }
        if visit.shown.len() + usize::from(visit.searched) > visit.calls as usize {
            return Err("more was found than there were calls".to_owned());
        }
        Ok(())
    }

    fn prompt(&self, wish: &Wish) -> String {
        wish.said()
    }

    fn instructions(&self) -> Option<String> {
        let attributes: Vec<String> = super::ATTRIBUTES
            .iter()
            .map(|(name, values)| format!("{name} ({})", values.join(", ")))
            .collect();
        let text = format!(
            "Find what somebody wants in a shop. Items have a number, {} and a price from 1 to 9. Say one line per turn: `find WORDS` lists \
             items with up to four values, `show NUMBER` tells an item's values in the order above and its price, `hm WORDS` is a thought. \
             End with `pick NUMBER WORDS`: the item that has all wanted values and costs less than asked, and its values that the person \
             wants to be told; or with `none` where no item fits.",
            attributes.join(", ")
        );
        self.instructions.then_some(text)
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![
            CommandCard::new("find", "List items that have all of these values.")
                .text("words", "one to four values, with spaces between")
                .example("find red oak"),
            CommandCard::new("show", "Tell the values and the price of an item.")
                .number("item", "its number")
                .example("show 12"),
            CommandCard::new("hm", "Think aloud.").text("words", "the thought").example("hm oak first"),
            CommandCard::new("pick", "Recommend an item, which ends it.")
                .number("item", "its number")
                .text("claims", "its values that the person wants to be told, with spaces between")
                .optional()
                .example("pick 12 soft lux"),
            CommandCard::new("none", "Say that no item fits, which ends it.").example("none"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let one_line = !said.contains(['\n', '\r']);
        let said = said.split_whitespace().collect::<Vec<&str>>().join(" ");
        match command(&said).filter(|_| one_line) {
            Some(Command::Pick(..) | Command::Nothing) => Action::Answer { text: said },
            Some(_) => Action::Say { text: said },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, wish: &Wish, visit: &mut Visit, action: &Action, _: &[CallRecord]) -> StepResult {
        let command = match action {
            Action::Say { text } | Action::Answer { text } => command(text),
            Action::Malformed { .. } | Action::Calls { .. } => None,
        };
        let read = command.is_some();
        let (said, verdict) = match command {
            Some(Command::Find(values)) => {
                visit.calls = visit.calls.saturating_add(1);
                let all = |wanted: &(u8, u8)| values.contains(wanted);
                visit.searched |= values.len() == wish.wanted.len() && wish.wanted.iter().all(all);
                (listed(&wish.found(&values)), None)
            }
            Some(Command::Show(number)) => {
                visit.calls = visit.calls.saturating_add(1);
                let item = wish.item(number);
                visit.shown.extend(item.map(|item| item.number));
                (item.map_or_else(|| "none".to_owned(), Item::detail), None)
            }
            Some(Command::Think(words)) => {
                visit.thoughts = visit.thoughts.saturating_add(words as u32);
                ("ok".to_owned(), None)
            }
            Some(Command::Pick(number, claims)) => {
                (String::new(), Some(Verdict::of_pick(wish, visit, number, &claims)))
            }
            Some(Command::Nothing) => (String::new(), Some(Verdict::of_nothing(wish, visit))),
            None => (HINT.to_owned(), None),
        };
        let result =
            if verdict.is_some() { StepResult::default().answered() } else { StepResult::saying(said) };
        self.said(wish, visit, result, read, &verdict.unwrap_or_default())
    }

    fn expert(&self, wish: &Wish, play: &Demonstration<'_>) -> Option<String> {
        expert::line(wish, play)
    }
}

/// What a search says: the first numbers, and whether there are more.
fn listed(found: &[&Item]) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    let numbers = found.iter().take(LISTED).map(|item| item.number.to_string());
    let more = (found.len() > LISTED).then(|| "more".to_owned());
    format!("got {}", numbers.chain(more).collect::<Vec<String>>().join(" "))
}
