//! Texts as hashed counts of words and character n-grams: alike in spelling, not in meaning.
//!
//! Every word and every run of 3 to 5 characters inside ` word ` is hashed to one coordinate and a sign (signed feature
//! hashing, arXiv:0902.2206); a feature that occurs `tf` times adds `1 + ln(tf)`; the vector is scaled to norm 1. It sees
//! inflections and typing errors, and is blind to synonyms, negation and word order.

use super::{Embedder, RoleError};
use crate::text::Normalise;
use merit_core::About;

pub(super) const ABOUT: About = About {
    name: "hashed-ngrams",
    summary: "cosine of hashed words and character n-grams: spelling, not meaning; no model",
    paper: "arXiv:0902.2206",
};

/// Longest text that is looked at, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The embedder `hashed-ngrams`.
#[derive(Debug, Clone, Copy)]
pub struct HashedNgrams {
    /// Length of the vectors, a power of two.
    dimensions: usize,
}

impl Default for HashedNgrams {
    fn default() -> Self {
        Self { dimensions: 4096 }
    }
}

impl Embedder for HashedNgrams {
    fn about(&self) -> About {
        ABOUT
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RoleError> {
        texts.iter().map(|text| self.vector(text)).collect()
    }
}

impl HashedNgrams {
    fn vector(&self, text: &str) -> Result<Vec<f32>, RoleError> {
        if text.len() > MAX_BYTES {
            let why = format!("a text of {} bytes is longer than {MAX_BYTES}", text.len());
            return Err(RoleError { role: "embedder", name: ABOUT.name.to_owned(), why });
        }
        let mut features = features(&Normalise::running_text().apply(text));
        features.sort_unstable();
        let mut sums = vec![0.0_f64; self.dimensions];
        for run in features.chunk_by(|a, b| a == b) {
            let Some(&hash) = run.first() else { continue };
            let weight = 1.0 + (run.len() as f64).ln();
            let place = (hash >> 1) as usize & (self.dimensions - 1);
            if let Some(sum) = sums.get_mut(place) {
                *sum += if hash & 1 == 0 { weight } else { -weight };
            }
        }
        let norm = sums.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        Ok(sums.into_iter().map(|x| (x * scale) as f32).collect())
    }
}

/// Hashes of all features of a normalised text.
fn features(text: &str) -> Vec<u64> {
    let mut features = Vec::new();
    let mut padded = String::new();
    for word in text.split_whitespace() {
        features.push(hash(b"w", word.as_bytes()));
        padded.clear();
        padded.extend([" ", word, " "]);
        let bounds: Vec<usize> = padded.char_indices().map(|(at, _)| at).chain([padded.len()]).collect();
        for n in 3..=5 {
            for window in bounds.windows(n + 1) {
                if let [start, .., end] = window {
                    features.push(hash(b"c", padded.as_bytes().get(*start..*end).unwrap_or_default()));
                }
            }
        }
    }
    features
}

/// FNV-1a with a last mix, the same on every machine.
fn hash(kind: &[u8], bytes: &[u8]) -> u64 {
    let fnv = kind.iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let vectors = HashedNgrams::default().embed(&[a, b]).unwrap();
        vectors[0].iter().zip(&vectors[1]).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn spelling_orders_texts_as_it_should() {
        let same = cosine("the red door is open", "The red door is open!");
        let near = cosine("the red door is open", "the red doors are opened");
        let far = cosine("the red door is open", "quarterly profits fell sharply");
        assert!((same - 1.0).abs() < 1e-6 && near > 0.4 && near < 0.99 && far < 0.2, "{same} {near} {far}");
    }

    #[test]
    fn a_text_without_content_has_no_direction() {
        let vector = HashedNgrams::default().embed(&["  "]).unwrap().remove(0);
        assert!(vector.iter().all(|x| *x == 0.0));
    }

    #[test]
    fn hashes_do_not_change_between_builds() {
        // FNV-1a of the byte `a` is 0xaf63dc4c8601ec8c; the mix is applied to it.
        let fnv = 0xaf63_dc4c_8601_ec8c_u64;
        let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        assert_eq!(hash(b"", b"a"), mixed ^ (mixed >> 33));
    }
}
