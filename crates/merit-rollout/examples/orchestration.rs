//! What the engine itself costs: CPU per turn with a model that costs nothing, and the makespan against the ideal with a
//! model that only waits. Prints one JSON line per measurement.
//!
//! `cargo run --release -p merit-rollout --example orchestration -- --sessions 64,4096 --rounds 5 --latency-ms 100`
#![allow(clippy::print_stdout)]

use clap::Parser;
use merit_api::{Env, EnvError, StepResult, World};
use merit_core::{
    About, Action, CallRecord, End, EpisodeId, Message, Role, Seed, Split, Task, TokenId, ToolCall,
};
use merit_model::{
    Completion, CompletionSink, Counted, Pump, SampleRequest, Sampler, SessionId, SessionResult, StopReason,
    Tokenizer,
};
use merit_rollout::{ChatFormat, EpisodePlan, LatencySampler, RolloutSettings, ToolRuntime, roll_out};
use merit_tools::{Calculator, Tool};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measures the engine.
#[derive(Parser)]
struct Args {
    /// Episodes in flight, for the cost per turn.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 4096])]
    sessions: Vec<u32>,
    /// Episodes of the cost measurement per place in flight, after one more of warm-up.
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    /// Turns of an episode: one tool call each, and the answer in the last.
    #[arg(long, default_value_t = 5)]
    turns: u32,
    /// Latency of the waiting model.
    #[arg(long, default_value_t = 100)]
    latency_ms: u64,
    /// Episodes in flight with the waiting model.
    #[arg(long, default_value_t = 512)]
    latency_sessions: u32,
}

/// Asks for a few sums; every turn but the last calls the calculator.
struct Sums {
    turns: u32,
}

struct OpenSums {
    left: u32,
    tools: Vec<Arc<dyn Tool>>,
}

impl World for Sums {
    fn about(&self) -> About {
        About { name: "sums", summary: "a few sums", paper: "" }
    }

    fn task(&self, split: Split, index: u64, _: &Seed) -> Result<Task, EnvError> {
        let (id, world) = (format!("sums/{index}"), "sums".to_owned());
        Ok(Task { id, world, version: 1, split, size: self.turns, payload: Value::Null, answer: None })
    }

    fn open(&self, _: &Arc<Task>, _: &Seed, _: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        Ok(Box::new(OpenSums { left: self.turns, tools: vec![Arc::new(Calculator)] }))
    }
}

impl Env for OpenSums {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        Ok(vec![Message::new(Role::User, "add 17 and 25, then answer")])
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn parse(&self, text: &str) -> Action {
        match text.trim_end().split_once(' ') {
            Some(("answer", text)) => Action::Answer { text: text.to_owned() },
            Some((tool, input)) => {
                Action::Calls { calls: vec![ToolCall { tool: tool.to_owned(), input: input.to_owned() }] }
            }
            None => Action::Malformed { why: "say a tool and its input".to_owned() },
        }
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        self.left -= 1;
        let shown = calls.iter().map(|call| Message::new(Role::Tool, call.output.clone()));
        let result = StepResult::observing(shown.collect());
        Ok(if matches!(action, Action::Answer { .. }) { result.answered() } else { result })
    }

    fn snapshot(&self) -> Value {
        json!(self.left)
    }
}

/// A model that costs nothing: it counts the turns of a session and says a prepared line.
struct Trivial {
    turns: u32,
    calls: Vec<TokenId>,
    answers: Vec<TokenId>,
    said: HashMap<SessionId, u32>,
    asked: Vec<SessionId>,
}

impl Trivial {
    fn new(tokenizer: &Tokenizer, turns: u32, tool: &str) -> Self {
        let calls = tokenizer.encode(&format!("{tool} 17+25\n"));
        let answers = tokenizer.encode("answer 42\n");
        Self { turns, calls, answers, said: HashMap::new(), asked: Vec::new() }
    }
}

