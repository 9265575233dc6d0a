//! Numbers by value: 1 and 1.0 are equal, and integers of 64 bits are compared exactly.
//!
//! Integers past 64 bits are held as doubles by the document model. Those that a double does not hold exactly are no strict JSON
//! to the reader, see [`is_held`]: two that differ in their last digit would be equal.

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

/// Whether `number` is exactly what was written: an integer of more than 64 bits may have lost its last digits. What is written
/// with a point or an exponent is a double by its nature.
pub(crate) fn is_held(written: &str, number: &Number) -> bool {
    let is_integer = written.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    // A double without a fraction is printed to its last digit.
    !is_integer || !number.is_f64() || format!("{:.0}", double(number)) == written
}

/// Whether `a` is a whole multiple of `b`, which is positive. Both are taken as the shortest decimals that are read as them: in
/// binary 0.3 is no multiple of 0.1.
pub(crate) fn is_multiple(a: &Number, b: &Number) -> bool {
    let (Some((a, a_power)), Some((b, b_power))) = (decimal(a), decimal(b)) else { return false };
    if a == 0 || b == 0 {
        return b != 0;
    }
    let shift = a_power - b_power;
    if shift >= 0 {
        let rest = u128::from(a % b) * power_of_ten(shift.unsigned_abs(), b);
        return rest.is_multiple_of(u128::from(b));
    }
    // A divisor that passes 128 bits is larger than `a`, which is not 0.
    let divisor = 10_u128.checked_pow(shift.unsigned_abs()).and_then(|ten| ten.checked_mul(b.into()));
    divisor.is_some_and(|divisor| u128::from(a) % divisor == 0)
}

/// The digits of a number without its sign, and the power of ten they are to be multiplied with.
fn decimal(number: &Number) -> Option<(u64, i32)> {
    if let Some(n) = number.as_i64() {
        return Some((n.unsigned_abs(), 0));
    }
    if let Some(n) = number.as_u64() {
        return Some((n, 0));
    }
    let written = format!("{:e}", double(number).abs());
    let (digits, power) = written.split_once('e')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = i32::try_from(fraction.len()).ok()?;
    Some((format!("{whole}{fraction}").parse().ok()?, power.parse::<i32>().ok()? - places))
}

/// 10 to the power of `power`, modulo `modulus`.
fn power_of_ten(power: u32, modulus: u64) -> u128 {
    let modulus = u128::from(modulus);
    (0..power).fold(1 % modulus, |product, _| product * 10 % modulus)
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

    #[test]
    fn what_is_clearly_no_multiple_is_none_at_any_size() {
        for (a, b, is) in [
            ("1000000.0005", "1", false),
            ("1000000000000.5", "1", false),
            ("1000000000000.5", "0.5", true),
            ("-7.5", "2.5", true),
            ("0", "0.7", true),
            ("1e308", "0.123456789", false),
            ("1e308", "0.5", true),
            ("1e-300", "1e300", false),
            ("1e300", "1e-300", true),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("12391239123", "1e-8", true),
            ("18446744073709551615", "5", true),
            ("18446744073709551615", "7", false),
        ] {
            assert_eq!(is_multiple(&number(a), &number(b)), is, "{a} of {b}");
        }
    }

    #[test]
    fn an_integer_is_held_when_none_of_its_digits_is_lost() {
        for (written, is) in [
            ("18446744073709551615", true),
            ("18446744073709551616", true),
            ("18446744073709551617", false),
            ("-9223372036854775809", false),
            ("100000000000000000000", true),
            ("-0", true),
            ("0.1", true),
            ("6.02214076e23", true),
        ] {
            assert_eq!(is_held(written, &number(written)), is, "{written}");
        }
    }
}
