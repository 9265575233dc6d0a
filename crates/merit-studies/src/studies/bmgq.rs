//! BMGQ: questions for searchers, made from the answer upwards, against chains and conjunctions.

use crate::chooser::{Choice, Chooser};
use crate::quality::Checked;
use crate::questions::{Counts, Generator, Question, Rules};
use crate::searcher::{FEATURES, Trail, scripted, search};
use crate::worlds::encyclopaedia::Encyclopaedia;
use crate::{Desk, Study, StudyError};
use merit_core::stats::{mean, sd};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One generator: what its questions are like, and what a searcher learns from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bmgq {
    /// Who makes the questions.
    pub generator: Generator,
    /// Entities of the encyclopaedia; every fifth is the answer of no question that is learned from.
    pub entities: usize,
    /// Questions to learn from.
    pub questions: usize,
    /// Held-out questions of each kind.
    pub tests: usize,
    /// A cue alone leaves at least so many entities.
    pub least: usize,
    /// Queries of one search.
    pub queries: usize,
    /// Queries that the searcher by rule is given, rising.
    pub budgets: Vec<usize>,
    /// The share of questions that a corrupt fact is planted in before the checks.
    pub corrupt: f64,
    /// The share of entities whose facts a solver knows by heart.
    pub by_heart: f64,
    /// Updates of the learned searcher.
    pub updates: usize,
    /// Questions of an update.
    pub batch: usize,
    /// Searches of each.
    pub group: usize,
    /// Step size of the learned searcher.
    pub learning_rate: f64,
}

impl Default for Bmgq {
    fn default() -> Self {
        Self {
            generator: Generator::BottomUp,
            entities: 3000,
            questions: 300,
            tests: 200,
            least: 30,
            queries: 12,
            budgets: vec![1, 2, 4, 8, 16, 32],
            corrupt: 0.2,
            by_heart: 0.02,
            updates: 60,
            batch: 16,
            group: 8,
            learning_rate: 0.5,
        }
    }
}

impl Component for Bmgq {
    const ABOUT: About = About {
        name: "bmgq",
        summary: "Multi-hop questions made from the answer upwards, so that all cues together and no fewer leave one entity.",
        paper: "BMGQ: A Bottom-up Method for Generating Complex Multi-hop Reasoning Questions from Semi-structured Data (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(
            (100..=500_000).contains(&self.entities),
            "entities",
            self.entities,
            "between 100 and 500000",
        )?;
        for (key, count) in [
            ("questions", self.questions),
            ("tests", self.tests),
            ("least", self.least),
            ("queries", self.queries),
            ("batch", self.batch),
        ] {
            Refusal::unless(count > 0, key, count, "at least 1")?;
        }
        Refusal::unless(self.group > 1, "group", self.group, "at least 2")?;
        Refusal::unless(self.learning_rate > 0.0, "learning_rate", self.learning_rate, "above 0")?;
        for (key, share) in [("corrupt", self.corrupt), ("by_heart", self.by_heart)] {
            Refusal::unless((0.0..=1.0).contains(&share), key, share, "between 0 and 1")?;
        }
        let rising = self.budgets.windows(2).all(|pair| pair[0] < pair[1]);
        if self.budgets.len() < 2 || !rising || self.budgets[0] == 0 {
            return Err(Refusal::new("`budgets` must be two or more rising numbers above 0"));
        }
        Ok(())
    }
}

/// Draws that may come to nothing, for each question that is wanted.
const TRIES: usize = 200;
/// Skills of the solvers that check a question.
const SOLVERS: [f64; 3] = [1.0, 0.7, 0.4];

impl Study for Bmgq {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let book = Encyclopaedia::draw(self.entities, &mut seed.child("book", 0).stream())?;
        let train = self.draw(&book, self.generator, false, self.questions, &seed.child("train", 0))?;
        let hard = self.draw(&book, Generator::BottomUp, true, self.tests, &seed.child("hard", 0))?;
        let chains = self.draw(&book, Generator::Chain, true, self.tests, &seed.child("chains", 0))?;
        self.describe(&book, &train, desk)?;
        self.by_budget(&book, &train, seed, desk)?;
        self.checks(&book, &train, seed, desk)?;
        self.learn(&book, &train, [&hard, &chains], seed, desk)
    }
}

impl Bmgq {
    fn draw(
        &self,
        book: &Encyclopaedia,
        generator: Generator,
        held_out: bool,
        count: usize,
        seed: &Seed,
    ) -> Result<Vec<Question>, StudyError> {
        let rules = Rules { generator, least: self.least };
        let mut stream = seed.stream();
        let mut found = Vec::new();
        for _ in 0..count * TRIES {
            if found.len() == count {
                break;
            }
            found.extend(rules.draw(book, |answer| (answer % 5 == 0) == held_out, &mut stream)?);
        }
        if found.len() < count {
            let got = found.len();
            return Err(StudyError::Broken(format!("{got} of {count} questions in {TRIES} draws for each")));
        }
        Ok(found)
    }

    /// What the questions are like, exactly.
    fn describe(
        &self,
        book: &Encyclopaedia,
        questions: &[Question],
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let counts: Vec<Counts> = questions.iter().map(|q| Counts::of(book, &q.cues)).collect();
        let share = |holds: &dyn Fn(&Counts) -> bool| {
            counts.iter().filter(|counts| holds(counts)).count() as f64 / counts.len() as f64
        };
        desk.measure("unique", share(&|counts| counts.answers == 1));
        desk.measure("redundant", share(&Counts::redundant));
        desk.measure("sound", share(&|counts| counts.sound(self.least)));
        let cues: Vec<f64> = questions.iter().map(|question| question.cues.len() as f64).collect();
        desk.measure("cues", mean(&cues).unwrap_or(0.0));
        let mut found = 0;
        for question in questions {
            found += usize::from(book.search(&question.text(), 0)?.first() == Some(&question.answer));
        }
        desk.measure("one_query", found as f64 / questions.len() as f64);
        Ok(())
    }

