//! Terms that hold an answer against a reference: mathematics, text, JSON, SQL and spans.

use crate::support::*;
use serde_json::json;

const MATHS: &str = "type = 'maths'";

#[test]
fn the_same_mathematics_in_another_spelling_is_right() {
    for (right, given) in [("1/2", "0.5"), ("1200", r"So it is \boxed{1,200}."), ("x^2 - 1", "(x-1)(x+1)")] {
        check(MATHS, &answers(right, given), 1.0);
    }
    for (right, given) in [("1/2", "0.51"), ("12", r"\boxed{13}"), ("7", "seven hundred")] {
        assert_ne!(term(MATHS, &answers(right, given)).outcome.value(), Some(1.0), "{given}");
    }
}

#[test]
fn evidence_of_a_mathematics_verdict_says_what_was_read_and_which_rule_decided() {
    let shown = evidence(MATHS, &answers("0.5", r"I get \boxed{1/2}"));
    assert!(shown.contains("parsed: response: boxed `1/2` read as"), "{shown}");
    assert!(shown.contains("compared: reference:") && shown.contains("(rule `"), "{shown}");
}

#[test]
fn an_answer_without_mathematics_is_a_parse_failure_and_none_at_all_is_0() {
    let marked = "type = 'maths'\npolicy = { extract = { plain = false } }";
    check_parse_failure(marked, &answers("$7$", "I do not know"));
    check(MATHS, &play(Some("7"), json!(null), &[Did::Babbles]), 0.0);
    check_silent(MATHS, &play(None, json!(null), &[Did::Answers("7")]));
}

#[test]
fn a_reference_that_cannot_be_read_is_the_graders_failure() {
    let episode = play(None, json!({"gold": r"\boxed{"}), &[Did::Answers("7")]);
    check_grader_failed(
        "type = 'maths'\nreference = { pointer = '/gold' }\npolicy = { extract = { plain = false } }",
        &episode,
    );
}

#[test]
fn any_one_of_several_references_will_do() {
    let toml = "type = 'maths'\nreference = { pointer = '/golds' }";
    let gives = |given: &str| play(None, json!({"golds": ["1/3", "2/3"]}), &[Did::Answers(given)]);
    check(toml, &gives("2/3"), 1.0);
    check(toml, &gives("1"), 0.0);
    check_silent(toml, &play(None, json!({"golds": []}), &[Did::Answers("1")]));
}

#[test]
fn several_boxed_answers_over_long_text_and_look_alikes_do_not_win() {
    let long = format!("42 {}", "the answer is unknown. ".repeat(5000));
    // The second letter of the last is a Greek capital.
    for given in [r"\boxed{42} or \boxed{41}", "41, 42, 43", &long, "4Ζ"] {
        assert_ne!(
            term(MATHS, &answers("42", given)).outcome.value(),
            Some(1.0),
            "{}",
            &given[..20.min(given.len())]
        );
    }
    check("type = 'maths'\nmax_chars = 10", &answers("42", "so it must be 42"), 0.0);
}

#[test]
fn the_questions_own_formula_given_back_is_no_answer() {
    let asked = |question: &str, right: &str, given: &str| {
        let mut episode = answers(right, given);
        let mut segments: Vec<merit_core::Segment> = episode.transcript.into();
        segments[0].text = question.to_owned();
        episode.transcript = segments.try_into().unwrap();
        episode
    };
    let expand = "Expand $(x+1)(x-1)$.";
    check(MATHS, &asked(expand, "x^2-1", r"\boxed{x^2 - 1}"), 1.0);
    check(MATHS, &asked(expand, "x^2-1", r"\boxed{(x+1)(x-1)}"), 0.0);
    check(MATHS, &asked(expand, "x^2-1", r"\boxed{(x-1)(x+1)}"), 0.0);
    check(MATHS, &asked("Solve 2x+1>7", "x>3", r"\boxed{7<2x+1}"), 0.0);
    check(MATHS, &asked("Simplify √50", r"5\sqrt{2}", r"\boxed{1\cdot\sqrt{50}}"), 0.0);
    check(MATHS, &asked("42*87", "3654", "42*87"), 0.0);
    check(MATHS, &asked(expand, "x^2-1", expand), 0.0);
    check("type = 'maths'\nallow_restated = true", &asked(expand, "x^2-1", r"\boxed{(x+1)(x-1)}"), 1.0);
    // A question may hold its answer.
    check(MATHS, &asked("Which is larger, 1/2 or 1/3?", "1/2", "1/2"), 1.0);
    check(MATHS, &asked("Is 50 or 60 right?", "60", "60.0"), 1.0);
}

