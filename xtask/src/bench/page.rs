//! The generated parts of `docs/benchmarks.md`, each between two marker comments.

use anyhow::{Context as _, Result, bail};
use std::path::Path;

/// Refuses a page without the subject's markers, before anything is measured.
pub(super) fn check(page: &Path, subject: &str) -> Result<()> {
    with(&read(page)?, subject, "").map(drop).with_context(|| format!("{}", page.display()))
}

/// Puts `text` between the subject's markers.
pub(super) fn replace(page: &Path, subject: &str, text: &str) -> Result<()> {
    let whole = with(&read(page)?, subject, text).with_context(|| format!("{}", page.display()))?;
    std::fs::write(page, whole).with_context(|| format!("cannot write {}", page.display()))
}

fn read(page: &Path) -> Result<String> {
    std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))
}

fn with(page: &str, subject: &str, text: &str) -> Result<String> {
    let (open, close) = (format!("<!-- bench:{subject} -->"), format!("<!-- /bench:{subject} -->"));
    let found = page.split_once(&open).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&close)?;
        Some(format!("{before}{open}\n\n{}\n\n{close}{after}", text.trim()))
    });
    let Some(page) = found else { bail!("no place for the table: add the lines `{open}` and `{close}`") };
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# A\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nB\n<!-- bench:y -->\n<!-- /bench:y -->\n";

    #[test]
    fn a_subject_replaces_its_own_part_only() {
        let page = with(PAGE, "x", "new\n").unwrap();
        assert_eq!(
            page,
            "# A\n<!-- bench:x -->\n\nnew\n\n<!-- /bench:x -->\nB\n<!-- bench:y -->\n<!-- /bench:y -->\n"
        );
        assert_eq!(with(&page, "x", "new").unwrap(), page);
    }

    #[test]
    fn every_subject_has_its_place_on_the_page() {
        for subject in super::super::SUBJECTS {
            check(&crate::root().join("docs/benchmarks.md"), subject.name).unwrap();
        }
    }

    #[test]
    fn a_page_without_the_markers_is_refused() {
        let error = with(PAGE, "z", "new").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("<!-- bench:z -->"), "{error}");
    }
}
