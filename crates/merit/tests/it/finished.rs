//! A finished run: what `--json` says of it, whether the record keeps its rules, and what can be done with it.

use crate::tiny;

use crate::tiny::{Said, reference, say};
use merit_core::conformance::{check_episode, check_sample, check_score};
use merit_core::{EpisodeId, Sample, ScoredEpisode, TokenId};
use merit_model::{TrainSequence, Weights, Workers, score_sequences};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::Value;
use std::collections::BTreeSet;

/// Asks `merit ARGUMENTS` in the folder where the reference run is.
fn ask(arguments: &[&str]) -> Said {
    say(reference().path.parent().unwrap(), arguments).well()
}

fn stored(phase: &str) -> Vec<ScoredEpisode> {
    let folder = RunFolder::open_read_only(&reference().path).unwrap();
    let found = folder.episodes(&EpisodeFilter::phase(phase)).unwrap();
    assert!(!found.is_empty(), "{phase}");
    found.into_iter().map(|stored| stored.scored).collect()
}

fn phases() -> Vec<String> {
    let all = RunFolder::open_read_only(&reference().path).unwrap().phases().unwrap();
    all.iter().map(ToString::to_string).filter(|phase| phase != "warm").collect()
}

#[test]
fn a_step_as_json_has_every_metric_of_the_record() {
    let lines = reference().said.json();
    let step = lines.iter().find(|event| event["event"] == "step" && event["step"] == 2).unwrap();
    let told = step["metrics"].as_object().unwrap();
    let metrics = RunFolder::open_read_only(&reference().path).unwrap().metrics().unwrap();
    let recorded: Vec<_> =
        metrics.iter().filter(|one| one.phase.to_string() == "train" && one.step == 1).collect();
    assert!(recorded.len() > 20);
    for metric in &recorded {
        assert_eq!(
            told[&metric.name].as_f64(),
            Some(metric.value).filter(|value| value.is_finite()),
            "{}",
            metric.name
        );
    }
    assert_eq!(told.len(), recorded.len());
    for part in ["rollout", "tools", "reward", "update"] {
        assert!(told[&format!("seconds/{part}")].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn training_as_json_is_one_object_a_line_and_the_last_is_the_result() {
    let lines = reference().said.json();
    let (last, events) = lines.split_last().unwrap();
    assert!(events.iter().all(|event| event["event"].is_string()), "{events:#?}");
    for (key, fits) in [
        ("held_out_before", Value::is_f64 as fn(&Value) -> bool),
        ("held_out_after", Value::is_f64),
        ("train_seconds", Value::is_f64),
        ("run", Value::is_string),
        ("recipe", Value::is_string),
        ("recipe_hash", Value::is_string),
        ("seed", Value::is_u64),
        ("report", Value::is_string),
        ("controls", Value::is_object),
    ] {
        assert!(fits(&last[key]), "`{key}` of {last:#}");
    }
    assert!(last["train_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(last["run"], "undisturbed");
    assert!(reference().path.join("report.html").is_file());
}

#[test]
fn the_share_that_is_done_only_grows_and_ends_near_one() {
    let lines = reference().said.json();
    let shares: Vec<f64> = lines.iter().filter_map(|event| event["done"].as_f64()).collect();
    assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]), "{shares:?}");
    assert!(
        shares[0] == 0.0 && *shares.last().unwrap() > 0.9 && shares.iter().all(|s| *s <= 1.0),
        "{shares:?}"
    );
}

#[test]
fn show_as_json_agrees_with_what_training_said() {
    let said = ask(&["show", "undisturbed", "--json"]).json();
    let [shown] = said.as_slice() else { panic!("{said:?}") };
    let last = reference().said.json().pop().unwrap();
    assert_eq!(shown["finished"], true);
    for key in ["recipe", "recipe_hash", "seed", "train_seconds"] {
        assert_eq!(shown[key], last[key], "{key}");
    }
    let held_out = shown["held_out"].as_array().unwrap();
    for (phase, key) in [("eval-before", "held_out_before"), ("eval-after", "held_out_after")] {
        let row = held_out.iter().find(|row| row["phase"] == phase).unwrap();
        assert_eq!(row["all"]["success"], last[key], "{phase}");
    }
}

#[test]
fn every_episode_can_be_shown_as_text_and_as_json() {
    for phase in phases() {
        let scored = &stored(&phase)[0];
        let name = scored.episode.id.to_string();
        let text = ask(&["show", "undisturbed", "--episode", &name]).out;
        assert!(text.starts_with(&format!("{name}  task {}\n", scored.episode.task.id)), "{text}");
        assert!(text.contains(scored.outcome().name()), "{text}");
        let said = ask(&["show", "undisturbed", "--episode", &name, "--json"]).json();
        let [shown] = said.as_slice() else { panic!("{said:?}") };
        let episode: merit_core::Episode = serde_json::from_value(shown["episode"].clone()).unwrap();
        assert_eq!(episode, *scored.episode);
        assert_eq!(shown["credit"].is_object(), phase.starts_with("train"), "{phase}");
    }
}

#[test]
fn every_stored_episode_keeps_the_rules_of_the_record() {
    let mut seen = BTreeSet::new();
    for scored in phases().iter().flat_map(|phase| stored(phase)) {
        let none = Vec::<String>::new();
        assert_eq!(check_episode(&scored.episode), none);
        let score = scored.score.as_ref().unwrap();
        assert_eq!(check_score(score, scored.episode.turns.len()), none);
        assert_eq!(check_sample(&scored, &Sample::of(&scored, 0).unwrap()), none);
        seen.insert(scored.outcome());
    }
    assert!(seen.len() >= 2, "a run that meets only {seen:?} checks too little");
}

/// The largest difference between the stored log-probabilities and those of `weights`, over whole episodes.
fn gap(phase: &str, step: u64, weights: &str) -> f32 {
    let bytes = reference().essence.newest(weights);
    let weights = Weights::from_safetensors(bytes).unwrap();
    let limit = weights.config().max_context;
    let episodes: Vec<ScoredEpisode> =
        stored(phase).into_iter().filter(|s| s.episode.id.step == step).collect();
    let cut = |stream_of: &ScoredEpisode| {
        let mask = stream_of.episode.transcript.mask();
        mask.iter().rposition(|&m| m).map_or(0, |last| last + 1)
    };
    let streams: Vec<(Vec<TokenId>, Vec<bool>, Vec<f32>)> = episodes
        .iter()
        .map(|s| {
            let (transcript, cut) = (&s.episode.transcript, cut(s));
            let take = |mut tokens: Vec<TokenId>| {
                tokens.truncate(cut);
                tokens
            };
            (
                take(transcript.tokens()),
                transcript.mask()[..cut].to_vec(),
                transcript.logprobs()[..cut].to_vec(),
            )
        })
        .collect();
    assert!(streams.iter().all(|(tokens, ..)| tokens.len() <= limit));
    let sequences: Vec<TrainSequence<'_>> =
        streams.iter().map(|(tokens, mask, _)| TrainSequence { tokens, needed: mask }).collect();
    let scores = score_sequences(&weights, &sequences, 1.0, &Workers::new(1).unwrap()).unwrap();
    let mut compared = 0;
    let mut largest = 0.0_f32;
    for (score, (_, mask, logprobs)) in scores.iter().zip(&streams) {
        for at in (0..mask.len()).filter(|&at| mask[at]) {
            largest = largest.max((score.logprobs[at] - logprobs[at]).abs());
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} tokens of {phase}/{step} were compared");
    largest
}

#[test]
fn stored_log_probabilities_are_those_of_the_policy_that_sampled() {
    // Evaluations are greedy, and their log-probabilities are those of the policy itself, at temperature 1.
    for (phase, step, weights) in [
        ("eval-before", 0, "warm.safetensors"),
        ("train", 0, "warm.safetensors"),
        ("train@no-tool", 0, "warm.safetensors"),
        ("eval-after", 7, "trained.safetensors"),
        ("eval-after@no-tool", 7, "weights.safetensors"),
    ] {
        let gap = gap(phase, step, weights);
        assert!(gap <= 1e-5, "{phase}/{step} under {weights}: {gap}");
    }
    // The check would notice another policy.
    assert!(gap("eval-after", 7, "warm.safetensors") > 1e-3);
    assert!(gap("train", 6, "warm.safetensors") > 1e-3);
}

#[test]
fn every_update_saw_the_log_probabilities_that_sampling_recorded() {
    let folder = RunFolder::open_read_only(&reference().path).unwrap();
    for phase in ["train", "train@no-tool"] {
        let gaps = folder.metric(phase, "logprob_gap").unwrap();
        assert_eq!(gaps.len(), 7, "{phase}");
        assert!(gaps.iter().all(|(_, gap)| *gap <= 1e-5), "{phase}: {gaps:?}");
    }
}

fn episode_of(line: &Value) -> merit_core::Episode {
    serde_json::from_value(line["episode"].clone()).unwrap()
}

#[test]
fn a_trained_policy_can_be_watched_and_gives_the_same_episodes_again() {
    let arguments = ["rollout", "--run", "undisturbed", "--tasks", "4", "--json", "--seed", "1"];
    let once = ask(&arguments).json();
    assert_eq!(once.len(), 4);
    assert_eq!(
        ask(&arguments).json().iter().map(|l| episode_of(l).content_hash()).collect::<Vec<_>>(),
        once.iter().map(|l| episode_of(l).content_hash()).collect::<Vec<_>>()
    );
    // The same seed deals the tasks of the run's own evaluation, on which the trained policy does what it did then.
    for (line, then) in once.iter().zip(stored("eval-after")) {
        let now = episode_of(line);
        assert_eq!(now.task, then.episode.task);
        assert_eq!(now.transcript.tokens(), then.episode.transcript.tokens());
        assert_eq!(line["reward"].as_f64(), then.reward());
    }
}

#[test]
fn a_fork_keeps_what_came_before_it_and_goes_its_own_way() {
    let said = ask(&[
        "rollout",
        "--run",
        "undisturbed",
        "--tasks",
        "8",
        "--temperature",
        "1",
        "--fork-at",
        "1",
        "--json",
    ]);
    let episodes: Vec<merit_core::Episode> = said.json().iter().map(episode_of).collect();
    let (trunks, forks): (Vec<_>, Vec<_>) = episodes.iter().partition(|e| e.id.branch == 0);
    assert_eq!(trunks.len(), 8);
    assert_eq!(forks.len(), trunks.iter().filter(|t| t.turns.len() > 1).count());
    assert!(!forks.is_empty(), "no episode was long enough to fork");
    for fork in &forks {
        assert_eq!(check_episode(fork), Vec::<String>::new());
        let of = EpisodeId { branch: 0, ..fork.id.clone() };
        let trunk = trunks.iter().find(|t| t.id == of).unwrap();
        let kept = trunk.transcript.before_turn(1);
        assert!(!kept.is_empty() && kept.len() < trunk.transcript.len());
        let (own, theirs) = (fork.transcript.before_turn(1), kept);
        assert_eq!(own.tokens(), theirs.tokens());
        assert_eq!(own.logprobs(), theirs.logprobs());
        assert_eq!(fork.turns[0].action, trunk.turns[0].action);
    }
    let other = |fork: &&&merit_core::Episode| {
        let trunk = trunks.iter().find(|t| t.id == EpisodeId { branch: 0, ..fork.id.clone() }).unwrap();
        trunk.transcript.tokens() != fork.transcript.tokens()
    };
    assert!(forks.iter().filter(other).count() > 0, "every fork repeated its trunk");
}

#[test]
fn the_oracle_solves_every_task_of_the_shipped_world() {
    let said = ask(&["rollout", "--tasks", "8", "--json"]);
    assert_eq!(said.json().len(), 8);
    assert!(said.json().iter().all(|line| line["outcome"] == "solved"), "{}", said.out);
}

#[test]
fn a_run_can_be_shown_and_played_while_it_is_unfinished() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = tiny::merit(dir.path())
        .args(["train", tiny::RECIPE, "--json", "--run", "run"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    lines.find(|line| line.as_ref().unwrap().contains("\"arm\":\"main\",\"step\":2,")).unwrap().unwrap();
    let shown = say(dir.path(), ["show", "run", "--json"]).well().json();
    assert_eq!(shown[0]["finished"], false);
    say(dir.path(), ["show", "run"]).well();
    say(dir.path(), ["rollout", "--run", "run", "--tasks", "1"]).well();
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = say(dir.path(), ["show", "run"]).well().out;
    assert!(shown.contains("not finished: `merit train --resume run` goes on"), "{shown}");
    let compared = say(dir.path(), ["compare", "run", &reference().path.display().to_string()]);
    assert!(compared.code == Some(2) && compared.err.contains("--resume run"), "{}", compared.err);
    assert!(!dir.path().join("run/report.html").exists());
}

#[test]
fn resuming_a_finished_run_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    copy(&reference().path, &run);
    let last = say(dir.path(), ["train", "--resume", "run", "--json"]).well().json().pop().unwrap();
    let then = reference().said.json().pop().unwrap();
    for key in ["held_out_before", "held_out_after", "controls", "held_out_by_size"] {
        assert_eq!(last[key], then[key], "{key}");
    }
    tiny::essence(&run).must_be(&reference().essence);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            std::fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}
