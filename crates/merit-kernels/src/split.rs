//! How the result of a product is cut into pieces for threads. Pieces change who computes an element, never how.

use std::ops::Range;

/// Rows and columns of pieces are multiples of this, so that only the last tiles of a result are partial.
const GRAIN: usize = 32;
/// Nanoseconds of work below which a second thread costs more than it saves.
const WORTH_SPLITTING_NS: f64 = 40_000.0;
/// Pieces per thread, so that a thread that falls behind leaves work to the others.
const PIECES_PER_THREAD: usize = 2;

/// Rows and columns of the result that one thread computes.
pub(crate) type Piece = (Range<usize>, Range<usize>);

/// Which way a result is rather cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rather {
    /// Between rows, while there are enough of them.
    Rows,
    /// Across the longer side.
    Longer,
}

/// Cuts an `m × n` result for `threads` threads; `ns` is about how long one thread would take.
pub(crate) fn pieces(threads: usize, (m, n): (usize, usize), ns: f64, rather: Rather) -> Vec<Piece> {
    if threads <= 1 || ns < WORTH_SPLITTING_NS {
        return vec![(0..m, 0..n)];
    }
    let by_rows = match rather {
        Rather::Rows => m >= threads * 2 * GRAIN,
        Rather::Longer => m > n,
    };
    let count = threads * PIECES_PER_THREAD;
    if by_rows {
        ranges(m, count).map(|rows| (rows, 0..n)).collect()
    } else {
        ranges(n, count).map(|columns| (0..m, columns)).collect()
    }
}

fn ranges(len: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let width = len.div_ceil(count).next_multiple_of(GRAIN);
    (0..len).step_by(width.max(1)).map(move |first| first..(first + width).min(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_element_once() {
        for (m, n) in [(1, 5000), (500, 70), (64, 64), (1000, 1), (33, 33)] {
            for (threads, rather) in
                [(1, Rather::Rows), (2, Rather::Rows), (3, Rather::Longer), (7, Rather::Rows)]
            {
                let mut seen = vec![0_u8; m * n];
                let cut = pieces(threads, (m, n), 1e9, rather);
                for (rows, columns) in &cut {
                    assert!(rows.start % 32 == 0 && columns.start % 32 == 0);
                    rows.clone().for_each(|r| columns.clone().for_each(|c| seen[r * n + c] += 1));
                }
                assert!(seen.iter().all(|&times| times == 1), "{m} x {n} on {threads}");
                assert!(threads == 1 || m.max(n) < 128 || cut.len() > 1);
            }
        }
    }

    #[test]
    fn small_work_stays_on_one_thread() {
        assert_eq!(pieces(8, (64, 64), 1000.0, Rather::Rows).len(), 1);
    }
}
