//! Where Math-Verify looks for an answer: patterns of falling priority over the whole text.
//!
//! In: a text and the targets. Out: the matches of one priority at a time, the rightmost first. A pattern is a function from
//! a position to a match; all its matches are found from left to right without overlap, as a regular expression's would be.

mod anchors;
mod latex;
mod plain;
mod strings;
mod text;

use anchors::Anchor;
use latex::Context;
use merit_maths::{Budget, Exhausted, Target};
use std::ops::Range;
use text::Meter;

/// A piece of LaTeX inside a match.
#[derive(Debug, Clone)]
pub(super) struct LatexPiece {
    pub(super) text: Range<usize>,
    pub(super) percent: bool,
    /// A bare box, whose end had to be guessed: only its last box counts.
    pub(super) bare_box: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Found {
    /// Pieces of LaTeX, joined.
    Latex(Vec<LatexPiece>),
    /// A number: integer part, decimal part with its separator, percent.
    Number(Range<usize>, Range<usize>, bool),
    /// Arithmetic.
    Expr(Range<usize>),
    /// A given string, and whether it is compared in lower case.
    String(Range<usize>, bool),
}

/// A match and its extent.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub(super) found: Found,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What looking for a match at one position costs, in characters.
const COST_OF_A_LOOK: usize = 64;

/// What a pattern looks for after its anchor.
#[derive(Debug, Clone, Copy)]
enum What<'a> {
    Latex,
    BoxedLatex,
    BareBox,
    Expr,
    Number,
    ExprOrNumber,
    Alone(&'a [String], bool),
    AtStart(&'a [String], bool),
    Key(&'a [String], bool),
}

/// A pattern: priority, what comes before, what is looked for.
pub(super) struct Pattern<'a> {
    pub(super) priority: i32,
    anchor: Anchor,
    what: What<'a>,
}

/// All patterns of the targets, lowest priority number first, in the order of the targets.
pub(super) fn patterns(targets: &[Target]) -> Vec<Pattern<'_>> {
    let mut patterns = Vec::new();
    for target in targets {
        let mut add = |priority, anchor, what| patterns.push(Pattern { priority, anchor, what });
        match target {
            Target::Latex(latex) => {
                add(0, Anchor::HopedFor, What::Latex);
                add(50, Anchor::FinalIs, What::Latex);
                add(100, Anchor::AnswerColon, What::Latex);
                add(200, Anchor::Answer, What::Latex);
                if latex.try_extract_without_anchor {
                    add(300, Anchor::None, What::Latex);
                }
                if latex.boxed_match_priority >= 0 {
                    add(latex.boxed_match_priority, Anchor::None, What::BoxedLatex);
                    add(latex.boxed_match_priority, Anchor::None, What::BareBox);
                }
            }
            Target::Expr(expr) => {
                add(0, Anchor::HopedFor, What::ExprOrNumber);
                add(50, Anchor::FinalIs, What::ExprOrNumber);
                add(100, Anchor::AnswerColon, What::ExprOrNumber);
                add(200, Anchor::Answer, What::ExprOrNumber);
                if expr.try_extract_without_anchor {
                    add(300, Anchor::None, What::Expr);
                    add(300, Anchor::None, What::Number);
                }
            }
            Target::String(string) => {
                let (strings, lower) = (string.strings.as_slice(), string.lowercase);
                add(0, Anchor::HopedFor, What::Key(strings, lower));
                add(50, Anchor::FinalIs, What::Key(strings, lower));
                add(100, Anchor::AnswerColon, What::Alone(strings, lower));
                add(200, Anchor::Answer, What::Alone(strings, lower));
                if string.try_extract_without_anchor {
                    add(250, Anchor::None, What::AtStart(strings, lower));
                    add(300, Anchor::None, What::Alone(strings, lower));
                }
            }
        }
    }
    patterns.sort_by_key(|pattern| pattern.priority);
    patterns
}

/// All matches of patterns of one priority: the one that ends last first, of those the one that starts first.
pub(super) fn matches(
    text: &str,
    patterns: &[Pattern<'_>],
    budget: &mut Budget,
) -> Result<Vec<Match>, Exhausted> {
    let mut matches = Vec::new();
    for pattern in patterns {
        pattern.find_all(text, &mut matches, budget)?;
    }
    matches.sort_by(|a, b| b.end.cmp(&a.end).then(a.start.cmp(&b.start)));
    Ok(matches)
}

impl Pattern<'_> {
    fn find_all(&self, text: &str, matches: &mut Vec<Match>, budget: &mut Budget) -> Result<(), Exhausted> {
        budget.spend(1 + text.len() as u64 / 64)?;
        let mut meter = Meter { budget, out: None };
        if let What::BareBox = self.what {
            matches.extend(bare_box(text));
            return Ok(());
        }
        let mut at = 0;
        while let Some(start) = self.next_start(text, at) {
            match self.match_at(text, start, &mut meter) {
                Some((found, end)) => {
                    matches.push(Match { found, start, end });
                    at = end.max(start + 1);
                }
                None => at = start + 1,
            }
            while at < text.len() && !text.is_char_boundary(at) {
                at += 1;
            }
            if let Some(out) = meter.out {
                return Err(out);
            }
        }
        Ok(())
    }

    /// The next position at which the pattern could match.
    fn next_start(&self, text: &str, at: usize) -> Option<usize> {
        if at > text.len() {
            return None;
        }
        if let Some(word) = self.anchor.word() {
            return text::find_word(text, at, word);
        }
        let rest = &text[at..];
        match self.what {
            What::Latex | What::BoxedLatex => {
                let could = |c: char| matches!(c, '$' | '\\' | '-') || text::is_space(c);
                rest.find(could).map(|i| at + i)
            }
            What::AtStart(..) => (at == 0).then_some(0),
            _ if at == 0 => Some(0),
            _ => rest.find(|c: char| c == '=' || text::is_space(c)).map(|i| at + i),
        }
    }

    fn match_at(&self, text: &str, start: usize, meter: &mut Meter<'_>) -> Option<(Found, usize)> {
        let mut found = None;
        let what = self.what;
        self.anchor.each_start(text, start, &what, &mut |at, tail| {
            !meter.spend(COST_OF_A_LOOK)
                || what.at(text, at, meter, &mut |this, end| match tail.end(text, end) {
                    Some(end) => {
                        found = Some((this, end));
                        true
                    }
                    None => false,
                })
        });
        found
    }
}

/// From the first box to the last closing brace of the text.
fn bare_box(text: &str) -> Option<Match> {
    let start = text.find("\\boxed{")?;
    let end = text.rfind('}')? + 1;
    let piece = LatexPiece { text: start..end, percent: false, bare_box: true };
    (end > start + "\\boxed{".len() + 1).then(|| Match { found: Found::Latex(vec![piece]), start, end })
}

impl What<'_> {
    /// Asks `accept` with each way to match at `at`, until it says yes.
    fn at(
        &self,
        text: &str,
        at: usize,
        meter: &mut Meter<'_>,
        accept: &mut dyn FnMut(Found, usize) -> bool,
    ) -> bool {
        let mut plain = |plain: plain::Plain, end| match plain {
            plain::Plain::Number { integer, decimal, percent } => {
                accept(Found::Number(integer, decimal, percent), end)
            }
            plain::Plain::Expr(range) => accept(Found::Expr(range), end),
        };
        match self {
            Self::Latex => latex_at(text, at, Context::Plain, meter, accept),
            Self::BoxedLatex => latex_at(text, at, Context::Boxed, meter, accept),
            Self::BareBox => false,
            Self::Expr => plain::expr(text, at, meter, &mut plain),
            Self::Number => plain::number(text, at, &mut plain),
            Self::ExprOrNumber => plain::expr_or_number(text, at, meter, &mut plain),
            Self::Alone(strings, lower) => strings::alone(text, at, strings)
                .is_some_and(|f| accept(Found::String(f.from..f.to, *lower), f.end)),
            Self::AtStart(strings, lower) => strings::at_start(text, at, strings)
                .is_some_and(|f| accept(Found::String(f.from..f.to, *lower), f.end)),
            Self::Key(strings, lower) => {
                strings::key(text, at, strings).is_some_and(|end| accept(Found::String(at..end, *lower), end))
            }
        }
    }
}

fn latex_at(
    text: &str,
    at: usize,
    context: Context,
    meter: &mut Meter<'_>,
    accept: &mut dyn FnMut(Found, usize) -> bool,
) -> bool {
    latex::joined(text, at, context, meter, &mut |pieces| {
        let end = pieces.last().map_or(at, |piece| piece.end);
        let pieces = pieces
            .iter()
            .map(|p| LatexPiece { text: p.inside.clone(), percent: p.percent, bare_box: false })
            .collect();
        accept(Found::Latex(pieces), end)
    })
}
