//! What was asked: JSON with `value`, `from` and `to`, or a line such as `12.5 km to mi`.

use serde::Deserialize;
use serde_json::{Number, Value};

const FORM: &str = "write it as in 12.5 km to mi";

/// A value as it was written, and two units.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) value: String,
    pub(super) from: String,
    pub(super) to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    value: Amount,
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`value` must be a number or a text")]
enum Amount {
    Number(Number),
    Text(String),
}

pub(super) fn read(input: &str) -> Result<Request, String> {
    let input = input.trim();
    if input.starts_with('{') {
        let wire: Wire = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let value = match wire.value {
            Amount::Number(number) => Value::Number(number).to_string(),
            Amount::Text(text) => text.trim().to_owned(),
        };
        return Ok(Request { value, from: unit(&wire.from), to: unit(&wire.to) });
    }
    let (quantity, to) = ["->", "→", " to "].iter().find_map(|word| input.split_once(word)).ok_or(FORM)?;
    let quantity = quantity.trim();
    let end = number_end(quantity);
    let (value, from) = quantity.split_at_checked(end).ok_or(FORM)?;
    if value.is_empty() {
        return Err(format!("a number must come first: {FORM}"));
    }
    Ok(Request { value: value.trim().to_owned(), from: unit(from), to: unit(to) })
}

/// A unit with its names of several words (`fl oz`) as the table has them (`fl_oz`).
fn unit(text: &str) -> String {
    let text = text.trim().to_owned();
    if !text.contains(' ') {
        return text;
    }
    let several = merit_maths::units::words().filter(|word| word.contains('_'));
    several.fold(text, |text, word| text.replace(&word.replace('_', " "), word))
}

/// Where the number at the beginning ends. An `e` belongs to it only before digits: `5 eV` is five of a unit.
fn number_end(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let sign = matches!(c, '+' | '-') && at == 0;
        if sign || c.is_ascii_digit() || matches!(c, '.' | ',') {
            end = at + 1;
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let digits = rest.trim_start_matches(['+', '-']);
        if matches!(c, 'e' | 'E') && end == at && digits.starts_with(|c: char| c.is_ascii_digit()) {
            let skipped = rest.len() - digits.len();
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            return at + 1 + skipped + length;
        }
        break;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, want: (&str, &str, &str)) {
        let got = read(input).unwrap();
        assert_eq!((got.value.as_str(), got.from.as_str(), got.to.as_str()), want, "{input}");
    }

    #[test]
    fn lines_and_json_say_the_same() {
        check("12.5 km to mi", ("12.5", "km", "mi"));
        check("12.5km -> mi", ("12.5", "km", "mi"));
        check(r#"{"to":"mi","from":"km","value":12.5}"#, ("12.5", "km", "mi"));
        check(r#"{"to":"mi","from":"km","value":"12.50"}"#, ("12.50", "km", "mi"));
        check("-40 °C → °F", ("-40", "°C", "°F"));
        check("1e3 m to km", ("1e3", "m", "km"));
        check("1.5E-3m to mm", ("1.5E-3", "m", "mm"));
        check("5eV to J", ("5", "eV", "J"));
        check("5 eV to J", ("5", "eV", "J"));
        check("1 in to cm", ("1", "in", "cm"));
        check("2 fl oz to mL", ("2", "fl_oz", "mL"));
        check("2 fluid ounces to mL", ("2", "fluid_ounces", "mL"));
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(read("km to mi").unwrap_err(), "a number must come first: write it as in 12.5 km to mi");
        assert_eq!(read("12.5 km").unwrap_err(), "write it as in 12.5 km to mi");
        assert!(read(r#"{"value":1,"from":"km"}"#).unwrap_err().contains("`to`"));
        assert!(read(r#"{"value":[1],"from":"km","to":"m"}"#).unwrap_err().contains("number or a text"));
    }
}
