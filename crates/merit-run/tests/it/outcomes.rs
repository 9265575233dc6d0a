//! Outcome typing from end to end: each way an episode can end is injected into a real training step and followed through
//! reward, mask, baseline, credit, update, metrics and the record on disk.

use crate::staged::Deed::{self, Babble, Call, Right, ToolBreaks, Word, WorldBreaks, WorldPanics, Wrong};
use crate::staged::{Step, Updated, grouped};
use merit_core::conformance::{check_episode, check_sample};
use merit_core::{Boundary, End, Limit, Outcome, Sample, ScoredEpisode};
use merit_run::metrics;
use merit_store::{EpisodeFilter, RunFolder, RunInfo};

/// The member under test, in the first group; the second group has nothing the matter with it.
const MEMBER: usize = 2;

/// A step in which the member did `deed`, and the same step without that member.
struct Followed {
    step: Step,
    scored: Vec<ScoredEpisode>,
    with: Updated,
    without: Updated,
}

fn follow(deed: Deed, changes: &[(&str, &str)]) -> Followed {
    let deeds: [&[Deed]; 2] = [&[Right, Wrong, deed, Wrong], &[Wrong, Right, Right, Wrong]];
    let mut step = Step::new(changes);
    let plans = step.plans(&deeds);
    let scored = step.play(plans.clone(), &deeds);
    let fewer = plans.into_iter().enumerate().filter(|(at, _)| *at != MEMBER).map(|(_, plan)| plan);
    let alone = step.play(fewer.collect(), &deeds);
    must_be_the_same_episodes(&others(&scored), &alone);
    let with = step.update(&grouped(&scored));
    let without = step.update(&grouped(&alone));
    Followed { step, scored, with, without }
}

fn others(scored: &[ScoredEpisode]) -> Vec<ScoredEpisode> {
    scored.iter().enumerate().filter(|(at, _)| *at != MEMBER).map(|(_, s)| s.clone()).collect()
}

fn must_be_the_same_episodes(one: &[ScoredEpisode], two: &[ScoredEpisode]) {
    let hashes = |list: &[ScoredEpisode]| -> Vec<(String, String)> {
        list.iter().map(|s| (s.episode.id.to_string(), s.episode.content_hash())).collect()
    };
    assert_eq!(hashes(one), hashes(two), "a member changed what its siblings did");
}

impl Followed {
    fn member(&self) -> &ScoredEpisode {
        &self.scored[MEMBER]
    }

    fn sample(&self) -> &Sample {
        &self.with.credit.samples[MEMBER]
    }

    /// Credit of everybody else, in bits.
    fn siblings(&self, updated: &Updated, skip: Option<usize>) -> Vec<Vec<u32>> {
        let samples = updated.credit.samples.iter().enumerate();
        let credit =
            |sample: &Sample| sample.advantages.as_ref().unwrap().iter().map(|a| a.to_bits()).collect();
        samples.filter(|(at, _)| Some(*at) != skip).map(|(_, sample)| credit(sample)).collect()
    }

    fn metric(&self, name: &str) -> f64 {
        metrics::of_groups(&grouped(&self.scored))[name]
    }

    /// What holds for every outcome: the record keeps its rules, and is the same when it is read back.
    fn must_be_recorded(&self, outcome: Outcome) {
        assert_eq!(self.member().outcome(), outcome);
        for (scored, sample) in self.scored.iter().zip(&self.with.credit.samples) {
            assert_eq!(check_episode(&scored.episode), Vec::<String>::new());
            assert_eq!(check_sample(scored, sample), Vec::<String>::new());
        }
        let dir = tempfile::tempdir().unwrap();
        let info = RunInfo {
            recipe: "small".into(),
            recipe_hash: String::new(),
            seed: 3,
            version: "0".into(),
            started_ms: 0,
        };
        let folder = RunFolder::create(&dir.path().join("run"), "", &info).unwrap();
        folder.record_episodes(&self.scored).unwrap();
        let row = folder.episode_rows(&EpisodeFilter::default()).unwrap().swap_remove(MEMBER);
        assert_eq!((row.outcome, row.reward), (outcome, self.member().reward()));
        let back = folder.episode(&self.member().episode.id).unwrap().unwrap().scored;
        assert_eq!((&back.episode, &back.score), (&self.member().episode, &self.member().score));
    }
}

