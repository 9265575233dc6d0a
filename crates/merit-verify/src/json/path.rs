//! Paths into a JSON document: pointers (RFC 6901) that grow and shrink with a walk, and patterns over them.
//!
//! A pattern is a pointer in which `*` stands for any one segment and `**` for any number of segments:
//! `/orders/*/total`, `/**/updated_at`. The empty pattern names the whole document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a walk stands, as a pointer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pointer {
    text: String,
}

impl Pointer {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Steps to the value under `key`; give the result to [`Pointer::back`].
    pub(crate) fn key(&mut self, key: &str) -> usize {
        let mark = self.text.len();
        self.text.push('/');
        for c in key.chars() {
            match c {
                '~' => self.text.push_str("~0"),
                '/' => self.text.push_str("~1"),
                c => self.text.push(c),
            }
        }
        mark
    }

    /// Steps to the element at `index`; give the result to [`Pointer::back`].
    pub(crate) fn index(&mut self, index: usize) -> usize {
        let mark = self.text.len();
        self.text.push('/');
        self.text.push_str(&index.to_string());
        mark
    }

    pub(crate) fn back(&mut self, mark: usize) {
        self.text.truncate(mark);
    }
}

/// A pattern that is no pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("path `{0}` is not a JSON pointer: it has to be empty or start with `/`, as in `/orders/*/total`")]
pub struct BadPath(pub String);

/// A set of places in a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern {
    segments: Vec<String>,
}

impl PathPattern {
    /// Reads a pattern such as `/orders/*/total`.
    pub fn new(text: &str) -> Result<Self, BadPath> {
        match text.strip_prefix('/') {
            Some(rest) => Ok(Self { segments: rest.split('/').map(str::to_owned).collect() }),
            None if text.is_empty() => Ok(Self { segments: Vec::new() }),
            None => Err(BadPath(text.to_owned())),
        }
    }

    /// Whether `pointer` is one of the places.
    pub fn matches(&self, pointer: &str) -> bool {
        let path: Vec<&str> =
            pointer.strip_prefix('/').map_or_else(Vec::new, |rest| rest.split('/').collect());
        // Wildcard matching with one remembered `**`: on a mismatch the last `**` swallows one more segment.
        let (mut p, mut s) = (0, 0);
        let mut last_star: Option<(usize, usize)> = None;
        while s < path.len() {
            match self.segments.get(p).map(String::as_str) {
                Some("**") => {
                    last_star = Some((p, s));
                    p += 1;
                }
                Some(want) if want == "*" || want == path[s] => {
                    p += 1;
                    s += 1;
                }
                _ => match last_star {
                    Some((star, from)) => {
                        last_star = Some((star, from + 1));
                        p = star + 1;
                        s = from + 1;
                    }
                    None => return false,
                },
            }
        }
        self.segments[p..].iter().all(|segment| segment == "**")
    }
}

impl TryFrom<String> for PathPattern {
    type Error = BadPath;

    fn try_from(text: String) -> Result<Self, BadPath> {
        Self::new(&text)
    }
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> Self {
        pattern.segments.iter().flat_map(|segment| ["/", segment]).collect()
    }
}

pub(crate) fn named(patterns: &[PathPattern], pointer: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(pointer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, pointer: &str, want: bool) {
        let found = PathPattern::new(pattern).map(|pattern| pattern.matches(pointer));
        assert_eq!(found, Ok(want), "{pattern} on {pointer}");
    }

    #[test]
    fn a_star_is_one_segment_and_two_stars_are_any_number() {
        check("", "", true);
        check("", "/a", false);
        check("/a", "/a", true);
        check("/a/*/c", "/a/b/c", true);
        check("/a/*/c", "/a/c", false);
        check("/**/at", "/at", true);
        check("/**/at", "/x/0/at", true);
        check("/**/at", "/x/at/y", false);
        check("/a/**", "/a", true);
        check("/**/b/**/d", "/a/b/c/b/d", true);
    }

    #[test]
    fn a_slash_inside_a_key_is_escaped() {
        let mut pointer = Pointer::default();
        let mark = pointer.key("a/b~c");
        assert_eq!(pointer.as_str(), "/a~1b~0c");
        pointer.back(mark);
        assert_eq!(pointer.as_str(), "");
        check("/a~1b~0c", "/a~1b~0c", true);
    }

    #[test]
    fn a_pattern_without_a_leading_slash_is_refused() {
        assert_eq!(PathPattern::new("a/b"), Err(BadPath("a/b".to_owned())));
    }
}
