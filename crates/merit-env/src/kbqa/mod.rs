//! A small knowledge base that is searched over several turns: who is at the end of a chain of relations?
//!
//! `who bak boss home` asks for the home of the boss of bak. `find bak boss` finds passages of facts, `bak boss dov` and others that
//! are beside the point; `answer lum` ends it. What else is said depends on the mode: in `notes` every search is followed by a note
//! (`note bak boss dov`), in `units` thoughts are told one by one (`obs bak boss dov`, `hyp dov`, `next home`), and in `planner` the
//! policy only searches, up to two things at a time, until `stop`, and a frozen reader answers. In `mask` a paragraph with hidden facts is
//! filled in. Facts and questions are in `question`, hidden facts in `masks`, facts that are known by heart in `fixed`, what can be said in `command`, what a search finds in `search`,
//! infos in `info`, readers in `reader`, scripts in `expert`.
//!
//! The info of every step is in docs/worlds.md. It is never told in words.

mod command;
mod expert;
mod fixed;
mod info;
mod masks;
mod question;
mod reader;
mod search;

pub use fixed::{Label, Said, by_heart};
pub use question::{Fact, NAMES, Question, RELATIONS, name, relation};
pub use reader::Reader;
pub use search::Searched;

use command::{Command, MAX_NOTE};
use fixed::fixed_names;
use info::flag;
use masks::names_of;
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use question::name_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Turns of the planner after which the reader answers in any case.
const MAX_PLAN: u32 = 10;
const NOTE_FIRST: &str = "note first";
const OK: &str = "ok";

/// What is asked of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The policy searches and answers.
    Answer,
    /// The same, with a note after every search.
    Notes,
    /// The same, with typed thoughts between; a line that cannot be read ends the episode.
    Units,
    /// Search for a frozen reader, who answers.
    Planner,
    /// Search, and fill in what a paragraph hides.
    Mask,
}

/// The settings of `kbqa`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Kbqa {
    /// What is asked of the policy.
    pub mode: Mode,
    /// Hops of training questions, or hidden facts of a paragraph, dealt in turn; 1 to 4.
    pub sizes: Vec<u32>,
    /// The same for held-out questions. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Entities in the base of a task, 5 to 16.
    pub entities: usize,
    /// Relations in it, 2 to 8.
    pub relations: usize,
    /// Share of the facts of a passage that are beside the point: 0, or a third to 0.9. A passage has 1 / (1 - noise) facts, rounded: one
    /// at 0, two at 0.5, three at 0.7.
    pub noise: f64,
    /// Passages that a search finds, 1 to 3. One of them has the fact that was looked for.
    pub passages: usize,
    /// How often a question uses another word for a relation than the base does. A search for that word finds nothing.
    pub synonyms: f64,
    /// Mode `answer` alone: share of the tasks that are those of mode `mask`. Absent: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked: Option<f64>,
    /// Mode `answer` alone: share of the names, the first ones, about whom facts are the same in every task, 0.1 to 0.9; the relations
    /// are then the first ones too. Absent: every task has facts of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<f64>,
    /// With `fixed` alone: who says before the question whether to search, `look` or `tell`.
    #[serde(skip_serializing_if = "Label::is_none")]
    pub label: Label,
    /// Mode `notes` alone: facts in a note that counts as short. Absent: 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note_cap: Option<usize>,
    /// Mode `planner` alone: who answers. Absent: `g1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Mode `planner` alone: share of the entities that the reader knows by itself. Absent: 0.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<f64>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Kbqa {
    fn default() -> Self {
        Self {
            mode: Mode::Answer,
            sizes: vec![1, 2, 3],
            held_out_sizes: Vec::new(),
            entities: 8,
            relations: 4,
            noise: 0.5,
            passages: 1,
            synonyms: 0.0,
            masked: None,
            fixed: None,
            label: Label::None,
            note_cap: None,
            reader: None,
            known: None,
            instructions: false,
        }
    }
}

impl Component for Kbqa {
    const ABOUT: About = About {
        name: "kbqa",
        summary: "Questions of several hops to a small knowledge base, by search; also with notes, typed thoughts, a frozen reader or hidden facts.",
        paper: "",
    };

