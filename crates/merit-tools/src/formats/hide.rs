//! Keeps markers out of written calls: a marker inside a string is written with an escape, so that neither a stop string
//! nor a careless reader takes it for the real one.

/// The same JSON with the first character of every marker in it escaped. Markers cannot stand outside strings in JSON.
pub(super) fn in_json(json: String, markers: &[&str]) -> String {
    markers.iter().fold(json, |json, marker| match marker.chars().next() {
        Some(first) if json.contains(marker) => {
            let rest = marker.get(first.len_utf8()..).unwrap_or_default();
            json.replace(marker, &format!("\\u{:04x}{rest}", u32::from(first)))
        }
        _ => json,
    })
}
