//! Files: what is written reads back bit by bit, and what is broken gives an error with a name.

use crate::support::*;
use merit_model::*;

fn read_error(bytes: &[u8]) -> String {
    Weights::from_safetensors(bytes).unwrap_err().to_string()
}

#[test]
fn weights_survive_a_round_trip_bit_by_bit() {
    for config in [odd(), even()] {
        let weights = weights(&config);
        let bytes = weights.to_safetensors();
        let back = Weights::from_safetensors(&bytes).unwrap();
        assert_eq!(back.config(), &config);
        assert_eq!(bits(back.values()), bits(weights.values()));
        assert_eq!(back.to_safetensors(), bytes);
    }
}

#[test]
fn tensors_have_the_usual_names_and_shapes() {
    let weights = weights(&odd());
    let shape = |name: &str| weights.tensors().find(|(n, _)| *n == name).unwrap().1;
    assert_eq!(shape("model.embed_tokens.weight"), [269, 24]);
    assert_eq!(shape("model.layers.0.self_attn.q_proj.weight"), [24, 24]);
    assert_eq!(shape("model.layers.1.self_attn.k_proj.weight"), [8, 24]);
    assert_eq!(shape("model.layers.1.mlp.down_proj.weight"), [24, 40]);
    assert_eq!(shape("value_head.bias"), [1]);
}

#[test]
fn a_truncated_file_is_an_error() {
    let bytes = weights(&odd()).to_safetensors();
    for len in [0, 1, 7, 8, 9, 100, 2000, bytes.len() / 2, bytes.len() - 1] {
        let error = Weights::from_safetensors(&bytes[..len]).unwrap_err();
        assert!(matches!(error, ModelError::Checkpoint(_)), "{len} bytes: {error}");
    }
}

#[test]
fn a_flipped_header_byte_never_panics() {
    let bytes = weights(&odd()).to_safetensors();
    for at in 0..3000 {
        let mut broken = bytes.clone();
        broken[at] ^= 1 << (at % 7);
        let _ = Weights::from_safetensors(&broken);
    }
}

/// Replaces text in the header by text of the same length.
fn patched(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

#[test]
fn the_error_names_the_tensor() {
    let bytes = weights(&odd()).to_safetensors();
    let error = read_error(&patched(&bytes, "layers.1.mlp.up_proj", "layers.1.mlp.up_porj"));
    assert!(error.contains("model.layers.1.mlp.up_porj.weight"), "{error}");
    let error = read_error(&patched(&bytes, r#""shape":[269,24]"#, r#""shape":[24,269]"#));
    assert_eq!(error, "checkpoint: tensor `model.embed_tokens.weight`: has shape [24, 269], want [269, 24]");
    let error = read_error(&patched(&bytes, "merit_decoder", "merit_encoder"));
    assert_eq!(error, "checkpoint: no `merit_decoder` in the metadata");
    let error = read_error(&patched(&bytes, r#"\"vocab\":269"#, r#"\"vocab\":999"#));
    assert!(error.contains("the config asks for"), "{error}");
}
