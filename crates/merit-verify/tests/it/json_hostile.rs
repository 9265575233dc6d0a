//! Hostile texts: everything ends within its limits, the same on every thread, and agrees with an independent reader.

use merit_verify::Conclusion;
use merit_verify::json::{JsonConfig, JsonVerifier, Limits, parse};
use proptest::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};

fn verifier() -> JsonVerifier {
    let schema = json!({
        "type": "object", "required": ["a"],
        "properties": {"a": {"type": ["integer", "array", "string"], "items": {"$ref": "#"}}, "b": {"pattern": "^(x+x+)+y$"}}
    });
    let config = JsonConfig { schema: Some(schema), ..JsonConfig::default() };
    JsonVerifier::compile(config).unwrap()
}

fn hostile() -> Vec<String> {
    let mb = 1 << 20;
    vec![
        "[".repeat(mb),
        "{\"a\":".repeat(mb / 5),
        "[1,".repeat(mb / 3),
        "{".repeat(mb),
        "[\n\n\n\n".repeat(mb / 5),
        "\"".repeat(mb),
        "\\".repeat(mb),
        "```\n".repeat(mb / 4),
        "'[\"".repeat(mb / 3),
        format!("{{\"a\": {}}}", "9".repeat(mb - 20)),
        format!("{{\"a\": 1e{}}}", "9".repeat(1000)),
        format!("{{\"a\": -0.{}1}}", "0".repeat(100_000)),
        format!("{{\"b\": \"{}\"}}", "x".repeat(mb - 20)),
        format!("{{{}\"a\":1}}", "\"k\":1,".repeat(100_000)),
        format!("[{}]", vec!["{}"; 200_000].join(",")),
        r#"{"a": "\ud800"}"#.to_owned(),
        r#"{"a": "\udc00\ud800x"}"#.to_owned(),
        r#"{"a": NaN, "b": -Infinity}"#.to_owned(),
        "{\"a\": \"\u{0}\"}".to_owned(),
        "\u{feff}{\"a\": 1}".to_owned(),
        "{\"a\u{202e}\": 1}".to_owned(),
        "/*".repeat(mb / 2),
        "//\n".repeat(mb / 3),
        "é[".repeat(mb / 3),
    ]
}

#[test]
fn hostile_texts_end_with_a_verdict() {
    let verifier = verifier();
    for text in hostile() {
        let verdict = verifier.verify(&text, Some(&json!({"a": 1})));
        let head: String = text.chars().take(12).collect();
        assert!(
            !matches!(
                verdict.conclusion,
                Conclusion::Pass | Conclusion::GraderFailed { .. } | Conclusion::BadReference { .. }
            ),
            "{head}: {verdict:?}"
        );
        assert!(
            verdict.score.is_some_and(|score| (0.0..=0.75).contains(&score)),
            "{head}: {:?}",
            verdict.score
        );
    }
}

#[test]
fn the_same_verdicts_on_one_thread_and_on_many() {
    let verifier = verifier();
    let texts: Vec<String> =
        hostile().into_iter().filter(|text| text.len() < 300_000).cycle().take(64).collect();
    let alone: Vec<_> = texts.iter().map(|text| verifier.verify(text, Some(&json!({"a": 1})))).collect();
    let together: Vec<_> =
        texts.par_iter().map(|text| verifier.verify(text, Some(&json!({"a": 1})))).collect();
    assert_eq!(alone, together);
}

#[test]
fn the_deepest_allowed_nesting_fits_a_small_stack() {
    // Nine subschemas in a row at each of 64 levels is nearly the most that is accepted.
    let mut schema = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
    for _ in 0..6 {
        schema = json!({"allOf": [schema]});
    }
    let schema = json!({"$defs": {"n": {"if": {"type": "integer"}, "else": schema}}, "$ref": "#/$defs/n"});
    let config = JsonConfig { schema: Some(schema), ..JsonConfig::default() };
    let deeper = JsonConfig { limits: Limits { depth: 80, ..Limits::default() }, ..config.clone() };
    assert!(JsonVerifier::compile(deeper).unwrap_err().to_string().contains("71 levels"));
    let deep = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    let run = move || {
        let verifier = JsonVerifier::compile(config).unwrap();
        verifier.verify(&deep, None).conclusion
    };
    let found = std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    assert_eq!(found, Conclusion::Pass);
}

#[test]
fn a_schema_that_explodes_is_stopped_and_that_is_not_a_zero() {
    let node = json!({"$ref": "#/$defs/n"});
    let branch = json!({"properties": {"a": node}, "required": ["a"]});
    let schema =
        json!({"$defs": {"n": {"anyOf": [branch.clone(), branch.clone(), branch]}}, "$ref": "#/$defs/n"});
    let verifier =
        JsonVerifier::compile(JsonConfig { schema: Some(schema), ..JsonConfig::default() }).unwrap();
    let deep = format!("{}1{}", "{\"a\":".repeat(40), "}".repeat(40));
    let verdict = verifier.verify(&deep, None);
    assert!(matches!(verdict.conclusion, Conclusion::GraderFailed { .. }), "{verdict:?}");
    assert_eq!(verdict.score, None);
}