impl Sampler for Trivial {
    fn submit(&mut self, request: SampleRequest) {
        self.asked.push(request.session);
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        for session in std::mem::take(&mut self.asked) {
            let turn = self.said.entry(session).or_default();
            *turn += 1;
            let tokens = if *turn < self.turns { self.calls.clone() } else { self.answers.clone() };
            let (logprobs, values) = (vec![-0.1; tokens.len()], Vec::new());
            let (top_logprobs, stop) = (Vec::new(), StopReason::StopString);
            let said =
                Completion { session, tokens, logprobs, values, top_logprobs, stop, counted: Counted::Here };
            sink.put(SessionResult { session, result: Ok(said) });
        }
        Pump::Idle
    }

    fn close(&mut self, session: SessionId) {
        self.said.remove(&session);
    }

    fn context_limit(&self) -> usize {
        usize::MAX
    }

    fn waiting(&self) -> String {
        format!("{} requests", self.asked.len())
    }
}

struct Bench {
    chat: ChatFormat,
    tools: ToolRuntime,
    tool: String,
    turns: u32,
}

impl Bench {
    fn plans(&self, env: &Sums, episodes: u32) -> Result<Vec<EpisodePlan>, EnvError> {
        let seed = Seed::root(1);
        let plan = |member: u32| {
            Ok(EpisodePlan::new(
                EpisodeId { phase: "bench".into(), step: 0, group: 0, member, branch: 0 },
                env.task(Split::Train, member.into(), &seed)?,
                seed.child("member", member.into()),
            ))
        };
        (0..episodes).map(plan).collect()
    }

    /// CPU and wall time to run `episodes` episodes, `in_flight` at once.
    fn run(
        &self,
        episodes: u32,
        in_flight: u32,
        sampler: &mut dyn Sampler,
    ) -> anyhow::Result<(Duration, Duration)> {
        let env = Sums { turns: self.turns };
        let plans = self.plans(&env, episodes)?;
        let settings = RolloutSettings { in_flight: in_flight as usize, ..RolloutSettings::default() };
        let (cpu, wall) = (cpu_time(), Instant::now());
        let done = roll_out(plans, &env, sampler, &self.chat, &settings, &self.tools, &mut |_| {});
        let spent = (cpu_time() - cpu, wall.elapsed());
        let whole = |e: &merit_core::Episode| e.end == End::Answered && e.turns.len() == self.turns as usize;
        anyhow::ensure!(
            done.len() == episodes as usize && done.iter().all(|e| whole(e)),
            "an episode went wrong"
        );
        Ok(spent)
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let texts = ["add 17 and 25, then answer", "calculator 17+25\n", "answer 42\n"];
    let tokenizer = Arc::new(Tokenizer::train(texts.into_iter(), 320));
    let tool = Calculator.spec().name.clone();
    let bench = Bench {
        chat: ChatFormat::new(Arc::clone(&tokenizer))?,
        tools: ToolRuntime::new()?,
        tool,
        turns: args.turns,
    };
    let trivial = || Trivial::new(&tokenizer, args.turns, &bench.tool);

    for &sessions in &args.sessions {
        let episodes = sessions * args.rounds;
        bench.run(sessions, sessions, &mut trivial())?;
        let (cpu, wall) = bench.run(episodes, sessions, &mut trivial())?;
        let turns = f64::from(episodes) * f64::from(args.turns);
        let line = json!({
            "what": "orchestration", "sessions": sessions, "turns": args.turns, "episodes": episodes,
            "cpu_us_per_turn": cpu.as_secs_f64() * 1e6 / turns, "wall_s": wall.as_secs_f64(),
        });
        println!("{line}");
    }
    let latency = Duration::from_millis(args.latency_ms);
    let mut remote = LatencySampler::new(trivial(), latency);
    let (cpu, wall) = bench.run(args.latency_sessions, args.latency_sessions, &mut remote)?;
    let ideal = latency.as_secs_f64() * f64::from(args.turns);
    let line = json!({
        "what": "latency", "sessions": args.latency_sessions, "turns": args.turns, "latency_ms": args.latency_ms,
        "makespan_s": wall.as_secs_f64(), "ideal_s": ideal, "share_of_ideal": ideal / wall.as_secs_f64(),
        "cpu_s": cpu.as_secs_f64(),
    });
    println!("{line}");
    Ok(())
}
