//! Named numbers that an environment knows to be true after a step.
//!
//! Every step of every world makes one, mostly of a dozen names that are written in the world's source. So names that are known
//! beforehand are borrowed, and all of them stand in one list in the order of their names: the order in which they are written down.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Named numbers that an environment knows to be true after a step: progress, distance, evidence found. Recorded, never shown
/// to the policy.
///
/// ```
/// use merit_core::Info;
/// let mut info = Info::from([("steps", 3.0), ("progress", 0.5)]);
/// info.insert("steps", 4.0);
/// assert_eq!((info.get("steps"), info["progress"], info.get("distance")), (Some(&4.0), 0.5, None));
/// assert_eq!(info.keys().collect::<Vec<_>>(), ["progress", "steps"]);
/// ```
#[derive(Clone, PartialEq, Default)]
pub struct Info(Vec<Entry>);

/// A name and its number.
type Entry = (Cow<'static, str>, f64);

impl Info {
    /// No numbers.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of this name.
    pub fn get(&self, name: &str) -> Option<&f64> {
        self.0.iter().find(|entry| entry.0 == name).map(|entry| &entry.1)
    }

    /// Whether there is a number of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Keeps a number under a name, and returns the one that it replaces.
    pub fn insert(&mut self, name: impl Into<Cow<'static, str>>, value: f64) -> Option<f64> {
        let name = name.into();
        match self.0.binary_search_by(|entry| entry.0.cmp(&name)) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (name, value));
                None
            }
        }
    }

    /// Names and numbers, in the order of the names.
    pub fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// The names in ascending order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.0.as_ref())
    }

    /// The numbers, in the order of their names.
    pub fn values(&self) -> impl Iterator<Item = &f64> {
        self.0.iter().map(|entry| &entry.1)
    }
}

/// The order of strings. Most names differ in their first byte.
fn in_order(a: &str, b: &str) -> Ordering {
    a.as_bytes().first().cmp(&b.as_bytes().first()).then_with(|| a.cmp(b))
}

impl fmt::Debug for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl std::ops::Index<&str> for Info {
    type Output = f64;

    fn index(&self, name: &str) -> &f64 {
        self.get(name).expect("no number of this name")
    }
}

impl<N: Into<Cow<'static, str>>> Extend<(N, f64)> for Info {
    /// Of several numbers of one name the last is kept.
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, numbers: I) {
        self.0.extend(numbers.into_iter().map(|(name, value)| (name.into(), value)));
        self.0.sort_by(|a, b| in_order(&a.0, &b.0));
        self.0.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
    }
}

impl<N: Into<Cow<'static, str>>> FromIterator<(N, f64)> for Info {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(numbers: I) -> Self {
        let mut info = Self::new();
        info.extend(numbers);
        info
    }
}

impl<N: Into<Cow<'static, str>>, const COUNT: usize> From<[(N, f64); COUNT]> for Info {
    fn from(numbers: [(N, f64); COUNT]) -> Self {
        numbers.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Info {
    type Item = (&'a str, &'a f64);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, Entry>, fn(&'a Entry) -> (&'a str, &'a f64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|entry| (entry.0.as_ref(), &entry.1))
    }
}

impl Serialize for Info {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de> Deserialize<'de> for Info {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;

        impl<'de> Visitor<'de> for Numbers {
            type Value = Info;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Info, A::Error> {
                let mut info = Info::new();
                while let Some((name, value)) = map.next_entry::<String, f64>()? {
                    info.insert(name, value);
                }
                Ok(info)
            }
        }

        deserializer.deserialize_map(Numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::Info;

    #[test]
    fn it_is_written_and_read_as_a_map_in_the_order_of_names() {
        let info = Info::from([("read", 1.0), ("good", 0.25), ("Big", -3.0), ("goods", 2.0)]);
        let text = r#"{"Big":-3.0,"good":0.25,"goods":2.0,"read":1.0}"#;
        assert_eq!(serde_json::to_string(&info).unwrap(), text);
        assert_eq!(serde_json::from_str::<Info>(text).unwrap(), info);
        assert_eq!(format!("{info:?}"), r#"{"Big": -3.0, "good": 0.25, "goods": 2.0, "read": 1.0}"#);
    }

    #[test]
    fn of_several_numbers_of_one_name_the_last_is_kept() {
        let mut info = Info::from([("b", 1.0), ("a", 2.0), ("b", 3.0)]);
        info.extend([("a".to_owned(), 4.0), ("c".to_owned(), 5.0)]);
        assert_eq!(info, Info::from([("a", 4.0), ("b", 3.0), ("c", 5.0)]));
        assert_eq!(serde_json::from_str::<Info>(r#"{"b":1,"a":2,"b":3}"#).unwrap()["b"], 3.0);
        assert_eq!((info.insert("b", 6.0), info.insert("d", 7.0), info.len()), (Some(3.0), None, 4));
    }
}
