//! Forks keep the past exactly, prove that their world agrees with it, and go their own way from there.

use crate::common;

use crate::common::run::{run, run_with};
use crate::common::{chat, plan, task};
use merit_core::{Boundary, End, Episode, Provenance, Role, Seed};
use merit_model::{CompletionSink, Pump, SampleRequest, Sampler, SessionId};
use merit_rollout::{
    Cue, EpisodePlan, Reply, RolloutSettings, ScriptedSampler, Start, ToolRuntime, TreeError, close_sessions,
    session_of, tree,
};
use serde_json::json;
use std::sync::Arc;

fn drawn(cue: &Cue) -> Reply {
    let number = cue.seed.stream().below(100_000);
    Reply::Say(match cue.turns.len() {
        0 => format!("call add 1 {number}\n"),
        1 => format!("call memory {number}\n"),
        2 => format!("mumble {number}\n"),
        _ => format!("call memory 1; call quit {number}\n"),
    })
}

/// As [`drawn`], but ends in turn 4 by answering.
fn trunk_script(cue: &Cue) -> Reply {
    if cue.turns.len() == 4 { Reply::Say("answer 9\n".into()) } else { drawn(cue) }
}

fn trunk() -> (EpisodePlan, Arc<Episode>) {
    (plan(0), run(vec![plan(0)], &RolloutSettings::default(), trunk_script).remove(0))
}

