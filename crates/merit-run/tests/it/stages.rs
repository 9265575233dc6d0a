//! Recipes of stages: what each stage does, that the short form is one of them, and that a kill changes nothing.

use crate::whole::{Made, Making, phase, small, small_and, train};
use merit_core::{Outcome, Phase, StageKind};
use merit_run::{Event, Recipe, shipped};
use merit_store::EpisodeFilter;

/// The hashes of the recipes as they were before there were stages.
#[test]
fn a_recipe_without_stages_keeps_its_hash() {
    let known = [
        ("ledger-tools", "1132d9745f8ef080"),
        ("ledger-ppo", "68ad4f549c8a1ac9"),
        ("ledger-gspo", "d8de610c7a920560"),
        ("ledger-dpo", "344f7b048939309e"),
        ("ledger-kto", "350388b7b9f0f71e"),
        ("ledger-turns", "9544da8876723162"),
        ("ledger-branches", "c858cf70a0e80d17"),
        ("ledger-trees", "08f0e1f1bc62679a"),
    ];
    for (name, hash) in known {
        assert_eq!(shipped::load(name).unwrap().hash(), hash, "{name}");
    }
    assert_eq!(small(&[]).hash(), "b4ea34c9e8032bf5");
}

#[test]
fn the_short_form_is_four_stages_to_the_bit() {
    let long = small_and(
        r#"
        [[stages]]
        type = "imitate"
        from = "demonstrations"
        [[stages]]
        type = "evaluate"
        name = "before"
        [[stages]]
        type = "learn"
        [[stages]]
        type = "evaluate"
        name = "after"
        "#,
    );
    let changes = [("evaluation.every".to_owned(), "1".to_owned())];
    let (_a, long) = train(&long.unwrap().with(&changes).unwrap());
    let (_b, short) = train(&small(&[("evaluation.every", "1")]));
    long.must_be(&short);
    assert_eq!(long.finished.evaluations["after"]["success"], short.finished.held_out_after);
    assert!(short.finished.evaluations.is_empty());
}

const FILTERED: &str = r#"
[[stages]]
type = "imitate"
from = "demonstrations"
steps = 60
[[stages]]
type = "evaluate"
name = "before"
[[stages]]
type = "repeat"
times = 2
[[stages.stages]]
type = "collect"
into = "tries"
tasks = 6
samples = 5
[[stages.stages]]
type = "make"
from = "tries"
into = "good"
keep = { reward_at_least = 0.0 }
[[stages.stages]]
type = "imitate"
from = "good"
steps = 3
batch = 4
learning_rate = 1e-2
[[stages.stages]]
type = "evaluate"
name = "round"
tasks = 4
samples = 3
"#;

#[test]
fn rounds_of_collecting_and_imitating_are_recorded_stage_by_stage() {
    let (_dir, made) = train(&small_and(FILTERED).unwrap());
    let collect = phase(StageKind::Collect, "tries");
    let tries = made.folder.episodes(&EpisodeFilter::phase(&collect)).unwrap();
    assert_eq!(tries.len(), 2 * 6 * 5);
    // Four tasks are played at once, so that a round takes two steps; the next round plays other tasks.
    let tasks_of = |step: u64| -> Vec<&str> {
        let of_step = tries.iter().filter(|t| t.scored.episode.id.step == step);
        of_step.map(|t| t.scored.episode.task.id.as_str()).collect()
    };
    assert_eq!([0, 1, 2, 3].map(|step| tasks_of(step).len()), [20, 10, 20, 10]);
    assert_ne!(tasks_of(0), tasks_of(2));
    let of_round = |round: u64| tries.iter().filter(move |t| t.scored.episode.id.step / 2 == round);
    assert!(of_round(0).all(|t| t.scored.episode.policy_version.0 == 0));
    assert!(
        of_round(1).all(|t| t.scored.episode.policy_version.0 == 3),
        "three updates were made in between"
    );
    let good = phase(StageKind::Make, "good");
    for round in [0, 1] {
        let counting = of_round(round).filter(|t| t.scored.reward().is_some()).count();
        let kept = made.folder.metric(&good, "episodes").unwrap();
        assert_eq!(kept[round as usize], (round, counting as f64));
        assert_eq!(made.folder.metric(&good, "of_episodes").unwrap()[round as usize].1, 30.0);
    }
    let costs = made.folder.costs().unwrap();
    assert_eq!(costs[&Phase::Warm].updates, 60);
    assert_eq!(costs[&phase(StageKind::Imitate, "good")].updates, 6);
    assert!(costs[&phase(StageKind::Imitate, "good")].trained_tokens > 0);
    let sampled: u64 = tries.iter().map(|t| t.scored.episode.cost.policy_tokens).sum();
    assert_eq!(costs[&collect].policy_tokens, sampled);
    let losses = made.folder.metric(phase(StageKind::Imitate, "good"), "loss").unwrap();
    assert_eq!(losses.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert!(made.newest("warm.safetensors") == made.newest("weights.safetensors"));
    assert_eq!(made.finished.evaluations.keys().collect::<Vec<_>>(), ["before", "round"]);
    assert!(std::fs::read_to_string(&made.finished.report).unwrap().contains(">round<"));
}

#[test]
fn samples_of_an_evaluation_give_pass_at_k_and_pass_hat_k() {
    let (_dir, made) = train(&small_and(FILTERED).unwrap());
    let eval = phase(StageKind::Samples, "round");
    let sampled = made.folder.episode_rows(&EpisodeFilter::step(&eval, 1)).unwrap();
    assert_eq!(sampled.len(), 4 * 3);
    let solved = |group: u32| -> Vec<bool> {
        let of = sampled.iter().filter(|row| row.id.group == group && row.outcome.is_valid());
        of.map(|row| row.outcome == Outcome::Solved).collect()
    };
    let tasks: Vec<Vec<bool>> = (0..4).map(solved).collect();
    let share = |holds: &dyn Fn(&Vec<bool>) -> bool| tasks.iter().filter(|t| holds(t)).count() as f64 / 4.0;
    let round = phase(StageKind::Evaluate, "round");
    assert_eq!(made.last(&round, "pass@3"), share(&|task| task.contains(&true)));
    assert_eq!(made.last(&round, "pass^3"), share(&|task| !task.contains(&false)));
    let each: f64 = tasks.iter().flatten().filter(|solved| **solved).count() as f64 / 12.0;
    assert!((made.last(&round, "pass@1") - each).abs() < 1e-12);
    assert!((made.last(&round, "pass^1") - each).abs() < 1e-12);
    let told = &made.finished.evaluations["round"];
    assert_eq!(told["pass@3"], made.last(&round, "pass@3"));
    assert_eq!(told["count"], 4.0);
}

const PAIRS: &str = r#"
[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "collect"
into = "tries"
tasks = 8
samples = 6
set = { reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.01 }] } }
[[stages]]
type = "make"
from = "tries"
into = "pairs"
keep = "pairs"
[[stages]]
type = "prefer"
from = "pairs"
objective = { type = "dpo", beta = 0.5 }
steps = 6
batch = 4
learning_rate = 1e-2
[[stages]]
type = "evaluate"
name = "after"
"#;

