//! Parting pairs by groups: the hash of the group decides, so that the same prompt is always on the same side, whatever else is in
//! the file.

use crate::Pair;
use crate::folder::SplitShares;
use sha2::{Digest as _, Sha256};

/// Pairs in three parts, by group, so that no task is in two of them.
#[derive(Debug, Clone, Default)]
pub struct Parted {
    /// What proposals are made from.
    pub train: Vec<Pair>,
    /// What decides whether they are kept.
    pub validation: Vec<Pair>,
    /// What is looked at once, at the end.
    pub test: Vec<Pair>,
}

impl Parted {
    /// Parts pairs by groups. Groups are ordered by their hash and cut at the shares, so that the parts have the sizes that were
    /// asked for.
    pub fn of(pairs: &[Pair], shares: SplitShares) -> Self {
        let hash = |pair: &Pair| Sha256::digest(pair.group.as_bytes()).to_vec();
        let mut ordered: Vec<(Vec<u8>, &Pair)> = pairs.iter().map(|pair| (hash(pair), pair)).collect();
        ordered.sort_by(|a, b| a.0.cmp(&b.0));
        let (mut parted, all) = (Self::default(), pairs.len() as f64);
        let mut last: Option<(Vec<u8>, u8)> = None;
        for (at, (hash, pair)) in ordered.into_iter().enumerate() {
            let place = at as f64 / all;
            let fresh = match place {
                place if place < shares.train => 0,
                place if place < shares.train + shares.validation => 1,
                _ => 2,
            };
            let part = last.filter(|(known, _)| *known == hash).map_or(fresh, |(_, part)| part);
            let list = match part {
                0 => &mut parted.train,
                1 => &mut parted.validation,
                _ => &mut parted.test,
            };
            list.push(pair.clone());
            last = Some((hash, part));
        }
        parted
    }
}
