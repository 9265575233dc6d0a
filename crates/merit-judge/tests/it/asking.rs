//! A judge that is asked in words: what is asked, what is paid, what is kept.

use merit_core::{Action, Cost, End, Episode, EpisodeId, Task, Turn};
use merit_evolve::Library;
use merit_judge::ask::{Ask, Examples, Wording};
use merit_judge::{AskedJudge, Asker, Asking, Choice, Judge, Kept, Panel, PanelRule, Put, Said, Verdict};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(crate) fn answer(text: &str) -> Arc<Episode> {
    let id = EpisodeId { phase: "t".into(), step: 0, group: 0, member: 0, branch: 0 };
    let turn = Turn::new(0, Action::Answer { text: text.into() });
    Arc::new(Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_turns(vec![turn]))
}

/// Answers by a function of the question; counts what was asked.
struct Script {
    say: fn(&Put, usize) -> Result<String, String>,
    asked: Arc<Mutex<Vec<Put>>>,
}

impl Asker for Script {
    fn id(&self) -> String {
        "script".into()
    }

    fn ask(&mut self, questions: &[Put], heard: &mut dyn FnMut(usize, Result<Said, String>)) {
        for (at, put) in questions.iter().enumerate() {
            let mut asked = self.asked.lock().unwrap();
            let before = asked.iter().filter(|other| *other == put).count();
            asked.push(put.clone());
            let cost = Cost { judge_calls: 1, judge_tokens: 10, ..Cost::default() };
            heard(at, (self.say)(put, before).map(|text| Said { text, cost }));
        }
    }
}

type Log = Arc<Mutex<Vec<Put>>>;

fn judge(
    ask: Ask,
    asking: Asking,
    kept: Kept,
    say: fn(&Put, usize) -> Result<String, String>,
) -> (AskedJudge, Log) {
    let asked = Log::default();
    let wording = Wording {
        ask,
        rubric: String::new(),
        library: Library::default(),
        length: 1000,
        examples: Examples::default(),
    };
    let asker = Box::new(Script { say, asked: Arc::clone(&asked) });
    (AskedJudge::new(asker, wording, asking, kept), asked)
}

/// Prefers the candidate that says `good`.
fn honest(put: &Put, _: usize) -> Result<String, String> {
    let at = |mark: &str| put.question.user.find(mark).unwrap();
    let second = at("<<<candidate 2")..at("<<<end of candidate 2");
    Ok(format!("{{\"better\": {}}}", if put.question.user[second].contains("good") { 2 } else { 1 }))
}

fn kept(path: &Path) -> Kept {
    Kept::open(path).unwrap()
}

#[test]
fn an_answer_is_paid_for_once_also_by_whoever_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let pair = (answer("good"), answer("bad"));
    let (mut first, asked) = judge(Ask::Compare {}, Asking::default(), kept(&path), honest);
    let twice = first.compare(&[pair.clone(), pair.clone()]);
    assert_eq!(twice[0].verdict, Verdict::Prefers { choice: Choice::First });
    // The second of two equal questions is not asked, and costs nothing.
    assert_eq!((twice[0].cost.judge_calls, twice[1].cost.judge_calls), (1, 0));
    assert_eq!(asked.lock().unwrap().len(), 1);
    drop(first);
    let (mut later, asked) = judge(Ask::Compare {}, Asking::default(), kept(&path), honest);
    let swapped = (Arc::clone(&pair.1), Arc::clone(&pair.0));
    let said = later.compare(&[pair, swapped]);
    assert_eq!(said[0].cost, Cost::default());
    assert_eq!(said[1].verdict, Verdict::Prefers { choice: Choice::Second });
    assert_eq!((asked.lock().unwrap().len(), later.paid()), (1, 2));
}

