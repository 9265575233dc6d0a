//! Median and range of a few rounds, and how numbers are written.

/// What several rounds gave.
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Spread {
    /// Of at least one value.
    pub(super) fn of(values: &[f64]) -> Self {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { median: median(values), min, max }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}–{})", short(self.median), short(self.min), short(self.max))
    }
}

/// The middle value, or the mean of the two in the middle.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// The value that at least a share `q` of the values do not pass.
pub(super) fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// About three digits: `12,345`, `123`, `12.3`, `1.23`, `0.0123`, `1.2e-7`.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1e-3 => format!("{value:.1e}"),
        size if size < 1.0 => format!("{value:.*}", (2.0 - size.log10().floor()) as usize),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => thousands(value.round() as i64),
    }
}

fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = if value < 0 { "-".to_owned() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_about_three_digits() {
        let cases = [
            (0.0, "0"),
            (1.17e-7, "1.2e-7"),
            (0.0123456, "0.0123"),
            (0.98765, "0.988"),
            (4.567, "4.57"),
            (9.996, "10.0"),
            (45.67, "45.7"),
            (456.7, "457"),
            (54_009.8, "54,010"),
            (1_234_567.0, "1,234,567"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=50).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.95), 48.0); // 0.95 * 50 = 47.5, so the 48th
        assert_eq!(quantile(&values, 1.0), 50.0);
        assert_eq!(quantile(&[7.0], 0.95), 7.0);
    }

    #[test]
    fn a_spread_shows_median_and_range() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]).to_string(), "2.00 (1.00–3.00)");
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
