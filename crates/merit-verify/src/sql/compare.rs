//! Compares a result with a reference.

use super::matcher::{Matcher, Unmatched};
use super::order::Reference;
use super::{Cell, Difference, RowDifference, SqlConfig, Table, columns};

/// Rows shown in evidence.
const SHOWN: usize = 3;

/// What a comparison came to.
#[derive(Debug, PartialEq)]
pub(super) struct Compared {
    /// Absent: they are equal.
    pub(super) difference: Option<Difference>,
    /// Matching share, from 0 to 1.
    pub(super) share: f64,
}

pub(super) fn compare(config: &SqlConfig, ours: &Table, reference: &Reference) -> Compared {
    let theirs = &reference.table;
    if ours.columns.len() != theirs.columns.len() {
        let share = if config.partial_credit { columns::share(ours, theirs, config.tolerance) } else { 0.0 };
        return Compared { difference: Some(Difference::ColumnCount), share };
    }
    let named = if config.column_names { column_name(ours, theirs) } else { None };
    let matcher = Matcher::new(&ours.rows, &reference.pool, config.tolerance);
    let left = place_rows(&matcher, ours, reference);
    let unmatched = left.ours.len();
    let most = ours.rows.len().max(theirs.rows.len());
    let share = if most == 0 { 1.0 } else { (ours.rows.len() - unmatched) as f64 / most as f64 };
    let difference = if named.is_some() {
        named
    } else if unmatched == 0 && ours.rows.len() == theirs.rows.len() {
        None
    } else {
        let anywhere = matcher.unmatched(0..ours.rows.len(), 0..reference.pool.len());
        let only_order =
            reference.ordered && anywhere.ours.is_empty() && ours.rows.len() == theirs.rows.len();
        let first = first_rows(&left, ours, &reference.pool);
        Some(if only_order { Difference::Order { first } } else { Difference::Rows { unmatched, first } })
    };
    Compared { difference, share }
}

/// What is left after every segment took the rows that may stand in it.
fn place_rows(matcher: &Matcher<'_>, ours: &Table, reference: &Reference) -> Unmatched {
    let mut left = Unmatched::default();
    let mut places = 0;
    for segment in &reference.segments {
        let last = reference.segments.len() == 1 && !reference.ordered;
        let mine = if last { 0..ours.rows.len() } else { segment.places.clone() };
        let whole = segment.places.len() == segment.pool.len();
        let unmatched = matcher.unmatched(mine, segment.pool.clone());
        left.ours.extend(unmatched.ours);
        if whole {
            left.theirs.extend(unmatched.theirs);
        }
        places = segment.places.end;
    }
    if reference.ordered {
        left.ours.extend(places..ours.rows.len().max(places));
    }
    left
}

fn column_name(ours: &Table, theirs: &Table) -> Option<Difference> {
    let pairs = ours.columns.iter().zip(&theirs.columns).enumerate();
    let mut wrong = pairs.filter(|(_, (a, b))| a.to_lowercase() != b.to_lowercase());
    wrong.next().map(|(column, (response, reference))| Difference::ColumnName {
        column,
        response: response.clone(),
        reference: reference.clone(),
    })
}

fn first_rows(left: &Unmatched, ours: &Table, pool: &[Vec<Cell>]) -> Vec<RowDifference> {
    let show = |rows: &[Vec<Cell>], at: Option<&usize>| {
        let at = *at?;
        Some((at, rows.get(at)?.iter().map(Cell::excerpt).collect()))
    };
    (0..SHOWN.min(left.ours.len().max(left.theirs.len())))
        .map(|i| RowDifference {
            response: show(&ours.rows, left.ours.get(i)),
            reference: show(pool, left.theirs.get(i)),
        })
        .collect()
}
