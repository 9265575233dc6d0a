//! From the vocabulary of a GGUF file to the `tokenizer.json` of the same tokenizer.
//!
//! In: plain data. Out: JSON text that this crate, and every program of that format, loads; so there is one way to tokenise
//! whatever the file was. Control and reserved tokens become special tokens, user-defined ones are found in plain text.

use super::merges::{Scored, from_scores};
use super::pre_tokenizers::PreTokenizer;
use crate::TokenizerError;
use merit_core::registry::{UnknownName, nearest};
use merit_formats::{GgufVocabulary, TokenKind};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Kinds of tokenizers in GGUF files that can be read.
const MODELS: [&str; 2] = ["gpt2", "llama"];

#[derive(Serialize)]
struct TokenizerFile<'a> {
    version: &'static str,
    truncation: Option<()>,
    padding: Option<()>,
    added_tokens: Vec<AddedToken<'a>>,
    normalizer: Value,
    pre_tokenizer: Value,
    post_processor: Value,
    decoder: Value,
    model: Bpe<'a>,
}

#[derive(Serialize)]
struct AddedToken<'a> {
    id: u32,
    content: &'a str,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    special: bool,
}

#[derive(Serialize)]
struct Bpe<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    dropout: Option<f32>,
    unk_token: Option<&'a str>,
    continuing_subword_prefix: Option<&'a str>,
    end_of_word_suffix: Option<&'a str>,
    fuse_unk: bool,
    byte_fallback: bool,
    ignore_merges: bool,
    #[serde(serialize_with = "by_id")]
    vocab: &'a [String],
    merges: Vec<(&'a str, &'a str)>,
}

/// The tokenizer of the file as a `tokenizer.json`.
pub(super) fn tokenizer_json(vocabulary: &GgufVocabulary) -> Result<String, TokenizerError> {
    check(vocabulary)?;
    let file = match vocabulary.model.as_str() {
        "gpt2" => byte_level(vocabulary)?,
        "llama" => sentence_piece(vocabulary)?,
        name => return Err(unknown_model(name).into()),
    };
    serde_json::to_string(&file).map_err(|error| TokenizerError::Gguf(error.to_string()))
}

fn byte_level(vocabulary: &GgufVocabulary) -> Result<TokenizerFile<'_>, TokenizerError> {
    let pre = PreTokenizer::find(vocabulary.pre.as_deref().unwrap_or("default"))?;
    let normalizer = if pre.composes { json!({"type": "NFC"}) } else { Value::Null };
    let decoder =
        json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true});
    let merges = stated_merges(vocabulary)?;
    let model = Bpe { ignore_merges: pre.whole_pieces, ..bpe(vocabulary, merges) };
    file(vocabulary, normalizer, pre.steps(), decoder, model)
}

fn sentence_piece(vocabulary: &GgufVocabulary) -> Result<TokenizerFile<'_>, TokenizerError> {
    let spaces = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
    let prefix = vocabulary.add_space_prefix;
    let normalizer = if prefix {
        json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, spaces]})
    } else {
        spaces
    };
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if prefix {
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    let decoder = json!({"type": "Sequence", "decoders": decoders});
    let merges =
        if vocabulary.merges.is_empty() { scored_merges(vocabulary)? } else { stated_merges(vocabulary)? };
    let unknown = vocabulary.unknown.and_then(|id| vocabulary.tokens.get(id as usize));
    let model = Bpe {
        unk_token: unknown.map(String::as_str),
        fuse_unk: true,
        byte_fallback: true,
        ..bpe(vocabulary, merges)
    };
    file(vocabulary, normalizer, Value::Null, decoder, model)
}

fn file<'a>(
    vocabulary: &'a GgufVocabulary,
    normalizer: Value,
    pre_tokenizer: Value,
    decoder: Value,
    model: Bpe<'a>,
) -> Result<TokenizerFile<'a>, TokenizerError> {
    Ok(TokenizerFile {
        version: "1.0",
        truncation: None,
        padding: None,
        added_tokens: added(vocabulary),
        post_processor: around(vocabulary)?,
        normalizer,
        pre_tokenizer,
        decoder,
        model,
    })
}

fn bpe<'a>(vocabulary: &'a GgufVocabulary, merges: Vec<(&'a str, &'a str)>) -> Bpe<'a> {
    Bpe {
        kind: "BPE",
        dropout: None,
        unk_token: None,
        continuing_subword_prefix: None,
        end_of_word_suffix: None,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: &vocabulary.tokens,
        merges,
    }
}

fn added(vocabulary: &GgufVocabulary) -> Vec<AddedToken<'_>> {
    let tokens = vocabulary.tokens.iter().zip(&vocabulary.kinds).zip(0u32..);
    let added = tokens.filter_map(|((content, kind), id)| {
        let special = match kind {
            TokenKind::Control | TokenKind::Unknown | TokenKind::Unused => true,
            TokenKind::UserDefined => false,
            TokenKind::Normal | TokenKind::Byte => return None,
        };
        let (single_word, lstrip, rstrip, normalized) = (false, false, false, false);
        Some(AddedToken { id, content, single_word, lstrip, rstrip, normalized, special })
    });
    added.collect()
}

