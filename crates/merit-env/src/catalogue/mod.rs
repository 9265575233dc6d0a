//! Worlds about the items of a catalogue: replies in JSON, a shop to search in, tables to ask, journeys to plan, and a tutor's replies.
//!
//! Each is a world of its own. What they share is here: attributes with their values, all of them words that no other attribute has.

mod replies;
mod schema;
pub mod shop;
pub mod tables;
pub mod travel;
mod tutor;

pub use replies::{Catalogue, FIELDS, Request};
pub use schema::ReplySchema;
pub use tutor::{Pupil, Tutor};

/// The attributes of an item, each with its values.
pub const ATTRIBUTES: [(&str, [&str; 5]); 7] = [
    ("hue", ["red", "blue", "green", "pink", "grey"]),
    ("stuff", ["oak", "tin", "wool", "clay", "glass"]),
    ("size", ["slim", "small", "mid", "big", "huge"]),
    ("shape", ["round", "square", "flat", "long", "bent"]),
    ("make", ["lux", "nord", "zen", "volt", "dove"]),
    ("feel", ["soft", "firm", "smooth", "rough", "slick"]),
    ("use", ["home", "work", "camp", "beach", "yard"]),
];

/// The name of an attribute; empty where there is none.
fn attribute_name(attribute: u8) -> &'static str {
    ATTRIBUTES.get(usize::from(attribute)).map_or("", |(name, _)| name)
}

/// A value of an attribute as a word; empty where there is none.
fn value_word(attribute: u8, value: u8) -> &'static str {
    let values = ATTRIBUTES.get(usize::from(attribute)).map(|(_, values)| values);
    values.and_then(|values| values.get(usize::from(value))).copied().unwrap_or_default()
}

/// The attribute and the value that a word names.
fn attribute_of(word: &str) -> Option<(u8, u8)> {
    let found = |(_, values): &(&str, [&str; 5])| values.iter().position(|known| *known == word);
    ATTRIBUTES.iter().enumerate().find_map(|(at, entry)| Some((at as u8, found(entry)? as u8)))
}

/// 1 where something holds, otherwise 0.
fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// A number as it is written without signs and leading zeros.
fn plain_number(word: &str) -> Option<u32> {
    word.parse::<u32>().ok().filter(|number| number.to_string() == word)
}
