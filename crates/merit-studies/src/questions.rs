//! Questions over an encyclopaedia and how they are made: chains from the top down, conjunctions, and cues that are gathered from
//! the answer upwards.
//!
//! In: facts and an entity. Out: a [`Question`], whose candidate sets are exact. It knows nothing of its solvers.

use crate::StudyError;
use crate::worlds::encyclopaedia::{
    ATTRIBUTES, CLASSES, Encyclopaedia, OF_A_CLASS, RELATIONS, VALUES, attribute_name, class, name,
    relation_name, value,
};
use merit_core::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a cue says of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    Value {
        attribute: usize,
        value: usize,
    },
    /// The value is one of a class: the oblique form.
    Class {
        attribute: usize,
        class: usize,
    },
    Name(usize),
}

impl Test {
    pub fn holds(&self, book: &Encyclopaedia, entity: usize) -> bool {
        match *self {
            Self::Value { attribute, value } => book.values[entity][attribute] == value,
            Self::Class { attribute, class } => book.values[entity][attribute] / OF_A_CLASS == class,
            Self::Name(named) => named == entity,
        }
    }

    fn words(&self) -> String {
        match *self {
            Self::Value { attribute, value: v } => {
                format!("{} {}", attribute_name(attribute), value(attribute, v))
            }
            Self::Class { attribute, class: c } => {
                format!("{} {}", class(attribute, c), attribute_name(attribute))
            }
            Self::Name(entity) => name(entity),
        }
    }
}

/// One condition of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cue {
    /// On the answer itself.
    Own(Test),
    /// On the entity that the answer is linked to by a relation.
    Via(usize, Test),
    /// The end of a path of relations from a named entity.
    Path { start: usize, relations: Vec<usize> },
}

impl Cue {
    pub fn holds(&self, book: &Encyclopaedia, entity: usize) -> bool {
        match self {
            Self::Own(test) => test.holds(book, entity),
            Self::Via(relation, test) => test.holds(book, book.links[entity][*relation]),
            Self::Path { start, relations } => walk(book, *start, relations) == entity,
        }
    }

    /// The cue as it is asked.
    pub fn words(&self) -> String {
        match self {
            Self::Own(test) => test.words(),
            Self::Via(relation, test) => format!("{} {}", relation_name(*relation), test.words()),
            Self::Path { start, relations } => {
                let steps = relations.iter().rev().map(|r| relation_name(*r));
                steps.chain([name(*start).as_str()]).collect::<Vec<_>>().join(" of ")
            }
        }
    }

    fn set(&self, book: &Encyclopaedia) -> Vec<bool> {
        (0..book.entities()).map(|entity| self.holds(book, entity)).collect()
    }
}

fn walk(book: &Encyclopaedia, start: usize, relations: &[usize]) -> usize {
    relations.iter().fold(start, |at, relation| book.links[at][*relation])
}

/// Cues that hold together for the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub answer: usize,
    pub cues: Vec<Cue>,
}

/// How many entities meet a question, and each part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Entities that meet all cues.
    pub answers: usize,
    /// Entities that meet one cue, for each.
    pub alone: Vec<usize>,
    /// Entities that meet all cues but one, for each that is left out.
    pub without: Vec<usize>,
}

impl Counts {
    pub fn of(book: &Encyclopaedia, cues: &[Cue]) -> Self {
        let sets: Vec<Vec<bool>> = cues.iter().map(|cue| cue.set(book)).collect();
        let meets = |skip: Option<usize>| {
            let all = |e: &usize| sets.iter().enumerate().all(|(at, set)| Some(at) == skip || set[*e]);
            (0..book.entities()).filter(all).count()
        };
        Self {
            answers: meets(None),
            alone: sets.iter().map(|set| set.iter().filter(|held| **held).count()).collect(),
            without: (0..cues.len()).map(|at| meets(Some(at))).collect(),
        }
    }

