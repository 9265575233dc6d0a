//! What one step of learning plays: tasks are drawn, groups run and scored; where the recipe says so, groups that teach nothing are
//! dropped and others drawn in their place.

use crate::RunError;
use crate::act::Actor;
use crate::driver::Drive;
use crate::guests::is_guest;
use crate::learn::At;
use crate::metrics::{self, Metrics};
use crate::parts::{Parts, Plan};
use crate::preface::Earlier;
use crate::probes::{Probing, charge};
use crate::progress::{Event, stalls};
use crate::tasks::{Drawing, TaskState};
use merit_core::stats::mean;
use merit_core::{Annotations, Cost, Episode, Group, PolicyVersion, ScoredEpisode, Split, Task};
use merit_credit::Probe;
use merit_reward::{RewardState, ScoredBatch};
use merit_rollout::{EpisodePlan, PlayedGroups};
use merit_store::RunFolder;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What one step learns from.
pub(crate) struct Batch {
    /// Everything that was played to learn from.
    pub(crate) groups: Vec<Group>,
    /// Whether groups that teach nothing are left out.
    drops: bool,
    /// Continuations that the credit rule needs.
    pub(crate) probes: Vec<Probe>,
    /// What was said of the episodes.
    pub(crate) annotations: Annotations,
    /// What the annotators and everything that only measures cost.
    pub(crate) beside: Cost,
    /// Episodes that only measure.
    pub(crate) probe_episodes: u64,
    /// What the reward had kept before.
    pub(crate) kept: RewardState,
    /// What is said of the drawing.
    pub(crate) numbers: Metrics,
    /// What is known of the tasks now.
    pub(crate) tasks: TaskState,
    /// How long annotators and the reward took.
    pub(crate) scoring: Duration,
}

impl Batch {
    /// The groups that are learned from.
    pub(crate) fn trained(&self) -> Cow<'_, [Group]> {
        trained(&self.groups, self.drops)
    }

    /// Episodes that were dropped with their groups.
    pub(crate) fn dropped(&self) -> u64 {
        let dropped = self.groups.iter().filter(|group| self.drops && group.constant());
        dropped.map(|group| group.members().len() as u64).sum()
    }

    /// Every episode that was played to learn from.
    pub(crate) fn episodes(&self) -> impl Iterator<Item = &ScoredEpisode> {
        self.groups.iter().flat_map(Group::members)
    }
}

fn trained(groups: &[Group], drops: bool) -> Cow<'_, [Group]> {
    match drops {
        true => Cow::Owned(groups.iter().filter(|group| !group.constant()).cloned().collect()),
        false => Cow::Borrowed(groups),
    }
}

/// Runs, scores and records the groups of one step, and measures what the credit rule needs.
pub(crate) fn sample(
    drive: &mut Drive<'_>,
    parts: &Parts,
    actor: &mut Actor,
    at: &At<'_>,
) -> Result<Batch, RunError> {
    parts.annotators.recall(drive.folder, at.phase, at.step)?;
    let state = drive.learned(at.phase).tasks.clone();
    let seed = parts.seed_of("draws", at.phase).child("step", at.step);
    let mut drawing = Drawing::begin(parts, state, at.step, seed);
    let kept = drive.reward_state.present.clone();
    let earlier = drive.earlier(at.phase);
    let mut playing = Playing::new(parts, actor, at, (&kept, &earlier), (drive.folder, drive.watch));
    let (scored, refilled) = playing.fill(&mut drawing)?;
    drive.folder.record_annotated(&scored.episodes, &playing.annotations)?;
    if let Some(text) = parts.annotators.take_failure() {
        (playing.watch)(Event::Note { text });
    }
    let groups = Group::by_id(scored.episodes)?;
    let drops = drawing.settings().refill.is_some();
    let (probes, probing) = playing.continuations(&trained(&groups, drops))?;
    let beside = [probing, playing.probing, crate::annotators::cost(&playing.annotations)].into_iter().sum();
    let probe_episodes =
        playing.probed + probes.iter().map(|probe| probe.continuations.len() as u64).sum::<u64>();
    drive.reward_state.present = scored.state;
    let mut numbers = numbers(&drawing, refilled, probe_episodes);
    if parts.recipe.rollout.rollback.is_some() {
        numbers.insert("rolled_back".to_owned(), playing.mended as f64);
    }
    if let Some(grow) = &parts.recipe.rollout.grow {
        let [choices, kept, distinct] = playing.chosen.map(|count| count as f64);
        numbers.insert("branches_kept".to_owned(), kept / choices.max(1.0));
        let distinct = grow.evidence.as_ref().map(|_| distinct / choices.max(1.0));
        numbers.extend(distinct.map(|distinct| ("distinct_evidence".to_owned(), distinct)));
    }
    if parts.recipe.bank.is_some() {
        numbers.insert("bank_turns".into(), earlier.bank.len() as f64);
        numbers.insert("bank_shown".into(), mean(&playing.shown).unwrap_or(0.0));
    }
    if parts.recipe.memory.is_some() {
        numbers.insert("memory_items".into(), earlier.memory.items.len() as f64);
        numbers.insert("memory_version".into(), earlier.memory.version as f64);
        numbers.insert("memory_shown".into(), mean(&playing.shown).unwrap_or(0.0));
    }
    let own = groups.iter().flat_map(Group::members).filter(|scored| !is_guest(&scored.episode));
    let tasks = drawing.end(&groups, metrics::success(&own.collect::<Vec<_>>()));
    let Playing { scoring, annotations, .. } = playing;
    Ok(Batch { groups, drops, probes, annotations, beside, probe_episodes, kept, numbers, tasks, scoring })
}

