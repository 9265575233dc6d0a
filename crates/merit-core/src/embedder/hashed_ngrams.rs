//! Texts as hashed counts of words and character n-grams: alike in spelling, not in meaning.
//!
//! Every word and every run of 3 to 5 characters inside ` word ` is hashed to one coordinate and a sign (signed feature
//! hashing, arXiv:0902.2206); a feature that occurs `tf` times adds `1 + ln(tf)`. It sees inflections and typing errors, and
//! is blind to synonyms and word order. Long documents crowd few dimensions: with 1300 features in 256 coordinates a single
//! rare word is mostly noise, so short passages and 1024 dimensions or more are what it is good for.

use super::{Embedder, Words};
use crate::About;

pub(super) const ABOUT: About = About {
    name: "hashed-ngrams",
    summary: "hashed words and character n-grams: spelling, not meaning; no model",
    paper: "arXiv:0902.2206",
};

/// The embedder `hashed-ngrams`.
#[derive(Debug, Clone, Copy)]
pub struct HashedNgrams {
    dimensions: usize,
    words: Words,
}

impl HashedNgrams {
    /// With vectors of this length, at least 1, over the words that `words` finds.
    pub fn new(dimensions: usize, words: Words) -> Self {
        Self { dimensions: dimensions.max(1), words }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut features = features(text, self.words);
        features.sort_unstable();
        let mut sums = vec![0.0_f64; self.dimensions];
        for run in features.chunk_by(|a, b| a == b) {
            let Some(&hash) = run.first() else { continue };
            let weight = 1.0 + (run.len() as f64).ln();
            let place = ((hash >> 1) % self.dimensions as u64) as usize;
            if let Some(sum) = sums.get_mut(place) {
                *sum += if hash & 1 == 0 { weight } else { -weight };
            }
        }
        let norm = sums.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        sums.into_iter().map(|x| (x * scale) as f32).collect()
    }
}

impl Embedder for HashedNgrams {
    fn name(&self) -> &str {
        ABOUT.name
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Hashes of all features of a text.
fn features(text: &str, words: Words) -> Vec<u64> {
    let mut features = Vec::new();
    let (mut padded, mut bounds) = (String::new(), Vec::new());
    words(text, &mut |word| {
        features.push(hash(b'w', word.as_bytes()));
        padded.clear();
        padded.extend([" ", word, " "]);
        bounds.clear();
        bounds.extend(padded.char_indices().map(|(at, _)| at).chain([padded.len()]));
        for n in 3..=5 {
            for window in bounds.windows(n + 1) {
                if let [start, .., end] = window {
                    features.push(hash(b'c', padded.as_bytes().get(*start..*end).unwrap_or_default()));
                }
            }
        }
    });
    features
}

/// FNV-1a with a last mix, the same on every machine.
fn hash(kind: u8, bytes: &[u8]) -> u64 {
    let fnv = [kind].iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowercase(text: &str, each: &mut dyn FnMut(&str)) {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .for_each(|word| each(&word.to_lowercase()));
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let vectors = HashedNgrams::new(4096, lowercase).embed(&[a, b]).unwrap();
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
    fn a_text_without_words_has_no_direction() {
        assert!(HashedNgrams::new(64, lowercase).embed(&[" ?! 🦉"]).unwrap()[0].iter().all(|x| *x == 0.0));
    }

    #[test]
    fn hashes_do_not_change_between_builds() {
        // FNV-1a of the single byte `a` is 0xaf63dc4c8601ec8c; the mix is applied to it.
        let fnv = 0xaf63_dc4c_8601_ec8c_u64;
        let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        assert_eq!(hash(b'a', b""), mixed ^ (mixed >> 33));
    }
}