/// What stands around every text: the tokens that begin and end it.
fn around(vocabulary: &GgufVocabulary) -> Result<Value, TokenizerError> {
    let name = |wanted: bool, id: Option<u32>, what: &str| match (wanted, id) {
        (false, _) => Ok(None),
        (true, None) => Err(TokenizerError::Gguf(format!("asks for {what} token and names none"))),
        (true, Some(id)) => Ok(Some((id, &vocabulary.tokens[id as usize]))),
    };
    let before = name(vocabulary.add_bos, vocabulary.bos, "a bos")?;
    let after = name(vocabulary.add_eos, vocabulary.eos, "an eos")?;
    if before.is_none() && after.is_none() {
        return Ok(Value::Null);
    }
    let around = |sequence: &str, type_id: u32| -> Vec<Value> {
        let special = |(_, name)| json!({"SpecialToken": {"id": name, "type_id": type_id}});
        let text = json!({"Sequence": {"id": sequence, "type_id": type_id}});
        before.map(special).into_iter().chain([text]).chain(after.map(special)).collect()
    };
    let special =
        |(id, name): (u32, &String)| (name.clone(), json!({"id": name, "ids": [id], "tokens": [name]}));
    let specials: serde_json::Map<String, Value> = before.into_iter().chain(after).map(special).collect();
    let pair: Vec<Value> = [around("A", 0), around("B", 1)].concat();
    Ok(json!({
        "type": "TemplateProcessing", "single": around("A", 0), "pair": pair, "special_tokens": specials,
    }))
}

fn stated_merges(vocabulary: &GgufVocabulary) -> Result<Vec<(&str, &str)>, TokenizerError> {
    if vocabulary.merges.is_empty() {
        return Err(TokenizerError::Gguf("has no merges (`tokenizer.ggml.merges`)".to_owned()));
    }
    let read = |(rank, merge): (usize, &'_ String)| match merge.split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => Ok(rank),
        _ => Err(TokenizerError::Gguf(format!("merge {rank} is {merge:?}, not two tokens"))),
    };
    vocabulary.merges.iter().enumerate().try_for_each(|merge| read(merge).map(|_| ()))?;
    Ok(vocabulary.merges.iter().filter_map(|merge| merge.split_once(' ')).collect())
}

fn scored_merges(vocabulary: &GgufVocabulary) -> Result<Vec<(&str, &str)>, TokenizerError> {
    if vocabulary.scores.len() != vocabulary.tokens.len() {
        let (scores, tokens) = (vocabulary.scores.len(), vocabulary.tokens.len());
        return Err(TokenizerError::Gguf(format!("has {scores} scores for {tokens} tokens, and no merges")));
    }
    let tokens = vocabulary.tokens.iter().zip(&vocabulary.scores).zip(&vocabulary.kinds);
    let scored: Vec<Option<Scored<'_>>> = tokens
        .map(|((text, &score), &kind)| (kind == TokenKind::Normal).then_some((text.as_str(), score)))
        .collect();
    Ok(from_scores(&scored))
}

/// The checks that the rest relies on.
fn check(vocabulary: &GgufVocabulary) -> Result<(), TokenizerError> {
    let (tokens, kinds) = (vocabulary.tokens.len(), vocabulary.kinds.len());
    if tokens != kinds || tokens == 0 {
        return Err(TokenizerError::Gguf(format!("has {tokens} tokens and {kinds} token types")));
    }
    let named = [
        ("bos", vocabulary.bos),
        ("eos", vocabulary.eos),
        ("unknown", vocabulary.unknown),
        ("padding", vocabulary.padding),
    ];
    for (what, id) in named.into_iter().filter_map(|(what, id)| Some((what, id?))) {
        if id as usize >= tokens {
            return Err(TokenizerError::Gguf(format!(
                "the {what} token is {id}, but there are {tokens} tokens"
            )));
        }
    }
    let mut seen = HashMap::new();
    for (id, token) in vocabulary.tokens.iter().enumerate() {
        if let Some(earlier) = seen.insert(token, id) {
            return Err(TokenizerError::Gguf(format!("tokens {earlier} and {id} are both {token:?}")));
        }
    }
    Ok(())
}

fn unknown_model(name: &str) -> UnknownName {
    UnknownName {
        kind: "kind of tokenizer (`tokenizer.ggml.model`)",
        name: name.to_owned(),
        nearest: nearest(name, MODELS),
        known: MODELS.map(str::to_owned).to_vec(),
    }
}

fn by_id<S: Serializer>(tokens: &&[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tokens.iter().zip(0u32..))
}
