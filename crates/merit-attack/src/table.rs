//! The audit for people: a table, the findings, and the exact text of what won.

use crate::audit::{Audit, Earned, ProbeResult};
use crate::target::Payment;
use std::fmt::Write as _;

impl Audit {
    /// The audit as text.
    pub fn render(&self) -> String {
        let mut out = String::new();
        let gold = self.gold.map_or_else(|| "unknown".to_owned(), |gold| format!("{gold:.3}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{}: grade {} ({} tasks; the right answer earns {gold})",
            self.target, self.grade, self.tasks
        );
        let _ = writeln!(
            out,
            "\n  {:<18} {:>8} {:>6} {:>6} {:>9} {:>8}",
            "probe", "attempts", "wins", "broke", "mean", "most"
        );
        for probe in &self.probes {
            let _ = writeln!(out, "  {}", row(probe));
        }
        if !self.findings.is_empty() {
            let _ = writeln!(out, "\nfindings");
        }
        for finding in &self.findings {
            let _ = writeln!(out, "  - {finding}");
        }
        let won = self.probes.iter().filter(|p| !p.should_pay && (p.wins > 0 || p.broke > 0));
        for (probe, best) in won.filter_map(|p| p.best.as_ref().map(|best| (p, best))) {
            let _ = write!(out, "{}", winner(probe, best));
        }
        out
    }
}

fn row(probe: &ProbeResult) -> String {
    let percent = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |s| format!("{:.1}%", s * 100.0));
    let most = probe.best.as_ref().and_then(|best| best.share);
    format!(
        "{:<18} {:>8} {:>6} {:>6} {:>9} {:>8}",
        probe.name,
        probe.attempts,
        probe.wins,
        probe.broke,
        percent(probe.mean_share),
        percent(most)
    )
}

fn winner(probe: &ProbeResult, best: &Earned) -> String {
    let earned = match &best.payment {
        Payment::Reward { value, .. } => format!("earns {value}"),
        Payment::Unscorable { why } => format!("unscorable: {why}"),
        Payment::Broke { why } => format!("breaks it: {why}"),
    };
    format!("\n{} on {} ({earned}):\n{}\n", probe.name, best.task, quoted(&best.text))
}

/// The text, indented, its middle cut where it is long; how long is said.
fn quoted(text: &str) -> String {
    const CHARS: usize = 400;
    let count = text.chars().count();
    let shown = if count <= CHARS {
        text.to_owned()
    } else {
        let head: String = text.chars().take(CHARS / 2).collect();
        let tail: String = text.chars().skip(count - CHARS / 2).collect();
        format!("{head} … ({count} characters) … {tail}")
    };
    let lines: Vec<String> = shown.lines().map(|line| format!("    {}", line.escape_debug())).collect();
    if lines.is_empty() { "    (empty)".to_owned() } else { lines.join("\n") }
}
