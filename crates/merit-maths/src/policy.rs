//! What counts as the same answer. The default is strict and right: order where it means something, units and percent
//! signs as part of the answer, no rounding that the reference does not itself show.

use crate::Limits;
use serde::{Deserialize, Serialize};

/// What counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Whose rules to follow where they differ from the policy below.
    pub compat: Compat,
    /// Where in a response the answer may stand.
    pub extract: Extraction,
    /// What a list of answers without brackets means: `1, 2` against `2, 1`.
    pub several: Several,
    /// What a unit means.
    pub units: Units,
    /// What a percent sign means.
    pub percent: Percent,
    /// Digits after the point to which numbers are compared. Absent: exactly, except that an answer written in decimals
    /// may round an exact reference to the places the reference's policy shows (see `accept_rounded`).
    pub round_to: Option<u32>,
    /// Accept a decimal response for an exact reference when it is the correctly rounded value with at least this many
    /// digits after the point. Absent: never.
    pub accept_rounded: Option<u32>,
    /// What one verification may use.
    pub limits: Limits,
}

/// Whose rules to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// This crate's own: strict and right.
    #[default]
    None,
    /// Math-Verify 0.9.0's, its known errors included.
    MathVerify,
}

/// Where an answer may stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extraction {
    /// `\boxed{…}`.
    pub boxed: bool,
    /// Mathematics between `$`, `$$`, `\(`, `\[`, or LaTeX environments.
    pub latex: bool,
    /// A plain expression or the last number of the text.
    pub plain: bool,
    /// A single letter choice, A to this letter. Absent: letters are not choices.
    pub choices_to: Option<char>,
}

impl Default for Extraction {
    fn default() -> Self {
        Self { boxed: true, latex: true, plain: true, choices_to: None }
    }
}

/// What a list of answers means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Several {
    /// All of them, in any order.
    #[default]
    AllAnyOrder,
    /// All of them, in the order of the reference.
    AllInOrder,
    /// Any one of the reference's.
    AnyOne,
}

/// What a unit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Units {
    /// Where the reference has one, the response must have the same or one that converts to it, or none; where the
    /// reference has none, any unit in the response is ignored.
    #[default]
    Optional,
    /// Both or neither, and convertible.
    Required,
    /// Ignored.
    Ignored,
}

/// What a percent sign means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Percent {
    /// `50%` is `0.5` and nothing else; where the reference has the sign, the bare number `50` is accepted too.
    #[default]
    Exact,
    /// The sign is ignored on both sides.
    Ignored,
}
