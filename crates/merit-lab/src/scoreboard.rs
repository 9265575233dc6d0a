//! The scoreboard: every system with its verdict, for the terminal and for `docs/systems.md`.

use crate::{Judged, LabError, System, SystemResult, Verdict, reading_of, result_of, systems};
use std::fmt::Write as _;

struct Row {
    system: System,
    /// The recorded result, where it is of this very file.
    result: Option<SystemResult>,
    stale: bool,
}

fn rows() -> Result<Vec<Row>, LabError> {
    let row = |(name, text): &(&str, &str)| {
        let system = System::parse(&format!("systems/{name}.toml"), text)?;
        let (hash, result) = (system.hash(), result_of(name));
        let stale = result.as_ref().is_some_and(|result| result.hash != hash);
        Ok(Row { system, result: result.filter(|_| !stale), stale })
    };
    systems().iter().map(row).collect()
}

impl Row {
    fn verdict(&self) -> String {
        match (&self.result, self.stale) {
            (Some(result), _) => result.ruling.verdict.words().to_owned(),
            (None, true) => "the recorded result is of another file".to_owned(),
            (None, false) => "not run".to_owned(),
        }
    }
}

/// The scoreboard as plain text.
pub fn table() -> Result<String, LabError> {
    let rows = rows()?;
    let width = rows.iter().map(|row| row.system.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for row in &rows {
        let _ = writeln!(out, "{:width$}  {:13}  {}", row.system.name, row.verdict(), row.system.about);
    }
    Ok(out)
}

/// `docs/systems.md`: the scoreboard, then every system with premises, claims, seeds and costs.
pub fn markdown() -> Result<String, LabError> {
    let rows = rows()?;
    let count = |verdict: Verdict| {
        rows.iter().filter_map(|row| row.result.as_ref()).filter(|r| r.ruling.verdict == verdict).count()
    };
    let mut out = String::from(
        "# Systems\n\nPublished systems that merit reproduces in small. Written by `MERIT_UPDATE=1 cargo test -p merit-lab` from `systems/` and `results/`; \
         do not edit. `merit reproduce NAME` runs one again.\n\nA verdict is by one rule: paired by seed, 97.5 % intervals, margins fixed in \
         the file before the first run. **Holds**: the estimate meets the margin and the interval excludes no effect. **Does not hold**: \
         the interval excludes the margin. Where an arm never arrives at a level, only what is so however late it came is said. A premise \
         that fails makes everything inconclusive. Cell seconds are the wall time of all cells together, on a machine that may have had \
         other work to do ([laboratory.md](laboratory.md) has the rule and the times).\n\n",
    );
    let _ = writeln!(
        out,
        "{} systems: {} hold, {} do not hold, {} inconclusive, {} not run.\n",
        rows.len(),
        count(Verdict::Holds),
        count(Verdict::DoesNotHold),
        count(Verdict::Inconclusive),
        rows.iter().filter(|row| row.result.is_none()).count()
    );
    out.push_str("| system | verdict | seeds | cell seconds | mechanism |\n|---|---|--:|--:|---|\n");
    for row in &rows {
        let (seeds, seconds) = row.result.as_ref().map_or_else(
            || (String::new(), String::new()),
            |result| (result.seeds().to_string(), format!("{:.0}", result.cell_seconds)),
        );
        let name = &row.system.name;
        let _ = writeln!(
            out,
            "| [{name}](#{name}) | {} | {seeds} | {seconds} | {} |",
            row.verdict(),
            row.system.about
        );
    }
    for row in &rows {
        let system = &row.system;
        let _ = writeln!(out, "\n## {}\n\n{}. {}\n", system.name, system.about, system.paper);
        let _ = writeln!(
            out,
            "Scope: {}. Card: {}. Hash `{}`.\n",
            system.scope,
            system.confidence,
            system.hash()
        );
        let Some(result) = &row.result else {
            let _ = writeln!(out, "{}.", row.verdict());
            continue;
        };
        let why =
            if result.ruling.why.is_empty() { String::new() } else { format!(" ({})", result.ruling.why) };
        let _ = writeln!(out, "**{}**{why}.\n", result.ruling.verdict.words());
        if !result.look_times.is_empty() {
            let _ = writeln!(out, "Took {}.\n", result.time_words());
        }
        out.push_str(
            "| | says | measure | asked | found | interval | verdict |\n|---|---|---|---|--:|---|---|\n",
        );
        let kinds = [("premise", &result.ruling.premises), ("claim", &result.ruling.claims)];
        for (kind, judged) in kinds.into_iter().flat_map(|(kind, all)| all.iter().map(move |one| (kind, one)))
        {
            let kind = if kind == "claim" && !judged.required { "reported" } else { kind };
            let _ = writeln!(
                out,
                "| {kind} | {} | {} | {} | {} | {} | {} |",
                judged.says,
                judged.measure,
                judged.comparison.replace('|', "\\|"),
                judged.found(),
                judged.range(),
                judged.verdict_words()
            );
        }
        if let Some(reading) = reading_of(&system.name) {
            let _ = writeln!(out, "\n{reading}");
        }
    }
    Ok(out)
}

impl Judged {
    /// The estimate, short.
    pub fn found(&self) -> String {
        self.estimate.map_or_else(|| "–".to_owned(), number)
    }

    /// The interval, short.
    pub fn range(&self) -> String {
        self.interval.map_or_else(String::new, |(low, high)| format!("{} to {}", number(low), number(high)))
    }

    /// The verdict, with why where numbers do not say it.
    pub fn verdict_words(&self) -> String {
        if self.why.is_empty() {
            self.verdict.words().to_owned()
        } else {
            format!("{} ({})", self.verdict.words(), self.why)
        }
    }
}

pub(crate) fn number(value: f64) -> String {
    merit_measure::html::number(value)
}
