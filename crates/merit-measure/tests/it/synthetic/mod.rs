//! A small made-up run with everything a report can show: the numbers are invented, the shapes are real.

use merit_core::{
    Action, CallEnd, CallRecord, Cost, End, Episode, EpisodeId, Evidence, Fault, PolicyVersion, Provenance,
    Reward, Role, Score, ScoredEpisode, Segment, Split, Stream, Task, TermOutcome, TermScore, TokenId,
    ToolCall, Transcript, Turn,
};
use merit_core::{Boundary, Limit, Seed};
use merit_store::{CreditRow, RunFolder, RunInfo};
use std::path::Path;
use std::sync::Arc;

const STEPS: u64 = 40;

/// How the policy of the made-up run acts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Play {
    Right,
    Wrong,
    Late,
    Broken,
}

pub(crate) fn info(seed: u64) -> RunInfo {
    let recipe_hash = "5b1f0e9ac27744d0".to_owned();
    let (recipe, version) = ("ledger-small".to_owned(), "0.1.0".to_owned());
    RunInfo { recipe, recipe_hash, seed, version, started_ms: 1_767_225_600_000 }
}

/// One character per token, id = code point; the end of a turn is token 3.
fn tokens(text: &str, ended: bool) -> Vec<TokenId> {
    text.chars().map(|c| TokenId(u32::from(c))).chain(ended.then_some(TokenId(3))).collect()
}

pub(crate) fn task(split: Split, index: u32) -> Arc<Task> {
    let size = 2 + index % 3;
    let numbers: Vec<u32> = (0..size).map(|n| 10 + index * 7 % 31 + n * 13).collect();
    let answer = numbers.iter().sum::<u32>().to_string();
    Arc::new(Task {
        id: format!("ledger/{}/{index:05}", split.name()),
        world: "ledger".into(),
        version: 1,
        split,
        size,
        payload: serde_json::json!({ "numbers": numbers }),
        answer: Some(answer),
    })
}

