//! What a test is worth, found before any program is tried on it: each is run against impostors, programs that do no work.
//!
//! What breaks here broke without the program, so the test is bad. What an impostor passes is weak: it pays only beside a
//! test that the same impostor fails. Tests that are data (a call and its result, input and output, asserts over literal
//! values) are not vetted: there is nothing in them to agree with. What is found is kept as long as the verifier.

use super::pair::{JUDGE_BYTES, MARGIN_SECONDS, Stage};
use super::plan::{Plan, Planned, verdict_of};
use super::{CodeConfig, CodeError, Test, WriteBack};
use merit_sandbox::{Limits, Report, Verdict};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Tests remembered at most; beyond that all are forgotten.
const KEPT: usize = 100_000;
/// How often vetting is begun anew after a test ended it.
const DEATHS: usize = 5;

/// What is known of a test without a program.
#[derive(Debug, Clone, Default)]
pub(super) struct Vetted {
    /// Why it cannot be used. Absent: it can.
    pub(super) bad: Option<String>,
    /// When containers are brought up to date.
    pub(super) write_back: WriteBack,
    /// The impostors that pass it, and whether the pass rests on their own word.
    pub(super) passed_by: Vec<(String, bool)>,
}

/// An impostor that passes all of these tests. A pass that does not rest on the program's word is not matched by one that
/// does. Absent: there is none, or no test.
pub(super) fn passing<'a>(tests: impl Iterator<Item = (&'a Vetted, bool)>) -> Option<String> {
    let mut common: Option<Vec<&str>> = None;
    for (test, leaned) in tests {
        let passing = test.passed_by.iter().filter(|(_, leaning)| leaned || !leaning);
        let passing: Vec<&str> = passing.map(|(name, _)| name.as_str()).collect();
        common = Some(match common {
            None => passing,
            Some(common) => common.into_iter().filter(|name| passing.contains(name)).collect(),
        });
    }
    common?.first().map(|name| (*name).to_owned())
}

/// Vets tests, each once.
#[derive(Debug, Default)]
pub(super) struct Vetting {
    known: Mutex<HashMap<String, Arc<Vetted>>>,
}

impl Vetting {
    /// What is known of each test, in order.
    pub(super) fn vet(
        &self,
        stage: &Stage,
        config: &CodeConfig,
        tests: &[&Test],
    ) -> Result<Vec<Arc<Vetted>>, CodeError> {
        let entry_point = config.entry_point.as_deref();
        let keys: Vec<String> = tests.iter().map(|test| key(test, entry_point)).collect();
        let mut found: Vec<Option<Arc<Vetted>>> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().map(|key| known.get(key).cloned()).collect()
        };
        let open = (0..tests.len()).filter(|&at| found[at].is_none());
        let planned = open.filter_map(|at| Planned::new(at, tests[at], entry_point)).collect();
        for (at, vetted) in fresh(stage, config, planned)? {
            found[at] = Some(Arc::new(vetted));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + keys.len() > KEPT {
            known.clear();
        }
        let found = found.into_iter().map(Option::unwrap_or_default);
        Ok(keys
            .into_iter()
            .zip(found)
            .map(|(key, one)| Arc::clone(known.entry(key).or_insert(one)))
            .collect())
    }
}

fn key(test: &Test, entry_point: Option<&str>) -> String {
    serde_json::to_string(&(test, entry_point)).unwrap_or_default()
}

/// Runs the tests against the impostors; where a test ends the process, what is left is tried in another.
fn fresh(
    stage: &Stage,
    config: &CodeConfig,
    mut open: Vec<Planned<'_>>,
) -> Result<HashMap<usize, Vetted>, CodeError> {
    let mut found: HashMap<usize, Vetted> = HashMap::new();
    for _ in 0..=DEATHS {
        if open.is_empty() {
            break;
        }
        let plan = Plan {
            tests: open,
            seconds: config.limits.seconds,
            total: config.total_seconds,
            seed: config.seed,
        };
        let text = serde_json::to_string(&plan).map_err(|why| CodeError::Judge(why.to_string()))?;
        let seconds = config.total_seconds + MARGIN_SECONDS;
        let limits = Limits { seconds, output_bytes: JUDGE_BYTES, ..config.sandbox.limits };
        let report = stage.sandbox.run(stage.harness.vetting(&text, limits), None)?;
        open = take(&mut found, plan.tests, &report)?;
    }
    Ok(found)
}

/// Takes over what was found, and gives back the tests that are left.
fn take<'a>(
    found: &mut HashMap<usize, Vetted>,
    mut tests: Vec<Planned<'a>>,
    report: &Report,
) -> Result<Vec<Planned<'a>>, CodeError> {
    let mut at: Option<(usize, usize)> = None;
    let mut heard = false;
    for line in report.stdout.lines() {
        heard |= line == "heard";
        let Some(Ok(words)) = line.strip_prefix('@').map(serde_json::from_str::<Vec<Value>>) else {
            continue;
        };
        let (word, number) = (words.first().and_then(Value::as_str), words.get(1).and_then(Value::as_u64));
        let (Some(word), Some(number)) = (word, number) else { continue };
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let text = || words.get(2).and_then(Value::as_str).unwrap_or_default().to_owned();
        let one = found.entry(number).or_default();
        match word {
            "at" => {
                let impostor = words.get(2).and_then(Value::as_u64).unwrap_or_default();
                (at, heard) = (Some((number, usize::try_from(impostor).unwrap_or_default())), false);
            }
            "passed" => {
                one.passed_by.push((text(), words.get(3).and_then(Value::as_bool).unwrap_or_default()));
            }
            "mode" => one.write_back = serde_json::from_value(Value::String(text())).unwrap_or_default(),
            "bad" => one.bad = Some(text()),
            _ => {}
        }
        if matches!(word, "bad" | "vetted") {
            tests.retain(|test| test.number() != number);
            at = None;
        }
    }
    match (verdict_of(report), at) {
        (Verdict::Ok, _) => tests.clear(),
        (Verdict::Exception { traceback, .. }, None) => {
            return Err(CodeError::Judge(format!("while vetting tests: {traceback}")));
        }
        (verdict, at) => bury(found, &mut tests, at.filter(|_| heard), &verdict),
    }
    Ok(tests)
}

/// A test that ended the process before it took anything from an impostor is bad; later, the next impostor is tried.
fn bury(
    found: &mut HashMap<usize, Vetted>,
    tests: &mut Vec<Planned<'_>>,
    at: Option<(usize, usize)>,
    verdict: &Verdict,
) {
    let Some(first) = tests.first_mut() else { return };
    match at {
        Some((_, impostor)) => first.skip(impostor + 1),
        None => {
            let why = format!("before it took anything from the program: {verdict}");
            found.entry(first.number()).or_default().bad = Some(why);
            tests.remove(0);
        }
    }
}
