//! BMGQ: the conditions on cues, by hand; the searcher; the checks; the smoke run of its file.

use merit_core::Seed;
use merit_studies::quality::{Checked, evidence};
use merit_studies::questions::{Counts, Cue, Generator, Question, Rules, Test, needed};
use merit_studies::searcher::{Inquiry, scripted, search};
use merit_studies::worlds::encyclopaedia::Encyclopaedia;

fn book() -> Encyclopaedia {
    Encyclopaedia::draw(1000, &mut Seed::root(101).stream()).unwrap()
}

fn own(attribute: usize, class: usize) -> Cue {
    Cue::Own(Test::Class { attribute, class })
}

/// Entity 0 to 7 count in binary by the classes of attributes 0 to 2; all others are of class 5 there.
fn eight() -> Encyclopaedia {
    let mut book = Encyclopaedia::draw(100, &mut Seed::root(101).stream()).unwrap();
    for (entity, values) in book.values.iter_mut().enumerate() {
        (0..3).for_each(|a| values[a] = if entity < 8 { 4 * (entity >> a & 1) } else { 20 });
    }
    book
}

#[test]
fn candidate_sets_intersection_and_leave_one_out_by_hand() {
    let book = eight();
    // Entity 7 is 1, 1, 1: four of the eight meet each cue, two meet each pair, one meets all.
    let cues = vec![own(0, 1), own(1, 1), own(2, 1)];
    let counts = Counts::of(&book, &cues);
    assert_eq!(counts, Counts { answers: 1, alone: vec![4, 4, 4], without: vec![2, 2, 2] });
    assert!(counts.sound(4) && !counts.sound(5) && !counts.redundant());
    // The same cue twice: each copy is one too many.
    let twice = Counts::of(&book, &[own(0, 1), own(0, 1), own(1, 1), own(2, 1)]);
    assert!(twice.redundant() && !twice.sound(4));
    assert_eq!(needed(&book, [vec![own(0, 1)], cues.clone()].concat()), Some(cues.clone()));
    assert_eq!(needed(&book, cues[..2].to_vec()), None);
}

#[test]
fn every_bottom_up_question_meets_the_four_conditions() {
    let book = book();
    let rules = Rules { generator: Generator::BottomUp, least: 30 };
    let mut stream = Seed::root(102).stream();
    let mut made = 0;
    while made < 20 {
        let Some(question) = rules.draw(&book, |_| true, &mut stream).unwrap() else { continue };
        let counts = Counts::of(&book, &question.cues);
        assert!(counts.sound(30), "{counts:?}");
        for cue in &question.cues {
            assert!(cue.holds(&book, question.answer));
            assert!(!book.search(&cue.words(), 0).unwrap().contains(&question.answer));
        }
        made += 1;
    }
}

#[test]
fn a_chain_has_one_answer_and_the_searcher_by_rule_follows_it() {
    let book = book();
    let rules = Rules { generator: Generator::Chain, least: 1 };
    let question = rules.draw(&book, |_| true, &mut Seed::root(103).stream()).unwrap().unwrap();
    assert_eq!(Counts::of(&book, &question.cues).answers, 1);
    let inquiry = Inquiry::of(&question);
    // The answer, the entity between and the named one; two links, towards the answer.
    assert_eq!((inquiry.tests.len(), inquiry.links[0].2, inquiry.links[1].2), (3, 0, 1));
    let trail = search(&scripted(1.0), &book, &question, 8, true, &mut Seed::root(1).stream()).unwrap();
    // One query for the named page, one for each link.
    assert_eq!((trail.answer, trail.queries), (Some(question.answer), 3));
}

#[test]
fn a_corrupt_fact_is_found_where_the_pages_were_read_and_only_there() {
    let book = eight();
    let question = Question { answer: 7, cues: vec![own(0, 1), own(1, 1), own(2, 1)] };
    let corrupt = Question { cues: vec![own(0, 2), own(1, 1), own(2, 1)], ..question.clone() };
    assert_eq!(evidence(&book, &corrupt.cues[0], 7, &[7]), Some(false));
    assert_eq!(evidence(&book, &corrupt.cues[0], 7, &[3]), None);
    let solve = |question: &Question| {
        vec![search(&scripted(1.0), &book, question, 8, true, &mut Seed::root(1).stream()).unwrap()]
    };
    let sound = Checked::of(&book, &question, false, &solve(&question));
    assert_eq!(sound, Checked { consensus: true, structure: true });
    let planted = Checked::of(&book, &corrupt, false, &solve(&corrupt));
    assert_eq!(planted, Checked { consensus: false, structure: false });
    // Known by heart: nothing is learned from searching for it.
    assert!(!Checked::of(&book, &question, true, &solve(&question)).consensus);
}

#[test]
fn the_smoke_run_ends_with_numbers() {
    crate::cells::check_smoke("bmgq");
}
