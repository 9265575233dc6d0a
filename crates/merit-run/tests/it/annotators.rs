//! Annotators: what they said of a step is heard again when a run goes on, of probes too; what they say of turns reaches the credit.

use crate::whole::{Made, Making, small, small_and, train};
use merit_core::{Annotation, Group, Phase, ScoredEpisode};
use merit_credit::CreditBatch;
use merit_run::{Event, Recipe};
use merit_store::{EpisodeFilter, StoredEpisode};
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

/// Grades every turn but the first, by its place and by what was said there.
const GRADER: &str = r#"
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    said = [json.dumps(turn["action"]) for turn in ask["episode"]["turns"]]
    turns = [len(text) % 7 / 7 if at else None for at, text in enumerate(said)]
    print(json.dumps({"id": ask["id"], "value": 0.5, "turns": turns}), flush=True)
"#;

/// The small recipe with a program that grades turns, and this credit.
fn graded_by(program: &str, dir: &Path, credit: &str) -> Recipe {
    let judge = dir.join("judge.py");
    std::fs::write(&judge, program).unwrap();
    let grader = format!(
        "[{{ type = 'command', name = 'progress', version = '1', command = ['python3', '{}'] }}]",
        judge.display()
    );
    small(&[("annotators", &grader), ("credit", credit)])
}

/// What was recorded of the steps of learning, with what was said of each episode.
fn learned_from(made: &Made) -> Vec<(StoredEpisode, Vec<Annotation>)> {
    let said = made.folder.annotations().unwrap();
    let episodes = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    let with = |stored: StoredEpisode| {
        let said = said.get(&stored.scored.episode.id).cloned().unwrap_or_default();
        (stored, said)
    };
    episodes.into_iter().map(with).collect()
}

#[test]
fn grades_of_turns_reach_the_credit_and_a_stored_run_gets_the_same_again_without_asking() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = graded_by(GRADER, dir.path(), "{ type = 'two-level', annotation = 'progress' }");
    let (_folder, made) = train(&recipe);
    let learned = learned_from(&made);
    assert_eq!(learned.len(), 48);
    let graded = |(_, said): &&(StoredEpisode, Vec<Annotation>)| said[0].turns.iter().flatten().count() > 0;
    assert!(learned.iter().filter(graded).count() > 0, "no episode of the run has a second turn");
    for (stored, said) in &learned {
        assert_eq!(said[0].turns.len(), stored.scored.episode.turns.len());
        let note = &stored.credit.as_ref().unwrap().note;
        assert!(note.contains("turn 0: `progress` says nothing of it"), "{note}");
    }
    // From the record alone, step by step.
    let rule = recipe.credit.component();
    let annotations = made.folder.annotations().unwrap();
    for step in 0..3 {
        let of_step =
            || learned.iter().map(|(stored, _)| stored).filter(|s| s.scored.episode.id.step == step);
        let scored: Vec<ScoredEpisode> = of_step().map(|stored| stored.scored.clone()).collect();
        let groups = Group::by_id(scored).unwrap();
        let credit = rule.assign(&CreditBatch::new(&groups).with_annotations(&annotations)).unwrap();
        for sample in &credit.samples {
            let stored = of_step().find(|stored| stored.scored.episode.id == sample.episode).unwrap();
            let before = &stored.credit.as_ref().unwrap().advantages;
            assert_eq!(sample.advantages.as_ref(), Some(before), "{}", sample.episode);
        }
    }
    let share = made.last(&Phase::train(), "turns_annotated");
    assert!((0.0..1.0).contains(&share), "{share}");
}