#[test]
fn beyond_the_budget_nothing_is_asked() {
    let asking = Asking { budget: Some(2), ..Asking::default() };
    let (mut judge, asked) = judge(Ask::Compare {}, asking, Kept::in_memory(), honest);
    let questions: Vec<_> = (0..4).map(|n| (answer("good"), answer(&format!("bad {n}")))).collect();
    let said = judge.compare(&questions);
    let words: Vec<&str> = said.iter().map(|answer| answer.verdict.word()).collect();
    assert_eq!(words, ["prefers", "prefers", "failed", "failed"]);
    assert_eq!(said[3].verdict, Verdict::Failed { why: "the budget of 2 answers is spent".into() });
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[test]
fn what_fails_is_asked_again_and_what_cannot_be_read_is_not() {
    let say = |put: &Put, before: usize| match put.question.user.contains("odd") {
        true => Ok("well".to_owned()),
        false if before < 2 => Err("HTTP 500".to_owned()),
        false => honest(put, before),
    };
    let questions = [(answer("good"), answer("bad")), (answer("odd"), answer("bad"))];
    let (mut patient, asked) = judge(Ask::Compare {}, Asking::default(), Kept::in_memory(), say);
    let said = patient.compare(&questions);
    assert_eq!((said[0].verdict.word(), said[1].verdict.word()), ("prefers", "unreadable"));
    assert_eq!(asked.lock().unwrap().len(), 4);
    let once = Asking { tries: 1, ..Asking::default() };
    let (mut impatient, _) = judge(Ask::Compare {}, once, Kept::in_memory(), say);
    let said = impatient.compare(&questions);
    assert_eq!(said[0].verdict, Verdict::Failed { why: "HTTP 500".into() });
}

#[test]
fn votes_are_questions_of_their_own() {
    let say = |put: &Put, _: usize| Ok(format!("{{\"score\": {}}}", [2, 9, 4][put.vote as usize]));
    let asking = Asking { votes: 3, ..Asking::default() };
    let (mut judge, _) = judge(Ask::Score { scale: 10 }, asking, Kept::in_memory(), say);
    let said = judge.score(&[answer("x")]);
    assert_eq!((said[0].verdict.value(), said[0].cost.judge_calls), (Some(0.4), 3));
}

#[test]
fn who_gives_numbers_compares_by_them_and_who_compares_gives_none() {
    let say = |put: &Put, _: usize| match put.question.user.contains("secret") {
        true => Ok("I cannot judge that.".to_owned()),
        false => Ok(format!("{{\"score\": {}}}", if put.question.user.contains("good") { 8 } else { 3 })),
    };
    let (mut grader, asked) = judge(Ask::Score { scale: 10 }, Asking::default(), Kept::in_memory(), say);
    let pairs = [(answer("bad"), answer("good")), (answer("bad"), answer("secret"))];
    let said = grader.compare(&pairs);
    assert_eq!((said[0].verdict.choice(), said[1].verdict.word()), (Some(Choice::Second), "refused"));
    assert_eq!(asked.lock().unwrap().len(), 3);
    let (mut comparer, _) = judge(Ask::Compare {}, Asking::default(), Kept::in_memory(), honest);
    assert_eq!(comparer.score(&[answer("good")])[0].verdict.word(), "failed");
}

#[test]
fn a_list_of_all_is_asked_for_at_once() {
    let say = |_: &Put, _: usize| Ok("{\"order\": [3, 1, 2]}".to_owned());
    let (mut judge, asked) = judge(Ask::Rank {}, Asking::default(), Kept::in_memory(), say);
    let said = judge.rank(&[answer("a"), answer("b"), answer("c")]);
    assert_eq!(said.verdict, Verdict::Ranks { order: vec![2, 0, 1] });
    assert_eq!(asked.lock().unwrap().len(), 1);
    // Two of them make no list of three.
    assert_eq!(judge.compare(&[(answer("a"), answer("b"))])[0].verdict.word(), "unreadable");
}

#[test]
fn a_panel_says_how_far_it_agrees() {
    let first = |_: &Put, _: usize| Ok("{\"better\": 1}".to_owned());
    let (honest_one, _) = judge(Ask::Compare {}, Asking::default(), Kept::in_memory(), honest);
    let (honest_two, _) = judge(Ask::Compare {}, Asking::default(), Kept::in_memory(), honest);
    let (biased, _) = judge(Ask::Compare {}, Asking::default(), Kept::in_memory(), first);
    let mut panel =
        Panel::new(vec![Box::new(honest_one), Box::new(biased), Box::new(honest_two)], PanelRule::Majority);
    let said = panel.compare(&[(answer("good"), answer("bad")), (answer("bad"), answer("good"))]);
    let choices: Vec<_> = said.iter().map(|answer| answer.verdict.choice()).collect();
    assert_eq!(choices, [Some(Choice::First), Some(Choice::Second)]);
    // Values 1 1 1 and -1 1 -1: observed 4 / 2 = 2, expected 2 * 4 * 2 / 5 = 3.2, alpha 1 - 2 / 3.2.
    assert_eq!(panel.agreement(), (Some(1.0 - 2.0 / 3.2), None));
}
