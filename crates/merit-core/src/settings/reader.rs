//! How serde reads a value of a document. What depends on the type that is read is kept to a few calls; the rest is compiled once.

use super::ReadError;
use super::node::{Node, Plain};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer as _, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::ops::Range;
use std::vec;

impl Node {
    #[cold]
    fn wrong(self, expected: &dyn Expected) -> ReadError {
        let found = match &self.value {
            Plain::Text(text) | Plain::Key(text) => Unexpected::Str(text),
            Plain::Whole(whole) => Unexpected::Signed(*whole),
            Plain::Large(whole) => Unexpected::Unsigned(*whole),
            Plain::Number(number) => Unexpected::Float(*number),
            Plain::Flag(flag) => Unexpected::Bool(*flag),
            Plain::Date => Unexpected::Other("date"),
            Plain::Overflow => return ReadError::custom("the number is too large").within(&self.span),
            Plain::List(_) => Unexpected::Seq,
            Plain::Table(_) => Unexpected::Map,
        };
        ReadError::invalid_type(found, expected).within(&self.span)
    }

    fn text(self, expected: &dyn Expected) -> Result<String, ReadError> {
        match self.value {
            Plain::Text(text) | Plain::Key(text) => Ok(text),
            _ => Err(self.wrong(expected)),
        }
    }

    fn entries(self, expected: &dyn Expected) -> Result<Entries, ReadError> {
        match self.value {
            Plain::Table(rest) => Ok(Entries { rest, key: None, value: None }),
            _ => Err(self.wrong(expected)),
        }
    }

    fn items(self, expected: &dyn Expected) -> Result<Items, ReadError> {
        match self.value {
            Plain::List(rest) => Ok(Items { rest }),
            _ => Err(self.wrong(expected)),
        }
    }

    /// A number where one is named by a key.
    fn unquoted(self) -> Result<Self, ReadError> {
        match self.value {
            Plain::Key(key) => match key.parse() {
                Ok(whole) => Ok(Self { value: Plain::Whole(whole), span: self.span }),
                Err(_) => Err(ReadError::custom(format!("`{key}` is no whole number")).within(&self.span)),
            },
            _ => Ok(self),
        }
    }

    /// The variant that is named, and what stands with it.
    fn variant(self, expected: &dyn Expected) -> Result<Variant, ReadError> {
        let Self { value, span } = self;
        match value {
            Plain::Text(name) | Plain::Key(name) => Ok(Variant { name, inside: None, span }),
            Plain::Table(mut entries) if entries.len() == 1 => match entries.next() {
                Some((Self { value: Plain::Key(name), span }, value)) => {
                    Ok(Variant { name, inside: Some(value), span })
                }
                _ => Err(ReadError::custom("a key is expected").within(&span)),
            },
            Plain::Table(entries) => {
                let count = entries.len();
                let why = format!("one key is expected here, the name of what is meant; there are {count}");
                Err(ReadError::custom(why).within(&span))
            }
            value => Err(Self { value, span }.wrong(expected)),
        }
    }
}

macro_rules! whole_numbers {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            let node = self.unquoted()?;
            match node.value {
                Plain::Whole(whole) => visitor.visit_i64(whole),
                Plain::Large(whole) => visitor.visit_u64(whole),
                _ => Err(node.wrong(&visitor)),
            }
        })*
    };
}

macro_rules! texts {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            let text = self.text(&visitor)?;
            visitor.visit_string(text)
        })*
    };
}

