//! The systems that come with merit, and the results recorded for them.

use crate::{LabError, System, SystemResult};
use merit_core::About;
use merit_core::registry::find;

mod texts {
    include!(concat!(env!("OUT_DIR"), "/shipped.rs"));
}

/// Name and text of every shipped system.
pub fn systems() -> &'static [(&'static str, &'static str)] {
    texts::SYSTEMS
}

pub fn results() -> Vec<SystemResult> {
    texts::RESULTS.iter().filter_map(|(_, packed)| unpack(packed)).collect()
}

/// The recorded result of a system. Absent: there is none.
pub fn result_of(name: &str) -> Option<SystemResult> {
    let (_, packed) = texts::RESULTS.iter().find(|(known, _)| *known == name)?;
    unpack(packed)
}

/// A result as `build.rs` packed it.
fn unpack(packed: &[u8]) -> Option<SystemResult> {
    let text = snap::raw::Decoder::new().decompress_vec(packed).ok()?;
    serde_json::from_slice(&text).ok()
}

/// What is to be read out of the result of a system, in words; written after it, and no part of its hash.
pub fn reading_of(name: &str) -> Option<&'static str> {
    texts::READINGS.iter().find(|(known, _)| *known == name).map(|(_, text)| text.trim())
}

/// Every system that has such words.
pub fn readings() -> impl Iterator<Item = &'static str> {
    texts::READINGS.iter().map(|(name, _)| *name)
}

/// The system of that name, or in that file, with `key=value` changes to its experiments.
pub fn load(name_or_path: &str, changes: &[(String, String)]) -> Result<System, LabError> {
    if name_or_path.ends_with(".toml") || name_or_path.contains('/') {
        let path = std::path::Path::new(name_or_path);
        let text = std::fs::read_to_string(path).map_err(LabError::file("read", path))?;
        return System::parse_with(name_or_path, &text, changes);
    }
    let about = |(name, _): &(&'static str, &'static str)| About { name, summary: "", paper: "" };
    let (name, text) = find("system", systems(), about, name_or_path)?;
    System::parse_with(&format!("systems/{name}.toml"), text, changes)
}
