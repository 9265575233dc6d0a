//! One tree in the making: its branches, where their turns were sampled, and to whom these belong in the end.

use super::{GrowSettings, Grown};
use crate::plan::EpisodePlan;
use crate::record::{fresh, owned_from};
use merit_core::{Cost, End, Episode, EpisodeId, Limit, Provenance, Role, Seed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Turns that were sampled in one go.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// Its name in its tree.
    name: u32,
    /// Its first turn.
    turn: u32,
    cost: Cost,
}

/// An episode up to some turn.
#[derive(Debug)]
pub(super) struct Branch {
    plan: EpisodePlan,
    pub(super) episode: Arc<Episode>,
    /// Where its turns were sampled.
    path: Vec<Stretch>,
    left: bool,
}

/// A plan that is run, with what came before it.
pub(super) struct Asked {
    pub(super) plan: EpisodePlan,
    path: Vec<Stretch>,
    one_turn: bool,
}

/// The branches of one group.
pub(super) struct Tree {
    seed: Seed,
    /// Most turns of an episode of its task.
    limit: u32,
    open: Vec<Branch>,
    pub(super) over: Vec<Branch>,
    /// Turns of every open branch.
    turns: u32,
    /// Turns that were sampled.
    steps: u64,
    /// Names of stretches, and numbers of branches, that are given.
    names: u32,
    branches: u32,
}

impl Tree {
    pub(super) fn new(seed: Seed, limit: u32) -> Self {
        Self { seed, limit, open: Vec::new(), over: Vec::new(), turns: 0, steps: 0, names: 0, branches: 0 }
    }

    /// Asks for an episode from its first turn on.
    pub(super) fn begin(&self, plan: EpisodePlan) -> Asked {
        self.ask(plan, Vec::new(), true)
    }

    fn ask(&self, mut plan: EpisodePlan, path: Vec<Stretch>, one_turn: bool) -> Asked {
        let one_turn = one_turn && self.turns + 1 < self.limit;
        plan.max_turns = Some(if one_turn { self.turns + 1 } else { self.limit });
        Asked { plan, path, one_turn }
    }

    /// Takes in what was played.
    pub(super) fn insert(&mut self, asked: Asked, episode: Arc<Episode>) {
        let Asked { mut plan, mut path, one_turn } = asked;
        plan.max_turns = Some(self.limit);
        self.names += 1;
        let cost = fresh(&episode, self.turns);
        path.push(Stretch { name: self.names, turn: self.turns, cost });
        self.steps += (episode.turns.len() as u64).saturating_sub(u64::from(self.turns));
        let cut = one_turn && episode.end == End::Truncated { limit: Limit::Turns };
        let branch = Branch { plan, episode, path, left: false };
        if cut { self.open.push(branch) } else { self.over.push(branch) }
    }

    /// Keeps some of the open branches and leaves the others.
    pub(super) fn choose(&mut self, settings: &GrowSettings, grown: &mut Grown) {
        if self.open.is_empty() {
            return;
        }
        self.turns += 1;
        let kept = settings.chosen(&self.open, &mut self.seed.child("keep", u64::from(self.turns)).stream());
        grown.choices += 1;
        grown.kept += kept.len() as u64;
        if let Some(evidence) = &settings.evidence {
            grown.distinct += evidence.apart(&self.open, &kept).0.len() as u64;
        }
        for (at, branch) in std::mem::take(&mut self.open).into_iter().enumerate() {
            match kept.contains(&at) {
                true => self.open.push(branch),
                false => self.over.push(Branch { left: true, ..branch }),
            }
        }
    }

    /// The ways on from what is open.
    pub(super) fn next(&mut self, settings: &GrowSettings) -> Vec<Asked> {
        let forks = self.turns < settings.depth && settings.steps.is_none_or(|most| self.steps < most);
        let ways = if forks { settings.branch } else { 1 };
        let mut asked = Vec::new();
        for branch in std::mem::take(&mut self.open) {
            for _ in 0..ways {
                self.branches += 1;
                let id = EpisodeId { branch: self.branches, ..branch.plan.id.clone() };
                let plan = EpisodePlan { id, ..branch.plan.clone().forked(&branch.episode, self.turns) };
                asked.push(self.ask(plan, branch.path.clone(), forks));
            }
        }
        asked
    }

    /// Every branch as an episode in its own right. Shared turns belong to the first that is finished, else to the first that was left.
    pub(super) fn finish(mut self) -> Vec<(EpisodePlan, Episode)> {
        self.over.sort_by_key(|branch| (branch.plan.id.member, branch.plan.id.branch));
        let mut owners: BTreeMap<u32, (u8, usize)> = BTreeMap::new();
        for (at, branch) in self.over.iter().enumerate() {
            for stretch in &branch.path {
                let claim = (branch.rank(), at);
                let owner = owners.entry(stretch.name).or_insert(claim);
                *owner = claim.min(*owner);
            }
        }
        let branches = self.over.into_iter().enumerate();
        let own = |at: usize, stretch: &Stretch| owners.get(&stretch.name).is_some_and(|owner| owner.1 == at);
        branches.map(|(at, branch)| branch.finished(|stretch| own(at, stretch))).collect()
    }
}

impl Branch {
    /// Who is preferred as an owner, lowest first.
    fn rank(&self) -> u8 {
        match &self.episode.end {
            End::Failed { .. } => 2,
            _ if self.left => 1,
            _ => 0,
        }
    }

    /// What is its own is a stretch to its end: the branch that comes first below a turn comes first below those after it.
    fn finished(self, own: impl Fn(&Stretch) -> bool) -> (EpisodePlan, Episode) {
        let from = self.path.iter().find(|stretch| own(stretch)).map_or(0, |stretch| stretch.turn);
        let end = if self.left { End::Left } else { self.episode.end.clone() };
        let transcript = owned_from(&self.episode, from);
        let tokens = |policy: bool| -> u64 {
            let own = transcript.segments().iter().filter(|s| s.provenance != Provenance::Replayed);
            own.filter(|s| (s.role == Role::Policy) == policy).map(|s| s.tokens.len() as u64).sum()
        };
        let spent: Cost = self.path.iter().filter(|stretch| own(stretch)).map(|stretch| stretch.cost).sum();
        let cost = Cost { read_tokens: tokens(false), ..spent };
        let cost = if cost.tokens_unknown { cost } else { Cost { policy_tokens: tokens(true), ..cost } };
        (self.plan, Episode { transcript, end, cost, ..Episode::clone(&self.episode) })
    }
}