#[test]
fn a_number_must_be_worked_out_unless_any_form_will_do() {
    check(MATHS, &answers("42", r"\boxed{6 \cdot 7}"), 0.0);
    assert!(evidence(MATHS, &answers("42", r"\boxed{6 \cdot 7}")).contains("equal, but not worked out"));
    check("type = 'maths'\ncheck = { form = 'any' }", &answers("42", r"\boxed{6 \cdot 7}"), 1.0);
    check(MATHS, &answers("3.5", r"\boxed{3\frac{1}{2}}"), 1.0);
    check(MATHS, &answers("x^2 - 1", "(x-1)(x+1)"), 1.0);
}

#[test]
fn a_letter_of_another_script_is_no_digit() {
    check(MATHS, &answers("0.375", "О.375"), 0.0);
}

#[test]
fn the_last_closed_tag_can_be_what_is_read() {
    let toml = "type = 'maths'\nreading = { tag = 'result' }";
    let wrote = |text: &str| play(Some("7"), json!(null), &[Did::Writes(text, "none")]);
    check(toml, &wrote("<result>6</result> no: <result>7</result>"), 1.0);
    check(toml, &wrote("<result>7</result> no: <result>6</result>"), 0.0);
    check(toml, &wrote("<result>7"), 0.0);
}

#[test]
fn text_metrics_give_their_score_or_their_pass() {
    // Two of three words in common with three: precision 2/3, recall 2/3, F1 2/3.
    let episode = answers("red green blue", "red green yellow");
    check("type = 'text'\ncheck = { metric = { type = 'f1' } }", &episode, 2.0 / 3.0);
    check("type = 'text'\npay = 'pass'\ncheck = { metric = { type = 'f1' }, pass_at = 0.6 }", &episode, 1.0);
    check("type = 'text'\npay = 'pass'\ncheck = { metric = { type = 'f1' }, pass_at = 0.7 }", &episode, 0.0);
    check(
        "type = 'text'\ncheck = { metric = { type = 'exact' } }",
        &answers("Eiffel Tower", "the eiffel tower."),
        1.0,
    );
    let contains = "type = 'text'\ncheck = { metric = { type = 'contains' } }";
    check(contains, &answers("Paris", "It is Paris."), 1.0);
}

#[test]
fn naming_every_answer_over_long_text_and_look_alikes_do_not_win_a_text_metric() {
    let contains = "type = 'text'\ncheck = { metric = { type = 'contains' } }";
    check(contains, &answers("Paris", "London, Rome, Paris, Berlin, Madrid"), 0.0);
    check(contains, &answers("Paris", &format!("Paris {}", "and so on ".repeat(200))), 0.0);
    // A Cyrillic letter in front.
    let forged = answers("Paris", "Рaris");
    check("type = 'text'\ncheck = { metric = { type = 'exact' } }", &forged, 0.0);
    let shown = evidence("type = 'text'\ncheck = { metric = { type = 'exact' } }", &forged);
    assert!(shown.contains("suspicious"), "{shown}");
}

#[test]
fn a_blank_reference_text_is_the_graders_failure() {
    check_grader_failed("type = 'text'\ncheck = { metric = { type = 'exact' } }", &answers(" ", "x"));
}

const ORDER: &str = r#"
type = "json"
reference = "answer"
[check]
weights = { parse = 0.1, structure = 0.1, types = 0.1, content = 0.7 }
schema = { type = "object", required = ["item", "n"], properties = { item = { type = "string" }, n = { type = "integer" } } }
"#;

