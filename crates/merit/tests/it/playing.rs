//! A world by hand, and replies that are held to a grammar.

use crate::tiny::{Said, merit, say};
use merit_core::{Episode, Outcome, Phase, Role, When};
use merit_endpoint::{Reply, ScriptedServer};
use merit_store::{EpisodeFilter, RunFolder};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

const SMALL: [&str; 14] = [
    "--set",
    "warm_start.demonstrations=60",
    "--set",
    "warm_start.steps=10",
    "--set",
    "budget.steps=0",
    "--set",
    "evaluation.tasks=12",
    "--set",
    "evaluation.every=0",
    "--set",
    "model.width=48",
    "--set",
    "model.heads=6",
];

/// `merit ARGUMENTS` with `typed` at the keyboard.
fn typed(dir: &Path, arguments: &[&str], typed: &str) -> String {
    let mut command = merit(dir);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    Said::of(&child.wait_with_output().unwrap()).well().out
}

/// What is said where input is refused.
fn refused(dir: &Path, arguments: &[&str]) -> String {
    let said = say(dir, arguments);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    said.err
}

#[test]
fn a_world_is_played_by_hand_and_the_expert_helps() {
    let dir = tempfile::tempdir().unwrap();
    // The prompt of the first held-out task is complete, so that it can be filled in at once.
    let arguments = ["play", "inquiry", "--set", "world.sizes=[1]"];
    let shown = typed(dir.path(), &arguments, "nonsense\n?\n");
    assert!(
        shown.contains("say ask SLOT or fill HUE SIZE SHAPE WOOD"),
        "what cannot be read is answered: {shown}"
    );
    let filled = shown.rsplit("expert").next().unwrap().trim().lines().next().unwrap().trim().to_owned();
    assert!(filled.starts_with("fill "), "{shown}");
    assert!(shown.contains("left after "), "the end of the input ends the episode: {shown}");

    let won = typed(dir.path(), &arguments, &format!("{filled}\n"));
    assert!(won.contains("solved after 1 turns, reward 1.00"), "{won}");
    assert!(won.contains("  extra_turns 1\n"), "what the world knows is told in the end: {won}");
}

/// What worlds need that are a program of somebody's own.
const PROGRAMS: [(&str, &[&str]); 2] = [
    (
        "command",
        &[
            "--set",
            concat!(
                "world.command=['python3', '",
                env!("CARGO_MANIFEST_DIR"),
                "/../../docs/worlds/guess.py']"
            ),
            "--set",
            "world.expert=true",
        ],
    ),
    (
        "python",
        &[
            "--set",
            concat!("world.module=", env!("CARGO_MANIFEST_DIR"), "/../../docs/python/guess.py:Guess"),
            "--set",
            "world.settings={high=4}",
            "--set",
            "world.python=python3",
        ],
    ),
];

#[test]
fn every_world_is_played_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    for entry in merit_env::WORLDS {
        let name = entry.about.name;
        let program = PROGRAMS.iter().find(|(world, _)| *world == name).map_or(&[][..], |(_, set)| set);
        let arguments = [&["play", name], program].concat();
        let shown = typed(dir.path(), &arguments, "?\n");
        assert!(shown.starts_with(&format!("{name}: {}", entry.about.summary)), "{name}: {shown}");
        assert!(shown.contains(" world  "), "{name} begins with nothing: {shown}");
        assert!(shown.contains("expert  ") || name == "python", "{name} has nobody to ask: {shown}");
        assert!(shown.contains("left after "), "{name} does not end: {shown}");
    }
}

#[test]
fn a_world_that_no_recipe_is_played_in_is_solved_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let told = |world: &str, lines: &str| typed(dir.path(), &["play", world], lines);
    // Whoever asks, says what the expert said, and asks again, comes to the end.
    for world in ["vault", "rows"] {
        let mut lines = String::new();
        let won = (0..12).find_map(|_| {
            let shown = told(world, &format!("{lines}?\n"));
            let hint = shown.rsplit("expert  ").next()?.lines().next()?.trim().to_owned();
            lines.push_str(&format!("{hint}\n"));
            Some(told(world, &lines)).filter(|shown| shown.contains("solved after"))
        });
        assert!(won.unwrap_or_default().contains("reward 1.00"), "{world}: {lines}");
    }
}

#[test]
fn a_world_that_is_not_there_is_refused_with_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let refused = refused(dir.path(), &["play", "inquiri"]);
    assert!(refused.contains("did you mean the world `inquiry`?"), "{refused}");
}

