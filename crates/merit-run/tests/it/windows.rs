//! A policy that sees the opening and the last turns only.

use crate::whole::{Making, small, small_and};
use merit_core::{Phase, Window};
use merit_store::EpisodeFilter;

#[test]
fn what_is_learned_is_what_was_in_sight() {
    let dir = tempfile::tempdir().unwrap();
    let changes =
        [("rollout.window", "{ turns = 1 }"), ("rollout.max_turns", "6"), ("evaluation.every", "1")];
    let made = Making::at(dir.path().join("run")).train(&small(&changes));
    let gaps = made.folder.metric(Phase::train(), "logprob_gap").unwrap();
    assert!(!gaps.is_empty() && gaps.iter().all(|(_, gap)| *gap < 1e-3), "{gaps:?}");
    let far = made.folder.metric(Phase::train(), "kl_start").unwrap();
    assert!(far.iter().all(|(_, kl)| kl.is_finite() && *kl < 1.0), "{far:?}");
    let played = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    assert!(
        played.iter().any(|one| one.scored.episode.turns.len() > 2),
        "no episode was longer than its window"
    );
    assert!(played.iter().all(|one| one.scored.episode.window == Some(Window { turns: 1 })));
}

#[test]
fn a_window_needs_no_room_for_the_whole_episode() {
    let dir = tempfile::tempdir().unwrap();
    let tight = [
        ("world.sizes", "[5]"),
        ("warm_start.skill", "1.0"),
        ("model.context", "130"),
        ("rollout.max_turns", "6"),
        ("rollout.max_turn_tokens", "24"),
    ];
    let recipe = small(&tight);
    let error = Making::at(dir.path().join("whole")).drive(&recipe, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("context holds 130"), "{error}");
    let recipe = small(&[&tight[..], &[("rollout.window", "{ turns = 1 }")]].concat());
    let made = Making::at(dir.path().join("run")).train(&recipe);
    let played = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    assert!(
        played.iter().any(|one| one.scored.episode.transcript.len() > 130),
        "every episode would have fitted"
    );
}

#[test]
fn a_window_that_cannot_be_is_refused() {
    for (text, want) in [
        ("[rollout.window]\nturns = 0\n", "window.turns"),
        ("[rollout.window]\nturn = 1\n", "turn"),
        ("[rollout.window]\nturns = 1\n[rollout.rollback]\nretries = 1\nmost = 1\n", "leave one of them out"),
        (
            "[[stages]]\ntype = 'learn'\nset = { rollout = { window = { turns = 1 } }, learn = { objective = { type = 'gspo' } } }\n",
            "objective `gspo` has one loss for a whole sequence",
        ),
        (
            "[rollout.window]\nturns = 1\n[[stages]]\ntype = 'collect'\ninto = 'tries'\ntasks = 4\nsamples = 2\n[[stages]]\ntype = \
             'make'\nfrom = 'tries'\ninto = 'two'\nkeep = 'pairs'\n[[stages]]\ntype = 'prefer'\nfrom = 'two'\nobjective = { type = 'dpo' \
             }\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3\n",
            "compares whole episodes",
        ),
    ] {
        let error = small_and(text).unwrap_err().to_string();
        assert!(error.contains(want), "{error}\nhas not: {want}");
    }
}
