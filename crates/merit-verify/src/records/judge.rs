//! Records in, verdicts out: batch by batch, in parallel, in the order of the input.

use super::lines::{Batch, Lines, Place};
use super::{Kept, lay_over, words};
use crate::json::given::given;
use merit_core::printable::{self, piece};
use merit_core::{Judgement, Verifier};
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, Read, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Settings of records that are kept compiled.
const SETTINGS: usize = 64;
/// The most lines a thread takes at a time.
const PORTION: usize = 256;

/// A verifier, and those of the settings that records bring along.
#[derive(Debug)]
pub struct Judge<V: Verifier> {
    verifier: V,
    settings: Value,
    own: Kept<String, V>,
    explain: bool,
}

/// How many records came to what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub right: u64,
    pub wrong: u64,
    /// Responses that could not be judged, by no fault of their own.
    pub unknown: u64,
    /// Lines that are no records.
    pub errors: u64,
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
    pub fn records(&self) -> u64 {
        self.right + self.wrong + self.unknown + self.errors
    }
}

/// Why a stream was not judged to its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The records cannot be read.
    #[error(transparent)]
    Read(io::Error),
    /// The verdicts cannot be written.
    #[error(transparent)]
    Write(io::Error),
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
    /// Compiles the settings. With `explain` verdicts are written for people, else as JSON.
    pub fn new(settings: V::Settings, explain: bool) -> Result<Self, String> {
        let kept = serde_json::to_value(&settings).map_err(|e| e.to_string())?;
        Ok(Self { verifier: V::compile(settings)?, settings: kept, own: Kept::new(SETTINGS), explain })
    }

    /// Judges every line of `lines`, and hands what they came to on to `write`, in the order of the lines.
    pub fn run<R: Read>(
        &self,
        lines: &mut Lines<R>,
        threads: &ThreadPool,
        mut write: impl FnMut(&str) -> io::Result<()>,
    ) -> Result<Tally, StreamError> {
        let mut tally = Tally::default();
        while let Some(batch) = lines.next_batch().map_err(StreamError::Read)? {
            for (text, part) in threads.install(|| self.batch(&batch)) {
                tally += part;
                write(&String::from_utf8_lossy(&text)).map_err(StreamError::Write)?;
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
            // A panic of the verifier spoils this record only; the other records are still judged.
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
            let checked = serde_json::from_slice::<&RawValue>(line).map_err(|e| words(&e))?;
            return Err(format!("a record is an object, not {}", piece(checked.get())));
        }
        let record: V::Record<'a> = serde_json::from_slice(line).map_err(|e| words(&e))?;
        let envelope = V::envelope(&record);
        *id = envelope.id;
        let judged = self.record(&record)?;
        let (passed, score) = (judged.passed(), judged.score);
        if self.explain {
            let standing = match passed {
                Some(true) => "right",
                Some(false) => "wrong",
                None => "cannot be judged",
            };
            let score = score.map_or_else(String::new, |score| format!(", score {score:.4}"));
            put(text, &format!("{}: {standing}{score}", named(number, envelope.id)));
            V::explain(&judged).iter().for_each(|line| put(text, &format!("  {line}")));
        } else {
            let line = VerdictLine { line: number, id: envelope.id, passed, score, verdict: &judged };
            write_json(text, &line)?;
        }
        Ok(passed)
    }

    /// Judges one record that is JSON; the error says why it is none that can be judged.
    pub fn judge(&self, record: &str) -> Result<Judgement<V::Detail>, String> {
        // A panic of the verifier becomes an error of this record, as for lines.
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let record: V::Record<'_> = serde_json::from_str(record).map_err(|e| words(&e))?;
            self.record(&record)
        }));
        judged.unwrap_or_else(|_| Err("the verifier broke on this record; please report it".to_owned()))
    }

    /// Judges a record by its own settings, where it has some.
    fn record(&self, record: &V::Record<'_>) -> Result<Judgement<V::Detail>, String> {
        let own = V::envelope(record).settings.map(|own| self.own(own)).transpose()?;
        own.as_deref().unwrap_or(&self.verifier).judge(record)
    }

    /// The verifier of a record's own settings.
    fn own(&self, own: &RawValue) -> Result<std::sync::Arc<V>, String> {
        let make = || with_own(&self.settings, own.get()).and_then(V::compile);
        self.own.get(own.get(), make).map_err(|why| format!("`settings`: {why}"))
    }

    fn complain(&self, line: u64, id: Option<&RawValue>, error: &str, text: &mut Vec<u8>) {
        if self.explain {
            put(text, &format!("{}: error: {}", named(line, id), printable::lines(error)));
        } else {
            write_json(text, &ErrorLine { line, id, error }).expect("a line of plain fields is JSON");
        }
    }
}

/// The settings `base` with those of a record laid over them.
fn with_own<S: DeserializeOwned>(base: &Value, own: &str) -> Result<S, String> {
    let own = given(own)?;
    if !own.is_object() {
        return Err("it is no object".to_owned());
    }
    let mut merged = base.clone();
    lay_over(&mut merged, own);
    serde_json::from_value(merged).map_err(|e| words(&e))
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
    use super::*;
    use merit_core::{Conclusion, Envelope, Judgement};
    use serde::Deserialize;

    /// Finds even numbers right, has no opinion on 0, and breaks on 13.
    struct Even;

    #[derive(Deserialize)]
    struct Number<'a> {
        n: u64,
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
    }

    #[derive(Serialize)]
    struct Seen {
        n: u64,
    }

    impl Verifier for Even {
        type Settings = ();
        type Record<'a> = Number<'a>;
        type Detail = Seen;

        fn compile((): ()) -> Result<Self, String> {
            Ok(Self)
        }

        fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
            Envelope { id: record.id, settings: None }
        }

        fn judge(&self, record: &Number<'_>) -> Result<Judgement<Seen>, String> {
            assert_ne!(record.n, 13, "a verifier that breaks");
            let conclusion = match record.n {
                0 => Conclusion::not_applicable("it is 0"),
                n => Conclusion::of(n.is_multiple_of(2)),
            };
            Ok(Judgement::unmeasured(conclusion, Seen { n: record.n }))
        }

        fn explain(_: &Judgement<Seen>) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn a_record_that_breaks_the_verifier_takes_no_other_with_it() {
        let input = "{\"n\":1}\n{\"n\":2}\n{\"n\":13,\"id\":\"x\"}\n{\"n\":0}\nno\n";
        let batch = Lines::new(input.as_bytes(), Bounds::USUAL).next_batch();
        let batch = batch.expect("memory can be read").expect("there are lines");
        let judge = Judge::<Even>::new((), false).expect("there is nothing to refuse");
        let (text, tally) = judge.portion(&batch, batch.lines());
        assert_eq!(tally, Tally { right: 1, wrong: 1, unknown: 1, errors: 2 });
        let want = [
            r#"{"line":1,"passed":false,"score":0.0,"verdict":{"conclusion":{"type":"fail"},"score":0.0,"n":1}}"#,
            r#"{"line":2,"passed":true,"score":1.0,"verdict":{"conclusion":{"type":"pass"},"score":1.0,"n":2}}"#,
            r#"{"line":3,"id":"x","error":"the verifier broke on this record; please report it"}"#,
            r#"{"line":4,"passed":null,"score":null,"verdict":{"conclusion":{"type":"not-applicable","why":"it is 0"},"score":null,"n":0}}"#,
            r#"{"line":5,"error":"not JSON: column 2: expected ident"}"#,
        ];
        assert_eq!(String::from_utf8_lossy(&text).lines().collect::<Vec<_>>(), want);
    }
}
