//! Reading other people's JSON with errors that name the field: `choices[0].logprobs.content[3].logprob`.
//!
//! Null counts as absent: servers differ in which of the two they write.

use serde_json::Value;
use std::fmt;

/// What was wrong with a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BadField(pub(crate) String);

/// A place in an answer.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) value: &'a Value,
    path: Path<'a>,
}

#[derive(Clone, Copy)]
enum Path<'a> {
    Top(&'static str),
    Name(&'a At<'a>, &'a str),
    Place(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    /// The whole of an answer, called `name` in errors.
    pub(crate) fn top(name: &'static str, value: &'a Value) -> Self {
        Self { value, path: Path::Top(name) }
    }

    /// The field called `name`. Absent: it is missing or null.
    pub(crate) fn get(&'a self, name: &'a str) -> Option<At<'a>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(At { value, path: Path::Name(self, name) })
    }

    /// The field called `name`, which must be there.
    pub(crate) fn need(&'a self, name: &'a str) -> Result<At<'a>, BadField> {
        self.get(name).ok_or_else(|| BadField(format!("{self} has no `{name}`")))
    }

    /// The elements of a list.
    pub(crate) fn list(&'a self) -> Result<impl Iterator<Item = At<'a>>, BadField> {
        let list = self.value.as_array().ok_or_else(|| self.is_not("a list"))?;
        Ok(list.iter().enumerate().map(|(place, value)| At { value, path: Path::Place(self, place) }))
    }

    pub(crate) fn text(&self) -> Result<&'a str, BadField> {
        self.value.as_str().ok_or_else(|| self.is_not("a text"))
    }

    pub(crate) fn count(&self) -> Result<u64, BadField> {
        self.value.as_u64().ok_or_else(|| self.is_not("a count"))
    }

    pub(crate) fn token(&self) -> Result<merit_core::TokenId, BadField> {
        let id = self.value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.map(merit_core::TokenId).ok_or_else(|| self.is_not("a token id"))
    }

    pub(crate) fn number(&self) -> Result<f32, BadField> {
        let number = self.value.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
        number.ok_or_else(|| self.is_not("a finite number"))
    }

    /// A log-probability. What rounding puts a hair above 0 is 0.
    pub(crate) fn logprob(&self) -> Result<f32, BadField> {
        match self.number()? {
            above if above > 1e-3 => Err(self.is_not("a log-probability")),
            number => Ok(number.min(0.0)),
        }
    }

    pub(crate) fn is_not(&self, kind: &str) -> BadField {
        let found = merit_net::text::glimpse(&self.value.to_string(), 60);
        BadField(format!("{self} is {found}, not {kind}"))
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            Path::Top(name) => f.write_str(name),
            Path::Name(At { path: Path::Top(_), .. }, name) => f.write_str(name),
            Path::Name(parent, name) => write!(f, "{parent}.{name}"),
            Path::Place(parent, place) => write!(f, "{parent}[{place}]"),
        }
    }
}