#[test]
fn a_grammar_makes_every_reply_of_a_policy_that_knows_nothing_fit_its_schema() {
    let dir = tempfile::tempdir().unwrap();
    let train = |run: &str, set: &str| {
        let arguments = ["train", "catalogue-json", "--run", run, "--set", set];
        say(dir.path(), arguments.iter().chain(&SMALL)).well();
        let folder = RunFolder::open_read_only(&dir.path().join(run)).unwrap();
        let filter = EpisodeFilter::phase(Phase::eval(When::Before));
        let episodes = folder.episodes(&filter).unwrap();
        assert!(episodes.iter().all(|stored| stored.scored.outcome() != Outcome::InfrastructureFailed));
        let fits = |episode: &Episode| {
            let reply: Option<serde_json::Value> =
                episode.answer().and_then(|text| serde_json::from_str(text).ok());
            let keys: Vec<String> =
                reply.iter().filter_map(|reply| reply.as_object()).flat_map(|o| o.keys().cloned()).collect();
            episode.task.payload["schema"]["required"] == serde_json::json!(keys)
        };
        episodes.iter().filter(|stored| fits(&stored.scored.episode)).count()
    };
    assert_eq!(
        train("held", "rollout={grammar=true,max_turns=1,max_turn_tokens=90,max_episode_tokens=90}"),
        12
    );
    assert!(train("free", "rollout={max_turns=1,max_turn_tokens=90,max_episode_tokens=90}") < 6);
}

#[test]
fn a_grammar_is_refused_where_reward_teaches_and_where_the_world_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let steps = refused(dir.path(), &["train", "catalogue-json", "--set", "rollout.grammar=true"]);
    assert!(steps.contains("`rollout.grammar` makes the policy act by other probabilities"), "{steps}");
    let arguments = ["train", "inquiry-form", "--set", "rollout.grammar=true"];
    let said = say(dir.path(), arguments.iter().chain(&SMALL));
    assert_ne!(said.code, Some(0));
    let refused = said.err;
    assert!(refused.contains("its tasks have no JSON Schema to hold turns to"), "{refused}");
}

#[test]
fn a_temperature_of_evaluation_samples_what_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    // How likely the policy found what it said, by token, and what it said.
    let train = |run: &str, temperature: &str| {
        let set = format!("evaluation.temperature={temperature}");
        let arguments = ["train", "catalogue-json", "--run", run, "--set", &set];
        say(dir.path(), arguments.iter().chain(&SMALL)).well();
        let folder = RunFolder::open_read_only(&dir.path().join(run)).unwrap();
        let episodes = folder.episodes(&EpisodeFilter::phase(Phase::eval(When::Before))).unwrap();
        let segments = episodes.iter().flat_map(|stored| stored.scored.episode.transcript.segments());
        let said: Vec<_> = segments.filter(|segment| segment.role == Role::Policy).collect();
        let likely: Vec<f32> = said.iter().flat_map(|segment| segment.logprobs.iter().copied()).collect();
        let texts: Vec<String> = said.iter().map(|segment| segment.text.clone()).collect();
        (likely.iter().sum::<f32>() / likely.len() as f32, texts)
    };
    let (greedy, sampled) = (train("greedy", "0.0"), train("sampled", "1.0"));
    assert_eq!(greedy.1.len(), sampled.1.len(), "the same tasks");
    assert_ne!(greedy.1, sampled.1);
    assert!(greedy.0 > sampled.0, "what is likeliest is likelier: {} and {}", greedy.0, sampled.0);

    let refused = refused(dir.path(), &["train", "catalogue-json", "--set", "evaluation.temperature=-1"]);
    assert!(refused.contains("evaluation.temperature"), "{refused}");
}

/// Episodes of the desk where the person is a server that words `Say: …` so.
fn with_a_person(words: fn(&str) -> String) -> Vec<serde_json::Value> {
    let dir = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(move |asked| {
        let asked = asked.body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
        let content = asked.trim_end_matches('"').split("Say: ").nth(1).unwrap_or_default().to_owned();
        Reply::chat(&words(&content))
    })
    .unwrap();
    let user =
        format!("roles.user={{type='openai', endpoint={{base_url='{}', model='m'}}}}", server.base_url());
    let arguments =
        ["rollout", "service-desk", "--role", "teacher", "--tasks", "2", "--json", "--set", &user];
    let lines = say(dir.path(), arguments).out;
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["episode"].is_object()).collect()
}

#[test]
fn the_person_of_a_world_is_a_model_by_one_line() {
    let episodes = with_a_person(|content| format!("Well, {content}, if you ask me."));
    assert_eq!(episodes.len(), 2);
    for line in &episodes {
        let segments = line["episode"]["transcript"].as_array().unwrap();
        let said: Vec<&str> = segments
            .iter()
            .filter(|segment| segment["role"] == "user")
            .map(|segment| segment["text"].as_str().unwrap())
            .collect();
        assert!(said.len() > 1 && said.iter().all(|text| text.starts_with("Well, ")), "{said:?}");
        assert!(said[0].starts_with("Well, hello"), "{said:?}");
    }
}

#[test]
fn a_person_who_does_not_say_what_has_to_be_said_is_nobodys_reward() {
    let episodes = with_a_person(|_| "I had rather not.".to_owned());
    assert_eq!(episodes.len(), 2);
    for line in episodes {
        assert_eq!(
            (line["outcome"].as_str(), &line["reward"]),
            (Some("infrastructure-failed"), &serde_json::Value::Null)
        );
        let end = line["episode"]["end"].to_string();
        assert!(
            end.contains("the person of `roles.user` had to say") && end.contains("I had rather not"),
            "{end}"
        );
    }
}