pub(crate) fn play(
    id: EpisodeId,
    task: &Arc<Task>,
    play: Play,
    sureness: f32,
    random: &mut Stream,
) -> ScoredEpisode {
    let version = PolicyVersion(id.step);
    let mut transcript = Transcript::default();
    let numbers =
        task.payload["numbers"].as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
    let sum = numbers.join("+");
    let guess = 10 + random.below(80);
    let mut add = |turn: u32, role: Role, text: &str| {
        let policy = role == Role::Policy;
        let tokens = tokens(text, policy);
        let logprobs = tokens.iter().map(|_| -(1.0 - sureness) * 3.0 * random.unit() as f32);
        transcript
            .append(Segment {
                role,
                provenance: Provenance::Sampled,
                turn,
                logprobs: if policy { logprobs.collect() } else { vec![] },
                values: vec![],
                policy_version: policy.then_some(version),
                tokens,
                text: text.into(),
                known: merit_core::Known::Full,
            })
            .unwrap();
    };
    let mut turns = Vec::new();
    let answer = task.answer.clone().unwrap();
    add(0, Role::System, "Tools: calc. Finish with `answer N`.");
    add(0, Role::User, &format!("What is the total of the entries {}?", numbers.join(", ")));
    let turn = |index, action, calls| Turn::new(index, action).with_calls(calls);
    let call = |end, output: &str| CallRecord {
        call: ToolCall { tool: "calc".into(), input: sum.clone() },
        end,
        output: output.into(),
        seconds: Some(0.0),
    };
    let calls = |record: &CallRecord| Action::Calls { calls: vec![record.call.clone()] };
    let end = match play {
        Play::Right => {
            add(0, Role::Policy, &format!("calc {sum}"));
            let record = call(CallEnd::Ok, &answer);
            turns.push(turn(0, calls(&record), vec![record]));
            add(1, Role::Tool, &format!("calc: {answer}"));
            add(1, Role::Policy, &format!("answer {answer}"));
            turns.push(turn(1, Action::Answer { text: answer.clone() }, vec![]));
            End::Answered
        }
        Play::Wrong => {
            let guess = guess.to_string();
            add(0, Role::Policy, &format!("answer {guess}"));
            turns.push(turn(0, Action::Answer { text: guess }, vec![]));
            End::Answered
        }
        Play::Late => {
            add(0, Role::Policy, "clac clac");
            turns.push(turn(
                0,
                Action::Malformed { why: "`clac` is neither a tool nor an answer".into() },
                vec![],
            ));
            add(1, Role::Environment, "I do not understand `clac clac`.");
            add(1, Role::Policy, "calc 1+");
            let record = call(CallEnd::Refused, "`1+` ends too early");
            turns.push(turn(1, calls(&record), vec![record]));
            End::Truncated { limit: Limit::Turns }
        }
        Play::Broken => {
            add(0, Role::Policy, &format!("calc {sum}"));
            let record = call(CallEnd::Broken, "the calculator went away");
            turns.push(turn(0, calls(&record), vec![record]));
            let message = "calc: the calculator went away".to_owned();
            End::Failed { fault: Fault::new(Boundary::Tool, message) }
        }
    };
    let policy_tokens = transcript.mask().iter().filter(|&&m| m).count() as u64;
    let read_tokens = transcript.len() as u64 - policy_tokens;
    let tool_calls = turns.iter().map(|t| t.calls.len() as u64).sum();
    let env_steps = turns.len() as u64;
    let cost = Cost { policy_tokens, read_tokens, tool_calls, env_steps, ..Cost::default() };
    let score = (play != Play::Broken).then(|| score(play == Play::Right, tool_calls > 0, policy_tokens));
    let episode = Episode::new(id, Arc::clone(task), end)
        .with_policy_version(version)
        .with_transcript(transcript)
        .with_turns(turns)
        .with_cost(cost);
    ScoredEpisode { episode: Arc::new(episode), score }
}

fn score(solved: bool, called: bool, tokens: u64) -> Score {
    let term = |name: &str, outcome, weight, act: &'static str, finding: String| {
        TermScore::new(name, outcome).with_weight(weight).with_evidence(vec![Evidence::new(act, finding)])
    };
    let value = |value: f64| TermOutcome::Value { value };
    let (exact, used, short) =
        (f64::from(u8::from(solved)), f64::from(u8::from(called)), tokens as f64 / 40.0);
    let terms = vec![
        term(
            "exact",
            value(exact),
            1.0,
            "compared",
            format!("the final answer is {}", if solved { "right" } else { "wrong" }),
        ),
        term("tool-used", value(used), 0.1, "counted", "calls that ran".into()),
        term("length", value(short), -0.05, "counted", format!("{tokens} policy tokens")),
    ];
    let reward = Reward::Value { value: exact + 0.1 * used - 0.05 * short };
    Score::new(reward).with_terms(terms).with_solved(Some(solved))
}

fn evaluate(run: &RunFolder, phase: &str, step: u64, skill: f64, count: u32, seed: &Seed) {
    let episodes = (0..count).map(|group| {
        let task = task(Split::HeldOut, group);
        let mut random = seed
            .child(&merit_core::Phase::from(phase).seed_name(), step)
            .child("task", u64::from(group))
            .stream();
        let chance = skill - 0.08 * f64::from(task.size - 2);
        let how = if random.unit() < chance { Play::Right } else { Play::Wrong };
        let id = EpisodeId { phase: phase.into(), step, group, member: 0, branch: 0 };
        play(id, &task, how, skill as f32, &mut random)
    });
    run.record_episodes(&episodes.collect::<Vec<_>>()).unwrap();
}

