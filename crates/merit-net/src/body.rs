//! Bodies, read to their end within a bound.

use crate::text::in_a_chain;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than the bound.
    TooLarge,
    /// It breaks off, for this reason.
    Broken(String),
}

/// The whole of a body of at most `limit` bytes.
pub async fn whole(body: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Err(error) => Err(BodyError::Broken(in_a_chain(error.as_ref()))),
    }
}
