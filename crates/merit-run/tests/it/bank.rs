//! Turns of good episodes that are shown before tasks like theirs.

use crate::whole::{Making, small};
use merit_core::{Phase, When};

const ALL: &str = "{ stored_at = -10.0, longest = 200, demonstrations = 0.5 }";

#[test]
fn every_group_reads_the_same_turns_of_earlier_steps_and_a_killed_run_goes_on_alike() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[
        ("bank", ALL),
        ("model.context", "768"),
        ("budget.steps", "3"),
        ("budget.checkpoint_every", "1"),
    ]);
    let whole = Making::at(dir.path().join("whole")).train(&recipe);
    for ((step, group), told) in whole.hints(Phase::train()) {
        assert_eq!(told.len(), 1, "step {step}, group {group}: members read different turns");
        let told = told.into_iter().next().unwrap();
        assert_eq!(told.len(), if step == 0 { 0 } else { 2 }, "step {step}, group {group}");
        assert!(told.iter().all(|hint| hint.matches("like ").count() == 1), "a hint in a hint: {told:?}");
    }
    let before = whole.hints(Phase::eval(When::Before));
    assert!(before.values().flatten().all(Vec::is_empty), "nothing was kept yet");
    let after = whole.hints(Phase::eval(When::After));
    assert!(after.values().flatten().all(|told| told.len() == 2));
    let kept: Vec<f64> =
        whole.folder.metric(Phase::train(), "bank_turns").unwrap().into_iter().map(|(_, n)| n).collect();
    assert!(kept[0] == 0.0 && kept[1] > 0.0 && kept[2] >= kept[1], "{kept:?}");
    let learning = whole.events.iter().position(|event| matches!(event, merit_run::Event::Step { .. }));
    let cut = Making::at(dir.path().join("cut"));
    assert!(cut.kill(&recipe, learning.unwrap() + 2));
    cut.train(&recipe).must_be(&whole);
}

#[test]
fn a_bank_that_cannot_work_is_refused_and_a_recipe_without_one_keeps_its_hash() {
    assert!(!small(&[]).to_toml().contains("bank"));
    let check = |bank: &str, want: &str| {
        let got = small(&[]).with(&[("bank".to_owned(), bank.to_owned())]).unwrap_err().to_string();
        assert!(got.contains(want), "{got}");
    };
    check("{ keep = 0 }", "`bank.keep` is 0");
    check("{ keep = 3, most = 2 }", "only 2 turns are looked at");
    check("{ demonstrations = 2.0 }", "a share between 0 and 1");
    check("{ novel = 2.0 }", "`bank.novel`");
    check("{ rank = 'taste' }", "taste");
}
