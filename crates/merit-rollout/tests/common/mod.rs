//! A small world with tools of every pace and every way to break, for the tests of this crate.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod run;

use merit_core::{
    About, Action, CallRecord, EpisodeId, Message, PolicyVersion, Role, Seed, Split, Task, ToolCall,
};
use merit_env::{DemoTurn, Demonstrator, Env, EnvError, Reaction, World, WorldEnd};
use merit_model::Tokenizer;
use merit_rollout::{ChatFormat, EpisodePlan, Start};
use merit_tools::{Pace, Tool, ToolAnswer, ToolCard, ToolError, ToolFuture, ToolSession};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Counts up with its tools until the agent answers. `payload.break` names where it breaks.
pub struct Counting;

/// An open task of [`Counting`].
pub struct OpenCounting {
    task: Arc<Task>,
    noise: u64,
    acts: u32,
}

impl OpenCounting {
    fn breaks(&self, place: &str) -> bool {
        self.task.payload["break"] == place
    }
}

impl Env for Counting {
    fn about(&self) -> About {
        About { name: "counting", summary: "counts up", paper: "" }
    }

    fn task(&self, split: Split, index: u64, _seed: &Seed) -> Result<Task, EnvError> {
        Ok(task(&format!("{}/{index}", split.name()), Value::Null))
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, _: Option<&Value>) -> Result<Box<dyn World>, EnvError> {
        match task.payload["break"].as_str() {
            Some("open") => {
                Err(EnvError::Task { world: "counting", task: task.id.clone(), why: "torn".into() })
            }
            Some("open-panic") => panic!("the ground gave way"),
            _ => Ok(Box::new(OpenCounting { task: task.clone(), noise: seed.stream().below(1000), acts: 0 })),
        }
    }

    fn demonstrator(&self) -> Option<&dyn Demonstrator> {
        Some(self)
    }
}

impl Demonstrator for Counting {
    fn say(&self, _: &Task, turns: &[DemoTurn], skill: f64, _: &Seed) -> Result<String, EnvError> {
        Ok(match turns {
            [] => "call add 1 2\n".into(),
            [first] if skill >= 1.0 => format!("answer {}\n", first.observed[0].text),
            _ => "answer 0".into(),
        })
    }
}

impl World for OpenCounting {
    fn opening(&self) -> Vec<Message> {
        let rules = Message::new(Role::System, "count");
        vec![rules, Message::new(Role::User, format!("task {} noise {}", self.task.id, self.noise))]
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        TOOLS.iter().map(|&(name, pace)| Arc::new(TestTool::new(name, pace)) as Arc<dyn Tool>).collect()
    }

    fn stops(&self) -> Vec<String> {
        vec!["\n".into()]
    }

    fn parse(&self, text: &str) -> Action {
        assert!(!self.breaks("parse-panic"), "cannot read");
        let text = text.trim_end_matches('\n');
        if let Some(text) = text.strip_prefix("answer ") {
            return Action::Answer { text: text.into() };
        }
        let calls: Vec<ToolCall> = text
            .split("; ")
            .filter_map(|part| part.strip_prefix("call "))
            .map(|call| call.split_once(' ').unwrap_or((call, "")))
            .map(|(tool, input)| ToolCall { tool: tool.into(), input: input.into() })
            .collect();
        match calls.is_empty() {
            true => Action::Malformed { why: "say `call` or `answer`".into() },
            false => Action::Calls { calls },
        }
    }

    fn act(&mut self, action: &Action, calls: &[CallRecord]) -> Result<Reaction, EnvError> {
        self.acts += 1;
        assert!(!self.breaks("act-panic"), "the sky fell");
        if self.breaks("act") {
            return Err(EnvError::Broken { world: "counting", why: "out of numbers".into() });
        }
        let tool = |call: &CallRecord| Message::new(Role::Tool, call.output.clone());
        Ok(match action {
            Action::Answer { .. } => Reaction { observations: vec![], end: WorldEnd::Answered },
            Action::Calls { .. } if self.breaks("impostor") => {
                Reaction { observations: vec![Message::new(Role::Policy, "me")], end: WorldEnd::Open }
            }
            Action::Calls { .. } if self.breaks("silent") => {
                Reaction { observations: vec![], end: WorldEnd::Open }
            }
            Action::Calls { calls: asked } if asked[0].tool == "quit" => {
                let last =
                    Message::new(Role::Environment, format!("over after {} noise {}", self.acts, self.noise));
                Reaction { observations: vec![last], end: WorldEnd::Done }
            }
            Action::Calls { .. } => {
                Reaction { observations: calls.iter().map(tool).collect(), end: WorldEnd::Open }
            }
            Action::Say { text } | Action::Malformed { why: text } => Reaction {
                observations: vec![Message::new(Role::Environment, format!("{text}; noise {}", self.noise))],
                end: WorldEnd::Open,
            },
        })
    }

