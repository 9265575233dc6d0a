//! Citation markers in a text.

use super::{CitationMarkers, Labels};
use std::ops::Range;

/// Longest text between the marks, in bytes.
const LONGEST: usize = 256;
/// Most sources one range may name; a longer one is ordinary text.
const WIDEST_RANGE: u64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) range: Range<usize>,
    pub(super) labels: Vec<String>,
}

/// Every marker of `text` in order.
pub(super) fn markers(config: &CitationMarkers, text: &str) -> Vec<Marker> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find(&config.open)).map(|at| from + at) {
        match marker_at(config, text, start) {
            Some(marker) => {
                from = marker.range.end;
                found.push(marker);
            }
            None => from = start + config.open.len(),
        }
    }
    found
}

fn marker_at(config: &CitationMarkers, text: &str, start: usize) -> Option<Marker> {
    let inside = start + config.open.len();
    let rest = text.get(inside..)?;
    let window = rest.get(..rest.floor_char_boundary(LONGEST + config.close.len()))?;
    let label = window.get(..window.find(&config.close)?)?;
    let labels = match config.labels {
        Labels::Numbers => numbers(label)?,
        Labels::Any => {
            label.split(',').map(|part| part.trim().to_owned()).filter(|s| !s.is_empty()).collect()
        }
    };
    let end = inside + label.len() + config.close.len();
    (!labels.is_empty()).then_some(Marker { range: start..end, labels })
}

/// The numbers of `1`, `1, 3` or `2-4`. Absent: something else stands there.
fn numbers(label: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for part in label.split([',', ';']) {
        let mut ends = part.split(['-', '–']).map(|end| end.trim().parse::<u64>().ok());
        let first = ends.next()??;
        let last = match ends.next() {
            Some(end) => end?,
            None => first,
        };
        if ends.next().is_some() || last < first || last - first >= WIDEST_RANGE {
            return None;
        }
        found.extend((first..=last).map(|number| number.to_string()));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[&[&str]]) {
        let got: Vec<_> = markers(&CitationMarkers::default(), text).into_iter().map(|m| m.labels).collect();
        assert_eq!(got, want, "{text:?}");
    }

    #[test]
    fn numbers_lists_and_ranges_are_citations() {
        check("a [1] b [2, 4] c [3-5]", &[&["1"], &["2", "4"], &["3", "4", "5"]]);
    }

    #[test]
    fn other_brackets_are_ordinary_text() {
        check("[sic] [] [1a] [-1] [1-9999999] [5-3] [1", &[]);
        check("[[1]]", &[&["1"]]);
    }

    #[test]
    fn names_are_citations_where_asked() {
        let config = CitationMarkers { open: "<cite>".into(), close: "</cite>".into(), labels: Labels::Any };
        let got = markers(&config, "x <cite>Smith 2020, Lee</cite>");
        assert_eq!(got[0].labels, ["Smith 2020", "Lee"]);
    }
}
