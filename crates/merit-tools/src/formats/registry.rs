//! Every call format by name. A new format is one file with a settings struct and one line in the list below.

use super::{Auto, CallFormat, CodeTags, Fenced, Hermes, Llama3Json, Mistral, Pythonic};
use merit_core::entry;
use merit_core::registry::{Chosen, Components, Entry, Kind, UnknownName};

impl Kind for dyn CallFormat {
    const KIND: &'static str = "call format";
}

pub static CALL_FORMATS: &[Entry<dyn CallFormat>] = &[
    entry!(Hermes as dyn CallFormat),
    entry!(Llama3Json as dyn CallFormat),
    entry!(Pythonic as dyn CallFormat),
    entry!(Mistral as dyn CallFormat),
    entry!(Fenced as dyn CallFormat),
    entry!(CodeTags as dyn CallFormat),
    entry!(Auto as dyn CallFormat),
];

/// The call format called `name` with its default settings, or an error that names the nearest.
///
/// ```
/// use merit_tools::formats::call_format;
/// assert_eq!(call_format("mistral").unwrap().about().name, "mistral");
/// assert!(call_format("hermse").unwrap_err().to_string().contains("did you mean `hermes`?"));
/// ```
pub fn call_format(name: &str) -> Result<Chosen<dyn CallFormat>, UnknownName> {
    let entry = Components::default().with_all(CALL_FORMATS).find::<dyn CallFormat>(name)?;
    Ok(Chosen::read(&entry, toml::Table::new()).expect("a call format needs no settings"))
}