/// An outcome that is no verdict on the policy: nobody notices that the member was there, except the count of its kind.
fn check_left_out(deed: Deed, changes: &[(&str, &str)], outcome: Outcome) -> Followed {
    let followed = follow(deed, changes);
    followed.must_be_recorded(outcome);
    assert_eq!(followed.member().reward(), None);
    assert_eq!(followed.sample().trainable(), 0);
    assert!(!followed.member().episode.transcript.mask().is_empty());
    assert!(followed.sample().advantages.iter().flatten().all(|a| *a == 0.0));
    let Followed { with, without, .. } = &followed;
    assert_eq!(followed.siblings(with, Some(MEMBER)), followed.siblings(without, None));
    assert_eq!(with.credit.report.excluded, [(outcome, 1)].into());
    assert!(with.weights == without.weights, "the update differs by a member that does not count");
    assert!(with.weights != followed.step.before(), "the update did nothing, so nothing was shown");
    assert_eq!((with.report.samples_masked, without.report.samples_masked), (1, 0));
    assert_eq!(with.report.samples_used, without.report.samples_used);
    // 3 of the 7 that count gave the right answer, and are paid 1 for it.
    assert_eq!(followed.metric("success"), 3.0 / 7.0);
    assert_eq!(followed.metric("reward"), 3.0 / 7.0);
    assert_eq!(followed.metric(&format!("outcome/{}", outcome.name())), 1.0);
    followed
}

/// An outcome that is the policy's own doing: it is paid, trained, and moves the baseline of its siblings.
fn check_counted(deed: Deed, outcome: Outcome) -> Followed {
    let followed = follow(deed, &[]);
    followed.must_be_recorded(outcome);
    assert_eq!(followed.member().reward(), Some(0.0));
    assert_eq!(followed.sample().trainable() as u64, followed.member().episode.cost.policy_tokens);
    assert!(followed.sample().trainable() > 0);
    // Rewards 1, 0, 0, 0: mean 1/4, deviation 1/2. Without the member 1, 0, 0: mean 1/3, deviation 1/sqrt(3).
    let advantage = |updated: &Updated, at: usize| {
        let sample = &updated.credit.samples[at];
        sample.advantages.as_ref().unwrap()[sample.mask.iter().position(|&m| m).unwrap()]
    };
    let near = |a: f32, b: f64| assert!((f64::from(a) - b).abs() < 1e-5, "{a} is not {b}");
    near(advantage(&followed.with, 0), 0.75 / 0.5);
    near(advantage(&followed.with, MEMBER), -0.25 / 0.5);
    near(advantage(&followed.without, 0), 2.0 / 3.0 * 3_f64.sqrt());
    assert!(followed.with.weights != followed.without.weights, "the member was not trained on");
    assert_eq!((followed.with.report.samples_used, followed.with.report.samples_masked), (8, 0));
    assert_eq!(followed.metric("success"), 3.0 / 8.0);
    assert_eq!(followed.with.credit.report.excluded, [].into());
    followed
}

#[test]
fn a_wrong_answer_is_paid_trained_and_counts_as_a_failure() {
    let followed = check_counted(Wrong, Outcome::PolicyWrong);
    assert_eq!(followed.member().episode.end, End::Answered);
    assert_eq!(followed.metric("outcome/policy wrong"), 5.0);
}

#[test]
fn a_policy_that_runs_out_of_turns_is_paid_trained_and_counts_as_a_failure() {
    let followed = check_counted(Babble, Outcome::PolicyTimedOut);
    assert_eq!(followed.member().episode.end, End::Truncated { limit: Limit::Turns });
    assert!(followed.sample().truncated);
    assert_eq!(followed.metric("outcome/policy timed out"), 1.0);
    assert_eq!(followed.metric("outcome/policy wrong"), 4.0);
}

#[test]
fn output_that_cannot_be_scored_is_left_out_when_the_reward_says_so() {
    let unscorable = [("reward.of", "[{ type = 'exact-answer', on_parse_failure = 'unscorable' }]")];
    let followed = check_left_out(Word, &unscorable, Outcome::Unscorable);
    assert_eq!(followed.metric("parse_failures"), 1.0);
}

#[test]
fn a_grader_that_breaks_leaves_its_episode_out() {
    // Two terms whose sum no number holds, and which apply to nobody but the member that makes a call.
    let breaking = "[{ type = 'exact-answer' }, { type = 'tool-success', name = 'a', weight = 1e308 }, \
                    { type = 'tool-success', name = 'b', weight = 1e308 }]";
    let followed = check_left_out(Call, &[("reward.of", breaking)], Outcome::GraderFailed);
    let why = format!("{:?}", followed.member().score.as_ref().unwrap().reward);
    assert!(why.contains("it came to inf"), "{why}");
}

