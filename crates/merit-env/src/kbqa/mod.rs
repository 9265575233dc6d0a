//! A small knowledge base that is searched over several turns: who is at the end of a chain of relations?
//!
//! `who bak boss home` asks for the home of the boss of bak. `find bak boss` finds passages of facts, `bak boss dov` and others that
//! are beside the point; `answer lum` ends it. What else is said depends on the mode: in `notes` every search is followed by a note
//! (`note bak boss dov`), in `units` thoughts are told one by one (`obs bak boss dov`, `hyp dov`, `next home`), and in `planner` the
//! policy only searches, up to two things at a time, until `stop`, and a frozen reader answers. Facts and questions are in `base`, readers in
//! `reader`, scripts in `expert`.
//!
//! The info of every step is in docs/worlds.md. It is never told in words.

mod base;
mod expert;
mod reader;

pub use base::{Fact, NAMES, Question, RELATIONS, name, relation};
pub use reader::Reader;

use base::{name_of, relation_of};
use merit_api::{Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most facts in a note.
const MAX_NOTE: usize = 12;
/// The most searches in a turn of the planner.
const MAX_QUERIES: usize = 2;
/// Turns of the planner after which the reader answers in any case.
const MAX_PLAN: u32 = 10;
/// Stands before what was found, so that a name has the same token everywhere.
const FOUND: &str = "got";
const NOTHING: &str = "nothing";
const NOTE_FIRST: &str = "note first";
const OK: &str = "ok";

/// What is asked of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Search and answer.
    Answer,
    /// The same, with a note after every search.
    Notes,
    /// The same, with typed thoughts between; a line that cannot be read ends the episode.
    Units,
    /// Search for a frozen reader, who answers.
    Planner,
}

/// The settings of `kbqa`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Kbqa {
    /// What is asked of the policy.
    pub mode: Mode,
    /// Hops of training questions, dealt in turn; 1 to 4.
    pub sizes: Vec<u32>,
    /// The same for held-out questions. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Entities in the base of a task, 5 to 16.
    pub entities: usize,
    /// Relations in it, 2 to 8.
    pub relations: usize,
    /// Share of the facts of a passage that are beside the point, 0 to 0.9: a passage has 1 / (1 - noise) facts.
    pub noise: f64,
    /// Passages that a search finds, 1 to 3. One of them has the fact that was looked for.
    pub passages: usize,
    /// How often a question uses another word for a relation than the base does. A search for that word finds nothing.
    pub synonyms: f64,
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
        summary: "Questions of several hops to a small knowledge base, by search; also with notes, typed thoughts or a frozen reader.",
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
        if let Some(known) = self.known {
            Refusal::unless(share.contains(&known), "known", known, "a share, 0 to 1")?;
        }
        let only = [
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

/// What happened so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Searched {
    /// The places of the facts that were found, in their order.
    pub found: Vec<u16>,
    /// The places of the facts that were looked for.
    pub asked: Vec<u16>,
    /// Searches, and those among them that found a fact of the chain that was not looked for before.
    pub queries: u32,
    pub useful: u32,
    /// Whether a note is due.
    pub owes_note: bool,
    /// The last note.
    pub note: Vec<Fact>,
    /// Thoughts, those since the last search, and how many of these were wrong.
    pub units: u32,
    pub thought: u32,
    pub thought_wrong: u32,
    /// Turns so far.
    pub turns: u32,
}

/// A search for a relation of an entity; `indexed` where the relation has the word that bases use.
struct Query {
    entity: u8,
    relation: u8,
    indexed: bool,
}

enum Unit {
    Observed(Fact),
    Supposed(u8),
    Next(u8),
}

enum Command {
    Find(Vec<Query>),
    Note(Vec<Fact>),
    Unit(Unit),
    Answer(u8),
    Stop,
}

fn fact_of(words: &[&str]) -> Option<Fact> {
    let [of, relation, is] = words else { return None };
    Some(Fact(name_of(of)?, relation_of(relation)?.0, name_of(is)?))
}

fn queries_of(words: &[&str], most: usize) -> Option<Command> {
    let query = |words: &[&str]| {
        let [entity, relation] = words else { return None };
        let (relation, indexed) = relation_of(relation)?;
        Some(Query { entity: name_of(entity)?, relation, indexed })
    };
    let queries: Vec<Query> = words.chunks(2).map(query).collect::<Option<_>>()?;
    (1..=most).contains(&queries.len()).then_some(Command::Find(queries))
}

