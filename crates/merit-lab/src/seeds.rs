//! One recipe over several seeds, as a page: curves with every seed as a line, and a table.

use crate::page::page;
use crate::plot::{Series, curves_and_axes, plot};
use crate::scoreboard::number;
use merit_measure::html::{escape, table};
use merit_store::{RunFolder, StoreError};
use merit_studies::CellRecord;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The page of finished runs of one recipe. `text`: the table that is also printed.
pub fn seeds_page(name: &str, text: &str, runs: &[(u64, RunFolder)]) -> Result<String, StoreError> {
    let read = |(seed, folder): &(u64, RunFolder)| Ok((*seed, crate::recipe::record(folder)?));
    let records = runs.iter().map(read).collect::<Result<Vec<(u64, CellRecord)>, StoreError>>()?;
    let all: Vec<&CellRecord> = records.iter().map(|(_, record)| record).collect();
    let mut body = format!("<h1>{}</h1><p>{} seeds</p><pre>{}</pre>", escape(name), runs.len(), escape(text));
    let series = [Series { arm: name, colour: 0, records: all.clone() }];
    body.push_str("<div class=\"plots\">");
    for (curve, axes) in curves_and_axes(&all) {
        for svg in axes.iter().filter_map(|axis| plot(&curve, axis, &series)) {
            let _ = write!(body, "<figure><figcaption>{}</figcaption>{svg}</figure>", escape(&curve));
        }
    }
    let _ = write!(body, "</div><h2>Every seed</h2>{}", every_seed(&records));
    Ok(page(name, &body))
}

fn every_seed(records: &[(u64, CellRecord)]) -> String {
    const SHOWN: [&str; 4] = ["before/success", "success", "reward", "turns_mean"];
    let axes: BTreeSet<&String> = records.iter().flat_map(|(_, record)| record.costs.keys()).collect();
    let head: Vec<String> =
        ["seed"].into_iter().chain(SHOWN).chain(axes.iter().map(|axis| axis.as_str())).map(escape).collect();
    let value = |found: Option<&f64>| found.map_or_else(String::new, |value| number(*value));
    let row = |(seed, record): &(u64, CellRecord)| {
        let measures = SHOWN.iter().map(|name| value(record.measures.get(*name)));
        let costs = axes.iter().map(|axis| value(record.costs.get(*axis)));
        std::iter::once(seed.to_string()).chain(measures).chain(costs).collect()
    };
    let rows: Vec<Vec<String>> = records.iter().map(row).collect();
    table(&head.iter().map(String::as_str).collect::<Vec<_>>(), true, &rows)
}
