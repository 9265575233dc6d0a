//! Task sources: which tasks a step plays, what is dropped and drawn again, and budgets in other units than steps.

use crate::whole::{Made, Making, small, small_and, train};
use merit_core::{Group, Phase};
use merit_run::{Recipe, RunError, Session};
use merit_store::{EpisodeFilter, StoredEpisode};
use std::collections::{BTreeMap, BTreeSet};

/// What the small policy can do now and then: come to an end.
const EASY: &str =
    "{ type = 'solved-by', term = 'ended', of = { type = 'sum', of = [{ type = 'ended', weight = 1.0 }] } }";

fn with(tasks: &str, more: &[(&str, &str)]) -> Recipe {
    small(&[&[("tasks", tasks), ("reward", EASY)], more].concat())
}

fn metric(made: &Made, name: &str) -> Vec<f64> {
    made.folder.metric(Phase::train(), name).unwrap().into_iter().map(|(_, value)| value).collect()
}

/// The groups of every step, in order.
fn steps(made: &Made) -> Vec<Vec<Vec<StoredEpisode>>> {
    let mut steps: BTreeMap<u64, BTreeMap<u32, Vec<StoredEpisode>>> = BTreeMap::new();
    for stored in made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap() {
        let id = &stored.scored.episode.id;
        steps.entry(id.step).or_default().entry(id.group).or_default().push(stored);
    }
    steps.into_values().map(|groups| groups.into_values().collect()).collect()
}

fn constant(group: &[StoredEpisode]) -> bool {
    Group::assemble(group.iter().map(|stored| stored.scored.clone()).collect()).unwrap().constant()
}

fn task(group: &[StoredEpisode]) -> &str {
    &group[0].scored.episode.task.id
}

#[test]
fn constant_groups_are_dropped_counted_and_replaced_while_attempts_last() {
    let (_dir, made) = train(&with("{ refill = { attempts = 2 } }", &[]));
    let (told, refilled) = (metric(&made, "constant_groups"), metric(&made, "refilled"));
    let mut discarded = 0;
    for (step, groups) in steps(&made).iter().enumerate() {
        let dropped: Vec<_> = groups.iter().filter(|group| constant(group)).collect();
        assert_eq!(told[step], dropped.len() as f64);
        assert_eq!(refilled[step], (groups.len() - 4) as f64);
        let useful = groups.len() - dropped.len();
        assert!(useful == 4 || groups.len() > 8, "step {step}: {useful} of {}", groups.len());
        for group in groups {
            assert!(group.len() == 4 && group.iter().all(|one| one.credit.is_some() != constant(group)));
        }
        let tasks: BTreeSet<&str> = groups.iter().map(|group| task(group)).collect();
        assert_eq!(tasks.len(), groups.len(), "no task twice");
        discarded += dropped.iter().map(|group| group.len() as u64).sum::<u64>();
    }
    assert!(refilled.iter().sum::<f64>() > 0.0);
    assert!(
        steps(&made).iter().flatten().any(|group| !constant(group)),
        "some are kept, or this shows little"
    );
    assert_eq!(made.folder.costs().unwrap()[&Phase::train()].discarded_samples, discarded);
}

#[test]
fn a_step_in_which_every_group_is_dropped_learns_nothing_and_goes_on() {
    let nothing = [("reward", "{ type = 'sum', of = [{ type = 'exact-answer', weight = 0.0 }] }")];
    let (_dir, made) = train(&small(&[&[("tasks", "{ refill = { attempts = 1 } }")], &nothing[..]].concat()));
    assert_eq!(metric(&made, "constant_groups"), [8.0; 3]);
    assert!(made.newest("weights.safetensors") == made.newest("warm.safetensors"));
}

#[test]
fn a_stream_that_is_named_is_the_one_that_is_not() {
    let (_a, named) = train(&small(&[("tasks", "{ source = { type = 'stream' } }")]));
    let (_b, unnamed) = train(&small(&[]));
    named.must_be(&unnamed);
    assert!(!small(&[]).to_toml().contains("tasks]") && !small(&[]).to_toml().contains("until"));
}

#[test]
fn a_pool_plays_its_tasks_again_and_no_others() {
    let (_dir, made) = train(&with("{ source = { type = 'pool', size = 6 } }", &[("budget.steps", "4")]));
    let steps = steps(&made);
    let tasks: BTreeSet<&str> = steps.iter().flatten().map(|group| task(group)).collect();
    assert!(tasks.len() <= 6, "{tasks:?}");
    for groups in &steps {
        assert_eq!(groups.iter().map(|group| task(group)).collect::<BTreeSet<_>>().len(), 4);
    }
    assert_eq!(*metric(&made, "pool_visited").last().unwrap() as usize, {
        let earlier = &steps[..3];
        earlier.iter().flatten().map(|group| task(group)).collect::<BTreeSet<_>>().len()
    });
}

