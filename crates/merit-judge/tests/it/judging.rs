//! Testing judges: both orders, rows that know nothing, and answers that are none.

use crate::made::long_is_good;
use merit_core::Episode;
use merit_judge::{Answer, Choice, Judge, Pair, Verdict, pointwise, test};
use std::sync::Arc;

/// Always takes what is shown first.
pub(crate) struct First;

impl Judge for First {
    fn id(&self) -> String {
        "first".to_owned()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        asked.iter().map(|_| Answer::of(Verdict::Prefers { choice: Choice::First })).collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        episodes.iter().map(|_| Answer::of(Verdict::Score { value: 0.5 })).collect()
    }
}

/// Knows the length, refuses every third question, and is gone for every fifth.
pub(crate) struct Moody(pub(crate) usize);

impl Judge for Moody {
    fn id(&self) -> String {
        "moody".to_owned()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        let length = |episode: &Episode| episode.answer().map_or(0, str::len);
        asked
            .iter()
            .map(|(first, second)| {
                self.0 += 1;
                Answer::of(match self.0 {
                    n if n % 5 == 0 => Verdict::Failed { why: "503".into() },
                    n if n % 3 == 0 => Verdict::Refused { why: "no".into() },
                    _ if length(first) > length(second) => Verdict::Prefers { choice: Choice::First },
                    _ => Verdict::Prefers { choice: Choice::Second },
                })
            })
            .collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        let length = |episode: &Arc<Episode>| episode.answer().map_or(0, str::len) as f64;
        episodes.iter().map(|episode| Answer::of(Verdict::Score { value: length(episode) })).collect()
    }
}

pub(crate) fn pairs(count: u64) -> Vec<Pair> {
    let at = tempfile::tempdir().unwrap();
    long_is_good(count, &at.path().join("pairs.jsonl"))
}

#[test]
fn a_judge_that_looks_at_the_place_alone_is_half_right_and_found_out() {
    let tested = test(&mut First, &pairs(40), &[], 1);
    // In both orders it contradicts itself, which is a tie.
    assert_eq!((tested.judge.accuracy, tested.judge.ties), (Some(0.5), 1.0));
    assert_eq!((tested.flips, tested.position_bias), (Some(1.0), Some(0.5)));
}

#[test]
fn length_alone_is_a_row_of_its_own() {
    let tested = test(&mut First, &pairs(40), &[], 1);
    let length = tested.leaks.iter().find(|row| row.name == "length only").unwrap();
    assert_eq!(length.accuracy, Some(1.0));
}

#[test]
fn a_refusal_is_wrong_and_a_failure_is_left_out() {
    let pairs = pairs(15);
    let tested = test(&mut Moody(0), &pairs, &[], 1);
    // Questions 1 to 15 are straight, 16 to 30 swapped: a pair n is out where n or n + 15 is a multiple of 5, which are 5, 10, 15.
    let out = tested.judge.right.iter().filter(|right| right.is_none()).count();
    assert_eq!(out, 3);
    // Of the other twelve those with n or n + 15 a multiple of 3 are refused: 3, 6, 9, 12. Eight of twelve are right.
    assert_eq!(tested.judge.accuracy, Some(8.0 / 12.0));
    assert_eq!((tested.unsaid["failed"], tested.unsaid["refused"]), (6, 8));
}

#[test]
fn asking_again_shows_drift() {
    let pairs = pairs(10);
    assert_eq!(test(&mut First, &pairs, &[], 3).drift, Some(0.0));
    assert!(test(&mut Moody(0), &pairs, &[], 2).drift.unwrap() > 0.0);
    assert_eq!(test(&mut First, &pairs, &[], 1).drift, None);
}

#[test]
fn single_answers_have_false_positives_and_negatives() {
    let pairs = pairs(30);
    let single = pointwise(&mut Moody(0), &pairs, Some(0.0));
    assert_eq!((single.false_positives, single.false_negatives, single.candidates), (1.0, 0.0, 60));
    let single = pointwise(&mut Moody(0), &pairs, None);
    assert!(single.false_positives < 0.5 && single.false_negatives < 0.5, "{single:?}");
}