    /// How often a searcher by rule is right, by the number of its queries.
    fn by_budget(
        &self,
        book: &Encyclopaedia,
        questions: &[Question],
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let rates = self.budgets.iter().map(|most| {
            solved(&scripted(1.0), book, questions, *most, &seed.child("budget", 0)).map(|rate| (most, rate))
        });
        let rates = rates.collect::<Result<Vec<_>, _>>()?;
        rates.iter().for_each(|(most, rate)| desk.measure(&format!("solved_q{most}"), *rate));
        let gains = rates.windows(2).map(|pair| pair[1].1 - pair[0].1);
        desk.measure("least_gain", gains.fold(f64::INFINITY, f64::min));
        Ok(())
    }

    /// Plants corrupt facts and tells how many of these questions the checks find, and how many others they let pass.
    fn checks(
        &self,
        book: &Encyclopaedia,
        questions: &[Question],
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let most = self.budgets.last().copied().unwrap_or(self.queries);
        let (mut planted, mut sound) = (Vec::new(), Vec::new());
        for (at, question) in questions.iter().enumerate() {
            let mut stream = seed.child("checks", at as u64).stream();
            let corrupt = stream.chance(self.corrupt);
            let asked = if corrupt { question.clone().corrupted(&mut stream) } else { question.clone() };
            let known = (question.answer as f64) < self.by_heart * self.entities as f64;
            let solve = |skill: &f64| search(&scripted(*skill), book, &asked, most, false, &mut stream);
            let trails = SOLVERS.iter().map(solve).collect::<Result<Vec<Trail>, _>>()?;
            // A solver that knows the answer's page by heart sees that a corrupt question is not about it.
            let by_heart = known && asked.cues.iter().all(|cue| cue.holds(book, question.answer));
            let checked = Checked::of(book, &asked, by_heart, &trails);
            if corrupt { &mut planted } else { &mut sound }.push(checked);
        }
        let share = |of: &[Checked], holds: fn(&Checked) -> bool| {
            of.iter().filter(|checked| holds(checked)).count() as f64 / of.len().max(1) as f64
        };
        desk.measure("found_by_consensus", share(&planted, |c| !c.consensus));
        desk.measure("found_by_structure", share(&planted, |c| !c.structure));
        desk.measure("found", share(&planted, |c| !(c.consensus && c.structure)));
        desk.measure("sound_kept", share(&sound, |c| c.consensus && c.structure));
        Ok(())
    }

    /// Trains a searcher on the questions by group-relative REINFORCE and tells how it does on held-out ones.
    fn learn(
        &self,
        book: &Encyclopaedia,
        train: &[Question],
        tests: [&[Question]; 2],
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let mut policy = Chooser::new(FEATURES);
        for update in 0..self.updates {
            if !desk.left()? {
                break;
            }
            if update % 20 == 0 {
                self.tell(&policy, book, tests, seed, desk)?;
            }
            let mut stream = seed.child("update", update as u64).stream();
            let mut paths: Vec<(Vec<Choice>, f64)> = Vec::new();
            for _ in 0..self.batch {
                let Some(question) = stream.pick(train) else { break };
                let tries = (0..self.group)
                    .map(|_| search(&policy, book, question, self.queries, false, &mut stream));
                let tries = tries.collect::<Result<Vec<_>, _>>()?;
                desk.spend("queries", tries.iter().map(|trail| trail.queries as f64).sum());
                let won: Vec<f64> =
                    tries.iter().map(|t| f64::from(u8::from(t.answer == Some(question.answer)))).collect();
                let (centre, spread) = (mean(&won).unwrap_or(0.0), sd(&won).unwrap_or(0.0));
                let advantage = |won: f64| (won - centre) / (spread + 1e-6);
                paths.extend(tries.into_iter().zip(won).map(|(trail, won)| (trail.path, advantage(won))));
            }
            let taken: Vec<(&[Choice], f64)> = paths.iter().map(|(path, a)| (path.as_slice(), *a)).collect();
            policy.climb(&taken, None, self.learning_rate);
            desk.spend("updates", 1.0);
            desk.spend("episodes", (self.batch * self.group) as f64);
        }
        let [hard, chains] = self.tell(&policy, book, tests, seed, desk)?;
        desk.measure("hard", hard);
        desk.measure("chains", chains);
        desk.measure("own", solved(&policy, book, train, self.queries, &seed.child("test", 0))?);
        Ok(())
    }

    fn tell(
        &self,
        policy: &Chooser,
        book: &Encyclopaedia,
        tests: [&[Question]; 2],
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<[f64; 2], StudyError> {
        let [hard, chains] =
            tests.map(|test| solved(policy, book, test, self.queries, &seed.child("test", 0)));
        let rates = [hard?, chains?];
        desk.point("hard", rates[0]);
        desk.point("chains", rates[1]);
        Ok(rates)
    }
}

/// The share of questions that a policy answers right with so many queries.
fn solved(
    policy: &Chooser,
    book: &Encyclopaedia,
    questions: &[Question],
    most: usize,
    seed: &Seed,
) -> Result<f64, StudyError> {
    let mut right = 0;
    for (at, question) in questions.iter().enumerate() {
        let trail =
            search(policy, book, question, most, true, &mut seed.child("question", at as u64).stream())?;
        right += usize::from(trail.answer == Some(question.answer));
    }
    Ok(right as f64 / questions.len() as f64)
}
