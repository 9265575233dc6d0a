//! How many short answers one core judges in a second. A measurement: `cargo test --release -p merit-verify --test it text_match_rate -- --ignored
//! --nocapture`.

use merit_verify::text::{TextConfig, TextVerifier};
use std::hint::black_box;
use std::time::Instant;

const RESPONSES: [&str; 4] = [
    "The Eiffel Tower is in Paris",
    "the eiffel tower is in paris, France.",
    "London Bridge is falling down",
    "Mount Everest is the highest mountain",
];

fn rate(metric: &str) -> f64 {
    let config: TextConfig = toml::from_str(&format!("metric = {{ {metric} }}")).unwrap();
    let verifier = TextVerifier::compile(config).unwrap();
    let references =
        [["The Eiffel Tower is in Paris".to_owned()], ["Mount Everest is the highest mountain".to_owned()]];
    let judged = 1_000_000;
    let start = Instant::now();
    for i in 0..judged {
        black_box(verifier.verify(black_box(RESPONSES[i % 4]), black_box(&references[i / 4 % 2])));
    }
    judged as f64 / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "a measurement; run it alone, in release"]
fn short_answers_on_one_core() {
    for rule in ["exact", "prefix", "suffix", "contains"] {
        for ignore_case in [false, true] {
            let metric = format!("type = 'string', rule = '{rule}', ignore_case = {ignore_case}");
            let rate = rate(&metric);
            println!("{metric}: {rate:.0}/s");
            assert!(rate > 3_000_000.0, "{metric}: {rate:.0}/s");
        }
    }
    for metric in [
        "type = 'exact'",
        "type = 'contains'",
        "type = 'f1'",
        "type = 'bleu'",
        "type = 'rouge', variant = 'l'",
    ] {
        println!("{metric}: {:.0}/s", rate(metric));
    }
}