fn note_of(words: &[&str]) -> Option<Command> {
    if words == ["none"] {
        return Some(Command::Note(Vec::new()));
    }
    let facts: Vec<Fact> = words.chunks(3).map(fact_of).collect::<Option<_>>()?;
    (1..=MAX_NOTE).contains(&facts.len()).then_some(Command::Note(facts))
}

impl Kbqa {
    /// Facts that a search finds.
    fn facts_found(&self) -> usize {
        self.passages * self.facts_a_passage()
    }

    fn facts_a_passage(&self) -> usize {
        (1.0 / (1.0 - self.noise)).round() as usize
    }

    fn who(&self) -> Reader {
        self.reader.unwrap_or_default()
    }

    /// The share of the entities that the reader knows.
    fn share(&self) -> f64 {
        self.known.unwrap_or(0.3)
    }

    fn command(&self, text: &str) -> Option<Command> {
        if text.contains(['\n', '\r']) {
            return None;
        }
        let words: Vec<&str> = text.split_whitespace().take(3 * MAX_NOTE + 2).collect();
        let (verb, rest) = words.split_first()?;
        let word = || if let [word] = rest { Some(*word) } else { None };
        match (*verb, self.mode) {
            ("find", Mode::Planner) => queries_of(rest, MAX_QUERIES),
            ("find", _) => queries_of(rest, 1),
            ("stop", Mode::Planner) => rest.is_empty().then_some(Command::Stop),
            ("answer", Mode::Answer | Mode::Notes | Mode::Units) => name_of(word()?).map(Command::Answer),
            ("note", Mode::Notes) => note_of(rest),
            ("obs", Mode::Units) => Some(Command::Unit(Unit::Observed(fact_of(rest)?))),
            ("hyp", Mode::Units) => Some(Command::Unit(Unit::Supposed(name_of(word()?)?))),
            ("next", Mode::Units) => Some(Command::Unit(Unit::Next(relation_of(word()?)?.0))),
            _ => None,
        }
    }

