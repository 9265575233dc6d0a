//! What the judge is told, and what it says.

use super::{CodeError, Test, Types, WriteBack};
use merit_sandbox::{Report, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The judge's orders.
#[derive(Serialize)]
pub(super) struct Plan<'a> {
    pub(super) tests: Vec<Planned<'a>>,
    /// For each test.
    pub(super) seconds: f64,
    /// For all of them.
    pub(super) total: f64,
    pub(super) seed: u64,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum Planned<'a> {
    Asserts {
        number: usize,
        code: &'a str,
        setup: &'a str,
        entry_point: Option<&'a str>,
        builders: &'a [String],
        write_back: WriteBack,
    },
    Call {
        number: usize,
        function: &'a str,
        args: &'a [Value],
        kwargs: &'a Map<String, Value>,
        result: &'a Value,
        types: Types,
        tolerance: Option<f64>,
        in_place: bool,
        builders: &'a [String],
        write_back: WriteBack,
    },
}

impl<'a> Planned<'a> {
    /// Absent: it needs no judge.
    pub(super) fn new(number: usize, test: &'a Test, entry_point: Option<&'a str>) -> Option<Self> {
        match test {
            Test::Asserts(test) => Some(Self::Asserts {
                number,
                code: &test.asserts,
                setup: &test.setup,
                entry_point: test.entry_point.as_deref().or(entry_point),
                builders: &test.builders,
                write_back: test.write_back,
            }),
            Test::Call(test) => Some(Self::Call {
                number,
                function: &test.function,
                args: &test.args,
                kwargs: &test.kwargs,
                result: &test.result,
                types: test.types,
                tolerance: test.tolerance,
                in_place: test.in_place,
                builders: &[],
                write_back: if test.in_place { WriteBack::Always } else { WriteBack::Never },
            }),
            Test::Stdin(_) => None,
        }
    }
}

/// What the judge said: number, kind and words of each outcome, up to the test after which the program could not go on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    pub(super) outcomes: Vec<(usize, String, String)>,
    /// Why the program could not be loaded: kind, class and text. Absent: it could.
    pub(super) load: Option<(String, String, String)>,
    /// The test it was at when it died, and how. Absent: it did not die.
    #[serde(skip)]
    pub(super) died: Option<Death>,
}

/// Where and how a judge died.
#[derive(Debug)]
pub(super) struct Death {
    /// The test it was at.
    pub(super) number: usize,
    /// Whether it had taken something from the program in that test.
    pub(super) heard: bool,
    pub(super) verdict: Verdict,
}

impl Said {
    pub(super) fn of(report: &Report) -> Result<Self, CodeError> {
        match (&report.verdict, &report.value) {
            (Verdict::Ok, Some(text)) => serde_json::from_str(text)
                .map_err(|why| CodeError::Judge(format!("it spoke nonsense: {why}"))),
            (Verdict::Time | Verdict::Memory | Verdict::Killed { .. }, _) => {
                Self::last_words(&report.stdout, &report.verdict)
            }
            (verdict, _) => {
                let traceback = match verdict {
                    Verdict::Exception { traceback, .. } => traceback.as_str(),
                    _ => "",
                };
                Err(CodeError::Judge(format!("{verdict} {traceback}")))
            }
        }
    }

    /// From its notes: a test's number as it begins, `heard` when it takes something from the program, and its outcome.
    fn last_words(notes: &str, verdict: &Verdict) -> Result<Self, CodeError> {
        let mut said = Self::default();
        let mut at: Option<(usize, bool)> = None;
        for line in notes.lines() {
            if let Ok(number) = line.parse() {
                at = Some((number, false));
            } else if line == "heard" {
                at = at.map(|(number, _)| (number, true));
            } else if let Ok(outcome) = serde_json::from_str(line) {
                said.outcomes.push(outcome);
                at = None;
            }
        }
        let between = || CodeError::Judge(format!("between tests: {verdict}"));
        let (number, heard) = at.ok_or_else(between)?;
        said.died = Some(Death { number, heard, verdict: verdict.clone() });
        Ok(said)
    }
}
