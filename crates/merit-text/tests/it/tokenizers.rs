//! Tokenizers of real models: exact on every text, deaf to special names in it, the same after a file.

use crate::support::{CONTROLS, byte_level, real, sentence_piece};
use merit_core::TokenId;
use merit_formats::TokenKind;
use merit_text::{Tokenizer, TokenizerError};
use proptest::prelude::*;

fn kinds() -> Vec<Tokenizer> {
    let mut all: Vec<Tokenizer> = ["default", "gpt-2", "smollm", "llama-bpe", "dbrx", "tekken"]
        .map(|pre| real(&byte_level(pre)))
        .to_vec();
    all.extend([real(&sentence_piece(false)), real(&sentence_piece(true))]);
    all.push(Tokenizer::train(["the cat", "the user"].into_iter(), 300));
    all
}

fn names() -> impl Strategy<Value = String> {
    let pieces =
        ["<|im_start|>", "<end_of_turn>", "<s>", "<|end|>", "<unk>", "[PAD13]", "<tool_call>", "<0x0A>", "▁"];
    let more = ["  ", "\n\n", " the cat", "日本", "é", "'s 1234", "\u{0}", "\r\n"];
    let all: Vec<&'static str> = pieces.into_iter().chain(more).collect();
    proptest::collection::vec(
        prop_oneof![proptest::sample::select(all).prop_map(str::to_owned), any::<String>()],
        0..6,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_text_comes_back_and_makes_no_special_token(text in names()) {
        for tokenizer in kinds_once() {
            let tokens = tokenizer.encode(&text);
            // SentencePiece writes a space as `▁`, so a `▁` in the text is a space to it.
            let written = if tokenizer.decode(&tokenizer.encode("▁")) == " " { text.replace('▁', " ") } else { text.clone() };
            prop_assert_eq!(tokenizer.decode(&tokens), written);
            prop_assert!(tokens.iter().all(|&token| tokenizer.special_name(token).is_none()));
        }
    }

    #[test]
    fn tokens_one_by_one_say_what_they_say_together(ids in proptest::collection::vec(0u32..700, 0..20)) {
        for tokenizer in kinds_once() {
            let tokens: Vec<TokenId> = ids.iter().map(|&id| TokenId(id)).collect();
            let one_by_one: Vec<u8> = tokens.iter().flat_map(|&t| tokenizer.decode_bytes(&[t])).collect();
            prop_assert_eq!(tokenizer.decode_bytes(&tokens), one_by_one);
        }
    }
}

/// Building them takes longer than using them.
fn kinds_once() -> &'static [Tokenizer] {
    static KINDS: std::sync::LazyLock<Vec<Tokenizer>> = std::sync::LazyLock::new(kinds);
    &KINDS
}

#[test]
fn special_names_are_tokens_when_that_is_asked_for() {
    for tokenizer in [real(&byte_level("smollm")), real(&sentence_piece(false))] {
        let text = "<|im_start|>user\nthe cat<|im_end|>\n";
        let tokens = tokenizer.encode_with_specials(text);
        assert_eq!(tokens[0], tokenizer.special("<|im_start|>").unwrap());
        assert!(tokens.contains(&tokenizer.special("<|im_end|>").unwrap()));
        assert_eq!(tokenizer.decode_with_specials(&tokens), text);
        assert_eq!(tokenizer.decode(&tokens), "user\nthe cat\n", "special tokens stand for no bytes");
        assert_eq!(tokenizer.special("the"), None, "an ordinary token is not a special one");
    }
    let trained = Tokenizer::train(std::iter::empty(), 0);
    let tokens = trained.encode_with_specials("a<|end|><|user|>b");
    assert_eq!(trained.decode_with_specials(&tokens), "a<|end|><|user|>b");
    assert_eq!(tokens.len(), 4);
}

#[test]
fn merges_and_cuts_are_those_of_the_vocabulary() {
    let check = |tokenizer: &Tokenizer, text: &str, want: &[&str]| {
        let tokens = tokenizer.encode(text);
        let got: Vec<String> = tokens.iter().map(|&token| tokenizer.decode(&[token])).collect();
        assert_eq!(got, want, "{text:?}");
    };
    // `t h` ranks before ` t`, so " the" is never reached.
    check(&real(&byte_level("smollm")), " the cat42", &[" ", "the", " cat", "4", "2"]);
    // A piece that is a token as it stands is not merged at all.
    check(&real(&byte_level("llama-bpe")), " the cat42", &[" the", " cat", "42"]);
    check(&real(&byte_level("qwen2")), "the\n\n<tool_call>", &["the", "\n\n", "<tool_call>"]);
    check(&real(&sentence_piece(false)), " the cat   user", &[" the", " cat", "   ", "user"]);
}