#[test]
fn json_is_paid_in_layers() {
    let right = r#"{"item": "tea", "n": 2}"#;
    check(ORDER, &answers(right, r#" {"n": 2, "item": "tea"} "#), 1.0);
    // All but one of two fields of content: 0.1 + 0.1 + 0.1 + 0.7 / 2.
    check(ORDER, &answers(right, r#"{"item": "tea", "n": 3}"#), 0.65);
    check(ORDER, &answers(right, "{}"), 0.0);
    let shown = evidence(ORDER, &answers(right, r#"{"item": "tea", "n": 3}"#));
    assert!(shown.contains("content 0.5000 (/n"), "{shown}");
}

#[test]
fn broken_json_is_a_parse_failure_unless_its_layers_may_count() {
    let (right, torn) = (r#"{"item": "tea", "n": 2}"#, r#"{"item": "tea", "n": 2"#);
    check_parse_failure(ORDER, &answers(right, torn));
    check_parse_failure(ORDER, &answers(right, &format!("Here you are: {right}")));
    let lenient = ORDER.replace("reference", "broken = 'credit'\nreference");
    // Structure and types are right, content is gated by validity.
    check(&lenient, &answers(right, torn), 0.2);
}

#[test]
fn whose_fault_bad_json_is() {
    check_grader_failed(ORDER, &answers("no JSON", "{}"));
    check_silent(ORDER, &play(None, json!(null), &[Did::Answers("{}")]));
    let by_task = "type = 'json'\nschema_at = '/schema'\nreference = { pointer = '/object' }";
    let task = |schema: serde_json::Value| json!({"schema": schema, "object": {"n": 1}});
    let gives = |schema, given: &str| play(None, task(schema), &[Did::Answers(given)]);
    check(by_task, &gives(json!({"type": "object"}), r#"{"n": 1}"#), 1.0);
    check_grader_failed(by_task, &gives(json!({"type": "objekt"}), r#"{"n": 1}"#));
    check_silent(by_task, &play(None, json!({"object": 1}), &[Did::Answers("1")]));
}

const SQL: &str = "type = 'sql'\ndatabase = { script-at = '/script' }";

fn query(right: &str, given: &str) -> merit_core::Episode {
    let script = "CREATE TABLE t (n, name); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');";
    play(Some(right), json!({ "script": script }), &[Did::Answers(given)])
}

#[test]
fn a_query_is_right_where_it_finds_the_same_rows() {
    check(SQL, &query("SELECT n FROM t WHERE n > 1", "SELECT n FROM t WHERE n >= 2 ORDER BY n DESC"), 1.0);
    check(SQL, &query("SELECT n FROM t ORDER BY n", "SELECT n FROM t ORDER BY n DESC"), 0.0);
    check(SQL, &query("SELECT n FROM t WHERE n > 1", "SELECT n FROM t"), 0.0);
    let shown = evidence(SQL, &query("SELECT n FROM t WHERE n > 1", "SELECT n FROM t WHERE n > 1"));
    assert!(shown.contains("gave 2 rows of 1 columns") && shown.contains("the same rows"), "{shown}");
}

#[test]
fn bad_queries_are_the_policys_doing_and_bad_databases_are_not() {
    for given in ["SELEC n FROM t", "DROP TABLE t", "SELECT 2 UNION SELECT 3", ""] {
        check(SQL, &query("SELECT n FROM t WHERE n > 1", given), 0.0);
    }
    check_grader_failed(SQL, &query("SELECT nothing FROM t", "SELECT n FROM t"));
    check_grader_failed(
        SQL,
        &play(Some("SELECT 1"), json!({"script": "CREATE NONSENSE"}), &[Did::Answers("SELECT 1")]),
    );
    check_silent(SQL, &play(Some("SELECT 1"), json!({}), &[Did::Answers("SELECT 1")]));
    let missing = "type = 'sql'\ndatabase = { file = '/no/such/file.db' }";
    check_grader_failed(missing, &query("SELECT 1", "SELECT 1"));
}

#[test]
fn rows_can_be_the_reference_of_a_query() {
    let toml = "type = 'sql'\nreference = { pointer = '/rows' }\ndatabase = { script = 'CREATE TABLE t (n); INSERT INTO t VALUES (5), (6);' }";
    let gives =
        |rows: serde_json::Value| play(None, json!({"rows": rows}), &[Did::Answers("SELECT n FROM t")]);
    check(toml, &gives(json!([[6], [5]])), 1.0);
    check(toml, &gives(json!({"rows": [[6], [5]], "ordered": true})), 0.0);
    check_grader_failed(toml, &gives(json!(7)));
}

#[test]
fn spans_are_paid_by_the_characters_in_common() {
    let toml = "type = 'spans'\ncheck = { measure = 'iou', pass_at = 0.5 }";
    let gives = |given: &str| play(None, json!({"spans": [{"start": 5, "end": 15}]}), &[Did::Answers(given)]);
    // 5 characters in common, 15 marked by either.
    check(toml, &gives(r#"[{"start": 0, "end": 10}]"#), 5.0 / 15.0);
    check(toml, &gives(r#"[{"start": 5, "end": 15}, {"start": 5, "end": 15}]"#), 1.0);
    check(toml, &gives(r#"[{"start": 9, "end": 3}]"#), 0.0);
    check(toml, &gives("[]"), 0.0);
    check_parse_failure(toml, &gives("from 5 to 15"));
    check_parse_failure(toml, &gives(r#"[{"from": 5}]"#));
    check_silent(toml, &play(None, json!({}), &[Did::Answers("[]")]));
    check_grader_failed(toml, &play(None, json!({"spans": "5-15"}), &[Did::Answers("[]")]));
    check_grader_failed(toml, &play(None, json!({"spans": []}), &[Did::Answers("[]")]));
}
