//! Pairs rows of two results, each row at most once, numbers within a tolerance.
//!
//! "Nearly equal" is not transitive, so rows cannot be hashed. Per column, the numbers of both sides are put in order and
//! cut into clusters wherever the next is farther than the tolerance; rows are sorted by these clusters and paired in
//! order, and every pair is then compared value by value. A pair that is accepted is therefore always within the tolerance.

use super::Cell;
use super::cell::within;
use std::cmp::Ordering;
use std::ops::Range;

/// Two results, ready to be paired.
pub(super) struct Matcher<'a> {
    ours: Side<'a>,
    theirs: Side<'a>,
    tolerance: f64,
}

struct Side<'a> {
    rows: &'a [Vec<Cell>],
    keys: Vec<Vec<Key<'a>>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Null,
    Number(usize),
    Text(&'a str),
    Blob(&'a str),
}

/// Rows without counterpart, by position.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Unmatched {
    pub(super) ours: Vec<usize>,
    pub(super) theirs: Vec<usize>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(ours: &'a [Vec<Cell>], theirs: &'a [Vec<Cell>], tolerance: f64) -> Self {
        let columns = ours.iter().chain(theirs).map(Vec::len).max().unwrap_or(0);
        let clusters: Vec<Clusters> = (0..columns)
            .map(|column| {
                let cells = ours.iter().chain(theirs).filter_map(|row| row.get(column)?.number());
                Clusters::new(cells.collect(), tolerance)
            })
            .collect();
        let side = |rows: &'a [Vec<Cell>]| Side {
            rows,
            keys: rows.iter().map(|row| keys(row, &clusters)).collect(),
        };
        Self { ours: side(ours), theirs: side(theirs), tolerance }
    }

    /// Pairs the rows of two ranges and gives what is left.
    pub(super) fn unmatched(&self, ours: Range<usize>, theirs: Range<usize>) -> Unmatched {
        let (ours, theirs) = (self.ours.sorted(ours), self.theirs.sorted(theirs));
        let mut left = Unmatched::default();
        let (mut i, mut j) = (0, 0);
        while let (Some(&a), Some(&b)) = (ours.get(i), theirs.get(j)) {
            if self.same(a, b) {
                i += 1;
                j += 1;
            } else if self.compare(a, b) == Ordering::Greater {
                left.theirs.push(b);
                j += 1;
            } else {
                left.ours.push(a);
                i += 1;
            }
        }
        left.ours.extend(ours.iter().skip(i));
        left.theirs.extend(theirs.iter().skip(j));
        left.ours.sort_unstable();
        left.theirs.sort_unstable();
        left
    }

    fn same(&self, a: usize, b: usize) -> bool {
        let (Some(a), Some(b)) = (self.ours.rows.get(a), self.theirs.rows.get(b)) else { return false };
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y, self.tolerance))
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let keys = self.ours.keys.get(a).cmp(&self.theirs.keys.get(b));
        keys.then_with(|| compare_numbers(self.ours.rows.get(a), self.theirs.rows.get(b)))
    }
}

impl Side<'_> {
    fn sorted(&self, range: Range<usize>) -> Vec<usize> {
        let mut rows: Vec<usize> = range.filter(|at| *at < self.rows.len()).collect();
        rows.sort_by(|a, b| {
            let keys = self.keys.get(*a).cmp(&self.keys.get(*b));
            keys.then_with(|| compare_numbers(self.rows.get(*a), self.rows.get(*b)))
        });
        rows
    }
}

/// Orders rows of equal keys by their numbers.
fn compare_numbers(a: Option<&Vec<Cell>>, b: Option<&Vec<Cell>>) -> Ordering {
    let cells = a.into_iter().flatten().zip(b.into_iter().flatten());
    let compared = cells.map(|(x, y)| match (x, y) {
        (Cell::Integer(x), Cell::Integer(y)) => x.cmp(y),
        _ => match (x.number(), y.number()) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            _ => Ordering::Equal,
        },
    });
    compared.fold(Ordering::Equal, Ordering::then)
}

