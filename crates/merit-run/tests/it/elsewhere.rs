//! Episodes that other processes play: the record is that of one process, whoever played and however the work was cut.

use crate::whole::{Making, small};
use merit_core::Episode;
use merit_rollout::EpisodePlan;
use merit_run::{Players, RunError, Work, Worker, built_in};
use std::sync::{Arc, Mutex};

/// Workers that get everything as text and play one group each in turn, the last group first.
struct Several {
    workers: usize,
    made: Mutex<Vec<(String, Worker)>>,
}

impl Several {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self { workers, made: Mutex::default() })
    }
}

impl Players for Several {
    fn play(&self, work: &Work<'_>) -> Result<Vec<Arc<Episode>>, String> {
        let mut made = self.made.lock().unwrap();
        let setup = work.setup.to_toml();
        if !made.iter().any(|(known, _)| *known == setup) {
            let fresh = (0..self.workers).map(|_| Worker::new(&setup, &built_in(), 1).unwrap());
            *made = fresh.map(|worker| (setup.clone(), worker)).collect();
        }
        let settings = serde_json::to_string(work.settings).unwrap();
        let groups: Vec<&[EpisodePlan]> = work.plans.chunk_by(|a, b| a.id.group == b.id.group).collect();
        let mut played = vec![Vec::new(); groups.len()];
        for (at, group) in groups.iter().enumerate().rev() {
            let worker = &mut made[at % self.workers].1;
            worker.set_policy(work.policy.bytes()).map_err(|why| why.to_string())?;
            let plans = serde_json::from_str(&serde_json::to_string(group).unwrap()).unwrap();
            let episodes = worker.play(plans, &serde_json::from_str(&settings).unwrap()).unwrap();
            played[at] = serde_json::from_str(&serde_json::to_string(&episodes).unwrap()).unwrap();
        }
        Ok(played.concat())
    }
}

fn check(changes: &[(&str, &str)]) {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(changes);
    let alone = Making::at(dir.path().join("alone")).train(&recipe);
    for workers in [1, 3] {
        let players = Some(Several::new(workers) as Arc<dyn Players>);
        let making = Making { players, ..Making::at(dir.path().join(workers.to_string())) };
        making.train(&recipe).must_be(&alone);
    }
}

#[test]
fn a_run_that_others_play_is_the_run_of_one_process() {
    check(&[]);
}

#[test]
fn a_policy_that_judges_itself_does_so_in_the_process_that_learns() {
    let judge = "{ ask = { type = 'score', scale = 4 }, backend = { type = 'policy' }, grammar = true, temperature = 1.0, tokens = 24, length = 200 }";
    let reward = "[{ type = 'annotation', key = 'own' }, { type = 'exact-answer', weight = 0.0 }]";
    check(&[("model.context", "2048"), ("judges.own", judge), ("reward.of", reward)]);
}

#[test]
fn trees_and_probes_are_played_elsewhere_alike() {
    check(&[("rollout.tree", "{roots=1}")]);
    check(&[("rollout.rollback", "{retries=2}")]);
    check(&crate::grown::GROWN);
    check(&[("credit", "{type='branch-monte-carlo',continuations=2}")]);
}

struct Gone;

impl Players for Gone {
    fn play(&self, _: &Work<'_>) -> Result<Vec<Arc<Episode>>, String> {
        Err("nobody is there".into())
    }
}

#[test]
fn players_that_are_gone_end_the_run_which_can_go_on_without_them() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[]);
    let making = Making { players: Some(Arc::new(Gone)), ..Making::at(dir.path().join("run")) };
    let error = making.drive(&recipe, &mut |_| {}).unwrap_err();
    assert!(matches!(&error, RunError::Elsewhere(why) if why == "nobody is there"), "{error}");
    let later = Making::at(making.path).train(&recipe);
    later.must_be(&Making::at(dir.path().join("alone")).train(&recipe));
}

#[test]
fn what_a_worker_cannot_use_is_an_error() {
    let refused = |setup: &str| Worker::new(setup, &built_in(), 1).err().unwrap().to_string();
    assert!(refused("world = 3").contains("playing elsewhere"), "{}", refused("world = 3"));
    let bare = refused("[world]\ntype = \"ledger\"\n[model]\nlayers = 1");
    assert_eq!(bare, "playing elsewhere: the setup has no tokenizer");
}
