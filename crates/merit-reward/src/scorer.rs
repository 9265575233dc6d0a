//! A compiled reward: lets every term look at an episode, evaluates the expression, and says why.

use crate::compile::{CompiledTerm, Compiler};
use crate::config::RewardConfig;
use crate::error::RewardError;
use crate::evaluate::{Expression, Facts, Trace, Worth};
use crate::term;
use crate::terms::exact_answer::EXACT_ANSWER;
use merit_core::{End, Episode, Reward, Score, ScoredEpisode, TermOutcome, TermScore};
use std::sync::Arc;

/// What a reward may depend on besides the episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScoreContext {
    /// The training step; schedules follow it. 0 outside training.
    pub step: u64,
}

/// A reward ready to score. Shared freely between threads; keeps no state.
pub struct Scorer {
    pub(crate) terms: Vec<CompiledTerm>,
    expression: Box<dyn Expression>,
    /// The term that tells whether the task was solved, and from which raw value on.
    solved: Option<(usize, f64)>,
    /// Terms that are plain parts of the outermost sum: what they find in a turn is paid at that turn.
    paid_by_turn: Vec<String>,
}

impl Scorer {
    /// Checks a reward and makes it ready.
    pub fn compile(config: &RewardConfig) -> Result<Self, RewardError> {
        let mut compiler = Compiler::new(config);
        let expression = compiler.compile(config)?;
        let exact = first_exact_answer(config);
        let exact = exact.and_then(|name| compiler.find(&name).ok()).map(|at| (at, 1.0));
        let solved = compiler.solved.or(exact);
        Ok(Self { terms: compiler.terms, expression, solved, paid_by_turn: summed_terms(config) })
    }

    /// The names of the terms, in the order of the file and of every score.
    pub fn term_names(&self) -> Vec<&str> {
        self.terms.iter().map(|t| t.settings.name.as_str()).collect()
    }

    /// Whether it can tell that a task was solved; without it, success means nothing.
    pub fn tells_solved(&self) -> bool {
        self.solved.is_some()
    }

    /// Scores one episode. An episode that broke is unscorable without any term being asked; [`score_episode`] leaves it
    /// without a score.
    pub fn score(&self, episode: &Episode, context: &ScoreContext) -> Score {
        self.evaluate(episode, context).0
    }

    /// The score as a tree: the reward on the first line, then every part with its value, and the evidence of each term.
    pub fn explain(&self, episode: &Episode, context: &ScoreContext) -> String {
        let (score, trace) = self.evaluate(episode, context);
        let mut text = match &score.reward {
            Reward::Value { value } => format!("reward = {value}\n"),
            Reward::Unscorable { why } => format!("reward: unscorable ({why})\n"),
            Reward::GraderFailed { why } => format!("reward: grader failed ({why})\n"),
        };
        if let Some(trace) = trace {
            trace.render(1, &mut text);
        }
        if let Some(solved) = score.solved {
            text.push_str(if solved { "solved: yes\n" } else { "solved: no\n" });
        }
        text
    }

    fn evaluate(&self, episode: &Episode, context: &ScoreContext) -> (Score, Option<Trace>) {
        if let End::Failed { fault } = &episode.end {
            let why = format!("the episode broke: {}", fault.message);
            let reward = Reward::Unscorable { why };
            return (Score { terms: Vec::new(), reward, turn_rewards: Vec::new(), solved: None }, None);
        }
        let scores: Vec<TermScore> =
            self.terms.iter().map(|t| term::run(&t.settings, t.term.as_ref(), episode)).collect();
        let settings = self.terms.iter().map(|t| &t.settings).collect();
        let facts = Facts { settings, scores: &scores, step: context.step };
        let trace = self.expression.evaluate(&facts);
        let reward = reward(&scores, &trace);
        let solved = self.solved(&scores);
        let turn_rewards = match reward {
            Reward::Value { .. } => self.turn_rewards(&scores, episode.turns.len()),
            Reward::Unscorable { .. } | Reward::GraderFailed { .. } => Vec::new(),
        };
        (Score { terms: scores, reward, turn_rewards, solved }, Some(trace))
    }

    /// The part of the reward that is earned turn by turn: each summed term with turn values pays its weighted value to the
    /// turns in proportion to what it found there. What no turn earned is paid at the end, by the credit rule.
    fn turn_rewards(&self, scores: &[TermScore], turns: usize) -> Vec<f64> {
        let mut rewards = vec![0.0; turns];
        let mut paid = false;
        for score in scores.iter().filter(|score| self.paid_by_turn.contains(&score.name)) {
            let found: f64 = score.turns.iter().flatten().sum();
            let Some(value) = score.outcome.value().filter(|_| found != 0.0 && score.turns.len() == turns)
            else {
                continue;
            };
            paid = true;
            for (reward, here) in rewards.iter_mut().zip(&score.turns) {
                *reward += score.weight * value * here.unwrap_or(0.0) / found;
            }
        }
        if paid { rewards } else { Vec::new() }
    }

    /// What cannot be parsed has not solved the task; where the term is silent or broken, nobody knows.
    fn solved(&self, scores: &[TermScore]) -> Option<bool> {
        let (term, at_least) = self.solved?;
        match scores[term].outcome {
            TermOutcome::Value { value } => Some(value >= at_least),
            TermOutcome::ParseFailure { .. } => Some(false),
            TermOutcome::NotApplicable { .. } | TermOutcome::GraderFailed { .. } => None,
        }
    }
}

