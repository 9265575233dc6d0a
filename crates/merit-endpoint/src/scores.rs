//! Log-probabilities as servers lay them out.
//!
//! In: the `logprobs` of a choice, as conversations have it (`content`, one object a token) or as completions of plain text have
//! it (lists side by side). Out: one [`TokenScore`] a token.

use crate::answer::{TokenScore, TopToken};
use crate::field::{At, BadField};
use merit_core::TokenId;

/// The scores of a choice or a piece of one.
pub(crate) fn read_scores(logprobs: &At<'_>) -> Result<Vec<TokenScore>, BadField> {
    if let Some(content) = logprobs.get("content") {
        return content.list()?.map(|entry| score(&entry)).collect();
    }
    if logprobs.get("token_logprobs").is_some() {
        return side_by_side(logprobs);
    }
    // A last chunk without a token has neither.
    Ok(Vec::new())
}

/// A list of token ids.
pub(crate) fn tokens_of(ids: &At<'_>) -> Result<Vec<TokenId>, BadField> {
    ids.list()?.map(|id| id.token()).collect()
}

fn score(entry: &At<'_>) -> Result<TokenScore, BadField> {
    let top = match entry.get("top_logprobs") {
        Some(top) => top.list()?.map(|other| top_token(&other)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let TopToken { token, id, bytes, logprob } = top_token(entry)?;
    Ok(TokenScore { token, id, bytes, logprob, top })
}

fn top_token(entry: &At<'_>) -> Result<TopToken, BadField> {
    let token = entry.need("token")?.text()?.to_owned();
    // llama.cpp writes the id beside the token.
    let id = match entry.get("id").or_else(|| entry.get("token_id")) {
        Some(id) => Some(id.token()?),
        None => id_in(&token),
    };
    let bytes = entry.get("bytes").map(|bytes| {
        let byte = |at: At<'_>| u8::try_from(at.count()?).map_err(|_| at.is_not("a byte"));
        bytes.list()?.map(byte).collect::<Result<Vec<u8>, BadField>>()
    });
    Ok(TopToken { token, id, bytes: bytes.transpose()?, logprob: entry.need("logprob")?.logprob()? })
}

/// vLLM writes `token_id:17` in place of the token when it is asked to.
fn id_in(token: &str) -> Option<TokenId> {
    token.strip_prefix("token_id:")?.parse().ok().map(TokenId)
}

fn side_by_side(logprobs: &At<'_>) -> Result<Vec<TokenScore>, BadField> {
    let (tokens, numbers) = (logprobs.need("tokens")?, logprobs.need("token_logprobs")?);
    let tokens: Vec<&str> = tokens.list()?.map(|token| token.text()).collect::<Result<_, _>>()?;
    let numbers: Vec<f32> = numbers.list()?.map(|number| number.logprob()).collect::<Result<_, _>>()?;
    if tokens.len() != numbers.len() {
        let (t, n) = (tokens.len(), numbers.len());
        return Err(BadField(format!("{logprobs} has {t} tokens but {n} log-probabilities")));
    }
    let mut scores: Vec<TokenScore> = tokens
        .into_iter()
        .zip(numbers)
        .map(|(token, logprob)| TokenScore {
            token: token.to_owned(),
            id: id_in(token),
            bytes: None,
            logprob,
            top: Vec::new(),
        })
        .collect();
    if let Some(top) = logprobs.get("top_logprobs") {
        for (score, others) in scores.iter_mut().zip(top.list()?) {
            score.top = alternatives(&others)?;
        }
    }
    Ok(scores)
}

/// An object of tokens and their log-probabilities, likeliest first.
fn alternatives(others: &At<'_>) -> Result<Vec<TopToken>, BadField> {
    let Some(object) = others.value.as_object() else {
        return if others.value.is_null() { Ok(Vec::new()) } else { Err(others.is_not("an object")) };
    };
    let read = object.keys().map(|token| {
        let logprob = others.need(token)?.logprob()?;
        Ok(TopToken { token: token.clone(), id: id_in(token), bytes: None, logprob })
    });
    let mut top = read.collect::<Result<Vec<TopToken>, BadField>>()?;
    top.sort_by(|a, b| b.logprob.total_cmp(&a.logprob));
    Ok(top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(logprobs: &Value) -> Result<Vec<TokenScore>, String> {
        read_scores(&At::top("logprobs", logprobs)).map_err(|bad| bad.0)
    }

    fn brief(scores: &[TokenScore]) -> Vec<(&str, Option<u32>, f32, usize)> {
        scores.iter().map(|s| (s.token.as_str(), s.id.map(|id| id.0), s.logprob, s.top.len())).collect()
    }

    #[test]
    fn both_layouts_are_read() {
        let chat = json!({ "content": [
            { "token": "Hi", "logprob": -0.5, "bytes": [72, 105],
              "top_logprobs": [{ "token": "Hi", "logprob": -0.5 }, { "token": "\u{fffd}", "logprob": -1.5, "bytes": [195] }] },
            { "token": "!", "id": 7, "logprob": 1e-7, "bytes": null, "top_logprobs": [] } ] });
        let scores = read(&chat).unwrap();
        assert_eq!(brief(&scores), [("Hi", None, -0.5, 2), ("!", Some(7), 0.0, 0)]);
        assert_eq!(scores[0].bytes.as_deref(), Some(b"Hi".as_slice()));
        assert_eq!(scores[0].top[1].bytes.as_deref(), Some([195].as_slice()));
        let plain = json!({ "tokens": ["token_id:3", "b"], "token_logprobs": [-1.0, -2.0], "text_offset": [0, 1],
                            "top_logprobs": [{ "x": -3.0, "a": -1.0 }, null] });
        let scores = read(&plain).unwrap();
        assert_eq!(brief(&scores), [("token_id:3", Some(3), -1.0, 2), ("b", None, -2.0, 0)]);
        assert_eq!(scores[0].top[0].token, "a");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            (json!({ "content": 1 }), "content is 1, not a list"),
            (json!({ "content": [{ "token": "a" }] }), "content[0] has no `logprob`"),
            (
                json!({ "content": [{ "token": "a", "logprob": 2 }] }),
                "content[0].logprob is 2, not a log-probability",
            ),
            (
                json!({ "content": [{ "token": "a", "logprob": "x" }] }),
                "content[0].logprob is \"x\", not a finite number",
            ),
            (
                json!({ "content": [{ "token": "a", "logprob": -1, "id": -4 }] }),
                "content[0].id is -4, not a token id",
            ),
            (
                json!({ "tokens": ["a"], "token_logprobs": [-1, -2] }),
                "logprobs has 1 tokens but 2 log-probabilities",
            ),
            (
                json!({ "tokens": ["a"], "token_logprobs": [null] }),
                "token_logprobs[0] is null, not a finite number",
            ),
        ];
        for (logprobs, says) in cases {
            assert_eq!(read(&logprobs).unwrap_err(), says);
        }
    }
}
