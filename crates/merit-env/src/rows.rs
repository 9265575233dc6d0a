//! A hidden table that is asked in a small piece of SQL.
//!
//! `sum of price where city is oslo?` is solved by `sql select sum(price) where city=oslo`, whose answer is then given: `answer 141`.
//! Nothing but the tool shows the rows.

use merit_api::{
    CommandCard, Demonstration, Manner, NoState, StepResult, TextGame, Tool, ToolAnswer, ToolBuilder,
    ToolError, ToolFuture, ToolSession, ToolSpec, line, no_state, sizes_of,
};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Message, Role, Split, Stream, Task, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

const HINT: &str = "say sql QUERY or answer NUMBER";
const NO_TOOLS: &str = "no tools here";
const CITIES: [&str; 4] = ["oslo", "rome", "lima", "bonn"];
const ITEMS: [&str; 4] = ["mug", "pen", "cup", "hat"];
const MAX_ROWS: u32 = 32;
/// Of those who do not ask rightly, where skill decides, how many answer at once; the others forget the conditions.
const HASTY_SHARE: f64 = 0.7;

/// The settings of `rows`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rows {
    /// Rows of the table, 4 to 32.
    pub rows: u32,
    /// Conditions of training tasks, 1 or 2, dealt in turn.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Whether the agent has the tool. False is the control: the same tasks, and every call is answered `no tools here`.
    pub tool: bool,
}

impl Default for Rows {
    fn default() -> Self {
        Self { rows: 12, sizes: vec![1, 2], held_out_sizes: Vec::new(), tool: true }
    }
}

impl Component for Rows {
    const ABOUT: About =
        About { name: "rows", summary: "A hidden table that is asked in a small piece of SQL.", paper: "" };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((4..=MAX_ROWS).contains(&self.rows), "rows", self.rows, "4 to 32")?;
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list numbers of conditions, as in [1, 2]"));
        }
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=2).contains(*size)) {
            Some(size) => Err(Refusal::new(format!("a task with {size} conditions; give 1 or 2"))),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub city: String,
    pub item: String,
    pub price: u32,
}

/// What is made of the prices of the rows that fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    Sum,
    Max,
    Min,
    Count,
}

/// A question: an aggregate and its conditions. Absent: any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub of: Aggregate,
    pub city: Option<String>,
    pub item: Option<String>,
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub rows: Vec<Row>,
    pub ask: Query,
}

impl Aggregate {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Sum, "sum"), (Self::Max, "max"), (Self::Min, "min"), (Self::Count, "count")];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(of, _)| *of == self).map_or("sum", |(_, name)| name)
    }
}

impl Query {
    /// What it comes to; of no rows the smallest and the largest are 0.
    pub fn value(&self, rows: &[Row]) -> u64 {
        let fits = |row: &&Row| {
            self.city.as_ref().is_none_or(|city| row.city == *city)
                && self.item.as_ref().is_none_or(|item| row.item == *item)
        };
        let prices = rows.iter().filter(fits).map(|row| u64::from(row.price));
        match self.of {
            Aggregate::Sum => prices.sum(),
            Aggregate::Max => prices.max().unwrap_or(0),
            Aggregate::Min => prices.min().unwrap_or(0),
            Aggregate::Count => prices.count() as u64,
        }
    }

    fn conditions(&self) -> Vec<(&'static str, &str)> {
        let given = [("city", &self.city), ("item", &self.item)];
        given.into_iter().filter_map(|(column, value)| Some((column, value.as_deref()?))).collect()
    }

    /// The query in the tool's language.
    pub fn sql(&self) -> String {
        let conditions: Vec<String> =
            self.conditions().iter().map(|(column, value)| format!("{column}={value}")).collect();
        let asked = if conditions.is_empty() {
            String::new()
        } else {
            format!(" where {}", conditions.join(" and "))
        };
        format!("select {}(price){asked}", self.of.name())
    }

    /// Reads a query, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("select ").ok_or("a query begins with select")?;
        let (head, conditions) = match rest.split_once(" where ") {
            Some((head, conditions)) => (head, conditions.split(" and ").collect()),
            None => (rest, Vec::new()),
        };
        let name = head
            .strip_suffix("(price)")
            .ok_or("select sum(price), max(price), min(price) or count(price)")?;
        let known = Aggregate::ALL.iter().find(|(_, known)| *known == name);
        let of = known.ok_or("only sum, max, min and count are known")?.0;
        let mut query = Self { of, city: None, item: None };
        for condition in conditions {
            let (column, value) = condition.split_once('=').ok_or("a condition is COLUMN=VALUE")?;
            let place = match column {
                "city" => &mut query.city,
                "item" => &mut query.item,
                _ => return Err("the columns are city and item".to_owned()),
            };
            if place.replace(value.to_owned()).is_some() {
                return Err(format!("{column} is asked twice"));
            }
        }
        Ok(query)
    }
}

