//! Models beside the policy: how they are fitted, measured on what they did not learn from, and used.

use crate::whole::{Making, phase, small, small_and, train};
use merit_core::{Episode, Known, Outcome, Phase, Provenance, Role, Segment, StageKind, Transcript};
use merit_judge::Judge as _;
use merit_model::Tokenizer;
use merit_run::{FittedJudge, Recipe, RunError, Unproven, built_in, extend};
use merit_store::EpisodeFilter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Episodes whose reward anybody can tell by their length: fewer tokens are better.
const COLLECT: &str = r#"
[models.reward]
like = "policy"

[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "collect"
into = "tries"
tasks = 24
samples = 6
set = { reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.02 }] } }
[[stages]]
type = "make"
from = "tries"
into = "pairs"
keep = "pairs"
"#;

const FIT: &str = r#"
[[stages]]
type = "fit"
model = "reward"
from = "pairs"
loss = "bradley-terry"
steps = 30
batch = 8
learning_rate = 1e-2
"#;

const EVALUATE: &str = r#"
[[stages]]
type = "evaluate"
name = "chosen"
tasks = 5
samples = 4
select = { by = "reward" }
by = ["/nothing"]
"#;

fn fitted(loss: &str, from: &str) -> Recipe {
    let fit = FIT.replace("bradley-terry", loss).replace("\"pairs\"", &format!("\"{from}\""));
    small_and(&format!("{COLLECT}{fit}{EVALUATE}")).unwrap()
}

#[test]
fn a_reward_model_learns_pairs_and_is_measured_on_tasks_that_it_did_not_see() {
    let (_dir, made) = train(&fitted("bradley-terry", "pairs"));
    let fit = phase(StageKind::Fit, "reward");
    let losses = made.folder.metric(&fit, "loss").unwrap();
    assert_eq!(losses.len(), 30);
    // A head of zeros cannot tell anything apart: -log sigmoid(0).
    assert!((losses[0].1 - 2_f64.ln()).abs() < 1e-6, "{losses:?}");
    assert!(losses[29].1 < 0.5, "{losses:?}");
    let told = made.folder.metric(&fit, "pair_accuracy").unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0, 29, "it is measured once, after the last step");
    assert!(told[0].1 > 0.7, "{told:?}");
    assert_eq!(made.finished.fits["reward"]["pair_accuracy"], told[0].1);
    assert!(made.finished.fits["reward"].contains_key("pair_accuracy_length"));
    let (kept, aside) = (made.last(&fit, "tasks"), made.last(&fit, "held_out_tasks"));
    assert_eq!(kept + aside, made.last(&phase(StageKind::Make, "pairs"), "tasks"));
    assert!(aside >= 1.0 && kept > aside);
    let cost = made.folder.costs().unwrap()[&fit];
    assert_eq!(cost.updates, 30);
    assert!(cost.trained_tokens > 0);
    // The policy is not touched.
    assert!(made.newest("warm.safetensors") == made.newest("weights.safetensors"));
    assert!(made.newest("model-reward.safetensors") != made.newest("weights.safetensors"));
}

#[test]
fn a_scalar_is_fitted_to_rewards_and_a_verdict_to_success() {
    for (loss, measure) in [("regression", "mse"), ("token", "accuracy")] {
        let (_dir, made) = train(&fitted(loss, "tries"));
        let fit = phase(StageKind::Fit, "reward");
        let losses: Vec<f64> = made.folder.metric(&fit, "loss").unwrap().into_iter().map(|l| l.1).collect();
        assert!(losses[29] < losses[0], "{loss}: {losses:?}");
        let measured = made.last(&fit, measure);
        assert!(measured.is_finite() && measured >= 0.0, "{loss}: {measured}");
        if loss == "regression" {
            assert!(measured < made.last(&fit, "mse_of_mean"), "{measured} is no better than the mean");
        }
    }
}

#[test]
fn best_of_n_lies_between_one_sample_and_pass_at_n() {
    let (_dir, made) = train(&fitted("bradley-terry", "pairs"));
    let chosen = phase(StageKind::Evaluate, "chosen");
    let number = |name: &str| made.last(&chosen, name);
    for behind in ["", "/log-prob"] {
        assert!((number(&format!("best_of@1{behind}")) - number("pass@1")).abs() < 1e-12);
        assert!(number(&format!("best_of@4{behind}")) <= number("pass@4") + 1e-12);
        assert!(number(&format!("best_of@4{behind}")) >= number("pass^4") - 1e-12);
    }
    assert_eq!(made.finished.evaluations["chosen"]["best_of@2"], number("best_of@2"));
    let notes: Vec<String> = made.events.iter().map(|event| format!("{event:?}")).collect();
    assert!(notes.iter().any(|note| note.contains("no episode of the evaluation has it")));
}

