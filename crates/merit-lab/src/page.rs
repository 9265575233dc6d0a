//! A page per system and one for all: verdict, claims, curves, every seed. Self-contained.

use crate::plot::{Series, colour, curves_and_axes, plot};
use crate::result::ArmLine;
use crate::scoreboard::number;
use crate::{Judged, SystemResult, Verdict};
use merit_measure::html::{date, escape, table};
use merit_studies::CellRecord;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub fn system_page(result: &SystemResult) -> String {
    let mut body = String::new();
    let verdict = result.ruling.verdict;
    let _ = write!(
        body,
        "<h1>{}</h1><p>{}</p><p class=\"soft\">{}</p><section class=\"card\"><p class=\"big {}\">{}</p>",
        escape(&result.system),
        escape(&result.about),
        escape(&result.paper),
        class(verdict),
        verdict.words()
    );
    if !result.ruling.why.is_empty() {
        let _ = write!(body, "<p>{}</p>", escape(&result.ruling.why));
    }
    let _ = write!(
        body,
        "<p>{}</p><p class=\"soft\">Card: {}. {} seeds, {}; {}, {} cores; merit {}; {}; hash {}</p></section>",
        escape(&result.scope),
        escape(&result.confidence),
        result.seeds(),
        escape(&result.time_words()),
        escape(&result.machine.cpu),
        result.machine.cores,
        escape(&result.version),
        date(result.date_ms),
        escape(&result.hash)
    );
    body.push_str(&claims("Premises", &result.ruling.premises));
    body.push_str(&claims("Claims", &result.ruling.claims));
    let parts: BTreeSet<&str> = result.arms.iter().map(|arm| arm.part.as_str()).collect();
    for part in parts {
        body.push_str(&part_section(result, part));
    }
    page(&result.system, &body)
}

pub fn index_page(results: &[SystemResult]) -> String {
    let rows: Vec<Vec<String>> = results
        .iter()
        .map(|result| {
            let name = escape(&result.system);
            vec![
                format!("<a href=\"{name}.html\">{name}</a>"),
                format!(
                    "<span class=\"{}\">{}</span>",
                    class(result.ruling.verdict),
                    result.ruling.verdict.words()
                ),
                result.seeds().to_string(),
                number(result.cell_seconds),
                escape(&result.about),
                escape(&result.scope),
            ]
        })
        .collect();
    let head = ["system", "verdict", "seeds", "cell seconds", "mechanism", "scope"];
    page("Systems", &format!("<h1>Systems</h1>{}", table(&head, false, &rows)))
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "fails",
        Verdict::Inconclusive => "open",
    }
}

fn claims(title: &str, all: &[Judged]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|judged| {
            let says = if judged.required {
                escape(&judged.says)
            } else {
                format!("{} <i>(reported)</i>", escape(&judged.says))
            };
            vec![
                format!(
                    "<span class=\"{}\">{}</span>",
                    class(judged.verdict),
                    escape(&judged.verdict_words())
                ),
                says,
                escape(&judged.measure),
                escape(&judged.comparison),
                judged.found(),
                judged.range(),
            ]
        })
        .collect();
    let head = ["", "says", "measure", "asked", "found", "97.5 % interval"];
    format!("<h2>{title}</h2>{}", table(&head, false, &rows))
}

