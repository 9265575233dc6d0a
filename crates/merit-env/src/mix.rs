//! A world of worlds: tasks of several worlds in turn, so that one policy learns to use the tools of all of them.
//!
//! A task of the mixture holds the whole task of its member; `kind` in its payload names the member, and metrics are broken down by
//! it. Everything else is the member's: what is shown, how lines are read, what may be said, tools, snapshots and the expert. The expert
//! plays in the manners that all members know.

use merit_api::{
    CallLanguage, Env, EnvError, EpisodeShared, ExecKind, Expert, ExpertTurn, Manner, StepResult, Tool,
    ToolBuilder, ToolError, ToolSession, ToolSpec, Word, World, WorldSettings,
};
use merit_core::registry::{Chosen, Component, Refusal, UnknownName};
use merit_core::{About, Action, CallRecord, Message, Seed, Split, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const NAME: &str = "mix";
const ABOUT: About =
    About { name: NAME, summary: "Tasks of several worlds in turn, each with its own tools.", paper: "" };

/// The settings of `mix`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The worlds, dealt in turn.
    pub of: Vec<Member>,
}

/// One world of a mixture.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// What its tasks are called in metrics.
    pub name: String,
    /// Tasks of it in every round.
    #[serde(default = "one")]
    pub times: u64,
    /// The world itself.
    pub world: Chosen<dyn WorldSettings>,
}

fn one() -> u64 {
    1
}

impl Component for Mix {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str = "of = [{ name = \"prices\", world = { type = \"ledger\" } }, { name = \"products\", times = 2, world = { type = \"sums\" } }]";

    fn check(&self) -> Result<(), Refusal> {
        if self.of.is_empty() {
            return Err(Refusal::new(
                "`of` is empty; name at least one world, as { name = .., world = { type = .. } }",
            ));
        }
        let mut seen = BTreeSet::new();
        for member in &self.of {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if member.name.is_empty() || !member.name.chars().all(plain) {
                let name = &member.name;
                return Err(Refusal::new(format!(
                    "the name `{name}` must be made of lower-case letters, digits and `-`"
                )));
            }
            if !seen.insert(&member.name) {
                return Err(Refusal::new(format!("two worlds are called `{}`", member.name)));
            }
            Refusal::unless((1..=1000).contains(&member.times), "times", member.times, "1 to 1000")?;
            if member.world.about().name == NAME {
                return Err(Refusal::new("a mixture cannot hold another; list its worlds here"));
            }
        }
        Ok(())
    }
}

impl WorldSettings for Mix {
    fn build(&self, tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        self.check().map_err(|refusal| EnvError::refused(NAME, refusal))?;
        let build = |member: &Member| {
            Ok(Built { name: member.name.clone(), times: member.times, world: member.world.build(tools)? })
        };
        let members = self.of.iter().map(build).collect::<Result<Vec<_>, EnvError>>()?;
        Ok(Box::new(MixWorld { members }))
    }

    fn timeout_s(&self) -> Option<f64> {
        self.of.iter().filter_map(|member| member.world.timeout_s()).max_by(f64::total_cmp)
    }

    fn manners(&self) -> Vec<Manner> {
        known_to_all(self.of.iter().map(|member| member.world.manners()))
    }
}

/// The manners that every world knows by name, in the order of the first.
fn known_to_all(mut worlds: impl Iterator<Item = Vec<Manner>>) -> Vec<Manner> {
    let mut known = worlds.next().unwrap_or_default();
    for other in worlds {
        known.retain(|manner| other.iter().any(|other| other.name == manner.name));
    }
    known.iter().map(|manner| Manner::new(manner.name, "As the world of the task plays it.")).collect()
}

struct Built {
    name: String,
    times: u64,
    world: Box<dyn World>,
}

impl Built {
    fn expert(&self) -> Result<&dyn Expert, EnvError> {
        let none = || EnvError::Broken { world: NAME, why: format!("`{}` has no expert", self.name) };
        self.world.expert().ok_or_else(none)
    }
}

struct MixWorld {
    members: Vec<Built>,
}

/// What a task of the mixture holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    kind: String,
    task: Task,
}

impl MixWorld {
    /// The member whose turn it is, and the number of its task.
    fn dealt(&self, index: u64) -> (&Built, u64) {
        let round: u64 = self.members.iter().map(|member| member.times).sum();
        let mut place = index % round;
        for member in &self.members {
            if place < member.times {
                return (member, index / round * member.times + place);
            }
            place -= member.times;
        }
        unreachable!("a place in a round belongs to a member")
    }

