//! Facts that are the same in every task, so that they can be known by heart, and a word before the question that says whether to search.
//!
//! The first names are fixed: what is said about them never changes, and leads to fixed names only. A question that begins with one of
//! them needs no search. All other facts are drawn for each task and are only found by search.

use super::question::{NAMES, Question};
use merit_core::{Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The place of an object that is not in the base: the base says nothing there.
pub(super) const SILENT: u8 = u8::MAX;

/// How often a label by rollouts is wrong.
const MISLABELLED: f64 = 0.1;

/// Who says before a question whether to search: `look`, or `tell` for an answer by heart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// Questions have no such word.
    #[default]
    None,
    /// Always `look`.
    Search,
    /// `look` where a fact is needed that is not fixed, wrong in one case of ten, as labels by the success of rollouts are.
    Rollouts,
    /// `look` or `tell` by chance.
    Random,
    /// `look`, `tell` or no word by chance, for a warm start that shows all of them.
    Any,
}

impl Label {
    /// Whether it is the default, which is not written out.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// What a question says. Absent: none does.
    pub(super) fn draw(self, is_stored: bool, rng: &mut Stream) -> Option<Said> {
        let said = |look: bool| if look { Said::Look } else { Said::Tell };
        Some(match self {
            Self::None => return None,
            Self::Search => Said::Look,
            Self::Rollouts => said(is_stored != rng.chance(MISLABELLED)),
            Self::Random => said(rng.chance(0.5)),
            Self::Any => [Said::Nothing, Said::Tell, Said::Look][rng.below(3) as usize],
        })
    }
}

/// What one question says about searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// `look`: search.
    Look,
    /// `tell`: answer by heart.
    Tell,
    /// There is no such word.
    Nothing,
}

/// How many names are fixed.
pub(super) fn fixed_names(share: f64) -> u8 {
    (share * NAMES.len() as f64).round() as u8
}

/// The object of a fixed name: always the same, fixed itself, and never the name.
pub fn by_heart(name: u8, relation: u8, fixed: u8) -> u8 {
    let seed = Seed::root(0).child("fixed", u64::from(name)).child("relation", u64::from(relation));
    let object = seed.stream().below(u64::from(fixed).saturating_sub(1).max(1)) as u8;
    object + u8::from(object >= name)
}

impl Question {
    /// As [`Question::draw`], with the first relations, and with what is fixed about the first names.
    pub(super) fn draw_fixed(
        (entities, relations, hops): (usize, usize, usize),
        fixed: u8,
        synonyms: f64,
        rng: &mut Stream,
    ) -> Self {
        let (path, hops) = loop {
            let (path, hops) = walk(relations, hops, fixed, rng);
            if path.iter().collect::<BTreeSet<_>>().len() == path.len() {
                break (path, hops);
            }
        };
        let mut others: Vec<u8> = (0..NAMES.len() as u8).filter(|name| !path.contains(name)).collect();
        rng.shuffle(&mut others);
        let mut people: Vec<u8> = path.iter().copied().chain(others).take(entities).collect();
        rng.shuffle(&mut people);
        let place = |name: u8| people.iter().position(|&at| at == name).map_or(SILENT, |at| at as u8);
        let mut objects = Vec::with_capacity(entities * relations);
        for (row, &name) in people.iter().enumerate() {
            for relation in 0..relations as u8 {
                // Drawn for fixed names as well, so that a base differs only where it must.
                let object = rng.below(entities as u64 - 1) as usize;
                let drawn = (object + usize::from(object >= row)) as u8;
                objects.push(if name < fixed { place(by_heart(name, relation, fixed)) } else { drawn });
            }
        }
        for (step, hop) in path.windows(2).zip(&hops) {
            let row = usize::from(place(step[0]));
            if let Some(object) = objects.get_mut(row * relations + usize::from(*hop)) {
                *object = place(step[1]);
            }
        }
        let reworded = hops.iter().map(|_| rng.chance(synonyms)).collect();
        let start = path.first().map_or(0, |&name| place(name));
        let (links, salt) = ((0..relations as u8).collect(), rng.bits() as u32);
        Self { entities: people, relations: links, objects, start, hops, reworded, salt, ..Self::default() }
    }

    /// Whether it needs a fact that is not fixed.
    pub(super) fn is_stored(&self, fixed: u8) -> bool {
        self.chain().iter().any(|fact| fact.0 >= fixed)
    }

    /// The word before the question.
    pub(super) fn label_word(&self) -> Option<&'static str> {
        match self.label? {
            Said::Look => Some("look"),
            Said::Tell => Some("tell"),
            Said::Nothing => None,
        }
    }
}

/// Names along relations, from any name on. It may meet somebody twice.
fn walk(relations: usize, hops: usize, fixed: u8, rng: &mut Stream) -> (Vec<u8>, Vec<u8>) {
    let hops: Vec<u8> = (0..hops).map(|_| rng.below(relations as u64) as u8).collect();
    let mut path = vec![rng.below(NAMES.len() as u64) as u8];
    for hop in &hops {
        let at = path.last().copied().unwrap_or_default();
        let any = rng.below(NAMES.len() as u64) as u8;
        path.push(if at < fixed { by_heart(at, *hop, fixed) } else { any });
    }
    (path, hops)
}
