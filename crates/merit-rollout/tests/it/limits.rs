//! Where episodes are cut, by which limit, and what is kept for the learner.

use crate::common::run::{lines, run, run_with};
use crate::common::{chat, plan};
use merit_core::{Action, CallEnd, End, Limit, Outcome, Reward, Score, TurnStop};
use merit_rollout::{Cue, LatencySampler, Reply, RolloutSettings, ScriptedSampler, ToolRuntime};
use std::time::Duration;

fn cut_by(limit: Limit) -> End {
    End::Truncated { limit }
}

fn calls_forever(_: &Cue) -> Reply {
    Reply::Say("call add 1 2\n".into())
}

#[test]
fn the_limit_on_turns_cuts_before_the_next_turn() {
    let settings = RolloutSettings { max_turns: 3, ..RolloutSettings::default() };
    let episode = &run(vec![plan(0)], &settings, calls_forever)[0];
    assert_eq!((&episode.end, episode.turns.len()), (&cut_by(Limit::Turns), 3));
    assert_eq!(episode.bootstrap, None, "the policy has no values");
    let zero = Reward::Value { value: 0.0 };
    let score = Score::new(zero).with_solved(Some(false));
    assert_eq!(Outcome::of(episode, Some(&score)), Outcome::PolicyTimedOut);
}

#[test]
fn a_turn_that_is_too_long_is_cut_and_not_acted_on() {
    let settings = RolloutSettings { max_turn_tokens: 3, ..RolloutSettings::default() };
    let script = lines(&["answer 1234567890\n"]);
    let episode = &run(vec![plan(0)], &settings, script)[0];
    assert_eq!(episode.end, cut_by(Limit::Tokens));
    assert_eq!(episode.turns[0].stop, TurnStop::MaxTokens);
    assert!(
        matches!(&episode.turns[0].action, Action::Malformed { why } if why.contains("cut after 3 tokens"))
    );
    assert_eq!((episode.answer(), episode.cost.env_steps), (None, 0), "half an answer is no answer");
}

#[test]
fn the_limit_on_an_episodes_tokens_counts_what_the_policy_sampled() {
    let per_turn = chat().tokenizer().encode("call add 1 2\n").len();
    let whole = RolloutSettings { max_episode_tokens: 2 * per_turn, ..RolloutSettings::default() };
    let episode = &run(vec![plan(0)], &whole, calls_forever)[0];
    assert_eq!((&episode.end, episode.turns.len()), (&cut_by(Limit::Tokens), 2));
    let partly = RolloutSettings { max_episode_tokens: 2 * per_turn + 1, ..RolloutSettings::default() };
    let episode = &run(vec![plan(0)], &partly, calls_forever)[0];
    assert_eq!((&episode.end, episode.turns.len()), (&cut_by(Limit::Tokens), 3));
    assert_eq!(episode.cost.policy_tokens as usize, 2 * per_turn + 1);
}

#[test]
fn a_full_context_is_its_own_limit() {
    for room in [0, 3] {
        let chat = chat();
        let plenty = run(vec![plan(0)], &RolloutSettings::default(), calls_forever);
        let opening: usize = plenty[0].transcript.segments()[..2].iter().map(|s| s.tokens.len()).sum();
        let mut sampler = ScriptedSampler::new(&chat, calls_forever).with_context_limit(opening + room);
        let tools = ToolRuntime::new().unwrap();
        let settings = RolloutSettings::default();
        let episode = &run_with(vec![plan(0)], &mut sampler, &chat, &settings, &tools, &mut |_| {})[0];
        assert_eq!(episode.end, cut_by(Limit::Context));
        assert_eq!((episode.turns.len(), episode.transcript.len()), (usize::from(room > 0), opening + room));
    }
}

#[test]
fn a_truncated_episode_keeps_the_value_of_the_state_it_was_cut_in() {
    // The scripted sampler values a state by its number of tokens, so the value at the cut is the transcript's length.
    let value_of = |settings: RolloutSettings, limit: Limit| {
        let chat = chat();
        let mut sampler = ScriptedSampler::new(&chat, calls_forever).with_values();
        let tools = ToolRuntime::new().unwrap();
        let episode = run_with(vec![plan(0)], &mut sampler, &chat, &settings, &tools, &mut |_| {}).remove(0);
        assert_eq!(episode.end, cut_by(limit));
        assert_eq!(episode.bootstrap, Some(episode.transcript.len() as f32));
    };
    value_of(RolloutSettings { max_turns: 2, ..RolloutSettings::default() }, Limit::Turns);
    value_of(RolloutSettings { max_turn_tokens: 3, ..RolloutSettings::default() }, Limit::Tokens);
}

#[test]
fn where_nothing_can_be_sampled_any_more_the_last_known_value_stands_in() {
    let chat = chat();
    let plenty = run(vec![plan(0)], &RolloutSettings::default(), calls_forever);
    let opening: usize = plenty[0].transcript.segments()[..2].iter().map(|s| s.tokens.len()).sum();
    let mut sampler =
        ScriptedSampler::new(&chat, calls_forever).with_values().with_context_limit(opening + 4);
    let tools = ToolRuntime::new().unwrap();
    let settings = RolloutSettings::default();
    let episode = run_with(vec![plan(0)], &mut sampler, &chat, &settings, &tools, &mut |_| {}).remove(0);
    assert_eq!(episode.end, cut_by(Limit::Context));
    // The value before the fourth sampled token, which is the number of tokens that state had.
    assert_eq!(episode.bootstrap, Some((opening + 3) as f32));
}

