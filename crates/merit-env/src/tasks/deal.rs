//! Tasks of a finite file dealt without end: every pass shows each task once, in an order of its own.

use merit_core::{Seed, Split};

/// The `index`-th of `items`. Absent: there are none.
pub(crate) fn dealt(items: &[usize], split: Split, index: u64, seed: &Seed) -> Option<usize> {
    let count = items.len() as u64;
    let pass = index.checked_div(count)?;
    let mut order = items.to_vec();
    seed.child(split.name(), pass).stream().shuffle(&mut order);
    order.get((index % count) as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_deals_each_once() {
        let (items, seed) = ([3, 5, 8, 9], Seed::root(1));
        let mut orders = Vec::new();
        for pass in 0..6 {
            let mut dealt: Vec<_> =
                (0..4).filter_map(|at| dealt(&items, Split::Train, pass * 4 + at, &seed)).collect();
            orders.push(dealt.clone());
            dealt.sort_unstable();
            assert_eq!(dealt, items);
        }
        orders.dedup();
        assert!(orders.len() > 1);
        assert_eq!(dealt(&[], Split::Train, 0, &seed), None);
    }
}
