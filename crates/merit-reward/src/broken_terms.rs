//! Terms that go wrong: whatever they do is a broken grader, recorded and never hidden.

use crate::compile::CompiledTerm;
use crate::range::Range;
use crate::term::{EvalContext, ParseFailurePath, Term, TermKind, TermResult};
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
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, _: &EvalContext<'_>) -> TermResult {
        let result = |value| TermResult::value(value, Evidence::new("counted", "badly"));
        match self {
            Self::Panics => panic!("out of cheese"),
            Self::NotANumber => result(f64::NAN),
            Self::TooManyTurns => result(1.0).with_turns(vec![Some(1.0); 9]),
            Self::WildTurn => result(1.0).with_turns(vec![Some(f64::INFINITY)]),
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
    let config = RewardConfig::from_toml(
        "type = 'gate'\nwhen = 'exact-answer'\nat_least = 2\nthen = { type = 'format' }\notherwise = { type = 'exact-answer' }",
    );
    let mut scorer = Scorer::compile(&config.expect("the gate is read")).expect("the gate is sound");
    scorer.terms[0] = CompiledTerm {
        name: "bad".into(),
        weight: 1.0,
        on_parse_failure: ParseFailurePath::default(),
        errors: None,
        range: Range::UNIT,
        term: Arc::new(bad),
    };
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
