//! The compiled reward and what it does: score a batch, explain one episode of it.

use crate::check::telling_term;
use crate::compile::{CompiledTerm, Compiler};
use crate::error::Problem;
use crate::explanation::explanation;
use crate::expression::{BatchValues, Node, NodeContext, StateUpdate, evaluate};
use crate::run_term::{EvaluatedTerm, count, run};
use crate::state::RewardState;
use crate::term::{AnnotationNeed, BatchCounts, EvalContext};
use crate::trace::{Traced, Tracer};
use crate::value::Value;
use crate::{RewardConfig, RewardError};
use merit_core::registry::Refusal;
use merit_core::{
    Annotations, End, Episode, EpisodeId, Phase, PolicyVersion, Reward, Score, ScoredEpisode, TermOutcome,
    TermScore,
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
    updates: Vec<Arc<dyn StateUpdate>>,
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

/// What the terms said of one episode.
struct TermScores {
    scores: Vec<TermScore>,
    solved: Option<bool>,
}

/// What is scored: episodes that did not break, and what was said of them.
struct Batch<'a> {
    episodes: Vec<&'a Episode>,
    annotations: &'a Annotations,
    run: &'a ScoreContext,
    state: &'a RewardState,
}

impl<'a> Batch<'a> {
    fn whole(
        episodes: &'a [Arc<Episode>],
        annotations: &'a Annotations,
        run: &'a ScoreContext,
        state: &'a RewardState,
    ) -> Self {
        let episodes =
            episodes.iter().map(Arc::as_ref).filter(|e| !matches!(e.end, End::Failed { .. })).collect();
        Self { episodes, annotations, run, state }
    }
}

impl Scorer {
    /// Checks a reward and makes it ready. Starts nothing.
    pub fn compile(config: &RewardConfig) -> Result<Self, RewardError> {
        let mut compiler = Compiler::new(config);
        let expression = compiler.compile(config)?;
        let telling = telling_term(config);
        let telling = telling.and_then(|name| compiler.find(&name).ok()).map(|at| (at, 1.0));
        let solved = compiler.solved.or(telling);
        let Compiler { terms, slots, updates, places, .. } = compiler;
        Ok(Self { terms, expression, places, slots, updates, solved })
    }

    /// The same, and starts what its terms need, so that what is missing is known before the first episode.
    pub fn opened(config: &RewardConfig) -> Result<Self, RewardError> {
        let scorer = Self::compile(config)?;
        for term in &scorer.terms {
            let refused =
                |Refusal { why, .. }| RewardError { at: term.name.clone(), problem: Problem::Setting(why) };
            term.term.open().map_err(refused)?;
        }
        Ok(scorer)
    }

    /// The names of the terms, in the order of the file and of every score.
    pub fn term_names(&self) -> Vec<&str> {
        self.terms.iter().map(|t| t.name.as_str()).collect()
    }

    /// Whether it can tell that a task was solved; without it, success means nothing.
    pub fn tells_solved(&self) -> bool {
        self.solved.is_some()
    }

    /// Whether it holds an episode against others that are scored with it.
    pub fn compares(&self) -> bool {
        !self.slots.is_empty()
    }

    /// The annotations that must be handed in for every term to say something.
    pub fn needs(&self) -> Vec<AnnotationNeed> {
        self.terms.iter().flat_map(|t| t.term.needs()).collect()
    }

