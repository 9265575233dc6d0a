//! A form that somebody wants filled in, and who says only a part of it: ask for the rest, then act.
//!
//! The request names some of four slots. `ask hue` is answered by the person, who knows every slot and volunteers nothing; slots that
//! are on no form are nothing to them. `fill red big round oak` gives all four values in their order and ends the episode. What is
//! still missing and what each turn was worth is told as info, never in words.

use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The slots of the form, in their order, each with its values.
pub const SLOTS: [(&str, [&str; 5]); 4] = [
    ("hue", ["red", "blue", "green", "pink", "grey"]),
    ("size", ["tiny", "small", "mid", "big", "huge"]),
    ("shape", ["round", "square", "flat", "long", "bent"]),
    ("wood", ["oak", "pine", "elm", "ash", "fir"]),
];
/// What may be asked as well, and is on no form.
pub const IDLE: [&str; 3] = ["name", "date", "mood"];

const HINT: &str = "say ask SLOT or fill HUE SIZE SHAPE WOOD";
const NO_MATTER: &str = "no matter";

/// The settings of `inquiry`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Inquiry {
    /// Turns that a right play takes in training tasks, dealt in turn: one more than slots are left out; 1 to 5.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Inquiry {
    /// Four requests in ten are complete; of the others each slot is left out four times in ten, as nearly as ten tasks can have it.
    fn default() -> Self {
        Self { sizes: vec![1, 2, 1, 3, 1, 2, 1, 4, 3, 3], held_out_sizes: Vec::new(), instructions: false }
    }
}

impl Component for Inquiry {
    const ABOUT: About = About {
        name: "inquiry",
        summary: "A form to fill in for somebody who says only a part of it and answers when asked.",
        paper: "SpeakRL (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new(
                "`sizes` is empty; list how many turns a right play takes, as in [1, 2, 3]",
            ));
        }
        let known = 1..=SLOTS.len() as u32 + 1;
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !known.contains(size)) {
            Some(size) => {
                Err(Refusal::new(format!("a size of {size}; give 1 to 5: one more than slots are left out")))
            }
            None => Ok(()),
        }
    }
}

/// The puzzle of a task: the place of each slot's value, and which slots the request leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    pub values: [u8; 4],
    pub missing: [bool; 4],
}

impl Form {
    fn value(&self, slot: usize) -> &'static str {
        SLOTS[slot].1.get(usize::from(self.values[slot])).copied().unwrap_or_default()
    }

    fn filled(&self) -> String {
        let values: Vec<&str> = (0..SLOTS.len()).map(|slot| self.value(slot)).collect();
        values.join(" ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Slots of the form that were asked for.
    pub slots: [bool; 4],
    /// Questions so far that found out nothing.
    pub idle: u32,
    pub turns: u32,
}

impl Asked {
    /// Slots that neither side has named yet.
    fn unknown(&self, form: &Form) -> usize {
        form.missing.iter().zip(&self.slots).filter(|(missing, asked)| **missing && !**asked).count()
    }
}

enum Command<'a> {
    /// A slot of the form by its place, or something else that may be asked.
    Ask(Option<usize>),
    Fill(Vec<&'a str>),
}

fn command(text: &str) -> Option<Command<'_>> {
    let (verb, rest) = text.split_once(' ')?;
    let rest = rest.trim();
    match verb {
        "ask" if IDLE.contains(&rest) => Some(Command::Ask(None)),
        "ask" => SLOTS.iter().position(|(slot, _)| *slot == rest).map(|slot| Command::Ask(Some(slot))),
        "fill" => {
            let values: Vec<&str> = rest.split_whitespace().collect();
            let fits = values.len() == SLOTS.len()
                && values.iter().zip(&SLOTS).all(|(value, (_, known))| known.contains(value));
            fits.then_some(Command::Fill(values))
        }
        _ => None,
    }
}

/// What a turn was, as numbers: whether it could be read, was of the kind that was due, and did what it was for.
struct Worth {
    read: bool,
    kind: bool,
    content: f64,
    asked: bool,
    idle_question: bool,
    premature: bool,
}

impl Inquiry {
    fn said(&self, form: &Form, state: &mut Asked, result: StepResult, worth: &Worth) -> StepResult {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let missing = form.missing.iter().filter(|missing| **missing).count();
        result.with_info([
            ("read", flag(worth.read)),
            ("kind_right", flag(worth.kind)),
            // Good content of the wrong kind is worth nothing.
            ("content_right", flag(worth.kind) * worth.content),
            ("asked", flag(worth.asked)),
            ("idle_question", flag(worth.idle_question)),
            ("premature", flag(worth.premature)),
            ("idle_questions", f64::from(state.idle)),
            ("extra_turns", f64::from(state.turns) - missing as f64),
        ])
    }
}

impl TextGame for Inquiry {
    type Puzzle = Form;
    type State = Asked;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Asks for what is missing, slot by slot, and fills in the form: right."),
        Manner::new("hasty", "Fills in the form at once and guesses what is missing."),
        Manner::new(
            "curious",
            "Asks for every slot, also for those it knows, and fills in the form: right, and slow.",
        ),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Form {
        let values = std::array::from_fn(|_| rng.below(5) as u8);
        let mut order = [0, 1, 2, 3];
        rng.shuffle(&mut order);
        let left_out = &order[..(size as usize).saturating_sub(1).min(SLOTS.len())];
        Form { values, missing: std::array::from_fn(|slot| left_out.contains(&slot)) }
    }

