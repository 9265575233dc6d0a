//! Terms that go wrong: whatever they do is a broken grader, recorded and never hidden.

use merit_core::{EpisodeId, Outcome, Reward, Task, Turn};
use merit_reward::prelude::*;

/// A term that goes wrong in the way it is told.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bad {
    how: How,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum How {
    Panics,
    NotANumber,
    TooManyTurns,
    WildTurn,
}

impl Component for Bad {
    const ABOUT: About = About { name: "bad", summary: "Goes wrong.", paper: "" };
    const EXAMPLE: &'static str = "how = 'panics'";
}

impl Term for Bad {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, _: &EvalContext<'_>) -> TermResult {
        let result = |value| TermResult::value(value, Evidence::new("counted", "badly"));
        match self.how {
            How::Panics => panic!("out of cheese"),
            How::NotANumber => result(f64::NAN),
            How::TooManyTurns => result(1.0).with_turns(vec![Some(1.0); 9]),
            How::WildTurn => result(1.0).with_turns(vec![Some(f64::INFINITY)]),
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

/// A gate that never takes the branch of its first term, which is bad.
fn scorer_hiding(how: &str) -> Scorer {
    let own = merit_reward::register(Components::default()).with(entry!(Bad as dyn Term));
    let text = format!(
        "type = 'gate'\nwhen = 'exact-answer'\nat_least = 2\nthen = {{ type = 'bad', how = '{how}' }}\n\
         otherwise = {{ type = 'exact-answer' }}"
    );
    Scorer::compile(&own.reading(|| RewardConfig::from_toml(&text)).unwrap()).unwrap()
}

#[test]
fn a_term_that_goes_wrong_is_a_broken_grader_even_in_a_branch_not_taken() {
    let cases = [
        ("panics", "term `bad`: it panicked: out of cheese"),
        ("not-a-number", "term `bad`: it came to NaN"),
        ("too-many-turns", "term `bad`: it gave 9 values for 1 turns"),
        ("wild-turn", "term `bad`: a turn's value is not finite"),
    ];
    for (how, want) in cases {
        let scorer = scorer_hiding(how);
        let batch = [Arc::new(episode())];
        let scored = scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default()).episodes;
        let score = scored[0].score.clone().unwrap();
        assert_eq!(score.reward, Reward::GraderFailed { why: want.to_owned() });
        assert_eq!(scored[0].outcome(), Outcome::GraderFailed);
        assert_eq!(score.terms[1].outcome, TermOutcome::Value { value: 1.0 });
        assert_eq!(merit_reward::conformance::check_reward(&scorer, &[episode()]), Vec::<String>::new());
    }
}
