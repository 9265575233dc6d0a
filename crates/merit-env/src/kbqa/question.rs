//! A knowledge base and a question about it: entities, relations, facts of three words, and the chain that leads to the answer.
//!
//! Every task has a base of its own: some entities of [`NAMES`] and relations of [`RELATIONS`], and for each pair of them one object.
//! Bases with facts that are the same for a whole run are drawn in `fixed` and have the same shape.

use super::fixed::{SILENT, Said};
use merit_core::{Seed, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Everybody who can be in a base.
#[rustfmt::skip]
pub const NAMES: [&str; 60] = [
    "jeb", "pev", "pag", "lav", "fon", "fuv", "vub", "zat", "zot", "tuk", "mik", "jix", "sok", "zox", "zop", "dep", "vud", "vav", "niv", "rin",
    "har", "vig", "rik", "dev", "dov", "jir", "gul", "jem", "geg", "nop", "hom", "meb", "rov", "sor", "fal", "nom", "rer", "tod", "mib", "gur",
    "bup", "nir", "tel", "lul", "ler", "tal", "kob", "lux", "gov", "duk", "fip", "mor", "pud", "hep", "hol", "kuv", "bak", "pel", "kug", "sed",
];
/// Every relation: the word that bases use, and another word that questions may use for it.
pub const RELATIONS: [(&str, &str); 8] = [
    ("boss", "chief"),
    ("home", "base"),
    ("mate", "spouse"),
    ("heir", "son"),
    ("friend", "pal"),
    ("guide", "coach"),
    ("cook", "chef"),
    ("guard", "ward"),
];

/// A statement of three words, true or not: places in [`NAMES`], [`RELATIONS`] and [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fact(pub u8, pub u8, pub u8);

impl Fact {
    /// The fact in words; nothing for places that there are not.
    pub fn words(self) -> String {
        format!("{} {} {}", name(self.0), relation(self.1), name(self.2))
    }

    /// Whether its places are those of words.
    pub(super) fn is_sound(self) -> bool {
        [self.0, self.2].iter().all(|&at| usize::from(at) < NAMES.len())
            && usize::from(self.1) < RELATIONS.len()
    }
}

/// The name at a place.
pub fn name(at: u8) -> &'static str {
    NAMES.get(usize::from(at)).copied().unwrap_or_default()
}

/// The word that bases use for a relation.
pub fn relation(at: u8) -> &'static str {
    RELATIONS.get(usize::from(at)).map_or("", |words| words.0)
}

/// The place of a name.
pub(super) fn name_of(word: &str) -> Option<u8> {
    NAMES.iter().position(|known| *known == word).map(|at| at as u8)
}

/// The place of a relation, and whether this is the word that bases use for it.
pub(super) fn relation_of(word: &str) -> Option<(u8, bool)> {
    let at = RELATIONS.iter().position(|words| words.0 == word || words.1 == word)?;
    Some((at as u8, RELATIONS[at].0 == word))
}

/// The puzzle of a task: a base, and a question about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Places in [`NAMES`].
    pub entities: Vec<u8>,
    /// Places in [`RELATIONS`].
    pub relations: Vec<u8>,
    /// For every entity and, within it, every relation: the place of the object among `entities`. 255: the base does not say it, as
    /// where a fixed fact leads out of it.
    pub objects: Vec<u8>,
    /// Where the question begins, among `entities`.
    pub start: u8,
    /// The relations that are followed from there, each a place among `relations`.
    pub hops: Vec<u8>,
    /// Whether the question uses the other word for that relation.
    pub reworded: Vec<bool>,
    /// Decides what is found beside what was looked for.
    pub salt: u32,
    /// The relations whose objects are hidden in a paragraph about the start, each a place among `relations`. Empty: a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<u8>,
    /// What the question says about searching. Absent: no question of its world does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Said>,
}

impl Question {
    /// A base of so many entities and relations, and a chain of `hops` that meets no entity twice.
    pub(super) fn draw(
        entities: usize,
        relations: usize,
        hops: usize,
        synonyms: f64,
        rng: &mut Stream,
    ) -> Self {
        let mut some = |of: usize, count: usize| {
            let mut all: Vec<u8> = (0..of as u8).collect();
            rng.shuffle(&mut all);
            all.truncate(count);
            all
        };
        let (people, links) = (some(NAMES.len(), entities), some(RELATIONS.len(), relations));
        let path = some(entities, hops + 1);
        let other = |row: usize, rng: &mut Stream| {
            let object = rng.below(entities as u64 - 1) as usize;
            (object + usize::from(object >= row)) as u8
        };
        let mut objects: Vec<u8> = (0..entities * relations).map(|at| other(at / relations, rng)).collect();
        let hops: Vec<u8> = (0..hops).map(|_| rng.below(relations as u64) as u8).collect();
        for (step, hop) in path.windows(2).zip(&hops) {
            if let Some(object) = objects.get_mut(usize::from(step[0]) * relations + usize::from(*hop)) {
                *object = step[1];
            }
        }
        let reworded = hops.iter().map(|_| rng.chance(synonyms)).collect();
        let start = path.first().copied().unwrap_or_default();
        let salt = rng.bits() as u32;
        Self { entities: people, relations: links, objects, start, hops, reworded, salt, ..Self::default() }
    }