#[test]
fn only_tasks_that_were_failed_at_their_last_visit_are_replayed() {
    let (_dir, made) = train(&with("{ replay = { share = 0.6 } }", &[("budget.steps", "6")]));
    let mut failed: BTreeMap<String, bool> = BTreeMap::new();
    let mut again = Vec::new();
    for groups in steps(&made) {
        let replayed: Vec<_> = groups.iter().filter(|group| failed.contains_key(task(group))).collect();
        assert!(replayed.iter().all(|group| failed[task(group)]), "a task that was solved came again");
        again.push(replayed.len() as f64);
        for group in &groups {
            let solved = group.iter().any(|one| one.scored.outcome() == merit_core::Outcome::Solved);
            failed.insert(task(group).to_owned(), !solved);
        }
    }
    assert_eq!(again, metric(&made, "replayed"));
    assert!(again[0] == 0.0 && again.iter().sum::<f64>() >= 5.0, "{again:?}");
    assert!(failed.values().any(|failed| !failed), "some were solved, or this shows nothing");
}

#[test]
fn what_broke_was_not_failed() {
    let broken = [
        ("world.faults.broken", "1.0"),
        ("warm_start.world.faults.broken", "0.0"),
        ("warm_start.steps", "120"),
    ];
    let (_dir, made) = train(&with("{ replay = { share = 1.0 } }", &broken));
    let mut told: BTreeSet<String> = BTreeSet::new();
    for groups in steps(&made) {
        for group in &groups {
            let counts = group.iter().any(|one| one.scored.reward().is_some());
            assert!(counts || !told.contains(task(group)));
            told.extend((!counts).then(|| task(group).to_owned()));
        }
    }
    assert!(!told.is_empty(), "some groups broke whole");
}

#[test]
fn tasks_outside_the_window_are_passed_over_and_measuring_them_costs() {
    let filter = "{ filter = { at_most = 0.0, samples = 3, attempts = 2 } }";
    let (_dir, made) = train(&with(filter, &[]));
    let (passed, probed) = (metric(&made, "passed_over"), metric(&made, "probe_episodes"));
    assert!(passed.iter().sum::<f64>() > 0.0, "{passed:?}");
    for (step, groups) in steps(&made).iter().enumerate() {
        assert_eq!(probed[step], 3.0 * (groups.len() as f64 + passed[step]));
        assert!(groups.len() == 4 || passed[step] >= 3.0);
    }
    let costs = made.folder.costs().unwrap();
    assert!(costs[&Phase::train()].probe_steps as f64 >= probed.iter().sum::<f64>());
    assert!(!costs.contains_key(&Phase::train().probes()), "nobody learns from them");
}

