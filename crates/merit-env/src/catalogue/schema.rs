//! The JSON Schema of a reply about an item. There is one for each set of fields, so that a task's is recognised and not built.
//!
//! A schema that comes with a task is read as a hash of all that is in it, and looked up among those that there are. What is used then is
//! our own, whatever the task's was.

use super::replies::{FIELDS, HUES, PARTS, WOODS};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::LazyLock;

/// How many sets of fields there are.
const SETS: usize = 1 << FIELDS.len();

/// The schema of every set, with its hash.
static SCHEMAS: LazyLock<Vec<(u64, Value)>> = LazyLock::new(|| {
    let named = |set: usize| (0..FIELDS.len()).filter(move |at| set >> at & 1 == 1).map(|at| FIELDS[at]);
    let schema = |set: usize| schema_of(&named(set).collect::<Vec<_>>());
    (0..SETS)
        .map(schema)
        .map(|schema| (Hashed::deserialize(&schema).map_or(0, |hashed| hashed.0), schema))
        .collect()
});

/// The schema of a reply with some of the fields, by their set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplySchema(usize);

impl ReplySchema {
    /// That of fields of which each is wanted once.
    pub(super) fn of(wanted: &[String]) -> Option<Self> {
        let mut set = 0;
        for name in wanted {
            let field = 1 << FIELDS.iter().position(|field| field == name)?;
            set = if set & field == 0 { set | field } else { return None };
        }
        Some(Self(set))
    }

    /// The JSON Schema of this set of fields.
    pub fn value(self) -> &'static Value {
        SCHEMAS.get(self.0).map_or(&Value::Null, |(_, schema)| schema)
    }
}

impl Serialize for ReplySchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ReplySchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Hashed::deserialize(deserializer)?.0;
        let set = SCHEMAS.iter().position(|(known, _)| *known == read);
        set.map(Self).ok_or_else(|| D::Error::custom("the schema is not that of the wanted fields"))
    }
}

fn schema_of(names: &[&str]) -> Value {
    let digits = |most: u32| json!({ "type": "integer", "minimum": 1, "maximum": most });
    let kind = |name: &str| match name {
        "box" => json!({
            "type": "object", "additionalProperties": false, "required": ["h", "w"],
            "properties": { "h": digits(9), "w": digits(9) },
        }),
        "hue" => json!({ "enum": HUES }),
        "wood" => json!({ "enum": WOODS }),
        "parts" => json!({ "type": "array", "minItems": 1, "maxItems": 3, "items": { "enum": PARTS } }),
        _ => digits(99),
    };
    let properties: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), kind(name))).collect();
    json!({ "type": "object", "additionalProperties": false, "required": names, "properties": properties })
}

/// A JSON value as a hash of what is in it. The order of an object's fields does not count.
struct Hashed(u64);

impl Hashed {
    fn of(kind: u8, bytes: &[u8]) -> Self {
        let start = 0xcbf2_9ce4_8422_2325 ^ u64::from(kind);
        let hash =
            bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        Self((hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    fn then(self, next: &Self) -> Self {
        let mixed = (self.0.rotate_left(7) ^ next.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(mixed ^ mixed >> 32)
    }
}

impl<'de> Deserialize<'de> for Hashed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Hashing)
    }
}

struct Hashing;

impl<'de> Visitor<'de> for Hashing {
    type Value = Hashed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON Schema")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Hashed, E> {
        Ok(Hashed::of(b'b', &[u8::from(value)]))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Hashed, E> {
        Ok(Hashed::of(b'i', &value.to_le_bytes()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Hashed, E> {
        Ok(Hashed::of(b'u', &value.to_le_bytes()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Hashed, E> {
        Ok(Hashed::of(b'f', &value.to_le_bytes()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Hashed, E> {
        Ok(Hashed::of(b's', value.as_bytes()))
    }

    fn visit_unit<E>(self) -> Result<Hashed, E> {
        Ok(Hashed::of(b'n', &[]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Hashed, A::Error> {
        let mut all = Hashed::of(b'[', &[]);
        while let Some(value) = values.next_element::<Hashed>()? {
            all = all.then(&value);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Hashed, A::Error> {
        let mut all = Hashed::of(b'{', &[]);
        while let Some((name, value)) = fields.next_entry::<Hashed, Hashed>()? {
            all.0 = all.0.wrapping_add(name.then(&value).0);
        }
        Ok(all)
    }
}
