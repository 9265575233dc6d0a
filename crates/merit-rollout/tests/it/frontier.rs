//! Groups that grow turn by turn: what is kept, what is left, and to whom shared turns belong.

use crate::common::run::run;
use crate::common::{plan, plan_with};
use merit_core::conformance::check_episode;
use merit_core::{End, Episode, Limit, Provenance, Role};
use merit_rollout::{
    BranchEvidence, Cue, EpisodePlan, GrowSettings, Grown, KeepBranches, Reply, RolloutSettings,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Four calls that its seed draws, then an answer.
fn script(cue: &Cue) -> Reply {
    let number = cue.seed.stream().below(100_000);
    Reply::Say(if cue.turns.len() == 4 { "answer 9\n".into() } else { format!("call add 1 {number}\n") })
}

fn growing(keep: KeepBranches) -> GrowSettings {
    GrowSettings { branch: 2, width: 2, depth: 3, steps: None, keep, evidence: None }
}

fn found_at(alike: f64) -> Option<BranchEvidence> {
    Some(BranchEvidence { at: "/found".into(), alike })
}

/// Plans of one group: the same task, for every member a seed of its own.
fn plans(members: u32, payload: &Value) -> Vec<EpisodePlan> {
    let first = plan_with(0, payload.clone());
    (0..members).map(|member| EpisodePlan { task: Arc::clone(&first.task), ..plan(member) }).collect()
}

fn grown(grow: &GrowSettings, members: u32, settings: &RolloutSettings) -> Grown {
    let played = grow.grow(plans(members, &json!({"tells": "acts"})), settings, |round| {
        Ok::<_, ()>(run(round, settings, script))
    });
    let grown = played.unwrap();
    let violations: Vec<String> = grown.episodes.iter().flat_map(|episode| check_episode(episode)).collect();
    assert_eq!(violations, Vec::<String>::new());
    assert!(grown.plans.iter().zip(&grown.episodes).all(|(plan, episode)| plan.id == episode.id));
    grown
}

/// The turns that an episode has not repeated from another one.
fn own(episode: &Episode) -> Vec<u32> {
    let said = episode.transcript.segments().iter().filter(|segment| segment.role == Role::Policy);
    said.filter(|segment| segment.provenance == Provenance::Sampled).map(|segment| segment.turn).collect()
}

fn ends(grown: &Grown) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    grown.episodes.iter().for_each(|episode| *counts.entry(episode.end.label()).or_default() += 1);
    counts
}

#[test]
fn a_tree_has_the_turns_that_its_settings_say_and_each_belongs_to_one_branch() {
    // Two first turns; four second ones, of which two are left; four third ones, of which two are left. Then nothing forks, and two
    // branches say two turns more: 2 + 4 + 4 + 4 turns were sampled.
    let grown = grown(&growing(KeepBranches::Random {}), 2, &RolloutSettings::default());
    assert_eq!(ends(&grown), [("answered".to_owned(), 2), ("left".to_owned(), 4)].into());
    assert_eq!(grown.episodes.iter().map(|episode| own(episode).len()).sum::<usize>(), 14);
    assert_eq!(grown.episodes.iter().map(|episode| episode.cost.env_steps).sum::<u64>(), 14);
    assert_eq!(grown.episodes.iter().map(|episode| episode.cost.tool_calls).sum::<u64>(), 12);
    let names: BTreeSet<_> = grown.episodes.iter().map(|one| (one.id.member, one.id.branch)).collect();
    assert_eq!(names.len(), 6);
    // Two were chosen after each of three turns.
    assert_eq!((grown.choices, grown.kept, &grown.missing), (3, 6, &None));
}

#[test]
fn shared_turns_belong_to_a_branch_that_came_to_its_end() {
    let grown = grown(&growing(KeepBranches::Random {}), 2, &RolloutSettings::default());
    let finished: Vec<_> = grown.episodes.iter().filter(|episode| episode.end != End::Left).collect();
    let mut seen = BTreeSet::new();
    for episode in &grown.episodes {
        let (own, last) = (own(episode), episode.turns.len() as u32 - 1);
        assert_eq!(own.last(), Some(&last), "{}", episode.id);
        let begins = |turn: u32| episode.transcript.before_turn(turn + 1).tokens();
        let ended = |turn: u32| {
            finished.iter().any(|one| one.transcript.before_turn(turn + 1).tokens() == begins(turn))
        };
        assert!(episode.end != End::Left || !own.iter().any(|turn| ended(*turn)), "{}", episode.id);
        for turn in own {
            let said = episode.transcript.before_turn(turn + 1).tokens();
            assert!(seen.insert(said), "a turn of {} belongs to two branches", episode.id);
        }
        let tokens = episode.transcript.segments().iter().filter(|s| s.role == Role::Policy);
        let tokens = tokens.filter(|s| s.provenance == Provenance::Sampled).map(|s| s.tokens.len() as u64);
        assert_eq!(episode.cost.policy_tokens, tokens.sum::<u64>());
    }
}

