//! The tool that asks the table of a task in a small piece of SQL: `price<40` names what costs less than 40.

use merit_api::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, no_state};
use merit_core::Task;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

const NAME: &str = "sql";
const REFUSED: &str = "say price, one of < > =, and a number";

static CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let summary = "The items whose price fits a condition, in the order of the alphabet.";
    ToolSpec::text(NAME, summary, "condition", "price, one of < > =, and a number", "price<40")
});

/// What the condition names; the error is what the agent is told.
pub(super) fn asked(table: &BTreeMap<String, i64>, condition: &str) -> Result<String, &'static str> {
    let rest = condition.trim().strip_prefix("price").ok_or(REFUSED)?.trim_start();
    let (sign, number) = rest.split_at_checked(1).ok_or(REFUSED)?;
    let number: i64 = number.trim().parse().map_err(|_| REFUSED)?;
    let fits = |price: i64| match sign {
        "<" => Some(price < number),
        ">" => Some(price > number),
        "=" => Some(price == number),
        _ => None,
    };
    let mut names = Vec::new();
    for (name, price) in table {
        if fits(*price).ok_or(REFUSED)? {
            names.push(name.as_str());
        }
    }
    Ok(if names.is_empty() { "none".to_owned() } else { names.join(" ") })
}

/// What costs less than a price.
pub(super) fn under(table: &BTreeMap<String, i64>, price: i64) -> String {
    asked(table, &format!("price<{price}")).unwrap_or_default()
}

pub(super) struct Sql;

struct Session {
    table: BTreeMap<String, i64>,
}

impl Tool for Sql {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state(NAME, state)?;
        let table = task.payload.get("table").cloned().unwrap_or_default();
        let table = serde_json::from_value(table).map_err(|error| ToolError::Task {
            tool: NAME.to_owned(),
            task: task.id.clone(),
            why: format!("its `table`: {error}"),
        })?;
        Ok(Arc::new(Session { table }))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let answer = match asked(&self.table, &input) {
            Ok(names) => ToolAnswer::Ok(names),
            Err(why) => ToolAnswer::Refused(why.to_owned()),
        };
        Box::pin(std::future::ready(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_api::conformance::{check_tool, example_task};

    #[test]
    fn the_tool_keeps_the_contract_and_names_what_fits() {
        assert_eq!(check_tool(&Sql, &example_task()), Vec::<String>::new());
        let table = BTreeMap::from([("pen".to_owned(), 12), ("mug".to_owned(), 47), ("cup".to_owned(), 15)]);
        assert_eq!(asked(&table, "price<40").as_deref(), Ok("cup pen"));
        assert_eq!(asked(&table, " price > 12 ").as_deref(), Ok("cup mug"));
        assert_eq!(asked(&table, "price=9").as_deref(), Ok("none"));
        for odd in ["price", "price<", "price~4", "cost<4", "price<4x", "price\u{e9}4"] {
            assert_eq!(asked(&table, odd), Err(REFUSED), "{odd}");
        }
    }
}
