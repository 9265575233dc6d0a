//! Every call format by name. A new format is one file with an `ABOUT` and a config, and one line in the list below.

use super::CallFormat;
use super::auto::{self, AutoConfig};
use super::code_tags::{self, CodeTagsConfig};
use super::fenced::{self, FencedConfig};
use super::hermes::{self, HermesConfig};
use super::llama3::{self, Llama3Config};
use super::mistral::{self, MistralConfig};
use super::pythonic::{self, PythonicConfig};
use merit_core::About;
use merit_core::registry::{UnknownName, find};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A registered call format.
#[derive(Debug, Clone, Copy)]
pub struct CallFormatEntry {
    /// Name, one line of help, paper.
    pub about: About,
    /// The settings it has when a recipe gives only its name.
    pub default: fn() -> CallFormatConfig,
}

/// The settings of a call format.
pub trait FormatSettings {
    /// The format they describe.
    fn build(&self) -> Arc<dyn CallFormat>;
}

macro_rules! formats {
    ($( $(#[$doc:meta])* $variant:ident($config:ty) in $module:ident, )*) => {
        /// All call formats.
        pub const CALL_FORMATS: &[CallFormatEntry] = &[$( CallFormatEntry {
            about: $module::ABOUT,
            default: || CallFormatConfig::$variant(<$config>::default()),
        }, )*];

        /// A call format in a recipe: its name, or a table with `name` and its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case", remote = "Self")]
        pub enum CallFormatConfig { $( $(#[$doc])* $variant($config), )* }

        impl CallFormatConfig {
            /// The format it describes.
            pub fn build(&self) -> Arc<dyn CallFormat> {
                match self { $( Self::$variant(config) => config.build(), )* }
            }
        }
    };
}

formats! {
    /// Hermes and Qwen.
    Hermes(HermesConfig) in hermes,
    /// Llama 3 as JSON.
    Llama3Json(Llama3Config) in llama3,
    /// A Python list of calls.
    Pythonic(PythonicConfig) in pythonic,
    /// Mistral.
    Mistral(MistralConfig) in mistral,
    /// Fenced code.
    Fenced(FencedConfig) in fenced,
    /// Code in tags, as ReTool.
    CodeTags(CodeTagsConfig) in code_tags,
    /// Any of them.
    Auto(AutoConfig) in auto,
}

/// The call format called `name`, or an error that names the nearest.
///
/// ```
/// use merit_tools::formats::call_format;
/// assert_eq!(call_format("mistral").unwrap().build().about().name, "mistral");
/// assert!(call_format("hermse").unwrap_err().to_string().contains("did you mean `hermes`?"));
/// ```
pub fn call_format(name: &str) -> Result<&'static CallFormatEntry, UnknownName> {
    find("call format", CALL_FORMATS, |entry| entry.about, name)
}

impl CallFormatEntry {
    /// The format with its default settings.
    pub fn build(&self) -> Arc<dyn CallFormat> {
        (self.default)().build()
    }
}

impl Serialize for CallFormatConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for CallFormatConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = CallFormatConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a call format, or a table with `name` and its settings")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        call_format(name).map(|entry| (entry.default)()).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        CallFormatConfig::deserialize(MapAccessDeserializer::new(map))
    }
}
