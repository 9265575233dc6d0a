//! An order out of comparisons.

use crate::asking::answer;
use merit_core::Episode;
use merit_judge::{Answer, Choice, Judge, Tournament, Verdict, tournament};
use std::sync::Arc;

/// Prefers the larger number; `first` whatever it is where they are within `blind` of each other. Counts its questions.
struct Larger {
    blind: i64,
    asked: usize,
}

fn number(episode: &Episode) -> i64 {
    episode.answer().unwrap().parse().unwrap()
}

impl Judge for Larger {
    fn id(&self) -> String {
        "larger".into()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        self.asked += asked.len();
        let one = |(first, second): &(Arc<Episode>, Arc<Episode>)| {
            let by = number(first) - number(second);
            let choice = if by.abs() <= self.blind || by > 0 { Choice::First } else { Choice::Second };
            match number(first).min(number(second)) {
                0 => Answer::of(Verdict::Refused { why: "a zero".into() }),
                _ => Answer::of(Verdict::Prefers { choice }),
            }
        };
        asked.iter().map(one).collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        episodes.iter().map(|_| Answer::of(Verdict::Failed { why: "it compares".into() })).collect()
    }
}

fn group(numbers: &[i64]) -> Vec<Arc<Episode>> {
    numbers.iter().map(|number| answer(&number.to_string())).collect()
}

#[test]
fn everybody_meets_everybody_in_both_orders() {
    let mut judge = Larger { blind: 0, asked: 0 };
    let said = tournament(&mut judge, &group(&[3, 9, 1, 7]), Tournament::RoundRobin);
    assert_eq!((said.verdict, judge.asked), (Verdict::Ranks { order: vec![1, 3, 0, 2] }, 12));
}

#[test]
fn a_choice_that_hangs_on_the_order_is_a_tie_and_ties_stay_as_shown() {
    let mut judge = Larger { blind: 1, asked: 0 };
    // 5 and 6 tie, both beat 2: points 1.5, 1.5, 0.
    let said = tournament(&mut judge, &group(&[5, 6, 2]), Tournament::RoundRobin);
    assert_eq!(said.verdict, Verdict::Ranks { order: vec![0, 1, 2] });
}

#[test]
fn a_knockout_asks_less_and_finds_the_best() {
    let mut judge = Larger { blind: 0, asked: 0 };
    // Rounds: 3-9, 1-7 and 5 goes on; 9-7 and 5 goes on; 9-5. Out in this order: 1 and 3, 7, 5.
    let said = tournament(&mut judge, &group(&[3, 9, 1, 7, 5]), Tournament::Knockout);
    assert_eq!(said.verdict, Verdict::Ranks { order: vec![1, 4, 3, 0, 2] });
    assert_eq!(judge.asked, 8);
}

#[test]
fn where_a_meeting_has_no_verdict_there_is_no_order() {
    let mut judge = Larger { blind: 0, asked: 0 };
    let said = tournament(&mut judge, &group(&[3, 0, 1]), Tournament::RoundRobin);
    let why = "the meeting of candidates 1 and 2 has no verdict".to_owned();
    assert_eq!(said.verdict, Verdict::Failed { why });
}
