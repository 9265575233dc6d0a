//! Learning from groups that grow turn by turn.

use crate::whole::{Making, small, train};
use merit_core::{End, Outcome, Phase, Provenance, Role};
use merit_run::{Recipe, RunError};
use merit_store::EpisodeFilter;

/// Two ways on from each of two branches.
pub(crate) const GROWN: [(&str, &str); 3] = [
    ("rollout.grow", "{branch=2,width=2,depth=3,keep={type='random'}}"),
    ("credit", "{type='tree-monte-carlo'}"),
    ("rollout.max_turns", "5"),
];

fn and<'a>(more: &[(&'a str, &'a str)]) -> Recipe {
    small(&[&GROWN[..], more].concat())
}

#[test]
fn trees_are_learned_from_with_the_probabilities_that_they_were_sampled_by() {
    let (_dir, made) = train(&and(&[]));
    let gaps = made.folder.metric(Phase::train(), "logprob_gap").unwrap();
    assert!(!gaps.is_empty() && gaps.iter().all(|(_, gap)| *gap < 1e-3), "{gaps:?}");
    let kept = made.folder.metric(Phase::train(), "branches_kept").unwrap();
    assert!(kept.iter().all(|(_, kept)| (1.0..=2.0).contains(kept)), "{kept:?}");
    let played = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    let left = || played.iter().filter(|one| one.scored.episode.end == End::Left);
    assert!(left().count() > 0, "nothing was left");
    assert!(left().all(|one| one.scored.outcome() == Outcome::Left && one.scored.reward().is_none()));
    let credit =
        |one: &merit_store::StoredEpisode| one.credit.as_ref().map(|credit| credit.advantages.clone());
    assert!(left().all(|one| credit(one).is_some_and(|credit| credit.iter().all(|a| *a == 0.0))));
    // Tokens count once: what the budget has seen is what was sampled.
    let own = |s: &&merit_core::Segment| s.role == Role::Policy && s.provenance == Provenance::Sampled;
    let sampled = |one: &merit_store::StoredEpisode| -> u64 {
        one.scored.episode.transcript.segments().iter().filter(own).map(|s| s.tokens.len() as u64).sum()
    };
    let cost = made.folder.costs().unwrap()[&Phase::train()];
    assert_eq!(cost.policy_tokens, played.iter().map(sampled).sum::<u64>());
}

#[test]
fn a_killed_run_grows_the_same_trees() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = and(&[("budget.checkpoint_every", "1")]);
    let whole = Making::at(dir.path().join("whole")).train(&recipe);
    let learning = whole.events.iter().position(|event| matches!(event, merit_run::Event::Step { .. }));
    let cut = Making::at(dir.path().join("cut"));
    assert!(cut.kill(&recipe, learning.unwrap() + 2));
    cut.train(&recipe).must_be(&whole);
}

#[test]
fn what_the_world_does_not_tell_is_refused_when_it_is_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    for (grow, want) in [
        (
            "{branch=2,width=1,depth=3,keep={type='best',info='nosuch'}}",
            "[rollout] `rollout.grow.keep.info` is `nosuch`, which no turn was told",
        ),
        (
            "{branch=2,width=1,depth=3,keep={type='distinct'},evidence={at='/state/nosuch',alike=0.8}}",
            "[rollout] `rollout.grow.evidence.at` is `/state/nosuch`, and no state has that",
        ),
    ] {
        let recipe = and(&[("rollout.grow", grow)]);
        let error =
            Making::at(dir.path().join(want.len().to_string())).drive(&recipe, &mut |_| {}).unwrap_err();
        assert!(matches!(error, RunError::Grow(_)), "{error}");
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn what_reads_whole_episodes_is_refused_beside_a_tree() {
    let refused = |more: &[(&str, &str)]| {
        let changes: Vec<(String, String)> =
            GROWN.iter().chain(more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let recipe = Recipe::parse("small.toml", crate::staged::SMALL).unwrap();
        recipe.with(&changes).unwrap_err().to_string()
    };
    for (key, value, want) in [
        (
            "credit",
            "{type='grpo'}",
            "credit rule `grpo` compares whole episodes; use `turn-groups`, `keyed-groups`, `tree-monte-carlo`",
        ),
        ("credit", "{type='branch-monte-carlo'}", "credit rule `branch-monte-carlo` compares whole episodes"),
        ("learn.objective", "{type='gspo'}", "objective `gspo` has a loss of whole episodes"),
        ("rollout.tree", "{roots=1}", "leave `tree`, `rollback` and `window` out"),
        ("rollout.rollback", "{retries=1}", "leave `tree`, `rollback` and `window` out"),
        ("rollout.window", "{turns=1}", "leave `tree`, `rollback` and `window` out"),
        (
            "reward",
            "{type='normalised-sum',of=[{type='exact-answer'},{type='format'}]}",
            "the reward compares episodes with others of their step",
        ),
    ] {
        let error = refused(&[(key, value)]);
        assert!(error.contains(want), "{error}\nhas not: {want}");
    }
}