#[test]
fn an_episode_that_nobody_scored_is_the_graders_failure() {
    let mut followed = follow(Wrong, &[]);
    followed.scored[MEMBER].score = None;
    assert_eq!(followed.member().outcome(), Outcome::GraderFailed);
    let with = followed.step.update(&grouped(&followed.scored));
    assert!(with.weights == followed.without.weights);
}

/// The same episode as a branch that nobody went on with.
fn left(followed: &mut Followed) {
    let scored = &mut followed.scored[MEMBER];
    let mut episode = merit_core::Episode::clone(&scored.episode);
    episode.end = End::Left;
    scored.episode = std::sync::Arc::new(episode);
}

#[test]
fn a_branch_that_was_left_is_in_no_rate_and_no_mean_and_trains_nothing() {
    let mut followed = follow(Wrong, &[]);
    left(&mut followed);
    followed.with = followed.step.update(&grouped(&followed.scored));
    followed.must_be_recorded(Outcome::Left);
    assert_eq!((followed.member().reward(), followed.sample().trainable()), (None, 0));
    assert!(followed.with.weights == followed.without.weights, "a branch that was left moved the update");
    assert_eq!(followed.with.credit.report.excluded, [(Outcome::Left, 1)].into());
    assert_eq!(followed.metric("success"), 3.0 / 7.0);
    assert_eq!(followed.metric("outcome/left"), 1.0);
}

#[test]
fn rules_that_compare_turns_learn_from_a_branch_that_was_left() {
    for rule in ["{ type = 'turn-groups', min_rows = 2 }", "{ type = 'keyed-groups' }"] {
        let mut followed = follow(Wrong, &[("credit", rule)]);
        left(&mut followed);
        followed.with = followed.step.update(&grouped(&followed.scored));
        followed.must_be_recorded(Outcome::Left);
        assert_eq!(followed.member().reward(), None);
        assert!(followed.sample().trainable() > 0, "{rule}");
        assert!(followed.with.weights != followed.without.weights, "{rule}");
        assert_eq!(followed.with.credit.report.excluded, [].into());
        assert_eq!(followed.metric("success"), 3.0 / 7.0);
    }
}

fn failed_at(followed: &Followed) -> Boundary {
    assert!(followed.member().score.is_none(), "a broken episode was scored");
    match &followed.member().episode.end {
        End::Failed { fault } => fault.boundary,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_world_that_breaks_leaves_its_episode_out() {
    let followed = check_left_out(WorldBreaks, &[], Outcome::InfrastructureFailed);
    assert_eq!(failed_at(&followed), Boundary::Environment);
}

#[test]
fn a_world_that_panics_leaves_its_episode_out() {
    let followed = check_left_out(WorldPanics, &[], Outcome::InfrastructureFailed);
    assert_eq!(failed_at(&followed), Boundary::Environment);
}

#[test]
fn a_tool_that_breaks_leaves_its_episode_out() {
    let followed = check_left_out(ToolBreaks, &[], Outcome::InfrastructureFailed);
    assert_eq!(failed_at(&followed), Boundary::Tool);
}

#[test]
fn every_credit_rule_leaves_a_broken_episode_out_of_the_update() {
    for rule in ["{ type = 'dr-grpo' }", "{ type = 'rloo' }", "{ type = 'reinforce-plus-plus' }"] {
        check_left_out(WorldBreaks, &[("credit", rule)], Outcome::InfrastructureFailed);
    }
}

#[test]
fn a_batch_in_which_everything_broke_changes_nothing() {
    let deeds: [&[Deed]; 2] = [&[WorldBreaks; 2], &[ToolBreaks; 2]];
    let mut step = Step::new(&[]);
    let scored = step.play(step.plans(&deeds), &deeds);
    let updated = step.update(&grouped(&scored));
    assert_eq!(updated.report.optimiser_steps, 0);
    assert!(updated.weights == step.before());
    let metrics = metrics::of_groups(&grouped(&scored));
    assert_eq!(metrics["outcome/infrastructure failed"], 4.0);
    assert_eq!(metrics.get("success"), None, "nothing counted, so there is no success rate, not even 0");
}