    const EXAMPLE: &'static str = "mode = \"notes\"\nsizes = [1, 2]\nnoise = 0.75\n";

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list the hops to train on, as in [1, 2]"));
        }
        if let Some(size) =
            self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=4).contains(*size))
        {
            return Err(Refusal::new(format!("a size of {size}; questions have 1 to 4 hops")));
        }
        let share = 0.0..=1.0;
        Refusal::unless((5..=16).contains(&self.entities), "entities", self.entities, "5 to 16")?;
        Refusal::unless((2..=8).contains(&self.relations), "relations", self.relations, "2 to 8")?;
        Refusal::unless((0.0..=0.9).contains(&self.noise), "noise", self.noise, "0 to 0.9")?;
        if self.noise > 0.0 && self.facts_a_passage() == 1 {
            return Err(Refusal::new(format!(
                "`noise` = {} would change nothing: a passage has 1 / (1 - noise) facts, rounded, and here that is one; give 0, or a third to 0.9",
                self.noise
            )));
        }
        Refusal::unless((1..=3).contains(&self.passages), "passages", self.passages, "1 to 3")?;
        Refusal::unless(share.contains(&self.synonyms), "synonyms", self.synonyms, "a share, 0 to 1")?;
        let (found, there) = (self.facts_found(), self.entities * (self.relations - 1) + 1);
        if found > there {
            return Err(Refusal::new(format!(
                "a search would find {found} facts and can find {there}; give more `entities` or `relations`, or less `noise`"
            )));
        }
        if let Some(cap) = self.note_cap {
            Refusal::unless((1..=MAX_NOTE).contains(&cap), "note_cap", cap, "1 to 12")?;
        }
        if let Some(masked) = self.masked {
            Refusal::unless(share.contains(&masked), "masked", masked, "a share, 0 to 1")?;
        }
        self.check_masks()?;
        self.check_fixed()?;
        if let Some(known) = self.known {
            Refusal::unless(share.contains(&known), "known", known, "a share, 0 to 1")?;
        }
        let only = [
            ("masked", self.masked.is_some(), Mode::Answer, "answer"),
            ("fixed", self.fixed.is_some(), Mode::Answer, "answer"),
            ("note_cap", self.note_cap.is_some(), Mode::Notes, "notes"),
            ("reader", self.reader.is_some(), Mode::Planner, "planner"),
            ("known", self.known.is_some(), Mode::Planner, "planner"),
        ];
        match only.iter().find(|(_, given, mode, _)| *given && self.mode != *mode) {
            Some((key, _, _, mode)) => {
                Err(Refusal::new(format!("`{key}` means something in mode `{mode}` alone; leave it out")))
            }
            None => Ok(()),
        }
    }
}

impl Kbqa {
    /// Whether there are paragraphs to fill in.
    pub(crate) fn has_masks(&self) -> bool {
        self.mode == Mode::Mask || self.masked.is_some_and(|share| share > 0.0)
    }

    fn check_fixed(&self) -> Result<(), Refusal> {
        match self.fixed {
            None if !self.label.is_none() => Err(Refusal::new(
                "`label` says whether `fixed` facts are enough; give `fixed`, or leave it out",
            )),
            Some(_) if self.masked.is_some() => {
                Err(Refusal::new("`fixed` facts are asked for and not hidden; leave `masked` or `fixed` out"))
            }
            Some(share) => Refusal::unless((0.1..=0.9).contains(&share), "fixed", share, "0.1 to 0.9"),
            None => Ok(()),
        }
    }

    fn check_masks(&self) -> Result<(), Refusal> {
        if !self.has_masks() {
            return Ok(());
        }
        if self.relations >= self.entities {
            let (relations, entities) = (self.relations, self.entities);
            return Err(Refusal::new(format!(
                "nobody may be in a paragraph twice: it has {relations} `relations` and {entities} `entities`; give more `entities`"
            )));
        }
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| **size as usize > self.relations) {
            Some(size) => Err(Refusal::new(format!(
                "a size of {size}: a paragraph has {} facts to hide; give more `relations`, or smaller `sizes`",
                self.relations
            ))),
            None => Ok(()),
        }
    }
}

