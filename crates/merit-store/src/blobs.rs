//! Streams of tokens and floats as little-endian bytes, so that they load back bit for bit.

use merit_core::TokenId;

/// Four bytes per token.
pub(crate) fn from_tokens<'a>(tokens: impl IntoIterator<Item = &'a TokenId>) -> Vec<u8> {
    tokens.into_iter().flat_map(|token| token.0.to_le_bytes()).collect()
}

/// Four bytes per number.
pub(crate) fn from_floats<'a>(floats: impl IntoIterator<Item = &'a f32>) -> Vec<u8> {
    floats.into_iter().flat_map(|float| float.to_le_bytes()).collect()
}

/// The tokens of a blob; absent when its length is odd.
pub(crate) fn to_tokens(bytes: &[u8]) -> Option<Vec<TokenId>> {
    words(bytes, |word| TokenId(u32::from_le_bytes(word)))
}

/// The numbers of a blob; absent when its length is odd.
pub(crate) fn to_floats(bytes: &[u8]) -> Option<Vec<f32>> {
    words(bytes, f32::from_le_bytes)
}

fn words<T>(bytes: &[u8], read: impl Fn([u8; 4]) -> T) -> Option<Vec<T>> {
    let (words, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| words.iter().map(|word| read(*word)).collect())
}
