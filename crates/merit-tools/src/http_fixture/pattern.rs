//! URLs with `*`, which stands for any characters, `/` and `&` among them.

use super::url;

/// A URL as a fixture writes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    /// In its one spelling.
    pub(super) text: String,
    pub(super) has_star: bool,
}

impl Pattern {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = url::normal(text)?;
        Ok(Self { has_star: text.contains('*'), text })
    }

    /// Whether a URL in its one spelling fits.
    pub(super) fn fits(&self, url: &str) -> bool {
        if self.has_star { glob(self.text.as_bytes(), url.as_bytes()) } else { self.text == url }
    }
}

/// Greedy with one way back: on a mismatch, the last star takes one more byte.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                back = Some((p + 1, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match back {
                Some((after_star, from)) => {
                    back = Some((after_star, from + 1));
                    (p, t) = (after_star, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, want: bool) {
        assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), want, "{pattern} {text}");
    }

    #[test]
    fn a_star_stands_for_anything() {
        check("a*c", "abbc", true);
        check("a*c", "ac", true);
        check("a*c", "acd", false);
        check("*", "", true);
        check("a**b*", "axxbyy", true);
        check("*ab", "aab", true);
        check("*a*b", "xaxx", false);
        check("", "a", false);
        check(&"*a".repeat(50), &"a".repeat(1_000), true);
        check(&format!("{}b", "*a".repeat(50)), &"a".repeat(2_000), false);
    }
}
