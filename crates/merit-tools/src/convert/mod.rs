//! Units for agents: a quantity in one unit, asked for in another, exact where the numbers are.
//!
//! In: `{"value": 12.5, "from": "km", "to": "mi"}` or `12.5 km to mi`. Out: the quantity in the other unit, with `=` where the
//! printed decimal is exact and `≈` where it is rounded to 15 digits. Factors are exact fractions, with powers of π kept
//! apart, so nothing is rounded before it is printed. Compound units use `*`, `/`, `^` and parentheses. The table of units is merit-maths'.

mod expression;
mod factor;
mod find;
mod number;
mod request;

use crate::excerpt::refused;
use crate::{Tool, ToolAnswer, ToolError, ToolSession, ToolSettings, ToolSpec, pure};
use expression::Compound;
use merit_core::registry::Component;
use merit_core::{About, Task};
use number::Shown;
use request::Request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// Longest input, in bytes.
const MAX_LENGTH: usize = 400;

/// What the registry says of it.
const ABOUT: About = About {
    name: "convert",
    summary: "A quantity in another unit, exactly: length, mass, time, energy, data and more.",
    paper: "CoSineVerifier, 2025",
};

static CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {
            "value": { "type": ["number", "string"], "description": "how many; a text keeps all digits" },
            "from": { "type": "string", "description": "the unit it is in, such as km, lb*ft/s^2 or degC" },
            "to": { "type": "string", "description": "the unit that is wanted" },
        },
        "required": ["value", "from", "to"],
        "additionalProperties": false,
    });
    ToolSpec::json(ABOUT.name, ABOUT.summary, schema, &json!({ "value": 12.5, "from": "km", "to": "mi" }))
});

/// `convert`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertConfig {}

impl Component for ConvertConfig {
    const ABOUT: About = ABOUT;
}

impl ToolSettings for ConvertConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Converter)])
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Converter;

impl Tool for Converter {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, _task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        pure::open(ABOUT.name, state, |input| convert(input).map_or_else(refused, ToolAnswer::Ok))
    }
}

/// A conversion as the tool writes it, or in words why there is none.
///
/// ```
/// use merit_tools::convert;
/// assert_eq!(convert("1 mi to km").unwrap(), "1 mi = 1.609344 km");
/// assert_eq!(convert(r#"{"value": 25, "from": "degC", "to": "degF"}"#).unwrap(), "25 degC = 77 degF");
/// assert_eq!(convert("1 km to kg").unwrap_err(), "km is a length, but kg is a mass");
/// ```
pub fn convert(input: &str) -> Result<String, String> {
    if input.len() > MAX_LENGTH {
        return Err(format!("too long: at most {MAX_LENGTH} bytes"));
    }
    let Request { value, from, to } = request::read(input)?;
    let amount = number::read(&value)?;
    let (source, target) = (Compound::read(&from)?, Compound::read(&to)?);
    if source.dimension != target.dimension {
        return Err(format!("{from} is {}, but {to} is {}", source.dimension, target.dimension));
    }
    let result = source.base(amount).and_then(|base| target.of_base(base))?;
    let Shown { number, note } = number::show(&result)?;
    Ok(format!("{value} {from} {number} {to}{note}"))
}
