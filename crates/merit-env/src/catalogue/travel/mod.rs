//! A journey to plan: ask for trips, rooms and sights, state what is taken slot by slot, and be done.
//!
//! The prompt is `rome to oslo by 12 pay 9 plan go stay see home`. `trips rome oslo` is answered `bus at 11 for 4, rail at 15 for 2`, `rooms oslo` `inn for
//! 3, hut for 5`, `sights oslo` `zoo opens 9 shuts 14`. Slots are stated with what was told about them: `go bus 11 4`, `stay inn 3`, `see zoo 12`, `home rail
//! 18 2`, in any order and again if need be; `done` ends it. A plan has two verdicts, both told as info alone: whether it can be made as it is stated,
//! and whether each slot states what was told. The answers may be a cache's, always whole and the same, or live ones.

mod expert;
mod journey;

pub use journey::{Journey, Offer, Query, Slot};

use super::{flag, plain_number};
use journey::{ROOMS, SIGHTS, TRIPS};
use merit_api::{Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const HINT: &str = "say trips TOWN TOWN, rooms TOWN, sights TOWN, go NAME HOUR PRICE, stay NAME PRICE, see NAME HOUR, home NAME HOUR PRICE or done";

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// Every answer is whole, and the same whenever it is asked for.
    #[default]
    Cached,
    /// Offers and their numbers come in any order, and numbers are left out; the third answer to the same question is whole.
    Live,
}

/// The settings of `travel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Travel {
    /// Slots of a plan in training tasks, dealt in turn; 1 to 4: go, stay, see, home.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Who answers: `cached` or `live`.
    pub api: Api,
    /// Chance that a live answer leaves a number out.
    pub drop: f64,
    /// Offers for each slot, 2 to 4.
    pub options: u32,
    /// How much more than the cheapest plan the traveller can pay, at most; 0 to 9.
    pub slack: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Travel {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2, 3, 4],
            held_out_sizes: Vec::new(),
            api: Api::Cached,
            drop: 0.3,
            options: 3,
            slack: 1,
            instructions: false,
        }
    }
}

impl Component for Travel {
    const ABOUT: About = About {
        name: "travel",
        summary: "A journey to plan from timetables, rooms and sights: it can be made, and states what was told.",
        paper: "DeepTravel (2025), arXiv:2509.21842",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many slots a plan has, as in [1, 2, 3]"));
        }
        if let Some(size) =
            self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=4).contains(*size))
        {
            return Err(Refusal::new(format!("a size of {size}; give 1 to 4 slots")));
        }
        Refusal::unless((0.0..=1.0).contains(&self.drop), "drop", self.drop, "a chance between 0 and 1")?;
        Refusal::unless((2..=4).contains(&self.options), "options", self.options, "2 to 4")?;
        Refusal::unless(self.slack <= 9, "slack", self.slack, "0 to 9")
    }
}

/// What a slot says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// What is taken.
    pub name: String,
    /// The hour; 0 for a room.
    pub hour: u32,
    /// The price; 0 for a sight.
    pub price: u32,
    /// Whether all of it had been told when it was stated.
    pub grounded: bool,
}

/// What has been asked, told and stated.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// How often each question was asked.
    pub asked: BTreeMap<String, u32>,
    /// The facts that were told.
    pub told: BTreeSet<String>,
    /// The slots that were stated, as last stated.
    pub stated: BTreeMap<Slot, Stated>,
    /// Questions that told nothing new.
    pub idle: u32,
}

impl Notes {
    fn calls(&self) -> f64 {
        self.asked.values().map(|times| f64::from(*times)).sum()
    }