#[test]
fn a_tree_keeps_the_past_and_explores_from_each_turn() {
    let (plan, episode) = trunk();
    assert_eq!(episode.turns.len(), 5);
    let forks = tree(&plan, &episode, &[0, 2, 4], 2, 1).unwrap();
    assert_eq!(forks.iter().map(|fork| fork.id.branch).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    let branches = run(forks, &RolloutSettings::default(), trunk_script);
    for (branch, turn) in branches.iter().zip([0, 0, 2, 2, 4, 4]) {
        assert_eq!(branch.end, End::Answered, "{:?}", branch.end);
        let kept = episode.transcript.before_turn(turn);
        let (past, future) = branch.transcript.segments().split_at(kept.segments().len());
        for (now, before) in past.iter().zip(kept.segments()) {
            assert_eq!(now.provenance, Provenance::Replayed);
            assert_eq!(merit_core::Segment { provenance: before.provenance, ..now.clone() }, *before);
        }
        assert!(future.iter().all(|segment| segment.provenance == Provenance::Sampled));
        assert_eq!(branch.cost.probe_steps, u64::from(turn));
        assert_eq!(branch.cost.env_steps, 5 - u64::from(turn));
    }
    let drawn: Vec<_> = branches.iter().map(|branch| &branch.turns[3].action).collect();
    assert_ne!(drawn[2], drawn[3], "branches draw for themselves");
    assert_eq!(branches[4].turns[3].action, episode.turns[3].action);
}

#[test]
fn tools_that_keep_state_have_it_again_in_a_fork() {
    let (plan, episode) = trunk();
    let fork = tree(&plan, &episode, &[3], 1, 1).unwrap();
    let branch = run(fork, &RolloutSettings::default(), drawn).remove(0);
    let before: i64 = episode.turns[1].calls[0].output.parse().unwrap();
    assert_eq!(branch.turns[3].calls[0].output, (before + 1).to_string());
}

#[test]
fn a_fork_of_branch_zero_is_the_same_episode_again() {
    let (plan, episode) = trunk();
    let again = EpisodePlan { start: Start::Fork { of: Arc::clone(&episode), turn: 2 }, ..plan };
    let again = run(vec![again], &RolloutSettings::default(), trunk_script).remove(0);
    assert_eq!(again.transcript.tokens(), episode.transcript.tokens());
    assert_eq!(
        (&again.turns.last().unwrap().action, &again.end),
        (&episode.turns.last().unwrap().action, &episode.end)
    );
}

fn fault_of(fork: EpisodePlan) -> (Boundary, String) {
    match run(vec![fork], &RolloutSettings::default(), drawn).remove(0).end.clone() {
        End::Failed { fault } => (fault.boundary, fault.message),
        end => panic!("{end:?}"),
    }
}

#[test]
fn a_world_that_does_not_agree_with_the_record_is_a_fault_that_names_the_turn() {
    let (plan, episode) = trunk();
    let fork = || tree(&plan, &episode, &[4], 1, 1).unwrap().remove(0);
    // Another seed opens another world: its opening differs already.
    let (boundary, message) = fault_of(EpisodePlan { seed: Seed::root(99), ..fork() });
    assert_eq!(boundary, Boundary::Environment);
    assert!(message.starts_with("the opening was observed as"), "{message}");
    // A record whose turn 2 was answered differently.
    let mut text = serde_json::to_value(&*episode).unwrap();
    let segments = text["transcript"].as_array_mut().unwrap();
    let mumbled = segments.iter_mut().find(|s| s["role"] == "environment").unwrap();
    mumbled["text"] = json!("something else");
    let doctored: Arc<Episode> = Arc::new(serde_json::from_value(text).unwrap());
    let (boundary, message) =
        fault_of(EpisodePlan { start: Start::Fork { of: doctored, turn: 4 }, ..fork() });
    assert_eq!(boundary, Boundary::Environment);
    assert!(message.starts_with("turn 2 was observed as"), "{message}");
}

#[test]
fn a_world_that_breaks_while_it_is_repeated_is_a_fault_that_names_the_turn() {
    let (plan, episode) = trunk();
    let mut fork = tree(&plan, &episode, &[4], 1, 1).unwrap().remove(0);
    fork.task = Arc::new(task("t0", json!({"break": "act"})));
    let (boundary, message) = fault_of(fork);
    assert_eq!(boundary, Boundary::Environment);
    assert!(
        message.starts_with("turn 0 could not be repeated") && message.contains("out of numbers"),
        "{message}"
    );
}

#[test]
fn a_tool_whose_state_cannot_be_had_again_is_a_fault_of_the_tool() {
    let (plan, episode) = trunk();
    let mut doctored = (*episode).clone();
    doctored.turns[1].calls[0].output = "7".into();
    let fork = tree(&plan, &Arc::new(doctored), &[4], 1, 1).unwrap().remove(0);
    let (boundary, message) = fault_of(fork);
    assert_eq!(boundary, Boundary::Tool);
    assert!(message.contains("when turn 1 was repeated, but \"7\" before"), "{message}");
}

#[test]
fn a_tree_over_turns_that_do_not_exist_is_refused() {
    let (plan, episode) = trunk();
    assert!(matches!(
        tree(&plan, &episode, &[5], 1, 1),
        Err(TreeError::NoSuchTurn { turn: 5, turns: 5, .. })
    ));
    assert!(matches!(tree(&common::plan(1), &episode, &[0], 1, 1), Err(TreeError::OtherPlan { .. })));
    let start = Start::Fork { of: episode, turn: 9 };
    let (boundary, message) = fault_of(EpisodePlan { start, ..plan });
    assert_eq!(boundary, Boundary::Environment);
    assert!(message.contains("cannot fork") && message.contains("it has 5 turns"), "{message}");
}

/// Notes what becomes of sessions.
struct Noting<S>(S, Vec<(SessionId, SessionId, usize)>, Vec<SessionId>);

impl<S: Sampler> Sampler for Noting<S> {
    fn submit(&mut self, request: SampleRequest) {
        self.0.submit(request);
    }
    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        self.0.pump(sink)
    }
    fn fork(&mut self, from: SessionId, to: SessionId, tokens: usize) {
        self.1.push((from, to, tokens));
    }
    fn close(&mut self, session: SessionId) {
        self.2.push(session);
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
fn kept_sessions_are_forked_and_closed_on_request() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap();
    let mut sampler = Noting(ScriptedSampler::new(&chat, trunk_script), vec![], vec![]);
    let keeping = RolloutSettings { keep_sessions: true, ..RolloutSettings::default() };
    let trunks = run_with(vec![plan(0)], &mut sampler, &chat, &keeping, &tools, &mut |_| {});
    assert_eq!(sampler.2, [], "a kept session stays open");
    let forks = tree(&plan(0), &trunks[0], &[2], 2, 1).unwrap();
    let sessions: Vec<SessionId> = forks.iter().map(|fork| session_of(&fork.id)).collect();
    run_with(forks, &mut sampler, &chat, &RolloutSettings::default(), &tools, &mut |_| {});
    let shared = trunks[0].transcript.before_turn(2).len();
    let parent = session_of(&trunks[0].id);
    assert_eq!(sampler.1, [(parent, sessions[0], shared), (parent, sessions[1], shared)]);
    close_sessions(&trunks, &mut sampler);
    let mut closed = sampler.2.clone();
    closed.sort();
    let mut expected = vec![parent, sessions[0], sessions[1]];
    expected.sort();
    assert_eq!(closed, expected);
    assert!(trunks[0].transcript.segments().iter().any(|segment| segment.role == Role::Tool));
}