    fn hint(&self) -> &'static str {
        match self.mode {
            Mode::Answer => "say find NAME RELATION or answer NAME",
            Mode::Notes => "say find NAME RELATION, note FACTS or answer NAME",
            Mode::Units => "say obs FACT, hyp NAME, next RELATION, find NAME RELATION or answer NAME",
            Mode::Planner => "say find NAME RELATION or stop",
        }
    }

    /// What a search finds, in words.
    fn find(&self, question: &Question, state: &mut Searched, query: &Query) -> String {
        state.queries += 1;
        let place = question.place(query.entity, query.relation).filter(|_| query.indexed);
        let Some(place) = place else { return NOTHING.to_owned() };
        let chain = question.chain();
        let worth = match self.mode {
            Mode::Planner => self.who().needs(self.share(), &chain),
            _ => chain.len(),
        };
        let news = !state.asked.contains(&(place as u16));
        let due = question.fact(place).is_some_and(|fact| chain.iter().take(worth).any(|due| *due == fact));
        state.useful += u32::from(news && due);
        state.asked.push(place as u16);
        let found = question.search(place, self.facts_found());
        state.found.extend(found.iter().map(|&at| at as u16));
        let words = |part: &[usize]| {
            let facts: Vec<String> =
                part.iter().filter_map(|&at| question.fact(at)).map(Fact::words).collect();
            facts.join(", ")
        };
        let passages: Vec<String> = found.chunks(self.facts_a_passage()).map(words).collect();
        format!("{FOUND} {}", passages.join(" | "))
    }

    /// Whether a thought is right: a fact that was found and leads on, whoever the facts found so far lead to, the relation to follow from there.
    fn is_right(&self, question: &Question, state: &Searched, unit: &Unit) -> bool {
        let chain = question.chain();
        let found = facts_of(question, &state.found);
        let reached = chain.iter().take_while(|fact| found.contains(fact)).count();
        match unit {
            Unit::Observed(fact) => found.contains(fact) && chain.contains(fact),
            Unit::Supposed(entity) => match chain.get(reached) {
                Some(due) => due.0 == *entity,
                None => question.answer() == *entity,
            },
            Unit::Next(relation) => chain.get(reached).is_some_and(|due| due.1 == *relation),
        }
    }

    /// The infos of every turn.
    fn told(&self, question: &Question, state: &Searched, result: StepResult) -> StepResult {
        let (chain, found) = (question.chain(), facts_of(question, &state.found));
        let evidence = chain.iter().filter(|fact| found.contains(fact)).count();
        let result = result.with_info([
            ("evidence_share", share(evidence, chain.len())),
            ("queries", f64::from(state.queries)),
            ("idle_queries", f64::from(state.queries) - f64::from(state.useful)),
            ("turns", f64::from(state.turns)),
        ]);
        match self.mode {
            Mode::Answer => result,
            Mode::Notes => {
                // Before the answer a note supports none.
                let given = result.info.get("note_supports_pred").copied().unwrap_or(0.0);
                let note = &state.note;
                let relevant = note.iter().filter(|fact| chain.contains(fact)).count();
                let kept = chain.iter().filter(|fact| note.contains(fact)).count();
                let short = note.len() <= self.note_cap.unwrap_or(6);
                result.with_info([
                    ("note_supports_pred", given),
                    ("note_facts", note.len() as f64),
                    ("note_formed", flag(!note.is_empty())),
                    ("note_short", flag(short)),
                    ("note_precision", share(relevant, note.len())),
                    ("note_recall", share(kept, chain.len())),
                    ("note_supports_gold", flag(question.derived(note).contains(&question.answer()))),
                ])
            }
            Mode::Units => result.with_info([("units", f64::from(state.units))]),
            Mode::Planner => self.told_of_reader(question, state, &chain, &found, result),
        }
    }

    fn told_of_reader(
        &self,
        question: &Question,
        state: &Searched,
        chain: &[Fact],
        found: &[Fact],
        result: StepResult,
    ) -> StepResult {
        let (who, known) = (self.who(), self.share());
        let right = |found: &[Fact]| flag(who.is_right(known, question, found));
        let one_search = chain.first().and_then(|fact| question.place(fact.0, fact.1)).map(|place| {
            let found = question.search(place, self.facts_found());
            found.into_iter().filter_map(|at| question.fact(at)).collect::<Vec<Fact>>()
        });
        let reference = right(&[]).max(right(&one_search.unwrap_or_default()));
        let needed = who.needs(known, chain) as u32;
        let most = needed.max(state.queries);
        let process = if most == 0 { 1.0 } else { f64::from(state.useful.min(needed)) / f64::from(most) };
        let result = result.with_info([
            ("reader_right", right(found)),
            ("gain", right(found) - reference),
            ("process", process),
        ]);
        if needed == 0 { result.with_info([("queries_known", f64::from(state.queries))]) } else { result }
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

fn facts_of(question: &Question, places: &[u16]) -> Vec<Fact> {
    places.iter().filter_map(|&at| question.fact(usize::from(at))).collect()
}

impl TextGame for Kbqa {
    type Puzzle = Question;
    type State = Searched;
    const MANNERS: &'static [Manner] = expert::MANNERS;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Question {
        let hops = (size as usize).clamp(1, self.entities - 1);
        Question::draw(self.entities, self.relations, hops, self.synonyms, rng)
    }

    fn check_puzzle(&self, question: &Question, size: u32) -> Result<(), String> {
        question.check(size)
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
        (self.mode != Mode::Planner).then(|| name(question.answer()).to_owned())
    }

    fn instructions(&self) -> Option<String> {
        let words: Vec<String> = RELATIONS.iter().map(|(word, other)| format!("{word} ({other})")).collect();
        let rest = match self.mode {
            Mode::Answer => "`answer NAME` ends it.",
            Mode::Notes => {
                "After every search say `note` with the facts that you keep, as in `note bak boss dov`, or `note none`. `answer NAME` \
                 ends it."
            }
            Mode::Units => {
                "Between searches tell what you think, one line each: `obs bak boss dov`, `hyp dov`, `next home`. `answer NAME` ends it. A \
                 line that cannot be read ends it, too."
            }
            Mode::Planner => {
                "You may search two things at once: `find bak boss dov home`. Somebody else reads what you found and answers; say `stop` \
                 when that is enough. Search as little as you can."
            }
        };
        let text = format!(
            "`who bak boss home` asks for the home of the boss of bak. Say one line per turn. `find bak boss` searches for the boss of bak \
             and finds facts such as `bak boss dov`, some of them beside the point. Relations, and other words for them that a search does \
             not know: {}. {rest}",
            words.join(", ")
        );
        self.instructions.then_some(text)
    }

    fn parse(&self, text: &str) -> Action {
        match self.command(line(text)) {
            Some(Command::Answer(who)) => Action::Answer { text: name(who).to_owned() },
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

impl Kbqa {
    /// A search or an answer closes the thought before it.
    fn acted(&self, state: &mut Searched, result: StepResult) -> StepResult {
        let (thought, wrong) = (state.thought, state.thought_wrong);
        (state.thought, state.thought_wrong) = (0, 0);
        match self.mode {
            Mode::Units => result.with_info([("thought_ok", flag(thought > 0 && wrong == 0))]),
            _ => result,
        }
    }
}
