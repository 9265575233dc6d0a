//! Every registered world keeps the contract in all its settings, and the checks notice a world that does not.

use merit_core::{About, Action, CallRecord, Message, Role, Seed, Split, Task};
use merit_env::conformance::check_env;
use merit_env::{DemoTurn, Demonstrator, ENVS, Env, EnvConfig, EnvError, Reaction, World, WorldEnd, env};
use merit_tools::Tool;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn keeps_the_contract(config: &EnvConfig, tasks: u64) {
    let env = config.build().unwrap();
    assert_eq!(check_env(env.as_ref(), &Seed::root(7), tasks), Vec::<String>::new(), "{config:?}");
}

#[test]
fn every_registered_world_keeps_the_contract() {
    for entry in ENVS {
        let config = (entry.default)();
        assert_eq!(config.build().unwrap().about(), entry.about);
        assert_eq!(env(entry.about.name).unwrap().about, entry.about);
        keeps_the_contract(&config, 24);
    }
}

#[test]
fn the_ledger_keeps_the_contract_in_all_its_settings() {
    for text in [
        "name = \"ledger\"\nsizes = [5]\ndistractors = 0\n",
        "name = \"ledger\"\ntools = false\ninstructions = true\n",
        "name = \"ledger\"\nheld_out_sizes = [4, 5]\nfaults = { seed = 1, refused = 0.2, latency_ms = 1.0 }\n",
    ] {
        keeps_the_contract(&toml::from_str(text).unwrap(), 6);
    }
}

#[test]
fn the_vault_can_fill_both_splits_at_every_size() {
    for boxes in 4..=9 {
        for size in 2..=boxes {
            let text = format!("name = \"vault\"\nboxes = {boxes}\nsizes = [{size}]\n");
            let env = toml::from_str::<EnvConfig>(&text).unwrap().build().unwrap();
            for split in [Split::Train, Split::HeldOut] {
                assert_eq!(env.task(split, 0, &Seed::root(1)).unwrap().size, size);
            }
        }
    }
}

/// A world that breaks the rules: one task for both splits, state outside the snapshot, anything is an answer.
struct Liar;

struct LiarWorld {
    acts: u64,
}

impl Env for Liar {
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
    ) -> Result<Box<dyn World>, EnvError> {
        Ok(Box::new(LiarWorld { acts: 0 }))
    }

    fn demonstrator(&self) -> Option<&dyn Demonstrator> {
        Some(self)
    }
}

impl Demonstrator for Liar {
    fn say(&self, _task: &Task, _turns: &[DemoTurn], _skill: f64, _seed: &Seed) -> Result<String, EnvError> {
        Ok("huh".to_owned())
    }
}

impl World for LiarWorld {
    fn opening(&self) -> Vec<Message> {
        Vec::new()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    fn stops(&self) -> Vec<String> {
        Vec::new()
    }

    fn parse(&self, text: &str) -> Action {
        assert!(text.len() < 1000 || text.starts_with('('), "panics on long text");
        Action::Malformed { why: "never understood".to_owned() }
    }

    fn act(&mut self, _action: &Action, _calls: &[CallRecord]) -> Result<Reaction, EnvError> {
        self.acts += 1;
        let observations = vec![Message::new(Role::Environment, self.acts.to_string())];
        Ok(Reaction { observations, end: if self.acts == 7 { WorldEnd::Answered } else { WorldEnd::Open } })
    }

    fn snapshot(&self) -> Value {
        json!({ "acts": 0 })
    }
}

#[test]
fn the_checks_notice_a_world_that_breaks_the_contract() {
    let found = check_env(&Liar, &Seed::root(1), 3).join("\n");
    for violation in [
        "is in the other split too",
        "the oracle does not solve task liar/train/0",
        "says what its world cannot read",
        "takes a skill outside 0 to 1",
        "counts as an answer",
        "restored before turn 1, turn 1 differs",
        "it opens a damaged task",
        "continues from a foreign or damaged snapshot",
    ] {
        assert!(found.contains(violation), "{violation} is not in:\n{found}");
    }
}

/// A ledger whose tasks depend on how often they were asked for.
struct Fickle(AtomicU64);

impl Env for Fickle {
    fn about(&self) -> About {
        (ENVS[0].default)().build().unwrap().about()
    }

    fn task(&self, split: Split, _index: u64, seed: &Seed) -> Result<Task, EnvError> {
        (ENVS[0].default)().build()?.task(split, self.0.fetch_add(1, Ordering::Relaxed), seed)
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn World>, EnvError> {
        (ENVS[0].default)().build()?.open(task, seed, state)
    }
}

#[test]
fn the_checks_notice_tasks_that_cannot_be_made_again() {
    let found = check_env(&Fickle(AtomicU64::new(0)), &Seed::root(1), 3);
    assert!(found[0].ends_with("is another one when it is made again"), "{found:?}");
}
