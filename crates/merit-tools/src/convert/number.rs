//! Numbers as agents write them, read exactly; and results as they are shown: exact where that is short, else rounded.

use super::factor::Factor;
use crate::decimal::{exact, signed, ten_to, with_point};
use dashu_int::ops::{Abs as _, BitTest as _, DivRem as _};
use dashu_int::{IBig, Sign, UBig};
use dashu_ratio::RBig;
use std::str::FromStr as _;

/// Most digits of a number, without its exponent.
const MAX_DIGITS: usize = 60;
/// Largest exponent of ten.
const MAX_EXPONENT: i32 = 300;
/// Digits of a rounded result.
const ROUNDED: usize = 15;
/// Most digits of a result that is shown exactly.
const EXACT: usize = 30;
/// Digits of a fraction that is shown beside a rounded result, above and below the line.
const FRACTION: usize = 12;
/// π to 50 decimals.
const PI: &str = "3.14159265358979323846264338327950288419716939937510";

/// A decimal such as `-12.5e3`.
pub(super) fn read(text: &str) -> Result<RBig, String> {
    if text.contains(',') {
        return Err("write numbers without commas, as in 1000.5".to_owned());
    }
    let (decimal, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().map_err(|_| "the exponent is not a whole number".to_owned())?;
    let unsigned = decimal.strip_prefix(['-', '+']).unwrap_or(decimal);
    let (whole, places) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits: String = [whole, places].concat();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("that is not a number; write it as in -12.5 or 1.2e6".to_owned());
    }
    if digits.len() > MAX_DIGITS || !(-MAX_EXPONENT..=MAX_EXPONENT).contains(&exponent) {
        return Err(format!(
            "the number is too long: at most {MAX_DIGITS} digits and exponents to {MAX_EXPONENT}"
        ));
    }
    let size = UBig::from_str(&digits).map_err(|error| error.to_string())?;
    let sign = if decimal.starts_with('-') { Sign::Negative } else { Sign::Positive };
    let shift = exponent - places.len() as i32;
    Ok(RBig::from(IBig::from_parts(sign, size)) * ten_to(shift))
}

/// A result in words: `=` or `≈` and the number, and what is to be said after the unit.
pub(super) struct Shown {
    pub(super) number: String,
    /// The exact fraction beside a rounded number, where it is short.
    pub(super) note: String,
}

pub(super) fn show(value: &Factor) -> Result<Shown, String> {
    let plain = |number: String| Shown { number, note: String::new() };
    if value.ratio.is_zero() {
        return Ok(plain("= 0".to_owned()));
    }
    if value.pi == 0 {
        if let Some(text) = exact(&value.ratio, EXACT, EXACT) {
            return Ok(plain(format!("= {text}")));
        }
        let (over, under) = (value.ratio.numerator().to_string(), value.ratio.denominator().to_string());
        let is_short = over.len() <= FRACTION && under.len() <= FRACTION && under != "1";
        let note = if is_short { format!(" (exactly {over}/{under})") } else { String::new() };
        return Ok(Shown { number: format!("≈ {}", rounded(&value.ratio)?), note });
    }
    let pi = Factor { ratio: read(PI)?, pi: 0 };
    let power = i8::try_from(value.pi).map_err(|_| "the number is too large".to_owned())?;
    let ratio = Factor { ratio: value.ratio.clone(), pi: 0 }.times(&pi.power(power)?)?.ratio;
    Ok(plain(format!("≈ {}", rounded(&ratio)?)))
}

/// The nearest decimal of 15 digits, half away from zero; with an exponent where it is very large or small.
fn rounded(value: &RBig) -> Result<String, String> {
    let (over, under) = (value.numerator().clone().abs(), IBig::from(value.denominator().clone()));
    // From the bits, the exponent is known but for one; the digits decide.
    let bits = over.bit_len() as f64 - under.bit_len() as f64;
    let mut exponent = (bits * std::f64::consts::LOG10_2).floor() as i32 - 1;
    let digits = loop {
        let shift = ROUNDED as i32 - 1 - exponent;
        let scaled =
            RBig::from_parts(over.clone(), UBig::try_from(under.clone()).map_err(|e| e.to_string())?)
                * ten_to(shift)
                + RBig::from_parts(IBig::ONE, UBig::from(2u8));
        let (whole, _) = scaled.numerator().div_rem(IBig::from(scaled.denominator().clone()));
        let digits = whole.to_string();
        if digits.len() <= ROUNDED {
            break digits;
        }
        exponent += 1;
    };
    if exponent.abs() > MAX_EXPONENT {
        return Err("the result is too large or too small".to_owned());
    }
    let digits = digits.trim_end_matches('0');
    let text = if (-6..ROUNDED as i32).contains(&exponent) {
        let places = digits.len() as i32 - 1 - exponent;
        match usize::try_from(places) {
            Ok(places) => with_point(digits, places),
            Err(_) => format!("{digits}{}", "0".repeat(places.unsigned_abs() as usize)),
        }
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}e{exponent}")
    };
    Ok(signed(value, &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, over: &str) -> String {
        let shown = show(&Factor { ratio: read(text).unwrap() / read(over).unwrap(), pi: 0 }).unwrap();
        shown.number + &shown.note
    }

    #[test]
    fn short_decimals_are_exact_and_others_rounded() {
        assert_eq!(shown("1.5", "1"), "= 1.5");
        assert_eq!(shown("-0.001", "1"), "= -0.001");
        assert_eq!(shown("1e20", "1"), "= 100000000000000000000");
        assert_eq!(shown("1", "3"), "≈ 0.333333333333333 (exactly 1/3)");
        assert_eq!(shown("-2", "3"), "≈ -0.666666666666667 (exactly -2/3)");
        assert_eq!(shown("2e40", "3"), "≈ 6.66666666666667e39");
        assert_eq!(shown("1e-40", "3"), "≈ 3.33333333333333e-41");
        assert_eq!(shown("1e40", "1"), "≈ 1e40");
        assert_eq!(shown("3e15", "7"), "≈ 428571428571429");
        assert_eq!(shown("0", "7"), "= 0");
        // Rounding up carries into a new digit: 2.99999999999999999… is 3.
        assert_eq!(shown("8999999999999999999", "3e18").split(' ').nth(1), Some("3"));
    }

    #[test]
    fn numbers_are_read_exactly_or_not_at_all() {
        assert_eq!(read("0.1").unwrap() + read(".2").unwrap(), read("0.30").unwrap());
        for (why, bad) in [
            ("that is not a number", &["", "-", ".", "0x10", "--1", "1.2.3", "NaN", "٣"][..]),
            ("the exponent is not a whole number", &["1e", "1e99999999999"]),
            ("the number is too long", &["1e999", "1e-2147483648"]),
            ("without commas", &["1,000"]),
        ] {
            for text in bad {
                let said = read(text).unwrap_err();
                assert!(said.contains(why), "{text}: {said}");
            }
        }
    }
}
