//! Texts compared whole with files, and rewritten on demand.

use crate::tiny::{Said, say};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compares `text` with the golden file, or rewrites it when `MERIT_UPDATE` is set.
pub(crate) fn check(name: &str, text: &str) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name);
    if std::env::var_os("MERIT_UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or_else(|| golden.lines().count().min(text.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
    assert!(
        golden == text,
        "{name}, line {}:\n  golden: {}\n  now:    {}\nMERIT_UPDATE=1 rewrites the file",
        line + 1,
        at(&golden),
        at(text)
    );
}

/// A command, its exit code and all it said, as one block of a golden file.
pub(crate) fn block(dir: &Path, arguments: &[&str]) -> (Said, String) {
    let said = say(dir, arguments);
    let quoted = |a: &&str| if a.contains([' ', '"', '{']) { format!("'{a}'") } else { (*a).to_owned() };
    let line = arguments.iter().map(quoted).collect::<Vec<_>>().join(" ");
    let code = said.code.map_or("killed".to_owned(), |code| code.to_string());
    let mut text = String::new();
    writeln!(text, "$ merit {line}\n{}{}[{code}]\n", said.out, said.err).unwrap();
    (said, text)
}
