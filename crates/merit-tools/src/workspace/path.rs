//! What a path may be: relative, plain, one spelling for one file.

use crate::excerpt::excerpt;
use unicode_normalization::UnicodeNormalization as _;

/// Longest path, in bytes.
const MAX_LENGTH: usize = 200;
/// Most folders and the file.
const MAX_PARTS: usize = 16;

/// The one spelling of a path: NFC, without empty and `.` parts.
pub(super) fn normal(path: &str) -> Result<String, String> {
    let refuse = |why: &str| Err(format!("path `{}` {why}", excerpt(path, 60)));
    if path.len() > MAX_LENGTH {
        return refuse("is too long: at most 200 bytes");
    }
    if path.starts_with('/') {
        return refuse("begins with /; paths are relative, as in notes/plan.txt");
    }
    if path.contains('\\') {
        return refuse("has a \\; write / between folders");
    }
    if path.contains(char::is_control) || path.contains(is_invisible) {
        return refuse("has a character that cannot be seen");
    }
    let composed: String = path.nfc().collect();
    let parts: Vec<&str> = composed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return refuse("has a part `..`; there is nothing above this folder");
    }
    if parts.iter().any(|part| part.trim() != *part) {
        return refuse("has spaces at the edge of a part");
    }
    if parts.len() > MAX_PARTS {
        return refuse("has too many folders: at most 15");
    }
    let path = parts.join("/");
    // Composing may lengthen a text.
    if path.len() > MAX_LENGTH { refuse("is too long: at most 200 bytes") } else { Ok(path) }
}

/// The path of a file, which has a name.
pub(super) fn of_file(path: &str) -> Result<String, String> {
    let path = normal(path)?;
    if path.is_empty() { Err("a path is missing; give the name of a file".to_owned()) } else { Ok(path) }
}

/// Characters that make two paths look the same: marks of direction, joiners and spaces of no width.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_spelling() {
        for (path, want) in [
            ("a.txt", "a.txt"),
            ("./a//b/./c", "a/b/c"),
            ("a/", "a"),
            ("cafe\u{301}", "caf\u{e9}"),
            (".", ""),
            ("two words", "two words"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(normal(path).as_deref(), Ok(want), "{path}");
        }
    }

    #[test]
    fn what_leads_out_or_cannot_be_seen_is_refused() {
        let refused = |path: &str| normal(path).unwrap_err();
        for (why, paths) in [
            ("begins with /", &["/etc/passwd"][..]),
            ("has a part `..`", &["../a", "a/../b", "a/.."]),
            ("has a \\; write /", &["a\\b"]),
            ("cannot be seen", &["a\0b", "a\nb", "a\u{200b}b", "a\u{202e}b"]),
            ("has spaces at the edge", &[" a", "a / b"]),
        ] {
            for path in paths {
                assert!(refused(path).contains(why), "{path:?}: {}", refused(path));
            }
        }
        assert!(refused(&"a/".repeat(17)).contains("too many folders: at most 15"));
        assert!(refused(&"a".repeat(201)).contains("too long: at most 200 bytes"));
        // U+1D15E composes to three characters, not fewer.
        assert!(refused(&"\u{1d15e}".repeat(50)).contains("too long: at most 200 bytes"));
        assert!(of_file("./").unwrap_err().contains("a path is missing"));
    }
}
