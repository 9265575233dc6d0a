//! Runs the answer's program against the task's visible and hidden tests, in a sandbox.
//!
//! The share of tests that pass, or 1 where all do. A program that is missing, does not parse, exceeds its limits or attacks
//! its tests is the policy's doing. A sandbox that cannot start or breaks, and a test that is no good, are the grader's
//! failures. Evidence quotes visible tests; hidden ones are told by number and outcome only, for it may reach a policy.

use merit_reward::prelude::*;
use merit_reward::terms::excerpt;
use merit_verify::code::{CodeConfig as Check, CodeVerdict, CodeVerifier, Test, TestOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Failed tests that evidence tells of.
const TOLD: usize = 10;

/// The share of the task's unit tests, visible and hidden, that the program passes in a sandbox.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// Where the program is looked for.
    #[serde(default)]
    pub reading: Reading,
    /// The tests: one, or a list.
    pub tests: Reference,
    /// Tests that the policy must not see: a place of the payload that its prompt does not show, or the task's answer
    /// (Python statements, or a list as JSON). Absent: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Reference>,
    /// What `check(candidate)` in a test checks, where the test does not say. Absent: the check's `entry_point`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<Reference>,
    /// What of the verdict is paid.
    #[serde(default)]
    pub pay: CodePay,
    /// Where the program stands, and what it may use.
    #[serde(default)]
    pub check: Check,
}

impl Component for Code {
    const ABOUT: About = About {
        name: "code",
        summary: "The share of the task's unit tests, visible and hidden, that the program passes in a sandbox.",
        paper: "B-Coder: Value-Based Deep Reinforcement Learning for Program Synthesis (2023)",
    };
    const EXAMPLE: &'static str = r#"
tests = { pointer = "/tests" }
hidden = { pointer = "/hidden" }
pay = "all"
check = { extract = "last-fence", limits = { seconds = 5.0 } }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        for reference in
            [Some(&self.tests), self.hidden.as_ref(), self.entry_point.as_ref()].into_iter().flatten()
        {
            reference.check()?;
        }
        if self.hidden.as_ref() == Some(&self.tests) {
            return Err(Refusal::new(
                "`tests` and `hidden` are the same place; what is visible cannot be hidden",
            ));
        }
        for (field, reference) in [("tests", Some(&self.tests)), ("hidden", self.hidden.as_ref())] {
            if let Some(Reference::Value(value)) = reference {
                read(value).map_err(|why| Refusal::new(format!("`{field}`: {why}")))?;
            }
        }
        Ok(())
    }
}

impl PreparedTerm for Code {
    type Prepared = CodeVerifier;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<CodeVerifier, Refusal> {
        CodeVerifier::compile(self.check.clone()).map_err(|why| Refusal::new(format!("`check`: {why}")))
    }

    fn evaluate(&self, verifier: &CodeVerifier, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let unreadable = |why| TermResult::broken(format!("the tests cannot be read: {why}"));
        let mut visible = tests_at(&self.tests, episode).map_err(unreadable)?;
        let hidden = self.hidden.as_ref().map_or(Ok(Vec::new()), |place| tests_at(place, episode));
        let mut hidden = hidden.map_err(|_| TermResult::broken("the hidden tests cannot be read"))?;
        if visible.is_empty() && hidden.is_empty() {
            return Err(TermResult::not_applicable(self.tests.missing()));
        }
        if let Some(entry_point) = self.entry_point_of(episode)? {
            visible.iter_mut().chain(&mut hidden).for_each(|test| enter_at(test, &entry_point));
        }
        let response = self.reading.judged(episode)?;
        let verdict = verifier.verify(&response, &visible, &hidden);
        let verdict = verdict.map_err(|why| TermResult::broken(why.discreet()))?;
        Ok(result(self.pay, &verdict))
    }
}

/// What of a verdict on a program is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodePay {
    /// The share of tests that pass.
    #[default]
    Share,
    /// 1 where all pass, else 0.
    All,
}

impl Code {
    fn entry_point_of(&self, episode: &Episode) -> Result<Option<String>, TermResult> {
        let Some(place) = &self.entry_point else { return Ok(None) };
        match place.of(episode).as_deref() {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => Ok(Some(name.clone())),
            Some(_) => Err(TermResult::broken("the task's entry point is no text")),
        }
    }
}

/// The tests at a place; none where there is nothing.
fn tests_at(place: &Reference, episode: &Episode) -> Result<Vec<Test>, String> {
    match (place, place.of(episode).as_deref()) {
        (_, None | Some(Value::Null)) => Ok(Vec::new()),
        // An answer is a text; a list of tests in it is written as JSON, which no Python test could be.
        (Reference::Answer, Some(Value::String(text))) if text.trim_start().starts_with('[') => {
            read(&serde_json::from_str(text).map_err(|why| why.to_string())?)
        }
        (_, Some(value)) => read(value),
    }
}

fn read(value: &Value) -> Result<Vec<Test>, String> {
    let one = |value: &Value| Test::deserialize(value).map_err(|why| why.to_string());
    match value {
        Value::Array(tests) => tests.iter().map(one).collect(),
        test => one(test).map(|test| vec![test]),
    }
}

fn enter_at(test: &mut Test, entry_point: &str) {
    if let Test::Asserts(test) = test {
        test.entry_point.get_or_insert_with(|| entry_point.to_owned());
    }
}

fn result(pay: CodePay, verdict: &CodeVerdict) -> TermResult {
    let value = match pay {
        CodePay::Share => verdict.share(),
        CodePay::All => f64::from(u8::from(verdict.all_passed())),
    };
    if let Some(why) = &verdict.unusable {
        return TermResult::value(value, Evidence::new("parsed", excerpt(why)));
    }
    let passed = |outcomes: &[TestOutcome]| {
        let passed = outcomes.iter().filter(|&outcome| *outcome == TestOutcome::Passed).count();
        format!("{passed} of {}", outcomes.len())
    };
    let ran =
        format!("{} visible and {} hidden tests passed", passed(&verdict.visible), passed(&verdict.hidden));
    let mut finding = TermResult::value(value, Evidence::new("executed", ran));
    if let Some(impostor) = &verdict.unearned {
        let told = format!("nothing is earned: a program that {impostor} passes as much");
        finding = finding.with_evidence(Evidence::new("compared", told));
    }
    let failed = |outcomes: &[TestOutcome], tell: &dyn Fn(&TestOutcome) -> String| -> Vec<String> {
        let numbered = outcomes.iter().enumerate().filter(|(_, outcome)| **outcome != TestOutcome::Passed);
        numbered.map(|(at, outcome)| format!("{}: {}", at + 1, tell(outcome))).take(TOLD).collect()
    };
    for told in failed(&verdict.visible, &|outcome| excerpt(&outcome.to_string())) {
        finding = finding.with_evidence(Evidence::new("compared", format!("test {told}")));
    }
    for told in failed(&verdict.hidden, &|outcome| outcome.word().to_owned()) {
        finding = finding.with_evidence(Evidence::new("compared", format!("hidden test {told}")));
    }
    finding
}
