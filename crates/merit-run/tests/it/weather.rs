//! Whole runs in bad weather: tools that break, refuse and never answer, while the driver goes on.

use merit_core::{Outcome, Sample};
use merit_run::{Event, Finished, Options, Recipe, RunError, Unproven, train};
use merit_store::{EpisodeFilter, RunFolder, RunInfo, StoredEpisode};
use tempfile::TempDir;

const SMALL: &str = include_str!("staged/small.toml");

struct Run {
    _dir: TempDir,
    folder: RunFolder,
    events: Vec<Event>,
    finished: Result<Finished, RunError>,
}

fn run(changes: &[(&str, &str)]) -> Run {
    let changes: Vec<(String, String)> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let recipe = Recipe::parse("small.toml", SMALL).unwrap().with(&changes).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let info = RunInfo {
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        seed: 1,
        version: "0".into(),
        started_ms: 0,
    };
    let mut folder = RunFolder::create(&dir.path().join("run"), &recipe.to_toml(), &info).unwrap();
    let mut events = Vec::new();
    let options = Options {
        seed: 1,
        threads: 1,
        interrupt: Default::default(),
        ask: Default::default(),
        toolbox: Default::default(),
        starts: None,
        players: None,
        unproven: Unproven::Refuse,
        resumable: true,
    };
    let finished = train(&recipe, &mut folder, &options, &mut |event| events.push(event));
    Run { _dir: dir, folder, events, finished }
}

fn episodes(run: &Run, phase: &str) -> Vec<StoredEpisode> {
    run.folder.episodes(&EpisodeFilter::phase(phase)).unwrap()
}

fn count(episodes: &[StoredEpisode], outcome: Outcome) -> usize {
    episodes.iter().filter(|e| e.scored.outcome() == outcome).count()
}

#[test]
fn tools_that_break_cost_their_episodes_and_nothing_else() {
    let run = run(&[("world.faults.broken", "0.5"), ("warm_start.world.faults.broken", "0.0")]);
    run.finished.as_ref().unwrap();
    let trained = episodes(&run, "train");
    assert_eq!(trained.len(), 3 * 16);
    let broken = count(&trained, Outcome::InfrastructureFailed);
    assert!(broken > 0 && broken < trained.len(), "{broken} of {}", trained.len());
    for stored in &trained {
        let failed = stored.scored.outcome() == Outcome::InfrastructureFailed;
        let credit = stored.credit.as_ref().unwrap();
        assert_eq!(stored.scored.reward().is_none(), failed);
        assert_eq!(Sample::of(&stored.scored, 0).unwrap().trainable() == 0, failed);
        assert!(!failed || credit.advantages.iter().all(|a| *a == 0.0));
    }
    let told = run.folder.metric("train", "outcome/infrastructure failed").unwrap();
    assert_eq!(told.iter().map(|(_, n)| n).sum::<f64>(), broken as f64);
}

#[test]
fn a_run_in_which_every_call_breaks_still_ends_and_says_so() {
    let run = run(&[("world.faults.broken", "1.0"), ("warm_start.world.faults.broken", "0.0")]);
    run.finished.as_ref().unwrap();
    let steps = run.events.iter().filter(|e| matches!(e, Event::Step { .. })).count();
    assert_eq!(steps, 3);
    for event in &run.events {
        let line = serde_json::to_value(event).unwrap();
        assert!(line["event"].is_string(), "{line}");
    }
    let calls_that_answered = episodes(&run, "train")
        .iter()
        .flat_map(|e| e.scored.episode.turns.clone())
        .flat_map(|t| t.calls)
        .filter(|c| c.end == merit_core::CallEnd::Ok)
        .count();
    assert_eq!(calls_that_answered, 0);
}

#[test]
fn tools_that_never_answer_are_the_agents_to_cope_with() {
    let run = run(&[
        ("world.faults.timed_out", "0.5"),
        ("warm_start.world.faults.timed_out", "0.0"),
        ("rollout.tool_seconds", "0.02"),
    ]);
    run.finished.as_ref().unwrap();
    let trained = episodes(&run, "train");
    assert_eq!(count(&trained, Outcome::InfrastructureFailed), 0);
    let late = trained
        .iter()
        .flat_map(|e| &e.scored.episode.turns)
        .flat_map(|t| &t.calls)
        .filter(|c| c.end == merit_core::CallEnd::TimedOut)
        .count();
    assert!(late > 0);
}

#[test]
fn demonstrations_in_a_world_that_breaks_are_refused_with_their_name() {
    let run = run(&[("world.faults.broken", "1.0")]);
    let error = run.finished.unwrap_err().to_string();
    let want = "demonstration demonstration/0/0/0 ended as `failed (tool)`; the world's demonstrator must finish every task within 64 turns and `rollout.episode_seconds`";
    assert_eq!(error, want);
}

#[test]
fn a_context_too_short_for_the_demonstrations_is_refused_with_what_to_raise() {
    let run = run(&[("model.context", "20"), ("rollout.max_turn_tokens", "8")]);
    let error = run.finished.unwrap_err().to_string();
    assert!(
        error.ends_with("but the context holds 20; raise `model.context` or make the tasks smaller"),
        "{error}"
    );
}
