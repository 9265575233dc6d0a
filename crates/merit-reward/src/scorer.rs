//! The compiled reward and what it does: score a batch, explain one episode of it.

use crate::compile::{CompiledTerm, Compiler};
use crate::explanation::explanation;
use crate::expression::{Facts, Node, Table, Watcher, evaluate};
use crate::state::RewardState;
use crate::term::{self, Looked, Survey, View};
use crate::terms::exact_answer::EXACT_ANSWER;
use crate::trace::{Traced, Tracer};
use crate::worth::Worth;
use crate::{RewardConfig, RewardError};
use merit_core::{
    End, Episode, EpisodeId, Phase, PolicyVersion, Reward, Score, ScoredEpisode, TermOutcome, TermScore,
};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What besides the episode a reward may depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreContext {
    /// The training step, for schedules and stages.
    pub step: u64,
    /// The policy that acted, for what is kept between steps.
    pub version: PolicyVersion,
    /// Seed of the error rates.
    pub seed: u64,
    /// The learner's own discount, for potential-based shaping.
    pub discount: f64,
}

impl Default for ScoreContext {
    fn default() -> Self {
        Self { step: 0, version: PolicyVersion(0), seed: 0, discount: 1.0 }
    }
}

impl ScoreContext {
    /// The context of a training step: the policy's version is the step's.
    pub fn at_step(step: u64) -> Self {
        Self { step, version: PolicyVersion(step), ..Self::default() }
    }
}

/// A reward that is checked and ready. Cheap to share; all methods take `&self`.
pub struct Scorer {
    pub(crate) terms: Vec<CompiledTerm>,
    pub(crate) expression: Node,
    /// Every part with its place, those inside before the one around them.
    pub(crate) places: Vec<(String, Node)>,
    slots: Vec<Node>,
    watchers: Vec<Arc<dyn Watcher>>,
    /// The term that tells whether the task was solved, and from which raw value on.
    solved: Option<(usize, f64)>,
}

/// A scored batch and what the reward keeps for the next.
#[derive(Debug, Clone)]
pub struct ScoredBatch {
    /// The episodes, in the order given.
    pub episodes: Vec<ScoredEpisode>,
    /// What to hand in with the next batch of training. Drop it after an evaluation: only training moves the reward.
    pub state: RewardState,
}

/// The terms of one episode.
struct Looks {
    scores: Vec<TermScore>,
    solved: Option<bool>,
}

impl Scorer {
    /// Checks a reward and makes it ready.
    pub fn compile(config: &RewardConfig) -> Result<Self, RewardError> {
        let mut compiler = Compiler::new(config);
        let expression = compiler.compile(config)?;
        let exact = first_exact_answer(config);
        let exact = exact.and_then(|name| compiler.find(&name).ok()).map(|at| (at, 1.0));
        let solved = compiler.solved.or(exact);
        let Compiler { terms, slots, watchers, places, .. } = compiler;
        Ok(Self { terms, expression, places, slots, watchers, solved })
    }

    /// The names of the terms, in the order of the file and of every score.
    pub fn term_names(&self) -> Vec<&str> {
        self.terms.iter().map(|t| t.settings.name.as_str()).collect()
    }

    /// Whether it can tell that a task was solved; without it, success means nothing.
    pub fn tells_solved(&self) -> bool {
        self.solved.is_some()
    }

    /// Scores a batch. Episodes that broke are never scored: nobody may lay another's failure at the policy's door. Groups
    /// are told by the episodes' ids; the order of the batch decides nothing.
    pub fn score_batch(
        &self,
        episodes: &[Arc<Episode>],
        context: &ScoreContext,
        state: &RewardState,
    ) -> ScoredBatch {
        let whole: Vec<&Episode> =
            episodes.iter().map(Arc::as_ref).filter(|e| !matches!(e.end, End::Failed { .. })).collect();
        let (table, looks) = self.look_at(&whole, context, state);
        let finished = looks.into_par_iter().enumerate().map(|(at, looks)| {
            let place = Place { episode: whole[at], context, state, table: &table, at };
            self.finish(looks, &place, Tracer::off()).0
        });
        let mut scores = finished.collect::<Vec<Score>>().into_iter();
        let mut next = state.clone();
        self.watchers.iter().for_each(|watcher| watcher.observe(&table, context, state, &mut next));
        let scored = episodes.iter().map(|episode| {
            let broke = matches!(episode.end, End::Failed { .. });
            ScoredEpisode { episode: Arc::clone(episode), score: if broke { None } else { scores.next() } }
        });
        ScoredBatch { episodes: scored.collect(), state: next }
    }