    /// Whether what a slot states was told for it.
    fn grounded(&self, journey: &Journey, slot: Slot, name: &str, hour: u32, price: u32) -> bool {
        let query = journey.query(slot);
        let told = |label: &str, number: u32| self.told.contains(&format!("{query} {name} {label} {number}"));
        match slot {
            Slot::Go | Slot::Home => told("at", hour) && told("for", price),
            Slot::Stay => told("for", price),
            Slot::See => journey.offers(&query).iter().any(|offer| {
                let open = (offer.first..offer.second).contains(&hour);
                offer.name == name && open && told("opens", offer.first) && told("shuts", offer.second)
            }),
        }
    }

    /// Whether a plan can be made as it is stated: all slots that are due, in time, one after the other, for the money.
    fn feasible(&self, journey: &Journey) -> bool {
        let hour = |slot: Slot| self.stated.get(&slot).map(|stated| stated.hour);
        let go = hour(Slot::Go).unwrap_or_default();
        let seen = hour(Slot::See);
        let cost = self.stated.values().fold(0_u32, |sum, stated| sum.saturating_add(stated.price));
        journey.due().all(|slot| self.stated.contains_key(&slot))
            && go <= journey.by
            && seen.is_none_or(|seen| seen > go)
            && hour(Slot::Home).is_none_or(|home| home > seen.unwrap_or(go))
            && cost <= journey.pay
    }
}

/// A line of the agent.
enum Command {
    Ask(Query),
    State(Slot, String, u32, u32),
    Done,
}

fn command(text: &str) -> Option<Command> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = |names: &[&str], word: &str| names.contains(&word).then(|| word.to_owned());
    let number = |word: &str| plain_number(word).filter(|number| *number < 100);
    match words[..] {
        ["go", trip, hour, price] => {
            Some(Command::State(Slot::Go, name(&TRIPS, trip)?, number(hour)?, number(price)?))
        }
        ["home", trip, hour, price] => {
            Some(Command::State(Slot::Home, name(&TRIPS, trip)?, number(hour)?, number(price)?))
        }
        ["stay", room, price] => Some(Command::State(Slot::Stay, name(&ROOMS, room)?, 0, number(price)?)),
        ["see", sight, hour] => Some(Command::State(Slot::See, name(&SIGHTS, sight)?, number(hour)?, 0)),
        ["done"] => Some(Command::Done),
        _ => Query::read(text).map(Command::Ask),
    }
}

impl Travel {
    /// The chance that a number is left out; absent where answers are whole and the same.
    fn noise(&self) -> Option<f64> {
        (self.api == Api::Live).then_some(self.drop)
    }

    fn said(
        &self,
        journey: &Journey,
        notes: &Notes,
        result: StepResult,
        read: bool,
        slot: Option<Slot>,
    ) -> StepResult {
        let over = result.is_last();
        let due = journey.due().filter(|slot| notes.stated.contains_key(slot)).count();
        let made_up = notes.stated.values().filter(|stated| !stated.grounded).count();
        let grounded = made_up == 0 && !notes.stated.is_empty();
        let feasible = over && notes.feasible(journey);
        let now = slot.and_then(|slot| notes.stated.get(&slot));
        result.with_info([
            ("read", flag(read)),
            ("calls", notes.calls()),
            ("idle_calls", f64::from(notes.idle)),
            ("filled", due as f64 / f64::from(journey.slots.max(1))),
            ("slot_stated", flag(now.is_some())),
            ("slot_grounded", flag(now.is_some_and(|stated| stated.grounded))),
            ("made_up", made_up as f64),
            ("grounded", flag(grounded)),
            ("feasible", flag(feasible)),
            ("solved", flag(feasible && grounded)),
        ])
    }
}