impl TextGame for Kbqa {
    type Puzzle = Question;
    type State = Searched;
    const MANNERS: &'static [Manner] = expert::MANNERS;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Question {
        if self.mode == Mode::Mask || self.masked.is_some_and(|share| rng.chance(share)) {
            return Question::draw_masked(self.entities, self.relations, size as usize, rng);
        }
        let hops = (size as usize).clamp(1, self.entities - 1);
        if let Some(fixed) = self.fixed.map(fixed_names) {
            let drawn =
                Question::draw_fixed((self.entities, self.relations, hops), fixed, self.synonyms, rng);
            let label = self.label.draw(drawn.is_stored(fixed), rng);
            return Question { label, ..drawn };
        }
        Question::draw(self.entities, self.relations, hops, self.synonyms, rng)
    }

    fn check_puzzle(&self, question: &Question, size: u32) -> Result<(), String> {
        match (question.is_masked(), self.mode) {
            (false, Mode::Mask) => Err("it is a question, and paragraphs are filled in here".to_owned()),
            (true, _) if !self.has_masks() => {
                Err("it has masks, and there is nothing to fill in here".to_owned())
            }
            _ if question.label.is_some() == self.label.is_none() => {
                Err("either it says whether to search and no question does here, or it does not and every one does".to_owned())
            }
            _ => question.check(size, self.fixed.is_some()),
        }
    }

    fn check_state(&self, question: &Question, state: &Searched) -> Result<(), String> {
        let there = |places: &[u16]| places.iter().all(|&at| usize::from(at) < question.len());
        if !there(&state.found) || !there(&state.asked) {
            return Err("it has found a fact that there is not".to_owned());
        }
        if state.note.len() > MAX_NOTE || !state.note.iter().all(|fact| fact.is_sound()) {
            return Err("its note is no note".to_owned());
        }
        let counted = state.useful <= state.queries && state.thought_wrong <= state.thought;
        if counted && state.thought <= state.units && state.units <= state.turns {
            Ok(())
        } else {
            Err("its counts do not go together".to_owned())
        }
    }

    fn prompt(&self, question: &Question) -> String {
        question.words()
    }

    fn answer(&self, question: &Question) -> Option<String> {
        match self.mode {
            Mode::Planner => None,
            _ if question.is_masked() => Some(question.filling()),
            _ => Some(name(question.answer()).to_owned()),
        }
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.then(|| self.manual())
    }

    fn commands(&self) -> Vec<CommandCard> {
        self.cards()
    }

    fn parse(&self, text: &str) -> Action {
        match self.command(line(text)) {
            Some(Command::Answer(who)) => Action::Answer { text: name(who).to_owned() },
            Some(Command::Fill(who)) => {
                let names: Vec<&str> = who.into_iter().map(name).collect();
                Action::Answer { text: names.join(" ") }
            }
            Some(_) => Action::Say { text: line(text).to_owned() },
            None => Action::Malformed { why: self.hint().to_owned() },
        }
    }

    fn step(
        &self,
        question: &Question,
        state: &mut Searched,
        action: &Action,
        _: &[CallRecord],
    ) -> StepResult {
        state.turns = state.turns.saturating_add(1);
        let command = match action {
            Action::Answer { text } if question.is_masked() => {
                names_of(&text.split_whitespace().collect::<Vec<&str>>()).map(Command::Fill)
            }
            Action::Answer { text } => name_of(text.trim()).map(Command::Answer),
            Action::Say { text } => self.command(text),
            Action::Malformed { .. } | Action::Calls { .. } => None,
        };
        let result = match command {
            Some(Command::Find(_) | Command::Answer(_)) if state.owes_note => StepResult::saying(NOTE_FIRST),
            Some(Command::Find(queries)) => {
                state.owes_note = self.mode == Mode::Notes;
                let found: Vec<String> =
                    queries.iter().map(|query| self.find(question, state, query)).collect();
                self.acted(state, StepResult::saying(found.join(" | ")))
            }
            Some(Command::Answer(who)) => {
                let right = flag(who == question.answer());
                let result = StepResult::default().answered().with_info([("right", right)]);
                let supports = flag(question.derived(&state.note).contains(&who));
                let result = match self.mode {
                    Mode::Notes => result.with_info([("note_supports_pred", supports)]),
                    _ => result,
                };
                self.acted(state, result)
            }
            Some(Command::Fill(who)) => {
                let worth = question.filled(&who);
                StepResult::default().answered().with_info(worth).with_info([("right", worth[0].1)])
            }
            Some(Command::Note(facts)) => {
                (state.owes_note, state.note) = (false, facts);
                StepResult::saying(OK)
            }
            Some(Command::Unit(unit)) => {
                let right = self.is_right(question, state, &unit);
                state.units += 1;
                state.thought += 1;
                state.thought_wrong += u32::from(!right);
                StepResult::saying(OK).with_info([("unit_ok", flag(right))])
            }
            Some(Command::Stop) => StepResult::default().done(),
            None if self.mode == Mode::Units => StepResult::saying(self.hint()).done(),
            None => StepResult::saying(self.hint()),
        };
        let over = self.mode == Mode::Planner && state.turns >= MAX_PLAN;
        self.told(question, state, if over { result.done() } else { result })
    }

    fn expert(&self, question: &Question, play: &Demonstration<'_>) -> Option<String> {
        Some(self.say(question, play))
    }
}
