//! Metrics as CSV: a header, then one line for each number, as `merit show` would find it again.

use merit_store::Metric;
use std::fmt::Write as _;

/// `phase,step,name,value`, in the order of the record. A number is written so that it reads back as the same bits.
///
/// ```
/// use merit_store::Metric;
/// let metric = Metric { phase: "train".into(), step: 3, name: "success".into(), value: 0.1 };
/// assert_eq!(merit_export::csv(&[metric]), "phase,step,name,value\ntrain,3,success,0.1\n");
/// ```
pub fn csv(metrics: &[Metric]) -> String {
    let mut text = "phase,step,name,value\n".to_owned();
    for Metric { phase, step, name, value } in metrics {
        let phase = field(&phase.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{phase},{step},{},{value}", field(name));
    }
    text
}

/// A field, in quotes where a reader would otherwise split it (RFC 4180).
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}
