//! The event loop: many episodes over one batched sampler, on the calling thread.
//!
//! While the sampler has work it is pumped, and between two pumps everything that came in is taken; when it has none, the
//! loop sleeps until the next event or deadline. The result of an episode depends on its plan and the weights only, never
//! on the order in which things come in.

use crate::effect::Rules;
use crate::grammar::Grammars;
use crate::guard::caught;
use crate::in_flight::{InFlight, Notice};
use crate::settings::span;
use crate::{ChatFormat, EpisodePlan, Progress, RolloutSettings, ToolRuntime};
use merit_api::World;
use merit_core::Episode;
use merit_model::{CompletionSink, Pump, Sampler};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How often progress is told.
const TICK: Duration = Duration::from_millis(250);
/// How soon a flag is noticed while nothing happens.
const NAP: Duration = Duration::from_millis(50);

/// Runs every plan to its end and returns the episodes in the order of the plans.
///
/// A world, tool or model that breaks ends its own episode, which is returned with a typed fault. When the stop flag of
/// `tools` is set, what has finished by then is returned and what has not is left out: it can be run again from its plan.
/// Settings are taken as they are: [`RolloutSettings::validate`] them where they are read.
///
/// ```
/// use merit_core::{EpisodeId, Seed, Split};
/// use merit_rollout::{ChatFormat, EpisodePlan, OracleSampler, ToolRuntime, roll_out};
/// use std::sync::Arc;
///
/// let world = merit_env::read_world("type = \"ledger\"")?.build(&merit_env::LiveTools)?;
/// let tokenizer = merit_model::Tokenizer::train(["answer 1"].into_iter(), 280);
/// let chat = ChatFormat::new(Arc::new(tokenizer))?;
/// let id = EpisodeId { phase: "doc".into(), step: 0, group: 0, member: 0, branch: 0 };
/// let plan = EpisodePlan::new(id, world.task(Split::Train, 0, &Seed::root(1))?, Seed::root(1));
/// let mut oracle = OracleSampler::new(&*world, &chat, &Default::default(), std::slice::from_ref(&plan))?;
/// let tools = ToolRuntime::new()?;
/// let episodes = roll_out(vec![plan], &*world, &mut oracle, &chat, &Default::default(), &tools, &mut |_| {});
/// assert_eq!(episodes[0].answer(), episodes[0].task.answer.as_deref());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn roll_out(
    plans: Vec<EpisodePlan>,
    world: &dyn World,
    sampler: &mut dyn Sampler,
    chat: &ChatFormat,
    settings: &RolloutSettings,
    tools: &ToolRuntime,
    watch: &mut dyn FnMut(Progress),
) -> Vec<Arc<Episode>> {
    let (sender, notices) = channel();
    let sampled = sender.clone();
    let sink = CompletionSink::new(move |result| {
        // The rollout may be over, and the receiver gone.
        let _ = sampled.send(Notice::Sampled(result));
    });
    let rules = Rules {
        chat: chat.clone(),
        settings: settings.clone(),
        context_limit: sampler.context_limit(),
        sees_all: sampler.sees_all(),
        provenance: sampler.provenance(),
        grammars: Grammars::default(),
    };
    let flight = InFlight::new(plans, world, sampler, tools, watch, rules, sender);
    let now = Instant::now();
    let stall = span(settings.stall_seconds);
    Loop { flight, notices, sink, tools, stall, heard: now, ticked: now }.run()
}

struct Loop<'a> {
    flight: InFlight<'a>,
    notices: Receiver<Notice>,
    sink: CompletionSink,
    tools: &'a ToolRuntime,
    stall: Duration,
    /// When something last came in.
    heard: Instant,
    /// When progress was last told.
    ticked: Instant,
}

impl Loop<'_> {
    fn run(mut self) -> Vec<Arc<Episode>> {
        while !self.tools.stopped() {
            self.flight.fill();
            if self.flight.is_over() {
                break;
            }
            if self.pump() == Pump::Idle {
                self.sleep();
            }
            self.drain();
            let now = Instant::now();
            self.flight.fire_deadlines(now);
            self.report(now);
        }
        let tally = self.flight.tally();
        self.flight.emit(Progress::Tick(tally));
        self.flight.into_finished()
    }

    /// One step of the sampler. When it panics, the episodes that wait for it fail and the rest goes on.
    fn pump(&mut self) -> Pump {
        let (flight, sink) = (&mut self.flight, &self.sink);
        match caught(|| flight.sampler.pump(sink)) {
            Ok(pump) => pump,
            Err(panic) => {
                self.flight.model_broke(&format!("the sampler {panic}"));
                self.heard = Instant::now();
                Pump::Idle
            }
        }
    }

    /// Takes everything that has come in.
    fn drain(&mut self) {
        let mut heard = false;
        while let Ok(notice) = self.notices.try_recv() {
            self.flight.take(notice);
            heard = true;
        }
        if heard {
            self.heard = Instant::now();
        }
    }

    /// Sleeps until something comes in or has to be looked at.
    fn sleep(&mut self) {
        let now = Instant::now();
        let due = self.flight.deadlines.next().map_or(NAP, |at| at.saturating_duration_since(now));
        if let Ok(notice) = self.notices.recv_timeout(due.min(NAP)) {
            self.flight.take(notice);
            self.heard = Instant::now();
        }
    }

    fn report(&mut self, now: Instant) {
        if now.duration_since(self.ticked) >= TICK {
            self.ticked = now;
            let tally = self.flight.tally();
            self.flight.emit(Progress::Tick(tally));
        }
        if now.saturating_duration_since(self.heard) >= self.stall || self.tools.asked() {
            self.heard = now;
            let waiting = self.flight.waiting(now);
            self.flight.emit(Progress::Stalled(waiting));
        }
    }
}
