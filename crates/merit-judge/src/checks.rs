//! A judge made of checks: the weighted sum of reward expressions, computed, without a model.
//!
//! The same sum is what `export` writes as a reward file, so that what was tested is what pays.

use crate::{Answer, Choice, Judge, Verdict};
use merit_core::registry::Components;
use merit_core::{Cost, Episode, Reward, Score, ScoredEpisode};
use merit_evolve::{Entry, Kind, Library};
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer};
use std::sync::Arc;

/// Two sums that differ by no more are equal.
const EQUAL: f64 = 1e-12;

/// What the checks of a library are called together.
const ALL: &str = "all checks";

/// Why a library makes no reward.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// There is nothing to compute.
    #[error("the library has no check; evolve it first, or add one")]
    None,
    /// A check is not a reward expression, or one that cannot work.
    #[error("check `{id}`: {why}")]
    Check {
        /// Name of the library entry that is the check.
        id: String,
        why: String,
    },
}

/// The reward expression of a library's checks: a sum, each named after its entry and weighted.
pub fn reward_table(library: &Library) -> Result<toml::Table, CheckError> {
    let checks = library.entries().filter(|(_, entry)| entry.kind == Kind::Check);
    let parts: Vec<toml::Value> =
        checks.map(|(id, entry)| weighted(id, entry).map(toml::Value::Table)).collect::<Result<_, _>>()?;
    if parts.is_empty() {
        return Err(CheckError::None);
    }
    Ok(toml::Table::from_iter([
        ("type".to_owned(), toml::Value::String("sum".to_owned())),
        ("of".to_owned(), toml::Value::Array(parts)),
    ]))
}

/// The expression of one check, with its weight.
fn weighted(id: &str, entry: &Entry) -> Result<toml::Table, CheckError> {
    let mut table = expression(id, entry)?;
    if table.contains_key("of") {
        // Combinators have no weight of their own; a schedule that does not move multiplies.
        return Ok(toml::Table::from_iter([
            ("type".to_owned(), toml::Value::String("schedule".to_owned())),
            ("of".to_owned(), toml::Value::Table(table)),
            ("from".to_owned(), toml::Value::Float(entry.weight)),
            ("to".to_owned(), toml::Value::Float(entry.weight)),
            ("start_step".to_owned(), toml::Value::Integer(0)),
            ("end_step".to_owned(), toml::Value::Integer(1)),
        ]));
    }
    table.insert("name".to_owned(), toml::Value::String(id.to_owned()));
    table.insert("weight".to_owned(), toml::Value::Float(entry.weight));
    Ok(table)
}

/// The expression of one check, as its entry has it.
fn expression(id: &str, entry: &Entry) -> Result<toml::Table, CheckError> {
    let wrong = |why: &str| CheckError::Check { id: id.to_owned(), why: why.to_owned() };
    if !entry.when.is_empty() {
        return Err(wrong("a check has no `when`; it says by itself where it does not apply"));
    }
    let table = merit_core::settings::to_table(&entry.body);
    table.map_err(|error| wrong(&format!("its body is no table: {error}")))
}

/// The scorer of one check alone, whatever its weight.
pub(crate) fn scorer_of(id: &str, entry: &Entry, components: &Components) -> Result<Scorer, CheckError> {
    compile(id, expression(id, entry)?, components)
}

fn compile(id: &str, table: toml::Table, components: &Components) -> Result<Scorer, CheckError> {
    let wrong = |why: String| CheckError::Check { id: id.to_owned(), why };
    let config = components.reading(|| RewardConfig::from_table(table, components)).map_err(wrong)?;
    Scorer::opened(&config).map_err(|error| wrong(error.to_string()))
}

/// All checks of a library as one reward, made of the terms and combinators of `components`.
pub(crate) fn reward(library: &Library, components: &Components) -> Result<RewardConfig, CheckError> {
    let table = reward_table(library)?;
    let wrong = |why: String| CheckError::Check { id: ALL.to_owned(), why };
    components.reading(|| RewardConfig::from_table(table, components)).map_err(wrong)
}

/// A judge made of the checks of a library.
pub struct Checks {
    scorer: Scorer,
    id: String,
}

impl Checks {
    /// Compiles the checks of a library; `name` is what the judge is called.
    pub fn compile(name: &str, library: &Library, components: &Components) -> Result<Self, CheckError> {
        let scorer = compile(ALL, reward_table(library)?, components)?;
        Ok(Self { scorer, id: format!("{name} ({} entries, {})", library.len(), library.hash()) })
    }

    /// A reward as a judge: any reward file compares and scores.
    pub fn of_reward(name: &str, config: &RewardConfig) -> Result<Self, CheckError> {
        let wrong = |why: String| CheckError::Check { id: name.to_owned(), why };
        let scorer = Scorer::opened(config).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { scorer, id: name.to_owned() })
    }

    fn scored(&self, episodes: &[Arc<Episode>]) -> Vec<ScoredEpisode> {
        self.scorer.score_batch(episodes, &ScoreContext::default(), &RewardState::default()).episodes
    }
}

impl Judge for Checks {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        compare_by_score(self, asked)
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        self.scored(episodes).iter().map(answer).collect()
    }
}

/// What a score says, typed.
fn answer(scored: &ScoredEpisode) -> Answer {
    let verdict = match (scored.reward(), &scored.score) {
        (Some(value), _) => Verdict::Score { value },
        (None, None) => Verdict::Failed { why: "the episode broke, so that it was not scored".to_owned() },
        (None, Some(Score { reward: Reward::GraderFailed { why }, .. })) => {
            Verdict::Failed { why: why.clone() }
        }
        (None, Some(_)) => Verdict::Unreadable { why: "no check applies to the episode".to_owned() },
    };
    Answer { cost: Cost { judge_calls: 1, ..Cost::default() }, ..Answer::of(verdict) }
}

/// What a judge that gives numbers says of pairs.
pub fn compare_by_score(judge: &mut dyn Judge, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
    let shown: Vec<Arc<Episode>> = asked.iter().flat_map(|(a, b)| [Arc::clone(a), Arc::clone(b)]).collect();
    let answers = judge.score(&shown);
    answers.as_chunks().0.iter().map(|[first, second]| preferred(first, second)).collect()
}

/// The better of two by their numbers, and how sure that is: the logistic of their distance. Where one has no number, that is what
/// the comparison is.
fn preferred(first: &Answer, second: &Answer) -> Answer {
    let cost = [first.cost, second.cost].into_iter().sum();
    let (Some(one), Some(other)) = (first.verdict.value(), second.verdict.value()) else {
        let unsaid = if first.verdict.value().is_none() { first } else { second };
        return Answer { cost, ..unsaid.clone() };
    };
    let choice = match one - other {
        difference if difference.abs() <= EQUAL => Choice::Tie,
        difference if difference > 0.0 => Choice::First,
        _ => Choice::Second,
    };
    let sure = 1.0 / (1.0 + (-(one - other).abs()).exp());
    Answer {
        verdict: Verdict::Prefers { choice },
        evidence: format!("{one:.4} against {other:.4}"),
        confidence: Some(sure),
        cost,
    }
}
