//! Groups grown as trees: as many members as planned, each with a name of its own, forks that share what came before them.

use crate::common::plan;
use crate::common::run::run;
use merit_core::{Episode, Provenance};
use merit_rollout::{Cue, EpisodePlan, Reply, RolloutSettings, Start, TreeSettings};
use std::collections::HashSet;
use std::sync::Arc;

fn script(cue: &Cue) -> Reply {
    let number = cue.seed.stream().below(100_000);
    Reply::Say(if cue.turns.len() == 4 { "answer 9\n".into() } else { format!("call add 1 {number}\n") })
}

fn grown(tree: &TreeSettings, members: u32) -> (Vec<EpisodePlan>, Vec<Arc<Episode>>) {
    let plans = (0..members).map(plan).collect();
    let grown = tree.grow(plans, |round| Ok::<_, ()>(run(round, &RolloutSettings::default(), script)));
    grown.unwrap()
}

#[test]
fn a_group_has_its_members_and_only_the_roots_start_fresh() {
    let (plans, episodes) = grown(&TreeSettings { roots: 3, rounds: 1 }, 8);
    let names: HashSet<_> = episodes.iter().map(|episode| &episode.id).collect();
    assert_eq!((names.len(), episodes.len()), (8, 8));
    assert!(plans.iter().zip(&episodes).all(|(plan, episode)| plan.id == episode.id));
    let fresh = plans.iter().filter(|plan| matches!(plan.start, Start::Fresh)).count();
    assert_eq!(fresh, 3);
    assert!(plans.iter().skip(3).all(|plan| plan.id.branch > 0 && plan.id.member < 3));
}

#[test]
fn a_fork_shares_the_turns_of_its_trunk_and_samples_the_rest() {
    let (plans, episodes) = grown(&TreeSettings { roots: 2, rounds: 1 }, 8);
    for (plan, episode) in plans.iter().zip(&episodes).skip(2) {
        let Start::Fork { of, turn } = &plan.start else { panic!("{} does not fork", plan.id) };
        let shared = of.transcript.before_turn(*turn).tokens();
        assert!(episode.transcript.tokens().starts_with(&shared));
        let replayed = episode.transcript.segments().iter().filter(|s| s.provenance == Provenance::Replayed);
        assert_eq!(replayed.map(|s| s.tokens.len()).sum::<usize>(), shared.len());
        // The last turn is the same for all.
        let own_way = episode.transcript.tokens() != of.transcript.tokens();
        assert!(own_way || *turn == 4, "a fork at turn {turn} goes its own way");
    }
}

#[test]
fn later_rounds_may_fork_forks_and_growth_is_repeatable() {
    let tree = TreeSettings { roots: 1, rounds: 3 };
    let (plans, episodes) = grown(&tree, 16);
    let of_fork = |plan: &&EpisodePlan| matches!(&plan.start, Start::Fork { of, .. } if of.id.branch > 0);
    assert!(plans.iter().any(|plan| of_fork(&plan)));
    let hashes = |episodes: &[Arc<Episode>]| episodes.iter().map(|e| e.content_hash()).collect::<Vec<_>>();
    assert_eq!(hashes(&grown(&tree, 16).1), hashes(&episodes));
}

#[test]
fn a_group_whose_roots_broke_goes_on_fresh() {
    let mut rounds = 0;
    let grown = TreeSettings { roots: 1, rounds: 1 }.grow((0..4).map(plan).collect(), |round| {
        rounds += 1;
        let broken = |_: &Cue| Reply::Break("the model is gone".into());
        if rounds == 1 {
            Ok::<_, ()>(run(round, &RolloutSettings::default(), broken))
        } else {
            Ok(run(round, &RolloutSettings::default(), script))
        }
    });
    let (plans, episodes) = grown.unwrap();
    assert!(plans.iter().all(|plan| matches!(plan.start, Start::Fresh)));
    assert_eq!(episodes.len(), 4);
}
