//! Rows of JSON as columns: what each column holds, and the values of rows with the levels that say where they stand.
//!
//! In: rows, twice: first all of them for [`Kind::over`], then those of a row group for [`Kind::shred`]. Out: for each leaf its
//! values, with a definition level (how much of its path is there) and a repetition level (in which list it goes on), as
//! Dremel and Parquet have them (Melnik et al., VLDB 2010). Everything may be absent, so that each name is one definition level and
//! each list one more. Pure.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// Nothing so far.
    Nothing,
    Bool,
    Int,
    Float,
    /// A text as it is; anything else as its JSON.
    Text,
    List(Box<Kind>),
    /// Names with what they hold, in the order in which they were first seen.
    Struct(Vec<(String, Kind)>),
}

/// A leaf under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Leaf {
    /// The values that are not absent; the levels count absent ones too.
    pub(crate) values: Vec<Value>,
    pub(crate) definition: Vec<i16>,
    pub(crate) repetition: Vec<i16>,
}

/// Where in a row a value stands.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    definition: i16,
    repetition: i16,
    /// Lists around it.
    lists: i16,
}

impl Kind {
    /// What holds everything that `self` holds, and this value.
    pub(crate) fn over(self, value: &Value) -> Self {
        match value {
            Value::Null => self,
            Value::Bool(_) => self.with(Self::Bool),
            Value::Number(number) if number.is_i64() => self.with(Self::Int),
            Value::Number(_) => self.with(Self::Float),
            Value::String(_) => self.with(Self::Text),
            Value::Array(items) => {
                let inner = match &self {
                    Self::List(inner) => (**inner).clone(),
                    _ => Self::Nothing,
                };
                self.with(Self::List(Box::new(items.iter().fold(inner, Self::over))))
            }
            Value::Object(map) => {
                let mut fields = match &self {
                    Self::Struct(fields) => fields.clone(),
                    _ => Vec::new(),
                };
                for (name, value) in map {
                    match fields.iter_mut().find(|(known, _)| known == name) {
                        Some((_, kind)) => *kind = std::mem::replace(kind, Self::Nothing).over(value),
                        None => fields.push((name.clone(), Self::Nothing.over(value))),
                    }
                }
                self.with(Self::Struct(fields))
            }
        }
    }

    /// The kind of both. What has nothing in common becomes text.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) => other,
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Self::Float,
            (Self::List(_), list @ Self::List(_)) => list,
            (Self::Struct(_), fields @ Self::Struct(_)) => fields,
            (one, other) if one == other => one,
            _ => Self::Text,
        }
    }

    /// The kind to write. Parquet has no struct without fields, and a column of nothing is one of texts that are absent.
    pub(crate) fn settled(self) -> Self {
        match self {
            Self::Nothing => Self::Text,
            Self::Struct(fields) if fields.is_empty() => Self::Text,
            Self::Struct(fields) => {
                Self::Struct(fields.into_iter().map(|(name, kind)| (name, kind.settled())).collect())
            }
            Self::List(inner) => Self::List(Box::new(inner.settled())),
            other => other,
        }
    }

    /// The leaves below, from left to right.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::List(inner) => inner.leaves(),
            Self::Struct(fields) => fields.iter().flat_map(|(_, kind)| kind.leaves()).collect(),
            leaf => vec![leaf],
        }
    }

    /// Adds a row to the leaves, one for each of [`Kind::leaves`]. The row itself is always there.
    pub(crate) fn shred(&self, row: &Value, leaves: &mut [Leaf]) {
        let Self::Struct(fields) = self else { return };
        shred_fields(fields, row, Level::default(), leaves);
    }
}

fn shred_fields(fields: &[(String, Kind)], value: &Value, level: Level, leaves: &mut [Leaf]) {
    let mut rest = leaves;
    for (name, kind) in fields {
        let (own, others) = rest.split_at_mut(kind.leaves().len());
        shred(kind, value.get(name), level, own);
        rest = others;
    }
}

fn shred(kind: &Kind, value: Option<&Value>, level: Level, leaves: &mut [Leaf]) {
    let Some(value) = value.filter(|value| !value.is_null()) else { return absent(level, leaves) };
    let here = Level { definition: level.definition + 1, ..level };
    match (kind, value) {
        (Kind::Struct(fields), Value::Object(_)) => shred_fields(fields, value, here, leaves),
        (Kind::List(_), Value::Array(items)) if items.is_empty() => absent(here, leaves),
        (Kind::List(inner), Value::Array(items)) => {
            let lists = level.lists + 1;
            for (at, item) in items.iter().enumerate() {
                let repetition = if at == 0 { level.repetition } else { lists };
                let inside = Level { definition: here.definition + 1, repetition, lists };
                shred(inner, Some(item), inside, leaves);
            }
        }
        _ => {
            for leaf in leaves {
                leaf.put(here);
                leaf.values.push(value.clone());
            }
        }
    }
}

fn absent(level: Level, leaves: &mut [Leaf]) {
    leaves.iter_mut().for_each(|leaf| leaf.put(level));
}

impl Leaf {
    fn put(&mut self, level: Level) {
        self.definition.push(level.definition);
        self.repetition.push(level.repetition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind(rows: &[Value]) -> Kind {
        rows.iter().fold(Kind::Nothing, Kind::over).settled()
    }

    #[test]
    fn what_has_nothing_in_common_becomes_text() {
        let kind = kind(&[json!({"a": 1, "b": true}), json!({"a": 1.5, "b": "x", "c": null, "d": {}})]);
        let Kind::Struct(fields) = kind else { panic!("rows are structs") };
        let kinds: Vec<(&str, &Kind)> = fields.iter().map(|(name, kind)| (name.as_str(), kind)).collect();
        let text = &Kind::Text;
        assert_eq!(kinds, [("a", &Kind::Float), ("b", text), ("c", text), ("d", text)]);
    }

    #[test]
    fn levels_say_where_a_value_stands() {
        let rows = [
            json!({"m": [{"r": "u", "c": ["x", "y"]}, {"r": "a"}]}),
            json!({"m": []}),
            json!({}),
            json!({"m": [{"r": null, "c": []}]}),
        ];
        let kind = kind(&rows);
        let mut leaves = vec![Leaf::default(); kind.leaves().len()];
        rows.iter().for_each(|row| kind.shred(row, &mut leaves));
        // The path of `r` is m (1), its item (2: in the list, 3: a struct), r (4); that of `c` is m, item, c (4), its item (5, 6).
        assert_eq!(leaves[0].definition, [4, 4, 1, 0, 3]);
        assert_eq!(leaves[0].repetition, [0, 1, 0, 0, 0]);
        assert_eq!(leaves[0].values, [json!("u"), json!("a")]);
        assert_eq!(leaves[1].definition, [6, 6, 3, 1, 0, 4]);
        assert_eq!(leaves[1].repetition, [0, 2, 1, 0, 0, 0]);
        assert_eq!(leaves[1].values, [json!("x"), json!("y")]);
    }
}
