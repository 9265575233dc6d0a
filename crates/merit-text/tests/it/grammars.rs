//! Grammars: whatever is drawn under the mask is what was asked for.
#![cfg(feature = "grammar")]

use crate::support::{byte_level, real, sentence_piece};
use merit_core::TokenId;
use merit_text::{GrammarError, GrammarFactory, GrammarSource, GrammarState, Tokenizer};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

fn factories() -> &'static [(Tokenizer, TokenId, GrammarFactory)] {
    static ALL: LazyLock<Vec<(Tokenizer, TokenId, GrammarFactory)>> = LazyLock::new(|| {
        let texts = [r#"{"name": "日本", "on": true, "n": 42}"#; 3];
        let trained = Tokenizer::train(texts.into_iter(), 320);
        let all = [
            (trained, "<|end|>"),
            (real(&byte_level("smollm")), "<|im_end|>"),
            (real(&sentence_piece(false)), "</s>"),
        ];
        let made = all.map(|(tokenizer, end)| {
            let end = tokenizer.special(end).unwrap();
            let factory = GrammarFactory::new(&tokenizer, &[end]).unwrap();
            (tokenizer, end, factory)
        });
        made.into()
    });
    &ALL
}

/// Draws tokens under the mask until the text ends. Spaces are drawn only where nothing else may come, because between the
/// parts of JSON they may come for ever.
fn draw(tokenizer: &Tokenizer, end: TokenId, state: &mut GrammarState, mut seed: u64) -> Vec<TokenId> {
    let mut drawn = Vec::new();
    loop {
        let mask = state.mask().unwrap();
        let allowed: Vec<TokenId> = mask.tokens().collect();
        assert_eq!(mask.allows(end), state.may_stop().unwrap());
        assert!(!allowed.is_empty());
        let dense: Vec<TokenId> = allowed
            .iter()
            .copied()
            .filter(|&token| !tokenizer.decode(&[token]).trim().is_empty() || token == end)
            .collect();
        let choices = if dense.is_empty() { &allowed } else { &dense };
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let token = choices[(seed >> 33) as usize % choices.len()];
        state.advance(token).unwrap();
        if token == end {
            assert!(state.is_stopped());
            return drawn;
        }
        drawn.push(token);
        assert!(drawn.len() < 2000, "{}", tokenizer.decode(&drawn));
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 6},
            "kind": {"enum": ["cat", "日本", "\"quoted\""]},
            "n": {"type": "integer", "minimum": -5, "maximum": 420},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "maxItems": 3}
        },
        "required": ["name", "kind", "n"],
        "additionalProperties": false,
        "$defs": {"tag": {"type": "boolean"}}
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_drawn_under_a_schema_fits_it(seed in any::<u64>()) {
        for (tokenizer, end, factory) in factories() {
            let mut state = factory.compile(&GrammarSource::JsonSchema(schema())).unwrap().state();
            let text = String::from_utf8(tokenizer.decode_bytes(&draw(tokenizer, *end, &mut state, seed))).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(value["name"].as_str().unwrap().chars().count() <= 6);
            prop_assert!(["cat", "日本", "\"quoted\""].contains(&value["kind"].as_str().unwrap()));
            // `-0` is an integer too, and no `i64`.
            let n = value["n"].as_f64().unwrap();
            prop_assert!(n.fract() == 0.0 && (-5.0..=420.0).contains(&n), "{}", n);
            let tags = value["tags"].as_array().map_or(&[][..], Vec::as_slice);
            prop_assert!(tags.len() <= 3 && tags.iter().all(Value::is_boolean));
            let known = ["name", "kind", "n", "tags"];
            prop_assert!(value.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())));
        }
    }

    #[test]
    fn what_is_drawn_under_a_grammar_is_of_it(seed in any::<u64>()) {
        let lark = "start: \"call \" TOOL \"(\" NUMBER (\",\" NUMBER)? \")\"\nTOOL: \"add\" | \"日本\"\nNUMBER: /[0-9]{1,4}/\n";
        for (tokenizer, end, factory) in factories() {
            let mut state = factory.compile(&GrammarSource::Lark(lark.to_owned())).unwrap().state();
            let text = tokenizer.decode(&draw(tokenizer, *end, &mut state, seed));
            let inside = text.strip_prefix("call add(").or(text.strip_prefix("call 日本(")).and_then(|rest| rest.strip_suffix(')'));
            prop_assert!(inside.unwrap().split(',').all(|part| part.len() <= 4 && part.parse::<u32>().is_ok()), "{}", text);
        }
    }
}

#[test]
fn a_state_is_independent_of_others_of_its_grammar() {
    let (tokenizer, _, factory) = &factories()[1];
    let grammar = factory.compile(&GrammarSource::Regex("(ab|cd)+".to_owned())).unwrap();
    let (mut one, mut other) = (grammar.state(), grammar.state());
    one.advance(tokenizer.encode("a")[0]).unwrap();
    assert!(!one.may_stop().unwrap());
    assert_eq!(
        one.clone().mask().unwrap().tokens().map(|t| tokenizer.decode(&[t])).collect::<Vec<_>>(),
        ["b"]
    );
    let begins: Vec<String> = other.mask().unwrap().tokens().map(|t| tokenizer.decode(&[t])).collect();
    assert_eq!(begins, ["a", "c"]);
    std::thread::spawn(move || other.mask().unwrap()).join().unwrap();
}

#[test]
fn a_token_that_may_not_come_is_refused_and_changes_nothing() {
    let (tokenizer, end, factory) = &factories()[0];
    let mut state = factory.compile(&GrammarSource::Regex("yes".to_owned())).unwrap().state();
    let before = state.mask().unwrap();
    for wrong in [tokenizer.encode("n")[0], *end, TokenId(u32::MAX)] {
        assert!(matches!(state.advance(wrong), Err(GrammarError::NotAllowed { .. })));
        assert_eq!(state.mask().unwrap(), before);
    }
}

#[test]
fn a_wrong_source_is_refused_with_what_is_wrong_in_it() {
    let (_, _, factory) = &factories()[0];
    let check = |source: GrammarSource, want: &[&str]| {
        let error = factory.compile(&source).err().unwrap().to_string();
        assert!(want.iter().all(|part| error.contains(part)), "{error}");
    };
    check(GrammarSource::JsonSchema(json!({"type": "objekt"})), &["JSON schema", "objekt"]);
    check(GrammarSource::JsonSchema(json!({"$ref": "#/$defs/none"})), &["JSON schema", "none"]);
    check(GrammarSource::Regex("a(b".to_owned()), &["regular expression"]);
    check(GrammarSource::Lark("start: nothing".to_owned()), &["grammar", "nothing"]);
    let unsatisfiable = json!({"type": "integer", "minimum": 5, "maximum": 4});
    check(GrammarSource::JsonSchema(unsatisfiable), &["JSON schema"]);
    let tokenizer = &factories()[0].0;
    for (ends, why) in [
        (&[][..], "no token that ends a text was given"),
        (&[TokenId(9_999)], "end token 9999 is not one of the"),
    ] {
        let said = GrammarFactory::new(tokenizer, ends).err().unwrap().to_string();
        assert!(said.contains(why), "{said}");
    }
}
