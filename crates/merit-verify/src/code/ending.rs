//! How a program's end is told: from the judge's words, and from what the sandbox saw of the program.

use super::TestOutcome;
use merit_sandbox::{Report, Verdict};

/// The outcome that the judge's words mean. `candidate` is what the sandbox saw; absent: the program was still running.
pub(super) fn outcome(kind: &str, why: &str, candidate: Option<&Report>) -> Option<TestOutcome> {
    Some(match kind {
        "passed" => TestOutcome::Passed,
        // The test was vetted without the program, so what breaks it now is the program's doing.
        "failed" | "broken" => TestOutcome::Failed { why: scrubbed(why) },
        "exception" => TestOutcome::Exception { what: scrubbed(why) },
        "time" => TestOutcome::Time,
        "memory" => TestOutcome::Memory,
        "output" => TestOutcome::Output,
        "ended" => ended(candidate),
        _ => return None,
    })
}

/// What came of a program that could not be loaded. Absent: it was not started in time, which is not its doing.
pub(super) fn not_loaded(
    kind: &str,
    class: &str,
    text: &str,
    candidate: Option<&Report>,
) -> Option<TestOutcome> {
    Some(match kind {
        "syntax" => {
            TestOutcome::Failed { why: scrubbed(&format!("the program does not parse: {class}: {text}")) }
        }
        "late" => return None,
        "raised" if class == "MemoryError" => TestOutcome::Memory,
        "raised" => TestOutcome::Exception { what: scrubbed(&format!("while loading, {class}: {text}")) },
        "time" => TestOutcome::Time,
        "ended" => ended(candidate),
        _ => TestOutcome::Failed { why: scrubbed(&format!("an answer is unreadable: {text}")) },
    })
}

/// What came of a program that ended while it was asked.
fn ended(candidate: Option<&Report>) -> TestOutcome {
    match candidate.map(|report| &report.verdict) {
        Some(Verdict::Time) => TestOutcome::Time,
        Some(Verdict::Memory) => TestOutcome::Memory,
        Some(Verdict::Output) => TestOutcome::Output,
        Some(Verdict::Processes) => TestOutcome::Processes,
        Some(Verdict::Killed { how }) => TestOutcome::Killed { how: scrubbed(how) },
        Some(Verdict::Refused { call }) => TestOutcome::Refused { call: scrubbed(call) },
        Some(Verdict::Ok | Verdict::Exception { .. }) | None => {
            TestOutcome::Failed { why: "the program ended".to_owned() }
        }
    }
}

/// How a program run as a script ended; absent: well, so its output decides.
pub(super) fn script(verdict: &Verdict) -> Option<TestOutcome> {
    Some(match verdict {
        Verdict::Ok => return None,
        Verdict::Exception { kind, message, .. } => {
            TestOutcome::Exception { what: scrubbed(&format!("{kind}: {message}")) }
        }
        Verdict::Time => TestOutcome::Time,
        Verdict::Memory => TestOutcome::Memory,
        Verdict::Output => TestOutcome::Output,
        Verdict::Processes => TestOutcome::Processes,
        Verdict::Killed { how } => TestOutcome::Killed { how: scrubbed(how) },
        Verdict::Refused { call } => TestOutcome::Refused { call: scrubbed(call) },
    })
}

/// A text without addresses, which differ from run to run.
fn scrubbed(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_hexdigit).count();
        let rest = if digits >= 6 { part.get(digits..).unwrap_or_default() } else { part };
        clean.push_str(if digits >= 6 { "0x…" } else { "0x" });
        clean.push_str(rest);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_left_out_and_small_numbers_stay() {
        assert_eq!(scrubbed("<A at 0x7f3a12bc> is not 0x1f"), "<A at 0x…> is not 0x1f");
        assert_eq!(scrubbed("0x"), "0x");
    }
}
