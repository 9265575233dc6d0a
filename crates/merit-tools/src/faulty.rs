//! Bad weather for any tool: latency, calls that never return, refusals and breakage, all drawn from a seed.
//!
//! In: a tool and a [`FaultPlan`]. Out: a tool of the same name. The weather of a call depends on the plan, the task and the
//! number of the call alone, so it is the same at any concurrency, and all members of a group meet the same weather.

use crate::{
    EpisodeShared, ExecKind, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSettings, ToolSpec,
};
use merit_core::registry::{Chosen, Component, Refusal};
use merit_core::{About, Seed, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// No call is delayed for longer, whatever the spread draws.
pub const MAX_LATENCY_MS: f64 = 60_000.0;

/// What the registry says of it.
const ABOUT: About =
    About { name: "faulty", summary: "Another tool with seeded latency and faults.", paper: "" };

/// How often what goes wrong. The default is calm: nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FaultPlan {
    /// Decides which calls are hit.
    pub seed: u64,
    /// Median delay of a call in milliseconds.
    pub latency_ms: f64,
    /// Spread of the delay: the standard deviation of its logarithm. 0 makes every delay the median.
    pub latency_spread: f64,
    /// Probability that a call never returns, so that the caller's deadline ends it.
    pub timed_out: f64,
    /// Probability that the tool breaks.
    pub broken: f64,
    /// Probability that the tool refuses whatever was asked.
    pub refused: f64,
}

/// A faulty tool in a recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultyConfig {
    /// The tool that is disturbed.
    pub inner: Chosen<dyn ToolSettings>,
    /// Which faults, and how often.
    #[serde(default)]
    pub plan: FaultPlan,
}

impl Component for FaultyConfig {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str = "inner = { type = \"calc\" }\nplan = { seed = 1 }";

    fn check(&self) -> Result<(), Refusal> {
        self.plan.check()
    }
}

impl ToolSettings for FaultyConfig {
    fn timeout_s(&self) -> Option<f64> {
        self.inner.timeout_s()
    }

    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let disturbed = |inner| Ok(Arc::new(Faulty::new(inner, self.plan)?) as Arc<dyn Tool>);
        self.inner.build()?.into_iter().map(disturbed).collect()
    }
}

/// A tool disturbed by a plan. It keeps the name of the inner tool: the agent cannot tell.
pub struct Faulty {
    inner: Arc<dyn Tool>,
    plan: FaultPlan,
}

struct Session {
    inner: Arc<dyn ToolSession>,
    plan: FaultPlan,
    seed: Seed,
    /// Calls made so far; the number of a call decides its weather.
    calls: AtomicU64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    calls: u64,
    inner: Value,
}

#[derive(Debug, PartialEq)]
enum Weather {
    Fine,
    NeverReturns,
    Breaks,
    Refuses,
}

impl FaultPlan {
    /// Refuses numbers that cannot be what they say.
    pub fn check(&self) -> Result<(), Refusal> {
        for (name, value) in
            [("timed_out", self.timed_out), ("broken", self.broken), ("refused", self.refused)]
        {
            Refusal::unless((0.0..=1.0).contains(&value), name, value, "a probability, 0 to 1")?;
        }
        let sum = self.timed_out + self.broken + self.refused;
        if sum > 1.0 {
            return Err(Refusal::new(format!(
                "`timed_out`, `broken` and `refused` add up to {sum}; at most 1 is possible"
            )));
        }
        let (latency, most) = (self.latency_ms, MAX_LATENCY_MS);
        Refusal::unless((0.0..=most).contains(&latency), "latency_ms", latency, &format!("0 to {most}"))?;
        Refusal::unless(
            (0.0..=3.0).contains(&self.latency_spread),
            "latency_spread",
            self.latency_spread,
            "0 to 3",
        )
    }

    fn weather(&self, call: &Seed) -> Weather {
        let draw = call.child("fault", 0).stream().unit();
        if draw < self.timed_out {
            Weather::NeverReturns
        } else if draw < self.timed_out + self.broken {
            Weather::Breaks
        } else if draw < self.timed_out + self.broken + self.refused {
            Weather::Refuses
        } else {
            Weather::Fine
        }
    }

    /// Log-normal: median times exp(spread * z), z standard normal.
    fn latency(&self, call: &Seed) -> Duration {
        let z = call.child("latency", 0).stream().normal();
        let milliseconds = (self.latency_ms * (self.latency_spread * z).exp()).min(MAX_LATENCY_MS);
        Duration::from_secs_f64(milliseconds / 1000.0)
    }
}

impl Faulty {
    /// Disturbs `inner` by `plan`.
    pub fn new(inner: Arc<dyn Tool>, plan: FaultPlan) -> Result<Self, ToolError> {
        plan.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        Ok(Self { inner, plan })
    }
}

impl Tool for Faulty {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn exec_kind(&self) -> ExecKind {
        match self.inner.exec_kind() {
            ExecKind::Computing => ExecKind::Computing,
            ExecKind::Instant | ExecKind::Waiting => ExecKind::Waiting,
        }
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.open_beside(&EpisodeShared::default(), task, state)
    }

    fn open_beside(
        &self,
        shared: &EpisodeShared,
        task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        let state: Option<State> = state.map(read_state).transpose()?;
        let inner = self.inner.open_beside(shared, task, state.as_ref().map(|s| &s.inner))?;
        let seed = Seed::root(self.plan.seed).child(&self.inner.spec().name, 0).child(&task.id, 0);
        let calls = AtomicU64::new(state.map_or(0, |s| s.calls));
        Ok(Arc::new(Session { inner, plan: self.plan, seed, calls }))
    }
}

fn read_state(state: &Value) -> Result<State, ToolError> {
    State::deserialize(state)
        .map_err(|error| ToolError::Snapshot { tool: ABOUT.name.to_owned(), why: error.to_string() })
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let call = self.seed.child("call", number);
        let (weather, latency) = (self.plan.weather(&call), self.plan.latency(&call));
        Box::pin(async move {
            if weather == Weather::NeverReturns {
                return std::future::pending().await;
            }
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
            }
            match weather {
                Weather::Breaks => ToolAnswer::Broken(format!("the fault plan broke call {number}")),
                Weather::Refuses => ToolAnswer::Refused("busy: ask again".to_owned()),
                Weather::Fine | Weather::NeverReturns => Arc::clone(&self.inner).call(input).await,
            }
        })
    }

    fn snapshot(&self) -> Value {
        json!({ "calls": self.calls.load(Ordering::Relaxed), "inner": self.inner.snapshot() })
    }
}
