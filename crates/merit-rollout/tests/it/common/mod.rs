//! A small world with tools of every kind and every way to break, for the tests of this crate.
#![allow(unreachable_pub)]

pub mod run;

use merit_api::{
    Env, EnvError, ExecKind, Expert, ExpertTurn, StepResult, Tool, ToolAnswer, ToolError, ToolFuture,
    ToolSession, ToolSpec, World,
};
use merit_core::{
    About, Action, CallRecord, EpisodeId, Message, PolicyVersion, Role, Seed, Split, Task, ToolCall,
};
use merit_model::Tokenizer;
use merit_rollout::{ChatFormat, EpisodePlan};
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

impl World for Counting {
    fn about(&self) -> About {
        About { name: "counting", summary: "counts up", paper: "" }
    }

    fn task(&self, split: Split, index: u64, _seed: &Seed) -> Result<Task, EnvError> {
        Ok(task(&format!("{}/{index}", split.name()), Value::Null))
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, _: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        match task.payload["break"].as_str() {
            Some("open") => {
                Err(EnvError::Task { world: "counting", task: task.id.clone(), why: "torn".into() })
            }
            Some("open-panic") => panic!("the ground gave way"),
            _ => Ok(Box::new(OpenCounting { task: task.clone(), noise: seed.stream().below(1000), acts: 0 })),
        }
    }

    fn expert(&self) -> Option<&dyn Expert> {
        Some(self)
    }
}

impl Expert for Counting {
    fn say(&self, _: &Task, turns: &[ExpertTurn], p_correct: f64, _: &Seed) -> Result<String, EnvError> {
        Ok(match turns {
            [] => "call add 1 2\n".into(),
            [first] if p_correct >= 1.0 => format!("answer {}\n", first.observed[0].text),
            _ => "answer 0".into(),
        })
    }
}

impl Env for OpenCounting {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        self.acts = 0;
        let rules = Message::new(Role::System, "count");
        Ok(vec![rules, Message::new(Role::User, format!("task {} noise {}", self.task.id, self.noise))])
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

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        self.acts += 1;
        assert!(!self.breaks("act-panic"), "the sky fell");
        if self.breaks("act") {
            return Err(EnvError::Broken { world: "counting", why: "out of numbers".into() });
        }
        let tool = |call: &CallRecord| Message::new(Role::Tool, call.output.clone());
        let result = match action {
            Action::Answer { .. } => StepResult::default().answered(),
            Action::Calls { .. } if self.breaks("impostor") => {
                StepResult::observing(vec![Message::new(Role::Policy, "me")])
            }
            Action::Calls { .. } if self.breaks("silent") => StepResult::default(),
            Action::Calls { calls: asked } if asked[0].tool == "quit" => {
                StepResult::saying(format!("over after {} noise {}", self.acts, self.noise)).done()
            }
            Action::Calls { .. } => StepResult::observing(calls.iter().map(tool).collect()),
            Action::Say { text } | Action::Malformed { why: text } => {
                StepResult::saying(format!("{text}; noise {}", self.noise))
            }
        };
        Ok(match self.task.payload["tells"].as_str() {
            None => result,
            Some("wild") => result.with_info([("progress", f64::NAN)]),
            Some("cut") if self.acts == 2 => result.cut(),
            Some(_) => {
                let told = f64::from(self.acts);
                result.with_reward(told / 2.0).with_info([("acts", told)])
            }
        })
    }

    fn snapshot(&self) -> Value {
        json!(self.acts)
    }
}

/// A tool by name and pace; what it does follows from the name.
pub struct TestTool(&'static str, ExecKind, ToolSpec);

impl TestTool {
    pub fn new(name: &'static str, pace: ExecKind) -> Self {
        Self(name, pace, ToolSpec::text(name, "a tool of the tests", "input", "a number", "1"))
    }
}

const TOOLS: [(&str, ExecKind); 12] = [
    ("jitter", ExecKind::Waiting),
    ("jitter-hard", ExecKind::Computing),
    ("add", ExecKind::Instant),
    ("quit", ExecKind::Instant),
    ("sleep", ExecKind::Waiting),
    ("grind", ExecKind::Computing),
    ("drowsy", ExecKind::Instant),
    ("memory", ExecKind::Waiting),
    ("broken", ExecKind::Instant),
    ("panic", ExecKind::Instant),
    ("panic-later", ExecKind::Waiting),
    ("panic-hard", ExecKind::Computing),
];

struct TestSession {
    name: &'static str,
    kept: AtomicI64,
}

impl Tool for TestTool {
    fn spec(&self) -> &ToolSpec {
        &self.2
    }

    fn exec_kind(&self) -> ExecKind {
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
    Task::new("counting", id).with_payload(payload)
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
