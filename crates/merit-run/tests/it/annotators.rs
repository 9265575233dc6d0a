//! Annotators: what they said of a step is heard again when a run goes on, of probes too.

use crate::whole::{Making, small};
use merit_core::Phase;
use merit_run::Event;
use std::collections::BTreeMap;
use std::path::Path;

/// Never says the same twice, and writes down which episode it was asked about.
const FICKLE: &str = r#"
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    with open(sys.argv[1], "a") as asked:
        asked.write(json.dumps(ask["episode"]["id"], sort_keys=True) + "\n")
    number = sum(1 for _ in open(sys.argv[1]))
    print(json.dumps({"id": ask["id"], "value": number % 7 / 7}), flush=True)
"#;

/// How often it was asked about each episode of the first steps of some phases.
fn questions(file: &Path, steps: u64, phases: &[Phase]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let id: merit_core::EpisodeId = serde_json::from_str(line).unwrap();
        if id.step < steps && phases.contains(&id.phase) {
            *counts.entry(id.to_string()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn what_was_said_of_probes_is_heard_again_and_paid_for_once() {
    let dir = tempfile::tempdir().unwrap();
    let (judge, asked) = (dir.path().join("judge.py"), dir.path().join("asked"));
    std::fs::write(&judge, FICKLE).unwrap();
    let annotators = format!(
        "[{{ type = 'command', name = 'said', version = '1', command = ['python3', '{}', '{}'] }}]",
        judge.display(),
        asked.display()
    );
    // Probes of tasks decide which are drawn, and those of turns which credit they get: both hang on what is said.
    let recipe = small(&[
        ("annotators", &annotators),
        (
            "reward",
            "{ type = 'sum', of = [{ type = 'exact-answer' }, { type = 'annotation', key = 'said' }] }",
        ),
        ("credit", "{ type = 'branch-monte-carlo', continuations = 1 }"),
        ("tasks", "{ filter = { at_most = 0.9, samples = 2, attempts = 2 } }"),
        ("budget.steps", "3"),
        // No checkpoint between the steps: going on does them again.
        ("budget.checkpoint_every", "100"),
    ]);
    let making = Making::at(dir.path().join("run"));
    let mut steps = 0;
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = making.drive(&recipe, &mut |event| {
            steps += usize::from(matches!(event, Event::Step { .. }));
            if steps == 2 {
                std::panic::resume_unwind(Box::new("killed"));
            }
        });
    }));
    assert!(killed.is_err());
    let phases = [Phase::train(), Phase::train().probes()];
    let before = questions(&asked, 2, &phases);
    assert!(before.keys().any(|id| id.contains("probe")), "{before:?}");
    let made = making.train(&recipe);
    assert_eq!(questions(&asked, 2, &phases), before);
    assert!(before.values().all(|times| *times == 1), "{before:?}");
    // Every question is in the costs: of episodes that were recorded, and of probes beside them.
    let all: usize = questions(&asked, 3, &phases).values().sum();
    assert_eq!(made.folder.costs().unwrap()[&Phase::train()].judge_calls, all as u64);
}
