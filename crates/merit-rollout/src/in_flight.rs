//! The episodes in flight: opens plans, carries out the effects of their machines, and keeps the finished episodes.

use crate::deadlines::Deadlines;
use crate::effect::{Effect, Event, Rules, WaitingOn};
use crate::guard::caught;
use crate::machine::EpisodeMachine;
use crate::runtime::{Notify, Ran, Running, ToolNotice};
use crate::{EpisodePlan, Progress, Start, Tally, ToolRuntime, Waiting, WaitingEpisode, session_of};
use merit_api::World;
use merit_core::{Boundary, End, Episode, Fault};
use merit_model::{Sampler, SamplerError, SessionId, SessionResult};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// Something that came in from a sampler or a tool.
pub(crate) enum Notice {
    Sampled(SessionResult),
    Tool { slot: usize, call: u64, what: ToolNotice },
}

/// All plans of a rollout, by where they stand.
pub(crate) struct InFlight<'a> {
    world: &'a dyn World,
    pub(crate) sampler: &'a mut dyn Sampler,
    tools: &'a ToolRuntime,
    watch: &'a mut dyn FnMut(Progress),
    rules: Arc<Rules>,
    queue: VecDeque<(usize, EpisodePlan)>,
    live: HashMap<usize, Live>,
    slots: HashMap<SessionId, usize>,
    finished: Vec<Option<Arc<Episode>>>,
    pub(crate) deadlines: Deadlines,
    pub(crate) tally: Tally,
    notices: Sender<Notice>,
}

struct Live {
    machine: EpisodeMachine,
    session: SessionId,
    running: Option<Running>,
}

