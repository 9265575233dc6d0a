//! Small tokenizers of real kinds, built in memory, and the templates of the tests.
#![allow(unreachable_pub)]

use merit_formats::{GgufVocabulary, TokenKind};
use merit_text::{ChatTemplate, SpecialTokens, Tokenizer};

pub const CHATML: &str = include_str!("../../templates/chatml.jinja");
pub const QWEN_TOOLS: &str = include_str!("../../templates/qwen_tools.jinja");
pub const LLAMA3: &str = include_str!("../../templates/llama3.jinja");
pub const GEMMA: &str = include_str!("../../templates/gemma.jinja");
pub const INSTRUCT: &str = include_str!("../../templates/instruct.jinja");

/// Special tokens of all the templates here.
pub const CONTROLS: [&str; 12] = [
    "<s>",
    "</s>",
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<bos>",
    "<start_of_turn>",
    "<end_of_turn>",
];

pub fn template(source: &str) -> ChatTemplate {
    let name = |name: &str| Some(name.to_owned());
    let specials = match source {
        LLAMA3 => {
            SpecialTokens { bos: name("<|begin_of_text|>"), eos: name("<|eot_id|>"), ..Default::default() }
        }
        GEMMA => SpecialTokens { bos: name("<bos>"), ..Default::default() },
        INSTRUCT => SpecialTokens { bos: name("<s>"), eos: name("</s>"), ..Default::default() },
        _ => SpecialTokens { eos: name("<|im_end|>"), ..Default::default() },
    };
    ChatTemplate::parse(source, specials).unwrap()
}

/// The letter of a byte in byte-level vocabularies.
pub fn letter(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&byte| !printable(byte)).count() as u32;
    char::from_u32(256 + before).unwrap()
}

fn letters(text: &str) -> String {
    text.bytes().map(letter).collect()
}

/// A byte-level vocabulary as a GGUF file would carry it: controls, one user-defined tag, bytes, and the merges of some words.
pub fn byte_level(pre: &str) -> GgufVocabulary {
    let mut tokens: Vec<String> = CONTROLS.map(str::to_owned).to_vec();
    let mut kinds = vec![TokenKind::Control; tokens.len()];
    tokens.push("<tool_call>".to_owned());
    kinds.push(TokenKind::UserDefined);
    tokens.push("[PAD13]".to_owned());
    kinds.push(TokenKind::Unused);
    tokens.extend((0..=u8::MAX).map(|byte| letter(byte).to_string()));
    let mut merges = Vec::new();
    for word in
        ["the", " the", "system", "user", "assistant", " cat", "\n\n", "::", "é", "日", "\"}", "42", "true"]
    {
        let parts: Vec<String> = letters(word).chars().map(String::from).collect();
        let mut joined = parts[0].clone();
        for part in &parts[1..] {
            let merge = format!("{joined} {part}");
            joined.push_str(part);
            if !tokens.contains(&joined) {
                tokens.push(joined.clone());
                merges.push(merge);
            }
        }
    }
    kinds.resize(tokens.len(), TokenKind::Normal);
    GgufVocabulary {
        model: "gpt2".to_owned(),
        pre: Some(pre.to_owned()),
        tokens,
        kinds,
        scores: Vec::new(),
        merges,
        bos: Some(0),
        eos: Some(4),
        unknown: Some(2),
        padding: Some(1),
        add_bos: false,
        add_eos: false,
        add_space_prefix: false,
    }
}

/// A SentencePiece vocabulary as a GGUF file would carry it: controls, runs of spaces, bytes, and scored pieces.
pub fn sentence_piece(add_space_prefix: bool) -> GgufVocabulary {
    let mut tokens = vec!["<unk>".to_owned()];
    let mut kinds = vec![TokenKind::Unknown];
    tokens.extend(CONTROLS.map(str::to_owned));
    kinds.resize(tokens.len(), TokenKind::Control);
    tokens.extend(["  ", "   ", "\n\n"].map(str::to_owned));
    kinds.resize(tokens.len(), TokenKind::UserDefined);
    tokens.extend((0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")));
    kinds.resize(tokens.len(), TokenKind::Byte);
    let mut scores = vec![0.0; tokens.len()];
    let pieces = [
        "▁the", "the", "th", "▁t", "he", "at", "cat", "▁cat", "us", "er", "user", "mo", "del", "de", "model",
    ];
    let letters = "▁abcdefghijklmnopqrstuvwxyzABC0123456789.,:[]/\n{}\"é".chars().map(String::from);
    for (rank, piece) in pieces.map(str::to_owned).into_iter().chain(letters).enumerate() {
        tokens.push(piece);
        scores.push(-(rank as f32));
    }
    kinds.resize(tokens.len(), TokenKind::Normal);
    GgufVocabulary {
        model: "llama".to_owned(),
        pre: None,
        tokens,
        kinds,
        scores,
        merges: Vec::new(),
        bos: Some(10),
        eos: Some(2),
        unknown: Some(0),
        padding: None,
        add_bos: true,
        add_eos: false,
        add_space_prefix,
    }
}

pub fn real(vocabulary: &GgufVocabulary) -> Tokenizer {
    Tokenizer::from_gguf(vocabulary).unwrap()
}
