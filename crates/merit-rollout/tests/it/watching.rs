//! What a person sees of a running rollout, and how it is stopped.

use crate::common::run::{lines, run_with};
use crate::common::{chat, plan};
use merit_core::End;
use merit_rollout::{
    Cue, Progress, Reply, RolloutSettings, ScriptedSampler, ToolRuntime, Waiting, WaitingOn, session_of,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_stalled_rollout_says_what_everybody_waits_for() {
    let chat = chat();
    let plans: Vec<_> = (0..4).map(plan).collect();
    let (lost, slow) = (session_of(&plans[0].id), session_of(&plans[1].id));
    let script = move |cue: &Cue| match cue.session {
        session if session == lost => Reply::Silence,
        session if session == slow => Reply::Say("call sleep 5000\n".into()),
        _ => Reply::Say("answer 1\n".into()),
    };
    let settings = RolloutSettings {
        in_flight: 2,
        stall_seconds: 0.1,
        episode_seconds: 1.0,
        ..RolloutSettings::default()
    };
    let mut reports: Vec<Waiting> = Vec::new();
    let tools = ToolRuntime::new().unwrap();
    let episodes =
        run_with(plans, &mut ScriptedSampler::new(&chat, script), &chat, &settings, &tools, &mut |news| {
            if let Progress::Stalled(waiting) = news {
                reports.push(waiting);
            }
        });
    assert_eq!(episodes.len(), 4);
    let report = &reports[0];
    let on: Vec<&WaitingOn> = report.episodes.iter().map(|episode| &episode.on).collect();
    assert!(
        on[..2].contains(&&WaitingOn::Model) && on[..2].contains(&&WaitingOn::Tool("sleep".into())),
        "{on:?}"
    );
    assert_eq!(on[2..], [&WaitingOn::Queued, &WaitingOn::Queued]);
    let oldest = report.oldest().unwrap();
    assert!(oldest.seconds >= 0.1, "{oldest:?}");
    let text = report.to_string();
    assert!(
        text.starts_with("waiting for 4 of 4 episodes (model: 1, not begun: 2, tool `sleep`: 1)"),
        "{text}"
    );
    assert!(text.contains("test/0/0/1 waits for tool `sleep` since "), "{text}");
    assert!(text.contains("sampler: script: 0 requests queued, 1 lost"), "{text}");
}

#[test]
fn whoever_asks_gets_a_report_without_a_stall() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap().with_ask(Arc::new(true.into()));
    let mut reports = 0;
    let mut sampler = ScriptedSampler::new(&chat, lines(&["call sleep 60\n", "answer 1\n"]));
    run_with(vec![plan(0)], &mut sampler, &chat, &RolloutSettings::default(), &tools, &mut |news| {
        reports += usize::from(matches!(news, Progress::Stalled(_)));
    });
    assert_eq!(reports, 1, "one question, one answer");
}

#[test]
fn a_stopped_rollout_returns_what_has_finished() {
    let chat = chat();
    let plans: Vec<_> = (0..6).map(plan).collect();
    let slow = [session_of(&plans[1].id), session_of(&plans[4].id)];
    let script = move |cue: &Cue| match slow.contains(&cue.session) {
        true => Reply::Say("call sleep 60000\n".into()),
        false => Reply::Say("answer 1\n".into()),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let tools = ToolRuntime::new().unwrap().with_stop(Arc::clone(&stop));
    let mut finished = 0;
    let mut sampler = ScriptedSampler::new(&chat, script);
    let episodes = run_with(plans, &mut sampler, &chat, &RolloutSettings::default(), &tools, &mut |news| {
        finished += usize::from(matches!(news, Progress::Finished(_)));
        stop.store(finished == 4, Ordering::Relaxed);
    });
    assert_eq!(episodes.iter().map(|episode| episode.id.member).collect::<Vec<_>>(), [0, 2, 3, 5]);
    assert!(episodes.iter().all(|episode| episode.end == End::Answered));
}

#[test]
fn every_episode_is_told_once_and_the_tally_adds_up() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap();
    let (mut told, mut last) = (Vec::new(), None);
    let mut sampler = ScriptedSampler::new(&chat, lines(&["call add 1 2\n", "answer 3\n"]));
    let settings = RolloutSettings { in_flight: 3, ..RolloutSettings::default() };
    let plans = (0..10).map(plan).collect();
    let episodes = run_with(plans, &mut sampler, &chat, &settings, &tools, &mut |news| match news {
        Progress::Finished(episode) => told.push(episode.id.clone()),
        Progress::Tick(tally) => last = Some(tally),
        Progress::Stalled(waiting) => panic!("{waiting}"),
    });
    told.sort();
    assert_eq!(told, episodes.iter().map(|episode| episode.id.clone()).collect::<Vec<_>>());
    let tally = last.unwrap();
    assert_eq!(
        (tally.planned, tally.finished, tally.failed, tally.in_flight, tally.turns),
        (10, 10, 0, 0, 20)
    );
    assert_eq!(tally.policy_tokens, episodes.iter().map(|e| e.cost.policy_tokens).sum::<u64>());
}
