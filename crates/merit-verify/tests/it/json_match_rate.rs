//! How many small objects the equality grader compares per second on one core.
//!
//! `cargo test --release -p merit-verify --test it json_match_rate -- --ignored --nocapture`

use merit_verify::json::{JsonMatch, JsonMatcher, JsonVerifier, json_match};
use std::hint::black_box;
use std::time::Instant;

/// Regimes after what JSON graders are shown in practice: texts on both sides, read and compared in every call.
const REGIMES: [(&str, &str, &str, bool); 5] = [
    ("same text", r#"{"name": "Alice", "age": 30}"#, r#"{"name": "Alice", "age": 30}"#, true),
    ("other order and spelling", r#"{"age":30.0,"name":"Alice"}"#, r#"{"name": "Alice", "age": 30}"#, true),
    ("one value differs", r#"{"name": "Alice", "age": 31}"#, r#"{"name": "Alice", "age": 30}"#, false),
    (
        "nested",
        r#"{"user": {"name": "Alice", "tags": ["a", "b"]}, "ok": true, "n": [1, 2, 3]}"#,
        r#"{"ok": true, "n": [1, 2, 3], "user": {"tags": ["a", "b"], "name": "Alice"}}"#,
        true,
    ),
    ("not json", r#"{"name": "Alice", "age": 30"#, r#"{"name": "Alice", "age": 30}"#, false),
];
const ROUNDS: u32 = 1_000_000;

/// Seconds this thread has spent on a core, where the system tells; a shared machine does not disturb the count.
fn core_seconds(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

#[test]
#[ignore = "a measurement; run it alone, in release"]
fn small_objects_are_compared_a_million_times_a_second() {
    let zero = Instant::now();
    for (name, response, reference, want) in REGIMES {
        let rate = |compare: &mut dyn FnMut(&str, &str) -> JsonMatch| {
            let start = core_seconds(zero);
            for _ in 0..ROUNDS {
                let found = compare(black_box(response), black_box(reference));
                assert_eq!(black_box(found) == JsonMatch::Equal, want);
            }
            f64::from(ROUNDS) / (core_seconds(zero) - start)
        };
        let mut matcher = JsonMatcher::default();
        let kept = rate(&mut |a, b| matcher.compare(a, b));
        let fresh = rate(&mut |a, b| json_match(a, b));
        eprintln!("{name:26} {:5.2} M/s with buffers kept, {:5.2} M/s without", kept / 1e6, fresh / 1e6);
        assert!(kept >= 1e6 && fresh >= 1e6, "{name}: {kept:.0}/s and {fresh:.0}/s");
    }
}

#[test]
#[ignore = "a measurement; run it alone, in release"]
fn layered_verdicts_on_small_objects() {
    let schema = serde_json::json!({"type": "object", "required": ["name", "age"], "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"}}});
    let config = merit_verify::json::JsonConfig { schema: Some(schema), ..Default::default() };
    let verifier = JsonVerifier::compile(config).unwrap();
    let reference = serde_json::json!({"name": "Alice", "age": 30});
    let zero = Instant::now();
    let start = core_seconds(zero);
    let rounds = 200_000;
    for _ in 0..rounds {
        black_box(verifier.verify(black_box(r#"{"name": "Alice", "age": 30}"#), Some(&reference)));
    }
    let rate = f64::from(rounds) / (core_seconds(zero) - start);
    eprintln!("layered verdicts: {:.2} M/s", rate / 1e6);
    assert!(rate >= 1e5, "{rate:.0}/s");
}
