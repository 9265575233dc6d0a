//! The tables of the page: one row per regime, what we lose beside what we win.

use super::spread::{Spread, short};
use std::fmt::Write as _;

/// Merit beside a peer in one regime, one value per round.
pub(super) struct Row {
    /// What was done and in which unit.
    pub(super) regime: String,
    pub(super) merit: Vec<f64>,
    /// Which of the peer's ways.
    pub(super) peer: String,
    pub(super) theirs: Vec<f64>,
    pub(super) better: Better,
    pub(super) bar: Bar,
}

/// Which direction wins.
#[derive(Clone, Copy)]
pub(super) enum Better {
    Lower,
    Higher,
}

/// What was promised, of merit's median or of the ratio of medians.
#[derive(Clone, Copy)]
pub(super) enum Bar {
    None,
    AtMost(f64),
    AtLeast(f64),
    Ratio(f64),
}

impl Bar {
    /// As text, and whether it is met; the last is absent without a bar.
    pub(super) fn verdict(self, ours: f64, ratio: f64) -> (String, Option<bool>) {
        match self {
            Self::None => ("—".to_owned(), None),
            Self::AtMost(most) => (format!("≤ {}", plain(most)), Some(ours <= most)),
            Self::AtLeast(least) => (format!("≥ {}", plain(least)), Some(ours >= least)),
            Self::Ratio(least) => (format!("≥ {}×", plain(least)), Some(ratio >= least)),
        }
    }
}

/// Bars are round numbers and are written as such.
fn plain(value: f64) -> String {
    if value.abs() < 1e-3 { format!("{value:e}") } else { value.to_string() }
}

/// Rows as markdown.
pub(super) fn beside_peers(rows: &[Row]) -> String {
    let mut text = String::from(
        "| regime | merit: median (min–max) | peer | peer: median (min–max) | ratio | bar | met |\n|---|--:|---|--:|--:|--:|---|\n",
    );
    for row in rows {
        let (ours, theirs) = (Spread::of(&row.merit), Spread::of(&row.theirs));
        let ratio = match row.better {
            Better::Lower => theirs.median / ours.median,
            Better::Higher => ours.median / theirs.median,
        };
        let (bar, met) = row.bar.verdict(ours.median, ratio);
        let ratio =
            if ratio < 1.0 { format!("**{}×, lost**", short(ratio)) } else { format!("{}×", short(ratio)) };
        let _ = writeln!(
            text,
            "| {} | {ours} | {} | {theirs} | {ratio} | {bar} | {} |",
            row.regime,
            row.peer,
            word(met)
        );
    }
    text
}

/// Merit alone: what, value with unit, bar.
pub(super) fn alone(rows: &[(String, String, String, Option<bool>)]) -> String {
    let mut text = String::from("| what | measured | bar | met |\n|---|--:|--:|---|\n");
    for (what, value, bar, met) in rows {
        let _ = writeln!(text, "| {what} | {value} | {bar} | {} |", word(*met));
    }
    text
}

fn word(met: Option<bool>) -> &'static str {
    match met {
        None => "—",
        Some(true) => "yes",
        Some(false) => "**no**",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(merit: f64, theirs: f64, better: Better, bar: Bar, expected: &str) {
        let row = Row {
            regime: "r".into(),
            merit: vec![merit],
            peer: "p".into(),
            theirs: vec![theirs],
            better,
            bar,
        };
        let table = beside_peers(&[row]);
        let cells: Vec<&str> = table.lines().nth(2).expect("one row").split(" | ").skip(4).collect();
        assert_eq!(cells.join(" | "), expected);
    }

    #[test]
    fn a_ratio_above_one_is_merits_in_both_directions() {
        check(2.0, 10.0, Better::Lower, Bar::Ratio(5.0), "5.00× | ≥ 5× | yes |");
        check(10.0, 2.0, Better::Higher, Bar::Ratio(5.0), "5.00× | ≥ 5× | yes |");
    }

    #[test]
    fn a_lost_case_says_so() {
        check(10.0, 5.0, Better::Lower, Bar::None, "**0.500×, lost** | — | — |");
        check(5.0, 10.0, Better::Higher, Bar::Ratio(1.0), "**0.500×, lost** | ≥ 1× | **no** |");
    }

    #[test]
    fn a_bar_on_the_value_ignores_the_ratio() {
        check(21.0, 300.0, Better::Lower, Bar::AtMost(20.0), "14.3× | ≤ 20 | **no** |");
        check(1e-7, 1e-6, Better::Lower, Bar::AtMost(1e-6), "10.0× | ≤ 1e-6 | yes |");
        check(96.0, 47.0, Better::Higher, Bar::AtLeast(95.0), "2.04× | ≥ 95 | yes |");
    }
}
