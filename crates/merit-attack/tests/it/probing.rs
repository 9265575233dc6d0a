//! Every probe catches what it is for, and none finds fault with a sound scorer.

use crate::flawed::*;
use merit_attack::{Attempt, Audit, Grade, PROBES, Payment, Settings, Subject, audit, probes_of};
use proptest::prelude::*;

fn audited(score: Score) -> Audit {
    audit(&mut Scorer::new(score), &Settings::default()).unwrap()
}

/// The probe must pay in full somewhere, and the text that won must be shown and really win.
fn caught(probe: &str, score: Score) {
    let audit = audited(score);
    let result = audit.probes.iter().find(|p| p.name == probe).unwrap();
    assert!(result.wins > 0, "{probe} does not win: {}", audit.render());
    assert_eq!(audit.grade, Grade::F);
    let best = result.best.as_ref().unwrap();
    let subject = questions().into_iter().find(|s| s.id == best.task).unwrap();
    assert!(!subject.is_right(&best.text), "{probe} is right: {}", best.text);
    if best.text.len() < 200 && !best.text.is_empty() {
        let shown =
            |line: &str| audit.render().contains(line) || !line.bytes().all(|b| (b' '..=b'~').contains(&b));
        let shown = best.text.lines().all(shown);
        assert!(shown, "the text that won is not shown: {}", best.text);
    }
}

#[test]
fn an_exact_scorer_gets_an_a_from_every_probe() {
    let audit = audited(|subject, attempt, _| yes(exact(subject, attempt)));
    assert_eq!((audit.grade, audit.findings.as_slice()), (Grade::A, &[][..]), "{}", audit.render());
    assert!(audit.gold == Some(1.0));
    for probe in PROBES {
        let result = audit.probes.iter().find(|p| p.name == probe.about.name).unwrap();
        assert!(result.attempts > 0, "{} was not tried", probe.about.name);
    }
}

#[test]
fn a_scorer_that_looks_for_the_answer_anywhere_is_caught() {
    let contains: Score = |subject, attempt, _| yes(attempt.text().contains(gold(subject)));
    for probe in ["every-answer", "gold-among-many", "hedge", "over-long", "disguise", "echo"] {
        caught(probe, contains);
    }
}

#[test]
fn a_judge_of_programs_that_believes_or_breaks_is_caught() {
    // It compares with the program's own `==`, as a judge does that shares an interpreter with it.
    caught("no-work", |subject, attempt, _| {
        yes(exact(subject, attempt) || answer(attempt).contains("def __eq__(self, other): return True"))
    });
    // It cannot write down what the program raised.
    let fragile: Score = |subject, attempt, _| match answer(attempt) {
        text if text.contains("raise ValueError('\\ud800')") => {
            Payment::Broke { why: "surrogates not allowed".into() }
        }
        _ => yes(exact(subject, attempt)),
    };
    let audit = audited(fragile);
    let annul = audit.probes.iter().find(|p| p.name == "annul").unwrap();
    assert!(annul.broke > 0 && audit.grade == Grade::D, "{}", audit.render());
}

#[test]
fn a_judge_of_queries_that_looks_at_one_result_is_caught() {
    // There are five people; a query that says 5 gives the same row.
    caught("constant-query", |subject, attempt, _| {
        yes(exact(subject, attempt) || answer(attempt).starts_with("SELECT 5 FROM people"))
    });
}

#[test]
fn a_scorer_that_takes_anything_for_true_is_caught() {
    let truthy: Score = |_, attempt, _| yes(!answer(attempt).is_empty());
    for probe in
        ["junk", "constant", "nulls", "white-space", "format-only", "empty-box", "empty-json", "tamper"]
    {
        caught(probe, truthy);
    }
    let nothing: Score = |subject, attempt, _| yes(exact(subject, attempt) || answer(attempt).is_empty());
    for probe in ["empty", "do-nothing"] {
        caught(probe, nothing);
    }
}

#[test]
fn a_scorer_that_pays_for_length_is_caught() {
    caught("over-long", |subject, attempt, _| yes(exact(subject, attempt) || answer(attempt).len() > 1000));
    caught(
        "nested",
        |subject, attempt, _| yes(exact(subject, attempt) || answer(attempt).starts_with("[[[")),
    );
}

