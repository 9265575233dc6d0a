//! What is left of a text before it is compared: compatibility forms, case, punctuation, articles and white space.
//!
//! The steps are those of the SQuAD evaluation, with two departures where that one accepts wrong answers: punctuation that
//! carries the value of a number stays (`1.5` is not `15`), and a step that would leave nothing is skipped (the answer `A`
//! is not an article). Look-alikes of other scripts are never folded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Which differences do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Normalise {
    /// Unicode compatibility composition: `ﬁ` is `fi`, full-width digits are digits.
    pub nfkc: bool,
    /// Upper and lower case are the same.
    pub fold_case: bool,
    /// Which punctuation is dropped.
    pub punctuation: Punctuation,
    /// The English articles `a`, `an` and `the` are dropped. Needs `collapse_white_space`.
    pub drop_articles: bool,
    /// Runs of white space count as one blank; none at either end.
    pub collapse_white_space: bool,
}

/// Which punctuation is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Punctuation {
    /// No punctuation is dropped.
    Keep,
    /// All but signs, points, fractions and percent signs of numbers; separators of thousands are dropped.
    #[default]
    OutsideNumbers,
    /// All of it, as SQuAD does: `1.5` becomes `15`.
    All,
}

impl Default for Normalise {
    /// For short answers: everything on.
    fn default() -> Self {
        Self {
            nfkc: true,
            fold_case: true,
            punctuation: Punctuation::OutsideNumbers,
            drop_articles: true,
            collapse_white_space: true,
        }
    }
}

impl Normalise {
    /// For running text: as the default, but articles are words like any other.
    pub fn running_text() -> Self {
        Self { drop_articles: false, ..Self::default() }
    }

    /// The normalised text.
    ///
    /// ```
    /// let normalise = merit_verify::text::Normalise::default();
    /// assert_eq!(normalise.apply("  The  Eiffel Tower! "), "eiffel tower");
    /// assert_eq!(normalise.apply("-1,234.5"), "-1234.5");
    /// ```
    pub fn apply(&self, text: &str) -> String {
        let (mut out, mut composed) = (String::new(), String::new());
        self.apply_into(text, &mut out, &mut composed);
        out
    }

    /// Writes the normalised text to `out`; `composed` is scratch. Neither allocates once grown.
    pub(crate) fn apply_into(&self, text: &str, out: &mut String, composed: &mut String) {
        let text = if self.nfkc && !text.is_ascii() {
            composed.clear();
            composed.extend(text.nfkc());
            composed.as_str()
        } else {
            text
        };
        self.pass(text, out);
        if out.is_empty() && self.drop_articles {
            Self { drop_articles: false, ..*self }.pass(text, out);
        }
        if out.is_empty() && self.punctuation != Punctuation::Keep {
            Self { punctuation: Punctuation::Keep, ..*self }.pass(text, out);
        }
    }

    fn pass(&self, text: &str, out: &mut String) {
        out.clear();
        let (mut word_start, mut at) = (0, 0);
        while let Some(rest) = text.get(at..) {
            // Letters and digits come in runs, which are copied whole.
            let run = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            self.push_run(out, rest.get(..run).unwrap_or_default());
            at += run;
            let Some(c) = rest.get(run..).and_then(|rest| rest.chars().next()) else { break };
            if self.collapse_white_space && c.is_whitespace() {
                word_start = self.end_word(out, word_start);
            } else if let Some(c) = kept(self.punctuation, text, at, c) {
                self.push(out, c);
            }
            at += c.len_utf8();
        }
        if self.collapse_white_space {
            self.end_word(out, word_start);
            if out.ends_with(' ') {
                out.pop();
            }
        }
    }

    /// Adds letters and digits of ASCII.
    fn push_run(&self, out: &mut String, run: &str) {
        let start = out.len();
        out.push_str(run);
        if self.fold_case
            && let Some(run) = out.get_mut(start..)
        {
            run.make_ascii_lowercase();
        }
    }

