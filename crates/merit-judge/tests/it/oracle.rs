//! A judge that knows what is right, and is wrong as often as it is told to be.

use crate::asking::answer;
use merit_core::{Episode, Seed};
use merit_evolve::Library;
use merit_judge::ask::{Ask, Examples, Wording};
use merit_judge::{AskedJudge, Asking, Choice, Judge, Kept, Label, Oracle, Pair, Verdict, test};
use merit_reward::{RewardConfig, Scorer};
use std::sync::Arc;

fn oracle(ask: Ask, errors: f64) -> AskedJudge {
    let exact = RewardConfig::from_toml("type = 'exact-answer'").unwrap();
    let truth = Scorer::opened(&exact).unwrap();
    let asker = Oracle { id: "oracle".into(), truth, ask: ask.clone(), errors, seed: Seed::root(1) };
    let wording = Wording {
        ask,
        rubric: String::new(),
        library: Library::default(),
        length: 1000,
        examples: Examples::default(),
    };
    AskedJudge::new(Box::new(asker), wording, Asking::default(), Kept::in_memory())
}

/// An answer to a task whose right answer is `right`.
fn given(text: &str, right: &str) -> Arc<Episode> {
    let mut episode = Episode::clone(&answer(text));
    episode.task = Arc::new((*episode.task).clone().with_answer(right));
    Arc::new(episode)
}

#[test]
fn it_grades_compares_and_ranks_by_the_right_answer() {
    let (good, bad, other) = (given("4", "4"), given("5", "4"), given("6", "4"));
    let value = |errors: f64, episode: &Arc<Episode>| {
        oracle(Ask::Score { scale: 10 }, errors).score(&[Arc::clone(episode)]).remove(0).verdict.value()
    };
    assert_eq!((value(0.0, &good), value(0.0, &bad)), (Some(1.0), Some(0.0)));
    // Turned round, each grade is at the other end.
    assert_eq!((value(1.0, &good), value(1.0, &bad)), (Some(0.0), Some(1.0)));
    let choice = |errors: f64, one: &Arc<Episode>, other: &Arc<Episode>| {
        let asked = [(Arc::clone(one), Arc::clone(other))];
        oracle(Ask::Compare {}, errors).compare(&asked).remove(0).verdict.choice()
    };
    assert_eq!(choice(0.0, &bad, &good), Some(Choice::Second));
    assert_eq!(choice(0.0, &bad, &other), Some(Choice::Tie));
    assert_eq!(choice(1.0, &bad, &good), Some(Choice::First));
    let ranked = oracle(Ask::Rank {}, 0.0).rank(&[bad, good, other]).verdict;
    assert_eq!(ranked, Verdict::Ranks { order: vec![1, 0, 2] });
}

#[test]
fn errors_are_as_many_as_were_asked_for_and_the_same_each_time() {
    let pair = |n: u32| {
        let (a, b) =
            (given(&format!("{n}"), &format!("{n}")), given(&format!("{}", n + 1000), &format!("{n}")));
        Pair { id: format!("{n}"), group: format!("{n}"), a, b, label: Label::A }
    };
    let pairs: Vec<Pair> = (0..400).map(pair).collect();
    // Each order is turned round by itself with the chance e: right (1 - e)^2, a tie 2 e (1 - e), which is half right: 1 - e in all.
    let tested = test(&mut oracle(Ask::Compare {}, 0.25), &pairs, &[], 1);
    let right = tested.judge.accuracy.unwrap();
    assert!((right - 0.75).abs() < 0.05, "{right}");
    assert_eq!(test(&mut oracle(Ask::Compare {}, 0.25), &pairs, &[], 1).judge, tested.judge);
    let tested = test(&mut oracle(Ask::Compare {}, 0.0), &pairs, &[], 1);
    assert_eq!((tested.judge.accuracy, tested.flips, tested.cost.judge_calls), (Some(1.0), Some(0.0), 800));
}

#[test]
fn where_no_truth_is_there_is_no_answer_and_never_a_number() {
    let said = oracle(Ask::Score { scale: 10 }, 0.0).score(&[answer("4")]).remove(0);
    let Verdict::Failed { why } = said.verdict else { panic!("{said:?}") };
    assert!(why.contains("task `quiz/1`") && why.contains("give tasks an `answer`"), "{why}");
}
