//! Groups that grow turn by turn: several ways on from every branch that is kept, until they are all over.
//!
//! In: the plans of whole groups, and the runner of plans. Out: one episode for each branch, from the opening to where it ended or was
//! left. Every plan of a group is one way to begin; after each turn some branches are kept and the others are left (`End::Left`). What
//! branches share is sampled once and belongs to one of them, so that it is trained once and counted once. A tree depends on the plans
//! of its group only. Knows no model and no reward: branches are chosen by what the world tells of them.

mod tree;

use crate::plan::EpisodePlan;
use crate::settings::{RolloutSettings, SettingsError, refuse_unless};
use merit_core::{Episode, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tree::{Asked, Branch, Tree};

/// How the groups of a training step grow, as `[rollout] grow` says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowSettings {
    /// Ways on from each branch that is kept. The first turn is tried as often as a group has members.
    pub branch: u32,
    /// Branches of a group that are kept after a turn; what is over needs no place.
    pub width: u32,
    /// Turns after which nothing forks any more; what is kept then is played to its end.
    pub depth: u32,
    /// Nothing forks any more either once a group has taken so many turns. Absent: `depth` alone decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Which branches are kept.
    pub keep: KeepBranches,
    /// What a branch has found. Needed where those that differ in it are kept; elsewhere it is only counted. Absent: it is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<BranchEvidence>,
}

/// Which branches are kept; where that does not tell, chance decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum KeepBranches {
    /// One of each evidence first, then any.
    Distinct {},
    /// Drawn by chance.
    Random {},
    /// Those of which an info of the world is highest.
    Best {
        /// The name of the info, as it was after the last turn.
        info: String,
    },
    /// The same, or any: drawn after every turn.
    Mixed {
        /// The name of the info.
        info: String,
        /// How often it is the best that are kept, 0 to 1.
        best: f64,
    },
}

/// What a branch has found: ids in the state of the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchEvidence {
    /// A JSON pointer into the world's snapshot, to a list of ids: `/state/found`.
    pub at: String,
    /// Two branches have the same evidence where more than this share of all that they found was found by both (Jaccard), 0 to 1.
    pub alike: f64,
}

/// The branches that grew, and how they were chosen.
#[derive(Debug, Default)]
pub struct Grown {
    /// The plans of the branches.
    pub plans: Vec<EpisodePlan>,
    /// The branches, in the order of the plans.
    pub episodes: Vec<Arc<Episode>>,
    /// How often branches were chosen, how many were kept, and how many of these had evidence of their own.
    pub choices: u64,
    pub kept: u64,
    pub distinct: u64,
    /// An info or a place in the state that no branch has, though all were looked at for it.
    pub missing: Option<String>,
}

/// The most of anything: a tree has to fit into memory.
const MOST: u32 = 4096;

