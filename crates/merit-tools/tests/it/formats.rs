//! Every call format, whatever it is given: what it writes it reads, hostile text costs little, and faults are told shortly.

use merit_core::{ToolCall, canonical};
use merit_tools::ToolSpec;
use merit_tools::formats::{
    CALL_FORMATS, CallFormat, MAX_CALLS, MAX_TEXT, Mistral, MistralForm, call_format,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn cards() -> Vec<ToolSpec> {
    vec![
        ToolSpec::text("python", "Runs Python.", "code", "a program", "print(1)"),
        ToolSpec::text("calc", "Exact arithmetic.", "expression", "a sum", "1+1"),
        ToolSpec::json("act", "Does things.", json!({ "type": "object" }), &json!({ "what": "it" })),
    ]
}

/// Every format, and those with settings in more than one.
fn formats() -> Vec<Arc<dyn CallFormat>> {
    let other = Mistral { form: MistralForm::Args };
    let named = CALL_FORMATS.iter().map(|entry| call_format(entry.about.name).unwrap().component());
    named.chain([Arc::new(other) as Arc<dyn CallFormat>]).collect()
}

/// Text with everything that could end a call too early.
fn text() -> impl Strategy<Value = String> {
    let traps = [
        "</tool_call>",
        "<tool_call>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "</code>",
        "<code>",
        "```",
        "\n```\n",
        "````",
        "\"",
        "'",
        "'''",
        "\\",
        "\\n",
        "\n",
        "\r\n",
        "\t",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ";",
        ",",
        "<|python_tag|>",
        "<|im_end|>",
        "<tool_response>",
        "</s>",
        "<think>",
        "</think>",
        "\u{1f980}",
        "\u{301}",
        "\u{0}",
        "\u{7f}",
        "\u{2028}",
        "é",
        "```output",
        "x",
        " ",
    ];
    let piece = prop_oneof![proptest::sample::select(traps.to_vec()).prop_map(str::to_owned), "\\PC{0,6}"];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| json!(x)),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let key = prop_oneof!["[a-z_]{1,6}", text()];
    proptest::collection::btree_map(key, value(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()))
}

fn call() -> impl Strategy<Value = ToolCall> {
    prop_oneof![
        text().prop_map(|input| ToolCall { tool: "calc".into(), input }),
        text().prop_map(|input| ToolCall { tool: "python".into(), input }),
        object().prop_map(|arguments| ToolCall { tool: "act".into(), input: canonical(&arguments) }),
        ("[a-z][a-z0-9_.-]{0,8}", object()).prop_map(|(name, arguments)| ToolCall {
            tool: format!("no-{name}"),
            input: canonical(&arguments)
        }),
    ]
}

proptest! {
    #[test]
    fn what_a_format_writes_it_reads(calls in proptest::collection::vec(call(), 1..5)) {
        let cards = cards();
        for format in formats() {
            let one_tool = format.about().name == "code-tags";
            let sayable = |call: &&ToolCall| !one_tool || (call.tool == "python" && !call.input.trim().is_empty());
            let calls: Vec<ToolCall> = calls.iter().filter(sayable).cloned().collect();
            if calls.is_empty() {
                continue;
            }
            let written = format.write(&calls, &cards);
            let turn = format.parse(&written, &cards);
            let read = turn.as_ref().map(|turn| &turn.calls);
            prop_assert_eq!(read, Ok(&calls), "{} wrote {:?}", format.about().name, written);
            prop_assert_eq!(turn.unwrap().said, "", "{} wrote {:?}", format.about().name, written);
        }
    }

    #[test]
    fn no_stop_string_cuts_what_is_written(calls in proptest::collection::vec(call(), 1..3)) {
        let cards = cards();
        for format in formats() {
            // Raw code cannot hide anything.
            if matches!(format.about().name, "fenced" | "code-tags") {
                continue;
            }
            let written = format.write(&calls, &cards);
            for stop in format.stops() {
                prop_assert!(!written.contains(&stop), "{:?} in {:?}", stop, written);
            }
        }
    }

    #[test]
    fn text_around_calls_is_kept(before in "[A-Za-z ,.]{0,30}", after in "[A-Za-z ,.]{0,30}", sum in "[0-9+]{1,9}") {
        let cards = cards();
        let calls = [ToolCall { tool: "python".into(), input: sum }];
        for format in formats() {
            let written = format.write(&calls, &cards);
            let turn = format.parse(&format!("{before}\n{written}\n{after}"), &cards).unwrap();
            prop_assert_eq!(&turn.calls, &calls, "{}", format.about().name);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&turn.said), words(&format!("{before}\n{after}")), "{}", format.about().name);
        }
    }

    #[test]
    fn any_text_is_read_and_faults_are_told_shortly(pieces in proptest::collection::vec(text(), 0..4), cut in 0_usize..200) {
        let (cards, said) = (cards(), pieces.concat());
        for format in formats() {
            for text in [&said, &format!("{}{said}", format.shape())] {
                if let Err(error) = format.parse(text, &cards) {
                    prop_assert!(!error.why.is_empty() && error.why.len() <= MAX_TEXT, "{}", error);
                }
            }
        }
        // A call that was cut off somewhere never becomes another call.
        let call = ToolCall { tool: "act".into(), input: canonical(&json!({ "what": said })) };
        for format in formats().into_iter().filter(|format| format.about().name != "code-tags") {
            let written = format.write(std::slice::from_ref(&call), &cards);
            let end = (0..=cut.min(written.len())).rev().find(|&at| written.is_char_boundary(at)).unwrap();
            if let Ok(turn) = format.parse(&written[..end], &cards) {
                prop_assert!(turn.calls.iter().all(|read| *read == call), "{:?}", &written[..end]);
            }
        }
    }
}