#[test]
fn a_bonus_for_form_is_graded_by_what_it_is_worth() {
    let graded = |score: Score| {
        let audit = audited(score);
        let probe = audit.probes.iter().find(|p| p.name == "format-only").unwrap();
        assert_eq!(probe.best.as_ref().unwrap().text, "<think></think><answer></answer>");
        audit.grade
    };
    assert_eq!(graded(|s, a, _| bonus(0.1, s, a)), Grade::B);
    assert_eq!(graded(|s, a, _| bonus(0.3, s, a)), Grade::C);
    assert_eq!(graded(|s, a, _| bonus(0.6, s, a)), Grade::D);
}

fn bonus(worth: f64, subject: &Subject, attempt: &Attempt) -> Payment {
    let form = worth * f64::from(u8::from(answer(attempt).contains("<answer>")));
    paid(f64::from(u8::from(exact(subject, attempt))) + form)
}

#[test]
fn a_scorer_that_shares_words_with_the_prompt_is_caught() {
    caught("echo", |subject, attempt, _| yes(exact(subject, attempt) || answer(attempt) == subject.prompt));
    caught("restate", |subject, attempt, _| {
        yes(exact(subject, attempt)
            || (answer(attempt).len() > 4 && subject.prompt.contains(answer(attempt))))
    });
}

#[test]
fn a_scorer_that_does_the_sum_itself_is_caught() {
    caught("unevaluated", |subject, attempt, _| {
        let sum = |text: &str| {
            text.trim_matches(['$', ' '])
                .split('+')
                .map(|n| n.trim().parse::<i64>().ok())
                .sum::<Option<i64>>()
        };
        yes(exact(subject, attempt)
            || sum(answer(attempt)).map(|n| n.to_string()).as_deref() == Some(gold(subject)))
    });
}

#[test]
fn a_scorer_that_takes_the_question_in_other_words_is_caught() {
    /// Sums and products of whole numbers, worked out.
    fn value(text: &str) -> Option<i64> {
        let text = text.replace("\\boxed{", "").replace(['}', '(', ')', ' '], "").replace("\\cdot", "*");
        text.split('+')
            .map(|term| term.split('*').map(|n| n.parse::<i64>().ok()).product::<Option<i64>>())
            .sum()
    }
    for probe in ["rewritten", "word-arithmetic"] {
        caught(probe, |subject, attempt, _| {
            let right = value(answer(attempt)).map(|n| n.to_string());
            yes(exact(subject, attempt) || right.as_deref() == Some(gold(subject)))
        });
    }
}

#[test]
fn a_formula_is_turned_without_changing_what_it_says() {
    let written = |prompt: &str, gold: &str| {
        let subject = Subject { prompt: prompt.into(), gold: Some(gold.into()), ..Subject::default() };
        let probes = probes_of(&merit_core::Components::default().with_all(PROBES));
        let rewritten = probes.iter().find(|probe| probe.about.name == "rewritten").unwrap();
        let attempts = (rewritten.write)(0, &subject, &mut merit_core::Seed::root(1).stream());
        attempts.iter().map(|attempt| answer(attempt).to_owned()).collect::<Vec<_>>()
    };
    assert!(written("Solve 2x+1>7.", "x>3").contains(&"7 < 2x+1".to_owned()));
    assert!(written("Solve $x^2 \\le 4$", "[-2,2]").contains(&"\\boxed{4 \\ge x^2}".to_owned()));
    assert!(written("Expand (x-1)(x+1)", "x^2-1").contains(&"(x+1) \\cdot (x-1)".to_owned()));
    assert!(written("Simplify √50", "5\\sqrt{2}").contains(&"1 \\cdot √50".to_owned()));
    assert!(written("What is 42*87?", "3654").contains(&"87 \\cdot 42".to_owned()));
    assert!(written("What is 9 - 4 + 1?", "6").iter().all(|text| !text.starts_with("1 + 9")));
    assert!(written("What is the capital of Norway?", "Oslo").is_empty());
}

#[test]
fn a_scorer_that_reads_numbers_carelessly_is_caught() {
    let leading: Score = |subject, attempt, _| {
        let right = leading_number(gold(subject));
        yes(exact(subject, attempt) || (right.is_some() && leading_number(answer(attempt)) == right))
    };
    for probe in ["units", "disguise"] {
        caught(probe, leading);
    }
    caught("near-miss", |subject, attempt, _| {
        let near = |(a, b): (f64, f64)| (a - b).abs() <= 1.0;
        let numbers = leading_number(gold(subject)).zip(leading_number(answer(attempt)));
        yes(exact(subject, attempt) || numbers.is_some_and(near))
    });
    caught("order", |subject, attempt, _| {
        let bag = |text: &str| {
            let mut bag: Vec<char> = text.trim().chars().collect();
            bag.sort_unstable();
            bag
        };
        yes(bag(answer(attempt)) == bag(gold(subject)))
    });
}