#[test]
fn an_episode_that_really_ended_has_no_bootstrap() {
    let chat = chat();
    let mut sampler = ScriptedSampler::new(&chat, lines(&["answer 3\n"])).with_values();
    let tools = ToolRuntime::new().unwrap();
    let settings = RolloutSettings::default();
    let episode = run_with(vec![plan(0)], &mut sampler, &chat, &settings, &tools, &mut |_| {}).remove(0);
    assert_eq!((&episode.end, episode.bootstrap), (&End::Answered, None));
    assert!(!episode.transcript.segments()[2].values.is_empty());
}

#[test]
fn a_tool_timeout_ends_the_call_not_the_episode() {
    for slow in ["sleep", "drowsy", "grind"] {
        let settings = RolloutSettings { tool_seconds: 0.05, ..RolloutSettings::default() };
        let script = move |cue: &Cue| match cue.turns.len() {
            0 => Reply::Say(format!("call {slow} 1500\n")),
            _ => Reply::Say("answer 3\n".into()),
        };
        let episode = run(vec![plan(0)], &settings, script).remove(0);
        let call = &episode.turns[0].calls[0];
        assert_eq!((call.end, call.output.as_str()), (CallEnd::TimedOut, "timed out after 0.05 s"), "{slow}");
        assert_eq!(episode.transcript.segments()[3].text, "timed out after 0.05 s", "the agent is told");
        assert_eq!(episode.end, End::Answered);
    }
}

#[test]
fn a_slow_tool_delays_its_own_episode_only() {
    let plans: Vec<_> = (0..8).map(plan).collect();
    let slow = merit_rollout::session_of(&plans[0].id);
    let script = move |cue: &Cue| match (cue.turns.len(), cue.session == slow) {
        (0, true) => Reply::Say("call sleep 1500\n".into()),
        (0, false) => Reply::Say("call sleep 1\n".into()),
        _ => Reply::Say("answer 3\n".into()),
    };
    let chat = chat();
    let mut finished = Vec::new();
    let tools = ToolRuntime::new().unwrap();
    run_with(
        plans,
        &mut ScriptedSampler::new(&chat, script),
        &chat,
        &RolloutSettings::default(),
        &tools,
        &mut |news| {
            if let merit_rollout::Progress::Finished(episode) = news {
                finished.push(episode.id.member);
            }
        },
    );
    assert_eq!((finished.len(), finished.last()), (8, Some(&0)), "the seven others did not wait for it");
}

#[test]
fn running_out_of_time_in_a_tool_cuts_the_episode_and_in_the_model_breaks_it() {
    let settings = RolloutSettings { episode_seconds: 0.1, ..RolloutSettings::default() };
    let episode = run(vec![plan(0)], &settings, lines(&["call sleep 5000\n"])).remove(0);
    assert_eq!(episode.end, cut_by(Limit::Time));
    assert_eq!(episode.turns[0].calls[0].end, CallEnd::TimedOut);

    let chat = chat();
    let slow = ScriptedSampler::new(&chat, lines(&["answer 3\n"]));
    let mut sampler = LatencySampler::new(slow, Duration::from_secs(5));
    let tools = ToolRuntime::new().unwrap();
    let episode = run_with(vec![plan(0)], &mut sampler, &chat, &settings, &tools, &mut |_| {}).remove(0);
    assert_eq!((episode.end.label(), episode.turns.len()), ("failed (model)".to_owned(), 0));
}

#[test]
fn a_lost_request_does_not_hold_the_others_and_is_laid_at_the_models_door() {
    let plans: Vec<_> = (0..4).map(plan).collect();
    let lost = merit_rollout::session_of(&plans[2].id);
    let settings = RolloutSettings { episode_seconds: 0.2, in_flight: 2, ..RolloutSettings::default() };
    let episodes = run(plans, &settings, move |cue| match cue.session == lost {
        true => Reply::Silence,
        false => Reply::Say("answer 3\n".into()),
    });
    let ends: Vec<String> = episodes.iter().map(|episode| episode.end.label()).collect();
    assert_eq!(ends, ["answered", "answered", "failed (model)", "answered"]);
}

#[test]
fn calls_that_hold_every_thread_break_the_next_one_instead_of_blaming_the_agent() {
    let chat = chat();
    let settings = RolloutSettings { tool_seconds: 0.05, in_flight: 1, ..RolloutSettings::default() };
    let mut sampler =
        ScriptedSampler::new(&chat, lines(&["call grind 2000\n", "call grind 0\n", "answer 1\n"]));
    let tools = ToolRuntime::with_threads(1).unwrap();
    let episode = run_with(vec![plan(0)], &mut sampler, &chat, &settings, &tools, &mut |_| {}).remove(0);
    assert_eq!(episode.turns[0].calls[0].end, CallEnd::TimedOut);
    assert_eq!(episode.turns[1].calls[0].end, CallEnd::Broken);
    assert!(matches!(&episode.end, End::Failed { fault } if fault.message.contains("no thread came free")));
}
