//! What a check of a response came to, and whose doing that is.
//!
//! A [`Verifier`] is made once from its settings and judges records; a [`Judgement`] is a [`Conclusion`], a score and what the
//! verifier found. Only `Pass`, `Fail`, `Unreadable` and `Refused` are judgements on the response. Where the task or the grader
//! is at fault there is no score, which must not be read as 0. Plain data and one seam; knows no verifier.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Why a conclusion was come to, in words.
pub type Why = Cow<'static, str>;

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Conclusion {
    /// The response is right.
    Pass,
    /// The response is wrong, or not right enough.
    Fail,
    /// The response has nothing of the demanded form: no answer, no JSON. It may still earn partial credit.
    Unreadable {
        /// What is missing or malformed.
        why: Why,
    },
    /// The response was not measured, by its own doing: it is empty, too long or goes beyond a limit. It scores 0.
    Refused {
        /// Which limit it broke, or that it is empty.
        why: Why,
    },
    /// The task asks for nothing that could be judged.
    NotApplicable {
        /// What the task does not have.
        why: Why,
    },
    /// The reference cannot be used: the task is at fault, not the policy.
    BadReference {
        /// What is wrong with it.
        why: Why,
    },
    /// The check could not be carried out, so it is unknown whether the response is right.
    GraderFailed {
        /// What failed, in words.
        why: Why,
    },
}

impl Conclusion {
    /// `Pass` or `Fail`.
    pub fn of(passed: bool) -> Self {
        if passed { Self::Pass } else { Self::Fail }
    }

    /// The response has nothing of the demanded form.
    pub fn unreadable(why: impl Into<Why>) -> Self {
        Self::Unreadable { why: why.into() }
    }

    /// The response was not measured, by its own doing.
    pub fn refused(why: impl Into<Why>) -> Self {
        Self::Refused { why: why.into() }
    }

    /// There is nothing to judge.
    pub fn not_applicable(why: impl Into<Why>) -> Self {
        Self::NotApplicable { why: why.into() }
    }

    /// The task is at fault.
    pub fn bad_reference(why: impl Into<Why>) -> Self {
        Self::BadReference { why: why.into() }
    }

    /// The check could not be carried out.
    pub fn grader_failed(why: impl Into<Why>) -> Self {
        Self::GraderFailed { why: why.into() }
    }

    /// Whether the response is right. Absent: that could not be judged, by no fault of the response.
    pub fn passed(&self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Fail | Self::Unreadable { .. } | Self::Refused { .. } => Some(false),
            Self::NotApplicable { .. } | Self::BadReference { .. } | Self::GraderFailed { .. } => None,
        }
    }

    /// The reason. Absent for a plain `Pass` or `Fail`, whose reasons are in what the verifier found.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Pass | Self::Fail => None,
            Self::Unreadable { why }
            | Self::Refused { why }
            | Self::NotApplicable { why }
            | Self::BadReference { why }
            | Self::GraderFailed { why } => Some(why),
        }
    }

    /// The conclusion without its reason.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unreadable { .. } => "unreadable",
            Self::Refused { .. } => "refused",
            Self::NotApplicable { .. } => "not applicable",
            Self::BadReference { .. } => "bad reference",
            Self::GraderFailed { .. } => "grader failed",
        }
    }
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        self.why().map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}

/// A conclusion, a score, and what the verifier found. What was found is read as if it were part of the judgement, as it is in
/// JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement<D> {
    /// Whether the response passed, and if there is no verdict, why.
    pub conclusion: Conclusion,
    /// From 0 to 1. Absent where the response could not be judged by no fault of its own; that is not 0.
    pub score: Option<f64>,
    /// What the conclusion rests on.
    #[serde(flatten)]
    pub detail: D,
}

impl<D> Judgement<D> {
    /// `Pass` or `Fail` with a score.
    pub fn scored(passed: bool, score: f64, detail: D) -> Self {
        Self { conclusion: Conclusion::of(passed), score: Some(score), detail }
    }

    /// A conclusion without a measurement: 0 where that is the response's doing, no score where it is not.
    pub fn unmeasured(conclusion: Conclusion, detail: D) -> Self {
        let score = conclusion.passed().map(|passed| f64::from(u8::from(passed)));
        Self { conclusion, score, detail }
    }

    /// Whether the response is right. Absent: that could not be judged, by no fault of the response.
    pub fn passed(&self) -> Option<bool> {
        self.conclusion.passed()
    }

    /// The same judgement with what was found made into something else.
    pub fn map<E>(self, make: impl FnOnce(D) -> E) -> Judgement<E> {
        Judgement { conclusion: self.conclusion, score: self.score, detail: make(self.detail) }
    }
}

impl<D> Deref for Judgement<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.detail
    }
}

/// Judges records of one kind. Made once from its settings, and again for records that bring settings of their own; shared by
/// threads.
pub trait Verifier: Sized + Send + Sync {
    /// What counts as right.
    type Settings: Default + Serialize + DeserializeOwned;
    /// What is judged at once: a response, what it is compared with, and its [`Envelope`].
    type Record<'a>: Deserialize<'a>;
    /// What a judgement rests on.
    type Detail: Serialize;

    /// Checks the settings; the error says which cannot work.
    fn compile(settings: Self::Settings) -> Result<Self, String>;

    /// What every record may have.
    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a>;

    /// Judges one record; the error says why it is none that can be judged.
    fn judge(&self, record: &Self::Record<'_>) -> Result<Judgement<Self::Detail>, String>;

    /// The judgement for people, a line each.
    fn explain(judgement: &Judgement<Self::Detail>) -> Vec<String>;
}

/// What every record may have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Envelope<'a> {
    /// The name of the record, copied to its judgement.
    pub id: Option<&'a RawValue>,
    /// Laid over the settings of the verifier.
    pub settings: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_response_can_earn_a_zero() {
        let score = |conclusion| Judgement::unmeasured(conclusion, ()).score;
        assert_eq!(score(Conclusion::unreadable("no JSON")), Some(0.0));
        assert_eq!(score(Conclusion::refused("too long")), Some(0.0));
        for nobodys in [
            Conclusion::not_applicable("no call"),
            Conclusion::bad_reference("blank"),
            Conclusion::grader_failed("no database"),
        ] {
            assert_eq!((nobodys.passed(), score(nobodys)), (None, None));
        }
    }
}