impl GrowSettings {
    /// Refuses what cannot work, naming the first offender.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let counts = [("grow.branch", self.branch), ("grow.width", self.width), ("grow.depth", self.depth)];
        for (name, value) in counts {
            refuse_unless((1..=MOST).contains(&value), name, value, "it lies between 1 and 4096")?;
        }
        refuse_unless(self.steps != Some(0), "grow.steps", 0, "it must be at least 1")?;
        if let KeepBranches::Mixed { best, .. } = self.keep {
            refuse_unless((0.0..=1.0).contains(&best), "grow.keep.best", best, "it is a share, 0 to 1")?;
        }
        if let Some(info) = self.info() {
            refuse_unless(!info.is_empty(), "grow.keep.info", "empty", "give the name of an info")?;
        }
        let Some(BranchEvidence { at, alike }) = &self.evidence else {
            let why = "say in `grow.evidence` what a branch has found";
            return refuse_unless(self.keep != KeepBranches::Distinct {}, "grow.keep", "distinct", why);
        };
        let pointer = "it must be a JSON pointer into the state, such as /state/found";
        refuse_unless(at.starts_with('/'), "grow.evidence.at", at, pointer)?;
        refuse_unless(
            (0.0..1.0).contains(alike),
            "grow.evidence.alike",
            alike,
            "it lies between 0 and 1, below 1",
        )
    }

    /// The info that branches are chosen by. Absent: none is.
    pub fn info(&self) -> Option<&str> {
        match &self.keep {
            KeepBranches::Best { info } | KeepBranches::Mixed { info, .. } => Some(info),
            KeepBranches::Distinct {} | KeepBranches::Random {} => None,
        }
    }

    /// Runs the plans of whole groups and whatever grows of them. An error of `run` is the end of it; where `run` stops before the last
    /// plan, what is missing does not grow.
    pub fn grow<E>(
        &self,
        plans: Vec<EpisodePlan>,
        settings: &RolloutSettings,
        mut run: impl FnMut(Vec<EpisodePlan>) -> Result<Vec<Arc<Episode>>, E>,
    ) -> Result<Grown, E> {
        let mut trees: BTreeMap<u32, Tree> = BTreeMap::new();
        let mut asked: Vec<Asked> = Vec::new();
        for plan in plans {
            let limit = settings.turns_of(plan.task.size);
            let limit = plan.max_turns.map_or(limit, |own| own.min(limit));
            let tree = trees.entry(plan.id.group).or_insert_with(|| Tree::new(plan.seed, limit));
            asked.push(tree.begin(plan));
        }
        let mut grown = Grown::default();
        while !asked.is_empty() {
            let played = run(asked.iter().map(|asked| asked.plan.clone()).collect())?;
            for (asked, episode) in asked.into_iter().zip(played) {
                if let Some(tree) = trees.get_mut(&asked.plan.id.group) {
                    tree.insert(asked, episode);
                }
            }
            trees.values_mut().for_each(|tree| tree.choose(self, &mut grown));
            asked = trees.values_mut().flat_map(|tree| tree.next(self)).collect();
        }
        grown.missing = self.missing(&trees);
        for (plan, episode) in trees.into_values().flat_map(Tree::finish) {
            grown.plans.push(plan);
            grown.episodes.push(Arc::new(episode));
        }
        Ok(grown)
    }

    /// What is looked for and not there, although branches could have told it.
    fn missing(&self, trees: &BTreeMap<u32, Tree>) -> Option<String> {
        let whole = || trees.values().flat_map(|tree| &tree.over).map(|branch| &branch.episode);
        let told = |info: &&str| whole().any(|one| one.turns.iter().any(|turn| turn.info.contains_key(info)));
        let stepped = whole().any(|one| one.state.is_some() && one.cost.env_steps > 0);
        let info = self.info().filter(|info| stepped && !told(info));
        let found = |found: &&BranchEvidence| whole().any(|one| found.place(one).is_some());
        let place = self.evidence.as_ref().filter(|place| stepped && !found(place));
        let info = info.map(|info| format!("`rollout.grow.keep.info` is `{info}`, which no turn was told"));
        info.or(
            place.map(|place| format!("`rollout.grow.evidence.at` is `{}`, and no state has that", place.at))
        )
    }
}

impl BranchEvidence {
    fn place<'a>(&self, episode: &'a Episode) -> Option<&'a serde_json::Value> {
        episode.state.as_ref()?.pointer(&self.at)
    }

    fn found(&self, episode: &Episode) -> BTreeSet<String> {
        match self.place(episode) {
            Some(serde_json::Value::Array(ids)) => ids.iter().map(ToString::to_string).collect(),
            Some(one) => BTreeSet::from([one.to_string()]),
            None => BTreeSet::new(),
        }
    }

    /// Whether two branches have the same evidence. Nothing is like nothing.
    fn same(&self, a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
        let (both, all) = (a.intersection(b).count(), a.union(b).count());
        all == 0 || both as f64 / all as f64 > self.alike
    }

    /// The places in `order` whose evidence none before them has, and the others.
    fn apart(&self, open: &[Branch], order: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let mut seen: Vec<BTreeSet<String>> = Vec::new();
        order.iter().partition(|at| {
            let found = self.found(&open[**at].episode);
            let new = !seen.iter().any(|other| self.same(other, &found));
            if new {
                seen.push(found);
            }
            new
        })
    }
}

impl GrowSettings {
    /// The places of the branches that are kept, in their order.
    fn chosen(&self, open: &[Branch], draw: &mut Stream) -> Vec<usize> {
        let mut order: Vec<usize> = (0..open.len()).collect();
        draw.shuffle(&mut order);
        let worth = |info: &str, at: usize| {
            let told = open[at].episode.turns.last().and_then(|turn| turn.info.get(info)).copied();
            told.unwrap_or(f64::NEG_INFINITY)
        };
        let by_worth = |info: &str, order: &mut Vec<usize>| {
            order.sort_by(|a, b| worth(info, *b).total_cmp(&worth(info, *a)));
        };
        match (&self.keep, &self.evidence) {
            (KeepBranches::Best { info }, _) => by_worth(info, &mut order),
            (KeepBranches::Mixed { info, best }, _) if draw.chance(*best) => by_worth(info, &mut order),
            (KeepBranches::Distinct {}, Some(evidence)) => {
                let (apart, others) = evidence.apart(open, &order);
                order = [apart, others].concat();
            }
            (KeepBranches::Mixed { .. } | KeepBranches::Random {} | KeepBranches::Distinct {}, _) => {}
        }
        order.truncate(self.width as usize);
        order.sort_unstable();
        order
    }
}
