//! Failed calls are written over by the policy's own corrections, and by nothing else.

use crate::common::plan;
use crate::common::run::run;
use merit_core::{CallEnd, Cost, End, Episode, Provenance, Role};
use merit_rollout::{Cue, PlayedGroups, Reply, RollbackSettings, RolloutSettings};
use std::convert::Infallible;
use std::sync::Arc;

/// What the policy says, by whether it has seen a refusal.
fn corrects(cue: &Cue) -> Reply {
    let number = cue.seed.stream().below(1000);
    let failed = cue.turns.iter().filter(|turn| turn.said.contains("nosuch")).count();
    Reply::Say(match cue.turns.len() - failed {
        0 => "call add 1 2\n".into(),
        1 if failed == 0 && !cue.turns.iter().any(|turn| turn.said.contains("add 5")) => {
            format!("call nosuch {number}\n")
        }
        1 => "call add 5 6\n".into(),
        _ => format!("answer {number}\n"),
    })
}

fn purified(settings: &RollbackSettings, says: fn(&Cue) -> Reply) -> PlayedGroups {
    let run = |plans| Ok::<_, Infallible>(run(plans, &RolloutSettings::default(), says));
    settings.purify(vec![plan(0)], run).unwrap()
}

fn first(says: fn(&Cue) -> Reply) -> Arc<Episode> {
    run(vec![plan(0)], &RolloutSettings::default(), says).remove(0)
}

fn ends(episode: &Episode) -> Vec<CallEnd> {
    episode.turns.iter().flat_map(|turn| turn.calls.iter().map(|call| call.end)).collect()
}

fn said(episode: &Episode, turn: u32) -> &merit_core::Segment {
    let mut segments = episode.transcript.segments().iter();
    segments.find(|segment| segment.role == Role::Policy && segment.turn == turn).unwrap()
}

const THREE: RollbackSettings = RollbackSettings { retries: 3, most: 3 };

#[test]
fn the_correction_stands_in_place_of_the_failure_token_by_token() {
    let before = first(corrects);
    assert_eq!(ends(&before), [CallEnd::Ok, CallEnd::Refused, CallEnd::Ok]);
    let PlayedGroups { plans, episodes, thrown, mended, .. } = purified(&THREE, corrects);
    let [episode] = &episodes[..] else { panic!("{episodes:?}") };
    assert_eq!((mended, &plans[0].id, episode.id.branch), (1, &episode.id, 1));
    assert_eq!((ends(episode), &episode.end), (vec![CallEnd::Ok; 2], &End::Answered));
    // The past is the episode's own, so that it is trained; nothing is tokenised anew.
    assert_eq!(said(episode, 0), said(&before, 0));
    let (now, was) = (said(episode, 1), said(&before, 2));
    assert_eq!(now.provenance, Provenance::Spliced);
    assert_eq!((&now.tokens, &now.logprobs, &now.text), (&was.tokens, &was.logprobs, &was.text));
    assert_eq!(episode.turns[1].stop, before.turns[2].stop);
    assert_eq!(said(episode, 2).provenance, Provenance::Sampled);
    assert_eq!(episode.turns[1].calls[0].output, "11", "the call was made again");
    // Thrown away: the failed turn and the answer of the first episode; the correction lives on.
    let tokens = |turn: u32| said(&before, turn).tokens.len() as u64;
    let lost = Cost { policy_tokens: tokens(1) + tokens(3), env_steps: 3, tool_calls: 2, ..Cost::default() };
    assert_eq!(thrown, lost);
}

#[test]
fn what_nobody_corrected_in_time_stays() {
    let never = |cue: &Cue| match cue.turns.len() {
        0..3 => Reply::Say("call nosuch 1\n".into()),
        3 => Reply::Say("call add 1 2\n".into()),
        _ => Reply::Say("answer 3\n".into()),
    };
    let late = purified(&RollbackSettings { retries: 2, most: 1 }, never);
    // The second failure is corrected within two turns, the first is not.
    assert_eq!(ends(&late.episodes[0])[..2], [CallEnd::Refused, CallEnd::Ok]);
    let soon = purified(&THREE, never);
    assert_eq!(ends(&soon.episodes[0])[..1], [CallEnd::Ok]);
    let gives_up = |cue: &Cue| match cue.turns.len() {
        0 => Reply::Say("call nosuch 1\n".into()),
        _ => Reply::Say("answer 3\n".into()),
    };
    let kept = purified(&THREE, gives_up);
    assert_eq!((kept.mended, kept.thrown, kept.episodes[0].id.branch), (0, Cost::default(), 0));
}

#[test]
fn at_most_so_many_failures_are_written_over() {
    // Every third turn fails, whatever stands before it.
    let often = |cue: &Cue| match cue.turns.len() {
        0 | 2 | 4 if !cue.turns.last().is_some_and(|last| last.said.contains("nosuch")) => {
            Reply::Say("call nosuch 1\n".into())
        }
        0..6 => Reply::Say("call add 1 2\n".into()),
        _ => Reply::Say("answer 3\n".into()),
    };
    let once = purified(&RollbackSettings { retries: 1, most: 1 }, often);
    assert_eq!(once.mended, 1);
    assert!(ends(&once.episodes[0]).contains(&CallEnd::Refused), "{:?}", ends(&once.episodes[0]));
}