#[test]
fn a_program_that_speaks_of_turns_that_were_not_is_told_of_and_is_no_grade() {
    let dir = tempfile::tempdir().unwrap();
    let wrong = GRADER.replace("\"turns\": turns", "\"turns\": turns + [1.0]");
    let (_folder, made) =
        train(&graded_by(&wrong, dir.path(), "{ type = 'two-level', annotation = 'progress' }"));
    let told = |event: &Event| matches!(event, Event::Note { text } if text.contains("`progress` speaks of"));
    assert!(made.events.iter().any(told), "{:?}", made.events);
    assert_eq!(made.last(&Phase::train(), "turns_annotated"), 0.0);
    assert!(
        learned_from(&made).iter().all(|(stored, said)| said.is_empty() && stored.scored.reward().is_some())
    );
}

/// A judge that is right about every turn: it says how much of what was called went well so far.
const JUDGE: &str = r#"
[judges.progress]
ask = { type = "score", scale = 4 }
backend = { type = "oracle", reward = { type = "format" } }
per_turn = true
"#;

#[test]
fn a_judge_that_the_credit_alone_reads_grades_turns_and_is_asked_of_nothing_else() {
    let credit = [("credit".to_owned(), "{ type = 'two-level', annotation = 'progress' }".to_owned())];
    let text =
        crate::staged::SMALL.replace("type = \"grpo\"", "type = \"two-level\"\nannotation = \"progress\"");
    let recipe = Recipe::parse("small.toml", &format!("{text}\n{JUDGE}")).unwrap();
    assert_eq!(recipe.with(&credit).unwrap().hash(), recipe.hash());
    let (_folder, made) = train(&recipe);
    let learned = learned_from(&made);
    assert_eq!(learned.len(), 48);
    for (stored, said) in &learned {
        let turns = stored.scored.episode.turns.len();
        assert_eq!((said.len(), said[0].name.as_str(), said[0].turns.len()), (1, "progress", turns));
        // The last grade is that of the whole.
        assert_eq!(said[0].turns.last().copied().flatten(), Some(said[0].value));
        let note = &stored.credit.as_ref().unwrap().note;
        assert!(note.contains("turn 0: `progress` says "), "{note}");
    }
    let asked = made.folder.annotations().unwrap();
    assert!(asked.keys().all(|id| id.phase == Phase::train()), "{:?}", asked.keys());
    assert_eq!(made.last(&Phase::train(), "turns_annotated"), 1.0);
}

#[test]
fn an_annotation_that_a_credit_rule_reads_is_given_by_somebody_and_speaks_of_turns() {
    let refused = |more: &str, name: &str| {
        let text = crate::staged::SMALL
            .replace("type = \"grpo\"", &format!("type = \"two-level\"\nannotation = \"{name}\""));
        Recipe::parse("small.toml", &format!("{text}\n{more}")).unwrap_err().to_string()
    };
    let misspelt = refused(JUDGE, "progres");
    let want = "credit rule `two-level` reads the annotation `progres`, which nobody gives (did you mean `progress`?)";
    assert!(misspelt.contains(want), "{misspelt}");
    let nobody = refused("", "progress");
    assert!(nobody.contains("which nobody gives; add an annotator or a judge that does"), "{nobody}");
    let whole = refused(&JUDGE.replace("per_turn = true", ""), "progress");
    assert!(whole.contains("speaks of whole episodes alone; say `per_turn = true`"), "{whole}");
    // Nobody reads the judge, neither a term nor a credit rule.
    let idle = small_and(JUDGE).unwrap_err().to_string();
    assert!(idle.contains("[judges.progress] no reward asks it"), "{idle}");
    let term = "reward = { type = 'sum', of = [{ type = 'exact-answer' }, { type = 'annotation', key = 'progres' }] }";
    let term = Recipe::parse("small.toml", crate::staged::SMALL).unwrap().with(&[
        ("reward".to_owned(), term.trim_start_matches("reward = ").to_owned()),
        (
            "annotators".to_owned(),
            "[{ type = 'command', name = 'progress', command = ['judge'] }]".to_owned(),
        ),
    ]);
    let term = term.unwrap_err().to_string();
    assert!(
        term.contains("needs the annotation `progres`, which nobody gives (did you mean `progress`?)"),
        "{term}"
    );
}
