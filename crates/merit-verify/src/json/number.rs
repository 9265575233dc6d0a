//! Numbers by value: 1 and 1.0 are equal, and integers of 64 bits are compared exactly.
//!
//! Integers past 64 bits are held as doubles by the document model, and compared as such.

use serde_json::Number;
use std::cmp::Ordering;

/// The integer a number is, when it is one of less than 2^127 in size.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    if let Some(n) = number.as_i64() {
        return Some(i128::from(n));
    }
    if let Some(n) = number.as_u64() {
        return Some(i128::from(n));
    }
    let float = number.as_f64()?;
    // 2^126: every integral double below it converts exactly.
    (float.fract() == 0.0 && float.abs() < 8.5e37).then_some(float as i128)
}

/// Whether a number is integral, however it is written.
pub(crate) fn is_integral(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// The order of two numbers by value.
pub(crate) fn compare(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => double(a).total_cmp(&double(b)),
    }
}

/// The nearest double.
pub(crate) fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// Whether `a` is a whole multiple of `b`, which is positive.
pub(crate) fn is_multiple(a: &Number, b: &Number) -> bool {
    if let (Some(a), Some(b)) = (integer(a), integer(b)) {
        return b != 0 && a % b == 0;
    }
    let quotient = double(a) / double(b);
    // Decimal fractions are not exact in binary: 0.3 / 0.1 is just below 3.
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().clamp(1.0, 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn numbers_are_compared_by_value_and_large_integers_exactly() {
        assert_eq!(compare(&number("1"), &number("1.0")), Ordering::Equal);
        assert_eq!(compare(&number("9007199254740993"), &number("9007199254740992")), Ordering::Greater);
        assert_eq!(compare(&number("18446744073709551615"), &number("-1")), Ordering::Greater);
        assert_eq!(compare(&number("-0.0"), &number("0")), Ordering::Equal);
        assert_eq!(compare(&number("0.5"), &number("1e300")), Ordering::Less);
    }

    #[test]
    fn multiples_of_decimal_fractions_are_found() {
        assert!(is_multiple(&number("0.3"), &number("0.1")));
        assert!(!is_multiple(&number("0.35"), &number("0.1")));
        assert!(is_multiple(&number("6"), &number("3.0")));
    }
}
