//! An encyclopaedia of made-up entities: typed attributes, links to other entities, a page each, and a search over the pages.
//!
//! Values of an attribute belong to classes, four to a class. Pages have names and values; class words stand on few of them. It
//! knows nothing of questions.

use crate::StudyError;
use merit_core::Stream;
use merit_search::{Corpus, Document, Index, IndexConfig, Stemming, StopWords};

pub const ATTRIBUTES: usize = 6;
pub const RELATIONS: usize = 3;
/// Values of an attribute, and how many of them make a class.
pub const VALUES: usize = 24;
pub const OF_A_CLASS: usize = 4;
pub const CLASSES: usize = VALUES / OF_A_CLASS;
/// Pages on a page of results.
pub const HITS: usize = 10;

const ATTRIBUTE_NAMES: [&str; ATTRIBUTES] = ["trade", "region", "era", "emblem", "material", "custom"];
const RELATION_NAMES: [&str; RELATIONS] = ["neighbour", "rival", "founder"];
/// The chance that the region is of the trade's class: facts that go together.
const TOGETHER: f64 = 0.7;
/// The chance that a page has a remark with the class word of one of its values.
const REMARKS: f64 = 0.3;

/// Facts and pages of every entity.
#[derive(Debug)]
pub struct Encyclopaedia {
    pub values: Vec<[usize; ATTRIBUTES]>,
    pub links: Vec<[usize; RELATIONS]>,
    index: Index,
}

impl Encyclopaedia {
    pub fn draw(entities: usize, stream: &mut Stream) -> Result<Self, StudyError> {
        let values: Vec<_> = (0..entities).map(|_| facts(stream)).collect();
        let links: Vec<_> = (0..entities).map(|entity| links(entity, entities, stream)).collect();
        let page = |entity: usize| {
            let stated =
                (0..ATTRIBUTES).map(|a| format!("{} {}", ATTRIBUTE_NAMES[a], value(a, values[entity][a])));
            let linked = (0..RELATIONS).map(|r| format!("{} {}", RELATION_NAMES[r], name(links[entity][r])));
            stated.chain(linked).collect::<Vec<_>>().join(". ")
        };
        let document = |entity: usize| {
            let about = stream.below(ATTRIBUTES as u64) as usize;
            let class_word = class(about, values[entity][about] / OF_A_CLASS);
            let remark =
                if stream.chance(REMARKS) { format!(". A {class_word} matter") } else { String::new() };
            Document { id: entity.to_string(), title: name(entity), text: page(entity) + &remark }
        };
        let documents = (0..entities).map(document).collect();
        let config =
            IndexConfig { stemming: Stemming::None, stop_words: StopWords::None, ..IndexConfig::default() };
        let broken = |why: merit_search::SearchError| StudyError::Broken(why.to_string());
        let index = Index::build(Corpus::new(documents).map_err(broken)?, &config).map_err(broken)?;
        Ok(Self { values, links, index })
    }

    pub fn entities(&self) -> usize {
        self.values.len()
    }

    /// The pages that BM25 ranks highest for a query, the `page`-th ten of them.
    pub fn search(&self, query: &str, page: usize) -> Result<Vec<usize>, StudyError> {
        let broken = |why: merit_search::SearchError| StudyError::Broken(why.to_string());
        let hits = self.index.search(query, HITS * (page + 1)).map_err(broken)?;
        Ok(hits.iter().skip(HITS * page).filter_map(|hit| hit.id.parse().ok()).collect())
    }
}

fn facts(stream: &mut Stream) -> [usize; ATTRIBUTES] {
    let mut values = std::array::from_fn(|_| stream.below(VALUES as u64) as usize);
    if stream.chance(TOGETHER) {
        values[1] = values[0] / OF_A_CLASS * OF_A_CLASS + values[1] % OF_A_CLASS;
    }
    values
}

/// No entity is linked to itself.
fn links(entity: usize, entities: usize, stream: &mut Stream) -> [usize; RELATIONS] {
    std::array::from_fn(|_| (entity + 1 + stream.below(entities as u64 - 1) as usize) % entities)
}

/// The word on an entity's page that names it.
pub fn name(entity: usize) -> String {
    word(entity)
}

/// The word of a value.
pub fn value(attribute: usize, value: usize) -> String {
    word(500_000 + attribute * VALUES + value)
}

/// The word of a class of values.
pub fn class(attribute: usize, class: usize) -> String {
    word(700_000 + attribute * CLASSES + class)
}

pub fn attribute_name(attribute: usize) -> &'static str {
    ATTRIBUTE_NAMES[attribute]
}

pub fn relation_name(relation: usize) -> &'static str {
    RELATION_NAMES[relation]
}

/// Three syllables; different numbers below a million are different words.
fn word(number: usize) -> String {
    let syllable = |n: usize| {
        let letter = |letters: &str, at: usize| letters.chars().nth(at).unwrap_or('a');
        [letter("bcdfghjklmnpqrstvwxz", n / 5), letter("aeiou", n % 5)]
    };
    [number / 10_000 % 100, number / 100 % 100, number % 100].into_iter().flat_map(syllable).collect()
}