    /// Scores one episode as a batch of its own. One that broke is unscorable without any term being asked.
    pub fn score(&self, episode: &Episode, context: &ScoreContext) -> Score {
        if let End::Failed { fault } = &episode.end {
            return broke(&fault.message);
        }
        let state = RewardState::default();
        let (table, mut looks) = self.look_at(&[episode], context, &state);
        let place = Place { episode, context, state: &state, table: &table, at: 0 };
        self.finish(looks.swap_remove(0), &place, Tracer::off()).0
    }

    /// The score as a tree: the reward on the first line, then every part with its value, and the evidence of each term.
    pub fn explain(&self, episode: &Episode, context: &ScoreContext) -> String {
        let alone = [Arc::new(episode.clone())];
        self.explain_in(&alone, 0, context, &RewardState::default())
    }

    /// The explanation of the episode at position `at` of a batch. Empty where there is none.
    pub fn explain_in(
        &self,
        episodes: &[Arc<Episode>],
        at: usize,
        context: &ScoreContext,
        state: &RewardState,
    ) -> String {
        let Some(episode) = episodes.get(at) else { return String::new() };
        if let End::Failed { fault } = &episode.end {
            return explanation(&broke(&fault.message), &Traced::default());
        }
        let whole: Vec<&Episode> =
            episodes.iter().map(Arc::as_ref).filter(|e| !matches!(e.end, End::Failed { .. })).collect();
        let before = episodes[..at].iter().filter(|e| !matches!(e.end, End::Failed { .. })).count();
        let (table, mut looks) = self.look_at(&whole, context, state);
        let place = Place { episode, context, state, table: &table, at: before };
        let (score, traced) = self.finish(looks.swap_remove(before), &place, Tracer::on());
        explanation(&score, &traced)
    }

    /// Asks every term of every episode, then fills the slots, inner before outer.
    fn look_at(
        &self,
        whole: &[&Episode],
        context: &ScoreContext,
        state: &RewardState,
    ) -> (Table, Vec<Looks>) {
        let mut table = group(whole);
        let members: Vec<Vec<&Episode>> =
            table.groups.iter().map(|group| group.iter().map(|&at| whole[at]).collect()).collect();
        let mut places = vec![0; whole.len()];
        table.groups.iter().for_each(|group| group.iter().enumerate().for_each(|(i, &at)| places[at] = i));
        let surveys: Vec<Result<Survey, String>> =
            self.terms.iter().map(|t| term::survey(t.term.as_ref(), whole)).collect();
        let nothing = Survey::new();
        let look = |at: usize| {
            let group = &members[table.group_of[at]];
            let (episode, place) = (whole[at], places[at]);
            self.look(&View { episode, group, place, batch: whole, context, survey: &nothing }, &surveys)
        };
        let looks: Vec<Looks> = (0..whole.len()).into_par_iter().map(look).collect();
        for slot in &self.slots {
            let column: Vec<Worth> = (0..whole.len())
                .into_par_iter()
                .map(|at| {
                    let place = Place { episode: whole[at], context, state, table: &table, at };
                    let facts = place.facts(&self.terms, &looks[at].scores);
                    evaluate(slot.as_ref(), &facts, &mut Tracer::off())
                })
                .collect();
            table.slots.push(column);
        }
        (table, looks)
    }

