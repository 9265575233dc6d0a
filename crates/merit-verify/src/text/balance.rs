//! Markers that must open and close in order, such as `<think>` and `</think>`.

use super::{BalanceConfig, TextConfigError, TextEvidence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Markers deeper than this are a problem of their own.
const MAX_DEPTH: usize = 1000;

/// What opens and what closes. Where both are the same (`*`), every second one closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerPair {
    /// The text that opens a pair.
    pub open: String,
    /// The text that closes it.
    pub close: String,
}

/// The first thing wrong with the markers of a text. Pairs are named by their position in the config, places by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum BalanceProblem {
    /// A marker that was opened is never closed.
    NeverClosed { pair: usize, at: usize },
    /// A marker closes what is not open, or not innermost.
    NotOpen { pair: usize, at: usize },
    /// A required pair does not occur.
    Missing { pair: usize },
    /// Nested deeper than anyone reads.
    TooDeep { at: usize },
}

impl BalanceProblem {
    pub(crate) fn explain(self) -> String {
        match self {
            Self::NeverClosed { pair, at } => format!("pair {pair} opened at byte {at} is never closed"),
            Self::NotOpen { pair, at } => {
                format!("pair {pair} closed at byte {at} is not the innermost open one")
            }
            Self::Missing { pair } => format!("pair {pair} does not occur"),
            Self::TooDeep { at } => format!("nested too deeply at byte {at}"),
        }
    }
}

/// Refuses markers that cannot be told apart.
pub(crate) fn check(pairs: &[MarkerPair]) -> Result<(), TextConfigError> {
    if !(1..=32).contains(&pairs.len()) {
        let got = format!("a list of {}", pairs.len());
        return Err(TextConfigError::Range { key: "pairs", got, want: "a list of 1 to 32" });
    }
    let mut seen: Vec<&str> = Vec::new();
    for pair in pairs {
        let markers = if pair.open == pair.close { vec![&pair.open] } else { vec![&pair.open, &pair.close] };
        for marker in markers {
            let refuse = |why| Err(TextConfigError::Marker { marker: marker.clone(), why });
            if marker.trim().is_empty() {
                return refuse("is blank");
            }
            if seen.contains(&marker.as_str()) {
                return refuse("is used twice");
            }
            seen.push(marker);
        }
    }
    Ok(())
}

/// 1 when all markers open and close in order, else 0.
pub(crate) fn balance(config: &BalanceConfig, text: &str) -> (f64, TextEvidence) {
    let mut closed = vec![0_usize; config.pairs.len()];
    let problem = first_problem(config, text, &mut closed);
    let score = if problem.is_none() { 1.0 } else { 0.0 };
    (score, TextEvidence::Balance { pairs: closed.iter().sum(), problem })
}

fn first_problem(config: &BalanceConfig, text: &str, closed: &mut [usize]) -> Option<BalanceProblem> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, pair, opens) in marks(&config.pairs, text) {
        let innermost = open.last().is_some_and(|(_, p)| *p == pair);
        let symmetric = config.pairs.get(pair).is_some_and(|p| p.open == p.close);
        if opens && !(symmetric && innermost) {
            if open.len() == MAX_DEPTH {
                return Some(BalanceProblem::TooDeep { at });
            }
            open.push((at, pair));
        } else if innermost {
            open.pop();
            closed.iter_mut().skip(pair).take(1).for_each(|n| *n += 1);
        } else {
            return Some(BalanceProblem::NotOpen { pair, at });
        }
    }
    if let Some((at, pair)) = open.pop() {
        return Some(BalanceProblem::NeverClosed { pair, at });
    }
    let missing = closed.iter().position(|n| *n == 0).filter(|_| config.required);
    missing.map(|pair| BalanceProblem::Missing { pair })
}

/// Every marker in order, the longest where several start at one place; markers do not overlap.
fn marks(pairs: &[MarkerPair], text: &str) -> Vec<(usize, usize, bool)> {
    let mut found: Vec<(usize, std::cmp::Reverse<usize>, usize, bool)> = Vec::new();
    for (pair, MarkerPair { open, close }) in pairs.iter().enumerate() {
        found.extend(text.match_indices(open).map(|(at, m)| (at, std::cmp::Reverse(m.len()), pair, true)));
        if open != close {
            found.extend(
                text.match_indices(close).map(|(at, m)| (at, std::cmp::Reverse(m.len()), pair, false)),
            );
        }
    }
    found.sort_unstable();
    let mut free = 0;
    found.retain(|(at, std::cmp::Reverse(length), ..)| {
        let keep = *at >= free;
        if keep {
            free = at + length;
        }
        keep
    });
    found.into_iter().map(|(at, _, pair, opens)| (at, pair, opens)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(open: &str, close: &str) -> MarkerPair {
        MarkerPair { open: open.to_owned(), close: close.to_owned() }
    }

    fn check(text: &str, required: bool, want: Option<BalanceProblem>) {
        let pairs = vec![pair("<a>", "</a>"), pair("*", "*")];
        let (_, evidence) = balance(&BalanceConfig { pairs, required }, text);
        let TextEvidence::Balance { problem, .. } = evidence else { panic!("{evidence:?}") };
        assert_eq!(problem, want, "{text:?}");
    }

    #[test]
    fn markers_open_and_close_in_order() {
        check("<a>x *y* z</a>", true, None);
        check("no markers", false, None);
        check("<a>x", false, Some(BalanceProblem::NeverClosed { pair: 0, at: 0 }));
        check("x</a>", false, Some(BalanceProblem::NotOpen { pair: 0, at: 1 }));
        check("</a>x<a>", false, Some(BalanceProblem::NotOpen { pair: 0, at: 0 }));
        check("<a>*x</a>*", false, Some(BalanceProblem::NotOpen { pair: 0, at: 5 }));
        check("<a>x</a>", true, Some(BalanceProblem::Missing { pair: 1 }));
    }

    #[test]
    fn a_million_open_markers_end_early() {
        check(&"<a>".repeat(300_000), false, Some(BalanceProblem::TooDeep { at: 3000 }));
    }

    #[test]
    fn markers_that_cannot_be_told_apart_are_refused() {
        let refused = |pairs: &[MarkerPair]| super::check(pairs).unwrap_err().to_string();
        assert!(refused(&[pair("<a>", "</a>"), pair("<b>", "</a>")]).contains("is used twice"));
        assert!(refused(&[pair(" ", "x")]).contains("is blank"));
        assert!(refused(&[]).contains("a list of 1 to 32"));
    }
}
