//! TeaRAG: evidence is packed by a walk over a small graph, and pairs of paths are preferred by evidence per step.

use crate::chooser::Chooser;
use crate::preferring::{Asking, HOPS, Path, preference_gradient};
use crate::tabular::mean;
use crate::worlds::knowledge::{Filling, Knowledge, KnowledgeLaw};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of the system is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TearagPart {
    /// Contexts are filled under budgets; nothing is learned.
    Packing,
    /// A policy learns from pairs of paths.
    Pairs,
}

/// What a context is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// Passages, the most alike first.
    Chunks,
    /// Facts of the entities that the query names, the most alike first.
    Triplets,
    /// Passages and facts in turn, each the most alike first.
    Concatenation,
    /// What personalised PageRank over query, passages, facts and entities reaches first.
    KagPpr,
}

/// What makes a path the chosen or the rejected one of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairRule {
    /// Right against wrong.
    Outcome,
    /// Right and well formed against wrong or malformed.
    OutcomeFormat,
    /// Also evidence per step: chosen from `strict` on, rejected where it is `weaker`.
    Full,
}

/// A knowledge base that is asked, or a policy that asks in steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tearag {
    /// Which part of the system is tested.
    pub part: TearagPart,
    /// What a context is filled with.
    pub packing: Packing,
    /// Words of a context.
    pub budgets: Vec<usize>,
    /// The share of each budget that this arm may use.
    pub share: f64,
    /// Questions of one cell, or of a round.
    pub questions: usize,
    /// Entities of the base, its relations, and facts of an entity.
    pub base: [usize; 3],
    /// The chance that a fact is not extracted as a triplet.
    pub missed: f64,
    /// Words of a passage that say nothing.
    pub filler: usize,
    /// Different words of names.
    pub names: usize,
    /// What makes a pair.
    pub rule: PairRule,
    /// The process reward from which on a path may be chosen.
    pub strict: f64,
    /// How much less evidence per step makes a path the weaker one.
    pub weaker: f64,
    /// Rounds of pairs.
    pub rounds: usize,
    /// Paths of a question.
    pub paths: usize,
    /// Passes over the pairs of a round.
    pub passes: usize,
    /// β of the preference.
    pub beta: f64,
    /// The share of the chosen path's own log-probability in the loss.
    pub lambda: f64,
    /// The step of an update.
    pub rate: f64,
    /// The share of redundant steps in what is imitated first.
    pub redundant: f64,
    /// Passes of imitation.
    pub imitation: usize,
    /// The chance that a sub-query brings its evidence.
    pub brings: f64,
}

impl Default for Tearag {
    fn default() -> Self {
        Self {
            part: TearagPart::Packing,
            packing: Packing::KagPpr,
            budgets: vec![45, 60, 90, 120],
            share: 1.0,
            questions: 500,
            base: [500, 12, 3],
            missed: 0.15,
            filler: 15,
            names: 60,
            rule: PairRule::Full,
            strict: 0.9,
            weaker: 0.2,
            rounds: 3,
            paths: 8,
            passes: 4,
            beta: 0.1,
            lambda: 0.1,
            rate: 2.0,
            redundant: 0.3,
            imitation: 40,
            brings: 0.9,
        }
    }
}

/// The most steps of a path, and the chance that a guess is right.
const MOST_STEPS: usize = 8;
const GUESS: f64 = 0.05;
/// Pairs of one update, and questions that a policy is measured by.
const BATCH: usize = 50;
const MEASURED: usize = 1000;

impl Component for Tearag {
    const ABOUT: About = About {
        name: "tearag",
        summary: "Evidence packed by a walk over a small graph; pairs of paths preferred by evidence per step.",
        paper: "TeaRAG: A Token-Efficient Agentic Retrieval-Augmented Generation Framework, arXiv:2511.05385",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.budgets.is_empty() || self.budgets.contains(&0) {
            return Err(Refusal::new("`budgets` must be a list of numbers above 0"));
        }
        for (key, share) in [("missed", self.missed), ("redundant", self.redundant), ("brings", self.brings)]
        {
            Refusal::unless((0.0..=1.0).contains(&share), key, share, "between 0 and 1")?;
        }
        Refusal::unless(self.share > 0.0 && self.share <= 1.0, "share", self.share, "above 0 and at most 1")?;
        Refusal::unless(self.questions > 0, "questions", self.questions, "at least 1")?;
        Refusal::unless(self.names > 1, "names", self.names, "at least 2")?;
        Refusal::unless(self.paths > 1, "paths", self.paths, "at least 2")?;
        Refusal::unless(self.beta > 0.0, "beta", self.beta, "above 0")?;
        Refusal::unless(self.lambda >= 0.0, "lambda", self.lambda, "0 or more")?;
        Refusal::unless(self.rate > 0.0, "rate", self.rate, "above 0")?;
        match self.base {
            [entities, relations, facts] if entities > 1 && (1..=relations).contains(&facts) => Ok(()),
            _ => Err(Refusal::new(
                "`base` must be entities, relations and facts of an entity, no more than relations",
            )),
        }
    }
}

impl Study for Tearag {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        match self.part {
            TearagPart::Packing => self.pack(seed, desk),
            TearagPart::Pairs => self.learn(seed, desk),
        }
    }
}

