//! Text goes to tokens and back unchanged.

use merit_core::TokenId;
use merit_text::{Tokenizer, TokenizerError};
use proptest::prelude::*;

const TEXT: &str = "What is 12 + 30? The answer is 42. The answer to the other question is not 42, but 17.\n\
    def answer(question):\n    return question.answer\n";

fn trained() -> Tokenizer {
    Tokenizer::train([TEXT, TEXT].into_iter(), 400)
}

proptest! {
    #[test]
    fn any_text_survives(text in "\\PC*|[a-z0-9 \n<|>]*") {
        let tokenizer = trained();
        let tokens = tokenizer.encode(&text);
        prop_assert_eq!(tokenizer.decode(&tokens), text);
        let first_text_token = tokenizer.special("<|hint|>").unwrap().0 + 1;
        prop_assert!(tokens.iter().all(|token| token.0 >= first_text_token));
    }
}

#[test]
fn training_shortens_and_is_deterministic() {
    let tokenizer = trained();
    assert_eq!(tokenizer, Tokenizer::train([TEXT, TEXT].into_iter(), 400));
    assert!(tokenizer.vocab_len() > 280);
    assert!(tokenizer.encode(TEXT).len() * 2 < TEXT.len());
}

#[test]
fn digits_stay_single() {
    let tokenizer = Tokenizer::train(["2024 2024 2024 2024"].into_iter(), 400);
    assert_eq!(tokenizer.encode("2024").len(), 4);
}

#[test]
fn a_file_round_trips_and_a_broken_one_is_refused() {
    let tokenizer = trained();
    assert_eq!(Tokenizer::from_json(&tokenizer.to_json()).unwrap(), tokenizer);
    let check = |text: &str, message: &str| {
        let error: TokenizerError = Tokenizer::from_json(text).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    };
    let specials =
        r#"["<|end|>","<|system|>","<|user|>","<|policy|>","<|tool|>","<|environment|>","<|hint|>"]"#;
    check(r#"{"specials":[],"merges":[]}"#, "special tokens");
    check(&format!(r#"{{"specials":{specials},"merges":[[7,263]]}}"#), "come later");
    check(&format!(r#"{{"specials":{specials},"merges":[[7,8],[7,8]]}}"#), "twice");
    check(&format!(r#"{{"specials":{specials},"merges":[[0,8]]}}"#), "come later");
    check("{", "tokenizer");
}

#[test]
fn unknown_tokens_decode_to_nothing() {
    assert_eq!(trained().decode(&[TokenId(u32::MAX)]), "");
}

#[test]
fn an_added_token_is_never_made_of_text() {
    let (word, longer) = ("<home clean soup>", "<home clean soup>s");
    let whole = [word, "<été>", longer].map(str::to_owned);
    let tokenizer = Tokenizer::train_with([TEXT, TEXT, word, word].into_iter(), 400, &whole).unwrap();
    let plain = trained();
    // The merges are those of the rest of the text, and the words come behind them.
    assert_eq!(tokenizer.vocab_len(), plain.vocab_len() + 3);
    let first = plain.vocab_len() as u32;
    assert_eq!(tokenizer.encode(word), [TokenId(first)]);
    assert_eq!(tokenizer.encode(longer), [TokenId(first + 2)], "the longer of two");
    for text in ["home clean soup", "<home clean soup", "<home clean soups>", "< home clean soup>", TEXT] {
        assert_eq!(tokenizer.encode(text), plain.encode(text), "{text}");
    }
    let mixed = format!("é{word} use {word}{word}<été>.<");
    let tokens = tokenizer.encode(&mixed);
    assert_eq!(tokens.iter().filter(|token| token.0 >= first).count(), 4);
    assert_eq!(tokenizer.decode(&tokens), mixed);
    assert_eq!(tokenizer.encode(&tokenizer.decode(&tokens)), tokens);
    let again = Tokenizer::from_json(&tokenizer.to_json()).unwrap();
    assert_eq!((again.encode(&mixed), again), (tokens, tokenizer));
    assert!(!plain.to_json().contains("whole"), "old files stay as they are");
    for (whole, message) in [(["", "a"], "is empty"), (["a", "a"], "is given twice")] {
        let error = Tokenizer::train_with(std::iter::empty(), 0, &whole.map(str::to_owned)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
