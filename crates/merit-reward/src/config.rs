//! A reward as data: what a reward file or a recipe's `[reward]` table is read into.
//!
//! `type` names a term or a combinator. They are looked up in the lists that [`Components::reading`] lends, or, where nothing
//! is lent, in this crate's own. Writing gives back every default, the name first.

use crate::combinators::COMBINATORS;
use crate::compile::Combinator;
use crate::term::{CommonSettings, ParseFailurePath, Term};
use crate::terms::TERMS;
use merit_core::registry::{About, Chosen, Component, Components, UnknownName};
use merit_core::settings::{self, ReadError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Adds the terms and combinators of this crate.
#[must_use]
pub fn register(components: Components) -> Components {
    components.with_all(TERMS).with_all(COMBINATORS)
}

/// An expression over terms, as a document holds it: a term or a combinator with its settings.
#[derive(Clone, PartialEq)]
pub struct RewardConfig(pub(crate) Part);

/// The two kinds of part.
#[derive(Clone, PartialEq)]
pub(crate) enum Part {
    Term(CommonSettings, Chosen<dyn Term>),
    Combinator(Chosen<dyn Combinator>),
}

impl RewardConfig {
    /// A term with these settings, which are not checked: `RewardConfig::term(Format {}, |s| s)`.
    pub fn term<S: Component>(settings: S, as_term: fn(Arc<S>) -> Arc<dyn Term>) -> Self {
        Self::of_term(CommonSettings::default(), Chosen::of(settings, as_term))
    }

    /// A combinator with these settings, which are not checked: `RewardConfig::combinator(Sum { of }, |s| s)`.
    pub fn combinator<S: Component>(settings: S, as_combinator: fn(Arc<S>) -> Arc<dyn Combinator>) -> Self {
        Self(Part::Combinator(Chosen::of(settings, as_combinator)))
    }

    /// The same term with other common settings; a combinator has none and stays as it is.
    #[must_use]
    pub fn with_common(self, common: CommonSettings) -> Self {
        match self.0 {
            Part::Term(_, term) => Self::of_term(common, term),
            Part::Combinator(_) => self,
        }
    }

    fn of_term(mut common: CommonSettings, term: Chosen<dyn Term>) -> Self {
        // Written out like every other default, where it means something.
        if term.kind().parses {
            common.on_parse_failure.get_or_insert(ParseFailurePath::default());
        }
        Self(Part::Term(common, term))
    }

    /// The reward in a TOML document.
    pub fn from_toml(text: &str) -> Result<Self, ReadError> {
        settings::from_toml(text)
    }

    /// The part that a table describes, from `components`. An error names the component that it is about.
    pub fn from_table(mut table: toml::Table, components: &Components) -> Result<Self, String> {
        let name = match table.remove("type") {
            Some(toml::Value::String(name)) => name,
            Some(other) => {
                return Err(format!("`type` is {other}; it must be the name of a term or a combinator"));
            }
            None => return Err("missing field `type`: the name of a term or a combinator".to_owned()),
        };
        let named = |message: String| {
            let prefix = format!("`{name}`: ");
            if message.starts_with(&prefix) { message } else { prefix + &message }
        };
        if let Ok(entry) = components.find::<dyn Combinator>(&name) {
            return Chosen::read(&entry, table).map(|chosen| Self(Part::Combinator(chosen))).map_err(named);
        }
        if let Ok(entry) = components.find::<dyn Term>(&name) {
            let common = CommonSettings::take(&mut table).map_err(named)?;
            let keys: Vec<String> = table.keys().cloned().collect();
            let with_common = |message: String| named(CommonSettings::beside(message, &keys));
            return Chosen::read(&entry, table).map(|term| Self::of_term(common, term)).map_err(with_common);
        }
        let terms = components.entries::<dyn Term>().iter().map(|entry| entry.about.name);
        let combinators = components.entries::<dyn Combinator>().iter().map(|entry| entry.about.name);
        Err(UnknownName::among("reward term or combinator", &name, terms.chain(combinators)).to_string())
    }

    /// The terms of `components` whose full value says that a task was solved, as they are in their examples.
    pub fn solving_terms(components: &Components) -> Vec<&'static str> {
        let terms = components.entries::<dyn Term>().iter();
        let solving = terms.filter(|entry| {
            let table = toml::from_str::<toml::Table>(entry.example).unwrap_or_default();
            let table = [("type".to_owned(), entry.about.name.into())].into_iter().chain(table).collect();
            components
                .reading(|| Self::from_table(table, components))
                .is_ok_and(|config| config.tells_solved())
        });
        solving.map(|entry| entry.about.name).collect()
    }

    /// What its component says of itself.
    pub fn about(&self) -> About {
        match &self.0 {
            Part::Term(_, term) => term.about(),
            Part::Combinator(combinator) => combinator.about(),
        }
    }

    /// The settings, where they are an `S`: `config.settings::<Gate>()`.
    pub fn settings<S: Any>(&self) -> Option<&S> {
        let settings: &dyn Any = match &self.0 {
            Part::Term(_, term) => &**term,
            Part::Combinator(combinator) => &**combinator,
        };
        settings.downcast_ref()
    }

    /// Its name, where it is a term.
    pub fn term_name(&self) -> Option<String> {
        match &self.0 {
            Part::Term(common, term) => {
                Some(common.name.clone().unwrap_or_else(|| term.about().name.to_owned()))
            }
            Part::Combinator(_) => None,
        }
    }

    /// Whether it is a term whose full value says that the task was solved.
    pub(crate) fn tells_solved(&self) -> bool {
        matches!(&self.0, Part::Term(_, term) if term.kind().solves)
    }

    /// The parts below, in the order in which their terms are listed.
    pub fn children(&self) -> Vec<&Self> {
        match &self.0 {
            Part::Term(..) => Vec::new(),
            Part::Combinator(combinator) => combinator.children(),
        }
    }

    /// The names of all terms inside, in the order of the file.
    pub fn term_names(&self) -> Vec<String> {
        let below = self.children().into_iter().flat_map(Self::term_names);
        self.term_name().into_iter().chain(below).collect()
    }
}