fn pairs(objective: &str) -> Recipe {
    small_and(&PAIRS.replace("{ type = \"dpo\", beta = 0.5 }", objective)).unwrap()
}

#[test]
fn pairs_are_preferred_relative_to_the_policy_at_the_stages_start() {
    for objective in ["{ type = \"dpo\", beta = 0.5 }", "{ type = \"kto\", beta = 0.5 }"] {
        let (_dir, made) = train(&pairs(objective));
        let kept = made.last(&phase(StageKind::Make, "pairs"), "episodes");
        assert!(kept >= 2.0 && kept % 2.0 == 0.0, "{kept}");
        let prefer = phase(StageKind::Prefer, "pairs");
        let losses = made.folder.metric(&prefer, "loss").unwrap();
        assert_eq!(losses.len(), 6);
        // Where policy and reference are the same, -log sigmoid(0) = log 2 of each pair; 1 - sigmoid(0) = 1/2 of each sample.
        let want = if objective.contains("dpo") { 2_f64.ln() } else { 0.5 };
        assert!((losses[0].1 - want).abs() < 1e-4, "{objective}: {losses:?}");
        assert!(losses[5].1 < losses[0].1, "{objective}: {losses:?}");
        let cost = made.folder.costs().unwrap()[&prefer];
        assert_eq!(cost.updates, 6);
        assert!(cost.trained_tokens > 0);
        let after = made.folder.episode_rows(&EpisodeFilter::phase("eval-after")).unwrap();
        assert!(after.iter().all(|row| row.policy_version.0 == 6));
    }
}

#[test]
fn stages_of_learning_go_on_from_each_other_with_settings_of_their_own() {
    let text = r#"
        [[stages]]
        type = "learn"
        name = "easy"
        steps = 2
        set = { world = { sizes = [1] }, rollout = { temperature = 0.7 } }
        [[stages]]
        type = "learn"
        [[stages]]
        type = "evaluate"
        name = "easy"
        tasks = 3
        set = { world = { sizes = [1], held_out_sizes = [1] } }
        "#;
    let recipe = small_and(text).unwrap().with(&[("evaluation.every".into(), "1".into())]).unwrap();
    let (_dir, made) = train(&recipe);
    let episodes = |phase: &Phase| made.folder.episodes(&EpisodeFilter::phase(phase)).unwrap();
    let easy = episodes(&phase(StageKind::Learn, "easy"));
    assert_eq!(easy.len(), 2 * 16);
    assert!(easy.iter().all(|e| e.scored.episode.task.size == 1));
    let main = episodes(&Phase::train());
    assert_eq!(main.len(), 3 * 16);
    assert!(main.iter().all(|e| e.scored.episode.policy_version.0 == 2 + e.scored.episode.id.step));
    let gap = made.folder.metric(phase(StageKind::Learn, "easy"), "logprob_gap").unwrap();
    assert!(gap.iter().all(|(_, gap)| *gap < 1e-4), "log-probabilities are those of 0.7: {gap:?}");
    assert_eq!(made.folder.metric(phase(StageKind::Between, "easy"), "success").unwrap().len(), 1);
    assert_eq!(made.folder.metric("eval-step", "success").unwrap().len(), 2);
    let suite = episodes(&phase(StageKind::Evaluate, "easy"));
    assert_eq!(suite.len(), 3);
    assert!(suite.iter().all(|e| e.scored.episode.task.size == 1));
    let steps = made.events.iter().filter_map(|event| match event {
        Event::Step { phase, .. } => Some(phase.owner()),
        _ => None,
    });
    assert_eq!(steps.collect::<Vec<_>>(), ["easy", "easy", "main", "main", "main"]);
}

