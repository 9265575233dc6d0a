//! Real models, where `cargo xtask weights` has fetched them.

use merit_formats::{
    EncoderActivation, EncoderFiles, Encoding, Family, ModelFiles, Pooling, TokenKind, TokenizerSource,
};

#[test]
fn smollm2_opens_with_everything_that_its_file_holds() {
    let Some(path) = merit_testing::weights("smollm2-135m-instruct-q4_1.gguf") else { return };
    let files = ModelFiles::open(path).unwrap();
    let config = files.config();
    assert_eq!(
        (config.layers, config.d_model, config.heads, config.kv_heads, config.d_ff),
        (30, 576, 9, 3, 1536)
    );
    assert_eq!((config.vocab, config.max_context, config.rope_base), (49_152, 8192, 1e5));
    assert!(config.style.is_plain());
    let described = files.describe();
    assert_eq!((described.parameters, described.licence.as_deref()), (134_515_008, Some("apache-2.0")));
    let counts: Vec<_> = described.encodings.iter().map(|share| (share.encoding, share.tensors)).collect();
    assert_eq!(counts, [(Encoding::Q4_1, 210), (Encoding::Q8_0, 1), (Encoding::F32, 61)]);
    let TokenizerSource::Gguf(vocabulary) = files.tokenizer() else { panic!("no tokenizer") };
    assert_eq!((vocabulary.model.as_str(), vocabulary.pre.as_deref()), ("gpt2", Some("smollm")));
    assert_eq!((vocabulary.tokens.len(), vocabulary.merges.len()), (49_152, 48_900));
    assert_eq!((vocabulary.kinds[2], vocabulary.kinds[300]), (TokenKind::Control, TokenKind::Normal));
    assert!(!vocabulary.add_bos && !vocabulary.add_space_prefix);
    let end = files.special().eos.first().unwrap();
    assert_eq!((end.id, end.text.as_deref()), (2, Some("<|im_end|>")));
    assert!(files.chat_template().unwrap().contains("<|im_start|>"));
}

/// Values by the format's own Python package (`gguf` 0.19), rows put back in the order of `transformers` by hand.
#[test]
fn smollm2_query_rows_are_in_the_order_of_transformers() {
    let Some(path) = merit_testing::weights("smollm2-135m-instruct-q4_1.gguf") else { return };
    let files = ModelFiles::open(path).unwrap();
    let values = files.values("model.layers.0.self_attn.q_proj.weight").unwrap();
    let at = |row: usize, column: usize| values[576 * row + column];
    assert_eq!(at(0, 0), f32::from_bits(0xbdc5_4000));
    assert_eq!(at(1, 5), f32::from_bits(0xbe98_d000));
    assert_eq!(at(32, 0), f32::from_bits(0xbdf0_4000));
    assert_eq!(at(33, 100), f32::from_bits(0x3e9c_8800));
    assert_eq!(at(63, 575), f32::from_bits(0xbd7a_e000));
    assert_eq!(at(64, 7), f32::from_bits(0xbe7a_4000));
    assert_eq!(at(575, 300), f32::from_bits(0x3e00_0000));
}

#[test]
fn gemma_opens_with_the_settings_of_its_family() {
    let Some(path) = merit_testing::weights("gemma3-270m-q4_k_m.gguf") else { return };
    let files = ModelFiles::open(path).unwrap();
    let (config, style) = (files.config(), &files.config().style);
    assert_eq!(
        (config.layers, config.d_model, config.heads, config.kv_heads, config.d_ff),
        (18, 640, 4, 1, 2048)
    );
    assert_eq!((style.family, style.head_dim, style.tied), (Family::Gemma3, Some(256), true));
    let window = style.window.unwrap();
    assert_eq!((window.size, window.every, window.rope_base, config.rope_base), (512, 6, 1e4, 1e6));
    assert_eq!(style.embedding_scale, Some(640_f32.sqrt()));
    assert_eq!(files.describe().parameters, 268_098_176);
    let TokenizerSource::Gguf(vocabulary) = files.tokenizer() else { panic!("no tokenizer") };
    assert_eq!((vocabulary.model.as_str(), vocabulary.scores.len()), ("llama", 262_144));
    assert!(vocabulary.add_bos && !vocabulary.add_space_prefix);
    // Gains as they multiply; transformers' own file would hold one less.
    let gain = files.gain("model.layers.0.input_layernorm.weight").unwrap();
    assert_eq!((gain[0].to_bits(), gain[639].to_bits()), (0x4180_0000, 0x4128_0000));
}

#[test]
fn minilm_opens_as_an_encoder() {
    let Some(path) = merit_testing::weights("all-minilm-l6-v2") else { return };
    let files = EncoderFiles::open(path).unwrap();
    let config = files.config();
    assert_eq!((config.layers, config.d_model, config.heads, config.d_ff), (6, 384, 12, 1536));
    assert_eq!(
        (config.vocab, config.max_positions, config.max_tokens, config.token_types),
        (30_522, 512, 256, 2)
    );
    assert_eq!(
        (config.pooling, config.normalise, config.activation),
        (Pooling::Mean, true, EncoderActivation::Gelu)
    );
    assert_eq!(config.norm_eps, 1e-12);
    let bias = files.values("encoder.layer.5.output.dense.bias").unwrap();
    assert_eq!(bias.len(), 384);
    assert!(files.tokenizer_json().contains("[CLS]"));
    let missing = files.tensor("encoder.layer.6.output.dense.bias").err().unwrap().to_string();
    assert!(missing.contains("is not part of this model"), "{missing}");
}
