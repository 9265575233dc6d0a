//! A rule that reads what somebody said of turns, against numbers worked out by hand, and what it makes of silence.

use merit_core::{Annotation, Annotations, Cost, Group, Outcome, Sample};
use merit_credit::conformance::Sketch;
use merit_credit::rules::{Grpo, TwoLevel};
use merit_credit::{AnnotationNeed, Credit, CreditBatch, CreditError, CreditRule};

fn graded() -> TwoLevel {
    TwoLevel { annotation: Some("progress".to_owned()), ..TwoLevel::default() }
}

/// Four members of two turns, of rewards 1, 0, 0 and 1.
fn group() -> Group {
    let member = |reward: f64| Sketch::new(&[(2, 1), (3, 0)], Outcome::PolicyWrong, reward);
    Sketch::group(&[1.0, 0.0, 0.0, 1.0].map(member), 0).unwrap()
}

fn annotation(name: &str, turns: &[Option<f64>]) -> Annotation {
    Annotation {
        name: name.to_owned(),
        value: 0.0,
        turns: turns.to_vec(),
        evidence: Vec::new(),
        by: "a judge".to_owned(),
        version: "1".to_owned(),
        cost: Cost::default(),
    }
}

/// What was said of each member of the group.
fn said(group: &Group, said: impl Fn(usize) -> Vec<Annotation>) -> Annotations {
    let one = |(at, scored): (usize, &merit_core::ScoredEpisode)| (scored.episode.id.clone(), said(at));
    group.members().iter().enumerate().map(one).collect()
}

fn assign(rule: &dyn CreditRule, said: impl Fn(usize) -> Vec<Annotation>) -> Result<Credit, CreditError> {
    let groups = [group()];
    let annotations = self::said(&groups[0], said);
    rule.assign(&CreditBatch::new(&groups).with_annotations(&annotations))
}

fn by_turn(credit: &Credit) -> Vec<Vec<f64>> {
    let turns = |sample: &Sample| {
        let advantages = sample.advantages.clone().unwrap();
        sample.turns.iter().map(|range| f64::from(advantages[range.start])).collect()
    };
    credit.samples.iter().map(turns).collect()
}

fn near(got: &[Vec<f64>], want: &[[f64; 2]; 4]) {
    let pairs = got.iter().flatten().zip(want.iter().flatten());
    assert!(pairs.into_iter().all(|(got, want)| (got - want).abs() < 1e-5), "{got:?}, not {want:?}");
}

#[test]
fn grades_of_turns_are_normalised_apart_from_the_outcome() {
    // Outcomes 1, 0, 0, 1: mean 1/2, std sqrt(1/3) = 0.577350. Grades of the eight turns: 1/2, 0 | 0, 0 | 1/2, 0 | 0, 0: mean 1/8, squares
    // 2 · 0.140625 + 6 · 0.015625 = 0.375, std sqrt(0.375 / 7) = 0.231455. The whole reward is the outcome: grades are no part of it.
    let grades = [[0.5, 0.0], [0.0, 0.0], [0.5, 0.0], [0.0, 0.0]];
    let credit = assign(&graded(), |at| {
        vec![annotation("other", &[None, None]), annotation("progress", &grades[at].map(Some))]
    });
    let (outcome, high, low) = (0.5 / 0.577351, 0.5 * 0.375 / 0.231456, 0.5 * -0.125 / 0.231456);
    let want = [
        [outcome + high, outcome + low],
        [-outcome + low, -outcome + low],
        [-outcome + high, -outcome + low],
        [outcome + low, outcome + low],
    ];
    let credit = credit.unwrap();
    near(&by_turn(&credit), &want);
    assert_eq!(credit.numbers, [("turns_annotated", 1.0)]);
    let text = credit.explain(0).unwrap();
    assert!(text.contains("turn 0: `progress` says 0.5, 8 turns: mean 0.125"), "{text}");
}

#[test]
fn a_turn_of_which_nothing_was_said_is_in_no_mean_and_gets_the_outcome_alone() {
    // Said of the first member: 1, nothing; of the second: 0, 1; of the third nothing at all; of the last an annotation without turns.
    // Three grades: mean 2/3, squares 1/9 + 4/9 + 1/9 = 2/3, std sqrt(1/3) = 0.577350.
    let credit = assign(&graded(), |at| match at {
        0 => vec![annotation("progress", &[Some(1.0), None])],
        1 => vec![annotation("progress", &[Some(0.0), Some(1.0)])],
        2 => Vec::new(),
        _ => vec![annotation("progress", &[])],
    });
    let (outcome, third) = (0.5 / 0.577351, 0.5 * (1.0 / 3.0) / 0.577351);
    let want = [
        [outcome + third, outcome],
        [-outcome - 2.0 * third, -outcome + third],
        [-outcome, -outcome],
        [outcome, outcome],
    ];
    let credit = credit.unwrap();
    near(&by_turn(&credit), &want);
    assert_eq!(credit.numbers, [("turns_annotated", 3.0 / 8.0)]);
    let text = credit.explain(2).unwrap();
    assert!(text.contains("turn 1: `progress` says nothing of it"), "{text}");
}

#[test]
fn what_a_rule_needs_it_says_and_what_nobody_was_asked_for_is_refused() {
    let need = AnnotationNeed { name: "progress".to_owned(), per_turn: true };
    assert_eq!(graded().needs().annotations, [need]);
    assert_eq!(TwoLevel::default().needs().annotations, []);
    let groups = [group()];
    let nobody = graded().assign(&CreditBatch::new(&groups)).unwrap_err().to_string();
    assert!(nobody.contains("`two-level` reads the annotation `progress`, but nobody was asked"), "{nobody}");
    // Others read none and ask for none.
    assert!(Grpo::default().assign(&CreditBatch::new(&groups)).is_ok());
}

#[test]
fn grades_that_do_not_fit_the_turns_are_refused() {
    let one = assign(&graded(), |_| vec![annotation("progress", &[Some(1.0)])]).unwrap_err();
    assert!(matches!(one, CreditError::AnnotatedTurns { got: 1, want: 2, .. }), "{one}");
    let wild = assign(&graded(), |_| vec![annotation("progress", &[Some(1.0), Some(f64::NAN)])]);
    let wild = wild.unwrap_err();
    assert!(matches!(wild, CreditError::NotFinite { what: "annotation of a turn", .. }), "{wild}");
}