impl TextGame for Travel {
    type Puzzle = Journey;
    type State = Notes;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Asks until all is told, takes the cheapest plan that can be made: right."),
        Manner::new("cheap", "Asks as well, and takes the cheapest of everything, whatever the hours are."),
        Manner::new("careless", "Asks once for everything and takes anything that is on offer."),
        Manner::new("dreamer", "Asks for some slots only and makes the others up so that they suit."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Journey {
        Journey::draw(size, self.options, self.slack, rng)
    }

    fn identity(&self, journey: &Journey) -> String {
        // Other timetables do not make it another wish.
        journey.said()
    }

    fn check_puzzle(&self, journey: &Journey, size: u32) -> Result<(), String> {
        journey.check(size)
    }

    fn check_state(&self, journey: &Journey, notes: &Notes) -> Result<(), String> {
        let facts = |offer: &Offer| {
            let facts = offer.facts();
            facts.into_iter().map(|(label, number)| offer.fact(label, number)).collect::<Vec<String>>()
        };
        let true_facts: BTreeSet<String> = journey.offers.iter().flat_map(facts).collect();
        if let Some(fact) = notes.told.iter().find(|fact| !true_facts.contains(*fact)) {
            return Err(format!("`{fact}` was told, which is not so"));
        }
        let known = |query: &&String| Query::read(query).is_some_and(|read| read.said() == **query);
        if let Some(query) = notes.asked.keys().find(|query| !known(query)) {
            return Err(format!("`{query}` was asked, which is no question"));
        }
        let named = |(slot, stated): (&Slot, &Stated)| {
            let names: &[&str] = match slot {
                Slot::Go | Slot::Home => &TRIPS,
                Slot::Stay => &ROOMS,
                Slot::See => &SIGHTS,
            };
            names.contains(&stated.name.as_str()) && stated.hour < 100 && stated.price < 100
        };
        if notes.stated.iter().all(named) { Ok(()) } else { Err("a slot states what nobody can".to_owned()) }
    }

    fn prompt(&self, journey: &Journey) -> String {
        journey.said()
    }

    fn instructions(&self) -> Option<String> {
        let text = "Plan a journey. Say one line per turn. Ask: `trips TOWN TOWN`, `rooms TOWN`, `sights TOWN`. Then state each slot that is wanted with what you \
                    were told: `go NAME HOUR PRICE` there, at the latest at the hour after `by`; `stay NAME PRICE`; `see NAME HOUR`, later than the trip there, not before \
                    it opens and before it shuts; `home NAME HOUR PRICE`, later than that. Trips and room may cost what stands after `pay` together. `done` ends it. State \
                    nothing that you were not told; ask again where a number is missing.";
        self.instructions.then(|| text.to_owned())
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let one_line = !said.contains(['\n', '\r']);
        let said = said.split_whitespace().collect::<Vec<&str>>().join(" ");
        match command(&said).filter(|_| one_line) {
            Some(Command::Done) => Action::Answer { text: said },
            Some(_) => Action::Say { text: said },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, journey: &Journey, notes: &mut Notes, action: &Action, _: &[CallRecord]) -> StepResult {
        let command = match action {
            Action::Say { text } | Action::Answer { text } => command(text),
            Action::Malformed { .. } | Action::Calls { .. } => None,
        };
        let (said, slot) = match command {
            Some(Command::Ask(query)) => {
                let query = query.said();
                let times = notes.asked.entry(query.clone()).or_default();
                let (said, facts) = journey.answer(&query, *times, self.noise());
                *times = times.saturating_add(1);
                let known = notes.told.len();
                notes.told.extend(facts);
                notes.idle = notes.idle.saturating_add(u32::from(notes.told.len() == known));
                (said, None)
            }
            Some(Command::State(slot, name, hour, price)) => {
                let grounded = notes.grounded(journey, slot, &name, hour, price);
                notes.stated.insert(slot, Stated { name, hour, price, grounded });
                ("ok".to_owned(), Some(slot))
            }
            Some(Command::Done) => {
                return self.said(journey, notes, StepResult::default().answered(), true, None);
            }
            None => return self.said(journey, notes, StepResult::saying(HINT), false, None),
        };
        self.said(journey, notes, StepResult::saying(said), true, slot)
    }

    fn expert(&self, journey: &Journey, play: &Demonstration<'_>) -> Option<String> {
        expert::line(journey, self.noise(), play)
    }
}
