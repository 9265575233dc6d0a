//! A journey to plan: ask for trips, rooms and sights, state what is taken slot by slot, and be done.
//!
//! The prompt is `rome to oslo by 12 pay 9 plan go stay see home`. `trips rome oslo` is answered `bus at 11 for 4, rail at 15 for 2`, `rooms oslo` `inn for
//! 3, hut for 5`, `sights oslo` `zoo opens 9 shuts 14`. Slots are stated with what was told about them: `go bus 11 4`, `stay inn 3`, `see zoo 12`, `home rail
//! 18 2`, in any order and again if need be; `done` ends it. A plan has two verdicts, both told as info alone: whether it can be made as it is stated,
//! and whether each slot states what was told. The answers may be a cache's, always whole and the same, or live ones.

mod expert;
mod journey;
mod notes;
mod offer;

pub use journey::{Journey, Slot};
pub use notes::{Notes, Stated};
pub use offer::{Offer, Query};
use offer::{ROOMS, SIGHTS, TOWNS, TRIPS};

use super::{flag, plain_number};
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const HINT: &str = "say trips TOWN TOWN, rooms TOWN, sights TOWN, go NAME HOUR PRICE, stay NAME PRICE, see NAME HOUR, home NAME HOUR PRICE or done";

/// How offers are answered.
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
    /// Chance that a live answer leaves a number out. Not with `api = "cached"`.
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
        if self.api == Api::Cached && self.drop != Self::default().drop {
            return Err(Refusal::new(
                "`drop` does nothing with `api = \"cached\"`; leave it out, or take \"live\"",
            ));
        }
        Refusal::unless((2..=4).contains(&self.options), "options", self.options, "2 to 4")?;
        Refusal::unless(self.slack <= 9, "slack", self.slack, "0 to 9")
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
    let stated = |slot: Slot, name: &str, hour: u32, price: u32| {
        slot.names().contains(&name).then(|| Command::State(slot, name.to_owned(), hour, price))
    };
    let number = |word: &str| plain_number(word).filter(|number| *number < 100);
    match words[..] {
        ["go", trip, hour, price] => stated(Slot::Go, trip, number(hour)?, number(price)?),
        ["home", trip, hour, price] => stated(Slot::Home, trip, number(hour)?, number(price)?),
        ["stay", room, price] => stated(Slot::Stay, room, 0, number(price)?),
        ["see", sight, hour] => stated(Slot::See, sight, number(hour)?, 0),
        ["done"] => Some(Command::Done),
        _ => Query::read(text).map(Command::Ask),
    }
}

impl Travel {
    /// The chance that a number is left out; absent where answers are whole and the same.
    fn noise(&self) -> Option<f64> {
        (self.api == Api::Live).then_some(self.drop)
    }

    /// `slot` is the one that the line states, and whether it was stated before.
    fn said(
        &self,
        journey: &Journey,
        notes: &Notes,
        result: StepResult,
        read: bool,
        slot: Option<(Slot, bool)>,
    ) -> StepResult {
        let over = result.is_last();
        let due = journey.due().filter(|slot| notes.stated.contains_key(slot)).count();
        let made_up = notes.stated.values().filter(|stated| !stated.grounded).count();
        let grounded = made_up == 0 && !notes.stated.is_empty();
        let feasible = over && notes.feasible(journey);
        let now = slot.and_then(|(slot, _)| notes.stated.get(&slot));
        result.with_info([
            ("read", flag(read)),
            ("calls", notes.calls()),
            ("idle_calls", f64::from(notes.idle)),
            ("filled", due as f64 / f64::from(journey.slots.max(1))),
            ("slot_stated", flag(now.is_some())),
            ("slot_grounded", flag(now.is_some_and(|stated| stated.grounded))),
            ("slot_again", flag(slot.is_some_and(|(_, again)| again))),
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
        // Only these fields define the task; the rest is scenery.
        journey.said()
    }

    fn check_puzzle(&self, journey: &Journey, size: u32) -> Result<(), String> {
        journey.check(size)
    }

    fn check_state(&self, journey: &Journey, notes: &Notes) -> Result<(), String> {
        notes.check(journey)
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

    fn commands(&self) -> Vec<CommandCard> {
        let ask = |name: &str, summary: &str| CommandCard::new(name, summary);
        let trip = |name: &str, summary: &str| {
            CommandCard::new(name, summary)
                .one_of("trip", "its name", TRIPS)
                .number("hour", "when it arrives")
                .number("price", "what it costs")
        };
        vec![
            ask("trips", "Ask for the trips between two towns.")
                .one_of("from", "where they start", TOWNS)
                .one_of("to", "where they go", TOWNS)
                .example("trips rome oslo"),
            ask("rooms", "Ask for the rooms in a town.")
                .one_of("town", "which town", TOWNS)
                .example("rooms oslo"),
            ask("sights", "Ask for the sights of a town.")
                .one_of("town", "which town", TOWNS)
                .example("sights oslo"),
            trip("go", "State the trip there.").example("go bus 9 12"),
            CommandCard::new("stay", "State the room.")
                .one_of("room", "its name", ROOMS)
                .number("price", "what it costs")
                .example("stay inn 9"),
            CommandCard::new("see", "State a sight.")
                .one_of("sight", "its name", SIGHTS)
                .number("hour", "when it is visited")
                .example("see zoo 12"),
            trip("home", "State the trip back.").example("home rail 18 7"),
            CommandCard::new("done", "Say that the plan is made, which ends it.").example("done"),
        ]
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
                let before = notes.stated.insert(slot, Stated { name, hour, price, grounded });
                ("ok".to_owned(), Some((slot, before.is_some())))
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
