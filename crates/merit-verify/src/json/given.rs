//! What a record gives beside the response: it is read as strictly as a response, since a key that is written twice or an
//! integer that lost its last digits would decide what is right.

use super::limits::{Limits, MAX_DEPTH};
use super::parse::parse;
use serde_json::Value;

/// A line bounds the size of what stands in it.
const LIMITS: Limits = Limits { bytes: usize::MAX, depth: MAX_DEPTH, nodes: usize::MAX, steps: u64::MAX };

/// The value of a text that is JSON; what is wrong with it otherwise.
pub(crate) fn given(text: &str) -> Result<Value, String> {
    let parsed = parse(text, &LIMITS);
    if let Some(limit) = parsed.too_large {
        return Err(format!("it is {limit}"));
    }
    if let Some(why) = parsed.objection(0) {
        return Err(why);
    }
    parsed.value.ok_or_else(|| "there is no value".to_owned())
}

/// The same; `name` is the key of the record it stands under.
pub(crate) fn given_as(name: &str, text: &str) -> Result<Value, String> {
    given(text).map_err(|why| format!("`{name}`: {why}"))
}
