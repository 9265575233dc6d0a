//! A similarity of strings that needs no model: the cosine of their counts of character trigrams.

use std::collections::BTreeMap;

/// From 0 (no trigram in common) to 1 (the same trigrams). Case and white space at the ends do not matter.
///
/// ```
/// use merit_verify::state::trigram_similarity;
/// assert_eq!(trigram_similarity("Red mug", "red mug"), 1.0);
/// assert!(trigram_similarity("red mug", "red mugs") > trigram_similarity("red mug", "blue plate"));
/// ```
pub fn trigram_similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (trigrams(a), trigrams(b));
    if a == b {
        return 1.0;
    }
    let dot: f64 = a.iter().filter_map(|(gram, n)| b.get(gram).map(|m| n * m)).sum();
    let norm = |grams: &BTreeMap<[char; 3], f64>| grams.values().map(|n| n * n).sum::<f64>().sqrt();
    let scale = norm(&a) * norm(&b);
    if scale > 0.0 { (dot / scale).clamp(0.0, 1.0) } else { 0.0 }
}

fn trigrams(text: &str) -> BTreeMap<[char; 3], f64> {
    // Blanks at the ends let short words have trigrams too.
    let padded = format!("  {} ", text.trim().to_lowercase());
    let chars: Vec<char> = padded.chars().collect();
    let mut counts = BTreeMap::new();
    for gram in chars.windows(3) {
        *counts.entry([gram[0], gram[1], gram[2]]).or_insert(0.0) += 1.0;
    }
    counts
}
