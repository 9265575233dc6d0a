//! A number as written, compared by its decimal value without rounding: `1`, `1.0` and `10e-1` are equal.

/// The parts of a well-formed JSON number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal<'a> {
    text: &'a str,
    is_negative: bool,
    /// Digits before and after the point, without leading or trailing zeros; both empty for zero.
    whole: &'a str,
    fraction: &'a str,
    /// The value is 0.DIGITS × 10^exponent.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Takes apart a number that follows the grammar of JSON.
    pub(super) fn read(text: &'a str) -> Self {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], read_exponent(&unsigned[at + 1..])),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let whole = whole.trim_start_matches('0');
        let mut decimal = Self { text, is_negative: unsigned.len() < text.len(), whole, fraction, exponent };
        decimal.normalise();
        decimal
    }

    fn normalise(&mut self) {
        self.exponent = self.exponent.saturating_add(self.whole.len() as i64);
        if self.whole.is_empty() {
            let digits = self.fraction.trim_start_matches('0');
            self.exponent = self.exponent.saturating_sub((self.fraction.len() - digits.len()) as i64);
            self.fraction = digits;
        }
        if self.fraction.is_empty() {
            self.whole = self.whole.trim_end_matches('0');
        }
        if self.whole.is_empty() && self.fraction.is_empty() {
            self.exponent = 0;
            self.is_negative = false;
        }
    }

    /// Whether the number is too large for a double.
    pub(super) fn is_out_of_range(&self) -> bool {
        self.exponent > 308 && self.text.parse::<f64>().is_ok_and(f64::is_infinite)
    }

    /// Whether two numbers are the same, digit by digit.
    pub(super) fn equals(&self, other: &Decimal<'_>) -> bool {
        self.text == other.text
            || (self.is_negative == other.is_negative
                && self.exponent == other.exponent
                && self.whole.len() + self.fraction.len() == other.whole.len() + other.fraction.len()
                && self.digits().eq(other.digits()))
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.bytes().chain(self.fraction.bytes())
    }
}

/// The exponent; one too large for 64 bits is held at the largest, where every value is 0 or out of range.
fn read_exponent(text: &str) -> i64 {
    let saturated = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(saturated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(a: &str, b: &str) -> bool {
        Decimal::read(a).equals(&Decimal::read(b))
    }

    #[test]
    fn spelling_does_not_matter_and_every_digit_does() {
        for (a, b) in
            [("1", "1.0"), ("10", "1e1"), ("0.10", "1E-1"), ("-0", "0.00"), ("1200", "12e+2"), ("0e9", "0")]
        {
            assert!(equal(a, b), "{a} {b}");
        }
        for (a, b) in [("1", "-1"), ("1", "10"), ("0.1", "0.01"), ("9007199254740993", "9007199254740992")] {
            assert!(!equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn what_no_double_holds_is_out_of_range() {
        assert!(Decimal::read("1e309").is_out_of_range());
        assert!(Decimal::read("1e99999999999999999999").is_out_of_range());
        assert!(!Decimal::read("0e99999999999999999999").is_out_of_range());
        assert!(!Decimal::read("1e308").is_out_of_range());
        assert!(!Decimal::read("1e-99999999999999999999").is_out_of_range());
    }
}
