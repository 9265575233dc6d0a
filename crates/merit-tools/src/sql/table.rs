//! A page of rows as text: names of columns, one line per row, and what is left out.
//!
//! A text that could be read as something else stands in quotes: `NULL` is no value, `'NULL'` is the text.

use crate::excerpt::head;
use merit_verify::sql::{Cell, Page};
use std::fmt::Write as _;

/// Longest value that is shown whole, in bytes.
const CELL_BYTES: usize = 300;
const BETWEEN: &str = " | ";

/// The table within `bytes` bytes, the last line apart.
pub(super) fn text(page: &Page, bytes: usize) -> String {
    let names: Vec<String> = page.table.columns.iter().map(|name| cut(&bare(name))).collect();
    let mut shown = head(&names.join(BETWEEN), bytes).to_owned();
    let mut rows = 0_usize;
    for row in &page.table.rows {
        let line: Vec<String> = row.iter().map(cell).collect();
        let line = line.join(BETWEEN);
        if shown.len() + 1 + line.len() > bytes {
            break;
        }
        shown.push('\n');
        shown.push_str(&line);
        rows += 1;
    }
    let hidden = page.more.saturating_add((page.table.rows.len() - rows) as u64);
    let least = if page.is_counted { "" } else { "at least " };
    let _ = match (page.table.rows.len(), hidden) {
        (0, _) => write!(shown, "\n(no rows)"),
        (_, 0) => Ok(()),
        (_, 1) => write!(shown, "\n… {least}1 more row"),
        (_, hidden) => write!(shown, "\n… {least}{hidden} more rows"),
    };
    shown
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Integer(n) => n.to_string(),
        Cell::Real(x) => format!("{x:?}"),
        Cell::Text(text) if is_plain(text) => cut(text),
        Cell::Text(text) => format!("'{}'", cut(&bare(text).replace('\'', "''"))),
        Cell::Blob { blob } => format!("x'{}'", cut(blob)),
    }
}

/// Whether a text cannot be taken for anything else.
fn is_plain(text: &str) -> bool {
    let edges = text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace);
    let marked = text.contains(['|', '\\', '…']) || text.contains(char::is_control);
    let quoted = text.starts_with(['\'', '(']) || text.starts_with("x'");
    let is_other = text.is_empty() || text.eq_ignore_ascii_case("null") || text.parse::<f64>().is_ok();
    !(edges || marked || quoted || is_other)
}

/// One line: control characters as `\n`, `\t` and the like.
fn bare(text: &str) -> String {
    let escape =
        |c: char| if c.is_control() || c == '\\' { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

fn cut(text: &str) -> String {
    if text.len() <= CELL_BYTES { text.to_owned() } else { format!("{}…", head(text, CELL_BYTES)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_verify::sql::Table;

    fn check(value: Cell, want: &str) {
        assert_eq!(cell(&value), want);
    }

    #[test]
    fn values_cannot_be_taken_for_others() {
        check(Cell::Null, "NULL");
        check(Cell::Text("NULL".into()), "'NULL'");
        check(Cell::Integer(12), "12");
        check(Cell::Text("12".into()), "'12'");
        check(Cell::Real(2.0), "2.0");
        check(Cell::Text("".into()), "''");
        check(Cell::Text("it's".into()), "it's");
        check(Cell::Text("a|'b\n".into()), r"'a|''b\n'");
        check(Cell::Text("2024-01-02".into()), "2024-01-02");
        check(Cell::Blob { blob: "00ff".into() }, "x'00ff'");
        check(Cell::Text("é".repeat(400)), &format!("{}…", "é".repeat(150)));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let rows = (0..10).map(|n| vec![Cell::Integer(n)]).collect();
        let page = Page { table: Table { columns: vec!["n".into()], rows }, more: 5, is_counted: true };
        assert_eq!(text(&page, 7), "n\n0\n1\n2\n… 12 more rows");
        assert!(
            text(&Page { is_counted: false, ..page.clone() }, 100).ends_with("\n9\n… at least 5 more rows")
        );
        let none = Page { table: Table { rows: Vec::new(), ..page.table }, more: 0, is_counted: true };
        assert_eq!(text(&none, 100), "n\n(no rows)");
    }
}
