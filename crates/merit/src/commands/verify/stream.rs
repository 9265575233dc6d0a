//! Records in, verdicts out: batch by batch, in parallel, in the order of the input.

use super::lines::{Batch, Lines, Place};
use super::verifier::Verifier;
use super::{kept::Kept, policy, refusal};
use crate::out;
use crate::terminal::{self, piece};
use anyhow::{Context as _, Result};
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{Read, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Policies of records that are kept compiled.
const POLICIES: usize = 64;
/// The most lines a thread takes at a time.
const PORTION: usize = 256;

/// A verifier, and those of the policies that records bring along.
pub(super) struct Judge<V: Verifier> {
    verifier: V,
    policy: Value,
    own: Kept<V>,
    explain: bool,
}

/// How many records came to what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) right: u64,
    pub(super) wrong: u64,
    pub(super) unknown: u64,
    pub(super) errors: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.unknown += other.unknown;
        self.errors += other.errors;
    }
}

impl Tally {
    pub(super) fn records(&self) -> u64 {
        self.right + self.wrong + self.unknown + self.errors
    }
}

#[derive(Serialize)]
struct VerdictLine<'a, V> {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    passed: Option<bool>,
    score: Option<f64>,
    verdict: &'a V,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    error: &'a str,
}

impl<V: Verifier> Judge<V> {
    /// Compiles the policy of the command.
    pub(super) fn new(policy: V::Policy, explain: bool) -> Result<Self, String> {
        let kept = serde_json::to_value(&policy).map_err(|e| e.to_string())?;
        Ok(Self { verifier: V::compile(policy)?, policy: kept, own: Kept::new(POLICIES), explain })
    }

    /// Judges every line of `lines` and writes what it came to.
    pub(super) fn run<R: Read>(
        &self,
        lines: &mut Lines<R>,
        name: &str,
        threads: &ThreadPool,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        while let Some(batch) = lines.next().with_context(|| format!("cannot read {name}"))? {
            for (text, part) in threads.install(|| self.batch(&batch)) {
                tally += part;
                out::text(String::from_utf8_lossy(&text))?;
            }
        }
        Ok(tally)
    }

    fn batch(&self, batch: &Batch) -> Vec<(Vec<u8>, Tally)> {
        let places = batch.lines();
        let portion = places.len().div_ceil(rayon::current_num_threads() * 4).clamp(1, PORTION);
        places.par_chunks(portion).map(|places| self.portion(batch, places)).collect()
    }

    fn portion(&self, batch: &Batch, places: &[Place]) -> (Vec<u8>, Tally) {
        let (mut text, mut tally) = (Vec::new(), Tally::default());
        for place in places {
            let before = text.len();
            let mut id = None;
            // The last fence: one record that breaks a verifier must not take the others with it.
            let judged = catch_unwind(AssertUnwindSafe(|| match batch.line(place) {
                Some(line) => self.line(place.number, line, &mut id, &mut text),
                None => Err("the line is too long to be a record".to_owned()),
            }));
            match judged
                .unwrap_or_else(|_| Err("the verifier broke on this record; please report it".to_owned()))
            {
                Ok(Some(true)) => tally.right += 1,
                Ok(Some(false)) => tally.wrong += 1,
                Ok(None) => tally.unknown += 1,
                Err(error) => {
                    text.truncate(before);
                    self.complain(place.number, id, &error, &mut text);
                    tally.errors += 1;
                }
            }
        }
        (text, tally)
    }