#[test]
fn a_dataset_in_which_nothing_is_left_teaches_nothing_and_says_so() {
    let text = FILTERED.replace("{ reward_at_least = 0.0 }", "{ reward_at_least = 5.0 }");
    let (_dir, made) = train(&small_and(&text).unwrap());
    assert_eq!(made.last(&phase(StageKind::Make, "good"), "episodes"), 0.0);
    assert!(made.folder.metric(phase(StageKind::Imitate, "good"), "loss").unwrap().is_empty());
    let events = made.folder.events().unwrap();
    assert_eq!(events.iter().filter(|event| event.kind == "empty-dataset").count(), 2);
}

#[test]
fn a_run_of_stages_that_is_killed_and_resumed_ends_as_if_nothing_had_happened() {
    // The first kills are those in the warm start, where there is a checkpoint every ten steps.
    let recipes = [(small_and(FILTERED).unwrap(), vec![50, 24]), (pairs("{ type = \"dpo\" }"), vec![44])];
    for (recipe, first) in recipes {
        let recipe = recipe.with(&[("budget.checkpoint_every".into(), "1".into())]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let whole = Making::at(dir.path().join("whole")).train(&recipe);
        let killed = Making::at(dir.path().join("killed"));
        let mut moments = first.into_iter().chain(std::iter::repeat(6));
        let kills = moments.by_ref().take(50).take_while(|at| killed.kill(&recipe, *at)).count();
        assert!((4..50).contains(&kills), "{kills} kills");
        killed.train(&recipe).must_be(&whole);
    }
}

#[test]
fn short_and_long_form_share_a_warm_start() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let train =
        |name: &str, recipe: &Recipe| Making::at(dir.path().join(name)).sharing(&starts).train(recipe);
    let shared = |made: &Made| made.events.iter().any(|e| matches!(e, Event::Warm { shared: true, .. }));
    assert!(!shared(&train("short", &small(&[("warm_start.steps", "60")]))));
    assert!(shared(&train("long", &small_and(FILTERED).unwrap())));
}

/// The shipped recipes of stages, with hardly any steps: their stages and sets, not their results.
#[test]
fn shipped_recipes_of_stages_run() {
    let models = [("ledger-reward-model", "policy"), ("ledger-reward-model", "bag")];
    let others = ["ledger-filtered", "ledger-pairs", "ledger-merged"].map(|name| (name, ""));
    for (name, like) in models.into_iter().chain(others) {
        let text = shipped::recipes().iter().find(|r| r.about.name == name).unwrap().text;
        let shorter = [
            ("width = 128", "width = 16"),
            ("feed_forward = 256", "feed_forward = 32"),
            ("heads = 8", "heads = 2"),
            ("kv_heads = 4", "kv_heads = 1"),
            ("kv_heads = 2", "kv_heads = 1"),
            ("demonstrations = 8000", "demonstrations = 200"),
            ("steps = 2200", "steps = 60"),
            ("learning_rate = 2.5e-3", "learning_rate = 1e-2"),
            ("times = 6", "times = 2"),
            ("tasks = 192", "tasks = 8"),
            ("tasks = 384", "tasks = 8"),
            ("tasks = 256", "tasks = 8"),
            ("tasks = 128", "tasks = 8"),
            ("tasks = 96", "tasks = 4"),
            ("groups = 32", "groups = 4"),
            ("steps = 150", "steps = 3"),
            ("steps = 12", "steps = 1"),
            ("steps = 10", "steps = 1"),
            ("steps = 64", "steps = 2"),
            ("steps = 48", "steps = 2"),
        ];
        let text = shorter.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        let text = text.replace("like = \"policy\"", &format!("like = \"{like}\""));
        let (_dir, made) = train(&Recipe::parse(name, &text).unwrap());
        assert!(made.finished.held_out_after.is_finite(), "{name}");
        let measured = if name == "ledger-reward-model" { "best_of@8" } else { "pass^4" };
        let told = &made.finished.evaluations["after"];
        assert!(name == "ledger-merged" || told.contains_key(measured), "{name}: {told:?}");
    }
}