/// A megabyte of what could make a reader slow or deep.
fn hostile() -> Vec<String> {
    let pieces = [
        "<tool_call>",
        "<tool_call>{",
        "<tool_call>{\"name\":\"calc\",\"arguments\":{}}",
        "</tool_call>",
        "[TOOL_CALLS]",
        "[TOOL_CALLS] [",
        "[TOOL_CALLS]a{",
        "[",
        "{",
        "{\"a\":",
        "[calc(",
        "[calc(a=[",
        "(",
        "\n{",
        "\n[a(",
        "\n{\"name\":\"",
        "```",
        "\n```json\n{\n",
        "\n```python\n",
        "\n```python\n1\n```",
        "<code>",
        "<code>1</code>",
        "</code>",
        "<|python_tag|>",
        "\\",
        "'",
        "\"",
        "<think>",
        "{\"name\":\"act\",\"parameters\":{}};",
        "[act(),",
        " ",
        "\n",
        "\u{1f980}",
        "-1e",
        "**{",
    ];
    let mut texts: Vec<String> = pieces.iter().map(|piece| piece.repeat((1 << 20) / piece.len())).collect();
    let opened = [
        "<tool_call>{\"name\":\"act\",\"arguments\":{\"a\":",
        "[TOOL_CALLS]act{\"a\":",
        "[act(a=",
        "{\"name\":\"act\",\"parameters\":",
    ];
    for start in opened {
        texts.extend(
            ["[", "{\"a\":", "\"\\u0041", "1,", "[],"]
                .map(|piece| format!("{start}{}", piece.repeat(200_000))),
        );
    }
    texts
}

#[test]
fn a_megabyte_of_hostile_text_is_read_or_refused() {
    let (cards, texts) = (cards(), hostile());
    // Hundreds of readings of a megabyte each: linear ones take seconds, a quadratic one would not end.
    for format in formats() {
        for text in &texts {
            if let Err(error) = format.parse(text, &cards) {
                assert!(error.why.len() <= MAX_TEXT, "{error}");
            }
        }
    }
}

#[test]
fn too_many_calls_are_refused_as_such() {
    let cards = cards();
    let call = ToolCall { tool: "python".into(), input: "1".into() };
    for format in formats() {
        let most = format.write(&vec![call.clone(); MAX_CALLS], &cards);
        assert_eq!(format.parse(&most, &cards).unwrap().calls.len(), MAX_CALLS);
        let more = format.write(&vec![call.clone(); MAX_CALLS + 1], &cards);
        let error = format.parse(&more, &cards).unwrap_err();
        assert!(error.why.starts_with("more than 32 calls in one turn"), "{error}");
    }
}

#[test]
fn the_right_form_that_a_fault_shows_can_be_read() {
    let cards = cards();
    let broken =
        ["<tool_call>{", "<|python_tag|>", "[calc(", "[TOOL_CALLS]", "```python\n", "<code>", "<tool_call>{"];
    for (format, broken) in CALL_FORMATS.iter().zip(broken) {
        let format = call_format(format.about.name).unwrap();
        let error = format.parse(broken, &cards).unwrap_err().why;
        let (_, form) = error.split_once("; write ").unwrap_or_else(|| panic!("{error}"));
        assert_eq!(format.parse(form, &cards).unwrap().calls.len(), 1, "{error}");
    }
}

#[test]
fn every_format_tells_of_every_tool_and_shows_answers_whole() {
    for format in formats() {
        let one_tool = format.about().name == "code-tags";
        let cards = if one_tool { cards()[..1].to_vec() } else { cards() };
        assert_eq!(format.serves(&cards), Ok(()));
        let told = format.advertise(&cards);
        for card in cards.iter().filter(|_| !one_tool) {
            assert!(told.contains(&card.name) && told.contains(&card.summary), "{told}");
        }
        assert!(format.answer("calc", "line one\nline two").contains("line two"));
        assert!(!format.answer("calc", "").is_empty());
    }
}
