//! A `tokenizer.json` as the vocabulary of a GGUF file.
//!
//! GGUF names the way in which text is cut instead of stating it. So every known way is tried, and one is taken only if the
//! tokenizer made from it gives the same tokens for texts that the ways differ on. Byte-level BPE can be said so; a
//! SentencePiece model would need scores that `tokenizer.json` does not have.

use merit_core::TokenId;
use merit_formats::{GgufVocabulary, Special, TokenKind};
use merit_text::{PRE_TOKENIZERS, Tokenizer};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    added_tokens: Vec<Added>,
    model: Model,
}

#[derive(Deserialize)]
struct Added {
    id: u32,
    content: String,
    special: bool,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    vocab: BTreeMap<String, u32>,
    #[serde(default)]
    merges: Vec<Merge>,
}

/// Two tokens, or one text with a space between them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Joined(String),
}

/// What cutting by different rules shows in: numbers, contractions, capitals, spaces, line ends, signs, other scripts, and
/// letters that can be composed.
const PROBES: [&str; 12] = [
    "Hello, world! How are you today?",
    "They're sure I've said it'll work, DON'T THEY'RE IT'S",
    "1 12 123 1234 12345 1234567890 3.14159 2024-01-31",
    "  two  spaces,   three\tand\t\ttabs ",
    "one\ntwo\n\nthree\r\n\r\n  four\n",
    "fn main() { println!(\"{}\", a+b*c/d); } // $x^2 ~ <y>|z=",
    "CamelCaseWordsAndHTTPServers XMLHttpRequest iPhone",
    "naïve café résumé e\u{301}te\u{301} Å A\u{30a}",
    "今天天气很好。日本語のテキスト、한국어 텍스트",
    "مرحبا بالعالم שלום עולם Привет, мир",
    "emoji 😀👍🏽 and ½ ² ½kg №5",
    "a_b-c/d\\e.f:g;h,i!?…—–\"quoted\" 'single' (brackets) [more] {curly}",
];

/// The vocabulary of a GGUF file that tokenises as `text` does, or why there is none.
pub(super) fn from_json(text: &str, special: &Special) -> Result<GgufVocabulary, String> {
    let own = Tokenizer::from_json(text).map_err(|error| error.to_string())?;
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if file.model.kind.as_deref().unwrap_or("BPE") != "BPE" {
        let kind = file.model.kind.unwrap_or_default();
        return Err(format!("it is a `{kind}` model, and only byte-level BPE can be said without scores"));
    }
    let vocabulary = plain(&file, &own, special)?;
    let wanted: Vec<_> = PROBES.iter().map(|probe| own.encode_framed(probe)).collect();
    let agreeing = PRE_TOKENIZERS.iter().filter_map(|way| {
        let pre = way.names.first().map(|name| (*name).to_owned());
        let vocabulary = GgufVocabulary { pre, ..vocabulary.clone() };
        let made = Tokenizer::from_gguf(&vocabulary).ok()?;
        let agrees = PROBES.iter().zip(&wanted).all(|(probe, wanted)| made.encode_framed(probe) == *wanted);
        agrees.then(|| (states_the_same(&made.to_json(), &file), vocabulary))
    });
    // Of several that agree on the probes, one that states the very same steps is surely right; the first of equals is kept.
    let best = agreeing.reduce(|best, other| if other.0 && !best.0 { other } else { best });
    let (_, vocabulary) =
        best.ok_or("it cuts text in a way for which GGUF has no name here, or is not byte-level")?;
    Ok(vocabulary)
}

/// Whether a `tokenizer.json` normalises and cuts by the same steps, word for word.
fn states_the_same(made: &str, file: &File) -> bool {
    let made: Option<File> = serde_json::from_str(made).ok();
    made.is_some_and(|made| {
        (&made.normalizer, &made.pre_tokenizer) == (&file.normalizer, &file.pre_tokenizer)
    })
}

/// Everything but the way in which text is cut.
fn plain(file: &File, own: &Tokenizer, special: &Special) -> Result<GgufVocabulary, String> {
    let mut by_id: BTreeMap<u32, (&str, TokenKind)> = BTreeMap::new();
    by_id.extend(file.model.vocab.iter().map(|(token, &id)| (id, (token.as_str(), TokenKind::Normal))));
    for added in &file.added_tokens {
        let kind = if added.special { TokenKind::Control } else { TokenKind::UserDefined };
        by_id.insert(added.id, (&added.content, kind));
    }
    if let Some((expected, _)) = (0_u32..).zip(by_id.keys()).find(|(expected, id)| expected != *id) {
        return Err(format!("there is no token {expected}, and GGUF has no gaps"));
    }
    let (tokens, kinds) = by_id.into_values().map(|(token, kind)| (token.to_owned(), kind)).unzip();
    let joined = |merge: &Merge| match merge {
        Merge::Pair(left, right) => format!("{left} {right}"),
        Merge::Joined(both) => both.clone(),
    };
    let id = |token: Option<&merit_formats::SpecialToken>| token.map(|token| token.id);
    let framed = own.encode_framed("a");
    let stands = |token: Option<&TokenId>, id: Option<u32>| token.is_some_and(|token| Some(token.0) == id);
    let (bos, eos) = (id(special.bos.as_ref()), id(special.eos.first()));
    Ok(GgufVocabulary {
        model: "gpt2".to_owned(),
        pre: None,
        tokens,
        kinds,
        scores: Vec::new(),
        merges: file.model.merges.iter().map(joined).collect(),
        bos,
        eos,
        unknown: id(special.unknown.as_ref()),
        padding: id(special.padding.as_ref()),
        add_bos: stands(framed.first(), bos),
        add_eos: stands(framed.last(), eos),
        add_space_prefix: false,
    })
}
