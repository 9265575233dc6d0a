//! The tree of a search: what was tried from where, and what it was worth.
//!
//! A node is an episode up to one of its turns. A try forks the episode of a node behind its last turn; what came of it is laid into
//! the tree turn by turn, so that a turn that a sibling has said already is no new node. Pure data; who tries what is decided by a
//! strategy.

use crate::plan::EpisodePlan;
use crate::record::{fresh, owned_from, said_in};
use merit_core::{Cost, End, Episode, EpisodeId, Limit, TokenId};
use std::sync::Arc;

/// The place of a node in its tree.
pub(super) type NodeId = usize;
/// The opening of the world, before any turn.
pub(super) const ROOT: NodeId = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Try {
    /// Where it begins.
    pub(super) from: NodeId,
    /// Whether it is played to its end; else for one turn.
    pub(super) to_end: bool,
}

/// An episode up to one of its turns.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) children: Vec<NodeId>,
    pub(super) parent: Option<NodeId>,
    /// An episode that begins so. Absent at the root.
    pub(super) episode: Option<Arc<Episode>>,
    /// What was said in its last turn.
    pub(super) said: Vec<TokenId>,
    pub(super) turns: u32,
    /// Whether nothing can come after it.
    pub(super) finished: bool,
    /// What the episode up to here is worth. Absent: it was not valued.
    pub(super) value: Option<f64>,
    /// How often it was gone on from.
    pub(super) tries: u32,
    /// Tries that went through it, and of those that have a value, their number and its sum.
    pub(super) visits: u32,
    pub(super) valued: u32,
    pub(super) total: f64,
}

impl Node {
    /// The mean value of what went through it. Absent: nothing of it has one.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.valued > 0).then(|| self.total / f64::from(self.valued))
    }
}

/// What was tried for one task.
#[derive(Debug)]
pub(super) struct Tree {
    plan: EpisodePlan,
    /// Most turns of an episode of this task.
    limit: u32,
    pub(super) nodes: Vec<Node>,
    /// What everything that was tried has cost.
    pub(super) cost: Cost,
    /// Tries so far; each has a number of its own.
    tried: u32,
    /// A try that broke. Absent: none did.
    broken: Option<Arc<Episode>>,
}

impl Tree {
    /// An empty tree over the task of `plan`, whose episodes have at most `limit` turns.
    pub(super) fn new(plan: EpisodePlan, limit: u32) -> Self {
        let limit = plan.max_turns.map_or(limit, |own| own.min(limit));
        Self { plan, limit, nodes: vec![Node::default()], cost: Cost::default(), tried: 0, broken: None }
    }

    pub(super) fn plan(&mut self, asked: Try) -> EpisodePlan {
        self.tried += 1;
        let node = &mut self.nodes[asked.from];
        node.tries += 1;
        let mut plan = self.plan.clone();
        plan.id = EpisodeId { branch: self.tried, ..plan.id };
        if !asked.to_end && node.turns + 1 < self.limit {
            plan.max_turns = Some(node.turns + 1);
        }
        match &node.episode {
            Some(episode) => plan.forked(episode, node.turns),
            None => plan,
        }
    }

    /// Lays what came of a try into the tree.
    pub(super) fn insert(&mut self, asked: Try, episode: &Arc<Episode>, value: Option<f64>) {
        self.cost += fresh(episode, self.nodes[asked.from].turns);
        if matches!(episode.end, End::Failed { .. }) {
            self.broken.get_or_insert_with(|| Arc::clone(episode));
            return;
        }
        let mut at = asked.from;
        for turn in self.nodes[at].turns..episode.turns.len() as u32 {
            if at != asked.from {
                self.nodes[at].tries += 1;
            }
            at = self.child(at, episode, turn);
        }
        let turns = episode.turns.len() as u32;
        let cut = episode.end == End::Truncated { limit: Limit::Turns } && turns < self.limit;
        self.nodes[at].finished |= !cut;
        self.nodes[at].value = self.nodes[at].value.or(value);
        self.back_up(at, value);
    }

    /// The node behind `at` in which turn `turn` of `episode` was said, made where there is none.
    fn child(&mut self, at: NodeId, episode: &Arc<Episode>, turn: u32) -> NodeId {
        let said: Vec<TokenId> = said_in(episode, turn).flatten().copied().collect();
        let same = |child: &&NodeId| self.nodes[**child].said == said;
        if let Some(known) = self.nodes[at].children.iter().find(same) {
            return *known;
        }
        let made = self.nodes.len();
        self.nodes.push(Node {
            parent: Some(at),
            episode: Some(Arc::clone(episode)),
            said,
            turns: turn + 1,
            ..Node::default()
        });
        self.nodes[at].children.push(made);
        made
    }

    fn back_up(&mut self, leaf: NodeId, value: Option<f64>) {
        let mut at = Some(leaf);
        while let Some(node) = at.and_then(|at| self.nodes.get_mut(at)) {
            node.visits += 1;
            if let Some(value) = value {
                node.valued += 1;
                node.total += value;
            }
            at = node.parent;
        }
    }

    /// Of these nodes the one with the highest value, the first where several are equal; what has no value comes last.
    pub(super) fn best(&self, nodes: impl IntoIterator<Item = NodeId>) -> Option<NodeId> {
        let worth = |at: NodeId| self.nodes[at].value.unwrap_or(f64::NEG_INFINITY);
        nodes.into_iter().reduce(|best, next| if worth(next) > worth(best) { next } else { best })
    }

    /// The nodes of which `of` holds.
    pub(super) fn all(&self, of: impl Fn(&Node) -> bool) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len()).filter(move |at| of(&self.nodes[*at]))
    }

    /// What is still to be done before something can be chosen: the best of what is open is played to its end.
    pub(super) fn ending(&self) -> Option<Try> {
        if self.nodes.iter().any(|node| node.finished) {
            return None;
        }
        let leaf = self.best(self.all(|node| node.tries == 0 && node.episode.is_some()))?;
        Some(Try { from: leaf, to_end: true })
    }

    /// The best of what is finished, as an episode in its own right; else what broke. Absent: nothing was tried.
    pub(super) fn chosen(&self) -> Option<Arc<Episode>> {
        let best = self.best(self.all(|node| node.finished));
        let found = best.and_then(|at| self.nodes[at].episode.as_ref()).or(self.broken.as_ref())?;
        // What it repeats, the policy has said in this very search and in no other episode that is kept, so that it is its own.
        let transcript = owned_from(found, 0);
        Some(Arc::new(Episode { id: self.plan.id.clone(), transcript, ..Episode::clone(found) }))
    }
}