impl<'de> Deserializer<'de> for Node {
    type Error = ReadError;

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Plain::Text(text) | Plain::Key(text) => visitor.visit_string(text),
            Plain::Whole(whole) => visitor.visit_i64(whole),
            Plain::Large(whole) => visitor.visit_u64(whole),
            Plain::Number(number) => visitor.visit_f64(number),
            Plain::Flag(flag) => visitor.visit_bool(flag),
            Plain::Date | Plain::Overflow => Err(self.wrong(&visitor)),
            Plain::List(_) => visitor.visit_seq(self.items(&"")?),
            Plain::Table(_) => visitor.visit_map(self.entries(&"")?),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Plain::Flag(flag) => visitor.visit_bool(flag),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Plain::Number(number) => visitor.visit_f64(number),
            Plain::Whole(whole) => visitor.visit_i64(whole),
            _ => Err(self.wrong(&visitor)),
        }
    }

    /// Nothing stands for "none" but that a key is absent.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let items = self.items(&visitor)?;
        visitor.visit_seq(items)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let entries = self.entries(&visitor)?;
        visitor.visit_map(entries)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let variant = self.variant(&visitor)?;
        visitor.visit_enum(variant)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { bytes byte_buf unit unit_struct tuple_struct }
}

/// The entries of a table.
struct Entries {
    rest: vec::IntoIter<(Node, Node)>,
    /// Of the entry whose value comes next.
    key: Option<String>,
    value: Option<Node>,
}

impl Entries {
    fn next_key(&mut self) -> Option<Node> {
        let (key, value) = self.rest.next()?;
        if let Plain::Key(name) = &key.value {
            self.key = Some(name.clone());
        }
        self.value = Some(value);
        Some(key)
    }

    fn next_value(&mut self) -> Result<Node, ReadError> {
        self.value.take().ok_or_else(|| ReadError::custom("a value was asked for before its key"))
    }

    #[cold]
    fn placed(&mut self, error: ReadError, span: &Option<Range<usize>>) -> ReadError {
        error.within(span).below(self.key.take().unwrap_or_default())
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        let Some(key) = self.next_key() else { return Ok(None) };
        let span = key.span.clone();
        match seed.deserialize(key) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error.within(&span)),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let value = self.next_value()?;
        let span = value.span.clone();
        match seed.deserialize(value) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.placed(error, &span)),
        }
    }
}

/// The items of a list.
struct Items {
    rest: vec::IntoIter<Node>,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let span = item.span.clone();
        match seed.deserialize(item) {
            Ok(item) => Ok(Some(item)),
            Err(error) => Err(error.within(&span)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// One of several shapes, by name, with what stands beside the name.
struct Variant {
    name: String,
    inside: Option<Node>,
    /// Where the name stands in the file.
    span: Option<Range<usize>>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = ReadError;
    type Variant = Inside;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Inside), ReadError> {
        let name: StrDeserializer<'_, ReadError> = self.name.as_str().into_deserializer();
        match seed.deserialize(name) {
            Ok(variant) => Ok((variant, Inside(self.inside))),
            Err(error) => Err(error.within(&self.span)),
        }
    }
}

/// What stands beside the name of a variant.
struct Inside(Option<Node>);

impl Inside {
    /// What a variant needs and a name alone does not have.
    fn needed(self, expected: &dyn Expected) -> Result<Node, ReadError> {
        self.0.ok_or_else(|| ReadError::invalid_type(Unexpected::UnitVariant, expected))
    }
}

/// Keys that a variant does not have would otherwise be left out in silence.
fn known(node: &Node, fields: &'static [&'static str]) -> Result<(), ReadError> {
    let Plain::Table(entries) = &node.value else { return Ok(()) };
    let unknown = entries.as_slice().iter().find_map(|(key, _)| match &key.value {
        Plain::Key(name) if !fields.contains(&name.as_str()) => Some((name, &key.span)),
        _ => None,
    });
    unknown.map_or(Ok(()), |(name, span)| Err(ReadError::unknown_field(name, fields).within(span)))
}

impl<'de> VariantAccess<'de> for Inside {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match self.0 {
            None => Ok(()),
            Some(Node { value: Plain::Table(entries), .. }) if entries.len() == 0 => Ok(()),
            Some(node) => Err(node.wrong(&"a name alone")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        let node = self.needed(&"newtype variant")?;
        let span = node.span.clone();
        match seed.deserialize(node) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.within(&span)),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.needed(&"tuple variant")?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let node = self.needed(&"struct variant")?;
        known(&node, fields)?;
        let span = node.span.clone();
        match node.deserialize_map(visitor) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.within(&span)),
        }
    }
}
