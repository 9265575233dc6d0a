//! How right a verdict is about a labelled pair.

use crate::{Choice, Label};

/// 1 where verdict and label agree, 0 where they contradict each other, a half where one of them is a tie and the other is not. What
/// is no verdict is wrong.
pub fn rightness(choice: Option<Choice>, label: Label) -> f64 {
    let side = |choice: Choice| -> f64 {
        match choice {
            Choice::First => 1.0,
            Choice::Tie => 0.0,
            Choice::Second => -1.0,
        }
    };
    choice.map_or(0.0, |choice| 1.0 - (side(choice) - side(label.into())).abs() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_half_right_and_silence_is_wrong() {
        assert_eq!(rightness(Some(Choice::First), Label::A), 1.0);
        assert_eq!(rightness(Some(Choice::Second), Label::A), 0.0);
        assert_eq!(rightness(Some(Choice::Tie), Label::B), 0.5);
        assert_eq!(rightness(Some(Choice::Tie), Label::Tie), 1.0);
        assert_eq!(rightness(None, Label::Tie), 0.0);
    }
}