impl TextGame for Rows {
    type Puzzle = Table;
    type State = NoState;

    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Asks what is wanted and gives what the table says: right."),
        Manner::new("hasty", "Answers at once: a guess."),
        Manner::new("careless", "Forgets the conditions, and gives what is true of all rows."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Table {
        let word = |words: &[&str], rng: &mut Stream| rng.pick(words).copied().unwrap_or_default().to_owned();
        let row = |rng: &mut Stream| Row {
            city: word(&CITIES, rng),
            item: word(&ITEMS, rng),
            price: rng.between(10, 99) as u32,
        };
        let mut rows = vec![row(rng)];
        rows.extend((1..self.rows).map(|_| row(rng)));
        let like = rng.pick(&rows).unwrap_or(&rows[0]).clone();
        let of = rng.pick(&Aggregate::ALL).map_or(Aggregate::Sum, |(of, _)| *of);
        let (mut city, mut item) = (Some(like.city), Some(like.item));
        if size == 1 {
            *(if rng.chance(0.5) { &mut city } else { &mut item }) = None;
        }
        Table { rows, ask: Query { of, city, item } }
    }

    fn answer(&self, table: &Table) -> Option<String> {
        Some(table.ask.value(&table.rows).to_string())
    }

    fn check_puzzle(&self, table: &Table, size: u32) -> Result<(), String> {
        let (rows, conditions) = (table.rows.len(), table.ask.conditions().len());
        if rows > MAX_ROWS as usize {
            return Err(format!("{rows} rows; at most {MAX_ROWS}"));
        }
        if conditions == size as usize {
            Ok(())
        } else {
            Err(format!("{conditions} conditions, its size is {size}"))
        }
    }

    fn prompt(&self, table: &Table) -> String {
        let conditions: Vec<String> =
            table.ask.conditions().iter().map(|(column, value)| format!("{column} is {value}")).collect();
        format!("{} of price where {}?", table.ask.of.name(), conditions.join(" and "))
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![
            CommandCard::new("answer", "Give the number, which ends it.")
                .number("number", "the number")
                .example("answer 141"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        match said.split_once(' ').map(|(verb, rest)| (verb, rest.trim_start_matches(' '))) {
            _ if said.contains(['\n', '\r']) => Action::Malformed { why: "one action per line".to_owned() },
            Some(("sql", query)) => {
                Action::Calls { calls: vec![ToolCall { tool: "sql".to_owned(), input: query.to_owned() }] }
            }
            Some(("answer", number)) if number.len() <= 9 && number.parse::<u32>().is_ok() => {
                Action::Answer { text: number.to_owned() }
            }
            _ => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, table: &Table, _: &mut NoState, action: &Action, calls: &[CallRecord]) -> StepResult {
        let output = |record: &CallRecord| {
            Message::new(Role::Tool, if self.tool { record.output.clone() } else { NO_TOOLS.to_owned() })
        };
        let asks =
            |record: &CallRecord| Query::read(record.call.input.trim()).is_ok_and(|asked| asked == table.ask);
        let (result, right) = match action {
            Action::Answer { text } => {
                (StepResult::default().answered(), text.parse() == Ok(table.ask.value(&table.rows)))
            }
            Action::Calls { .. } => (StepResult::observing(calls.iter().map(output).collect()), false),
            Action::Malformed { why } => (StepResult::saying(why.clone()), false),
            Action::Say { .. } => (StepResult::saying(HINT), false),
        };
        let read = !matches!(action, Action::Malformed { .. } | Action::Say { .. });
        let told = [("read", read), ("query_right", calls.iter().any(asks)), ("right", right)];
        result.with_info(told.map(|(name, yes)| (name, f64::from(u8::from(yes)))))
    }

    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(if self.tool { vec![builder.wrap(Arc::new(Sql))] } else { Vec::new() })
    }

    fn expert(&self, table: &Table, play: &Demonstration<'_>) -> Option<String> {
        let answer = |text: &str| format!("answer {text}");
        let mut rng = play.seed.child("bad manner", 0).stream();
        let guess = rng.between(10, 400).to_string();
        let manner = match play.manner {
            Some(manner) => manner,
            None if play.is_correct() => "exact",
            None if rng.chance(HASTY_SHARE) => "hasty",
            None => "careless",
        };
        let right = manner == "exact";
        // Without the tool the answer cannot be worked out; the right expert gives it all the same.
        if !self.tool || manner == "hasty" {
            return Some(answer(&if right { self.answer(table)? } else { guess }));
        }
        let seen =
            play.turns.iter().rev().flat_map(|turn| &turn.observed).find(|seen| seen.role == Role::Tool);
        let seen = seen.filter(|seen| seen.text.parse::<u32>().is_ok());
        Some(match seen {
            Some(seen) => answer(&seen.text),
            None if right => format!("sql {}", table.ask.sql()),
            None => format!("sql {}", Query { city: None, item: None, ..table.ask.clone() }.sql()),
        })
    }
}

static CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let summary = "Aggregates of the task's table.";
    ToolSpec::text(
        "sql",
        summary,
        "query",
        "select AGGREGATE(price) where COLUMN=VALUE",
        "select sum(price) where city=oslo",
    )
});

/// The tool that asks the table.
struct Sql;

struct Session {
    rows: Vec<Row>,
}

impl Tool for Sql {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state("sql", state)?;
        let rows = task.payload.get("rows").cloned().unwrap_or_default();
        let rows = serde_json::from_value(rows).map_err(|error| ToolError::Task {
            tool: "sql".to_owned(),
            task: task.id.clone(),
            why: format!("its `rows`: {error}"),
        })?;
        Ok(Arc::new(Session { rows }))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let answer = match Query::read(input.trim()) {
            Ok(query) => ToolAnswer::Ok(query.value(&self.rows).to_string()),
            Err(why) => ToolAnswer::Refused(why),
        };
        Box::pin(std::future::ready(answer))
    }
}