fn part_section(result: &SystemResult, part: &str) -> String {
    let arms: Vec<(usize, &ArmLine)> =
        result.arms.iter().filter(|arm| arm.part == part).enumerate().collect();
    let of = |arm: &str| -> Vec<(u64, &CellRecord)> {
        let own = result.cells.iter().filter(|cell| cell.part == part && cell.arm == arm);
        own.filter_map(|cell| Some((cell.seed, cell.record.as_ref()?))).collect()
    };
    let mut out = if part == "main" { String::new() } else { format!("<h2>{}</h2>", escape(part)) };
    out.push_str("<p>");
    for (at, arm) in &arms {
        let _ = write!(
            out,
            "<span style=\"color:{}\">●</span> <b>{}</b> ({}): {}<br>",
            colour(*at),
            escape(&arm.name),
            arm.role.name(),
            escape(&arm.about)
        );
    }
    out.push_str("</p>");
    let series: Vec<Series<'_>> = arms
        .iter()
        .map(|(at, arm)| Series {
            arm: &arm.name,
            colour: *at,
            records: of(&arm.name).into_iter().map(|r| r.1).collect(),
        })
        .collect();
    let records: Vec<&CellRecord> = series.iter().flat_map(|one| one.records.iter().copied()).collect();
    out.push_str("<div class=\"plots\">");
    for (curve, axes) in curves_and_axes(&records) {
        for svg in axes.iter().filter_map(|axis| plot(&curve, axis, &series)) {
            let _ = write!(out, "<figure><figcaption>{}</figcaption>{svg}</figure>", escape(&curve));
        }
    }
    out.push_str("</div>");
    out.push_str(&seeds_table(result, part, &arms));
    out
}

/// What claims read, and what was spent: every arm, every seed.
fn seeds_table(result: &SystemResult, part: &str, arms: &[(usize, &ArmLine)]) -> String {
    let cells = || result.cells.iter().filter(|cell| cell.part == part);
    let judged = result.ruling.premises.iter().chain(&result.ruling.claims).filter(|one| one.part == part);
    let asked: BTreeSet<&str> = judged.map(|one| one.measure.as_str()).collect();
    let names: BTreeSet<&String> = cells()
        .filter_map(|cell| cell.record.as_ref())
        .flat_map(|record| record.measures.keys())
        .filter(|name| asked.contains(name.as_str()) || name.as_str() == "success")
        .collect();
    let axes: BTreeSet<&String> =
        cells().filter_map(|cell| cell.record.as_ref()).flat_map(|record| record.costs.keys()).collect();
    let mut head = vec!["arm", "seed"];
    head.extend(names.iter().map(|name| name.as_str()));
    head.extend(axes.iter().map(|axis| axis.as_str()));
    let mut rows = Vec::new();
    for (_, arm) in arms {
        for cell in cells().filter(|cell| cell.arm == arm.name) {
            let Some(record) = &cell.record else {
                rows.push(vec![escape(&arm.name), cell.seed.to_string(), "broke".into()]);
                continue;
            };
            let value = |found: Option<&f64>| found.map_or_else(String::new, |value| number(*value));
            let mut row = vec![escape(&arm.name), cell.seed.to_string()];
            row.extend(names.iter().map(|name| value(record.measures.get(*name))));
            row.extend(axes.iter().map(|axis| value(record.costs.get(*axis))));
            rows.push(row);
        }
    }
    let head: Vec<String> = head.into_iter().map(escape).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    format!("<details><summary>Every seed</summary>{}</details>", table(&head, true, &rows))
}

pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style></head><body>{body}</body></html>\n",
        escape(title)
    )
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c1917;background:#fafaf9}\
table{border-collapse:collapse;font-size:13px}th,td{padding:.25rem .6rem;border-bottom:1px solid #e7e5e4;text-align:left;vertical-align:top}\
td.n,th.n{text-align:right}.card{background:#fff;border:1px solid #e7e5e4;border-radius:8px;padding:1rem 1.4rem}.big{font-size:1.8rem;margin:0;font-weight:600}\
.soft{color:#78716c}.holds{color:#047857}.fails{color:#b91c1c}.open{color:#a16207}.plots{display:flex;flex-wrap:wrap;gap:1rem}\
figure{margin:0;width:460px;max-width:100%}figcaption{font-weight:600}svg{width:100%}svg text{font-size:11px;fill:#78716c}.grid{stroke:#e7e5e4}\
.scroll{overflow-x:auto}@media(prefers-color-scheme:dark){body{background:#1c1917;color:#e7e5e4}.card{background:#292524;border-color:#44403c}th,td{border-color:#44403c}.grid{stroke:#44403c}}";