#[test]
fn a_curriculum_begins_with_small_tasks() {
    let curriculum = "{ source = { type = 'curriculum', start = 1, end = 2, every = 2 } }";
    let (_dir, made) = train(&with(curriculum, &[("budget.steps", "4")]));
    let largest: Vec<u32> = steps(&made)
        .iter()
        .map(|groups| groups.iter().map(|group| group[0].scored.episode.task.size).max().unwrap())
        .collect();
    assert_eq!(largest, [1, 1, 2, 2]);
    assert_eq!(metric(&made, "largest_size"), [1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn learning_ends_after_the_step_in_which_the_budget_is_spent() {
    let whole = train(&small(&[("budget.steps", "6"), ("evaluation.every", "1")])).1;
    let episodes = steps(&whole);
    for (unit, amount) in [
        ("episodes", 40),
        ("policy_tokens", spent(&episodes[..2], |cost| cost.policy_tokens) + 1),
        ("env_steps", spent(&episodes[..2], |cost| cost.env_steps) + 1),
    ] {
        let until = format!("{{ {unit} = {amount} }}");
        let made =
            train(&small(&[("budget.steps", "6"), ("evaluation.every", "1"), ("budget.until", &until)])).1;
        assert_eq!(metric(&made, "loss").len(), 3, "{until}");
        let after = made.folder.episode_rows(&EpisodeFilter::phase("eval-after")).unwrap();
        assert!(after.iter().all(|row| row.policy_version.0 == 3));
        assert_eq!(
            made.folder.metric("eval-step", "success").unwrap().len(),
            2,
            "the last one is the one after"
        );
    }
}

fn spent(steps: &[Vec<Vec<StoredEpisode>>], of: impl Fn(&merit_core::Cost) -> u64) -> u64 {
    steps.iter().flatten().flatten().map(|stored| of(&stored.scored.episode.cost)).sum()
}

#[test]
fn what_is_dropped_and_what_only_measures_is_spent_too() {
    let until = [("budget.steps", "9"), ("budget.until", "{ episodes = 60 }")];
    let plain = train(&with("{ source = 'stream' }", &until)).1;
    let tasks = "{ refill = { attempts = 1 }, filter = { at_most = 0.5, samples = 2 } }";
    let filtered = train(&with(tasks, &until)).1;
    assert_eq!(metric(&plain, "loss").len(), 4);
    let played = steps(&filtered).iter().flatten().flatten().count() as f64;
    let all = played + metric(&filtered, "probe_episodes").iter().sum::<f64>();
    let last = steps(&filtered).last().unwrap().iter().flatten().count() as f64
        + metric(&filtered, "probe_episodes").last().unwrap();
    assert!(all >= 60.0 && all - last < 60.0, "{all} with {last} in the last step");
}

const STAGES: &str = r#"
[tasks]
source = { type = "pool", size = 12 }
refill = { attempts = 2 }
replay = { share = 0.3 }
[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "repeat"
times = 2
[[stages.stages]]
type = "learn"
name = "pooled"
steps = 4
until = { episodes = 70 }
set = { tasks = { filter = { at_most = 0.9, samples = 2, attempts = 1 } } }
[[stages.stages]]
type = "learn"
name = "growing"
steps = 2
set = { tasks = { source = { type = "curriculum", start = 1, end = 2, every = 3 } } }
[[stages]]
type = "evaluate"
name = "after"
"#;

#[test]
fn a_run_that_is_killed_between_its_steps_draws_and_ends_as_if_nothing_had_happened() {
    let every = [("budget.checkpoint_every".to_owned(), "2".to_owned())];
    let recipe = small_and(STAGES).unwrap().with(&every).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let whole = Making::at(dir.path().join("whole")).train(&recipe);
    let killed = Making::at(dir.path().join("killed"));
    let mut moments = [46].into_iter().chain(std::iter::repeat(5));
    let kills = moments.by_ref().take(40).take_while(|at| killed.kill(&recipe, *at)).count();
    assert!((3..40).contains(&kills), "{kills} kills");
    let resumed = killed.train(&recipe);
    resumed.must_be(&whole);
    assert!(resumed.newest("learned.json") == whole.newest("learned.json"));
    let sizes = whole.folder.metric("learn:growing", "largest_size").unwrap();
    assert_eq!(
        sizes,
        [(0, 1.0), (1, 1.0), (2, 1.0), (3, 2.0)],
        "a later round goes on where the first ended"
    );
}

#[test]
fn settings_that_cannot_work_are_refused_with_what_to_do() {
    let refused = |key: &str, value: &str| {
        small(&[]).with(&[(key.to_owned(), value.to_owned())]).unwrap_err().to_string()
    };
    for (key, value, want) in [
        ("tasks", "{ source = { type = 'pool', size = 3 } }", "`tasks.source.size` is 3, and a step plays 4"),
        ("tasks", "{ source = 'pond' }", "did you mean `pool`?"),
        (
            "tasks",
            "{ source = { type = 'curriculum', start = 1, end = 2 } }",
            "exactly one of `every` and `plateau`",
        ),
        ("tasks", "{ replay = { share = 1.5 } }", "`tasks.replay.share` is 1.5; it must lie between 0 and 1"),
        ("tasks", "{ filter = { samples = 2 } }", "`tasks.filter` lets every task through"),
        ("tasks", "{ filter = { at_least = 0.7, at_most = 0.2 } }", "`tasks.filter` lets nothing through"),
        ("tasks", "{ refil = { attempts = 2 } }", "did you mean `refill`?"),
        ("tasks", "{ refill = { attempts = 4000000000 } }", "(1 + tasks.refill.attempts)` is"),
        ("budget.until", "{ episodes = 0 }", "`budget.until.episodes` is 0; it must be at least 1"),
        ("budget.until", "{ episode = 5 }", "did you mean `episodes`?"),
        ("budget.until", "{ episodes = 5, env_steps = 5 }", "one key is expected here"),
    ] {
        let said = refused(key, value);
        assert!(said.contains(want), "{value}: {said}");
    }
    let said = Session::new(&with("{ refill = { attempts = 1 } }", &[]), 1, 1).err().unwrap();
    assert!(matches!(&said, RunError::Tasks(why) if why.contains("leave `[tasks]` out")), "{said}");
}
