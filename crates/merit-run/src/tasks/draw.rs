//! The tasks of one step, drawn as its groups need them: replayed ones, and those of the source that pass the filter.

use super::{Ask, Seen, TaskState, Tasks};
use crate::RunError;
use crate::parts::Parts;
use merit_core::{Group, ScoredEpisode, Seed, Split, Stream, Task};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Plays so many episodes on each task only to measure it.
pub(crate) type Probe<'a> = dyn FnMut(&[Arc<Task>], u32) -> Result<Vec<Vec<ScoredEpisode>>, RunError> + 'a;

/// The tasks of a step in the making.
pub(crate) struct Drawing<'a> {
    parts: &'a Parts,
    settings: Tasks,
    state: TaskState,
    step: u64,
    seed: Seed,
    /// Tasks that were looked at.
    made: RefCell<BTreeMap<u64, Arc<Task>>>,
    taken: BTreeSet<u64>,
    /// The tasks that are played, by group.
    groups: Vec<u64>,
    draws: u64,
    /// Tasks that the filter passed over.
    pub(crate) passed: usize,
    pub(crate) replayed: usize,
}

impl<'a> Drawing<'a> {
    /// Begins a step with what is known of the tasks. `seed` is the step's own.
    pub(crate) fn begin(parts: &'a Parts, state: TaskState, step: u64, seed: Seed) -> Self {
        Self {
            parts,
            settings: parts.recipe.tasks.clone().unwrap_or_default(),
            state,
            step,
            seed,
            made: RefCell::default(),
            taken: BTreeSet::new(),
            groups: Vec::new(),
            draws: 0,
            passed: 0,
            replayed: 0,
        }
    }

    pub(crate) fn settings(&self) -> &Tasks {
        &self.settings
    }

    /// Up to `count` more tasks, in the order of the groups that follow. Fewer: there are no others.
    pub(crate) fn fill(&mut self, count: usize, probe: &mut Probe<'_>) -> Result<Vec<Arc<Task>>, RunError> {
        let mut found = if self.groups.is_empty() { self.replay(count) } else { Vec::new() };
        self.replayed += found.len();
        let attempts = self.settings.filter.map_or(0, |filter| filter.attempts);
        for _ in 0..=attempts {
            let drawn = self.draw(count - found.len())?;
            found.extend(self.admitted(drawn, probe)?);
            if found.len() >= count {
                break;
            }
        }
        self.groups.extend(&found);
        found.into_iter().map(|at| self.task(at)).collect()
    }

    /// Tells what came of the groups, and gives what is known now. `groups` are in the order of their tasks.
    pub(crate) fn end(mut self, groups: &[Group], success: Option<f64>) -> TaskState {
        let played: Vec<(u64, Option<Seen>)> =
            self.groups.iter().copied().zip(groups.iter().map(|group| Seen::of(group.members()))).collect();
        for (at, seen) in played {
            self.see(at, seen.as_ref());
        }
        self.settings.source.observe(success, &mut self.state);
        let (returns, replays) = (self.settings.source.returns(), self.settings.replay.is_some());
        self.state.known.retain(|_, known| returns || (replays && known.failed));
        self.state
    }

    pub(crate) fn numbers(&self) -> Vec<(&'static str, f64)> {
        self.settings.source.numbers(&self.state)
    }

    fn see(&mut self, at: u64, seen: Option<&Seen>) {
        if let Some(seen) = seen {
            self.state.known.entry(at).or_default().see(seen, self.step, self.settings.decay);
        }
    }

    /// The random numbers of the next draw.
    fn stream(&mut self) -> Seed {
        self.draws += 1;
        self.seed.child("draw", self.draws - 1)
    }

    /// Failed tasks: so many that their share is right on average.
    fn replay(&mut self, count: usize) -> Vec<u64> {
        let Some(replay) = self.settings.replay else { return Vec::new() };
        let mut stream = self.stream().stream();
        let wanted = (replay.share * count as f64 + stream.unit()).floor() as usize;
        let failed = self.state.known.iter().filter(|(_, known)| known.failed);
        let mut failed: Vec<u64> = failed.map(|(at, _)| *at).collect();
        let found = pick(&mut failed, wanted.min(count), &mut stream);
        self.taken.extend(&found);
        found
    }

    fn draw(&mut self, count: usize) -> Result<Vec<u64>, RunError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let seed = self.stream();
        let (parts, made) = (self.parts, &self.made);
        let ask = Ask {
            step: self.step,
            groups: u64::from(parts.recipe.budget.groups),
            taken: &self.taken,
            seed,
            size: &|at| Ok(task(parts, made, at)?.size),
        };
        let mut drawn = self.settings.source.draw(&ask, &mut self.state, count)?;
        drawn.truncate(count);
        self.taken.extend(&drawn);
        Ok(drawn)
    }

    /// Those of `drawn` whose pass rate the filter admits. One of which nothing can be found out is admitted.
    fn admitted(&mut self, mut drawn: Vec<u64>, probe: &mut Probe<'_>) -> Result<Vec<u64>, RunError> {
        let Some(filter) = self.settings.filter else { return Ok(drawn) };
        let enough = f64::from(filter.samples) / 2.0;
        let unknown: Vec<u64> = drawn.iter().copied().filter(|at| self.weight(*at) < enough).collect();
        let tasks = unknown.iter().map(|at| self.task(*at)).collect::<Result<Vec<_>, _>>()?;
        if !tasks.is_empty() {
            for (at, episodes) in unknown.into_iter().zip(probe(&tasks, filter.samples)?) {
                self.see(at, Seen::of(&episodes).as_ref());
            }
        }
        let before = drawn.len();
        drawn.retain(|at| {
            self.state
                .known
                .get(at)
                .and_then(|known| known.pass_rate())
                .is_none_or(|rate| filter.admits(rate))
        });
        self.passed += before - drawn.len();
        Ok(drawn)
    }

    fn weight(&self, at: u64) -> f64 {
        let known = self.state.known.get(&at);
        known.map_or(0.0, |known| known.aged_weight(self.step, self.settings.decay))
    }

    fn task(&self, at: u64) -> Result<Arc<Task>, RunError> {
        task(self.parts, &self.made, at)
    }
}

/// The training task at `at`, made once.
fn task(parts: &Parts, made: &RefCell<BTreeMap<u64, Arc<Task>>>, at: u64) -> Result<Arc<Task>, RunError> {
    if let Some(task) = made.borrow().get(&at) {
        return Ok(Arc::clone(task));
    }
    let task = Arc::new(parts.env.task(Split::Train, at, &parts.seed.child("tasks", 0))?);
    made.borrow_mut().insert(at, Arc::clone(&task));
    Ok(task)
}

/// `count` of `items`, none twice.
fn pick(items: &mut Vec<u64>, count: usize, stream: &mut Stream) -> Vec<u64> {
    let count = count.min(items.len());
    (0..count).map(|_| items.swap_remove(stream.below(items.len() as u64) as usize)).collect()
}
