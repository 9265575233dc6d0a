//! Running plans under a script, with every episode checked against the rules of the record.

use super::{Counting, chat};
use merit_core::Episode;
use merit_core::conformance::check_episode;
use merit_model::Sampler;
use merit_rollout::{
    ChatFormat, Cue, EpisodePlan, Progress, Reply, RolloutSettings, ScriptedSampler, ToolRuntime, roll_out,
};
use std::sync::Arc;

/// Runs `plans` under `sampler`; whatever comes out must obey the record's rules.
pub fn run_with(
    plans: Vec<EpisodePlan>,
    sampler: &mut dyn Sampler,
    chat: &ChatFormat,
    settings: &RolloutSettings,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Progress),
) -> Vec<Arc<Episode>> {
    settings.validate().unwrap();
    let ids: Vec<_> = plans.iter().map(|plan| plan.id.clone()).collect();
    let episodes = roll_out(plans, &Counting, sampler, chat, settings, tools, watch);
    let found: Vec<String> = episodes.iter().flat_map(|episode| check_episode(episode)).collect();
    assert_eq!(found, Vec::<String>::new());
    let landed: Vec<_> = episodes.iter().map(|episode| episode.id.clone()).collect();
    let mut expected = ids.iter().filter(|id| landed.contains(id)).cloned().collect::<Vec<_>>();
    expected.truncate(landed.len());
    assert_eq!(landed, expected, "episodes come in the order of their plans");
    episodes
}

/// Runs `plans` with the lines of `script` by member: line `n` is said in turn `n`.
pub fn run(
    plans: Vec<EpisodePlan>,
    settings: &RolloutSettings,
    script: impl FnMut(&Cue) -> Reply + Send,
) -> Vec<Arc<Episode>> {
    let chat = chat();
    let mut sampler = ScriptedSampler::new(&chat, script);
    run_with(plans, &mut sampler, &chat, settings, &ToolRuntime::new().unwrap(), &mut |_| {})
}

/// A script that says these lines in order, whoever asks.
pub fn lines(lines: &'static [&'static str]) -> impl FnMut(&Cue) -> Reply + Send {
    move |cue| lines.get(cue.turns.len()).map_or(Reply::Silence, |line| Reply::Say((*line).to_owned()))
}
