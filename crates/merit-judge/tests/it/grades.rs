//! Grades of people: how far a judge agrees with them, and examples of them that it is shown.

use crate::asking::answer;
use crate::judging::Moody;
use merit_core::Seed;
use merit_evolve::Library;
use merit_judge::ask::{Ask, Examples, Wording};
use merit_judge::{Parted, SplitShares, agreement, read_graded, read_pairs};
use std::path::{Path, PathBuf};

fn file(folder: &Path, lines: &[String]) -> PathBuf {
    let path = folder.join("rated.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn rated(prompt: &str, response: &str, rating: f64) -> String {
    serde_json::json!({ "prompt": prompt, "response": response, "rating": rating }).to_string()
}

#[test]
fn a_judge_that_knows_the_length_agrees_with_grades_as_far_as_they_follow_it() {
    let folder = tempfile::tempdir().unwrap();
    // Lengths 1, 2, 3, 4 with grades 1, 1, 5, 3: the ranks of the lengths are 1, 2, 3, 4, those of the grades 1.5, 1.5, 4, 3.
    let lines =
        [("a", 1.0), ("bb", 1.0), ("ccc", 5.0), ("dddd", 3.0)].map(|(text, grade)| rated("p", text, grade));
    let graded = read_graded(&file(folder.path(), &lines)).unwrap();
    let found = agreement(&mut Moody(0), &graded);
    assert_eq!((found.answers, found.scored), (4, 4));
    assert!((found.spearman.unwrap() - 3.5 / 22.5_f64.sqrt()).abs() < 1e-12, "{found:?}");
    assert!((found.kendall.unwrap() - 3.0 / 30_f64.sqrt()).abs() < 1e-12, "{found:?}");
    // Lengths are not from 0 to 1: they stand on no scale that the grades could be laid on.
    assert_eq!(found.weighted_kappa, None);
}

#[test]
fn examples_are_of_the_training_part_and_never_of_the_task_that_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let pair = |n: u32| {
        format!("{{\"prompt\": \"question {n}\", \"chosen\": \"good {n}\", \"rejected\": \"bad {n}\"}}")
    };
    let path = file(folder.path(), &(0..40).map(pair).collect::<Vec<_>>());
    let pairs = read_pairs(&path).unwrap();
    let parted = Parted::of(&pairs, SplitShares::default());
    let seed = Seed::root(3);
    let ask = Ask::Compare {};
    let examples = Examples::draw(&ask, (&parted.train, &[]), (3, 1000), &seed).unwrap();
    let wording = Wording { ask, rubric: String::new(), library: Library::default(), length: 1000, examples };
    let all = parted.train.iter().chain(&parted.validation).chain(&parted.test);
    for pair in all {
        let question = wording.question(&[&*pair.a, &*pair.b]).user;
        assert_eq!(question.matches("right verdict: {\"better\":").count(), 3, "{question}");
        // The task itself stands there once, as what is asked about.
        let own = pair.a.transcript.segments()[0].text.clone();
        assert_eq!(question.matches(&format!("{own}\n")).count(), 1, "{question}");
        for hidden in parted.validation.iter().chain(&parted.test).filter(|other| other.id != pair.id) {
            let text = &hidden.a.transcript.segments()[0].text;
            assert!(!question.contains(&format!("{text}\n")), "{text} is of no training part");
        }
    }
    let again = Examples::draw(&Ask::Compare {}, (&parted.train, &[]), (3, 1000), &seed).unwrap();
    assert_eq!(again, wording.examples);
    let no_grades = Examples::draw(&Ask::Score { scale: 10 }, (&parted.train, &[]), (3, 1000), &seed);
    assert!(no_grades.unwrap_err().contains("answers with a `rating`"));
}

#[test]
fn a_judge_that_scores_is_shown_grades_on_its_own_scale() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [rated("p", "poor", 1.0), rated("p", "fair", 2.0), rated("p", "fine", 5.0)];
    let graded = read_graded(&file(folder.path(), &lines)).unwrap();
    let ask = Ask::Score { scale: 10 };
    let examples = Examples::draw(&ask, (&[], &graded), (3, 1000), &Seed::root(1)).unwrap();
    let wording = Wording { ask, rubric: String::new(), library: Library::default(), length: 1000, examples };
    let question = wording.question(&[&*answer("other")]).user;
    // From 1 to 5 onto 0 to 10: 1 is 0, 2 is 2.5, 5 is 10.
    for (text, grade) in [("poor", "0.0"), ("fair", "2.5"), ("fine", "10.0")] {
        let part = question.split(text).nth(1).unwrap_or_else(|| panic!("no {text}"));
        let verdict = format!("right verdict: {{\"score\":{grade}}}");
        assert!(part.trim_start().starts_with(&verdict), "{text}: {question}");
    }
}