#[test]
fn a_tree_is_the_same_whatever_the_schedule() {
    let hashes = |in_flight: usize| {
        let settings = RolloutSettings { in_flight, ..RolloutSettings::default() };
        let grown = grown(&growing(KeepBranches::Random {}), 3, &settings);
        grown.episodes.iter().map(|episode| episode.content_hash()).collect::<Vec<_>>()
    };
    let alone = hashes(1);
    assert_eq!(hashes(1), alone);
    assert_eq!(hashes(64), alone);
}

#[test]
fn the_best_are_those_of_which_the_info_is_highest() {
    // The world tells how often it was acted in, which is the same for all: everything ties. So the number that was added is told instead.
    let told = |episode: &Arc<Episode>| {
        let mut episode = Episode::clone(episode);
        for turn in &mut episode.turns {
            let sum = turn.calls.first().and_then(|call| call.output.parse().ok());
            turn.info = [("sum", sum.unwrap_or(0.0))].into_iter().collect();
        }
        Arc::new(episode)
    };
    let settings = RolloutSettings::default();
    let kept_sums = |keep: KeepBranches| {
        let grow = GrowSettings { branch: 1, width: 1, depth: 1, ..growing(keep) };
        let grown = grow.grow(plans(6, &Value::Null), &settings, |round| {
            Ok::<_, ()>(run(round, &settings, script).iter().map(told).collect())
        });
        let grown = grown.unwrap();
        let sum = |episode: &Episode| episode.turns[0].info["sum"];
        let kept = grown.episodes.iter().find(|episode| episode.end != End::Left).map(|one| sum(one));
        let most = grown.episodes.iter().map(|episode| sum(episode)).fold(0.0, f64::max);
        (kept.unwrap(), most, grown.missing)
    };
    let info = || "sum".to_owned();
    let (best, most, _) = kept_sums(KeepBranches::Best { info: info() });
    assert_eq!(best, most);
    let (always, most, _) = kept_sums(KeepBranches::Mixed { info: info(), best: 1.0 });
    assert_eq!(always, most);
    let never = kept_sums(KeepBranches::Mixed { info: info(), best: 0.0 });
    assert_eq!(never.0, kept_sums(KeepBranches::Random {}).0, "any is any, whichever way it is said");
    let (.., missing) = kept_sums(KeepBranches::Best { info: "summ".into() });
    assert_eq!(missing.as_deref(), Some("`rollout.grow.keep.info` is `summ`, which no turn was told"));
}

/// Grows six first turns, of which `width` are kept, where member `n` finds `found[n]`; which members were kept, and how many evidences.
fn kept_of(
    found: &[&[u32]],
    width: u32,
    evidence: Option<BranchEvidence>,
    keep: KeepBranches,
) -> (Vec<u32>, u64) {
    let grow = GrowSettings { branch: 1, width, depth: 1, evidence, ..growing(keep) };
    let settings = RolloutSettings::default();
    let with_state = |episode: &Arc<Episode>| {
        let found = found[episode.id.member as usize];
        Arc::new(Episode { state: Some(json!({ "found": found })), ..Episode::clone(episode) })
    };
    let grown = grow.grow(plans(found.len() as u32, &Value::Null), &settings, |round| {
        Ok::<_, ()>(run(round, &settings, script).iter().map(with_state).collect())
    });
    let grown = grown.unwrap();
    let kept = grown.episodes.iter().filter(|episode| episode.end != End::Left);
    (kept.map(|episode| episode.id.member).collect(), grown.distinct)
}

#[test]
fn one_of_each_evidence_is_kept_before_any_other() {
    // Three evidences: {1, 2} four times, in another order and with an id twice, {3}, and {4, 5}.
    let found: [&[u32]; 6] = [&[1, 2], &[2, 1], &[1, 2, 2], &[1, 2], &[3], &[4, 5]];
    let (kept, distinct) = kept_of(&found, 3, found_at(0.8), KeepBranches::Distinct {});
    assert_eq!((kept.len(), distinct), (3, 3));
    assert!(kept.contains(&4) && kept.contains(&5), "{kept:?}");
    // Places that are left over are filled with any.
    let (kept, distinct) = kept_of(&found, 5, found_at(0.8), KeepBranches::Distinct {});
    assert_eq!((kept.len(), distinct), (5, 3));
}

