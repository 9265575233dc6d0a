//! A judge of the recipe: evolved from pairs of the run or of a file, paying, refused where it knows nothing.

use crate::whole::{Making, small_and};
use merit_core::{Phase, StageKind};
use merit_store::EpisodeFilter;
use std::path::Path;

/// Episodes whose reward anybody can tell by their length: fewer tokens are better.
const PAIRS: &str = r#"
[judges.short]
library = { split = { train = 0.4, validation = 0.3 }, evolve = { rounds = 2 } }

[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "repeat"
times = 2
[[stages.stages]]
type = "collect"
into = "tries"
tasks = 24
samples = 6
set = { reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.02 }] } }
[[stages.stages]]
type = "make"
from = "tries"
into = "pairs"
keep = "pairs"
[[stages.stages]]
type = "evolve"
judge = "short"
from = "pairs"
[[stages.stages]]
type = "learn"
steps = 2
set = { reward = { type = "sum", of = [{ type = "annotation", key = "short" }, { type = "exact-answer", weight = 0.0 }] } }
"#;

fn forced() -> String {
    PAIRS.replace("[judges.short]\n", "[judges.short]\nforce = true\n")
}

fn history(run: &Path, judge: &str) -> Vec<String> {
    let folder = run.join("judges").join(judge).join("history");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn a_judge_is_evolved_in_every_round_and_pays_at_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let made = Making::at(run.clone()).train(&small_and(&forced()).unwrap());
    let (first, second) = (history(&run, "short-1"), history(&run, "short-2"));
    assert!(
        second.len() > first.len() && second.starts_with(&first),
        "the second round goes on from the first"
    );
    let phase = Phase::Stage(StageKind::Evolve, "short".into());
    let versions = made.folder.metric(&phase, "version").unwrap();
    assert_eq!(versions.len(), 2, "{versions:?}");
    assert!(made.folder.metric(&phase, "pair_accuracy").unwrap()[0].1 > 0.6);
    assert!(made.finished.fits["short"].contains_key("pair_accuracy_length"));
    let said = made.folder.annotations().unwrap();
    let trained = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    assert!(!trained.is_empty());
    for one in &trained {
        let said = &said[&one.scored.episode.id][0];
        let round = usize::from(one.scored.episode.id.step >= 2);
        assert_eq!((said.name.as_str(), said.version.clone()), ("short", versions[round].1.to_string()));
        assert_eq!(one.scored.reward(), Some(said.value));
    }
}

#[test]
fn a_run_that_was_killed_evolves_the_same_judge() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small_and(&forced()).unwrap();
    let whole = Making::at(dir.path().join("whole"));
    let made = whole.train(&recipe);
    let evolves = |event: &merit_run::Event| format!("{event:?}").contains("evolving a judge");
    let first = made.events.iter().position(evolves).unwrap() + 1;
    let last = made.events.iter().rposition(evolves).unwrap() + 1;
    for (name, at) in [("a", first), ("b", first + 1), ("c", last), ("d", last + 1)] {
        let cut = Making::at(dir.path().join(name));
        assert!(cut.kill(&recipe, at), "{name}: it ended before event {at}");
        let again = cut.train(&recipe);
        assert!(again.newest("weights.safetensors") == made.newest("weights.safetensors"), "{name}");
        for judge in ["short-1", "short-2"] {
            assert_eq!(history(&cut.path, judge), history(&whole.path, judge), "{name}: {judge}");
        }
    }
}

#[test]
fn a_judge_that_length_explains_does_not_pay_unless_it_is_forced() {
    let dir = tempfile::tempdir().unwrap();
    let error =
        Making::at(dir.path().join("run")).drive(&small_and(PAIRS).unwrap(), &mut |_| {}).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("judge `short` may not pay") && error.contains("judges.short.force = true"),
        "{error}"
    );
}

#[test]
fn preferences_of_a_file_make_a_judge_and_too_few_make_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("prefs.jsonl");
    let stages = format!(
        "[datasets.prefs]\nfile = {:?}\n[judges.stars]\n[[stages]]\ntype = 'evolve'\njudge = 'stars'\nfrom = 'prefs'\n\
         [[stages]]\ntype = 'evaluate'\nname = 'after'\n",
        file.display().to_string()
    );
    let line = |n: usize| {
        let order = |stars: usize| format!("{{\\\"stars\\\": {stars}}}");
        format!(
            "{{\"prompt\": \"order {n}\", \"chosen\": \"{}\", \"rejected\": \"{}\"}}\n",
            order(10_000 + n),
            order(100 + n)
        )
    };
    std::fs::write(&file, (0..80).map(line).collect::<String>()).unwrap();
    let made = Making::at(dir.path().join("many")).train(&small_and(&stages).unwrap());
    assert_eq!(made.finished.fits["stars"]["pair_accuracy"], 1.0);
    std::fs::write(&file, (0..6).map(line).collect::<String>()).unwrap();
    let made = Making::at(dir.path().join("few")).train(&small_and(&stages).unwrap());
    let told: Vec<String> = made.events.iter().map(|event| format!("{event:?}")).collect();
    assert!(
        told.iter().any(|event| event.contains("are too few") && event.contains("`stars` stays as it is"))
    );
    assert!(!dir.path().join("few/judges/stars-1").exists());
}

#[test]
fn what_cannot_be_evolved_is_refused_before_anything_is_done() {
    let check = |text: &str, want: &str| {
        let error = small_and(text).unwrap_err().to_string();
        assert!(error.contains(want), "{error}\nhas not: {want}");
    };
    check(
        &PAIRS.replace("judge = \"short\"", "judge = \"shrot\""),
        "there is no `[judges.shrot]` (did you mean `short`?)",
    );
    check(
        &PAIRS.replace("from = \"pairs\"", "from = \"tries\""),
        "`from = \"tries\"` holds episodes, and pairs are needed",
    );
    check(
        "[judges.short]\n[[stages]]\ntype = 'learn'\nset = { reward = { type = 'sum', of = [{ type = 'annotation', key = \
         'short' }, { type = 'exact-answer', weight = 0.0 }] } }\n",
        "no stage before it evolves this judge",
    );
    check(
        "[judges.short]\n[[stages]]\ntype = 'evaluate'\nname = 'after'\n",
        "[judges.short] no stage evolves it",
    );
    check("[judges.short]\n", "[judges.short] needs `[[stages]]`");
    check(&PAIRS.replace("rounds = 2", "rounds = 2, budget = 9"), "counts paid calls");
    check(&PAIRS.replace("rounds = 2", "ruonds = 2"), "ruonds");
}