impl<'a> InFlight<'a> {
    pub(crate) fn new(
        plans: Vec<EpisodePlan>,
        world: &'a dyn World,
        sampler: &'a mut dyn Sampler,
        tools: &'a ToolRuntime,
        watch: &'a mut dyn FnMut(Progress),
        rules: Rules,
        notices: Sender<Notice>,
    ) -> Self {
        let planned = plans.len();
        Self {
            world,
            sampler,
            tools,
            watch,
            rules: Arc::new(rules),
            queue: plans.into_iter().enumerate().collect(),
            live: HashMap::new(),
            slots: HashMap::new(),
            finished: vec![None; planned],
            deadlines: Deadlines::default(),
            tally: Tally { planned, ..Tally::default() },
            notices,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.live.is_empty() && self.queue.is_empty()
    }

    pub(crate) fn emit(&mut self, news: Progress) {
        (self.watch)(news);
    }

    /// Opens plans while there is room.
    pub(crate) fn fill(&mut self) {
        while self.live.len() < self.rules.settings.in_flight.max(1) {
            let Some((slot, plan)) = self.queue.pop_front() else { return };
            self.open(slot, plan);
        }
    }

    /// Gives a notice to the episode it is for; one that comes too late is dropped.
    pub(crate) fn take(&mut self, notice: Notice) {
        match notice {
            Notice::Sampled(SessionResult { session, result }) => {
                if let Some(&slot) = self.slots.get(&session) {
                    self.deliver(slot, Event::Sampled(result.map_err(|error| model_fault(&error))));
                }
            }
            Notice::Tool { slot, call, what: ToolNotice::Started } => {
                self.deliver(slot, Event::ToolStarted { call });
                self.note_deadline(slot);
            }
            Notice::Tool { slot, call, what: ToolNotice::Answered(answer, seconds) } => {
                self.deliver(slot, Event::ToolAnswered { call, answer, seconds });
            }
        }
    }

    /// Lets the machines look at every deadline that has passed.
    pub(crate) fn fire_deadlines(&mut self, now: Instant) {
        while let Some(slot) = self.deadlines.pop_due(now) {
            self.deliver(slot, Event::Tick);
        }
    }

    /// Ends every episode that waits for the model, which broke.
    pub(crate) fn model_broke(&mut self, message: &str) {
        let waiting = self.live.iter().filter(|(_, live)| live.machine.asks_model()).map(|(&slot, _)| slot);
        let mut waiting: Vec<usize> = waiting.collect();
        waiting.sort_unstable();
        for slot in waiting {
            self.deliver(slot, Event::Sampled(Err(Fault::new(Boundary::Model, message))));
        }
    }

    /// What every episode that is not over is waiting for.
    pub(crate) fn waiting(&self, now: Instant) -> Waiting {
        let open = self.live.values().filter_map(|live| {
            let (on, since) = live.machine.waiting_on()?;
            let seconds = now.saturating_duration_since(since).as_secs_f64();
            Some(WaitingEpisode {
                id: live.machine.plan().id.clone(),
                turn: live.machine.turns(),
                on,
                seconds,
            })
        });
        let queued = self.queue.iter().map(|(_, plan)| WaitingEpisode {
            id: plan.id.clone(),
            turn: 0,
            on: WaitingOn::Queued,
            seconds: 0.0,
        });
        Waiting {
            finished: self.tally.finished,
            episodes: open.chain(queued).collect(),
            sampler: caught(|| self.sampler.waiting()).unwrap_or_else(|panic| panic),
            busy_threads: self.tools.busy_threads(),
        }
        .sorted()
    }

    /// Gives up what is in flight and returns what has finished, in the order of the plans.
    pub(crate) fn into_finished(mut self) -> Vec<Arc<Episode>> {
        for live in std::mem::take(&mut self.live).into_values() {
            let _ = caught(|| self.sampler.close(live.session));
        }
        self.finished.into_iter().flatten().collect()
    }

    fn open(&mut self, slot: usize, plan: EpisodePlan) {
        let session = session_of(&plan.id);
        if self.slots.contains_key(&session) {
            let message = format!("two plans of this rollout are called {}; give each its own id", plan.id);
            let fault = Fault::new(Boundary::Environment, message);
            let record = crate::record::Record::default();
            return self.keep(slot, record.into_episode(&plan, End::Failed { fault }, None, None));
        }
        self.slots.insert(session, slot);
        let parent = match &plan.start {
            Start::Fork { of, .. } => Some(session_of(&of.id)),
            Start::Fresh => None,
        };
        match EpisodeMachine::begin(plan, session, self.world, Arc::clone(&self.rules), Instant::now()) {
            Err(episode) => self.keep(slot, *episode),
            Ok((machine, effect)) => {
                if let Some(parent) = parent {
                    // Without the parent's cache the context is read afresh, so nothing is lost with it.
                    let _ = caught(|| self.sampler.fork(parent, session, machine.context_len()));
                }
                self.deadlines.push(machine.ends_by(), slot);
                self.live.insert(slot, Live { machine, session, running: None });
                self.carry_out(slot, effect);
            }
        }
    }

    fn deliver(&mut self, slot: usize, event: Event) {
        let Some(live) = self.live.get_mut(&slot) else { return };
        let effect = live.machine.advance(event, Instant::now());
        if !matches!(effect, Effect::Wait) {
            live.running = None;
            self.carry_out(slot, effect);
        }
    }

    fn carry_out(&mut self, slot: usize, mut effect: Effect) {
        loop {
            match effect {
                Effect::Wait => return,
                Effect::Sample(request) => {
                    let Err(panic) = caught(|| self.sampler.submit(request)) else { return };
                    let Some(live) = self.live.get_mut(&slot) else { return };
                    effect = live
                        .machine
                        .advance(Event::Sampled(Err(Fault::new(Boundary::Model, panic))), Instant::now());
                }
                Effect::Finished(episode) => return self.finish(slot, *episode),
                Effect::Call(job) => {
                    let call = job.call;
                    let ran = self.tools.start(job, || notifier(&self.notices, slot, call));
                    let Some(live) = self.live.get_mut(&slot) else { return };
                    match ran {
                        Ran::Later(running) => {
                            live.running = Some(running);
                            return self.note_deadline(slot);
                        }
                        Ran::Answered(answer, seconds) => {
                            let event = Event::ToolAnswered { call, answer, seconds };
                            effect = live.machine.advance(event, Instant::now());
                        }
                    }
                }
            }
        }
    }

    fn note_deadline(&mut self, slot: usize) {
        if let Some(deadline) = self.live.get(&slot).and_then(|live| live.machine.deadline()) {
            self.deadlines.push(deadline, slot);
        }
    }

    fn finish(&mut self, slot: usize, episode: Episode) {
        if let Some(live) = self.live.remove(&slot) {
            let broke = matches!(episode.end, End::Failed { .. });
            if broke || !self.rules.settings.keep_sessions {
                let _ = caught(|| self.sampler.close(live.session));
            }
        }
        self.keep(slot, episode);
    }

    fn keep(&mut self, slot: usize, episode: Episode) {
        let episode = Arc::new(episode);
        self.tally.finished += 1;
        self.tally.failed += usize::from(matches!(episode.end, End::Failed { .. }));
        self.tally.turns += episode.turns.len() as u64;
        self.tally.policy_tokens += episode.cost.policy_tokens;
        self.finished[slot] = Some(Arc::clone(&episode));
        self.emit(Progress::Finished(episode));
    }

    /// The tally as of now.
    pub(crate) fn tally(&self) -> Tally {
        Tally { in_flight: self.live.len(), ..self.tally }
    }
}

fn notifier(notices: &Sender<Notice>, slot: usize, call: u64) -> Notify {
    let notices = notices.clone();
    Box::new(move |what| {
        // The rollout may be over, and the receiver gone.
        let _ = notices.send(Notice::Tool { slot, call, what });
    })
}

/// The cause of a fault of the model's that is the doing of its weights.
pub const NOT_FINITE: &str = "logits not finite";

fn model_fault(error: &SamplerError) -> Fault {
    let fault = Fault::new(Boundary::Model, error.to_string());
    match error {
        SamplerError::Server { cause, .. } => fault.with_cause(cause),
        SamplerError::NonFinite => fault.with_cause(NOT_FINITE),
        _ => fault,
    }
}
