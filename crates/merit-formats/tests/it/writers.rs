//! Saving: whole or not at all, in one file or several, and never a shape that would be read as another.

use crate::support;

use crate::support::{tiny, weights};
use merit_formats::{
    Encoding, Family, FormatError, GgufExtras, GgufVocabulary, HfExtras, HfOptions, ModelFiles, NamedTensor,
    Special, SpecialToken, TokenKind, TokenizerSource, save_gguf, save_hf,
};
use std::fs;
use std::path::Path;

fn special() -> Special {
    let token = |id, text: &str| SpecialToken { id, text: Some(text.to_owned()) };
    Special {
        bos: Some(token(1, "<s>")),
        eos: vec![token(2, "</s>"), token(5, "<turn>")],
        padding: Some(token(0, "<pad>")),
        unknown: None,
    }
}

const TOKENIZER: &str = r#"{"added_tokens":[{"id":0,"content":"<pad>"},{"id":1,"content":"<s>"},
    {"id":2,"content":"</s>"},{"id":5,"content":"<turn>"}],"model":{}}"#;

fn save(folder: &Path, options: HfOptions) -> Result<(), FormatError> {
    let config = tiny(Family::Llama);
    let special = special();
    let extras = HfExtras {
        tokenizer_json: Some(TOKENIZER),
        chat_template: Some("{{ messages }}"),
        special: &special,
    };
    save_hf(folder, &config, weights(&config), &extras, options)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn tokenizer_template_and_special_tokens_come_back() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    save(&folder, HfOptions::default()).unwrap();
    let files = ModelFiles::open(&folder).unwrap();
    assert_eq!(files.chat_template(), Some("{{ messages }}"));
    assert_eq!(files.special(), &special());
    let TokenizerSource::HfJson { text, config } = files.tokenizer() else { panic!("no tokenizer") };
    assert_eq!((text, config["eos_token"].as_str()), (TOKENIZER, Some("</s>")));
    let only_weights = ModelFiles::open(folder.join("model.safetensors")).unwrap();
    assert_eq!(only_weights.config(), files.config());
}

#[test]
fn a_model_larger_than_a_file_may_be_is_spread_over_several() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    save(&folder, HfOptions { encoding: Encoding::Bf16, shard_bytes: 100_000 }).unwrap();
    let weights_files = names(&folder).into_iter().filter(|name| name.ends_with(".safetensors"));
    let weights_files: Vec<String> = weights_files.collect();
    assert!(
        weights_files.len() > 1 && weights_files[0].starts_with("model-00001-of-0000"),
        "{weights_files:?}"
    );
    for name in &weights_files {
        assert!(fs::metadata(folder.join(name)).unwrap().len() < 110_000);
    }
    let files = ModelFiles::open(&folder).unwrap();
    assert_eq!(files.describe().files, weights_files.len());
    let value = files.values("model.embed_tokens.weight").unwrap()[7];
    assert!((value - 0.3 * support::noise(1, 7)).abs() < 1e-3);
}

#[test]
fn what_was_there_stays_whole_when_saving_fails() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    save(&folder, HfOptions::default()).unwrap();
    let before = fs::read(folder.join("model.safetensors")).unwrap();
    let config = tiny(Family::Llama);
    let special = Special::default();
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
    let mut broken = weights(&config);
    let failure = FormatError::File { path: "elsewhere".into(), reason: "gone".to_owned() };
    broken[7] = Err(failure);
    let error = save_hf(&folder, &config, broken, &extras, HfOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "elsewhere: gone");
    assert_eq!(fs::read(folder.join("model.safetensors")).unwrap(), before);
    assert_eq!(names(place.path()), ["m"]);
    let gguf = place.path().join("m.gguf");
    let missing = weights(&config).into_iter().skip(1);
    let error = save_gguf(&gguf, &config, missing, &GgufExtras::default(), Encoding::F32).unwrap_err();
    assert!(error.to_string().ends_with("tensor `model.embed_tokens.weight`: was not given"), "{error}");
    assert_eq!(names(place.path()), ["m"]);
}