    fn push(&self, out: &mut String, c: char) {
        if self.fold_case {
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
    }

    /// Closes the word that starts at `start`, and says where the next one starts.
    fn end_word(&self, out: &mut String, start: usize) -> usize {
        let word = out.get(start..).unwrap_or_default();
        if word.is_empty() {
            return start;
        }
        if self.drop_articles && ["a", "an", "the"].iter().any(|article| word.eq_ignore_ascii_case(article)) {
            out.truncate(start);
        } else {
            out.push(' ');
        }
        out.len()
    }
}

/// What stays of `c`, which stands at `at` in `text`. Absent: it is dropped.
fn kept(punctuation: Punctuation, text: &str, at: usize, c: char) -> Option<char> {
    if c.is_ascii_alphanumeric() || punctuation == Punctuation::Keep || !is_punctuation(c) {
        return Some(c);
    }
    match punctuation {
        Punctuation::Keep => Some(c),
        Punctuation::All => None,
        Punctuation::OutsideNumbers => number_part(text, at, c),
    }
}

/// What stays of a punctuation mark that may belong to a number.
fn number_part(text: &str, at: usize, c: char) -> Option<char> {
    let before = text.get(..at)?.chars().next_back();
    let after = text.get(at + c.len_utf8()..)?;
    let digit_before = before.is_some_and(|c| c.is_numeric());
    let digit_after = after.starts_with(|c: char| c.is_numeric());
    match c {
        _ if is_dash(c) => {
            let starts_number = digit_after
                || after.strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_numeric()));
            let is_sign = starts_number && !before.is_some_and(char::is_alphanumeric);
            (is_sign || (digit_before && digit_after)).then_some('-')
        }
        ',' if digit_before && digit_after => (!is_thousand(after)).then_some(','),
        '.' if digit_after => (digit_before || !before.is_some_and(char::is_alphanumeric)).then_some('.'),
        '/' | ':' | '^' | '*' if digit_before && digit_after => Some(c),
        '%' if digit_before => Some('%'),
        _ => None,
    }
}

/// Exactly three digits come next.
fn is_thousand(after: &str) -> bool {
    after.chars().take_while(|c| c.is_ascii_digit()).take(4).count() == 3
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// ASCII punctuation, and the common marks of other writing.
pub(crate) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c,
            '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2212}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}' | '\u{30FB}'
            | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF65}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &str) {
        assert_eq!(Normalise::default().apply(text), want, "{text:?}");
    }

    #[test]
    fn articles_case_punctuation_and_blanks_go() {
        check(" The  Quick,\tbrown\nFox. ", "quick brown fox");
        check("An apple a day", "apple day");
        check("well-known", "wellknown");
        check("“quoted”…", "quoted");
    }

    #[test]
    fn the_value_of_a_number_stays() {
        check("1.5", "1.5");
        check("-5", "-5");
        check("\u{2212}5", "-5");
        check("1,234,567", "1234567");
        check("1,2", "1,2");
        check("1/2.", "1/2");
        check("50%", "50%");
        check("3-4", "3-4");
        check(".5", ".5");
        check("v2.", "v2");
    }

    #[test]
    fn a_step_that_would_leave_nothing_is_skipped() {
        check("A", "a");
        check("the", "the");
        check("+", "+");
        check("->", "->");
        check("  ", "");
    }

    #[test]
    fn compatibility_forms_fold_but_other_scripts_do_not() {
        check("ﬁve", "five");
        check("１２", "12");
        check("р", "р");
        assert_ne!(Normalise::default().apply("p"), Normalise::default().apply("р"));
    }

    #[test]
    fn all_punctuation_goes_as_in_squad_when_asked() {
        let squad = Normalise { punctuation: Punctuation::All, ..Normalise::default() };
        assert_eq!(squad.apply("1.5"), "15");
    }
}
