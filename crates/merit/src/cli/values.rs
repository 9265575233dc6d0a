//! Values that several commands read alike.

/// More episodes than anybody looks at, and few enough to be kept in memory.
pub(super) const MOST: i64 = 10_000;

pub(super) fn temperature(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if f32::is_finite(number) && number >= 0.0 => Ok(number),
        _ => Err("expected 0 (greedy) or a number above it".to_owned()),
    }
}

pub(super) fn discount(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE, e.g. budget.steps=20".to_owned()),
    }
}
