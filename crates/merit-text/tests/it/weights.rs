//! The tokenizers and templates of real models, where their files have been fetched; skipped otherwise.

use merit_formats::ModelFiles;
use merit_text::{ChatFrames, ModelText, Place, TemplateContext, TemplateRole, Tokenizer, TokenizerConfig};

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    tokenizer.encode_with_specials(text).iter().map(|token| token.0).collect()
}

#[test]
fn smollm2_tokenises_as_its_makers_do_and_its_template_is_append_only() {
    let Some(path) = merit_testing::weights("smollm2-135m-instruct-q4_1.gguf") else { return };
    let text = ModelText::read(&ModelFiles::open(path).unwrap()).unwrap();
    let tokenizer = &text.tokenizer;
    // From the `tokenizers` library with digits cut apart and the byte-level pattern, on the same vocabulary.
    assert_eq!(ids(tokenizer, "<|im_start|>user\nWhat is 12+345?<|im_end|>\n"), SMOLLM2_IDS);
    assert_eq!(tokenizer.unwritable("a\u{4}"), Some('\u{4}'), "its vocabulary lacks some control letters");
    assert_eq!(text.ends, ["<|im_end|>"]);
    let template = text.template.as_ref().unwrap();
    let frames = ChatFrames::derive(template, &TemplateContext::default()).unwrap();
    let opening = frames.gap(Place::Start, TemplateRole::User).unwrap();
    assert!(
        opening.starts_with("<|im_start|>system\nYou are a helpful AI assistant named SmolLM"),
        "{opening}"
    );
    let again = Tokenizer::from_json(&tokenizer.to_json()).unwrap();
    assert_eq!(again, **tokenizer);
    assert_eq!(TokenizerConfig::from_json(&text.config().to_json()), Ok(text.config()));
}

const SMOLLM2_IDS: [u32; 15] = [1, 4093, 198, 1780, 314, 216, 33, 34, 27, 35, 36, 37, 47, 2, 198];

#[test]
fn gemma3_tokenises_as_its_makers_do() {
    let Some(path) = merit_testing::weights("gemma3-270m-q4_k_m.gguf") else { return };
    let text = ModelText::read(&ModelFiles::open(path).unwrap()).unwrap();
    let tokenizer = &text.tokenizer;
    // From `transformers`, reading the same file.
    assert_eq!(ids(tokenizer, "<bos><start_of_turn>user\nWhat is   12+345?\n\n<end_of_turn>\n"), GEMMA3_IDS);
    let odd = "tabs\tand\r\n  spaces 日本 🙂 \u{4}";
    assert_eq!(tokenizer.decode(&tokenizer.encode(odd)), odd);
}

const GEMMA3_IDS: [u32; 17] = [
    2, 105, 2364, 107, 3689, 563, 139, 236770, 236778, 236862, 236800, 236812, 236810, 236881, 108, 106, 107,
];

#[test]
fn an_embedding_model_reads_whole_texts_between_its_marks() {
    let Some(path) = merit_testing::weights("all-minilm-l6-v2/tokenizer.json") else { return };
    let tokenizer = Tokenizer::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let framed = tokenizer.encode_framed("Hello, tokenizers!");
    assert_eq!(tokenizer.decode_with_specials(&framed), "[CLS] hello , tokenizers ![SEP]");
}
