//! What a text's vector may depend on: the text, and nothing else.

use crate::support::{Tensors, tensors, write};
use merit_encoder::{Encoder, EncoderError};
use proptest::prelude::*;

fn encoder() -> Encoder {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &tensors());
    Encoder::open(folder.path()).unwrap()
}

fn bits(vector: &[f32]) -> Vec<u32> {
    vector.iter().map(|x| x.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_text_has_the_same_bits_alone_in_any_batch_and_on_any_number_of_threads(
        texts in prop::collection::vec("(the|cat|cats|sat|on|mat|zebra|\\.| ){0,30}", 1..40),
        threads in 1_usize..4,
    ) {
        let encoder = encoder();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let together = pool.install(|| encoder.embed(&texts)).unwrap();
        for (text, vector) in texts.iter().zip(&together) {
            prop_assert_eq!(bits(&encoder.embed(&[text]).unwrap()[0]), bits(vector), "{:?}", text);
        }
    }
}

#[test]
fn a_text_that_is_too_long_is_cut_before_its_last_mark() {
    let encoder = encoder();
    let long = "cat ".repeat(100);
    let tokens: Vec<u32> = encoder.tokens(&long).iter().map(|token| token.0).collect();
    assert_eq!((tokens.len(), tokens[0], tokens[15]), (16, 2, 3));
    assert_eq!(
        bits(&encoder.embed(&[&long]).unwrap()[0]),
        bits(&encoder.embed(&["cat ".repeat(14).as_str()]).unwrap()[0])
    );
}

#[test]
fn a_text_that_spells_a_mark_is_no_mark() {
    let tokens: Vec<u32> = encoder().tokens("cat [SEP] dog").iter().map(|token| token.0).collect();
    assert_eq!(tokens.iter().filter(|&&token| token == 3).count(), 1, "{tokens:?}");
}

#[test]
fn nothing_to_embed_is_no_vectors() {
    assert!(encoder().embed(&[]).unwrap().is_empty());
}

/// Why a folder with changed files cannot be used.
fn refused(change: impl FnOnce(&std::path::Path, &mut Tensors)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut tensors = tensors();
    write(folder.path(), &tensors);
    change(folder.path(), &mut tensors);
    let error = match Encoder::open(folder.path()) {
        Err(error) => error,
        Ok(encoder) => encoder.embed(&["the cat"]).unwrap_err(),
    };
    assert!(matches!(
        error,
        EncoderError::Format(_)
            | EncoderError::NoRoom { .. }
            | EncoderError::Tokenizer { .. }
            | EncoderError::Vocabulary { .. }
            | EncoderError::NotFinite { .. }
    ));
    error.to_string()
}

#[test]
fn damaged_folders_are_refused_with_the_file_and_the_part() {
    let missing = refused(|folder, tensors| {
        tensors.remove("encoder.layer.1.output.dense.bias");
        write(folder, tensors);
    });
    assert!(missing.contains("encoder.layer.1.output.dense.bias"), "{missing}");
    let nan = refused(|folder, tensors| {
        tensors.get_mut("embeddings.LayerNorm.bias").unwrap().1[3] = f32::NAN;
        write(folder, tensors);
    });
    assert!(nan.contains("embeddings.LayerNorm.bias"), "{nan}");
    let huge = refused(|folder, tensors| {
        let weight = &mut tensors.get_mut("encoder.layer.1.output.LayerNorm.weight").unwrap().1;
        weight.iter_mut().for_each(|x| *x = f32::MAX);
        write(folder, tensors);
    });
    assert!(huge.contains("text 0 is not finite"), "{huge}");
    let truncated = refused(|folder, _| {
        let path = folder.join("model.safetensors");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    });
    assert!(truncated.contains("model.safetensors"), "{truncated}");
    let short = refused(|folder, _| {
        std::fs::write(folder.join("sentence_bert_config.json"), r#"{"max_seq_length": 2}"#).unwrap();
    });
    assert!(short.contains("puts 2 tokens around a text"), "{short}");
    let wordless = refused(|folder, _| std::fs::remove_file(folder.join("tokenizer.json")).unwrap());
    assert!(wordless.contains("tokenizer.json"), "{wordless}");
}

#[test]
fn the_digest_changes_with_the_weights_and_stays_with_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut tensors = tensors();
    write(folder.path(), &tensors);
    let first = Encoder::digest_of(folder.path()).unwrap();
    assert_eq!((first.len(), &first), (64, &Encoder::digest_of(folder.path()).unwrap()));
    tensors.get_mut("embeddings.LayerNorm.bias").unwrap().1[0] += 0.25;
    write(folder.path(), &tensors);
    assert_ne!(first, Encoder::digest_of(folder.path()).unwrap());
}