#[test]
fn the_policys_own_log_probability_is_the_baseline_and_success_is_broken_down() {
    let text = "[[stages]]\ntype = 'evaluate'\nname = 'likely'\nsamples = 3\nselect = { by = 'log-prob' }\nby = ['/kind']\n";
    let recipe = small_and(text).unwrap();
    let (_dir, made) = train(&recipe);
    let likely = phase(StageKind::Evaluate, "likely");
    let sampled = made.folder.episodes(&EpisodeFilter::phase(phase(StageKind::Samples, "likely"))).unwrap();
    let mut solved = 0.0;
    for group in 0..6 {
        let of = sampled.iter().filter(|one| one.scored.episode.id.group == group);
        let log_prob = |one: &&merit_store::StoredEpisode| -> f64 {
            let segments = one.scored.episode.transcript.segments().iter();
            segments.flat_map(|segment| &segment.logprobs).map(|logprob| f64::from(*logprob)).sum()
        };
        let best = of.max_by(|a, b| log_prob(a).total_cmp(&log_prob(b))).unwrap();
        solved += f64::from(u8::from(best.scored.outcome() == Outcome::Solved));
    }
    assert!((made.last(&likely, "best_of@3") - solved / 6.0).abs() < 1e-12);
}

#[test]
fn success_is_broken_down_by_a_place_in_the_payload() {
    let text = "[[stages]]\ntype = 'evaluate'\nname = 'parts'\nby = ['/entries/0/count']\n";
    let (_dir, made) = train(&small_and(text).unwrap());
    let mut want: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let played = EpisodeFilter::phase(phase(StageKind::Evaluate, "parts"));
    for one in made.folder.episodes(&played).unwrap() {
        let count = one.scored.episode.task.payload.pointer("/entries/0/count").unwrap().to_string();
        if one.scored.outcome().is_valid() {
            let solved = f64::from(u8::from(one.scored.outcome() == Outcome::Solved));
            want.entry(format!("success//entries/0/count={count}")).or_default().push(solved);
        }
    }
    assert!(!want.is_empty());
    let told = &made.finished.evaluations["parts"];
    let parts = told.keys().filter(|name| name.starts_with("success//entries")).count();
    assert_eq!(parts, want.len(), "{told:?}");
    for (name, solved) in want {
        assert_eq!(told[&name], solved.iter().sum::<f64>() / solved.len() as f64, "{name}");
    }
}

#[test]
fn a_model_that_is_fitted_again_goes_on_from_where_it_stood() {
    let rounds =
        format!("{COLLECT}{FIT}{}", FIT.replace("type = \"fit\"", "type = \"fit\"\nname = \"again\""));
    let (_dir, made) = train(&small_and(&rounds).unwrap());
    let first = made.folder.metric(phase(StageKind::Fit, "reward"), "loss").unwrap();
    let again = made.folder.metric(phase(StageKind::Fit, "again"), "loss").unwrap();
    assert!(again[0].1 < first[0].1, "{first:?} {again:?}");
    let fresh = rounds.replace("like = \"policy\"", "like = \"policy\"\nstart = \"fresh\"");
    let (_dir, other) = train(&small_and(&fresh).unwrap());
    assert!(made.newest("model-reward.safetensors") != other.newest("model-reward.safetensors"));
}

/// The same with a model that may pay although length tells as much.
fn forced() -> String {
    COLLECT.replace("like = \"policy\"", "like = \"policy\"\nforce = true")
}

const LEARN: &str = r#"
[[stages]]
type = "learn"
set = { reward = { type = "sum", of = [{ type = "annotation", key = "reward" }, { type = "exact-answer", weight = 0.0 }] } }
"#;

#[test]
fn a_fitted_model_pays_and_the_true_success_is_told_beside() {
    let (_dir, made) = train(&small_and(&format!("{}{FIT}{LEARN}", forced())).unwrap());
    let said = made.folder.annotations().unwrap();
    let trained = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    assert_eq!(trained.len(), 3 * 16);
    for one in &trained {
        let said = &said[&one.scored.episode.id][0];
        assert_eq!((said.name.as_str(), said.version.as_str()), ("reward", "30"));
        assert_eq!(one.scored.reward(), Some(said.value));
    }
    let collected = EpisodeFilter::phase(phase(StageKind::Collect, "tries"));
    let nobody = made.folder.episodes(&collected).unwrap();
    assert!(nobody.iter().all(|one| !said.contains_key(&one.scored.episode.id)));
    let step = trained.iter().filter(|one| one.scored.episode.id.step == 2);
    let right = step.filter(|one| one.scored.outcome() == Outcome::Solved).count() as f64 / 16.0;
    assert_eq!(made.last(&Phase::train(), "success"), right);
    assert!(made.last(&Phase::train(), "term/annotation").is_finite());
}

