//! What a program is tried on.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One test. In a file: a text is [`Test::Asserts`]; a table says its `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Test {
    /// Statements that use the program's names.
    Asserts(Asserts),
    /// A call and its result.
    Call(Call),
    /// What the program prints, run as a script.
    Stdin(StdinTest),
}

/// Python statements. The program's names are there; so are they from `solution` (`import solution`, `from solution import
/// f`). What the statements define is run: functions and classes called `test…` as pytest runs them (`raises`, `approx`,
/// `parametrize`, fixtures, `capsys`, `monkeypatch`, `tmp_path`), `unittest` classes, and `check(candidate)`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asserts {
    /// The statements. The test passes where none raises.
    pub asserts: String,
    /// Statements run before, which need nothing of the program: imports, helpers.
    #[serde(default)]
    pub setup: String,
    /// What `check(candidate)` is given, `f` or `Solution().f`. Its first name is the program's even where Python has one of
    /// that name. Absent: the verifier's.
    #[serde(default)]
    pub entry_point: Option<String>,
    /// Names, besides those with a capital, whose calls build objects that the test may give data to.
    #[serde(default)]
    pub builders: Vec<String>,
    /// When containers given to the program are brought up to date.
    #[serde(default)]
    pub write_back: WriteBack,
}

/// When containers given to the program as arguments are brought up to date with what it did to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBack {
    /// After every call, as Python does it; after those that return nothing where a program that empties its arguments
    /// would otherwise pass.
    #[default]
    Auto,
    /// After calls that return nothing.
    NoneReturned,
    /// After every call. Expected values must not be made from the arguments after the call.
    Always,
    Never,
}

/// A call and its result. Values are JSON's; `{"$python": "…"}` holds a Python literal where JSON has none: `(1, 2)`, `{3}`,
/// `b"x"`, an integer beyond 64 bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// What is called: `f`, or `Solution().f`.
    pub function: String,
    /// The arguments of the call, as JSON values.
    #[serde(default)]
    pub args: Vec<Value>,
    /// Its keyword arguments.
    #[serde(default)]
    pub kwargs: Map<String, Value>,
    /// What it should return.
    pub result: Value,
    /// Which types count as the same.
    #[serde(default)]
    pub types: Types,
    /// Numbers with a point may differ by this much, relative to the larger of 1 and the expected one. Absent: not at all.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// The result is what the first argument has become.
    #[serde(default)]
    pub in_place: bool,
}

/// Which types count as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Types {
    /// Only the same: 1, 1.0 and True are three things, and a tuple is no list.
    #[default]
    Exact,
    /// 1 and 1.0 are the same number; True is none.
    Numbers,
    /// As `numbers`, and a tuple is a list.
    Json,
}

/// What the program prints on some input, run as `__main__`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StdinTest {
    /// The text that the program reads from its standard input.
    #[serde(default)]
    pub stdin: String,
    /// What it should print.
    pub stdout: String,
    /// What counts as the same.
    #[serde(default)]
    pub compare: Compare,
}

/// What counts as the same output.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Every character must be the same.
    Exact,
    /// The lines, without white space at their ends and empty lines at the end.
    #[default]
    Lines,
    /// The words between white space.
    Tokens,
    /// As `tokens`; words that are numbers may differ by this much, relative to the larger of 1 and the expected one.
    Numbers(f64),
}

impl<'de> Deserialize<'de> for Test {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TestVisitor)
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Table {
    Asserts(Asserts),
    Call(Call),
    Stdin(StdinTest),
}

struct TestVisitor;

impl<'de> Visitor<'de> for TestVisitor {
    type Value = Test;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a test: Python statements, or a table with `type` asserts, call or stdin")
    }

    fn visit_str<E>(self, text: &str) -> Result<Test, E> {
        Ok(Test::Asserts(Asserts { asserts: text.to_owned(), ..Asserts::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Test, A::Error> {
        Ok(match Table::deserialize(MapAccessDeserializer::new(map))? {
            Table::Asserts(test) => Test::Asserts(test),
            Table::Call(test) => Test::Call(test),
            Table::Stdin(test) => Test::Stdin(test),
        })
    }
}

impl Test {
    /// What is wrong with it before anything runs.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Asserts(test) if test.asserts.trim().is_empty() => Err("it has no statements".to_owned()),
            Self::Asserts(Asserts { entry_point: Some(path), .. }) => check_path("entry_point", path),
            Self::Asserts(_) => Ok(()),
            Self::Call(test) => {
                check_path("function", &test.function)?;
                check_tolerance(test.tolerance)?;
                if test.in_place && test.args.is_empty() {
                    return Err("`in_place` judges the first argument, and there is none".to_owned());
                }
                Ok(())
            }
            Self::Stdin(test) => check_tolerance(match test.compare {
                Compare::Numbers(tolerance) => Some(tolerance),
                _ => None,
            }),
        }
    }
}

fn check_tolerance(tolerance: Option<f64>) -> Result<(), String> {
    match tolerance {
        Some(value) if !(value.is_finite() && value >= 0.0) => {
            Err(format!("a tolerance of {value}: it must be a number from 0 up"))
        }
        _ => Ok(()),
    }
}

/// Refuses what is neither `f` nor `Solution().f`.
pub(super) fn check_path(field: &str, path: &str) -> Result<(), String> {
    let is_name = |part: &str| {
        part.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let parts: Vec<&str> = path.split("().").collect();
    if parts.len() <= 2 && path.len() <= 200 && parts.iter().all(|part| is_name(part)) {
        return Ok(());
    }
    Err(format!("`{field}` is `{path}`; give a function, `f`, or a method of a fresh object, `Solution().f`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn a_text_is_asserts_and_a_table_says_what_it_is() {
        let text: Test = from_value(json!("assert f(1) == 2")).expect("a text");
        let table: Test =
            from_value(json!({"type": "asserts", "asserts": "assert f(1) == 2"})).expect("a table");
        assert_eq!(text, table);
        let again: Test = from_value(serde_json::to_value(&text).expect("plain data")).expect("its own text");
        assert_eq!(text, again);
        let numbers = json!({"type": "stdin", "stdout": "1", "compare": {"numbers": 0.1}});
        assert!(matches!(
            from_value(numbers),
            Ok(Test::Stdin(StdinTest { compare: Compare::Numbers(_), .. }))
        ));
    }

    #[test]
    fn unknown_keys_and_types_are_refused_by_name() {
        for (test, why) in [
            (json!({"type": "asserts", "asserts": "x", "timeout": 1}), "`timeout`"),
            (json!({"type": "call", "function": "f", "result": 1, "arg": []}), "`arg`"),
            (json!({"type": "calls"}), "`calls`"),
            (json!({"asserts": "x"}), "`type`"),
            (json!(7), "a test"),
        ] {
            let said = from_value::<Test>(test.clone()).expect_err("refused").to_string();
            assert!(said.contains(why), "{test}: {said}");
        }
    }

    #[test]
    fn a_function_is_a_name_or_a_method_of_a_fresh_object() {
        for path in ["f", "Solution().f", "_é"] {
            assert_eq!(check_path("function", path), Ok(()));
        }
        for path in ["", "f()", "a.b", "f(1)", "A().b().c", "os.system", "1f", "f;g"] {
            let why = check_path("function", path).unwrap_err();
            assert!(why.starts_with(&format!("`function` is `{path}`; give a function")), "{why}");
        }
    }
}
