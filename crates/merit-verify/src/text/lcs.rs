//! The length of the longest common subsequence, a machine word of the table at a time.
//!
//! After Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): one bit per reference token, one addition per
//! response token and word; the zero bits left at the end are the length.

use std::collections::HashMap;

/// The most 64-bit additions one comparison may take; about a tenth of a second.
pub(crate) const MAX_WORK: usize = 1 << 26;

/// How long the longest common subsequence is. Absent: it would take more than [`MAX_WORK`].
pub(crate) fn lcs_length(response: &[&str], reference: &[&str]) -> Option<usize> {
    let blocks = reference.len().div_ceil(64);
    if blocks.checked_mul(response.len())? > MAX_WORK {
        return None;
    }
    let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, token) in reference.iter().enumerate() {
        positions.entry(token).or_default().push(at);
    }
    let mut rows = vec![u64::MAX; blocks];
    let mut matches = vec![0_u64; blocks];
    for places in response.iter().filter_map(|token| positions.get(token)) {
        set(&mut matches, places, true);
        advance(&mut rows, &matches);
        set(&mut matches, places, false);
    }
    let in_last = reference.len() % 64;
    if let Some(last) = rows.last_mut()
        && in_last > 0
    {
        *last |= u64::MAX << in_last;
    }
    Some(rows.iter().map(|row| row.count_zeros() as usize).sum())
}

fn set(matches: &mut [u64], places: &[usize], on: bool) {
    for place in places {
        if let Some(block) = matches.get_mut(place / 64) {
            *block = if on { *block | 1 << (place % 64) } else { 0 };
        }
    }
}

/// V' = (V + (V & M)) | (V & !M), with the carry running through the blocks.
fn advance(rows: &mut [u64], matches: &[u64]) {
    let mut carry = false;
    for (row, m) in rows.iter_mut().zip(matches) {
        let (sum, first) = row.overflowing_add(*row & m);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        carry = first || second;
        *row = sum | (*row & !m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(a: &[&str], b: &[&str]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_table(a in "[abc]{0,150}", b in "[abc]{0,150}") {
            let a: Vec<&str> = a.split("").filter(|s| !s.is_empty()).collect();
            let b: Vec<&str> = b.split("").filter(|s| !s.is_empty()).collect();
            prop_assert_eq!(lcs_length(&a, &b), Some(table(&a, &b)));
        }
    }

    #[test]
    fn too_much_work_is_declined() {
        let long = vec!["a"; 100_000];
        assert_eq!(lcs_length(&long, &long), None);
    }
}