fn reward(scores: &[TermScore], trace: &Trace) -> Reward {
    let broken = scores.iter().find_map(|score| match &score.outcome {
        TermOutcome::GraderFailed { why } => Some(format!("term `{}`: {why}", score.name)),
        _ => None,
    });
    match (broken, &trace.worth) {
        (Some(why), _) => Reward::GraderFailed { why },
        (None, Worth::Broken(why)) => Reward::GraderFailed { why: why.clone() },
        (None, Worth::Unscorable(why)) => Reward::Unscorable { why: why.clone() },
        (None, Worth::NotApplicable(why)) => Reward::Unscorable { why: format!("nothing applies: {why}") },
        (None, Worth::Number(value)) => Reward::Value { value: *value },
    }
}

/// The names of the terms whose weighted values are added up, unconditionally, to the whole reward.
fn summed_terms(config: &RewardConfig) -> Vec<String> {
    match config {
        RewardConfig::Sum(sum) => sum.of.iter().filter_map(RewardConfig::term_name).collect(),
        RewardConfig::SolvedBy(solved) => summed_terms(&solved.of),
        _ => Vec::new(),
    }
}

fn first_exact_answer(config: &RewardConfig) -> Option<String> {
    match (config, config.part()) {
        (RewardConfig::ExactAnswer(exact), _) => {
            Some(exact.name.clone().unwrap_or_else(|| EXACT_ANSWER.about.name.to_owned()))
        }
        (_, crate::config::Part::Combinator(combinator)) => {
            combinator.children().into_iter().find_map(first_exact_answer)
        }
        _ => None,
    }
}

/// The scored episode. One that broke is never scored: nobody may lay another's failure at the policy's door.
pub fn score_episode(scorer: &Scorer, episode: Arc<Episode>, context: &ScoreContext) -> ScoredEpisode {
    let broke = matches!(episode.end, End::Failed { .. });
    let score = (!broke).then(|| scorer.score(&episode, context));
    ScoredEpisode { episode, score }
}

/// The scored episodes, in the order given.
pub fn score_batch(scorer: &Scorer, episodes: &[Arc<Episode>], context: &ScoreContext) -> Vec<ScoredEpisode> {
    episodes.iter().map(|episode| score_episode(scorer, Arc::clone(episode), context)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Finding, ParseFailurePath, Settings, Term};
    use merit_core::*;

    /// A term that goes wrong in the way it is told.
    enum Bad {
        Panics,
        NotANumber,
        TooManyTurns,
        WildTurn,
    }

    impl Term for Bad {
        fn look(&self, _: &Episode) -> Finding {
            let finding = |value| Finding::value(value, Evidence::new("counted", "badly"));
            match self {
                Self::Panics => panic!("out of cheese"),
                Self::NotANumber => finding(f64::NAN),
                Self::TooManyTurns => finding(1.0).with_turns(vec![Some(1.0); 9]),
                Self::WildTurn => finding(1.0).with_turns(vec![Some(f64::INFINITY)]),
            }
        }
    }

    fn episode() -> Episode {
        let task = Task {
            id: "t".into(),
            world: "w".into(),
            version: 1,
            split: Split::Train,
            size: 1,
            payload: serde_json::Value::Null,
            answer: Some("1".into()),
        };
        Episode {
            id: EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 },
            task: Arc::new(task),
            policy_version: PolicyVersion(0),
            setting: Setting::default(),
            transcript: Transcript::default(),
            turns: vec![Turn {
                index: 0,
                action: Action::Answer { text: "1".into() },
                calls: Vec::new(),
                stop: TurnStop::EndToken,
            }],
            end: End::Answered,
            cost: Cost::default(),
            bootstrap: None,
        }
    }

    /// A gate that never looks at its second term, which is bad.
    fn scorer_hiding(bad: Bad) -> Scorer {
        let config = RewardConfig::Gate(crate::GateConfig {
            when: crate::Condition::Term("exact-answer".into()),
            at_least: 2.0,
            then: Box::new(RewardConfig::Format(crate::FormatConfig::default())),
            otherwise: Some(Box::new(RewardConfig::ExactAnswer(crate::ExactAnswerConfig::default()))),
        });
        let mut scorer = Scorer::compile(&config).unwrap();
        let settings =
            Settings { name: "bad".into(), weight: 1.0, on_parse_failure: ParseFailurePath::default() };
        scorer.terms[0] = CompiledTerm { settings, term: Box::new(bad) };
        scorer
    }

    #[test]
    fn a_term_that_goes_wrong_is_a_broken_grader_even_in_a_branch_not_taken() {
        let cases = [
            (Bad::Panics, "term `bad`: it panicked: out of cheese"),
            (Bad::NotANumber, "term `bad`: it came to NaN"),
            (Bad::TooManyTurns, "term `bad`: it gave 9 values for 1 turns"),
            (Bad::WildTurn, "term `bad`: a turn's value is not finite"),
        ];
        for (bad, want) in cases {
            let scorer = scorer_hiding(bad);
            let scored = score_episode(&scorer, Arc::new(episode()), &ScoreContext::default());
            let score = scored.score.clone().unwrap();
            assert_eq!(score.reward, Reward::GraderFailed { why: want.to_owned() });
            assert_eq!(scored.outcome(), Outcome::GraderFailed);
            assert_eq!(score.terms[1].outcome, TermOutcome::Value { value: 1.0 });
            assert_eq!(crate::conformance::check_reward(&scorer, &[episode()]), Vec::<String>::new());
        }
    }
}
