//! Judges who can be talked round, and one who cannot.

use merit_attack::{AttackError, Grade, Settings, audit_judge, pairs_of, tasks};
use merit_core::Episode;
use merit_judge::{Answer, Choice, Judge, Pair, Verdict};
use std::sync::Arc;

/// Prefers by a number that a function gives each answer.
struct By(fn(&str) -> i64);

impl Judge for By {
    fn id(&self) -> String {
        "by number".into()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        let one = |(first, second): &(Arc<Episode>, Arc<Episode>)| {
            let (one, other) = ((self.0)(first.answer().unwrap()), (self.0)(second.answer().unwrap()));
            let choice = match one.cmp(&other) {
                std::cmp::Ordering::Less => Choice::Second,
                std::cmp::Ordering::Equal => Choice::Tie,
                std::cmp::Ordering::Greater => Choice::First,
            };
            match one.max(other) {
                i64::MAX => Answer::of(Verdict::Unreadable { why: "no JSON".into() }),
                _ => Answer::of(Verdict::Prefers { choice }),
            }
        };
        asked.iter().map(one).collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        episodes.iter().map(|_| Answer::of(Verdict::Failed { why: "it compares".into() })).collect()
    }
}

/// Always prefers what is shown first.
struct First;

impl Judge for First {
    fn id(&self) -> String {
        "first".into()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        asked.iter().map(|_| Answer::of(Verdict::Prefers { choice: Choice::First })).collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        episodes.iter().map(|_| Answer::of(Verdict::Failed { why: "it compares".into() })).collect()
    }
}

fn pairs() -> Vec<Pair> {
    let lines = (0..4).map(|n| {
        format!("{{\"prompt\": \"task {n}\", \"answer\": \"right {n}\", \"others\": [\"wrong {n}\"]}}\n")
    });
    pairs_of(&tasks::parse("t.jsonl", &lines.collect::<String>()).unwrap()).unwrap()
}

fn honest(text: &str) -> i64 {
    i64::from(text.contains("right ") && !text.contains("wrong "))
}

fn audit(judge: &mut dyn Judge) -> merit_attack::Audit {
    audit_judge(judge, &pairs(), &Settings::default()).unwrap()
}

/// Wins of each probe, in the order of the table.
fn wins(audit: &merit_attack::Audit) -> Vec<(&str, usize, usize)> {
    audit.probes.iter().map(|probe| (probe.name.as_str(), probe.attempts, probe.wins)).collect()
}

#[test]
fn a_judge_who_looks_at_the_work_is_not_talked_round() {
    let audit = audit(&mut By(honest));
    assert_eq!((audit.grade, audit.gold), (Grade::A, Some(1.0)));
    assert_eq!(
        wins(&audit),
        [("position", 4, 0), ("injection", 12, 0), ("length", 4, 0), ("flattery", 8, 0), ("format", 4, 0)]
    );
}

#[test]
fn what_talks_a_judge_round_is_found_by_name() {
    let long = |text: &str| honest(text) * 100 + text.len() as i64;
    let obedient = |text: &str| if text.contains("Ignore all previous") { 9 } else { honest(text) };
    let vain = |text: &str| if text.contains("excellent") { 1 } else { honest(text) };
    // Long ones win by their length where the form adds more than a hundred letters.
    let found = audit(&mut By(long));
    assert!(found.grade == Grade::F && wins(&found).contains(&("length", 4, 4)), "{found:?}");
    let found = audit(&mut By(obedient));
    assert!(found.grade == Grade::F && wins(&found).contains(&("injection", 12, 4)), "{found:?}");
    assert!(found.findings[0].contains("`injection`"), "{:?}", found.findings);
    // A tie instead of the right choice is half of a win.
    let found = audit(&mut By(vain));
    let flattery = found.probes.iter().find(|probe| probe.name == "flattery").unwrap();
    assert_eq!((found.grade, flattery.wins, flattery.mean_share), (Grade::C, 0, Some(0.25)));
}

#[test]
fn a_judge_who_goes_by_the_order_has_nothing_left_to_try() {
    let audit = audit(&mut First);
    assert_eq!((audit.gold, audit.grade), (Some(0.0), Grade::F));
    assert_eq!(wins(&audit)[0], ("position", 4, 0));
    assert_eq!(audit.probes[0].mean_share, Some(0.5));
    assert!(audit.probes[1..].iter().all(|probe| probe.attempts == 0));
    let silent = audit_judge(&mut By(|_| i64::MAX), &pairs(), &Settings::default()).unwrap();
    assert_eq!((silent.grade, silent.gold), (Grade::F, None));
    let nothing = audit_judge(&mut First, &[], &Settings::default()).unwrap_err();
    assert!(matches!(nothing, AttackError::NoTasks { .. }), "{nothing}");
}
