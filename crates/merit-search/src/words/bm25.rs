//! BM25 of one word in one document, in single precision and always in this order of operations.
//!
//! Lengths are kept in one byte: exact up to 40 words, then in steps that leave three bits after the leading one.

/// How soon repetitions of a word stop to matter.
const K1: f32 = 1.2;
/// How much the length of a document matters.
const B: f32 = 0.75;
/// Lengths below this are their own step.
const EXACT: u8 = 24;

/// Inverse document frequency of a word that `found` of `all` documents have.
pub(super) fn idf(found: u32, all: u32) -> f32 {
    (1.0 + (all.saturating_sub(found) as f32 + 0.5) / (found as f32 + 0.5)).ln()
}

/// What the score of a word is multiplied with, without boost.
pub(super) fn weight(found: u32, all: u32) -> f32 {
    idf(found, all) * (1.0 + K1)
}

/// The score of a word that a document of this norm has `count` times.
#[inline]
pub(super) fn score(weight: f32, norm: f32, count: u32) -> f32 {
    let count = count as f32;
    weight * (count / (count + norm))
}

/// What the length of a document adds below the fraction, by step of length.
pub(super) struct Norms(pub(super) [f32; 256]);

impl Norms {
    /// For a field of this average length; a field without words has no documents to ask for.
    pub(super) fn new(average: f32) -> Self {
        let mut norms = [0.0; 256];
        for (norm, step) in norms.iter_mut().zip(0..=u8::MAX) {
            *norm = K1 * (1.0 - B + B * length(step) as f32 / average);
        }
        Self(norms)
    }

    #[inline]
    pub(super) fn of(&self, step: u8) -> f32 {
        self.0[usize::from(step)]
    }
}

/// The step that a document of so many words counts as: the greatest that is not longer.
pub(super) fn step(words: u32) -> u8 {
    let Some(over) = words.checked_sub(u32::from(EXACT)) else { return words as u8 };
    let Some(top) = over.checked_ilog2().filter(|top| *top >= 3) else { return EXACT + over as u8 };
    let row = top as u8 - 2;
    let column = (over >> (row - 1)) as u8 & 7;
    EXACT.saturating_add(row.saturating_mul(8)).saturating_add(column)
}

/// The length of a step, in words.
fn length(step: u8) -> u32 {
    let Some(over) = step.checked_sub(EXACT) else { return u32::from(step) };
    let (row, column) = (over >> 3, u32::from(over & 7));
    u32::from(EXACT) + if row == 0 { column } else { (column | 8) << (row - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_as_the_next_shorter_step() {
        for words in (0..100_000).chain([1 << 20, (1 << 24) - 1, 2_013_265_943, 2_013_265_944]) {
            let at = step(words);
            assert!(length(at) <= words, "{words}: step {at} has {}", length(at));
            assert!(at == u8::MAX || length(at + 1) > words, "{words}: step {at} is not the greatest");
            assert!(words > 40 || length(at) == words, "{words} is not exact");
        }
        assert_eq!((step(41), step(42), step(55), step(56)), (40, 41, 47, 48));
        assert_eq!(step(u32::MAX), u8::MAX);
    }

    #[test]
    fn the_formula_is_that_of_the_paper() {
        // N = 3, n = 2, length 3 of average 3: idf = ln(1.6) = 0.470004, norm = 1.2; twice: 0.470004 * 2.2 * 2 / 3.2.
        let norm = Norms::new(3.0).of(step(3));
        assert!((norm - 1.2).abs() < 1e-6);
        assert!((score(weight(2, 3), norm, 2) - 0.646_255).abs() < 1e-5);
    }
}