    /// Some cue says nothing that the others do not say.
    pub fn redundant(&self) -> bool {
        self.without.len() > 1 && self.without.contains(&self.answers)
    }

    /// Every cue leaves `least` entities or more, all leave one, and all but one leave more.
    pub fn sound(&self, least: usize) -> bool {
        self.answers == 1 && self.alone.iter().all(|n| *n >= least) && self.without.iter().all(|n| *n > 1)
    }
}

impl Question {
    pub fn text(&self) -> String {
        self.cues.iter().map(Cue::words).collect::<Vec<_>>().join(", ")
    }

    /// The question with one cue that is not true of the answer: what a corrupt fact makes of it.
    pub fn corrupted(mut self, stream: &mut Stream) -> Self {
        let at = stream.below(self.cues.len() as u64) as usize;
        let wrong = |test: &mut Test| match test {
            Test::Value { value, .. } => *value = other(*value, VALUES, stream),
            Test::Class { class, .. } => *class = other(*class, CLASSES, stream),
            Test::Name(entity) => *entity += 1,
        };
        match self.cues.get_mut(at) {
            Some(Cue::Own(test) | Cue::Via(_, test)) => Some(test).map_or((), wrong),
            Some(Cue::Path { relations, .. }) => {
                relations.iter_mut().for_each(|r| *r = other(*r, RELATIONS, stream))
            }
            None => {}
        }
        self
    }
}

/// Another number below `bound`.
fn other(number: usize, bound: usize, stream: &mut Stream) -> usize {
    (number + 1 + stream.below(bound as u64 - 1) as usize) % bound
}

/// Who makes the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Generator {
    /// From the top down: a named entity and two relations.
    Chain,
    /// Three facts of the answer's page as they stand.
    Conjunction,
    /// Cues gathered from the answer upwards, four of them, not tried for one answer nor for need.
    Loose,
    /// The same, until one entity is left and every cue is needed.
    BottomUp,
}

/// What holds for every question that is made.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub generator: Generator,
    /// A cue alone leaves at least so many entities.
    pub least: usize,
}

/// Items of an evidence cluster.
const CLUSTER: usize = 8;
const LOOSE_CUES: usize = 4;
const PATH: usize = 2;
/// Likeness to what is gathered already costs, a new page or attribute pays.
const LIKENESS: f64 = 0.5;
const NOVELTY: f64 = 0.3;

impl Rules {
    /// A question whose answer `wanted` allows, or none where the draw came to nothing.
    pub fn draw(
        &self,
        book: &Encyclopaedia,
        wanted: impl Fn(usize) -> bool,
        stream: &mut Stream,
    ) -> Result<Option<Question>, StudyError> {
        let entity = stream.below(book.entities() as u64) as usize;
        let question = match self.generator {
            Generator::Chain => chain(book, entity, stream),
            Generator::Conjunction => conjunction(book, entity, stream),
            Generator::Loose | Generator::BottomUp => match self.bottom_up(book, entity, stream)? {
                Some(cues) => Question { answer: entity, cues },
                None => return Ok(None),
            },
        };
        Ok(Some(question).filter(|question| wanted(question.answer)))
    }

    fn bottom_up(
        &self,
        book: &Encyclopaedia,
        entity: usize,
        stream: &mut Stream,
    ) -> Result<Option<Vec<Cue>>, StudyError> {
        let mut cues = cluster(book, entity, stream);
        stream.shuffle(&mut cues);
        let mut fit = Vec::new();
        for cue in cues {
            let set = cue.set(book).iter().filter(|held| **held).count();
            // No cue finds the answer's page by itself.
            if set >= self.least && !book.search(&cue.words(), 0)?.contains(&entity) {
                fit.push(cue);
            }
        }
        if self.generator == Generator::Loose {
            fit.truncate(LOOSE_CUES);
            return Ok(Some(fit).filter(|fit| fit.len() == LOOSE_CUES));
        }
        Ok(needed(book, fit).filter(|cues| Counts::of(book, cues).sound(self.least)))
    }
}