    /// Scores a batch. Episodes that broke are never scored, since the failure is not the policy's. Groups are told by the
    /// episodes' ids; the order of the batch decides nothing.
    ///
    /// ```
    /// use merit_core::{Action, End, Episode, EpisodeId, Task, Turn};
    /// use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer};
    /// let scorer = Scorer::compile(&RewardConfig::from_toml("type = \"exact-answer\"")?)?;
    /// let mut task = Task::new("quiz", "quiz/1");
    /// task.answer = Some("42".into());
    /// let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
    /// let episode = Episode::new(id, task, End::Answered).with_turns(vec![Turn::new(0, Action::Answer { text: "42".into() })]);
    /// let batch = scorer.score_batch(&[episode.into()], &ScoreContext::default(), &RewardState::default());
    /// assert_eq!((batch.episodes[0].reward(), batch.episodes[0].score.as_ref().and_then(|score| score.solved)), (Some(1.0), Some(true)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score_batch(
        &self,
        episodes: &[Arc<Episode>],
        run: &ScoreContext,
        state: &RewardState,
    ) -> ScoredBatch {
        self.score_annotated(episodes, &Annotations::new(), run, state)
    }

    /// Scores a batch with the annotations that were asked for beforehand ([`Scorer::needs`]). It asks for none itself, so that
    /// the same annotations always give the same scores.
    pub fn score_annotated(
        &self,
        episodes: &[Arc<Episode>],
        annotations: &Annotations,
        run: &ScoreContext,
        state: &RewardState,
    ) -> ScoredBatch {
        let batch = Batch::whole(episodes, annotations, run, state);
        let (values, terms) = self.evaluate(&batch);
        let finished = terms
            .into_par_iter()
            .enumerate()
            .map(|(at, terms)| self.finish(terms, &batch, &values, at, Tracer::off()).0);
        let mut scores = finished.collect::<Vec<Score>>().into_iter();
        let mut next = state.clone();
        self.updates.iter().for_each(|part| part.update(&values, run, state, &mut next));
        let scored = episodes.iter().map(|episode| {
            let broke = matches!(episode.end, End::Failed { .. });
            ScoredEpisode { episode: Arc::clone(episode), score: if broke { None } else { scores.next() } }
        });
        ScoredBatch { episodes: scored.collect(), state: next }
    }

    /// Scores one episode as a batch of its own. One that broke is unscorable without any term being asked.
    pub fn score(&self, episode: &Episode, run: &ScoreContext) -> Score {
        if let End::Failed { fault } = &episode.end {
            return broke(&fault.message);
        }
        let (annotations, state) = (Annotations::new(), RewardState::default());
        let batch = Batch { episodes: vec![episode], annotations: &annotations, run, state: &state };
        let (values, mut terms) = self.evaluate(&batch);
        self.finish(terms.swap_remove(0), &batch, &values, 0, Tracer::off()).0
    }

    /// The score as a tree: the reward on the first line, then every part with its value, and the evidence of each term.
    pub fn explain(&self, episode: &Episode, run: &ScoreContext) -> String {
        let alone = [Arc::new(episode.clone())];
        self.explain_in(&alone, 0, run, &RewardState::default())
    }

    /// The explanation of the episode at position `at` of a batch. Empty where there is none.
    pub fn explain_in(
        &self,
        episodes: &[Arc<Episode>],
        at: usize,
        run: &ScoreContext,
        state: &RewardState,
    ) -> String {
        self.explain_annotated(episodes, at, &Annotations::new(), run, state)
    }

    /// The same, of a batch of which somebody was asked beforehand.
    pub fn explain_annotated(
        &self,
        episodes: &[Arc<Episode>],
        at: usize,
        annotations: &Annotations,
        run: &ScoreContext,
        state: &RewardState,
    ) -> String {
        let Some(episode) = episodes.get(at) else { return String::new() };
        if let End::Failed { fault } = &episode.end {
            return explanation(&broke(&fault.message), &Traced::default());
        }
        let batch = Batch::whole(episodes, annotations, run, state);
        let before = episodes[..at].iter().filter(|e| !matches!(e.end, End::Failed { .. })).count();
        let (values, mut terms) = self.evaluate(&batch);
        let (score, traced) = self.finish(terms.swap_remove(before), &batch, &values, before, Tracer::on());
        explanation(&score, &traced)
    }

    /// The rewards that a scored batch would have if `term` had given `value` everywhere. Absent: none. Asks no term.
    pub(crate) fn rewards_with(
        &self,
        term: usize,
        value: f64,
        scored: &[&ScoredEpisode],
        run: &ScoreContext,
        state: &RewardState,
    ) -> Vec<Option<f64>> {
        let annotations = Annotations::new();
        let episodes = scored.iter().map(|scored| scored.episode.as_ref()).collect();
        let batch = Batch { episodes, annotations: &annotations, run, state };
        let replaced = |scored: &&ScoredEpisode| {
            let given = scored.score.as_ref().map_or(&[][..], |score| &score.terms);
            let scores = given.iter().enumerate().map(|(at, score)| {
                let outcome = if at == term { TermOutcome::Value { value } } else { score.outcome.clone() };
                TermScore::new(&score.name, outcome).with_weight(score.weight).with_turns(score.turns.clone())
            });
            TermScores { scores: scores.collect(), solved: None }
        };
        let terms: Vec<TermScores> = scored.iter().map(replaced).collect();
        let mut values = group(&batch.episodes);
        self.fill_slots(&batch, &mut values, &terms);
        let rewards = terms.into_iter().enumerate();
        rewards
            .map(|(at, terms)| self.finish(terms, &batch, &values, at, Tracer::off()).0.reward.value())
            .collect()
    }

    /// Evaluates every term for every episode, then fills the slots.
    fn evaluate(&self, batch: &Batch<'_>) -> (BatchValues, Vec<TermScores>) {
        let mut values = group(&batch.episodes);
        let counts: Vec<Result<BatchCounts, String>> =
            self.terms.iter().map(|t| count(t.term.as_ref(), &batch.episodes)).collect();
        let terms = self.evaluate_terms(batch, &values, &counts);
        self.fill_slots(batch, &mut values, &terms);
        (values, terms)
    }

    /// Evaluates what looks over the whole batch, inner before outer.
    fn fill_slots(&self, batch: &Batch<'_>, values: &mut BatchValues, terms: &[TermScores]) {
        for slot in &self.slots {
            let column: Vec<Value> = (0..batch.episodes.len())
                .into_par_iter()
                .map(|at| {
                    let context = self.context(batch, values, at, &terms[at].scores);
                    evaluate(slot.as_ref(), &context, &mut Tracer::off())
                })
                .collect();
            values.slots.push(column);
        }
    }

    fn evaluate_terms(
        &self,
        batch: &Batch<'_>,
        values: &BatchValues,
        counts: &[Result<BatchCounts, String>],
    ) -> Vec<TermScores> {
        let whole = &batch.episodes;
        let members: Vec<Vec<&Episode>> =
            values.groups.iter().map(|group| group.iter().map(|&at| whole[at]).collect()).collect();
        let mut places = vec![0; whole.len()];
        values.groups.iter().for_each(|group| group.iter().enumerate().for_each(|(i, &at)| places[at] = i));
        let nothing = BatchCounts::new();
        let of_episode = |at: usize| {
            let episode = whole[at];
            let context = EvalContext {
                episode,
                group: &members[values.group_of[at]],
                place: places[at],
                batch: whole,
                run: batch.run,
                counts: &nothing,
                annotations: batch.annotations.get(&episode.id).map_or(&[], Vec::as_slice),
            };
            self.evaluate_episode(&context, counts)
        };
        (0..whole.len()).into_par_iter().map(of_episode).collect()
    }

    fn evaluate_episode(
        &self,
        context: &EvalContext<'_>,
        counts: &[Result<BatchCounts, String>],
    ) -> TermScores {
        let evaluated: Vec<EvaluatedTerm> =
            self.terms.iter().zip(counts).map(|(term, counts)| run(term, context, counts)).collect();
        let solved = self.solved.and_then(|(term, at_least)| {
            let told = &evaluated[term];
            solved(told.undisturbed.as_ref().unwrap_or(&told.score.outcome), at_least)
        });
        TermScores { scores: evaluated.into_iter().map(|e| e.score).collect(), solved }
    }

    fn finish(
        &self,
        terms: TermScores,
        batch: &Batch<'_>,
        values: &BatchValues,
        at: usize,
        mut tracer: Tracer,
    ) -> (Score, Traced) {
        let context = self.context(batch, values, at, &terms.scores);
        let value = evaluate(self.expression.as_ref(), &context, &mut tracer);
        let reward = reward(&terms.scores, value);
        let turn_rewards = match reward {
            Reward::Value { .. } => self.expression.paid_by_turn(&context).unwrap_or_default(),
            Reward::Unscorable { .. } | Reward::GraderFailed { .. } => Vec::new(),
        };
        let score = Score::new(reward).with_terms(terms.scores).with_turn_rewards(turn_rewards);
        (score.with_solved(terms.solved), tracer.finish())
    }

    fn context<'a>(
        &'a self,
        batch: &Batch<'a>,
        values: &'a BatchValues,
        at: usize,
        scores: &'a [TermScore],
    ) -> NodeContext<'a> {
        let (episode, run, state) = (batch.episodes[at], batch.run, batch.state);
        NodeContext { episode, terms: &self.terms, scores, run, state, values, at, turn: None }
    }
}