    /// What is wrong with it as a question of so many hops, or as a paragraph of so many masks.
    pub(super) fn check(&self, size: u32, may_be_silent: bool) -> Result<(), String> {
        let distinct = |places: &[u8], of: usize| {
            places.iter().all(|&at| usize::from(at) < of)
                && places.iter().collect::<BTreeSet<_>>().len() == places.len()
        };
        let (entities, relations) = (self.entities.len(), self.relations.len());
        if !distinct(&self.entities, NAMES.len()) || !distinct(&self.relations, RELATIONS.len()) {
            return Err("an entity or a relation is unknown or there twice".to_owned());
        }
        if self.objects.len() != entities * relations
            || self
                .objects
                .iter()
                .any(|&object| usize::from(object) >= entities && !(may_be_silent && object == SILENT))
        {
            return Err(format!("{entities} entities and {relations} relations need an object each"));
        }
        if self.is_masked() {
            return self.check_masks(size);
        }
        if self.hops.len() != size as usize || self.reworded.len() != self.hops.len() {
            return Err(format!("{} hops, its size is {size}", self.hops.len()));
        }
        let chain = self.chain();
        let met: BTreeSet<u8> = chain.iter().flat_map(|fact| [fact.0, fact.2]).collect();
        match chain.len() == self.hops.len() && met.len() == chain.len() + 1 {
            true => Ok(()),
            false => Err("the question leads nowhere, or meets somebody twice".to_owned()),
        }
    }

    /// How many facts there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is no fact.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// A fact by its place.
    pub fn fact(&self, at: usize) -> Option<Fact> {
        let relations = self.relations.len().max(1);
        let object = usize::from(*self.objects.get(at)?);
        Some(Fact(
            *self.entities.get(at / relations)?,
            *self.relations.get(at % relations)?,
            *self.entities.get(object)?,
        ))
    }

    /// The place of the fact about an entity and a relation.
    pub(super) fn place(&self, entity: u8, relation: u8) -> Option<usize> {
        let row = self.entities.iter().position(|&at| at == entity)?;
        let column = self.relations.iter().position(|&at| at == relation)?;
        Some(row * self.relations.len() + column)
    }

    /// The relations of the question, as places in [`RELATIONS`].
    fn followed(&self) -> impl Iterator<Item = u8> {
        self.hops.iter().filter_map(|&hop| self.relations.get(usize::from(hop)).copied())
    }

    /// Where the question begins, as a place in [`NAMES`].
    pub fn begins(&self) -> u8 {
        self.entities.get(usize::from(self.start)).copied().unwrap_or_default()
    }

    /// The facts that lead from the start to the answer, or those that are hidden.
    pub fn chain(&self) -> Vec<Fact> {
        if self.is_masked() {
            return self.hidden();
        }
        let mut at = self.begins();
        let step = |relation: u8| {
            let fact = self.fact(self.place(at, relation)?)?;
            at = fact.2;
            Some(fact)
        };
        self.followed().map_while(step).collect()
    }

    /// The answer, as a place in [`NAMES`].
    pub fn answer(&self) -> u8 {
        self.chain().last().map_or_else(|| self.begins(), |fact| fact.2)
    }

    /// Everybody whom these statements alone lead to from the start, true or not.
    pub(super) fn derived(&self, statements: &[Fact]) -> BTreeSet<u8> {
        let mut at = BTreeSet::from([self.begins()]);
        for relation in self.followed() {
            let leads = |fact: &&Fact| at.contains(&fact.0) && fact.1 == relation;
            at = statements.iter().filter(leads).map(|fact| fact.2).collect();
        }
        at
    }

    /// The places of what a search for a fact finds: the fact, and `count - 1` of other relations, in an order that does not tell
    /// which.
    pub(super) fn search(&self, wanted: usize, count: usize) -> Vec<usize> {
        let relations = self.relations.len().max(1);
        let mut rng = Seed::root(u64::from(self.salt)).child("search", wanted as u64).stream();
        let mut found: Vec<usize> = (0..self.len())
            .filter(|at| at % relations != wanted % relations && self.fact(*at).is_some())
            .collect();
        rng.shuffle(&mut found);
        found.truncate(count.saturating_sub(1));
        found.push(wanted);
        rng.shuffle(&mut found);
        found
    }

    pub(super) fn words(&self) -> String {
        if self.is_masked() {
            return self.masked_words();
        }
        let mut words: Vec<&str> =
            self.label_word().into_iter().chain(["who", name(self.begins())]).collect();
        for (relation, &reworded) in self.followed().zip(&self.reworded) {
            let both = RELATIONS.get(usize::from(relation)).copied().unwrap_or_default();
            words.push(if reworded { both.1 } else { both.0 });
        }
        words.join(" ")
    }
}
