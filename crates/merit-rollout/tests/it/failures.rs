//! Each way to break, followed to its end and outcome; siblings never notice.

use crate::common::run::{run, run_with};
use crate::common::{chat, plan, plan_with};
use merit_core::{Boundary, CallEnd, End, Episode, EpisodeId, Outcome};
use merit_model::{CompletionSink, Pump, SampleRequest, Sampler, SessionId};
use merit_rollout::{Cue, Reply, RolloutSettings, ScriptedSampler, ToolRuntime, session_of};
use serde_json::{Value, json};
use std::sync::Arc;

/// Member 1 of three meets `payload` and says `line` first; the others add and answer.
fn broken_member(payload: Value, reply: Reply) -> Vec<Arc<Episode>> {
    let plans = vec![plan(0), plan_with(1, payload), plan(2)];
    let odd = session_of(&plans[1].id);
    let script = move |cue: &Cue| match cue.turns.len() {
        0 if cue.session == odd => reply.clone(),
        0 => Reply::Say("call add 1 2\n".into()),
        _ => Reply::Say("answer 3\n".into()),
    };
    run(plans, &RolloutSettings::default(), script)
}

fn check(payload: Value, reply: Reply, boundary: Boundary, says: &str) {
    let episodes = broken_member(payload, reply);
    assert_eq!(episodes.len(), 3, "nothing is lost");
    let End::Failed { fault } = &episodes[1].end else { panic!("{:?}", episodes[1].end) };
    assert_eq!(fault.boundary, boundary, "{}", fault.message);
    assert!(fault.message.contains(says), "{}", fault.message);
    assert_eq!(Outcome::of(&episodes[1], None), Outcome::InfrastructureFailed);
    assert!(!Outcome::of(&episodes[1], None).is_valid());
    for sibling in [0, 2] {
        assert_eq!(episodes[sibling].end, End::Answered);
        let alone = run(vec![plan(sibling as u32)], &RolloutSettings::default(), |cue| {
            Reply::Say(["call add 1 2\n", "answer 3\n"][cue.turns.len()].into())
        });
        assert_eq!(episodes[sibling].content_hash(), alone[0].content_hash());
    }
}

fn breaks(place: &str) -> Value {
    json!({ "break": place })
}

fn say(line: &str) -> Reply {
    Reply::Say(line.to_owned())
}

#[test]
fn a_world_that_cannot_open_is_an_environment_fault() {
    check(breaks("open"), say("answer 1\n"), Boundary::Environment, "torn");
}

#[test]
fn a_world_that_panics_is_an_environment_fault() {
    check(breaks("open-panic"), say("answer 1\n"), Boundary::Environment, "panicked: the ground gave way");
    check(breaks("parse-panic"), say("answer 1\n"), Boundary::Environment, "panicked: cannot read");
    check(breaks("act-panic"), say("call add 1\n"), Boundary::Environment, "panicked: the sky fell");
}

#[test]
fn a_world_that_errs_is_an_environment_fault() {
    check(breaks("act"), say("answer 1\n"), Boundary::Environment, "out of numbers");
}

#[test]
fn a_world_may_not_speak_as_the_policy() {
    check(breaks("impostor"), say("call add 1\n"), Boundary::Environment, "spoke as the policy");
}

#[test]
fn a_tool_that_cannot_open_is_a_tool_fault() {
    check(breaks("tool-open"), say("answer 1\n"), Boundary::Tool, "no numbers");
}

#[test]
fn a_broken_tool_is_a_tool_fault_and_its_call_is_kept() {
    check(Value::Null, say("call broken\n"), Boundary::Tool, "tool `broken`: gear stripped");
    let call = &broken_member(Value::Null, say("call broken\n"))[1].turns[0].calls[0];
    assert_eq!((call.end, call.output.as_str()), (CallEnd::Broken, "gear stripped"));
}

#[test]
fn a_tool_that_panics_at_any_pace_is_a_tool_fault() {
    check(Value::Null, say("call panic\n"), Boundary::Tool, "tool `panic`: panicked: tool blew up");
    check(Value::Null, say("call panic-later\n"), Boundary::Tool, "panicked: tool blew up late");
    check(Value::Null, say("call panic-hard\n"), Boundary::Tool, "panicked: tool blew up late");
}

#[test]
fn a_model_that_errs_is_a_model_fault() {
    check(Value::Null, Reply::Break("lost its weights".into()), Boundary::Model, "lost its weights");
}

#[test]
fn two_plans_of_one_name_cannot_both_run() {
    let twin = EpisodeId { ..plan(0).id };
    let plans = vec![plan(0), merit_rollout::EpisodePlan { id: twin, ..plan(1) }];
    let episodes = run(plans, &RolloutSettings::default(), |_| say("answer 1\n"));
    assert_eq!(episodes[0].end, End::Answered);
    assert!(matches!(&episodes[1].end, End::Failed { fault } if fault.message.contains("two plans")));
}

/// Panics on its second pump, and works again after that.
struct Shaky<S>(S, u32);

impl<S: Sampler> Sampler for Shaky<S> {
    fn submit(&mut self, request: SampleRequest) {
        self.0.submit(request);
    }
    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        self.1 += 1;
        assert!(self.1 != 2, "shaken");
        self.0.pump(sink)
    }
    fn close(&mut self, session: SessionId) {
        self.0.close(session);
    }
    fn context_limit(&self) -> usize {
        self.0.context_limit()
    }
    fn waiting(&self) -> String {
        self.0.waiting()
    }
}

#[test]
fn a_sampler_that_panics_fails_whom_it_served_and_the_rest_goes_on() {
    let chat = chat();
    let script = |cue: &Cue| say(["call add 1 2\n", "answer 3\n"][cue.turns.len()]);
    let mut sampler = Shaky(ScriptedSampler::new(&chat, script), 0);
    let settings = RolloutSettings { in_flight: 2, ..RolloutSettings::default() };
    let plans = (0..4).map(plan).collect();
    let tools = ToolRuntime::new().unwrap();
    let episodes = run_with(plans, &mut sampler, &chat, &settings, &tools, &mut |_| {});
    for broken in &episodes[..2] {
        let End::Failed { fault } = &broken.end else { panic!("{:?}", broken.end) };
        assert_eq!(
            (fault.boundary, fault.message.as_str()),
            (Boundary::Model, "the sampler panicked: shaken")
        );
        assert_eq!(broken.turns.len(), 1, "what was recorded before is kept");
    }
    assert!(episodes[2..].iter().all(|episode| episode.end == End::Answered));
}