#[test]
fn evidence_is_the_same_above_the_share_and_nothing_is_like_nothing() {
    // {1, 2, 3} and {2, 3, 4} share two of four: 0.5 is not above 0.5, and it is above 0.4.
    let half: [&[u32]; 2] = [&[1, 2, 3], &[2, 3, 4]];
    let distinct = |found: &[&[u32]], alike| kept_of(found, 2, found_at(alike), KeepBranches::Random {}).1;
    assert_eq!((distinct(&half, 0.5), distinct(&half, 0.4)), (2, 1));
    assert_eq!(distinct(&[&[], &[]], 0.8), 1);
}

#[test]
fn steps_end_the_forks_and_limits_end_the_branches() {
    // Two first turns make two steps: nothing forks, and both are played to their end.
    let grow = GrowSettings { steps: Some(2), ..growing(KeepBranches::Random {}) };
    let whole = grown(&grow, 2, &RolloutSettings::default());
    assert_eq!(ends(&whole), [("answered".to_owned(), 2)].into());
    // At the limit of turns a branch is cut by that limit: nobody has left it.
    let short = RolloutSettings { max_turns: 2, ..RolloutSettings::default() };
    let cut = grown(&growing(KeepBranches::Random {}), 2, &short);
    let turns = End::Truncated { limit: Limit::Turns };
    assert!(cut.episodes.len() == 4 && cut.episodes.iter().all(|episode| episode.end == turns));
}

#[test]
fn what_breaks_is_over_and_the_others_grow() {
    let settings = RolloutSettings::default();
    let breaking = |cue: &Cue| match cue.seed.stream().below(3) {
        0 => Reply::Break("the model is gone".into()),
        _ => script(cue),
    };
    let grow = GrowSettings { branch: 3, width: 3, ..growing(KeepBranches::Random {}) };
    let grown =
        grow.grow(plans(6, &Value::Null), &settings, |round| Ok::<_, ()>(run(round, &settings, breaking)));
    let grown = grown.unwrap();
    let failed = |episode: &&Arc<Episode>| matches!(episode.end, End::Failed { .. });
    assert!(grown.episodes.iter().any(|episode| failed(&episode)));
    // A turn that others went on from is theirs, not that of a branch that broke.
    for episode in grown.episodes.iter().filter(failed) {
        let said = |turn: u32| episode.transcript.before_turn(turn + 1).tokens();
        let others = || grown.episodes.iter().filter(|other| other.id != episode.id && !failed(other));
        let shared =
            |turn: &u32| others().any(|other| other.transcript.before_turn(turn + 1).tokens() == said(*turn));
        assert!(!own(episode).iter().any(shared), "{}", episode.id);
    }
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut GrowSettings)| {
        let mut grow = growing(KeepBranches::Random {});
        change(&mut grow);
        RolloutSettings { grow: Some(grow), ..RolloutSettings::default() }.validate().unwrap_err().name
    };
    assert_eq!(refused(&|grow| grow.branch = 0), "grow.branch");
    assert_eq!(refused(&|grow| grow.width = 0), "grow.width");
    assert_eq!(refused(&|grow| grow.depth = 5000), "grow.depth");
    assert_eq!(refused(&|grow| grow.steps = Some(0)), "grow.steps");
    assert_eq!(refused(&|grow| grow.keep = KeepBranches::Distinct {}), "grow.keep");
    assert_eq!(refused(&|grow| grow.keep = KeepBranches::Best { info: String::new() }), "grow.keep.info");
    let often = |grow: &mut GrowSettings| grow.keep = KeepBranches::Mixed { info: "sum".into(), best: 1.5 };
    assert_eq!(refused(&often), "grow.keep.best");
    assert_eq!(refused(&|grow| grow.evidence = found_at(1.0)), "grow.evidence.alike");
    let nowhere = |grow: &mut GrowSettings| {
        grow.evidence = Some(BranchEvidence { at: "found".into(), alike: 0.8 });
    };
    assert_eq!(refused(&nowhere), "grow.evidence.at");
    let unknown =
        r#"{"grow": {"branch": 2, "width": 2, "depth": 3, "keep": {"type": "random", "info": "sum"}}}"#;
    let error = serde_json::from_str::<RolloutSettings>(unknown).unwrap_err().to_string();
    assert!(error.contains("unknown field `info`"), "{error}");
}
