//! The batch cut into minibatches: whole units (a sample, a pair, a group), shuffled by a named seed, never by scheduling order.

use merit_core::Seed;

/// The positions `0..samples` in `parts` parts whose sizes differ by at most one; every position once.
///
/// One part keeps the order of the batch. Positions rise within a part, so that sums are taken in the order of the batch.
/// There are fewer parts when there are fewer samples.
///
/// ```
/// use merit_core::Seed;
/// assert_eq!(merit_learn::split(3, 1, Seed::root(0)), vec![vec![0, 1, 2]]);
/// assert_eq!(merit_learn::split(2, 8, Seed::root(0)).len(), 2);
/// ```
pub fn split(samples: usize, parts: usize, seed: Seed) -> Vec<Vec<usize>> {
    let parts = parts.min(samples);
    let mut order: Vec<usize> = (0..samples).collect();
    if parts > 1 {
        seed.stream().shuffle(&mut order);
    }
    let mut cut = Vec::with_capacity(parts);
    let mut start = 0;
    for part in 0..parts {
        let end = (part + 1) * samples / parts;
        let mut positions = order[start..end].to_vec();
        positions.sort_unstable();
        cut.push(positions);
        start = end;
    }
    cut
}