    /// The member of a task and the task that it understands, checked: tasks travel through other people's hands.
    fn inner(&self, task: &Task) -> Result<(&Built, Task), EnvError> {
        let refused = |why: String| EnvError::Task { world: NAME, task: task.id.clone(), why };
        if task.world != NAME || task.version != 1 {
            return Err(refused(format!(
                "it is of world `{}` version {}, wanted version 1",
                task.world, task.version
            )));
        }
        let payload =
            Payload::deserialize(&task.payload).map_err(|error| refused(format!("payload: {error}")))?;
        let inner = payload.task;
        if json!(inner) != task.payload["task"] {
            return Err(refused("its inner task has fields that no task has".to_owned()));
        }
        if (inner.size, inner.split, &inner.answer) != (task.size, task.split, &task.answer) {
            return Err(refused("its size, split or answer is not that of its inner task".to_owned()));
        }
        let member = self.members.iter().find(|member| member.name == payload.kind);
        let member = member.ok_or_else(|| refused(format!("there is no world called `{}`", payload.kind)))?;
        Ok((member, inner))
    }
}

impl World for MixWorld {
    fn about(&self) -> About {
        ABOUT
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let (member, place) = self.dealt(index);
        let inner = member.world.task(split, place, &seed.child(&member.name, 0))?;
        let tail = inner.id.rsplit('/').next().unwrap_or_default();
        let id = format!("{NAME}/{}/{}-{tail}", split.name(), member.name);
        let task = Task::new(NAME, id).with_split(split).with_size(inner.size);
        let answer = inner.answer.clone();
        Ok(Task { answer, ..task.with_payload(json!(Payload { kind: member.name.clone(), task: inner })) })
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let (member, inner) = self.inner(task)?;
        let inner = Arc::new(inner);
        let env = member.world.open(&inner, seed, state)?;
        Ok(Box::new(MixEnv { env, inner }))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.members.iter().all(|member| member.world.expert().is_some()).then_some(self)
    }

    fn manners(&self) -> Vec<Manner> {
        known_to_all(self.members.iter().map(|member| member.world.manners()))
    }

    fn words(&self) -> Vec<Word> {
        let mut words: Vec<Word> = self.members.iter().flat_map(|member| member.world.words()).collect();
        let mut seen = BTreeSet::new();
        words.retain(|word| seen.insert(word.text.clone()));
        words
    }
}

impl Expert for MixWorld {
    fn say(
        &self,
        task: &Task,
        turns: &[ExpertTurn],
        p_correct: f64,
        seed: &Seed,
    ) -> Result<String, EnvError> {
        let (member, inner) = self.inner(task)?;
        member.expert()?.say(&inner, turns, p_correct, seed)
    }

    fn say_in(
        &self,
        manner: &str,
        task: &Task,
        turns: &[ExpertTurn],
        seed: &Seed,
    ) -> Result<String, EnvError> {
        let setting = |error: UnknownName| EnvError::Setting { world: NAME, why: error.to_string() };
        Manner::find(&self.manners(), manner).map_err(setting)?;
        let (member, inner) = self.inner(task)?;
        member.expert()?.say_in(manner, &inner, turns, seed)
    }
}

/// The environment of a member, whose tools are given the member's task.
struct MixEnv {
    env: Box<dyn Env>,
    inner: Arc<Task>,
}

impl Env for MixEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        self.env.reset()
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        self.env.step(action, calls)
    }

    fn snapshot(&self) -> Value {
        self.env.snapshot()
    }

    fn parse(&self, text: &str) -> Action {
        self.env.parse(text)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let own = |tool| Arc::new(MemberTool { tool, task: Arc::clone(&self.inner) }) as Arc<dyn Tool>;
        self.env.tools().into_iter().map(own).collect()
    }

    fn stops(&self) -> Vec<String> {
        self.env.stops()
    }

    fn schema(&self) -> Option<Value> {
        self.env.schema()
    }

    fn call_language(&self) -> Option<Arc<dyn CallLanguage>> {
        self.env.call_language()
    }
}

struct MemberTool {
    tool: Arc<dyn Tool>,
    task: Arc<Task>,
}

impl Tool for MemberTool {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn exec_kind(&self) -> ExecKind {
        self.tool.exec_kind()
    }

    fn open(&self, _: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.tool.open(&self.task, state)
    }

    fn open_beside(
        &self,
        shared: &EpisodeShared,
        _: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.tool.open_beside(shared, &self.task, state)
    }
}
