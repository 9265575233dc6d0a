//! Tree Monte Carlo: a turn is worth the mean reward of the leaves below it, held against its tree and against the turn before.

use crate::credit::short;
use crate::token_rewards::is_own;
use crate::{
    Credit, CreditBatch, CreditError, CreditRule, Differs, Needs, Note, Properties, Tree, TreeNode, ZeroSum,
};
use merit_core::{About, Component, Refusal, Sample, constant, stats};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With `L(n)` the leaves below a turn `n`, which are the finished episodes that begin so, and `V(n)` their mean reward:
///   `A(n) = ((V(n) − V(root)) + (V(n) − V(parent))) / sqrt(|L(n)|)`, or one of the two parts, on each token of the turn.
/// Episodes of a group are one tree: those that begin with the same tokens share these turns, and a shared turn is trained once, in the
/// episode that owns it. A branch that was left, or whose outcome is not valid, is no leaf: it is in no mean and gets nothing. Where all
/// leaves of a tree earn the same, the advantage is 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeMonteCarlo {
    /// What a turn is held against.
    pub part: Part,
    /// Continuations from every turn that the values are compared with. Nothing is learned from them; they are charged as probe steps, and
    /// told as `value_correlation`, `root_value` (by the leaves) and `root_value_probed` (by continuations from the opening, which no choice of
    /// branches has touched). 0: none.
    #[serde(skip_serializing_if = "is_zero")]
    pub reference: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What a turn is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The tree and the turn before, added.
    #[default]
    Sum,
    /// The turn before: what the turn itself has changed.
    Local,
    /// The tree.
    Global,
}

impl Component for TreeMonteCarlo {
    const ABOUT: About = About {
        name: "tree-monte-carlo",
        summary: "What each turn of a tree is worth by the leaves below it, against the tree and the turn before.",
        paper: "TreePS-RAG: Tree-based Process Supervision for Reinforcement Learning in Agentic RAG (2026)",
    };
    const EXAMPLE: &'static str = "part = \"sum\"\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.reference <= 64, "reference", self.reference, "at most 64, each a whole rollout")
    }
}

impl CreditRule for TreeMonteCarlo {
    fn properties(&self) -> Properties {
        let learns_from = &[Differs::Rewards, Differs::Branches];
        Properties { zero_sum: ZeroSum::Nothing, pay_stays: false, learns_from, ..Properties::by_turn() }
    }

    fn needs(&self) -> Needs {
        Needs { probes_per_turn: self.reference, ..Needs::default() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<Sample>) = batch.samples()?.into_iter().unzip();
        let grown = Grown::of(batch)?;
        let (mut advantages, mut notes) = (Vec::new(), Vec::new());
        for (at, scored) in episodes.iter().enumerate() {
            if scored.reward().is_none() {
                advantages.push(Vec::new());
                notes.push(Note::excluded(scored.outcome()));
                continue;
            }
            let (root, worth) = (grown.root(at), grown.worth(at));
            let before = std::iter::once(root).chain(worth.iter().copied());
            let judged = worth.iter().zip(before).map(|(own, parent)| self.advantage(*own, parent, root));
            let judged: Vec<f64> = judged.collect();
            notes.push(Note::new(lines(root, &worth, &judged)));
            advantages.push(judged);
        }
        let numbers = grown.measured(batch, &samples);
        Ok(Credit { numbers, ..batch.per_turn(samples, &advantages, notes)? })
    }
}

impl TreeMonteCarlo {
    fn advantage(&self, own: Worth, parent: Worth, root: Worth) -> f64 {
        if root.constant {
            return 0.0;
        }
        let (global, local) = (own.mean - root.mean, own.mean - parent.mean);
        let against = match self.part {
            Part::Sum => global + local,
            Part::Local => local,
            Part::Global => global,
        };
        against / (own.leaves as f64).sqrt()
    }
}

