//! Where in an output the JSON stands: the whole text, a fenced block, or somewhere in prose.
//!
//! What is asked for has to be unambiguous: two blocks or two values are several answers at once, and are refused. Text
//! that is found outside the allowed wrapping is still read, so that structure can earn credit; it is not valid then.

use super::config::Extract;
use super::limits::Limits;
use super::parse::{Parsed, parse, parse_prefix};
use serde_json::Value;

/// What was read, and from where.
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) parsed: Parsed,
    /// Why the wrapping is not as demanded; absent when it is.
    pub(crate) misplaced: Option<String>,
}

/// Reads the JSON of an output. `wanted` says which values can be meant when several stand in prose.
pub(crate) fn extract(
    output: &str,
    mode: Extract,
    limits: &Limits,
    wanted: &dyn Fn(&Value) -> bool,
) -> Found {
    let whole = read(output, 0, output.len(), limits);
    let is_json = whole.parsed.value.is_some() && whole.parsed.faults.is_empty();
    if is_json || whole.parsed.too_large.is_some() {
        return whole;
    }
    let blocks = fenced_blocks(output);
    if let Some(&(start, end)) = blocks.last() {
        let mut found = read(output, start, end, limits);
        found.misplaced = match (mode, blocks.len()) {
            (Extract::Whole, _) => Some("a markdown fence around the JSON".to_owned()),
            (_, 1) => None,
            (_, several) => Some(format!("{several} fenced blocks where one was expected")),
        };
        return found;
    }
    let values = embedded(output, limits, wanted);
    if let Some(&(start, end)) = values.last() {
        let mut found = read(output, start, end, limits);
        found.misplaced = match (mode, values.len()) {
            (Extract::Anywhere, 1) => None,
            (Extract::Anywhere, several) => Some(format!("{several} JSON values where one was expected")),
            _ => Some("text around the JSON".to_owned()),
        };
        return found;
    }
    // Nothing is strict: read what starts at the first bracket as far as it goes.
    match output.find(['{', '[']) {
        Some(start) => read(output, start, output.len(), limits),
        None => whole,
    }
}

fn read(output: &str, start: usize, end: usize, limits: &Limits) -> Found {
    let text = output.get(start..end).unwrap_or_default();
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\r']);
    let start = start + (text.len() - trimmed.len());
    let trimmed = trimmed.trim_end_matches([' ', '\t', '\n', '\r']);
    Found { start, end: start + trimmed.len(), parsed: parse(trimmed, limits), misplaced: None }
}

/// The insides of ``` blocks, by byte position; a block that never closes ends with the text.
fn fenced_blocks(output: &str) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in output.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        match open {
            None if is_fence => open = Some(at + line.len()),
            Some(start) if is_fence => {
                blocks.push((start, at));
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    blocks.extend(open.filter(|start| *start < output.len()).map(|start| (start, output.len())));
    blocks
}

/// Strict arrays and objects in prose that can be meant, by byte position, outermost only.
fn embedded(output: &str, limits: &Limits, wanted: &dyn Fn(&Value) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    // Failed attempts re-read text; this bounds them in total.
    let mut left = output.len().saturating_mul(8).saturating_add(4096);
    while let Some(next) = output.get(at..).and_then(|rest| rest.find(['{', '['])).map(|offset| at + offset) {
        match parse_prefix(output, next, limits) {
            Ok((parsed, end)) => {
                if parsed.value.as_ref().is_some_and(wanted) {
                    found.push((next, end));
                }
                at = end;
            }
            Err(stopped) => {
                let cost = stopped.saturating_sub(next).max(1);
                if cost > left {
                    break;
                }
                left -= cost;
                at = next + 1;
            }
        }
    }
    found
}

/// The first thing that is wrong with what was found, if anything.
pub(crate) fn first_fault(found: &Found) -> Option<String> {
    let misplaced = found.misplaced.clone().filter(|_| found.parsed.faults.is_empty());
    misplaced.or_else(|| found.parsed.objection(found.start))
}