/// Cues in order until one entity is left; then every cue that the others do not need goes.
pub fn needed(book: &Encyclopaedia, cues: Vec<Cue>) -> Option<Vec<Cue>> {
    let first = (1..=cues.len()).find(|count| Counts::of(book, &cues[..*count]).answers == 1)?;
    let mut kept = cues[..first].to_vec();
    while let Some(at) = Counts::of(book, &kept).without.iter().position(|left| *left == 1) {
        kept.remove(at);
    }
    Some(kept)
}

fn chain(book: &Encyclopaedia, start: usize, stream: &mut Stream) -> Question {
    let relations: Vec<usize> = (0..PATH).map(|_| stream.below(RELATIONS as u64) as usize).collect();
    Question { answer: walk(book, start, &relations), cues: vec![Cue::Path { start, relations }] }
}

fn conjunction(book: &Encyclopaedia, entity: usize, stream: &mut Stream) -> Question {
    let stated = (0..ATTRIBUTES)
        .map(|attribute| Cue::Own(Test::Value { attribute, value: book.values[entity][attribute] }));
    let linked = (0..RELATIONS).map(|relation| Cue::Via(relation, Test::Name(book.links[entity][relation])));
    let mut cues: Vec<Cue> = stated.chain(linked).collect();
    stream.shuffle(&mut cues);
    cues.truncate(3);
    Question { answer: entity, cues }
}

/// Grows the evidence: each time the item that has most to do with the answer and is least like what is there. An item that one
/// of the cluster implies adds nothing and is passed over.
fn cluster(book: &Encyclopaedia, entity: usize, stream: &mut Stream) -> Vec<Cue> {
    let mut items: Vec<Item> = Vec::new();
    for page in [None, Some(0), Some(1), Some(2)] {
        let at = page.map_or(entity, |relation: usize| book.links[entity][relation]);
        for attribute in 0..ATTRIBUTES {
            let test = Test::Class { attribute, class: book.values[at][attribute] / OF_A_CLASS };
            let cue = page.map_or(Cue::Own(test), |relation| Cue::Via(relation, test));
            let relevance = if page.is_none() { 1.0 } else { 0.6 } + 0.5 * stream.unit();
            items.push(Item { page, attribute, relevance, set: cue.set(book), cue });
        }
    }
    let mut gathered: Vec<Item> = Vec::new();
    while gathered.len() < CLUSTER {
        let worth = |item: &Item| {
            let alike = gathered.iter().map(|other| likeness(&item.set, &other.set)).fold(0.0, f64::max);
            let new_page = gathered.iter().all(|other| other.page != item.page);
            let new_attribute = gathered.iter().all(|other| other.attribute != item.attribute);
            let novelty = f64::from(u8::from(new_page)) + f64::from(u8::from(new_attribute));
            item.relevance - LIKENESS * alike + NOVELTY * novelty
        };
        let implied = |item: &Item| gathered.iter().any(|other| implies(&other.set, &item.set));
        let open = items.iter().enumerate().filter(|(_, item)| !implied(item));
        let best = open.map(|(at, item)| (at, worth(item))).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, _)) = best else { break };
        gathered.push(items.remove(at));
    }
    gathered.into_iter().map(|item| item.cue).collect()
}

struct Item {
    page: Option<usize>,
    attribute: usize,
    relevance: f64,
    set: Vec<bool>,
    cue: Cue,
}

/// Common members over all members.
fn likeness(a: &[bool], b: &[bool]) -> f64 {
    let both = a.iter().zip(b).filter(|(a, b)| **a && **b).count();
    let either = a.iter().zip(b).filter(|(a, b)| **a || **b).count();
    both as f64 / either.max(1) as f64
}

fn implies(a: &[bool], b: &[bool]) -> bool {
    a.iter().zip(b).all(|(a, b)| *b || !*a)
}
