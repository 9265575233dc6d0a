//! The result of an episode depends on its plan and the weights, never on the schedule.

use crate::common::run::run_with;
use crate::common::{chat, plan};
use merit_core::{End, EpisodeId, Seed};
use merit_model::{DecoderConfig, Generator, GeneratorSettings, Sampler, Weights};
use merit_rollout::{
    ChatFormat, Cue, EpisodePlan, LatencySampler, Reply, RolloutSettings, ScriptedSampler, ToolRuntime,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Says what its seed draws: calls of every pace, some in a row, then an answer.
fn drawn(cue: &Cue) -> Reply {
    let mut stream = cue.seed.stream();
    let number = stream.below(1000);
    Reply::Say(match (cue.turns.len(), stream.below(5)) {
        (5.., _) => format!("answer {number}\n"),
        (_, 0) => format!("call jitter {number}\n"),
        (_, 1) => format!("call jitter-hard {number}; call add {number} 1\n"),
        (_, 2) => format!("call memory {number}; call jitter 1; call memory 3\n"),
        (_, 3) => format!("call add {number} 2; call nothing\n"),
        _ => format!("mumble {number}"),
    })
}

fn hashes(
    mut plans: Vec<EpisodePlan>,
    order: u64,
    in_flight: usize,
    sampler: &mut dyn Sampler,
    chat: &ChatFormat,
) -> BTreeMap<EpisodeId, String> {
    Seed::root(order).stream().shuffle(&mut plans);
    let settings = RolloutSettings { in_flight, max_turn_tokens: 24, ..RolloutSettings::default() };
    let tools = ToolRuntime::new().expect("threads for tools");
    let episodes = run_with(plans, sampler, chat, &settings, &tools, &mut |_| {});
    episodes.iter().map(|episode| (episode.id.clone(), episode.content_hash())).collect()
}

fn plans() -> Vec<EpisodePlan> {
    (0..40).map(plan).collect()
}

#[test]
fn order_concurrency_and_latency_change_nothing() {
    let chat = chat();
    let scripted = || ScriptedSampler::new(&chat, drawn).with_values();
    let alone = hashes(plans(), 0, 1, &mut scripted(), &chat);
    assert_eq!(alone.values().collect::<std::collections::BTreeSet<_>>().len(), 40, "episodes differ");
    for (order, in_flight) in [(1, 3), (2, 64), (3, 64)] {
        assert_eq!(hashes(plans(), order, in_flight, &mut scripted(), &chat), alone, "{in_flight} in flight");
    }
    let mut remote = LatencySampler::new(scripted(), Duration::from_millis(2));
    assert_eq!(hashes(plans(), 4, 64, &mut remote, &chat), alone, "over a remote sampler");
}

#[test]
fn the_embedded_model_gives_the_same_episodes_at_any_concurrency() {
    let chat = chat();
    let config = format!(
        r#"{{"vocab":{},"layers":2,"d_model":24,"heads":3,"kv_heads":1,"d_ff":40,"max_context":200,"value_head":true}}"#,
        chat.tokenizer().vocab_len()
    );
    let config: DecoderConfig = serde_json::from_str(&config).unwrap();
    let weights = Arc::new(Weights::init(&config, Seed::root(1)).unwrap());
    let model = || {
        Generator::new(Arc::clone(&weights), Arc::clone(chat.tokenizer()), GeneratorSettings::default())
            .unwrap()
    };
    let alone = hashes(plans(), 0, 1, &mut model(), &chat);
    assert_eq!(hashes(plans(), 1, 3, &mut model(), &chat), alone);
    assert_eq!(hashes(plans(), 2, 64, &mut model(), &chat), alone);
}

#[test]
fn the_tools_of_the_drawn_script_are_really_used() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap();
    let mut sampler = ScriptedSampler::new(&chat, drawn);
    let episodes = run_with(plans(), &mut sampler, &chat, &RolloutSettings::default(), &tools, &mut |_| {});
    assert!(episodes.iter().all(|episode| episode.end == End::Answered));
    let used = |tool: &str| {
        let calls = episodes.iter().flat_map(|e| &e.turns).flat_map(|t| &t.calls);
        calls.filter(|call| call.call.tool == tool).count()
    };
    assert!(["jitter", "jitter-hard", "memory", "add", "nothing"].iter().all(|tool| used(tool) > 10));
}
