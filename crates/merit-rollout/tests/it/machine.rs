//! The episode as a pure machine: the clock is an argument, and nothing runs.

use crate::common::{Counting, chat, plan};
use merit_api::ToolAnswer;
use merit_core::{CallEnd, End, Episode, Provenance};
use merit_model::{Completion, Counted, SampleRequest, StopReason};
use merit_rollout::{Effect, EpisodeMachine, Event, Grammars, RolloutSettings, Rules, WaitingOn, session_of};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn begin(now: Instant) -> (EpisodeMachine, SampleRequest) {
    let settings = RolloutSettings { tool_seconds: 2.0, episode_seconds: 10.0, ..RolloutSettings::default() };
    let rules = Rules {
        chat: chat(),
        settings,
        context_limit: 1000,
        provenance: Provenance::Sampled,
        sees_all: false,
        grammars: Grammars::default(),
    };
    let session = session_of(&plan(0).id);
    match EpisodeMachine::begin(plan(0), session, &Counting, Arc::new(rules), now) {
        Ok((machine, Effect::Sample(request))) => (machine, request),
        _ => panic!("a fresh episode asks the model first"),
    }
}

fn said(text: &str) -> Event {
    let tokens = chat().tokenizer().encode(text);
    let logprobs = vec![-0.1; tokens.len()];
    let session = session_of(&plan(0).id);
    let (values, top_logprobs, stop) = (vec![], vec![], StopReason::StopString);
    Event::Sampled(Ok(Completion {
        session,
        tokens,
        logprobs,
        values,
        top_logprobs,
        stop,
        counted: Counted::Here,
    }))
}

fn finished(effect: Effect) -> Episode {
    match effect {
        Effect::Finished(episode) => *episode,
        _ => panic!("it is not over"),
    }
}

#[test]
fn a_call_times_out_exactly_at_its_deadline_and_a_late_answer_changes_nothing() {
    let zero = Instant::now();
    let at = |seconds: f64| zero + Duration::from_secs_f64(seconds);
    let (mut machine, _) = begin(zero);
    let Effect::Call(job) = machine.advance(said("call sleep 1\n"), at(1.0)) else {
        panic!("a call was made")
    };
    assert_eq!(machine.deadline(), Some(at(3.0)));
    assert_eq!(machine.waiting_on(), Some((WaitingOn::Tool("sleep".into()), at(1.0))));
    assert!(matches!(machine.advance(Event::Tick, at(2.999)), Effect::Wait));
    assert!(matches!(machine.advance(Event::Tick, at(3.0)), Effect::Sample(_)));
    let late = Event::ToolAnswered { call: job.call, answer: ToolAnswer::Ok("late".into()), seconds: 2.1 };
    assert!(matches!(machine.advance(late, at(3.1)), Effect::Wait));
    let episode = finished(machine.advance(said("answer 1\n"), at(4.0)));
    assert_eq!(episode.turns[0].calls[0].end, CallEnd::TimedOut);
    assert_eq!(episode.turns[0].calls[0].output, "timed out after 2 s");
    assert_eq!(episode.end, End::Answered);
}

#[test]
fn the_deadline_of_a_computing_tool_runs_from_its_start() {
    let zero = Instant::now();
    let at = |seconds: f64| zero + Duration::from_secs_f64(seconds);
    let (mut machine, _) = begin(zero);
    let Effect::Call(job) = machine.advance(said("call grind 1\n"), at(0.0)) else {
        panic!("a call was made")
    };
    assert_eq!(machine.waiting_on(), Some((WaitingOn::Thread("grind".into()), at(0.0))));
    assert!(matches!(machine.advance(Event::ToolStarted { call: job.call }, at(1.5)), Effect::Wait));
    assert!(matches!(machine.advance(Event::Tick, at(3.0)), Effect::Wait), "1.5 s of its own so far");
    let answer = Event::ToolAnswered { call: job.call, answer: ToolAnswer::Ok("done".into()), seconds: 1.9 };
    assert!(matches!(machine.advance(answer, at(3.4)), Effect::Sample(_)));
}

#[test]
fn an_answer_that_took_too_long_is_a_timeout_even_when_the_clock_was_not_looked_at() {
    let zero = Instant::now();
    let (mut machine, _) = begin(zero);
    let Effect::Call(job) = machine.advance(said("call add 1\n"), zero) else { panic!("a call was made") };
    let answer = Event::ToolAnswered { call: job.call, answer: ToolAnswer::Ok("1".into()), seconds: 2.5 };
    machine.advance(answer, zero + Duration::from_secs(3));
    let episode = finished(machine.advance(said("answer 1\n"), zero + Duration::from_secs(3)));
    assert_eq!(episode.turns[0].calls[0].end, CallEnd::TimedOut);
}

#[test]
fn the_clock_ends_an_episode_that_waits_for_the_model_and_nothing_follows() {
    let zero = Instant::now();
    let (mut machine, _) = begin(zero);
    let episode = finished(machine.advance(Event::Tick, zero + Duration::from_secs(10)));
    assert_eq!(episode.end.label(), "failed (model)", "a silent model is not the policy's doing");
    assert_eq!((machine.deadline(), machine.waiting_on()), (None, None));
    assert!(matches!(machine.advance(said("answer 1\n"), zero + Duration::from_secs(11)), Effect::Wait));
}

#[test]
fn every_request_extends_the_one_before() {
    let now = Instant::now();
    let (mut machine, mut last) = begin(now);
    for turn in 0..4 {
        assert_eq!(last.seed, plan(0).turn_seed(turn));
        let said = said("mumble\n");
        let Event::Sampled(Ok(completion)) = &said else { unreachable!() };
        let tokens = completion.tokens.clone();
        let Effect::Sample(next) = machine.advance(said, now) else { panic!("the world goes on") };
        assert_eq!(next.context[..last.context.len()], last.context[..]);
        assert_eq!(next.context[last.context.len()..][..tokens.len()], tokens[..]);
        last = next;
    }
}
