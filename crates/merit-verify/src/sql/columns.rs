//! Which share of a reference's columns a result has, where their numbers differ: partial credit only.

use super::matcher::Matcher;
use super::{Cell, Table};

/// Most columns of either side that are tried against each other.
const TRIED: usize = 32;

/// Reference columns found among the response's, each used once, over the larger number of columns. 0 when the numbers of
/// rows differ.
pub(super) fn share(ours: &Table, theirs: &Table, tolerance: f64) -> f64 {
    let most = ours.columns.len().max(theirs.columns.len());
    if ours.rows.len() != theirs.rows.len() || most == 0 || most > TRIED {
        return 0.0;
    }
    let mut free: Vec<Vec<Vec<Cell>>> = (0..ours.columns.len()).map(|column| only(ours, column)).collect();
    let mut found = 0;
    for column in 0..theirs.columns.len() {
        let wanted = only(theirs, column);
        let fits = |candidate: &Vec<Vec<Cell>>| {
            let matcher = Matcher::new(candidate, &wanted, tolerance);
            matcher.unmatched(0..candidate.len(), 0..wanted.len()).ours.is_empty()
        };
        if let Some(at) = free.iter().position(fits) {
            free.swap_remove(at);
            found += 1;
        }
    }
    f64::from(found) / most as f64
}

fn only(table: &Table, column: usize) -> Vec<Vec<Cell>> {
    table.rows.iter().map(|row| row.get(column).cloned().into_iter().collect()).collect()
}