/// What the leaves below a turn earned.
#[derive(Debug, Clone, Copy)]
struct Worth {
    mean: f64,
    leaves: usize,
    constant: bool,
}

impl Worth {
    fn of(node: &TreeNode) -> Self {
        Self { mean: node.mean(), leaves: node.leaves.len().max(1), constant: constant(&node.leaves) }
    }
}

/// The trees of a batch, and the place of every episode in them.
struct Grown {
    trees: Vec<Tree>,
    /// The group of each episode, and its place there.
    places: Vec<(usize, usize)>,
}

impl Grown {
    fn of(batch: &CreditBatch<'_>) -> Result<Self, CreditError> {
        let trees = (0..batch.groups.len()).map(|group| batch.tree(group)).collect::<Result<_, _>>()?;
        let sizes = batch.groups.iter().map(|group| group.members().len()).enumerate();
        let places = sizes.flat_map(|(group, size)| (0..size).map(move |member| (group, member))).collect();
        Ok(Self { trees, places })
    }

    fn root(&self, episode: usize) -> Worth {
        Worth::of(self.trees[self.places[episode].0].root())
    }

    /// What each turn of an episode is worth.
    fn worth(&self, episode: usize) -> Vec<Worth> {
        let (group, member) = self.places[episode];
        self.trees[group].path(member).map(Worth::of).collect()
    }