fn train_step(run: &RunFolder, step: u64, seed: &Seed) {
    let skill = 0.15 + 0.8 * (step as f64 / STEPS as f64).min(1.0).sqrt();
    let mut constant = 0;
    for group in 0..4_u32 {
        let task = task(Split::Train, step as u32 * 4 + group);
        let members: Vec<ScoredEpisode> = (0..4_u32)
            .map(|member| {
                let mut random = seed
                    .child("step", step)
                    .child("group", u64::from(group))
                    .child("m", u64::from(member))
                    .stream();
                let how = match random.unit() {
                    luck if luck < skill => Play::Right,
                    luck if luck > 0.99 => Play::Broken,
                    luck if luck > 0.93 => Play::Late,
                    _ => Play::Wrong,
                };
                let id = EpisodeId { phase: "train".into(), step, group, member, branch: 0 };
                play(id, &task, how, skill as f32, &mut random)
            })
            .collect();
        run.record_episodes(&members).unwrap();
        let rewards: Vec<f64> = members.iter().filter_map(ScoredEpisode::reward).collect();
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        constant += u32::from(rewards.iter().all(|r| (r - mean).abs() < 1e-9));
        let credits = members.iter().filter_map(|member| {
            let advantage = (member.reward()? - mean) as f32;
            let mask = member.episode.transcript.mask();
            let advantages = mask.iter().map(|&own| if own { advantage } else { 0.0 }).collect();
            let note = format!("reward less the group's mean of {mean:.3}");
            Some(CreditRow { episode: member.episode.id.clone(), advantages, note })
        });
        run.record_credits(&credits.collect::<Vec<_>>()).unwrap();
    }
    let x = step as f64;
    let metrics = [
        ("constant_groups", f64::from(constant)),
        ("entropy", 1.4 - 0.02 * x),
        ("kl_reference", 0.002 * x),
        ("grad_norm", 0.8 + 0.3 * (x * 1.7).sin()),
        ("learning_rate", 3e-4),
        ("tokens_per_s", 21_000.0 + 500.0 * (x * 0.9).cos()),
        ("seconds", 0.75),
        ("term_var_share/exact", 0.95 - 0.004 * x),
        ("term_var_share/tool-used", 0.04 + 0.003 * x),
    ];
    run.record_metrics("train", step, &metrics).unwrap();
}

/// The run, finished, in `home/run-<seed>`.
pub(crate) fn finished_run(home: &Path, seed_number: u64) -> RunFolder {
    let seed = Seed::root(seed_number);
    let recipe = "name = \"ledger-small\"\nworld = \"ledger\"\n\n[learn]\nsteps = 40\nlr = 3e-4\n";
    let run =
        RunFolder::create(&home.join(format!("run-{seed_number}")), recipe, &info(seed_number)).unwrap();
    run.record_event(1_767_225_600_000, "started", "recipe ledger-small").unwrap();
    let printable = (32_u32..127).filter_map(|code| Some((TokenId(code), char::from_u32(code)?.to_string())));
    let mut vocabulary: Vec<(TokenId, String)> = printable.collect();
    vocabulary.push((TokenId(3), "<end>".into()));
    run.record_vocabulary(vocabulary.iter().map(|(token, text)| (*token, text.as_str()))).unwrap();
    for step in 0..30 {
        run.record_metrics("warm", step, &[("loss", 0.4 + 3.0 / (step as f64 + 1.0))]).unwrap();
    }
    evaluate(&run, "eval-before", 0, 0.25, 60, &seed);
    for step in 1..=STEPS {
        train_step(&run, step, &seed);
        if step.is_multiple_of(10) {
            evaluate(&run, "eval-step", step, 0.15 + 0.8 * (step as f64 / STEPS as f64).sqrt(), 30, &seed);
        }
    }
    evaluate(&run, "eval-after", STEPS, 0.93, 60, &seed);
    evaluate(&run, "eval-after@no-tool", STEPS, 0.2, 60, &seed);
    run.record_event(1_767_225_640_500, "finished", "40 steps").unwrap();
    run
}