/// What is said of the tasks that were drawn.
fn numbers(drawing: &Drawing<'_>, refilled: usize, probe_episodes: u64) -> Metrics {
    let settings = drawing.settings();
    let told = [
        ("refilled", settings.refill.map(|_| refilled as f64)),
        ("passed_over", settings.filter.map(|_| drawing.passed as f64)),
        ("replayed", settings.replay.map(|_| drawing.replayed as f64)),
        ("probe_episodes", (probe_episodes > 0).then_some(probe_episodes as f64)),
    ];
    let told = told.into_iter().filter_map(|(name, value)| Some((name, value?)));
    told.chain(drawing.numbers()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The episodes of a step in the making.
struct Playing<'a> {
    parts: &'a Parts,
    actor: &'a mut Actor,
    at: &'a At<'a>,
    folder: &'a RunFolder,
    kept: &'a RewardState,
    /// What the bank or the memory has kept of earlier steps.
    earlier: &'a Earlier,
    /// How many of them were shown with a task, on average of each draw.
    shown: Vec<f64>,
    watch: &'a mut dyn FnMut(Event),
    plans: Vec<EpisodePlan>,
    episodes: Vec<Arc<Episode>>,
    annotations: Annotations,
    /// Tasks that were probed, episodes of that, and what they cost.
    candidates: u32,
    probed: u64,
    probing: Cost,
    /// Failed calls that were written over.
    mended: u64,
    /// Choices among branches, branches that were kept, and those among them with evidence of their own.
    chosen: [u64; 3],
    /// How long annotators and the reward took.
    scoring: Duration,
}

impl<'a> Playing<'a> {
    fn new(
        parts: &'a Parts,
        actor: &'a mut Actor,
        at: &'a At<'a>,
        (kept, earlier): (&'a RewardState, &'a Earlier),
        (folder, watch): (&'a RunFolder, &'a mut dyn FnMut(Event)),
    ) -> Self {
        Self {
            parts,
            actor,
            at,
            folder,
            kept,
            earlier,
            shown: Vec::new(),
            watch,
            plans: Vec::new(),
            episodes: Vec::new(),
            annotations: Annotations::new(),
            candidates: 0,
            probed: 0,
            probing: Cost::default(),
            mended: 0,
            chosen: [0; 3],
            scoring: Duration::ZERO,
        }
    }

    /// Draws and runs groups until the batch is full or nothing more may be drawn. Also says how many groups took the place of others.
    fn fill(&mut self, drawing: &mut Drawing<'_>) -> Result<(ScoredBatch, usize), RunError> {
        let wanted = self.parts.recipe.budget.groups as usize;
        let (mut missing, mut attempts, mut refilled, mut groups) = (wanted, 0, 0, 0);
        let refill = drawing.settings().refill;
        loop {
            let tasks = drawing.fill(missing, &mut |tasks, samples| self.probe(tasks, samples))?;
            let drawn = tasks.len();
            self.run(groups as u32, tasks)?;
            groups += drawn;
            refilled += if attempts > 0 { drawn } else { 0 };
            // All of the step together, as it would be if it were scored again from the record.
            let scored = self.score();
            if drawn == 0 || refill.is_none_or(|refill| attempts >= refill.attempts) {
                return Ok((scored, refilled));
            }
            let useful =
                Group::by_id(scored.episodes.clone())?.iter().filter(|group| !group.constant()).count();
            if useful >= wanted {
                return Ok((scored, refilled));
            }
            (missing, attempts) = (wanted - useful, attempts + 1);
        }
    }

    fn plan(&self, groups: usize, group_size: u32) -> Plan {
        Plan {
            phase: self.at.phase.clone(),
            step: self.at.step,
            split: Split::Train,
            first: 0,
            groups: groups as u32,
            group_size,
            version: PolicyVersion(self.at.version),
        }
    }

    /// Runs a group of each task.
    fn run(&mut self, first: u32, tasks: Vec<Arc<Task>>) -> Result<(), RunError> {
        let plan = self.plan(tasks.len(), self.parts.recipe.budget.group_size);
        let mut plans = self.parts.plans_of(&plan, first, tasks);
        self.show(&mut plans)?;
        let PlayedGroups { plans, episodes, thrown, mended, chosen } =
            self.actor.run_groups(self.parts, plans, &mut stalls(self.watch))?;
        self.probing += thrown;
        self.mended += mended;
        let chosen = chosen.unwrap_or_default();
        self.chosen.iter_mut().zip(chosen).for_each(|(so_far, more)| *so_far += more);
        let began = Instant::now();
        self.annotations.extend(self.parts.annotators.ask_to_learn(&episodes));
        self.scoring += began.elapsed();
        self.plans.extend(plans);
        self.episodes.extend(episodes);
        Ok(())
    }

    /// Shows what the bank or the memory has for their tasks.
    fn show(&mut self, plans: &mut [EpisodePlan]) -> Result<(), RunError> {
        self.shown.extend(self.parts.show(self.earlier, plans)?);
        Ok(())
    }

    fn score(&mut self) -> ScoredBatch {
        let (began, context) = (Instant::now(), self.parts.context(self.at.step));
        let scorer = &self.parts.scorer;
        let scored = scorer.score_annotated(&self.episodes, &self.annotations, &context, self.kept);
        self.scoring += began.elapsed();
        scored
    }

    /// Runs so many episodes of each task only to measure it.
    fn probe(&mut self, tasks: &[Arc<Task>], samples: u32) -> Result<Vec<Vec<ScoredEpisode>>, RunError> {
        let plan = Plan { phase: self.at.phase.probes(), ..self.plan(tasks.len(), samples) };
        let mut plans = self.parts.plans_of(&plan, self.candidates, tasks.iter().cloned());
        self.show(&mut plans)?;
        self.candidates += tasks.len() as u32;
        let (settings, watch) = (&self.parts.recipe.rollout, &mut stalls(self.watch));
        let (scored, said) = self.actor.run(self.parts, plans, settings, self.at.step, self.kept, watch)?;
        self.parts.annotators.keep_of_probes(self.folder, (self.at.phase, self.at.step), &said)?;
        let costs = scored.episodes.iter().map(|scored| charge(&scored.episode.cost));
        self.probing += costs.chain([crate::annotators::cost(&said)]).sum();
        self.probed += scored.episodes.len() as u64;
        Ok(scored.episodes.chunks(samples as usize).map(<[ScoredEpisode]>::to_vec).collect())
    }

    /// Measures what the credit rule needs.
    fn continuations(&mut self, groups: &[Group]) -> Result<(Vec<Probe>, Cost), RunError> {
        let per_turn = self.parts.rule.needs().probes_per_turn;
        if per_turn == 0 {
            return Ok((Vec::new(), Cost::default()));
        }
        let (parts, folder) = (self.parts, self.folder);
        Probing { parts, folder, phase: self.at.phase, step: self.at.step, per_turn, state: self.kept }.run(
            self.actor,
            &self.plans,
            groups,
            self.watch,
        )
    }
}
