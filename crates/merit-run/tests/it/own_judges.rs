//! A model of the recipe as a judge of its own recipe: asked with the weights of the step, typed, within a budget, and the same after a
//! kill.

use crate::staged::SMALL;
use crate::whole::{Made, Making};
use merit_core::{Annotation, Phase};
use merit_evolve::Library;
use merit_run::{Event, OpenJudge, Parts, Recipe, built_in};
use merit_store::EpisodeFilter;

/// The policy as its own judge, held to the form of an answer: it is far too small to find that form by itself.
const OWN: &str = r#"
[judges.own]
ask = { type = "score", scale = 4 }
rubric = "The answer is right."
backend = { type = "policy" }
grammar = true
temperature = 1.0
tokens = 24
length = 200
"#;

/// Pays what the judge says; whether the answer is right is told beside it.
const PAID: &str = r#"of = [{ type = "annotation", key = "own" }, { type = "exact-answer", weight = 0.0 }]"#;

fn parse(more: &str) -> Result<Recipe, merit_run::RecipeError> {
    let text = SMALL.replace("context = 256", "context = 2048");
    let text = text.replace(r#"of = [{ type = "exact-answer", weight = 1.0 }]"#, PAID);
    Recipe::parse("small.toml", &format!("{text}\n{more}"))
}

/// What was said of the episodes of a phase, with the step of each and what it was paid.
fn said(made: &Made, phase: Phase) -> Vec<(u64, Option<f64>, Option<Annotation>)> {
    let said = made.folder.annotations().unwrap();
    let episodes = made.folder.episodes(&EpisodeFilter::phase(phase)).unwrap();
    let one = |stored: &merit_store::StoredEpisode| {
        let id = &stored.scored.episode.id;
        let said = said.get(id).and_then(|all| all.first().cloned());
        (id.step, stored.scored.reward(), said)
    };
    episodes.iter().map(one).collect()
}

fn notes(made: &Made) -> String {
    let notes = made.events.iter().filter_map(|event| match event {
        Event::Note { text } => Some(text.as_str()),
        _ => None,
    });
    notes.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_policy_judges_its_own_episodes_with_the_weights_of_the_step() {
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join("run")).train(&parse(OWN).unwrap());
    let trained = said(&made, Phase::train());
    assert_eq!(trained.len(), 48);
    for (step, reward, said) in &trained {
        let said = said.as_ref().unwrap();
        assert!([0.0, 0.25, 0.5, 0.75, 1.0].contains(&said.value), "{said:?}");
        assert_eq!((*reward, said.name.as_str()), (Some(said.value), "own"));
        assert_eq!(said.version, format!("{} {step}", Phase::train()));
        assert!(said.by.starts_with("policy tokens 24 temperature 1 seed 0 grammar at "), "{}", said.by);
    }
    // It is drawn: not every episode is worth the same.
    assert!(trained.iter().any(|(_, reward, _)| *reward != trained[0].1));
    let asked: u64 = trained.iter().filter_map(|(_, _, said)| Some(said.as_ref()?.cost.judge_calls)).sum();
    assert!((1..=48).contains(&asked), "{asked}");
}

#[test]
fn a_run_that_was_killed_hears_and_pays_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = parse(&format!("{OWN}budget = 35\n")).unwrap();
    let made = Making::at(dir.path().join("whole")).train(&recipe);
    let spent = said(&made, Phase::train()).into_iter().filter(|(_, reward, _)| reward.is_none()).count();
    assert!(spent > 0, "the budget was to end within the run");
    assert!(notes(&made).contains("the budget of 35 answers is spent"), "{}", notes(&made));
    let steps = made.events.iter().enumerate();
    let steps = steps.filter(|(_, event)| matches!(event, Event::Step { .. })).map(|(at, _)| at + 1);
    for at in steps.collect::<Vec<_>>() {
        let cut = Making::at(dir.path().join(at.to_string()));
        assert!(cut.kill(&recipe, at), "it ended before event {at}");
        cut.train(&recipe).must_be(&made);
    }
}

#[test]
fn what_the_policy_says_that_is_no_verdict_is_never_a_number() {
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join("run")).train(&parse(&OWN.replace("grammar = true", "")).unwrap());
    let trained = said(&made, Phase::train());
    assert!(trained.iter().all(|(_, reward, said)| reward.is_none() && said.is_none()), "{trained:?}");
    assert!(notes(&made).contains("unreadable: no JSON object with `score`"), "{}", notes(&made));
}

