//! Terms that go wrong: whatever they do is a broken grader, recorded and never hidden.

use crate::compile::CompiledTerm;
use crate::range::Range;
use crate::term::{Finding, ParseFailurePath, Settings, Term, View};
use crate::{RewardConfig, RewardState, ScoreContext, Scorer};
use merit_core::*;
use std::sync::Arc;

/// A term that goes wrong in the way it is told.
enum Bad {
    Panics,
    NotANumber,
    TooManyTurns,
    WildTurn,
}

impl Term for Bad {
    fn look(&self, _: &View<'_>) -> Finding {
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
    let task = Task::new("w", "t").with_answer("1");
    let answer = Action::Answer { text: "1".into() };
    Episode::new(
        EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 },
        task,
        End::Answered,
    )
    .with_turns(vec![Turn::new(0, answer)])
}

/// A gate that never looks at its first term, which is bad.
fn scorer_hiding(bad: Bad) -> Scorer {
    let config = RewardConfig::Gate(crate::GateConfig {
        when: crate::Condition::Term("exact-answer".into()),
        at_least: 2.0,
        then: Box::new(RewardConfig::Format(crate::FormatConfig::default())),
        otherwise: Some(Box::new(RewardConfig::ExactAnswer(crate::ExactAnswerConfig::default()))),
    });
    let mut scorer = Scorer::compile(&config).expect("the gate is sound");
    let settings = Settings {
        name: "bad".into(),
        weight: 1.0,
        on_parse_failure: ParseFailurePath::default(),
        errors: None,
    };
    scorer.terms[0] = CompiledTerm { settings, range: Range::UNIT, term: Box::new(bad) };
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
        let batch = [Arc::new(episode())];
        let scored = scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default()).episodes;
        let score = scored[0].score.clone().expect("the episode did not break");
        assert_eq!(score.reward, Reward::GraderFailed { why: want.to_owned() });
        assert_eq!(scored[0].outcome(), Outcome::GraderFailed);
        assert_eq!(score.terms[1].outcome, TermOutcome::Value { value: 1.0 });
        assert_eq!(crate::conformance::check_reward(&scorer, &[episode()]), Vec::<String>::new());
    }
}