    /// How the values agree with continuations, where there are any: over turns that belong to their episode and are not its last.
    fn measured(&self, batch: &CreditBatch<'_>, samples: &[Sample]) -> Vec<(&'static str, f64)> {
        let (mut by_leaves, mut by_probes) = (Vec::new(), Vec::new());
        let (mut roots, mut roots_probed) = (Vec::new(), Vec::new());
        let valid = samples.iter().enumerate().filter(|(_, sample)| sample.reward.is_some());
        for (at, sample) in valid.filter(|_| !batch.probes.is_empty()) {
            let (worth, probed) = (self.worth(at), batch.values_of(&sample.episode, sample.turns.len()));
            roots.extend(probed.first().map(|_| self.root(at).mean));
            roots_probed.extend(probed.first().copied().flatten());
            for (turn, value) in probed.iter().enumerate().skip(1) {
                if let Some(value) = value.filter(|_| is_own(sample, turn - 1)) {
                    by_leaves.push(worth[turn - 1].mean);
                    by_probes.push(value);
                }
            }
        }
        // Where one of them does not vary, nothing goes together.
        let correlation =
            stats::correlation(&by_leaves, &by_probes).or((!batch.probes.is_empty()).then_some(0.0));
        let numbers = [
            ("value_correlation", correlation),
            ("root_value", stats::mean(&roots)),
            ("root_value_probed", stats::mean(&roots_probed)),
        ];
        numbers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn lines(root: Worth, worth: &[Worth], advantages: &[f64]) -> Vec<String> {
    let mut before = root;
    let head = format!("root: {} leaves, worth {}", root.leaves, short(root.mean));
    let turns = worth.iter().zip(advantages).enumerate().map(|(turn, (own, advantage))| {
        let [mean, parent, advantage] = [own.mean, before.mean, *advantage].map(short);
        before = *own;
        let leaves = own.leaves;
        format!("turn {turn}: {leaves} leaves, worth {mean}, {parent} before it; advantage {advantage}")
    });
    std::iter::once(head).chain(turns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use merit_core::{
        Action, End, Episode, EpisodeId, Group, Known, PolicyVersion, Provenance, Reward, Role, Score,
        ScoredEpisode, Segment, Task, TokenId, Transcript, Turn,
    };
    use std::sync::Arc;

    /// An episode that says these tokens, one a turn, of which the first `repeated` are another's. No reward: it was left.
    fn path(branch: u32, said: &[u32], repeated: usize, reward: Option<f64>) -> ScoredEpisode {
        let segment = |role: Role, turn: usize, token: u32, provenance: Provenance| Segment {
            role,
            provenance,
            turn: turn as u32,
            tokens: vec![TokenId(token)],
            logprobs: if role == Role::Policy { vec![-1.0] } else { Vec::new() },
            values: Vec::new(),
            policy_version: (role == Role::Policy).then_some(PolicyVersion(0)),
            text: String::new(),
            known: Known::Full,
        };
        let mut segments = vec![segment(Role::User, 0, 0, Provenance::Sampled)];
        for (turn, token) in said.iter().enumerate() {
            let provenance = if turn < repeated { Provenance::Replayed } else { Provenance::Sampled };
            segments.push(segment(Role::Policy, turn, *token, provenance));
            segments.push(segment(Role::Environment, turn, 99, provenance));
        }
        let id = EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch };
        let end = if reward.is_some() { End::Answered } else { End::Left };
        let turns = (0..said.len() as u32).map(|at| Turn::new(at, Action::Say { text: String::new() }));
        let episode = Episode::new(id, Task::new("tree", "tree/1"), end)
            .with_transcript(Transcript::try_from(segments).expect("one log-probability for each token"))
            .with_turns(turns.collect());
        let score = Score::new(Reward::Value { value: reward.unwrap_or(0.0) });
        ScoredEpisode { episode: Arc::new(episode), score: Some(score.with_solved(Some(false))) }
    }

    /// Advantages by turn; 0 where nothing is trained.
    fn by_turn(part: Part, members: Vec<ScoredEpisode>) -> Vec<Vec<f64>> {
        let groups = [Group::assemble(members).expect("one task")];
        let credit =
            TreeMonteCarlo { part, reference: 0 }.assign(&CreditBatch::new(&groups)).expect("whole episodes");
        let turns = |sample: &Sample| {
            let advantages = sample.advantages.clone().unwrap_or_default();
            sample.turns.iter().map(|range| f64::from(advantages[range.start])).collect()
        };
        credit.samples.iter().map(turns).collect()
    }

    /// Two first turns, 1 and 2. Behind 1: 3, which answers 5 (right) or 6 (wrong), and 4, which was left. Behind 2: 7, wrong.
    fn members() -> Vec<ScoredEpisode> {
        vec![
            path(0, &[1, 3, 5], 0, Some(1.0)),
            path(1, &[1, 3, 6], 2, Some(0.0)),
            path(2, &[1, 4], 1, None),
            path(3, &[2, 7], 0, Some(0.0)),
        ]
    }

    fn near(got: Vec<Vec<f64>>, want: &[&[f64]]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert_eq!(got.len(), want.len(), "{got:?}");
            for (a, b) in got.iter().zip(*want) {
                assert!((a - b).abs() < 1e-6, "{got:?}, not {want:?}");
            }
        }
    }

    #[test]
    fn the_cards_tree_by_hand() {
        // Leaves: 1, 0, 0; the root is worth 1/3. V(1) = V(1,3) = 1/2 with two leaves, V(1,3,5) = 1, V(1,3,6) = 0, V(2) = V(2,7) = 0.
        // Sum: turn 1 of the first: (1/6 + 1/6) / sqrt 2 = 0.235702; turn 3: (1/6 + 0) / sqrt 2 = 0.117851; 5: 2/3 + 1/2 = 7/6;
        // 6: −1/3 − 1/2 = −5/6; 2: −1/3 − 1/3 = −2/3; 7: −1/3.
        let root2 = 2.0_f64.sqrt();
        let want: [&[f64]; 4] = [
            &[1.0 / 3.0 / root2, 1.0 / 6.0 / root2, 7.0 / 6.0],
            &[0.0, 0.0, -5.0 / 6.0],
            &[0.0, 0.0],
            &[-2.0 / 3.0, -1.0 / 3.0],
        ];
        near(by_turn(Part::Sum, members()), &want);
    }

    #[test]
    fn each_part_alone() {
        let root2 = 2.0_f64.sqrt();
        let local: [&[f64]; 4] =
            [&[1.0 / 6.0 / root2, 0.0, 0.5], &[0.0, 0.0, -0.5], &[0.0, 0.0], &[-1.0 / 3.0, 0.0]];
        near(by_turn(Part::Local, members()), &local);
        let global: [&[f64]; 4] = [
            &[1.0 / 6.0 / root2, 1.0 / 6.0 / root2, 2.0 / 3.0],
            &[0.0, 0.0, -1.0 / 3.0],
            &[0.0, 0.0],
            &[-1.0 / 3.0, -1.0 / 3.0],
        ];
        near(by_turn(Part::Global, members()), &global);
    }

    #[test]
    fn a_branch_that_was_left_is_no_leaf_of_reward_0() {
        // Without the branch that was left, everything is the same.
        let without: Vec<ScoredEpisode> =
            members().into_iter().filter(|one| one.episode.id.branch != 2).collect();
        let with = by_turn(Part::Sum, members());
        let kept: Vec<Vec<f64>> = [0, 1, 3].iter().map(|at| with[*at].clone()).collect();
        assert_eq!(by_turn(Part::Sum, without), kept);
    }

    #[test]
    fn values_are_held_against_continuations_and_nothing_is_learned_from_those() {
        let groups = [Group::assemble(members()).expect("one task")];
        // Behind the first turn 1: worth 1/2 by its leaves, 1/2 by continuations; behind 1, 3: 1/2 and 1; behind 2: 0 and 0.
        let probe = |branch: u32, turn: u32, rewards: &[f64]| Probe {
            episode: EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch },
            turn,
            continuations: rewards.iter().map(|reward| path(9, &[1], 0, Some(*reward))).collect(),
        };
        let probes = [
            probe(0, 0, &[1.0, 0.0]),
            probe(0, 1, &[1.0, 0.0]),
            probe(0, 2, &[1.0, 1.0]),
            probe(1, 1, &[0.0, 0.0]),
            probe(3, 1, &[0.0, 0.0]),
        ];
        let rule = TreeMonteCarlo { reference: 2, ..TreeMonteCarlo::default() };
        let credit = rule.assign(&CreditBatch::new(&groups).with_probes(&probes)).expect("whole episodes");
        let number =
            |name: &str| credit.numbers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        // (1/2, 1/2), (1/2, 1), (0, 0): the turn of the second episode is the first one's. Means 1/3 and 1/2; the products sum to 1/4, the
        // squares to 1/6 and 1/2: 1/4 / sqrt(1/12) = 0.866025.
        assert!(
            number("value_correlation").is_some_and(|value| (value - 0.866_025_4).abs() < 1e-6),
            "{:?}",
            credit.numbers
        );
        assert_eq!(number("root_value_probed"), Some(0.5));
        let without = TreeMonteCarlo::default().assign(&CreditBatch::new(&groups)).expect("whole episodes");
        assert!(without.numbers.is_empty());
        assert_eq!(credit.samples[0].advantages, without.samples[0].advantages);
    }

    #[test]
    fn a_shared_turn_is_trained_once_and_a_tree_of_equal_leaves_teaches_nothing() {
        let groups = [Group::assemble(members()).expect("one task")];
        let credit = TreeMonteCarlo::default().assign(&CreditBatch::new(&groups)).expect("whole episodes");
        // Turns 1, 3, 5 in the first episode, 6 in the second, none of the one that was left, 2 and 7 in the last.
        let trained: Vec<usize> = credit.samples.iter().map(Sample::trainable).collect();
        assert_eq!(trained, [3, 1, 0, 2]);
        let equal = vec![path(0, &[1, 3], 0, Some(0.3)), path(1, &[1, 4], 1, Some(0.1 + 0.2))];
        assert_eq!(by_turn(Part::Sum, equal), [[0.0, 0.0], [0.0, 0.0]]);
    }
}
