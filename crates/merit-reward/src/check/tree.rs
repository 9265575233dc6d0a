//! A reward as the checks see it: every part with its place, its config and the values it can come to.

use super::advice::{Advice, Told};
use crate::compile::CompiledTerm;
use crate::range::Range;
use crate::term::ParseFailurePath;
use crate::{RewardConfig, Scorer};

/// A part of a reward.
pub(crate) struct Part<'a> {
    pub(crate) at: &'a str,
    pub(crate) config: &'a RewardConfig,
    pub(crate) range: Range,
}

/// Every part of a reward.
pub(crate) struct Tree<'a> {
    pub(crate) scorer: &'a Scorer,
    pub(crate) config: &'a RewardConfig,
    /// Those inside before the one around them; the whole is last.
    pub(crate) parts: Vec<Part<'a>>,
}

impl Scorer {
    /// The values the reward can come to.
    pub fn range(&self) -> Range {
        self.expression.range(&self.weighted_ranges())
    }

    fn weighted_ranges(&self) -> Vec<Range> {
        self.terms.iter().map(CompiledTerm::weighted_range).collect()
    }
}

impl<'a> Tree<'a> {
    /// Configs are walked in the order in which they were compiled, so that each meets its own place.
    pub(crate) fn of(config: &'a RewardConfig, scorer: &'a Scorer) -> Self {
        let ranges = scorer.weighted_ranges();
        let mut configs = Vec::with_capacity(scorer.places.len());
        inner_first(config, &mut configs);
        let parts = scorer.places.iter().zip(configs);
        let parts =
            parts.map(|((at, node), config)| Part { at, config, range: node.range(&ranges) }).collect();
        Self { scorer, config, parts }
    }

    pub(crate) fn part(&self, place: &str) -> Option<&Part<'a>> {
        self.parts.iter().find(|part| part.at == place)
    }

    /// What the combinator of a part tells about itself; nothing where it is a term.
    pub(crate) fn told(&self, part: &Part<'_>) -> Told {
        Advice::ask(self, part.at, part.config)
    }

    /// The raw values of the term called `name`, parse failures included.
    pub(crate) fn raw(&self, name: &str) -> Option<Range> {
        let term = self.scorer.terms.iter().find(|term| term.name == name)?;
        Some(match term.on_parse_failure {
            ParseFailurePath::Value(value) if value != 0.0 => term.range.hull(Range::only(value)),
            _ => term.range,
        })
    }

    /// The terms at `place` and below, by name, for a sentence.
    pub(crate) fn terms_at(&self, place: &str) -> String {
        let names = self.part(place).map(|part| part.config.term_names()).unwrap_or_default();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    }
}

fn inner_first<'a>(config: &'a RewardConfig, into: &mut Vec<&'a RewardConfig>) {
    config.children().into_iter().for_each(|child| inner_first(child, into));
    into.push(config);
}

/// A range for a sentence.
pub(crate) fn shown(range: Range) -> String {
    if range.low == range.high {
        format!("always {}", range.low)
    } else {
        format!("{} to {}", range.low, range.high)
    }
}
