//! A window of lengths: 1 inside, falling off linearly to 0 over `decay` units outside.

use super::words::words;
use super::{LengthConfig, LengthUnit, TextEvidence};

/// The score of a response's length.
pub(crate) fn length(config: LengthConfig, response: &str) -> (f64, TextEvidence) {
    let length = match config.unit {
        LengthUnit::Chars => response.chars().count(),
        LengthUnit::Words => words(response).count(),
    };
    let outside = config.min.saturating_sub(length).max(length.saturating_sub(config.max));
    let score = match (outside, config.decay) {
        (0, _) => 1.0,
        (_, 0) => 0.0,
        (outside, decay) => (1.0 - outside as f64 / decay as f64).max(0.0),
    };
    (score, TextEvidence::Length { length, unit: config.unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, want: f64) {
        let config = LengthConfig { unit: LengthUnit::Words, min: 2, max: 3, decay: 4 };
        assert_eq!(length(config, response).0, want, "{response:?}");
    }

    #[test]
    fn inside_is_1_and_outside_falls_off() {
        check("a b", 1.0);
        check("a b c", 1.0);
        check("a", 0.75);
        check("a b c d", 0.75);
        check("a b c d e", 0.5);
        check("a b c d e f g h i j", 0.0);
    }

    #[test]
    fn without_decay_the_edge_is_sharp() {
        let config = LengthConfig { unit: LengthUnit::Chars, min: 1, max: 2, decay: 0 };
        assert_eq!((length(config, "äö").0, length(config, "äöü").0), (1.0, 0.0));
    }
}