#[test]
fn a_space_before_the_text_is_only_for_texts_that_begin() {
    let tokenizer = real(&sentence_piece(true));
    assert_eq!(tokenizer.decode(&tokenizer.encode("cat")), "cat");
    let framed = tokenizer.encode_framed("cat");
    assert_eq!(tokenizer.decode_with_specials(&framed), "<bos> cat", "as its makers tokenise a whole text");
    assert_eq!(
        real(&sentence_piece(false)).decode_with_specials(&real(&sentence_piece(false)).encode_framed("cat")),
        "<bos>cat"
    );
}

#[test]
fn a_file_round_trips_with_every_token_in_its_place() {
    for vocabulary in [byte_level("smollm"), byte_level("qwen2"), sentence_piece(false), sentence_piece(true)]
    {
        let tokenizer = real(&vocabulary);
        let again = Tokenizer::from_json(&tokenizer.to_json()).unwrap();
        assert_eq!(again, tokenizer);
        assert_eq!(again.vocab_len(), vocabulary.tokens.len());
        for (id, (name, kind)) in vocabulary.tokens.iter().zip(&vocabulary.kinds).enumerate() {
            let token = TokenId(id as u32);
            let special = matches!(kind, TokenKind::Control | TokenKind::Unknown | TokenKind::Unused);
            assert_eq!(again.special_name(token), special.then_some(name.as_str()), "{id}");
            assert_eq!(again.bytes(token).is_empty(), special, "{name}");
        }
        let text = "the user's cat <|im_end|> 日本\n";
        assert_eq!(again.encode(text), tokenizer.encode(text));
    }
    assert!(CONTROLS.iter().all(|name| real(&byte_level("smollm")).special(name).is_some()));
}

#[test]
fn a_letter_without_tokens_is_left_out_and_can_be_asked_for() {
    let mut vocabulary = byte_level("smollm");
    vocabulary.tokens[14 + 4] = "[nothing]".to_owned();
    let tokenizer = real(&vocabulary);
    assert_eq!(tokenizer.unwritable("the\u{4}cat"), Some('\u{4}'));
    assert_eq!(tokenizer.unwritable("the cat é 日本"), None);
    assert_eq!(tokenizer.decode(&tokenizer.encode("the\u{4}cat")), "thecat");
}

#[test]
fn what_cannot_make_a_tokenizer_is_refused_with_the_reason() {
    let check = |edit: fn(&mut merit_formats::GgufVocabulary), base: &str, want: &str| {
        let mut vocabulary = if base == "llama" { sentence_piece(false) } else { byte_level("smollm") };
        edit(&mut vocabulary);
        let error = Tokenizer::from_gguf(&vocabulary).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    };
    check(|v| v.pre = Some("smolm".to_owned()), "gpt2", "did you mean `smollm`?); known: default, gpt-2");
    check(
        |v| v.model = "rwkv".to_owned(),
        "gpt2",
        "unknown kind of tokenizer (`tokenizer.ggml.model`) `rwkv`; known: gpt2, llama",
    );
    check(|v| v.merges.clear(), "gpt2", "no merges");
    check(|v| v.merges[0] = "abc".to_owned(), "gpt2", "merge 0 is \"abc\", not two tokens");
    check(|v| v.merges[0] = "zz yy".to_owned(), "gpt2", "zz");
    check(|v| v.scores.clear(), "llama", "0 scores for");
    check(|v| v.eos = Some(9_999), "gpt2", "the eos token is 9999, but there are");
    check(|v| v.kinds.clear(), "gpt2", "and 0 token types");
    check(|v| v.tokens[20] = v.tokens[21].clone(), "gpt2", "tokens 20 and 21 are both");
    check(|v| (v.add_eos, v.eos) = (true, None), "gpt2", "asks for an eos token and names none");
    check(|v| v.tokens[14 + 65] = "nothing".to_owned(), "gpt2", "no token for byte 0x41");
    let words = r#"{"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}"#;
    let error = Tokenizer::from_json(words).unwrap_err();
    assert!(matches!(&error, TokenizerError::File(why) if why.contains("`WordLevel` model")), "{error}");
    let error = Tokenizer::from_json(r#"{"version": "1.0", "model": {"type": "BPE"}}"#).unwrap_err();
    assert!(
        matches!(&error, TokenizerError::File(why) if why.contains("neither byte-level nor has byte fallback")),
        "{error}"
    );
}