#[test]
fn limits_are_named() {
    let config = |limits| JsonConfig { limits, ..JsonConfig::default() };
    for (limits, text, word) in [
        (Limits { bytes: 10, ..Limits::default() }, "[1,2,3,4,5,6]", "10 bytes"),
        (Limits { depth: 2, ..Limits::default() }, "[[[1]]]", "2 levels"),
        (Limits { nodes: 3, ..Limits::default() }, "[1,2,3,4]", "3 values"),
    ] {
        let verdict = JsonVerifier::compile(config(limits)).unwrap().verify(text, None);
        assert!(
            matches!(&verdict.conclusion, Conclusion::Refused { why } if why.contains(word)),
            "{verdict:?}"
        );
        assert_eq!(verdict.score, Some(0.0));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        "[\"\\\\\n\u{1}/a]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-d~/\"]{0,3}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// JSON with a few characters deleted, doubled or replaced.
fn damaged_json() -> impl Strategy<Value = String> {
    (
        any_json(),
        prop::collection::vec(
            (any::<prop::sample::Index>(), 0u8..3, "[\\[\\]{}\",:0-9eE.+tfn' \\\\-]"),
            0..4,
        ),
    )
        .prop_map(|(value, edits)| {
            let mut chars: Vec<char> = value.to_string().chars().collect();
            for (index, kind, with) in edits {
                let at = index.index(chars.len().max(1)).min(chars.len().saturating_sub(1));
                match kind {
                    0 if !chars.is_empty() => drop(chars.remove(at)),
                    1 => chars.splice(at..at, with.chars()).for_each(drop),
                    _ if !chars.is_empty() => chars.splice(at..=at, with.chars()).for_each(drop),
                    _ => {}
                }
            }
            chars.into_iter().collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn strict_means_what_an_independent_reader_means(text in damaged_json()) {
        let parsed = parse(&text, &Limits::default());
        let other = serde_json::from_str::<Value>(&text);
        prop_assert_eq!(parsed.value.is_some() && parsed.faults.is_empty(), other.is_ok(), "{:?}", text);
        if let (Ok(other), true) = (other, parsed.is_strict()) {
            prop_assert_eq!(parsed.value, Some(other));
        }
    }

    #[test]
    fn any_text_gets_a_verdict_within_bounds(text in "[\\[\\]{}\",:0-9a-c'`\n\\\\ é/*]{0,60}") {
        let verdict = verifier().verify(&text, Some(&json!({"a": 1})));
        prop_assert!(verdict.score.is_some_and(|score| (0.0..=1.0).contains(&score)));
        for (_, layer) in verdict.layers() {
            prop_assert!(layer.value.is_none_or(|value| (0.0..=1.0).contains(&value)));
        }
    }

    #[test]
    fn a_value_equals_itself_however_it_is_written(value in any_json()) {
        let compact = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert!(is_same(&pretty, &value));
        prop_assert!(is_same(&compact, &value));
    }

    #[test]
    fn right_is_equality_of_values(a in any_json(), b in any_json()) {
        prop_assert_eq!(is_same(&a.to_string(), &b), a == b || by_value(&a, &b));
    }
}

/// Whether the output says what the reference says, nothing more and nothing less.
fn is_same(output: &str, reference: &Value) -> bool {
    let verifier = JsonVerifier::compile(JsonConfig::default()).unwrap();
    verifier.verify(output, Some(reference)).conclusion == Conclusion::Pass
}

/// An independent and slow equality.
fn by_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y
                || (x.is_f64() != y.is_f64()
                    && x.as_f64() == y.as_f64()
                    && x.as_f64().is_some_and(|f| f.abs() < 9.0e15))
                || (x.as_f64() == Some(0.0) && y.as_f64() == Some(0.0))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| by_value(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, x)| y.get(k).is_some_and(|y| by_value(x, y)))
        }
        _ => a == b,
    }
}

#[test]
fn an_integer_of_which_digits_would_be_lost_equals_no_other() {
    let two_to_64 = serde_json::from_str::<Value>("18446744073709551616").unwrap();
    assert!(is_same("18446744073709551616", &two_to_64));
    let verifier = JsonVerifier::compile(JsonConfig::default()).unwrap();
    for (output, reference) in [
        ("18446744073709551617", two_to_64.clone()),
        ("{\"n\": [18446744073709551617]}", json!({"n": [two_to_64]})),
        ("-9223372036854775809", json!(i64::MIN)),
    ] {
        let verdict = verifier.verify(output, Some(&reference));
        assert!(
            matches!(&verdict.conclusion, Conclusion::Unreadable { why } if why.contains("more digits")),
            "{output}: {verdict:?}"
        );
        assert_eq!(verdict.content.value, Some(0.0), "{output}");
    }
    let parsed = parse("18446744073709551617", &Limits::default());
    assert!(parsed.faults.is_empty() && parsed.too_long.is_some() && !parsed.is_strict());
}

#[test]
fn equality_is_not_fooled() {
    for (a, b) in [
        (r#"{"a": null}"#, "{}"),
        ("true", "1"),
        ("\"1\"", "1"),
        ("[1,2]", "[2,1]"),
        ("9007199254740993", "9007199254740992"),
        ("\"é\"", "\"e\u{301}\""),
    ] {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(!is_same(a, &value(b)) && !is_same(b, &value(a)), "{a} {b}");
    }
    assert!(is_same(r#"{"\u0061": 1e1}"#, &json!({"a": 10.0})));
    assert!(!is_same(r#"{"a":1,"\u0061":2}"#, &json!({"a": 2})));
    let large = |order: bool| {
        let mut keys: Vec<String> = (0..1000).map(|i| format!("\"k{i}\":{i}")).collect();
        if order {
            keys.reverse();
        }
        format!("{{{}}}", keys.join(","))
    };
    assert!(is_same(&large(true), &serde_json::from_str(&large(false)).unwrap()));
}
