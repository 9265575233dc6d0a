//! What counts as the same answer. The default is strict and right: order where it means something, units and percent
//! signs as part of the answer, no rounding that the reference does not itself show.

use crate::{Form, Limits, MathVerifyOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What counts as right, and where the answer is looked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MathsConfig {
    /// Whose rules to follow.
    pub compat: Compat,
    /// The peer's own options; only together with `compat = "math-verify"`. Absent: its defaults.
    pub math_verify: Option<MathVerifyOptions>,
    /// Where in a response the answer may stand.
    pub extract: Extraction,
    /// What a list of answers without brackets means: `1, 2` against `2, 1`.
    pub several: Several,
    /// What a unit means.
    pub units: Units,
    /// What a percent sign means.
    pub percent: Percent,
    /// Digits after the point to which numbers are compared. Absent: exactly, except that an answer written in decimals
    /// may round an exact reference to the places the reference shows (see `accept_rounded`).
    pub round_to: Option<u32>,
    /// Accept a decimal response for an exact reference when it is the correctly rounded value with at least this many
    /// digits after the point. Absent: never.
    pub accept_rounded: Option<u32>,
    /// The form in which an answer is wanted. An equal response in another form is no answer: a policy would learn to give
    /// the question back.
    pub form: Form,
    /// What one verification may use.
    pub limits: Limits,
}

/// Settings of which one makes another one meaningless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MathsConfigError {
    /// The peer's options without the peer's rules.
    #[error(
        "`math_verify` has options, but `compat` is not \"math-verify\", so nothing reads them; set it or remove them"
    )]
    OptionsWithoutCompat,
    /// A setting of the strict rules under the peer's rules.
    #[error(
        "`{setting}` belongs to the strict rules, but `compat = \"math-verify\"` follows the peer's; remove it"
    )]
    UnusedUnderCompat { setting: &'static str },
    /// Nowhere to look for an answer.
    #[error(
        "`extract` allows no place where an answer may stand; allow at least one of boxed, latex, plain, choices_to"
    )]
    NowhereToLook,
    /// A base that has no digits.
    #[error("`form` asks for base {base}; give a base from 2 to 36")]
    NotABase { base: u32 },
    /// A letter range that is none.
    #[error("`extract.choices_to` is `{last}`; give the last letter of the choices, `B` to `Z`")]
    NotALetter { last: char },
}

impl MathsConfig {
    /// Refuses a setting that could have no effect.
    pub fn check(&self) -> Result<(), MathsConfigError> {
        match self.compat {
            Compat::None if self.math_verify.is_some() => Err(MathsConfigError::OptionsWithoutCompat),
            Compat::None => {
                if let Form::Base(base) = self.form
                    && !(2..=36).contains(&base)
                {
                    return Err(MathsConfigError::NotABase { base });
                }
                self.extract.check()
            }
            Compat::MathVerify => {
                let plain = Self::default();
                let unused = [
                    ("extract", self.extract != plain.extract),
                    ("several", self.several != plain.several),
                    ("units", self.units != plain.units),
                    ("percent", self.percent != plain.percent),
                    ("round_to", self.round_to != plain.round_to),
                    ("accept_rounded", self.accept_rounded != plain.accept_rounded),
                    ("form", self.form != plain.form),
                ];
                match unused.into_iter().find(|(_, set)| *set) {
                    Some((setting, _)) => Err(MathsConfigError::UnusedUnderCompat { setting }),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Extraction {
    fn check(&self) -> Result<(), MathsConfigError> {
        if let Some(last) = self.choices_to.filter(|c| !('B'..='Z').contains(c)) {
            return Err(MathsConfigError::NotALetter { last });
        }
        if !(self.boxed || self.latex || self.plain || self.choices_to.is_some()) {
            return Err(MathsConfigError::NowhereToLook);
        }
        Ok(())
    }
}

/// Whose rules to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// This crate's own: strict and right.
    #[default]
    None,
    /// Math-Verify 0.9.0's, its known errors included.
    MathVerify,
}

/// Where an answer may stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Units {
    /// Where the reference has one, the response must have the same or one that converts to it, or none; where the
    /// reference has none, any unit in the response is ignored.
    #[default]
    Optional,
    /// Both or neither, and convertible.
    Required,
    /// Units are not compared.
    Ignored,
}

/// What a percent sign means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Percent {
    /// `50%` is `0.5` and nothing else; where the reference has the sign, the bare number `50` is accepted too.
    #[default]
    Exact,
    /// The sign is ignored on both sides.
    Ignored,
}
