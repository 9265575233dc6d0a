//! Values and rows, as SQLite gives them and as tasks write them.

use merit_core::printable::beginning;
use serde::{Deserialize, Serialize};

/// One value. In JSON: `null`, a number, a string, or `{"blob": "hex"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// No value; equal only to itself.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a point. SQLite has no NaN.
    Real(f64),
    Text(String),
    /// A value that is no text, as hexadecimal digits.
    Blob {
        /// As lower-case hexadecimal digits.
        blob: String,
    },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

impl Cell {
    /// The number it is, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(n) => Some(*n as f64),
            Self::Real(x) => Some(*x),
            Self::Null | Self::Text(_) | Self::Blob { .. } => None,
        }
    }

    /// Whether both are the same value. Numbers may differ by `tolerance` times the larger of 1 and their size, unless both
    /// are whole; text and numbers are never the same.
    pub(super) fn same(&self, other: &Self, tolerance: f64) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Integer(n), Self::Real(x)) | (Self::Real(x), Self::Integer(n)) => {
                is_integer(*x, *n) || within(*n as f64, *x, tolerance)
            }
            (Self::Real(a), Self::Real(b)) => a == b || within(*a, *b, tolerance),
            (a, b) => a == b,
        }
    }

    /// Shortened for evidence.
    pub(super) fn excerpt(&self) -> Self {
        match self {
            Self::Text(text) => Self::Text(beginning(text, 200)),
            Self::Blob { blob } => Self::Blob { blob: beginning(blob, 64) },
            other => other.clone(),
        }
    }
}

/// Whether `x` is exactly the whole number `n`.
fn is_integer(x: f64, n: i64) -> bool {
    // Floats of this size are whole and fit i128 exactly.
    x.fract() == 0.0 && x.abs() < 1e30 && x as i128 == i128::from(n)
}

pub(super) fn within(a: f64, b: f64, tolerance: f64) -> bool {
    tolerance > 0.0 && (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: Cell, b: Cell, tolerance: f64, want: bool) {
        assert_eq!((a.same(&b, tolerance), b.same(&a, tolerance)), (want, want), "{a:?} {b:?}");
    }

    #[test]
    fn numbers_are_compared_by_value_and_kinds_are_kept_apart() {
        check(Cell::Integer(2), Cell::Real(2.0), 0.0, true);
        check(Cell::Real(0.1 + 0.2), Cell::Real(0.3), 0.0, false);
        check(Cell::Real(0.1 + 0.2), Cell::Real(0.3), 1e-9, true);
        check(Cell::Integer(1), Cell::Text("1".into()), 1.0, false);
        check(Cell::Null, Cell::Null, 0.0, true);
        check(Cell::Null, Cell::Integer(0), 1.0, false);
        check(Cell::Real(f64::INFINITY), Cell::Real(f64::INFINITY), 0.0, true);
    }

    #[test]
    fn large_whole_numbers_are_not_rounded() {
        let big = 9_007_199_254_740_993; // 2^53 + 1
        check(Cell::Integer(big), Cell::Integer(big - 1), 1e-9, false);
        check(Cell::Integer(big), Cell::Real((big - 1) as f64), 0.0, false);
    }

    #[test]
    fn cells_are_plain_json() {
        let text = r#"[null,1,1.5,"a",{"blob":"00ff"}]"#;
        let cells: Vec<Cell> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&cells).unwrap(), text);
    }
}