impl Tearag {
    fn pack(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let [entities, relations, facts] = self.base;
        let law = KnowledgeLaw {
            entities,
            relations,
            facts,
            missed: self.missed,
            filler: self.filler,
            names: self.names,
        };
        let base = Knowledge::draw(&law, seed);
        let by = match self.packing {
            Packing::Chunks => Filling::Chunks,
            Packing::Triplets => Filling::Triplets,
            Packing::Concatenation => Filling::Both,
            Packing::KagPpr => Filling::Walk,
        };
        let (mut recalls, mut words) = (Vec::new(), Vec::new());
        for budget in &self.budgets {
            let (mut found, mut spent) = (Vec::new(), Vec::new());
            for question in 0..self.questions as u64 {
                if !desk.left()? {
                    break;
                }
                desk.spend("questions", 1.0);
                for fact in base.chain(&mut seed.child("question", question).stream()) {
                    let context = base.context(fact, by, (*budget as f64 * self.share) as usize);
                    found.push(f64::from(u8::from(base.has(&context, fact))));
                    spent.push(context.iter().map(|piece| base.words(*piece)).sum::<usize>() as f64);
                }
            }
            desk.measure(&format!("recall_b{budget}"), mean(&found));
            desk.measure(&format!("words_b{budget}"), mean(&spent));
            recalls.push(mean(&found));
            words.push(mean(&spent));
        }
        desk.measure("recall", mean(&recalls));
        desk.measure("words", mean(&words));
        Ok(())
    }

    fn asking(&self) -> Asking {
        Asking { brings: self.brings, guess: GUESS, most: MOST_STEPS }
    }

    fn learn(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let asking = self.asking();
        let mut policy = self.imitate(&asking, seed);
        self.measure(&asking, &policy, "_first", seed, desk);
        for round in 0..self.rounds as u64 {
            if !desk.left()? {
                break;
            }
            let pairs = self.pairs(&asking, &policy, &seed.child("round", round), desk);
            desk.measure(&format!("pairs_r{}", round + 1), pairs.len() as f64);
            let reference = policy.clone();
            for _ in 0..self.passes {
                for batch in pairs.chunks(BATCH) {
                    let mut gradient = vec![0.0; policy.weights.len()];
                    for (chosen, rejected) in batch {
                        let by = (self.beta, self.lambda);
                        preference_gradient(&policy, &reference, (chosen, rejected), by, &mut gradient);
                    }
                    let step = self.rate / batch.len() as f64;
                    policy.weights.iter_mut().zip(gradient).for_each(|(weight, g)| *weight += step * g);
                    desk.spend("updates", 1.0);
                }
            }
            self.measure(&asking, &policy, &format!("_r{}", round + 1), seed, desk);
        }
        self.measure(&asking, &policy, "", seed, desk);
        Ok(())
    }

    /// A policy that does as demonstrations with redundant steps do.
    fn imitate(&self, asking: &Asking, seed: &Seed) -> Chooser {
        let stream = &mut seed.child("demonstrations", 0).stream();
        let shown: Vec<Path> =
            (0..self.questions).map(|at| asking.demonstrate(1 + at % HOPS, self.redundant, stream)).collect();
        let mut policy = Chooser::new(asking.features());
        for _ in 0..self.imitation {
            let paths: Vec<_> = shown.iter().map(|path| (path.choices.as_slice(), 1.0)).collect();
            policy.climb(&paths, None, self.rate);
        }
        policy
    }

    /// At most one pair a question: the best that may be chosen, and the worst that may be rejected.
    fn pairs(
        &self,
        asking: &Asking,
        policy: &Chooser,
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Vec<(Path, Path)> {
        let mut pairs = Vec::new();
        for question in 0..self.questions {
            let stream = &mut seed.child("question", question as u64).stream();
            let paths: Vec<Path> =
                (0..self.paths).map(|_| asking.sample(1 + question % HOPS, policy, stream)).collect();
            desk.spend("paths", paths.len() as f64);
            // Where the process does not count, of equals the first.
            let worth = |path: &Path| if self.rule == PairRule::Full { path.process } else { 0.0 };
            let better = |best: Option<Path>, one: &Path| match best {
                Some(best) if worth(&best) >= worth(one) => Some(best),
                _ => Some(one.clone()),
            };
            let chosen = paths.iter().filter(|path| self.may_be_chosen(path)).fold(None, better);
            let Some(chosen) = chosen else { continue };
            let rejected = paths.iter().filter(|path| self.may_be_rejected(path, &chosen)).fold(
                None,
                |worst: Option<Path>, one| match worst {
                    Some(worst) if worth(&worst) <= worth(one) => Some(worst),
                    _ => Some(one.clone()),
                },
            );
            pairs.extend(rejected.map(|rejected| (chosen, rejected)));
        }
        pairs
    }

    fn may_be_chosen(&self, path: &Path) -> bool {
        let formed = path.well_formed || self.rule == PairRule::Outcome;
        path.right && formed && (self.rule != PairRule::Full || path.process >= self.strict)
    }

    fn may_be_rejected(&self, path: &Path, chosen: &Path) -> bool {
        let malformed = !path.well_formed && self.rule != PairRule::Outcome;
        let weak = self.rule == PairRule::Full && path.process <= chosen.process - self.weaker;
        !path.right || malformed || weak
    }

    fn measure(&self, asking: &Asking, policy: &Chooser, when: &str, seed: &Seed, desk: &mut Desk<'_>) {
        let stream = &mut seed.child("measured", 0).stream();
        let paths: Vec<Path> = (0..MEASURED).map(|at| asking.sample(1 + at % HOPS, policy, stream)).collect();
        let of = |value: fn(&Path) -> f64| mean(&paths.iter().map(value).collect::<Vec<_>>());
        desk.measure(&format!("em{when}"), of(|path| f64::from(u8::from(path.right))));
        desk.measure(&format!("steps{when}"), of(|path| path.steps as f64));
        desk.measure(&format!("malformed{when}"), of(|path| f64::from(u8::from(!path.well_formed))));
        if when != "_first" && !when.is_empty() {
            desk.point("em", of(|path| f64::from(u8::from(path.right))));
            desk.point("steps", of(|path| path.steps as f64));
        }
    }
}