    fn look(&self, view: &View<'_>, surveys: &[Result<Survey, String>]) -> Looks {
        let terms = self.terms.iter().zip(surveys);
        let looked: Vec<Looked> =
            terms.map(|(t, survey)| term::run(&t.settings, t.term.as_ref(), view, survey)).collect();
        let solved = self.solved.and_then(|(term, at_least)| {
            let looked = &looked[term];
            solved(looked.undisturbed.as_ref().unwrap_or(&looked.score.outcome), at_least)
        });
        Looks { scores: looked.into_iter().map(|l| l.score).collect(), solved }
    }

    fn finish(&self, looks: Looks, place: &Place<'_>, mut tracer: Tracer) -> (Score, Traced) {
        let facts = place.facts(&self.terms, &looks.scores);
        let worth = evaluate(self.expression.as_ref(), &facts, &mut tracer);
        let reward = reward(&looks.scores, worth);
        let turn_rewards = match reward {
            Reward::Value { .. } => self.expression.paid_by_turn(&facts).unwrap_or_default(),
            Reward::Unscorable { .. } | Reward::GraderFailed { .. } => Vec::new(),
        };
        let score = Score { terms: looks.scores, reward, turn_rewards, solved: looks.solved };
        (score, tracer.finish())
    }
}

/// An episode in its batch.
struct Place<'a> {
    episode: &'a Episode,
    context: &'a ScoreContext,
    state: &'a RewardState,
    table: &'a Table,
    at: usize,
}

impl<'a> Place<'a> {
    fn facts(&self, terms: &'a [CompiledTerm], scores: &'a [TermScore]) -> Facts<'a> {
        let Self { episode, context, state, table, at } = *self;
        Facts { episode, terms, scores, context, state, table, at, turn: None }
    }
}

/// Who belongs together: same phase, step and group.
fn group(whole: &[&Episode]) -> Table {
    let mut table = Table::default();
    let mut known: HashMap<(&Phase, u64, u32), usize> = HashMap::with_capacity(whole.len());
    for (at, episode) in whole.iter().enumerate() {
        let EpisodeId { phase, step, group, .. } = &episode.id;
        let index = *known.entry((phase, *step, *group)).or_insert_with(|| {
            table.groups.push(Vec::new());
            table.groups.len() - 1
        });
        table.groups[index].push(at);
        table.group_of.push(index);
    }
    table
}

fn broke(message: &str) -> Score {
    let reward = Reward::Unscorable { why: format!("the episode broke: {message}") };
    Score { terms: Vec::new(), reward, turn_rewards: Vec::new(), solved: None }
}

/// What cannot be parsed has not solved the task; where the term is silent or broken, nobody knows.
fn solved(outcome: &TermOutcome, at_least: f64) -> Option<bool> {
    match outcome {
        TermOutcome::Value { value } => Some(*value >= at_least),
        TermOutcome::ParseFailure { .. } => Some(false),
        TermOutcome::NotApplicable { .. } | TermOutcome::GraderFailed { .. } => None,
    }
}

/// A grader that fails anywhere makes the reward `GraderFailed`, even in a branch not taken.
fn reward(scores: &[TermScore], worth: Worth) -> Reward {
    let broken = scores.iter().find_map(|score| match &score.outcome {
        TermOutcome::GraderFailed { why } => Some(format!("term `{}`: {why}", score.name)),
        _ => None,
    });
    match (broken, worth) {
        (Some(why), _) | (None, Worth::Broken(why)) => Reward::GraderFailed { why },
        (None, Worth::Unscorable(why)) => Reward::Unscorable { why },
        (None, Worth::NotApplicable(why)) => Reward::Unscorable { why: format!("nothing applies: {why}") },
        (None, Worth::Number(value)) => Reward::Value { value },
    }
}

fn first_exact_answer(config: &RewardConfig) -> Option<String> {
    match config {
        RewardConfig::ExactAnswer(exact) => {
            Some(exact.name.clone().unwrap_or_else(|| EXACT_ANSWER.about.name.to_owned()))
        }
        other => other.children().into_iter().find_map(first_exact_answer),
    }
}