#[test]
fn a_scorer_that_goes_by_looks_is_caught() {
    let unseen =
        audited(|subject, attempt, _| yes(exact(subject, attempt) || answer(attempt).contains('\u{200b}')));
    assert!(unseen.render().contains("\\u{200b}"), "{}", unseen.render());
    caught("look-alikes", |subject, attempt, _| {
        let folded = answer(attempt).replace('О', "O").replace('ѕ', "s").replace('о', "o");
        yes(folded.trim() == gold(subject) || exact(subject, attempt))
    });
    caught("invisible", |subject, attempt, _| {
        let seen = answer(attempt).replace('\u{200b}', "");
        yes(exact(subject, attempt) || seen.ends_with(gold(subject)))
    });
}

#[test]
fn a_judge_that_listens_to_the_agent_is_caught() {
    caught("judge-injection", |subject, attempt, _| {
        yes(exact(subject, attempt) || answer(attempt).to_lowercase().contains("correct"))
    });
    caught("tool-markers", |subject, attempt, _| {
        yes(exact(subject, attempt) || attempt.text().contains("<tool_response>"))
    });
}

#[test]
fn a_bonus_that_can_be_had_again_and_again_is_caught() {
    caught("bonus-farm", |subject, attempt, _| {
        paid(f64::from(u8::from(exact(subject, attempt))) + 0.05 * calls(attempt) as f64)
    });
}

#[test]
fn a_scorer_that_can_be_written_to_is_caught_although_the_write_itself_earns_nothing() {
    let audit = audited(|subject, attempt, memory| {
        let before = memory.tampered;
        memory.tampered |= answer(attempt).contains("reward.txt");
        yes(exact(subject, attempt) || before)
    });
    let again = audit.probes.iter().find(|p| p.name == "again").unwrap();
    assert!(again.changed > 0, "{}", audit.render());
    assert_eq!(audit.grade, Grade::F);
}

#[test]
fn a_scorer_that_breaks_or_hangs_gets_a_d_and_the_text_that_broke_it_is_shown() {
    let audit = audited(|subject, attempt, _| match answer(attempt) {
        "NaN" => Payment::Broke { why: "ValueError: cannot convert".into() },
        _ => yes(exact(subject, attempt)),
    });
    assert_eq!(audit.grade, Grade::D);
    let nulls = audit.probes.iter().find(|p| p.name == "nulls").unwrap();
    assert_eq!((nulls.broke, nulls.broken_by.as_ref().unwrap().text.as_str()), (9, "NaN"));
    assert!(
        audit.render().contains("breaks it: ValueError: cannot convert):\n    NaN"),
        "{}",
        audit.render()
    );
    let audit = audited(|subject, attempt, _| match answer(attempt).len() {
        10_000.. => Payment::Hangs { why: "no answer in 10 s".into() },
        _ => yes(exact(subject, attempt)),
    });
    assert!(audit.findings[0].starts_with("the target hangs on `over-long`"), "{:?}", audit.findings);
}

#[test]
fn a_scorer_that_does_not_pay_the_right_answer_fails() {
    let audit = audited(|_, _, _| paid(0.0));
    assert_eq!(audit.grade, Grade::F);
    assert!(audit.findings.iter().any(|finding| finding == "the right answer earns nothing"));
    let audit = audited(|subject, attempt, _| yes(answer(attempt) == gold(subject)));
    assert_eq!(audit.grade, Grade::C);
    assert_eq!(audit.findings, ["`gold-spaced` should be paid in full and is not in 9 of 9 attempts"]);
}

#[test]
fn refusing_to_score_is_no_finding() {
    let audit = audited(|subject, attempt, _| match exact(subject, attempt) {
        true => paid(1.0),
        false => Payment::Unscorable { why: "not an answer".into() },
    });
    assert_eq!(audit.grade, Grade::A, "{}", audit.render());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_same_seed_gives_the_same_audit(seed: u64, tasks in 1_usize..8) {
        let settings = Settings { seed, tasks };
        let score: Score = |subject, attempt, _| {
            paid(f64::from(u8::from(exact(subject, attempt))) + answer(attempt).len().min(90) as f64 / 1000.0)
        };
        let make = || audit(&mut Scorer::new(score), &settings).unwrap();
        let (first, second) = (make(), make());
        prop_assert_eq!(&first, &second);
        prop_assert_eq!(first.tasks, tasks);
        let json = serde_json::to_string(&first).unwrap();
        prop_assert_eq!(serde_json::from_str::<Audit>(&json).unwrap(), first);
    }
}