    fn check_puzzle(&self, form: &Form, size: u32) -> Result<(), String> {
        let missing = form.missing.iter().filter(|missing| **missing).count();
        if let Some(value) = form.values.iter().find(|value| usize::from(**value) >= 5) {
            return Err(format!("a value has the place {value}; a slot has five"));
        }
        if missing + 1 == size as usize {
            Ok(())
        } else {
            Err(format!("{missing} slots are missing, its size is {size}"))
        }
    }

    fn check_state(&self, _: &Form, asked: &Asked) -> Result<(), String> {
        if asked.idle <= asked.turns { Ok(()) } else { Err("more idle questions than turns".to_owned()) }
    }

    fn prompt(&self, form: &Form) -> String {
        let told = (0..SLOTS.len()).filter(|slot| !form.missing[*slot]);
        let told: Vec<String> = told.map(|slot| format!("{} {}", SLOTS[slot].0, form.value(slot))).collect();
        if told.is_empty() { "order".to_owned() } else { format!("order {}", told.join(" ")) }
    }

    fn answer(&self, form: &Form) -> Option<String> {
        Some(form.filled())
    }

    fn instructions(&self) -> Option<String> {
        let slots: Vec<String> =
            SLOTS.iter().map(|(slot, values)| format!("{slot} ({})", values.join(", "))).collect();
        let text = format!(
            "Fill in a form with four slots: {}. The order may leave slots out. Say one line per turn: `ask SLOT` to ask for one, or \
             `fill HUE SIZE SHAPE WOOD` with the four values, which ends it. Ask only for what you do not know.",
            slots.join("; ")
        );
        self.instructions.then_some(text)
    }

    fn commands(&self) -> Vec<CommandCard> {
        let slots = SLOTS.iter().map(|(slot, _)| *slot).chain(IDLE);
        let fill = CommandCard::new("fill", "Fill the form in, which ends it.");
        let fill = SLOTS
            .iter()
            .fold(fill, |card, (slot, values)| card.one_of(slot, "the value of this slot", *values));
        vec![
            CommandCard::new("ask", "Ask for something.")
                .one_of("slot", "what to ask for", slots)
                .example("ask hue"),
            fill.example("fill red big flat elm"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        match command(line(text)) {
            Some(Command::Ask(_)) => Action::Say { text: line(text).to_owned() },
            Some(Command::Fill(values)) => Action::Answer { text: values.join(" ") },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, form: &Form, state: &mut Asked, action: &Action, _: &[CallRecord]) -> StepResult {
        let unknown = state.unknown(form);
        state.turns += 1;
        let nothing = Worth {
            read: false,
            kind: false,
            content: 0.0,
            asked: false,
            idle_question: false,
            premature: false,
        };
        let (result, worth) = match action {
            Action::Answer { text } => {
                let right = text
                    .split(' ')
                    .enumerate()
                    .filter(|(slot, value)| *slot < 4 && form.value(*slot) == *value)
                    .count();
                let content = right as f64 / SLOTS.len() as f64;
                let worth =
                    Worth { read: true, kind: unknown == 0, content, premature: unknown > 0, ..nothing };
                (StepResult::default().answered(), worth)
            }
            Action::Say { text } => match command(text) {
                Some(Command::Ask(slot)) => {
                    let news = slot.is_some_and(|slot| form.missing[slot] && !state.slots[slot]);
                    state.idle += u32::from(!news);
                    let told = slot.map(|slot| {
                        state.slots[slot] = true;
                        format!("{} {}", SLOTS[slot].0, form.value(slot))
                    });
                    let worth = Worth {
                        read: true,
                        kind: unknown > 0,
                        content: f64::from(u8::from(news)),
                        asked: true,
                        idle_question: !news,
                        ..nothing
                    };
                    (StepResult::saying(told.unwrap_or_else(|| NO_MATTER.to_owned())), worth)
                }
                _ => (StepResult::saying(HINT), nothing),
            },
            Action::Malformed { why } => (StepResult::saying(why.clone()), nothing),
            Action::Calls { .. } => (StepResult::saying(HINT), nothing),
        };
        self.said(form, state, result, &worth)
    }

    fn expert(&self, form: &Form, play: &Demonstration<'_>) -> Option<String> {
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" });
        let asked =
            |slot: usize| play.turns.iter().any(|turn| turn.said.trim() == format!("ask {}", SLOTS[slot].0));
        let due = |slot: &usize| match manner {
            "exact" => form.missing[*slot] && !asked(*slot),
            "curious" => !asked(*slot),
            _ => false,
        };
        if let Some(slot) = (0..SLOTS.len()).find(due) {
            return Some(format!("ask {}", SLOTS[slot].0));
        }
        let mut rng = play.seed.child("guess", 0).stream();
        let values: Vec<&str> = (0..SLOTS.len())
            .map(|slot| {
                let guess = rng.pick(&SLOTS[slot].1).copied().unwrap_or_default();
                if form.missing[slot] && !asked(slot) { guess } else { form.value(slot) }
            })
            .collect();
        Some(format!("fill {}", values.join(" ")))
    }
}
