//! What the agent is told of a program that ran.

use crate::ToolAnswer;
use crate::excerpt::{excerpt, middle_cut as cut};
use merit_sandbox::{Limits, Report, Verdict};

/// Longest words of our own about a program, in bytes.
const ONE_LINE: usize = 180;

/// The answer to a call, from the report of the program it ran.
pub(super) fn answer(code: &str, report: &Report, limits: &Limits, most: usize) -> ToolAnswer {
    let shown = |last: String| cut(&joined(&report.stdout, &last), most);
    match &report.verdict {
        Verdict::Ok => {
            let value = report.value.as_deref().unwrap_or_default();
            let said = joined(&joined(&report.stdout, &report.stderr), value);
            ToolAnswer::Ok(if said.is_empty() { "(no output)".to_owned() } else { cut(&said, most) })
        }
        Verdict::Exception { kind, message, traceback } => {
            // In a program of one line, the place of the error says nothing.
            let one_line = code.trim().lines().count() <= 1;
            let what = if one_line || traceback.is_empty() {
                excerpt(&format!("{kind}: {message}"), ONE_LINE)
            } else {
                traceback.trim_end().to_owned()
            };
            ToolAnswer::Refused(shown(what))
        }
        Verdict::Time => ToolAnswer::TimedOut(shown(format!("stopped after {} s", limits.seconds))),
        Verdict::Memory => {
            ToolAnswer::Refused(shown(format!("MemoryError: at most {} MiB may be used", limits.memory_mb)))
        }
        Verdict::Output => {
            let start = cut(&report.stdout, most / 4);
            ToolAnswer::Refused(joined(
                &start,
                &format!("stopped: more than {} bytes were printed", limits.output_bytes),
            ))
        }
        Verdict::Processes => ToolAnswer::Refused(shown(format!(
            "stopped: at most {} processes and {} threads may be started",
            limits.processes, limits.threads
        ))),
        Verdict::Killed { how } => {
            ToolAnswer::Refused(shown(excerpt(&format!("the program ended early: {how}"), ONE_LINE)))
        }
        Verdict::Refused { call } => {
            ToolAnswer::Refused(shown(excerpt(&format!("not allowed here: {call}"), ONE_LINE)))
        }
    }
}

/// Two texts, one under the other.
fn joined(first: &str, second: &str) -> String {
    match (first.trim_end(), second.trim_end()) {
        ("", other) | (other, "") => other.to_owned(),
        (first, second) => format!("{first}\n{second}"),
    }
}
