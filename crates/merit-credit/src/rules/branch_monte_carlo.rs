//! Branch Monte Carlo: a turn is worth what it changes in the mean reward of continuations.

use crate::credit::short;
use crate::{Credit, CreditBatch, CreditError, CreditRule, Differs, Grain, Needs, Note, Properties};
use merit_core::{About, Component, Refusal, ScoredEpisode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With `V(s_t)` the mean reward of `continuations` rollouts from the state before turn `t`:
///   `A_t = V(s_{t+1}) − V(s_t)` for all turns but the last, `A_T = r − V(s_T)`, on each token of the turn.
/// Continuations are scored as whole episodes, so that `V` is comparable along the episode. A continuation whose outcome is
/// not valid is left out; a turn at whose either end none is left gets 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BranchMonteCarlo {
    /// Rollouts from every turn of every episode. They are charged as probe steps.
    pub continuations: u32,
}

impl Default for BranchMonteCarlo {
    fn default() -> Self {
        Self { continuations: 4 }
    }
}

impl Component for BranchMonteCarlo {
    const ABOUT: About = About {
        name: "branch-monte-carlo",
        summary: "What each turn changes in the mean reward of continuations sampled from every turn.",
        paper: "Kazemnejad et al., VinePPO, arXiv:2410.01679",
    };
    const EXAMPLE: &'static str = "continuations = 4\n";

    fn check(&self) -> Result<(), Refusal> {
        let most = 64;
        let fine = (1..=most).contains(&self.continuations);
        Refusal::unless(fine, "continuations", self.continuations, "between 1 and 64, each a whole rollout")
    }
}

impl CreditRule for BranchMonteCarlo {
    fn properties(&self) -> Properties {
        let learns_from = &[Differs::Rewards, Differs::Continuations];
        Properties { grain: Grain::Turn, learns_from, ..Properties::by_token() }
    }

    fn needs(&self) -> Needs {
        Needs { probes_per_turn: self.continuations, ..Needs::default() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (mut samples, mut advantages, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (scored, sample) in batch.samples()? {
            let Some(reward) = scored.reward() else {
                advantages.push(Vec::new());
                notes.push(Note::excluded(scored.outcome()));
                samples.push(sample);
                continue;
            };
            let values = values_after(batch, scored, sample.turns.len(), reward)?;
            let turns: Vec<(f64, String)> =
                values.windows(2).enumerate().map(|(turn, ends)| judge(turn, ends[0], ends[1])).collect();
            advantages.push(turns.iter().map(|(advantage, _)| *advantage).collect());
            notes.push(Note::new(turns.into_iter().map(|(_, words)| words)));
            samples.push(sample);
        }
        batch.per_turn(samples, &advantages, notes)
    }
}

/// What the states before every turn are worth, and at the end the reward.
fn values_after(
    batch: &CreditBatch<'_>,
    scored: &ScoredEpisode,
    turns: usize,
    reward: f64,
) -> Result<Vec<Option<f64>>, CreditError> {
    let id = &scored.episode.id;
    let probed = |turn: usize| batch.probes.iter().any(|p| p.episode == *id && p.turn as usize == turn);
    if let Some(turn) = (0..turns).find(|&turn| !probed(turn)) {
        let rule = BranchMonteCarlo::ABOUT.name;
        return Err(CreditError::MissingProbes { rule, episode: id.clone(), turn });
    }
    let mut values = batch.values_of(id, turns);
    values.push(Some(reward));
    Ok(values)
}

fn judge(turn: usize, before: Option<f64>, after: Option<f64>) -> (f64, String) {
    match (before, after) {
        (Some(before), Some(after)) => {
            let advantage = after - before;
            let [shown, before, after] = [advantage, before, after].map(short);
            (advantage, format!("turn {turn}: advantage {shown} = {after} after it − {before} before it"))
        }
        _ => (0.0, format!("turn {turn}: advantage 0, because no continuation at one of its ends is valid")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use crate::conformance::Sketch;
    use merit_core::{Group, Outcome};

    fn probe(group: &Group, turn: u32, rewards: &[Option<f64>]) -> Probe {
        let scored = |reward: &Option<f64>| {
            let outcome = if reward.is_some() { Outcome::PolicyWrong } else { Outcome::GraderFailed };
            Sketch::new(&[(1, 0)], outcome, reward.unwrap_or(9.0)).scored(0, 0)
        };
        let continuations = rewards.iter().map(scored).collect();
        Probe { episode: group.members()[0].episode.id.clone(), turn, continuations }
    }

    fn group() -> Group {
        let sketch = Sketch::new(&[(1, 1), (2, 1), (1, 0)], Outcome::Solved, 1.0);
        Sketch::group(&[sketch], 0).expect("one sketch makes a group")
    }

    #[test]
    fn a_turn_is_worth_what_it_changes() {
        // V: 1/4, 3/4, 1/2 (the failed grader is left out: (1 + 0)/2), then the reward 1.
        let groups = [group()];
        let probes = [
            probe(&groups[0], 0, &[Some(0.0), Some(0.0), Some(0.0), Some(1.0)]),
            probe(&groups[0], 1, &[Some(1.0), Some(1.0), Some(1.0), Some(0.0)]),
            probe(&groups[0], 2, &[Some(1.0), Some(0.0), None]),
        ];
        let batch = CreditBatch::new(&groups).with_probes(&probes);
        let credit = BranchMonteCarlo::default().assign(&batch).expect("every turn has its probes");
        // Two opening tokens; turn 0: 1 written, 1 shown; turn 1: 2 written, 1 shown; turn 2: 1 written.
        let want = [0.0, 0.0, 0.5, 0.0, -0.25, -0.25, 0.0, 0.5];
        assert_eq!(credit.samples[0].advantages.as_deref(), Some(&want[..]));
    }

    #[test]
    fn a_turn_without_probes_is_refused_and_one_without_valid_probes_gets_0() {
        let groups = [group()];
        let one = [probe(&groups[0], 0, &[Some(0.0)]), probe(&groups[0], 2, &[Some(0.0)])];
        let rule = BranchMonteCarlo::default();
        let refused =
            rule.assign(&CreditBatch::new(&groups).with_probes(&one)).expect_err("turn 1 has no probe");
        assert!(matches!(refused, CreditError::MissingProbes { turn: 1, .. }), "{refused}");
        let lost = [one[0].clone(), probe(&groups[0], 1, &[None]), one[1].clone()];
        let credit =
            rule.assign(&CreditBatch::new(&groups).with_probes(&lost)).expect("every turn has its probes");
        assert_eq!(
            credit.samples[0].advantages.as_deref(),
            Some(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0][..])
        );
    }
}
