//! What every term keeps: examples that conform, error rates on verdicts, refusals with a reason.

use crate::support::*;
use merit_core::CallEnd::{Ok as Ran, Refused, Unknown};
use merit_core::{End, Episode};
use merit_reward::{ScoreContext, conformance};
use serde_json::{Value, json};

/// A task with everything that a term may look for.
fn task() -> Value {
    json!({
        "order": {"item": "tea", "n": 2}, "query": "SELECT n FROM t",
        "script": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);",
        "goal": {"n": 1}, "initial": {"n": 0}, "spans": [{"start": 0, "end": 3}],
        "actions": [{"name": "book", "kwargs": {"n": 1}}], "outputs": ["12"], "statement": "tea is hot",
    })
}

/// Native, imported, malformed, empty and broken ones, with and without everything a term may look for.
fn assorted() -> Vec<Episode> {
    let called = Did::Calls(&[
        ("show_state", "{}", Ran, r#"{"n": 1}"#),
        ("calc", r#"{"expression": "1"}"#, Refused, "no"),
        ("search", "tea", Unknown, "tea is hot"),
    ]);
    let whole = play(Some("7"), task(), &[called.clone(), Did::Says("it is 12"), Did::Answers("7")]);
    let mut made = vec![
        whole.clone(),
        imported(whole.clone()),
        imported(Episode { end: End::Unknown, ..whole.clone() }),
        play(Some("7"), Value::Null, &[Did::Answers("seven")]),
        play(None, Value::Null, &[called]),
        play(Some("7"), task(), &[Did::Babbles, Did::Babbles]),
        play(None, Value::Null, &[]),
        play(Some("7"), task(), &[]),
        play(Some(""), task(), &[Did::Answers("")]),
        play(Some("7"), json!([1]), &[Did::Answers(r#"{"item": "tea""#)]),
        broken(whole),
    ];
    for (member, episode) in made.iter_mut().enumerate() {
        episode.id.member = member as u32;
    }
    made
}

#[test]
fn every_example_conforms_on_assorted_episodes() {
    let found = conformance::check_examples(&merit_graders::components(), &assorted());
    assert_eq!(found, Vec::<String>::new());
}

/// A verdict term alone, with an episode it says yes to.
fn verdicts() -> Vec<(&'static str, Episode)> {
    let done = Did::Calls(&[("book", r#"{"n": 1}"#, Ran, "")]);
    vec![
        ("type = 'maths'", answers("1/2", "0.5")),
        ("type = 'json'\nreference = 'answer'", answers("[1]", "[1]")),
        (
            "type = 'sql'\nreference = { pointer = '/query' }\ndatabase = { script-at = '/script' }",
            play(None, task(), &[Did::Answers("SELECT n FROM t")]),
        ),
        ("type = 'state'", play(None, task(), &[Did::Answers(r#"{"n": 1}"#)])),
        ("type = 'text'\ncheck = { metric = { type = 'exact' } }", answers("tea", "tea")),
        (
            "type = 'citations'\nsources = { pointer = '/p' }",
            play(None, json!({"p": ["tea is very hot"]}), &[Did::Answers("tea is very hot [1]")]),
        ),
        (
            "type = 'spans'\ncheck = { measure = 'f1', pass_at = 1.0 }",
            play(None, task(), &[Did::Answers(r#"[{"start": 0, "end": 3}]"#)]),
        ),
        (
            "type = 'similarity'\npay = 'pass'\ncheck = { embedder = 'hashed-ngrams', pass_at = 0.9 }",
            answers("tea time", "tea time"),
        ),
        (
            "type = 'entailment'\npay = 'pass'\ncheck = { entailer = 'lexical', refuse_echo = false }",
            answers("tea is hot", "tea is hot"),
        ),
        ("type = 'ended'", answers("7", "7")),
        ("type = 'tag-format'\ntags = ['a']", answers("7", "<a>7</a>")),
        ("type = 'outputs'", play(None, task(), &[Did::Says("12")])),
        ("type = 'reference-actions'", play(None, task(), std::slice::from_ref(&done))),
        (
            "type = 'trace'\nrules = [{ must_call = { tool = 'book' } }]",
            play(None, task(), std::slice::from_ref(&done)),
        ),
        (
            "type = 'tool-calls'\nspecs = { value = [{ name = 'book', parameters = {} }] }",
            play(None, task(), &[done]),
        ),
    ]
}

#[test]
fn error_rates_work_on_every_verdict() {
    for (toml, episode) in verdicts() {
        check(toml, &episode, 1.0);
        check(&format!("errors = {{ false_negative = 1.0 }}\n{toml}"), &episode, 0.0);
        check(&format!("errors = {{ false_positive = 1.0 }}\n{toml}"), &episode, 1.0);
    }
}

#[test]
fn error_rates_and_parse_failure_paths_are_refused_where_they_mean_nothing() {
    let counts = [
        "type = 'length'\nunit = 'words'\nmin = 1\nmax = 2",
        "type = 'repetition'",
        "type = 'text'\ncheck = { metric = { type = 'repetition', n = 2 } }",
    ];
    for toml in counts {
        assert!(
            refusal(&format!("errors = {{ false_negative = 0.1 }}\n{toml}")).contains("gives none"),
            "{toml}"
        );
    }
    for toml in
        ["type = 'ended'", "type = 'sql'\ndatabase = { script = '' }", "type = 'json'\nbroken = 'credit'"]
    {
        assert!(
            refusal(&format!("on_parse_failure = 'unscorable'\n{toml}")).contains("cannot fail to"),
            "{toml}"
        );
    }
}

#[test]
fn settings_that_cannot_work_are_refused_with_the_reason() {
    let refused = [
        ("type = 'maths'\nreference = { pointer = 'gold' }", "starts with `/`"),
        ("type = 'maths'\nreading = { tag = '<a>' }", "bare name"),
        ("type = 'maths'\ncheck = { extract = { boxed = false, latex = false, plain = false } }", "no place"),
        ("type = 'maths'\ncheck = { unit = 'required' }", "unknown field"),
        ("type = 'maths'\nmax_chars = 0", "above 0"),
        ("type = 'json'\nschema_at = '/s'\ncheck = { schema = { type = 'object' } }", "give one of them"),
        ("type = 'json'\ncheck = { schema = { type = 'objekt' } }", "objekt"),
        ("type = 'json'\nextract = 'fenced'", "unknown field"),
        ("type = 'sql'\ndatabase = { script-at = 'x' }", "starts with `/`"),
        ("type = 'sql'", "missing field `database`"),
        ("type = 'state'\nby_turn = 'progress'", "needs a tool"),
        (
            "type = 'text'\nreference = 'answer'\ncheck = { metric = { type = 'length', unit = 'words', min = 1, max = 2 } }",
            "compares with nothing",
        ),
        ("type = 'citations'\nsources = { tool = '' }", "names no tool"),
        ("type = 'citations'\nsources = { tool = 'a' }\nentailer = 'lexicon'", "did you mean `lexical`"),
        ("type = 'tool-calls'\nspecs = 'answer'", "cannot be the task's answer"),
        ("type = 'tool-calls'\nspecs = { value = [{ nome = 'x' }] }", "no list of tools"),
        ("type = 'tool-calls'\nmax_calls = 0", "no call could ever count"),
        ("type = 'trace'\nrules = []", "at least one"),
        ("type = 'trace'\nrules = [{ before = ['a', 'a'] }]", "cannot come before itself"),
        ("type = 'reference-actions'\nextra_penalty = 1.0", "needs `writes`"),
        ("type = 'reference-actions'\nreference = { value = 7 }", "no list of calls"),
        ("type = 'outputs'\nmax_numbers = 0", "above 0"),
        ("type = 'length'\nunit = 'words'\nmin = 3\nmax = 2", "swap them"),
        ("type = 'repetition'\nn = 0", "from 1 to 16"),
        ("type = 'tag-format'\ntags = []", "at least one"),
        ("type = 'tag-format'\ntags = ['a', 'b|a']", "twice"),
        ("type = 'tag-format'\ntags = ['<a>']", "no bare name"),
        ("type = 'tag-format'\ntags = ['a']\neach_turn = true\nreading = 'answer'", "remove one of them"),
    ];
    for (toml, why) in refused {
        let said = refusal(toml);
        assert!(said.contains(why), "{toml}: {said}");
    }
}

#[test]
fn a_term_scores_the_same_on_any_thread() {
    let episodes: Vec<_> = assorted().into_iter().map(std::sync::Arc::new).collect();
    for (name, example) in conformance::examples(&merit_graders::components()) {
        let scorer = scorer(&example);
        for episode in episodes.iter().filter(|e| !matches!(e.end, End::Failed { .. })) {
            let alone = scorer.score(episode, &ScoreContext::default());
            let again = std::thread::scope(|s| {
                s.spawn(|| scorer.score(episode, &ScoreContext::default())).join().unwrap()
            });
            assert_eq!(alone, again, "{name}");
        }
    }
}