    /// Judges one line; whether its response is right, or why it is no record.
    fn line<'a>(
        &self,
        number: u64,
        line: &'a [u8],
        id: &mut Option<&'a RawValue>,
        text: &mut Vec<u8>,
    ) -> Result<Option<bool>, String> {
        if !matches!(line.first(), Some(b'{')) {
            let checked = serde_json::from_slice::<&RawValue>(line).map_err(|e| refusal::words(&e))?;
            return Err(format!("a record is an object, not {}", piece(checked.get())));
        }
        let record: V::Record<'a> = serde_json::from_slice(line).map_err(|e| refusal::words(&e))?;
        let common = V::common(&record);
        *id = common.id;
        let own = common.policy.map(|own| self.own(own)).transpose()?;
        let judged = own.as_deref().unwrap_or(&self.verifier).judge(&record)?;
        let (passed, score, verdict) = (judged.passed, judged.score, &judged.verdict);
        if self.explain {
            let standing = match passed {
                Some(true) => "right",
                Some(false) => "wrong",
                None => "cannot be judged",
            };
            let score = score.map_or_else(String::new, |score| format!(", score {score:.4}"));
            put(text, &format!("{}: {standing}{score}", named(number, common.id)));
            V::explain(verdict).iter().for_each(|line| put(text, &format!("  {line}")));
        } else {
            let line = VerdictLine { line: number, id: common.id, passed, score, verdict };
            write_json(text, &line)?;
        }
        Ok(passed)
    }

    /// The verifier of a record's own policy.
    fn own(&self, own: &RawValue) -> Result<std::sync::Arc<V>, String> {
        let make = || policy::with(&self.policy, own.get()).and_then(V::compile);
        self.own.get(own.get(), make).map_err(|why| format!("`policy`: {why}"))
    }

    fn complain(&self, line: u64, id: Option<&RawValue>, error: &str, text: &mut Vec<u8>) {
        if self.explain {
            put(text, &format!("{}: error: {}", named(line, id), terminal::lines(error)));
        } else {
            write_json(text, &ErrorLine { line, id, error }).expect("a line of plain fields is JSON");
        }
    }
}

fn named(line: u64, id: Option<&RawValue>) -> String {
    id.map_or_else(
        || format!("line {line}"),
        |id| format!("line {line} ({})", piece(id.get().trim_matches('"'))),
    )
}

fn write_json(text: &mut Vec<u8>, line: &impl Serialize) -> Result<(), String> {
    serde_json::to_writer(&mut *text, line).map_err(|e| format!("the verdict cannot be written: {e}"))?;
    text.push(b'\n');
    Ok(())
}

fn put(text: &mut Vec<u8>, line: &str) {
    writeln!(text, "{line}").expect("memory takes every line");
}

#[cfg(test)]
mod tests {
    use super::super::lines::Bounds;
    use super::super::verifier::{Common, Judged};
    use super::*;
    use serde::Deserialize;

    /// Finds even numbers right, has no opinion on 0, and breaks on 13.
    struct Even;

    #[derive(Deserialize)]
    struct Number<'a> {
        n: u64,
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
    }

    impl Verifier for Even {
        type Policy = ();
        type Record<'a> = Number<'a>;
        type Verdict = u64;

        fn compile((): ()) -> Result<Self, String> {
            Ok(Self)
        }

        fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
            Common { id: record.id, policy: None }
        }

        fn judge(&self, record: &Number<'_>) -> Result<Judged<u64>, String> {
            assert_ne!(record.n, 13, "a verifier that breaks");
            let passed = (record.n != 0).then_some(record.n.is_multiple_of(2));
            Ok(Judged { passed, score: None, verdict: record.n })
        }

        fn explain(_: &u64) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn a_record_that_breaks_the_verifier_takes_no_other_with_it() {
        let input = "{\"n\":1}\n{\"n\":2}\n{\"n\":13,\"id\":\"x\"}\n{\"n\":0}\nno\n";
        let batch = Lines::new(input.as_bytes(), Bounds::USUAL).next();
        let batch = batch.expect("memory can be read").expect("there are lines");
        let judge = Judge::<Even>::new((), false).expect("there is nothing to refuse");
        let (text, tally) = judge.portion(&batch, batch.lines());
        assert_eq!(tally, Tally { right: 1, wrong: 1, unknown: 1, errors: 2 });
        let want = [
            r#"{"line":1,"passed":false,"score":null,"verdict":1}"#,
            r#"{"line":2,"passed":true,"score":null,"verdict":2}"#,
            r#"{"line":3,"id":"x","error":"the verifier broke on this record; please report it"}"#,
            r#"{"line":4,"passed":null,"score":null,"verdict":0}"#,
            r#"{"line":5,"error":"not JSON: column 2: expected ident"}"#,
        ];
        assert_eq!(String::from_utf8_lossy(&text).lines().collect::<Vec<_>>(), want);
    }
}
