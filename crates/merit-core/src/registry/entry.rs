//! What a component says of itself, and how it is read out of a table.

use crate::settings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;

/// What every registered component says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct About {
    /// The name used in recipes.
    pub name: &'static str,
    /// What it does, in one line of help.
    pub summary: &'static str,
    /// Where it was published; empty for what is common knowledge.
    pub paper: &'static str,
}

impl About {
    /// The one line, and the paper where there is one.
    pub fn help(&self) -> String {
        if self.paper.is_empty() {
            self.summary.to_owned()
        } else {
            format!("{} [{}]", self.summary, self.paper)
        }
    }
}

/// The settings of a component, as a recipe writes them. The struct is the component: it also implements the trait of its
/// kind. Doc comments of its fields are what `merit list` and the reference say of the keys.
pub trait Component: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Name, one line of help, paper.
    const ABOUT: About;

    /// Settings in TOML, without the key that names the component. The conformance test of its kind runs it. Empty: the
    /// defaults show everything.
    const EXAMPLE: &'static str = "";

    /// Refuses settings that cannot work. Opens nothing: no file, no process, no index.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Why settings cannot work: the key, and what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// What is wrong and what to do, in words that name the key.
    pub why: String,
}

impl Refusal {
    /// A refusal in these words.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }

    /// `Ok` when `holds`; otherwise "`key` is `value`; it must be `want`".
    ///
    /// ```
    /// use merit_core::registry::Refusal;
    /// assert!(Refusal::unless(true, "gamma", 0.9, "between 0 and 1").is_ok());
    /// let refused = Refusal::unless(false, "gamma", 2.0, "between 0 and 1").unwrap_err();
    /// assert_eq!(refused.to_string(), "`gamma` is 2; it must be between 0 and 1");
    /// ```
    pub fn unless(holds: bool, key: &str, value: impl fmt::Display, want: &str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(format!("`{key}` is {value}; it must be {want}"))) }
    }
}

/// One component in a registry: what it says of itself, and how it is read. Written with [`entry!`](crate::entry!).
pub struct Entry<T: ?Sized> {
    /// Name, one line of help, paper.
    pub about: About,
    /// Settings in TOML, without the key that names the component.
    pub example: &'static str,
    /// Reads and checks the settings: the component behind its trait, and the settings as they are written back.
    pub read: fn(toml::Table) -> Result<Read<T>, String>,
    /// The keys of the settings.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A component behind its trait, and its settings.
pub type Read<T> = (Arc<T>, Arc<dyn erased_serde::Serialize + Send + Sync>);

impl<T: ?Sized> Clone for Entry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Entry<T> {}

impl<T: ?Sized> fmt::Debug for Entry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("about", &self.about).finish_non_exhaustive()
    }
}

/// Reads settings out of a table and checks them.
pub fn read_settings<S: Component>(table: toml::Table) -> Result<Arc<S>, String> {
    let settings = settings::from_table::<S>(table).map_err(|error| error.message().to_owned())?;
    settings.check().map_err(|refusal| format!("`{}`: {refusal}", S::ABOUT.name))?;
    Ok(Arc::new(settings))
}

/// The [`Entry`] of a settings struct: `entry!(Grpo as dyn CreditRule)`.
#[macro_export]
macro_rules! entry {
    ($Settings:ty as dyn $Trait:path) => {
        $crate::registry::Entry::<dyn $Trait> {
            about: <$Settings as $crate::registry::Component>::ABOUT,
            example: <$Settings as $crate::registry::Component>::EXAMPLE,
            read: |table| {
                let settings = $crate::registry::read_settings::<$Settings>(table)?;
                Ok((settings.clone() as ::std::sync::Arc<dyn $Trait>, settings as _))
            },
            schema: <$Settings as $crate::registry::JsonSchema>::json_schema,
        }
    };
}

/// A registry: declares the modules, re-exports their settings structs and lists their entries.
///
/// ```ignore
/// merit_core::registry! {
///     /// Every credit rule.
///     pub static RULES: dyn CreditRule = [grpo::Grpo, gae::Gae];
/// }
/// ```
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* $vis:vis static $LIST:ident: dyn $Trait:path = [$($module:ident :: $Settings:ident),* $(,)?];) => {
        $( pub mod $module; pub use $module::$Settings; )*
        $(#[$meta])*
        $vis static $LIST: &[$crate::registry::Entry<dyn $Trait>] =
            &[$( $crate::entry!($module::$Settings as dyn $Trait) ),*];
    };
}