impl fmt::Debug for RewardConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Part::Term(common, term) => write!(f, "{term:?} ({common:?})"),
            Part::Combinator(combinator) => combinator.fmt(f),
        }
    }
}

/// What to read from: what is lent, else this crate's own lists.
fn lent() -> Components {
    static OWN: LazyLock<Components> = LazyLock::new(|| register(Components::default()));
    let lent = Components::lent();
    let none = lent.entries::<dyn Term>().is_empty() && lent.entries::<dyn Combinator>().is_empty();
    if none { OWN.clone() } else { lent }
}

impl<'de> Deserialize<'de> for RewardConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        Self::from_table(table, &lent()).map_err(D::Error::custom)
    }
}

impl JsonSchema for RewardConfig {
    fn schema_name() -> Cow<'static, str> {
        "reward".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let components = lent();
        let common = CommonSettings::json_schema(generator);
        let common = common.get("properties").and_then(|keys| keys.as_object().cloned()).unwrap_or_default();
        let terms = components.entries::<dyn Term>().iter();
        let terms = terms.map(|entry| entry.define(generator, &common)).collect::<Vec<_>>();
        let combinators = components.entries::<dyn Combinator>().iter();
        let parts = combinators.map(|entry| entry.define(generator, &Map::new())).chain(terms);
        json_schema!({
            "description": "A reward: a term, or a combinator of others. `type` is its name.",
            "oneOf": parts.collect::<Vec<_>>(),
        })
    }
}

/// One map: the name, the common settings, the term's own.
#[derive(Serialize)]
struct TermTable<'a, S: Serialize> {
    r#type: &'static str,
    #[serde(flatten)]
    common: &'a CommonSettings,
    #[serde(flatten)]
    settings: S,
}

impl Serialize for RewardConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Part::Term(common, term) => {
                TermTable { r#type: term.about().name, common, settings: term.settings() }
                    .serialize(serializer)
            }
            Part::Combinator(combinator) => combinator.serialize(serializer),
        }
    }
}