/// Who belongs together: same phase, step and group.
fn group(whole: &[&Episode]) -> BatchValues {
    let mut table = BatchValues::default();
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
    Score::new(Reward::Unscorable { why: format!("the episode broke: {message}") })
}

/// What cannot be parsed has not solved the task; where the term is silent or broken, it is unknown.
fn solved(outcome: &TermOutcome, at_least: f64) -> Option<bool> {
    match outcome {
        TermOutcome::Value { value } => Some(*value >= at_least),
        TermOutcome::ParseFailure { .. } => Some(false),
        TermOutcome::NotApplicable { .. } | TermOutcome::GraderFailed { .. } => None,
    }
}

/// A grader that fails anywhere makes the reward `GraderFailed`, even in a branch not taken.
fn reward(scores: &[TermScore], value: Value) -> Reward {
    let broken = scores.iter().find_map(|score| match &score.outcome {
        TermOutcome::GraderFailed { why } => Some(format!("term `{}`: {why}", score.name)),
        _ => None,
    });
    match (broken, value) {
        (Some(why), _) | (None, Value::Broken(why)) => Reward::GraderFailed { why },
        (None, Value::Unscorable(why)) => Reward::Unscorable { why },
        (None, Value::NotApplicable(why)) => Reward::Unscorable { why: format!("nothing applies: {why}") },
        (None, Value::Number(value)) => Reward::Value { value },
    }
}
