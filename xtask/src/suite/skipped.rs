//! Tests that did not run because something was not there: counted by name and reason, never as passed.

use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Skipped tests by what they needed.
#[derive(Default)]
pub(super) struct Skipped {
    /// Need and reason, with the tests.
    by_reason: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Skipped {
    /// Adds the lines that the tests of one program wrote (see `merit_testing::skip`); how many tests they are.
    pub(super) fn read(&mut self, program: &str, file: &Path) -> Result<u64> {
        if !file.exists() {
            return Ok(0);
        }
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(self.add(program, &text))
    }

    fn add(&mut self, program: &str, text: &str) -> u64 {
        let mut tests = BTreeSet::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, '\t').map(str::to_owned);
            let (Some(need), Some(test), Some(why)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            // A test that misses two things is skipped once.
            if tests.insert(test.clone()) {
                self.by_reason.entry((need, why)).or_default().insert(format!("{program} {test}"));
            }
        }
        tests.len() as u64
    }

    pub(super) fn len(&self) -> usize {
        self.by_reason.values().map(BTreeSet::len).sum()
    }

    /// One block for each reason.
    pub(super) fn show(&self) {
        for ((need, why), tests) in &self.by_reason {
            println!("skipped for want of `{need}`: {why}");
            for test in tests {
                println!("    {test}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_misses_two_things_is_skipped_once() {
        let mut skipped = Skipped::default();
        let text = "data\ta::b\tx is not there\ndata\ta::b\ty is not there\nweights\tc\tno\n";
        assert_eq!(skipped.add("merit-maths it", text), 2);
        assert_eq!(skipped.add("merit-text it", "weights\tc\tno\n"), 1);
        assert_eq!(skipped.len(), 3);
    }
}
