//! What the judge is told, and what it says.

use super::{CodeError, Test, Types, WriteBack};
use merit_sandbox::{Report, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Serialize)]
pub(super) struct Plan<'a> {
    pub(super) tests: Vec<Planned<'a>>,
    /// For each test.
    pub(super) seconds: f64,
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
        /// Impostors that were tried on it already.
        skip: usize,
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
        skip: usize,
    },
}

impl<'a> Planned<'a> {
    pub(super) fn number(&self) -> usize {
        match self {
            Self::Asserts { number, .. } | Self::Call { number, .. } => *number,
        }
    }

    pub(super) fn skip(&mut self, impostors: usize) {
        let (Self::Asserts { skip, .. } | Self::Call { skip, .. }) = self;
        *skip = impostors;
    }

    /// The same test with the way of writing back that vetting chose for it.
    pub(super) fn writing_back(mut self, chosen: WriteBack) -> Self {
        if let Self::Asserts { write_back: write_back @ WriteBack::Auto, .. } = &mut self {
            *write_back = if chosen == WriteBack::Auto { WriteBack::Always } else { chosen };
        }
        self
    }

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
                skip: 0,
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
                skip: 0,
            }),
            Test::Stdin(_) => None,
        }
    }
}

/// What the judge said: number, kind and words of each outcome and whether it rests on the program's word, up to the test
/// after which the program could not go on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    pub(super) outcomes: Vec<(usize, String, String, bool)>,
    /// Why the program could not be loaded: kind, class and text. Absent: it could.
    pub(super) load: Option<(String, String, String)>,
    /// Where it died, and how. Absent: it did not die.
    #[serde(skip)]
    pub(super) died: Option<Death>,
}

/// Where and how a judge died.
#[derive(Debug)]
pub(super) struct Death {
    /// The test it was at. Absent: between tests.
    pub(super) number: Option<usize>,
    pub(super) verdict: Verdict,
}

/// The status with which a judge leaves that ran past a test's limit in one long call: the number of SIGPROF.
const OUT_OF_TIME: i32 = 27;

/// How a judge ended.
pub(super) fn verdict_of(report: &Report) -> Verdict {
    if report.exit_code == Some(OUT_OF_TIME) { Verdict::Time } else { report.verdict.clone() }
}

impl Said {
    /// What breaks before the program's first word is ours; from there on it is the program's doing, for the tests were
    /// vetted without it.
    pub(super) fn of(report: &Report) -> Result<Self, CodeError> {
        if let (Verdict::Ok, Some(text)) = (&report.verdict, &report.value)
            && let Ok(said) = serde_json::from_str(text)
        {
            return Ok(said);
        }
        if !report.stdout.lines().any(|line| line == "begun") {
            let traceback = match &report.verdict {
                Verdict::Exception { traceback, .. } => traceback.as_str(),
                _ => "",
            };
            return Err(CodeError::Judge(format!("{} {traceback}", report.verdict)));
        }
        Ok(Self::last_words(&report.stdout, &verdict_of(report)))
    }

    /// From its notes: a test's number as it begins, and its outcome.
    fn last_words(notes: &str, verdict: &Verdict) -> Self {
        let mut said = Self::default();
        let mut number = None;
        for line in notes.lines() {
            if let Ok(begun) = line.parse() {
                number = Some(begun);
            } else if let Ok(outcome) = serde_json::from_str(line) {
                said.outcomes.push(outcome);
                number = None;
            }
        }
        said.died = Some(Death { number, verdict: verdict.clone() });
        said
    }
}
