//! Exact fractions written as decimals, where their decimals end.

use dashu_int::ops::{Abs as _, DivRem as _};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// The whole decimal, when it ends within `places` after the point and `digits` in all.
pub(crate) fn exact(value: &RBig, places: usize, digits: usize) -> Option<String> {
    let (twos, rest) = divide_out(value.denominator().clone(), 2, places)?;
    let (fives, rest) = divide_out(rest, 5, places)?;
    let needed = twos.max(fives);
    if !rest.is_one() || needed > places {
        return None;
    }
    let scaled = value * ten_to(i32::try_from(needed).ok()?);
    let written = scaled.numerator().clone().abs().to_string();
    (written.len() <= digits).then(|| signed(value, &with_point(&written, needed)))
}

/// How often `by` divides a number, and what is left; `None` when it is more often than `most`.
fn divide_out(mut number: UBig, by: u8, most: usize) -> Option<(usize, UBig)> {
    for times in 0..=most {
        let (quotient, remainder) = (&number).div_rem(UBig::from(by));
        if !remainder.is_zero() {
            return Some((times, number));
        }
        number = quotient;
    }
    None
}

/// Digits with a point before the last `places` of them.
pub(crate) fn with_point(digits: &str, places: usize) -> String {
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, part) = padded.split_at(padded.len() - places);
    if places == 0 { whole.to_owned() } else { format!("{whole}.{part}") }
}

pub(crate) fn signed(value: &RBig, text: &str) -> String {
    if *value < RBig::ZERO { format!("-{text}") } else { text.to_owned() }
}

/// 10 to the power of `exponent`.
pub(crate) fn ten_to(exponent: i32) -> RBig {
    let power = UBig::from(10u8).pow(exponent.unsigned_abs() as usize);
    if exponent < 0 { RBig::from_parts(IBig::ONE, power) } else { RBig::from(power) }
}