#[test]
fn a_model_is_replaced_and_nothing_else_is() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    save(&folder, HfOptions { encoding: Encoding::F32, shard_bytes: 100_000 }).unwrap();
    save(&folder, HfOptions::default()).unwrap();
    let left = [
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ];
    assert_eq!(names(&folder), left);
    fs::write(folder.join("thesis.txt"), "words").unwrap();
    let error = save(&folder, HfOptions::default()).unwrap_err().to_string();
    assert!(error.contains("holds `thesis.txt`"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("thesis.txt")).unwrap(), "words");
}

type Given = Vec<Result<NamedTensor<'static>, FormatError>>;

#[test]
fn tensors_that_do_not_fit_are_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    let config = tiny(Family::Qwen2);
    let special = Special::default();
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
    let check = |change: &dyn Fn(&mut Given), message: &str| {
        let mut tensors = weights(&config);
        change(&mut tensors);
        let error =
            save_hf(&folder, &config, tensors, &extras, HfOptions::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    check(&|t| t[3].as_mut().unwrap().shape.push(1), "has shape [32, 64, 1], the decoder's is [32, 64]");
    check(&|t| t[3].as_mut().unwrap().values.to_mut().truncate(5), "has 5 values for shape [32, 64]");
    check(
        &|t| t[3].as_mut().unwrap().values.to_mut()[9] = f32::NAN,
        "`model.layers.0.self_attn.k_proj.weight`: value 9 is NaN",
    );
    check(&|t| t.extend(weights(&tiny(Family::Qwen2)).into_iter().take(1)), "or came twice");
    check(&|t| drop(t.remove(2)), "`model.layers.0.self_attn.q_proj.weight`: was not given");
}

#[test]
fn a_style_that_the_files_cannot_say_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let mut config = tiny(Family::Llama);
    config.style.embedding_scale = Some(3.0);
    let special = Special::default();
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
    let path = place.path().join("m");
    let error =
        save_hf(&path, &config, weights(&config), &extras, HfOptions::default()).unwrap_err().to_string();
    assert!(error.contains("files of family Llama cannot say"), "{error}");
    let error =
        save_gguf(&path, &config, weights(&config), &GgufExtras::default(), Encoding::F32).unwrap_err();
    assert!(error.to_string().contains("files of family Llama cannot say"), "{error}");
    assert_eq!(names(place.path()), Vec::<String>::new());
}

#[test]
fn a_vocabulary_survives_a_gguf_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("m.gguf");
    let config = tiny(Family::Llama);
    let vocabulary = GgufVocabulary {
        model: "gpt2".to_owned(),
        pre: Some("smollm".to_owned()),
        tokens: (0..53).map(|id| format!("t{id}")).collect(),
        kinds: (0..53).map(|id| TokenKind::from_number(id % 6 + 1).unwrap()).collect(),
        scores: (0..53).map(|id| -(id as f32)).collect(),
        merges: vec!["t 1".to_owned(), "t 2".to_owned()],
        bos: Some(1),
        eos: Some(2),
        unknown: Some(0),
        padding: None,
        add_bos: true,
        add_eos: false,
        add_space_prefix: true,
    };
    let extras = GgufExtras {
        name: Some("tiny"),
        licence: Some("mit"),
        vocabulary: Some(&vocabulary),
        chat_template: Some("{{ x }}"),
    };
    save_gguf(&path, &config, weights(&config), &extras, Encoding::Q8_0).unwrap();
    let files = ModelFiles::open(&path).unwrap();
    assert_eq!(files.tokenizer(), TokenizerSource::Gguf(&vocabulary));
    assert_eq!(files.chat_template(), Some("{{ x }}"));
    let described = files.describe();
    assert_eq!((described.name.as_deref(), described.licence.as_deref()), (Some("tiny"), Some("mit")));
    assert_eq!(files.special().eos, [SpecialToken { id: 2, text: Some("t2".to_owned()) }]);
}