    fn snapshot(&self) -> Value {
        json!(self.acts)
    }
}

/// A tool by name and pace; what it does follows from the name.
pub struct TestTool(&'static str, Pace, ToolCard);

impl TestTool {
    pub fn new(name: &'static str, pace: Pace) -> Self {
        Self(name, pace, ToolCard::text(name, "a tool of the tests", "input", "a number", "1"))
    }
}

const TOOLS: [(&str, Pace); 12] = [
    ("jitter", Pace::Waiting),
    ("jitter-hard", Pace::Computing),
    ("add", Pace::Instant),
    ("quit", Pace::Instant),
    ("sleep", Pace::Waiting),
    ("grind", Pace::Computing),
    ("drowsy", Pace::Instant),
    ("memory", Pace::Waiting),
    ("broken", Pace::Instant),
    ("panic", Pace::Instant),
    ("panic-later", Pace::Waiting),
    ("panic-hard", Pace::Computing),
];

struct TestSession {
    name: &'static str,
    kept: AtomicI64,
}

impl Tool for TestTool {
    fn card(&self) -> &ToolCard {
        &self.2
    }

    fn pace(&self) -> Pace {
        self.1
    }

    fn open(&self, task: &Task, _: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        if task.payload["break"] == "tool-open" && self.0 == "add" {
            return Err(ToolError::Task {
                tool: self.0.to_owned(),
                task: task.id.clone(),
                why: "no numbers".into(),
            });
        }
        Ok(Arc::new(TestSession { name: self.0, kept: AtomicI64::new(0) }))
    }
}

impl ToolSession for TestSession {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        assert!(self.name != "panic", "tool blew up");
        Box::pin(async move {
            let number = |text: &str| text.trim().parse::<i64>().ok();
            match self.name {
                "add" => match input.split(' ').map(number).sum::<Option<i64>>() {
                    Some(sum) => ToolAnswer::Ok(sum.to_string()),
                    None => ToolAnswer::Refused(format!("cannot add {input:?}")),
                },
                "memory" => {
                    let by = number(&input).unwrap_or(1);
                    tokio::task::yield_now().await;
                    ToolAnswer::Ok((self.kept.fetch_add(by, Ordering::SeqCst) + by).to_string())
                }
                "sleep" | "drowsy" => {
                    tokio::time::sleep(Duration::from_millis(number(&input).unwrap_or(0) as u64)).await;
                    ToolAnswer::Ok("slept".into())
                }
                "grind" => {
                    std::thread::sleep(Duration::from_millis(number(&input).unwrap_or(0) as u64));
                    ToolAnswer::Ok("ground".into())
                }
                "broken" => ToolAnswer::Broken("gear stripped".into()),
                "quit" => ToolAnswer::Ok("bye".into()),
                "jitter" => {
                    tokio::time::sleep(Duration::from_micros(any_latency())).await;
                    ToolAnswer::Ok(format!("jittered {input}"))
                }
                "jitter-hard" => {
                    std::thread::sleep(Duration::from_micros(any_latency()));
                    ToolAnswer::Ok(format!("jittered {input}"))
                }
                _ => panic!("tool blew up late"),
            }
        })
    }

    fn snapshot(&self) -> Value {
        if self.name == "memory" { json!(self.kept.load(Ordering::SeqCst)) } else { Value::Null }
    }
}

/// Up to 4 ms, different at every call and every run.
fn any_latency() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::from(now.subsec_nanos()) / 7 % 4000
}

/// A task of [`Counting`].
pub fn task(id: &str, payload: Value) -> Task {
    Task {
        id: id.into(),
        world: "counting".into(),
        version: 1,
        split: Split::Train,
        size: 1,
        payload,
        answer: None,
    }
}

/// The format over a small byte-pair tokenizer.
pub fn chat() -> ChatFormat {
    let texts = ["call add 1 2\n", "call sleep 10\n", "answer 3\n", "timed out after", "task train noise"];
    ChatFormat::new(Arc::new(Tokenizer::train(texts.into_iter(), 300))).unwrap()
}

/// A fresh plan for member `member` with this payload.
pub fn plan_with(member: u32, payload: Value) -> EpisodePlan {
    let id = EpisodeId { phase: "test".into(), step: 0, group: 0, member, branch: 0 };
    let seed = Seed::root(1).child("member", u64::from(member));
    EpisodePlan::new(id, task(&format!("t{member}"), payload), seed).with_policy_version(PolicyVersion(3))
}

/// A fresh plan for member `member`.
pub fn plan(member: u32) -> EpisodePlan {
    plan_with(member, Value::Null)
}
