//! One list from two: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
//!
//!   score(d) = 1 / (K + rank in words) + weight / (K + rank in dense),  K = 60, ranks from 1
//!
//! where a list that does not have the document adds nothing. Only ranks count, so that scores of different kinds need no
//! common scale. Ties in order of the corpus.

use std::collections::BTreeMap;

/// `K` of the formula, as in the paper.
pub const FUSION_CONSTANT: f64 = 60.0;

/// Each list is fused to this depth, or to the number of hits asked for when that is more.
pub const FUSION_DEPTH: usize = 100;

/// The best `k` of lists of positions, each best first and with its weight.
pub fn fuse(lists: &[(&[(u32, f32)], f64)], k: usize) -> Vec<(u32, f32)> {
    let mut scores: BTreeMap<u32, f64> = BTreeMap::new();
    for (list, weight) in lists {
        for (at, (document, _)) in list.iter().enumerate() {
            *scores.entry(*document).or_default() += weight / (FUSION_CONSTANT + at as f64 + 1.0);
        }
    }
    let mut fused: Vec<(u32, f64)> = scores.into_iter().collect();
    // Stable, and the map is in order of the corpus.
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused.into_iter().take(k).map(|(document, score)| (document, score as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_add_up_as_the_formula_says() {
        let (words, dense) = ([(7, 9.0), (3, 1.0)], [(3, 0.9), (5, 0.1)]);
        let fused = fuse(&[(&words, 1.0), (&dense, 0.5)], 10);
        // 3: 1/62 + 0.5/61 = 0.024326; 7: 1/61 = 0.016393; 5: 0.5/62 = 0.008065
        let want = [(3, 0.024_326), (7, 0.016_393), (5, 0.008_065)];
        assert!(fused.iter().zip(want).all(|(got, want)| got.0 == want.0 && (got.1 - want.1).abs() < 1e-6));
        assert_eq!(fused.len(), 3);
    }

    #[test]
    fn ties_keep_the_order_of_the_corpus() {
        assert_eq!(fuse(&[(&[(9, 1.0)], 1.0), (&[(2, 1.0)], 1.0)], 1)[0].0, 2);
    }
}
