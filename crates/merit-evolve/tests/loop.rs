//! The loop as a whole, on items whose answers are known: what is kept, what is pruned, what is never lost.
#![allow(clippy::unwrap_used)] // a test that unwraps says enough

use merit_core::gate::GateRule;
use merit_evolve::{
    Edit, Entry, EvolveError, EvolveSettings, Kind, Library, Part, Phase, Proposal, Proposer, Subject, evolve,
};
use serde_json::Value;

/// Ten items. `good-N` makes item N right, `bad` makes items 0 to 4 wrong, everything else is idle; `twin-a` or `twin-b` make item 9
/// right, either alone.
#[derive(Default)]
struct Items {
    calls: u64,
    breaks_at: Option<u64>,
}

impl Subject for Items {
    fn rightness(&mut self, library: &Library, _: Part) -> Result<Vec<f64>, String> {
        self.calls += 1;
        if self.breaks_at.is_some_and(|at| self.calls > at) {
            return Err("the server is gone".to_owned());
        }
        let has = |id: &str| library.get(id).is_some();
        let right = |item: usize| {
            let spoiled = has("bad") && item < 5;
            let known = has(&format!("good-{item}")) || (item == 9 && (has("twin-a") || has("twin-b")));
            f64::from(u8::from(known && !spoiled))
        };
        Ok((0..10).map(right).collect())
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}

/// Proposes what it was told, one list of names a round.
struct Told(Vec<Vec<&'static str>>);

impl Proposer for Told {
    fn propose(&mut self, _: &Library, _: &[f64], round: usize) -> Result<Vec<Proposal>, String> {
        let add = |id: &&str| {
            let edits = vec![Edit::Add { id: (*id).to_owned(), entry: entry() }];
            Proposal { edits, why: format!("told in round {round}") }
        };
        Ok(self.0.get(round).map(|names| names.iter().map(add).collect()).unwrap_or_default())
    }
}

fn entry() -> Entry {
    let made_by = "test".to_owned();
    Entry { kind: Kind::Skill, title: "t".into(), when: Vec::new(), body: Value::Null, weight: 1.0, made_by }
}

fn names(library: &Library) -> Vec<String> {
    library.entries().map(|(id, _)| id.to_owned()).collect()
}

fn run(told: Vec<Vec<&'static str>>, settings: &EvolveSettings) -> merit_evolve::Evolution {
    evolve(Library::default(), &mut Items::default(), &mut Told(told), settings, &mut |_, _| {}).unwrap()
}

#[test]
fn what_helps_is_kept_and_what_hurts_is_not() {
    let told = vec![vec!["good-0", "bad"], vec!["good-1"]];
    let evolution = run(told, &EvolveSettings::default());
    assert_eq!(names(&evolution.head), ["good-0", "good-1"]);
    let said: Vec<(Phase, Option<f64>, bool)> =
        evolution.changes.iter().map(|change| (change.phase, change.after, change.kept)).collect();
    assert_eq!(
        said,
        [
            (Phase::Baseline, Some(0.0), true),
            (Phase::Proposed, Some(0.1), true),
            (Phase::Proposed, Some(0.0), false),
            (Phase::Proposed, Some(0.2), true),
        ]
    );
}

#[test]
fn a_margin_lets_a_loss_through_and_the_best_version_is_kept_apart() {
    let settings = EvolveSettings { gate: GateRule::Margin { margin: 0.2 }, ..EvolveSettings::default() };
    let evolution = run(vec![vec!["good-0"], vec!["good-1"], vec!["bad"]], &settings);
    assert_eq!(names(&evolution.head), ["bad", "good-0", "good-1"]);
    assert_eq!(names(&evolution.best), ["good-0", "good-1"]);
    assert_eq!(evolution.best_version, 2);
}

#[test]
fn twins_that_are_idle_one_by_one_are_not_pruned_together() {
    let settings = EvolveSettings { prune_every: 3, ..EvolveSettings::default() };
    let evolution = run(vec![vec!["idle"], vec!["twin-a"], vec!["twin-b"]], &settings);
    // Each of the three is not missed alone. Without all of them item 9 is wrong, so that the deletion is halved.
    let pruned: Vec<(usize, bool)> = evolution
        .changes
        .iter()
        .filter(|change| change.phase == Phase::Pruned)
        .map(|change| (change.edits.len(), change.kept))
        .collect();
    assert_eq!(pruned, [(3, false), (1, true)]);
    assert_eq!(names(&evolution.head), ["twin-a", "twin-b"]);
    assert_eq!(evolution.changes.last().unwrap().after, Some(0.1));
}

#[test]
fn an_edit_that_does_not_fit_is_recorded_and_nothing_is_lost() {
    let evolution = run(vec![vec!["good-0", "good-0"]], &EvolveSettings::default());
    assert_eq!(names(&evolution.head), ["good-0"]);
    let refused = &evolution.changes[2];
    assert!(!refused.kept && refused.why.contains("there is an entry `good-0` already"), "{}", refused.why);
}

#[test]
fn it_ends_at_its_budget_at_its_patience_and_when_there_are_no_more_ideas() {
    let told = || vec![vec!["good-0"], vec!["idle-1"], vec!["idle-2"], vec!["good-1"]];
    let tried = |settings: &EvolveSettings| run(told(), settings).changes.len() - 1;
    assert_eq!(tried(&EvolveSettings::default()), 4);
    assert_eq!(tried(&EvolveSettings { patience: 2, ..EvolveSettings::default() }), 3);
    // The baseline is one call; a round is two.
    assert_eq!(tried(&EvolveSettings { budget: 3, ..EvolveSettings::default() }), 1);
}

#[test]
fn a_judge_that_breaks_is_an_error_and_what_was_done_was_seen() {
    let mut seen = Vec::new();
    let broke = evolve(
        Library::default(),
        &mut Items { breaks_at: Some(3), ..Items::default() },
        &mut Told(vec![vec!["good-0"], vec!["good-1"]]),
        &EvolveSettings::default(),
        &mut |change, library| seen.push((change.version, library.len())),
    );
    assert_eq!(broke, Err(EvolveError::Judge("the server is gone".to_owned())));
    assert_eq!(seen, [(0, 0), (1, 1)]);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |settings: EvolveSettings| settings.check().unwrap_err().to_string();
    let gate = GateRule::Margin { margin: 2.0 };
    assert!(refused(EvolveSettings { gate, ..EvolveSettings::default() }).contains("gate.margin"));
    let gate = GateRule::Rotating { folds: 1, margin: 0.0 };
    assert!(refused(EvolveSettings { gate, ..EvolveSettings::default() }).contains("gate.folds"));
    assert!(
        refused(EvolveSettings { prune_margin: 0.1, ..EvolveSettings::default() }).contains("prune_every")
    );
}
