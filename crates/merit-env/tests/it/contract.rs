//! Every registered world keeps the contract in all its settings, and the checks notice a world that does not.

use merit_api::conformance::check_world;
use merit_api::{LiveTools, StepResult, World};
use merit_core::{About, Action, CallRecord, Message, Seed, Split, Task};
use merit_env::{Env, EnvError, Expert, ExpertTurn, WORLDS, read_world, world};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn keeps_the_contract(settings: &str, tasks: u64) {
    let world = read_world(settings).unwrap().build(&LiveTools).unwrap();
    assert_eq!(check_world(world.as_ref(), &Seed::root(7), tasks), Vec::<String>::new(), "{settings}");
}

#[test]
fn every_registered_world_keeps_the_contract() {
    // The examples of `command` and `python` name a program that is not there; their own tests run one.
    for entry in WORLDS.iter().filter(|entry| !["command", "python"].contains(&entry.about.name)) {
        let settings = format!("type = {:?}\n{}", entry.about.name, entry.example);
        let built = read_world(&settings).unwrap().build(&LiveTools).unwrap();
        assert_eq!(built.about(), entry.about);
        assert_eq!(world(entry.about.name).unwrap().about, entry.about);
        keeps_the_contract(&settings, 24);
    }
}

#[test]
fn the_ledger_keeps_the_contract_in_all_its_settings() {
    for settings in [
        "type = \"ledger\"\nsizes = [5]\ndistractors = 0\n",
        "type = \"ledger\"\ntools = false\ninstructions = true\n",
        "type = \"ledger\"\nheld_out_sizes = [4, 5]\nfaults = { seed = 1, refused = 0.2, latency_ms = 1.0 }\n",
    ] {
        keeps_the_contract(settings, 6);
    }
}

#[test]
fn the_vault_can_fill_both_splits_at_every_size() {
    for boxes in 4..=9 {
        for size in 2..=boxes {
            let text = format!("type = \"vault\"\nboxes = {boxes}\nsizes = [{size}]\n");
            let world = read_world(&text).unwrap().build(&LiveTools).unwrap();
            for split in [Split::Train, Split::HeldOut] {
                assert_eq!(world.task(split, 0, &Seed::root(1)).unwrap().size, size);
            }
        }
    }
}

/// A world that breaks the rules: one task for both splits, state outside the snapshot, anything is an answer.
struct Liar;

struct LiarEnv {
    acts: u64,
}

impl World for Liar {
    fn about(&self) -> About {
        About { name: "liar", summary: "Breaks every rule.", paper: "" }
    }

    fn task(&self, split: Split, index: u64, _seed: &Seed) -> Result<Task, EnvError> {
        Ok(Task {
            id: format!("liar/{}/{index}", split.name()),
            world: "liar".to_owned(),
            version: 1,
            split,
            size: 1,
            payload: json!({ "index": index }),
            answer: Some("1".to_owned()),
        })
    }

    fn open(
        &self,
        _task: &Arc<Task>,
        _seed: &Seed,
        _state: Option<&Value>,
    ) -> Result<Box<dyn Env>, EnvError> {
        Ok(Box::new(LiarEnv { acts: 0 }))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        Some(self)
    }
}

impl Expert for Liar {
    fn say(&self, _task: &Task, _turns: &[ExpertTurn], _: f64, _seed: &Seed) -> Result<String, EnvError> {
        Ok("huh".to_owned())
    }
}

impl Env for LiarEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        Ok(Vec::new())
    }

    fn parse(&self, text: &str) -> Action {
        assert!(text.len() < 1000 || text.starts_with('('), "panics on long text");
        Action::Malformed { why: "never understood".to_owned() }
    }

    fn step(&mut self, _action: &Action, _calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        self.acts += 1;
        let told = StepResult::saying(format!("progress: {}", self.acts));
        let told = told.with_info([("progress", self.acts as f64)]);
        Ok(if self.acts == 7 { told.answered() } else { told })
    }

    fn snapshot(&self) -> Value {
        json!({ "acts": 0 })
    }
}

#[test]
fn the_checks_notice_a_world_that_breaks_the_contract() {
    let found = check_world(&Liar, &Seed::root(1), 3).join("\n");
    for violation in [
        "is in the other split too",
        "the expert does not solve task liar/train/0",
        "says what its world cannot read",
        "takes a `p_correct` outside 0 to 1",
        "counts as an answer",
        "restored before turn 1, turn 1 differs",
        "after a reset, turn 0 differs",
        "it opens a damaged task",
        "continues from a foreign or damaged snapshot",
    ] {
        assert!(found.contains(violation), "{violation} is not in:\n{found}");
    }
}

/// Tells the policy what only the record should hold.
struct Gossip {
    inner: Box<dyn World>,
    /// Already with the task, or only once something was done.
    at_once: bool,
}

struct GossipEnv {
    inner: Box<dyn Env>,
    at_once: bool,
}

impl World for Gossip {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        self.inner.task(split, index, seed)
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        Ok(Box::new(GossipEnv { inner: self.inner.open(task, seed, state)?, at_once: self.at_once }))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.inner.expert()
    }
}

impl Env for GossipEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        let mut opening = self.inner.reset()?;
        if self.at_once {
            opening.iter_mut().for_each(|message| message.text.push_str(" {\"distance\": 2.5}"));
        }
        Ok(opening)
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        let mut result = self.inner.step(action, calls)?.with_info([("distance", 2.5)]);
        if let Some(message) = result.observations.first_mut()
            && !self.at_once
        {
            message.text.push_str(", distance=2.5");
        }
        Ok(result)
    }

    fn snapshot(&self) -> Value {
        self.inner.snapshot()
    }

    fn parse(&self, text: &str) -> Action {
        self.inner.parse(text)
    }
}

#[test]
fn the_checks_notice_an_observation_that_tells_the_info() {
    for (at_once, said) in [
        (false, "an observation tells the info `distance`"),
        (true, "what a reset shows tells the info `distance`"),
    ] {
        let inner = read_world("type = \"vault\"").unwrap().build(&LiveTools).unwrap();
        let found = check_world(&Gossip { inner, at_once }, &Seed::root(1), 3).join("\n");
        assert!(found.contains(said), "{found}");
    }
}

/// A ledger whose tasks depend on how often they were asked for.
struct Fickle(AtomicU64, Box<dyn World>);

impl World for Fickle {
    fn about(&self) -> About {
        self.1.about()
    }

    fn task(&self, split: Split, _index: u64, seed: &Seed) -> Result<Task, EnvError> {
        self.1.task(split, self.0.fetch_add(1, Ordering::Relaxed), seed)
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        self.1.open(task, seed, state)
    }
}

#[test]
fn the_checks_notice_tasks_that_cannot_be_made_again() {
    let ledger = read_world("type = \"ledger\"").unwrap().build(&LiveTools).unwrap();
    let found = check_world(&Fickle(AtomicU64::new(0), ledger), &Seed::root(1), 3);
    assert!(found[0].ends_with("is another one when it is made again"), "{found:?}");
}
