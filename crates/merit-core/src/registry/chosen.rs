//! A component as a document holds it: its name and its settings in one table.

use super::{About, Component, Components, Entry, Kind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A component chosen by name, with checked settings, behind the trait of its kind. Derefs to that trait.
///
/// Deserializing needs the lists: [`Components::reading`]. Serializing writes every default out, the name first.
pub struct Chosen<T: ?Sized> {
    about: About,
    component: Arc<T>,
    settings: Arc<dyn erased_serde::Serialize + Send + Sync>,
}

impl<T: Kind + ?Sized> Chosen<T> {
    /// A component with these settings, which are not checked. The second argument makes the trait object:
    /// `Chosen::of(Grpo::default(), |s| s)`.
    pub fn of<S: Component>(settings: S, as_kind: fn(Arc<S>) -> Arc<T>) -> Self {
        let settings = Arc::new(settings);
        Self { about: S::ABOUT, component: as_kind(Arc::clone(&settings)), settings }
    }

    /// The component of `entry`, read from `table`, which no longer holds the name.
    pub fn read(entry: &Entry<T>, table: toml::Table) -> Result<Self, String> {
        let (component, settings) = (entry.read)(table)?;
        Ok(Self { about: entry.about, component, settings })
    }

    /// The component that `table` names, from `components`.
    pub fn from_table(mut table: toml::Table, components: &Components) -> Result<Self, String> {
        let name = take_name::<T>(&mut table)?;
        let entry = components.find::<T>(&name).map_err(|error| error.to_string())?;
        Self::read(&entry, table)
    }
}

/// Takes the name of the component out of its table.
fn take_name<T: Kind + ?Sized>(table: &mut toml::Table) -> Result<String, String> {
    match table.remove("type") {
        Some(toml::Value::String(name)) => Ok(name),
        Some(other) => Err(format!("`type` is {other}; it must be the name of a {}", T::KIND)),
        None => Err(format!("missing field `type`: the name of a {}", T::KIND)),
    }
}

impl<T: ?Sized> Chosen<T> {
    /// Name, one line of help, paper.
    pub fn about(&self) -> About {
        self.about
    }

    /// The component itself; all clones share it.
    pub fn component(&self) -> Arc<T> {
        Arc::clone(&self.component)
    }

    /// The settings, every default written out, without the name, for a caller that writes them with keys of its own.
    pub fn settings(&self) -> impl Serialize + '_ {
        &*self.settings
    }

    /// The settings, every default written out, without the name.
    pub fn table(&self) -> toml::Table {
        match toml::Value::try_from(&*self.settings) {
            Ok(toml::Value::Table(table)) => table,
            _ => toml::Table::new(),
        }
    }
}

impl<T: ?Sized> Deref for Chosen<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.component
    }
}

impl<T: ?Sized> Clone for Chosen<T> {
    fn clone(&self) -> Self {
        let (component, settings) = (Arc::clone(&self.component), Arc::clone(&self.settings));
        Self { about: self.about, component, settings }
    }
}

impl<T: ?Sized> fmt::Debug for Chosen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.about.name, self.table())
    }
}

impl<T: ?Sized> PartialEq for Chosen<T> {
    fn eq(&self, other: &Self) -> bool {
        self.about.name == other.about.name && self.table() == other.table()
    }
}

impl<'de, T: Kind + ?Sized> Deserialize<'de> for Chosen<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A name alone stands for the component with its default settings.
        let table = match toml::Value::deserialize(deserializer)? {
            toml::Value::Table(table) => table,
            name @ toml::Value::String(_) => toml::Table::from_iter([("type".to_owned(), name)]),
            other => {
                let found = other.type_str();
                return Err(D::Error::custom(format!("a {} is a table or a name, not a {found}", T::KIND)));
            }
        };
        Self::from_table(table, &Components::lent()).map_err(D::Error::custom)
    }
}

/// One map that begins with the name and goes on in the order of the settings' fields.
#[derive(Serialize)]
struct Tagged<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    settings: &'a dyn erased_serde::Serialize,
}

impl<T: ?Sized> Serialize for Chosen<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Tagged { r#type: self.about.name, settings: &*self.settings }.serialize(serializer)
    }
}
