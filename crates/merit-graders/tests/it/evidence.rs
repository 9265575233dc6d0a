//! Terms about what an answer rests on: citations, likeness and entailment.

use crate::support::*;
use merit_core::CallEnd::{Ok as Ran, Refused};
use serde_json::{Value, json};

const FACT: &str = "The Eiffel Tower is 330 metres tall.";

fn passages() -> Value {
    json!({"passages": [FACT, "Rome is the capital of Italy."]})
}

const CITED: &str = "type = 'citations'\nsources = { pointer = '/passages' }";

#[test]
fn claims_stand_on_the_sources_they_cite() {
    let says = |text: &str| play(None, passages(), &[Did::Answers(text)]);
    check(CITED, &says("The Eiffel Tower is 330 metres tall [1]."), 1.0);
    check(CITED, &says("The Eiffel Tower is 330 metres tall [1]. Rome is the capital of Italy."), 0.5);
    check(CITED, &says("The Eiffel Tower is 330 metres tall [2]."), 0.0);
    check(CITED, &says("The Eiffel Tower is 330 metres tall [7]."), 0.0);
    check(CITED, &says(""), 0.0);
    check(CITED, &says("[1] [2]"), 0.0);
    let shown = evidence(CITED, &says("Rome is the capital of Italy."));
    assert!(shown.contains("0 of 1 claims stand; `Rome is the capital of Italy.` is uncited"), "{shown}");
}

#[test]
fn sources_can_be_what_a_tool_gave_back() {
    let toml = "type = 'citations'\nsources = { tool = 'search' }";
    let answer = Did::Answers("The Eiffel Tower is 330 metres tall [1].");
    let found = [
        Did::Calls(&[("search", "height", Refused, "busy"), ("search", "height", Ran, FACT)]),
        answer.clone(),
    ];
    check(toml, &play(None, Value::Null, &found), 1.0);
    check(toml, &play(None, Value::Null, &[answer]), 0.0);
}

#[test]
fn whose_fault_bad_sources_are() {
    check_silent(CITED, &play(None, json!({}), &[Did::Answers("x")]));
    check_grader_failed(CITED, &play(None, json!({"passages": [7]}), &[Did::Answers("x")]));
    check_grader_failed(CITED, &play(None, json!({"passages": []}), &[Did::Answers("x")]));
}

#[test]
fn likeness_is_a_cosine_or_a_pass() {
    let toml = "type = 'similarity'\ncheck = { embedder = 'hashed-ngrams', pass_at = 0.9 }";
    let same = value(toml, &answers("the quick brown fox", "the quick brown fox"));
    assert!((same - 1.0).abs() < 1e-6, "{same}");
    let near = value(toml, &answers("the quick brown fox", "the quick brown dog"));
    let far = value(toml, &answers("the quick brown fox", "zzz 123"));
    assert!(far < near && near < 0.9, "{far} {near}");
    check(&format!("{toml}\npay = 'pass'"), &answers("the quick brown fox", "the quick brown dog"), 0.0);
    check(toml, &answers("fox", &"fox ".repeat(500)), 0.0);
    check(toml, &answers("fox", ""), 0.0);
    check_grader_failed(toml, &answers(" ", "fox"));
    for half in [
        "model = 'm'\ncheck = { embedder = 'hashed-ngrams', pass_at = 0.9 }",
        "check = { embedder = 'encoder', pass_at = 0.9 }",
    ] {
        let told = refusal(&format!("type = 'similarity'\n{half}"));
        assert!(told.contains("go together"), "{told}");
    }
    let missing =
        refusal("type = 'similarity'\nmodel = '/nowhere'\ncheck = { embedder = 'encoder', pass_at = 0.9 }");
    assert!(missing.contains("`model`: ") && missing.contains("/nowhere"), "{missing}");
    assert!(
        refusal("type = 'similarity'\ncheck = { embedder = 'hashed-ngram', pass_at = 0.9 }")
            .contains("did you mean `hashed-ngrams`")
    );
}

#[test]
fn a_model_pays_for_the_meaning_where_letters_do_not() {
    let Some(folder) = merit_testing::weights("all-minilm-l6-v2") else { return };
    let by_model =
        format!("type = 'similarity'\nmodel = {folder:?}\ncheck = {{ embedder = 'encoder', pass_at = 0.5 }}");
    let by_letters = "type = 'similarity'\ncheck = { embedder = 'hashed-ngrams', pass_at = 0.5 }";
    let said = |answer| answers("The physician cured the child.", answer);
    let (meant, spelled) = ("A doctor healed the kid.", "The physicist cursed the chili.");
    assert!(value(&by_model, &said(meant)) > value(&by_model, &said(spelled)));
    assert!(value(by_letters, &said(meant)) < value(by_letters, &said(spelled)));
    let shown = evidence(&by_model, &said(meant));
    assert!(shown.contains("`encoder "), "{shown}");
}

#[test]
fn a_note_supports_what_should_be_true_unless_it_only_repeats_it() {
    let toml =
        "type = 'entailment'\ngrounds = { tool = 'search' }\npay = 'pass'\ncheck = { entailer = 'lexical' }";
    let searched = Did::Calls(&[("search", "height", Ran, FACT)]);
    let note = Did::Answers("The Eiffel Tower is 330 metres tall.");
    let statement = Some("The Eiffel Tower is 330 metres tall");
    check(toml, &play(statement, Value::Null, &[searched.clone(), note.clone()]), 1.0);
    // Without having looked, the same words are an echo.
    check(toml, &play(statement, Value::Null, &[note]), 0.0);
    check(toml, &play(statement, Value::Null, &[searched, Did::Answers("Rome is old.")]), 0.0);
    check_silent(toml, &play(None, Value::Null, &[Did::Answers("x")]));
}