fn keys<'a>(row: &'a [Cell], clusters: &[Clusters]) -> Vec<Key<'a>> {
    row.iter()
        .zip(clusters)
        .map(|(cell, clusters)| match cell {
            Cell::Null => Key::Null,
            Cell::Integer(n) => Key::Number(clusters.of(*n as f64)),
            Cell::Real(x) => Key::Number(clusters.of(*x)),
            Cell::Text(text) => Key::Text(text),
            Cell::Blob { blob } => Key::Blob(blob),
        })
        .collect()
}

/// The numbers of one column, cut where the next is too far.
struct Clusters {
    starts: Vec<f64>,
}

impl Clusters {
    fn new(mut numbers: Vec<f64>, tolerance: f64) -> Self {
        numbers.sort_by(f64::total_cmp);
        let mut starts = Vec::new();
        let mut last: Option<f64> = None;
        for number in numbers {
            if !last.is_some_and(|last| last == number || within(last, number, tolerance)) {
                starts.push(number);
            }
            last = Some(number);
        }
        Self { starts }
    }

    fn of(&self, number: f64) -> usize {
        self.starts.partition_point(|start| *start <= number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(list: &[&[f64]]) -> Vec<Vec<Cell>> {
        list.iter().map(|row| row.iter().map(|x| Cell::Real(*x)).collect()).collect()
    }

    fn left(ours: &[&[f64]], theirs: &[&[f64]], tolerance: f64) -> (usize, usize) {
        let (ours, theirs) = (rows(ours), rows(theirs));
        let left = Matcher::new(&ours, &theirs, tolerance).unmatched(0..ours.len(), 0..theirs.len());
        (left.ours.len(), left.theirs.len())
    }

    #[test]
    fn duplicates_count() {
        assert_eq!(left(&[&[1.0], &[1.0]], &[&[1.0]], 0.0), (1, 0));
        assert_eq!(left(&[&[1.0], &[2.0]], &[&[2.0], &[1.0]], 0.0), (0, 0));
    }

    #[test]
    fn nearly_equal_numbers_pair_whatever_the_other_columns() {
        let (a, b) = (0.1 + 0.2, 0.3);
        assert_eq!(left(&[&[a, 2.0], &[b, 1.0]], &[&[b, 2.0], &[a, 1.0]], 1e-9), (0, 0));
    }

    #[test]
    fn a_chain_of_near_numbers_does_not_make_far_ones_equal() {
        let chain: Vec<Vec<f64>> = (0..=100).map(|i| vec![f64::from(i) * 0.009]).collect();
        let chain: Vec<&[f64]> = chain.iter().map(Vec::as_slice).collect();
        let zeros: Vec<&[f64]> = vec![&[0.0]; chain.len()];
        assert!(left(&chain, &zeros, 0.01).0 > 90);
    }

    proptest! {
        #[test]
        fn any_order_of_the_same_rows_pairs_in_full(
            mut list in prop::collection::vec((0_i64..5, "[ab]{0,2}", prop::option::of(0.0_f64..3.0)), 0..40),
            turn in 0_usize..40,
        ) {
            let make = |list: &[(i64, String, Option<f64>)]| -> Vec<Vec<Cell>> {
                let real = |x: Option<f64>| x.map_or(Cell::Null, Cell::Real);
                list.iter().map(|(n, t, x)| vec![Cell::Integer(*n), Cell::Text(t.clone()), real(*x)]).collect()
            };
            let ours = make(&list);
            if !list.is_empty() {
                let middle = turn % list.len();
                list.rotate_left(middle);
            }
            let theirs = make(&list);
            let left = Matcher::new(&ours, &theirs, 1e-9).unmatched(0..ours.len(), 0..theirs.len());
            prop_assert_eq!(left, Unmatched::default());
        }
    }
}
