//! The audit for people: a table, the findings, and the exact text of what won.

use crate::audit::Audit;
use crate::tally::{Earned, ProbeResult};
use crate::target::Payment;
use std::fmt::Write as _;

impl Audit {
    pub fn render(&self) -> String {
        let mut out = String::new();
        let gold = self.gold.map_or_else(|| "unknown".to_owned(), |gold| format!("{gold:.3}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{}: grade {} ({} tasks, seed {}; the right answer earns {gold})",
            self.target, self.grade, self.tasks, self.seed
        );
        if self.left_out > 0 {
            let (tried, all) = (self.probes.len(), self.probes.len() + self.left_out);
            let _ = writeln!(
                out,
                "broken off: {tried} of {all} probes were tried, and the grade is of those alone"
            );
        }
        if self.unknown > 0 {
            let _ = writeln!(
                out,
                "on {} of {} tasks nobody knows what the right answer earns; attacks are held against nothing there",
                self.unknown, self.tasks
            );
        }
        let _ = writeln!(
            out,
            "\n  {:<18} {:>8} {:>6} {:>6} {:>6} {:>9} {:>8}",
            "probe", "attempts", "wins", "broke", "hangs", "mean", "most"
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
        for probe in self.probes.iter().filter(|p| p.finding().is_some()) {
            let broken = probe.broken_by.as_ref();
            let best = probe.best.as_ref().filter(|best| Some(*best) != broken);
            for earned in best.into_iter().chain(broken) {
                let _ = write!(out, "{}", winner(probe, earned));
            }
        }
        out
    }
}

fn row(probe: &ProbeResult) -> String {
    let percent = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |s| format!("{:.1}%", s * 100.0));
    let most = probe.best.as_ref().and_then(|best| best.share);
    format!(
        "{:<18} {:>8} {:>6} {:>6} {:>6} {:>9} {:>8}",
        probe.name,
        probe.attempts,
        probe.wins,
        probe.broke,
        probe.hangs,
        percent(probe.mean_share),
        percent(most)
    )
}

fn winner(probe: &ProbeResult, earned: &Earned) -> String {
    let what = match &earned.payment {
        Payment::Reward { value, .. } => format!("earns {value}"),
        Payment::Unscorable { why } => format!("unscorable: {why}"),
        Payment::Broke { why } => format!("breaks it: {why}"),
        Payment::Hangs { why } => format!("hangs: {why}"),
    };
    format!("\n{} on {} ({what}):\n{}\n", probe.name, earned.task, quoted(&earned.text))
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
    let lines: Vec<String> = shown.lines().map(|line| format!("    {}", visible(line))).collect();
    if lines.is_empty() { "    (empty)".to_owned() } else { lines.join("\n") }
}

/// The line with what cannot be seen written out, so that what is shown is what won.
fn visible(line: &str) -> String {
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    };
    let shown = line.chars().map(|c| if unseen(c) { c.escape_unicode().to_string() } else { c.to_string() });
    shown.collect()
}