#[test]
fn a_fitted_model_of_the_recipe_answers_by_its_name() {
    let stages = r#"
[models.critic]
like = "policy"
force = true
[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "collect"
into = "tries"
tasks = 8
samples = 4
set = { reward = { type = "exact-answer" } }
[[stages]]
type = "fit"
model = "critic"
from = "tries"
loss = "token"
steps = 2
batch = 4
learning_rate = 1e-3
[[stages]]
type = "learn"
steps = 1
"#;
    let own = OWN.replace("{ type = \"policy\" }", "{ type = \"model\", model = \"critic\" }");
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join("run")).train(&parse(&format!("{own}{stages}")).unwrap());
    let trained = said(&made, Phase::train());
    assert_eq!(trained.len(), 16);
    for (_, _, said) in &trained {
        let said = said.as_ref().unwrap();
        assert_eq!(said.version, "2 updates");
        assert!(said.by.starts_with("model critic "), "{}", said.by);
    }
    let early = stages.replace("set = { reward = { type = \"exact-answer\" } }", "");
    let error = parse(&format!("{own}{early}")).unwrap_err().to_string();
    assert!(error.contains("`judges.own.backend: model = \"critic\"`: no stage before it fits"), "{error}");
}

#[test]
fn what_cannot_work_is_refused_with_what_to_do() {
    let change = |from: &str, to: &str| parse(&OWN.replace(from, to)).unwrap_err().to_string();
    for (from, to, wanted) in [
        ("type = \"score\", scale = 4", "type = \"compare\"", "say `score` or `check`"),
        ("tokens = 24", "kept = \"answers.jsonl\"", "leave it out"),
        ("tokens = 24", "tokens = 4096", "no question would fit"),
        ("tokens = 24", "tokns = 24", "did you mean `tokens`?"),
        ("type = \"policy\"", "type = \"polcy\"", "did you mean `policy`?"),
        ("type = \"policy\"", "type = \"policy\", file = \"m.gguf\"", "file"),
        ("type = \"policy\"", "type = \"model\", model = \"critic\"", "there is no `[models.critic]`"),
        ("[judges.own]", "[judges.other]", "the annotation `own`, which nobody gives"),
    ] {
        let error = change(from, to);
        assert!(error.contains(wanted), "{to}: {error}");
    }
    let idle =
        format!("{OWN}\n[judges.more]\nask = {{ type = \"score\" }}\nbackend = {{ type = \"policy\" }}\n");
    let error = parse(&idle).unwrap_err().to_string();
    assert!(error.contains("[judges.more] no reward asks it"), "{error}");
    // A file of its own is outside of any recipe.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("judge.toml");
    std::fs::write(&file, "ask = { type = 'compare' }\nbackend = { type = 'policy' }\n").unwrap();
    let error = OpenJudge::open(&file, &Library::default(), &built_in(), None).err().unwrap().to_string();
    assert!(error.contains("write the judge into the recipe as `[judges.NAME]`"), "{error}");
}

#[test]
fn an_oracle_says_what_the_tasks_know_and_errs_as_often_as_it_is_told() {
    let oracle = |errors: &str| {
        let backend = format!("{{ type = \"oracle\", errors = {errors} }}");
        let dir = tempfile::tempdir().unwrap();
        let recipe = parse(&OWN.replace("{ type = \"policy\" }", &backend)).unwrap();
        let made = Making::at(dir.path().join("run")).train(&recipe);
        let episodes = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
        let said = made.folder.annotations().unwrap();
        let told = episodes.iter().map(|stored| {
            let episode = &stored.scored.episode;
            let right = episode.answer().map(str::trim) == episode.task.answer.as_deref();
            (right, said[&episode.id][0].value)
        });
        told.collect::<Vec<_>>()
    };
    let truth = oracle("0.0");
    assert!(truth.iter().all(|(right, value)| f64::from(u8::from(*right)) == *value), "{truth:?}");
    let wrong = oracle("0.5");
    let turned = wrong.iter().filter(|(right, value)| f64::from(u8::from(*right)) != *value).count();
    assert!((12..=36).contains(&turned), "{turned} of 48");
}

#[test]
fn an_oracle_is_refused_where_nobody_knows_what_is_right() {
    let text = merit_run::shipped::recipes().iter().find(|one| one.about.name == "pairs-judge").unwrap().text;
    let judge = |backend: &str| {
        let term =
            "{ type = \"annotation\", key = \"truth\", weight = 0.0 },\n  { type = \"info\", name = \"all\"";
        let text = text.replace("{ type = \"info\", name = \"all\"", term);
        let text = format!("{text}\n[judges.truth]\nask = {{ type = \"score\" }}\nbackend = {backend}\n");
        Recipe::parse("pairs.toml", &text)
    };
    let error = |backend: &str| Parts::new(&judge(backend).unwrap(), 1).err().unwrap().to_string();
    let why = error("{ type = \"oracle\" }");
    assert!(why.contains("[judges.truth] tasks of world `pairs` have no single right answer"), "{why}");
    let known = "{ type = \"oracle\", reward = { type = \"info\", key = \"solved\" } }";
    assert!(Parts::new(&judge(known).unwrap(), 1).is_ok());
    let wrong = |backend: &str| judge(backend).unwrap_err().to_string();
    assert!(wrong("{ type = \"oracle\", errors = 2.0 }").contains("`errors` is 2"));
    let asks = "{ type = \"oracle\", reward = { type = \"annotation\", key = \"other\" } }";
    assert!(wrong(asks).contains("needs the annotation `other`"), "{}", wrong(asks));
}