#[test]
fn a_fit_that_is_killed_and_resumed_ends_as_if_nothing_had_happened() {
    let text = format!("{}{FIT}{LEARN}{EVALUATE}", forced());
    for (from, to) in [("", ""), ("bradley-terry", "token"), ("like = \"policy\"", "like = \"bag\"")] {
        let text = text.replace(from, to);
        let text = if to == "token" {
            text.replace("from = \"pairs\"\nloss", "from = \"tries\"\nloss")
        } else {
            text
        };
        let recipe = small_and(&text).unwrap();
        // A checkpoint every ten updates of the fit.
        let recipe = recipe.with(&[("budget.checkpoint_every".into(), "1".into())]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let whole = Making::at(dir.path().join("whole")).train(&recipe);
        let killed = Making::at(dir.path().join("killed"));
        let mut moments = [46].into_iter().chain(std::iter::repeat(14));
        let kills = moments.by_ref().take(50).take_while(|at| killed.kill(&recipe, *at)).count();
        assert!((3..50).contains(&kills), "{kills} kills");
        let resumed = killed.train(&recipe);
        resumed.must_be(&whole);
        let file = if to.contains("bag") { "model-reward.f64" } else { "model-reward.safetensors" };
        assert!(resumed.newest(file) == whole.newest(file));
    }
}

#[test]
fn a_dataset_of_one_task_fits_nothing_and_says_so() {
    let text = format!("{COLLECT}{FIT}").replace("tasks = 24", "tasks = 1");
    let (_dir, made) = train(&small_and(&text).unwrap());
    assert!(made.folder.metric(phase(StageKind::Fit, "reward"), "loss").unwrap().is_empty());
    let events = made.folder.events().unwrap();
    assert!(events.iter().any(|event| event.text.contains("fewer than two tasks")));
    let asked = Making::at(made.folder.path().join("asked"));
    let error = asked.drive(&small_and(&format!("{text}{EVALUATE}")).unwrap(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("model `reward` was not fitted"), "{error}");
}

#[test]
fn models_do_not_show_in_recipes_without_them() {
    assert!(!small(&[]).to_toml().contains("models"));
    let recipe = fitted("bradley-terry", "pairs");
    assert_eq!(Recipe::parse("again", &recipe.to_toml()).unwrap().hash(), recipe.hash());
}

#[test]
fn a_model_that_does_not_beat_length_pays_only_where_it_is_forced_to() {
    let recipe = small_and(&format!("{COLLECT}{FIT}{LEARN}")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let making = Making::at(dir.path().join("run"));
    let refused = making.drive(&recipe, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RunError::Unproven { .. }), "{refused}");
    let text = refused.to_string();
    for part in [
        "model `reward` may not decide what `train` learns from",
        "which knows nothing of quality",
        "--set models.reward.force=true",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // The run goes on from there once it is told to, and says so.
    let folder = merit_store::RunFolder::open(&making.path).unwrap();
    let told = extend(&folder, &recipe, &[("models.reward.force".into(), "true".into())]).unwrap();
    drop(folder);
    let made = making.train(&told);
    assert_eq!(made.folder.metric(Phase::train(), "success").unwrap().len(), 3);
    let kinds: Vec<String> = made.folder.events().unwrap().into_iter().map(|event| event.kind).collect();
    assert!(kinds.contains(&"forced".into()) && kinds.contains(&"unproven-model".into()), "{kinds:?}");
    assert!(String::from_utf8_lossy(&made.file("report.html")).contains("Unproven model"));
}

#[test]
fn an_experiment_about_such_models_goes_on_and_the_record_says_so() {
    let recipe = small_and(&format!("{COLLECT}{FIT}{LEARN}")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let making = Making { unproven: Unproven::Tell, ..Making::at(dir.path().join("run")) };
    let made = making.train(&recipe);
    let said =
        made.folder.events().unwrap().into_iter().filter(|event| event.kind == "unproven-model").count();
    assert_eq!((said, made.folder.metric(Phase::train(), "success").unwrap().len()), (1, 3));
}

#[test]
fn a_model_that_was_proved_pays_and_one_without_a_row_never_does() {
    // One episode of each task makes no pair; the scalar is held against the mean reward, which it beats.
    let text = COLLECT
        .split("[[stages]]\ntype = \"make\"")
        .next()
        .unwrap()
        .replace("samples = 6", "samples = 1")
        .replace("tasks = 24", "tasks = 120");
    let fit = FIT
        .replace("bradley-terry", "regression")
        .replace("\"pairs\"", "\"tries\"")
        .replace("steps = 30", "steps = 60");
    let (_dir, made) = train(&small_and(&format!("{text}{fit}{LEARN}")).unwrap());
    assert!(made.folder.events().unwrap().iter().all(|event| event.kind != "unproven-model"));
    assert_eq!(made.folder.metric(Phase::train(), "success").unwrap().len(), 3);
    let one = forced().replace("tasks = 24", "tasks = 1");
    let asked = Making::at(made.folder.path().join("asked"));
    let error = asked.drive(&small_and(&format!("{one}{FIT}{LEARN}")).unwrap(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, RunError::NotFitted { .. }), "{error}");
}

#[test]
fn a_bag_of_words_is_fitted_to_pairs_and_to_rewards() {
    let bag = |loss: &str, from: &str| {
        // What nobody said of the start is not said of the bag.
        let bag = fitted(loss, from).with(&[("models.reward.like".into(), "bag".into())]).unwrap();
        assert!(!bag.to_toml().contains("start = "));
        train(&Recipe::parse("bag.toml", &bag.to_toml()).unwrap())
    };
    let (_dir, made) = bag("bradley-terry", "pairs");
    let fit = phase(StageKind::Fit, "reward");
    let losses = made.folder.metric(&fit, "loss").unwrap();
    // A layer of zeros cannot tell anything apart: -log sigmoid(0).
    assert!((losses[0].1 - 2_f64.ln()).abs() < 1e-12, "{losses:?}");
    assert!(losses[29].1 < losses[0].1, "{losses:?}");
    assert!((0.0..=1.0).contains(&made.last(&fit, "pair_accuracy")));
    // It chooses among samples like any other.
    assert!(made.finished.evaluations["chosen"].contains_key("best_of@4"));
    assert_eq!(made.newest("model-reward.f64").len(), (4096 * 8 + 8 + 1) * 8);
    let (_dir, made) = bag("regression", "tries");
    let losses = made.folder.metric(&fit, "loss").unwrap();
    assert!(losses[29].1 < losses[0].1, "{losses:?}");
}

/// The same with nothing known but what was said.
fn as_text(episode: &Episode) -> Episode {
    let mut transcript = Transcript::default();
    for segment in episode.transcript.segments() {
        let bare = Segment {
            provenance: Provenance::Imported,
            tokens: Vec::new(),
            logprobs: Vec::new(),
            values: Vec::new(),
            policy_version: None,
            known: Known::Text,
            ..segment.clone()
        };
        transcript.append(bare).unwrap();
    }
    Episode { transcript, ..episode.clone() }
}

#[test]
fn a_fitted_model_is_a_judge_elsewhere_and_says_what_it_said_in_the_run() {
    let (_dir, made) = train(&small_and(&format!("{}{FIT}{LEARN}", forced())).unwrap());
    let mut judge = FittedJudge::open(made.folder.path(), "reward", &built_in()).unwrap();
    assert!(judge.id().contains("reward (bradley-terry, 30 updates)"), "{}", judge.id());
    let said = made.folder.annotations().unwrap();
    let trained = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    let episodes: Vec<_> = trained.iter().map(|one| Arc::clone(&one.scored.episode)).collect();
    for (episode, answer) in episodes.iter().zip(judge.score(&episodes)) {
        let value = answer.verdict.value().unwrap();
        assert!((value - said[&episode.id][0].value).abs() < 1e-5, "{value}");
        assert_eq!(answer.cost.judge_tokens, episode.transcript.len() as u64);
    }
    // Of a text alone it makes the tokens that its policy would have had, where that chose the usual ones for the text.
    let tokenizer = Tokenizer::from_json(&String::from_utf8(made.newest("tokenizer.json")).unwrap()).unwrap();
    let usual = |episode: &Arc<Episode>| {
        let mut said = episode.transcript.segments().iter().filter(|segment| segment.role == Role::Policy);
        said.all(|segment| {
            let ended =
                segment.tokens.split_last().filter(|(last, _)| tokenizer.special_name(**last).is_some());
            tokenizer.encode(&segment.text) == ended.map_or(&segment.tokens[..], |(_, said)| said)
        })
    };
    let all = made.folder.episodes(&EpisodeFilter::default()).unwrap();
    let recorded: Vec<Arc<Episode>> =
        all.iter().map(|one| Arc::clone(&one.scored.episode)).filter(usual).collect();
    let texts: Vec<Arc<Episode>> = recorded.iter().map(|episode| Arc::new(as_text(episode))).collect();
    assert!(recorded.len() > 5, "{} of {}", recorded.len(), all.len());
    for (own, laid) in judge.score(&recorded).into_iter().zip(judge.score(&texts)) {
        assert_eq!((own.verdict, own.cost), (laid.verdict, laid.cost));
    }
    let unknown = FittedJudge::open(made.folder.path(), "rewrad", &built_in()).err().unwrap().to_string();
    assert!(unknown.contains("(did you mean `reward`?)"), "{unknown}");
}
