//! One verifier for a test program, and the sentences said with it.

use merit_verify::code::{CodeConfig, CodeError, CodeVerdict, CodeVerifier, Test, TestOutcome};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Limits that only a program without an end reaches, however busy the machine is.
pub(crate) fn config() -> CodeConfig {
    let mut config = CodeConfig::default();
    config.limits.seconds = 60.0;
    config.total_seconds = 600.0;
    config.limits.memory_mb = 256;
    config
}

static VERIFIER: LazyLock<CodeVerifier> = LazyLock::new(|| CodeVerifier::compile(config()).unwrap());

pub(crate) fn tests(tests: &[Value]) -> Vec<Test> {
    tests.iter().map(|test| serde_json::from_value(test.clone()).unwrap()).collect()
}

pub(crate) fn verify(program: &str, visible: &[Value]) -> Result<CodeVerdict, CodeError> {
    VERIFIER.verify(program, &tests(visible), &[])
}

/// The outcome of a single test.
pub(crate) fn outcome(program: &str, test: Value) -> TestOutcome {
    let verdict =
        verify(program, std::slice::from_ref(&test)).unwrap_or_else(|why| panic!("{test}: {why}\n{program}"));
    verdict.visible.into_iter().next().unwrap()
}

pub(crate) fn passes(program: &str, asserts: &[&str]) {
    let asserts: Vec<Value> = asserts.iter().map(|text| json!(text)).collect();
    passes_all(program, &asserts);
}

pub(crate) fn passes_all(program: &str, all: &[Value]) {
    let verdict = verify(program, all).unwrap();
    for (test, outcome) in all.iter().zip(&verdict.visible) {
        assert_eq!(*outcome, TestOutcome::Passed, "{test}\n{program}");
    }
}

/// Not one of these passes.
pub(crate) fn fails(program: &str, asserts: &[&str]) {
    let all: Vec<Value> = asserts.iter().map(|text| json!(text)).collect();
    let verdict = verify(program, &all).unwrap();
    for (test, outcome) in all.iter().zip(&verdict.visible) {
        assert_ne!(*outcome, TestOutcome::Passed, "{test}\n{program}");
    }
}

/// The words of a test that cannot be used.
pub(crate) fn bad_test(test: Value) -> String {
    match verify("def f(x):\n    return x", &[json!("assert f(1) == 1"), test.clone()]) {
        Err(CodeError::Test { hidden: false, number: 2, why }) => why,
        other => panic!("{test}: {other:?}"),
    }
}
