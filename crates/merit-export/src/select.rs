//! Which episodes are taken, and why the others are not.
//!
//! An episode whose outcome does not count is never taken: it is unknown whether it is good or bad. A group is the episodes of
//! one phase, step and group; a pair also shares its prompt.

use crate::conversation;
use merit_core::{Outcome, Phase, ScoredEpisode, constant};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Only of these phases. Empty: those of training and evaluation, and imported ones.
    pub phases: Vec<Phase>,
    /// Only episodes that solved their task; of a pair, the better one.
    pub solved: bool,
    /// Only episodes with at least this reward; of a pair, the better one. Absent: any.
    pub min_reward: Option<f64>,
    pub pick: Pick,
}

/// How many of a group are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    #[default]
    All,
    /// The first with the highest reward.
    Best,
    /// The first with the highest and the first with the lowest reward, where rewards differ.
    Pairs,
}

/// An episode that is taken, or a pair of them.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// The better of a pair.
    pub chosen: &'a ScoredEpisode,
    /// The worse of a pair. Absent: it is none.
    pub rejected: Option<&'a ScoredEpisode>,
}

/// How many episodes were left out, by the reason.
pub type LeftOut = BTreeMap<&'static str, usize>;

/// The episodes of one step that are wanted, in their order; the others are counted in `left_out`.
pub fn select<'a>(choice: &Choice, episodes: &'a [ScoredEpisode], left_out: &mut LeftOut) -> Vec<Taken<'a>> {
    let mut judged = Vec::new();
    for scored in episodes {
        match scored.reward() {
            Some(reward) => judged.push(Judged { scored, reward }),
            None => leave(left_out, scored.outcome().name(), 1),
        }
    }
    match choice.pick {
        Pick::All => wanted(choice, judged, left_out).iter().map(Judged::alone).collect(),
        Pick::Best => {
            let groups = grouped(wanted(choice, judged, left_out), |scored| scored.episode.id.group);
            groups.iter().filter_map(|group| best_of(group, left_out)).collect()
        }
        Pick::Pairs => {
            let prompt = |scored: &ScoredEpisode| format!("{:?}", conversation(&scored.episode).prompt);
            let groups = grouped(judged, |scored| (scored.episode.id.group, prompt(scored)));
            groups.iter().filter_map(|group| pair_of(choice, group, left_out)).collect()
        }
    }
}

/// An episode with the reward that it has.
#[derive(Clone, Copy)]
struct Judged<'a> {
    scored: &'a ScoredEpisode,
    reward: f64,
}

impl<'a> Judged<'a> {
    fn alone(&self) -> Taken<'a> {
        Taken { chosen: self.scored, rejected: None }
    }

    /// Why it is not wanted. Absent: it is.
    fn unwanted(&self, choice: &Choice) -> Option<&'static str> {
        if choice.solved && self.scored.outcome() != Outcome::Solved {
            return Some("not solved");
        }
        choice.min_reward.filter(|least| self.reward < *least).map(|_| "below the least reward")
    }
}

fn leave(left_out: &mut LeftOut, why: &'static str, count: usize) {
    if count > 0 {
        *left_out.entry(why).or_default() += count;
    }
}

fn wanted<'a>(choice: &Choice, judged: Vec<Judged<'a>>, left_out: &mut LeftOut) -> Vec<Judged<'a>> {
    let mut kept = Vec::new();
    for one in judged {
        match one.unwanted(choice) {
            Some(why) => leave(left_out, why, 1),
            None => kept.push(one),
        }
    }
    kept
}

/// Episodes with equal keys together, in the order in which keys first appear.
fn grouped<'a, K: Hash + Eq>(
    judged: Vec<Judged<'a>>,
    key: impl Fn(&ScoredEpisode) -> K,
) -> Vec<Vec<Judged<'a>>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<Judged<'a>>> = Vec::new();
    for one in judged {
        let place = *places.entry(key(one.scored)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

fn best<'a>(group: &[Judged<'a>]) -> Option<Judged<'a>> {
    group.iter().copied().reduce(|best, next| if next.reward > best.reward { next } else { best })
}

fn worst<'a>(group: &[Judged<'a>]) -> Option<Judged<'a>> {
    group.iter().copied().reduce(|worst, next| if next.reward < worst.reward { next } else { worst })
}

fn best_of<'a>(group: &[Judged<'a>], left_out: &mut LeftOut) -> Option<Taken<'a>> {
    leave(left_out, "not the best of their group", group.len().saturating_sub(1));
    best(group).map(|best| best.alone())
}

fn pair_of<'a>(choice: &Choice, group: &[Judged<'a>], left_out: &mut LeftOut) -> Option<Taken<'a>> {
    let rewards: Vec<f64> = group.iter().map(|one| one.reward).collect();
    if constant(&rewards) {
        leave(left_out, "in groups whose rewards do not differ", group.len());
        return None;
    }
    let (chosen, rejected) = (best(group)?, worst(group)?);
    if chosen.unwanted(choice).is_some() {
        leave(left_out, "in groups whose best one is not wanted", group.len());
        return None;
    }
    leave(left_out, "neither best nor worst of their group", group.len().saturating_sub(2));
    Some(Taken { chosen: chosen.scored, rejected: Some(rejected.scored) })
}
