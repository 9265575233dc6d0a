//! The layered reward of the system `rl-struct`: what replies and tricks earn, worked out by hand.

use crate::support::{Did, play, score};
use serde_json::json;

fn reward() -> String {
    let system: toml::Table = toml::from_str(include_str!("../../../../systems/rl-struct.toml")).unwrap();
    toml::to_string(&system["experiment"]["reward"]).unwrap()
}

/// What a reply earns where `{"cost":7,"hue":"red"}` is right. Four tokens are within the wanted length; no info tells the surface.
fn earns(reply: &str) -> f64 {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["cost", "hue"],
        "properties": { "cost": { "type": "integer" }, "hue": { "enum": ["red", "blue"] } },
    });
    let episode =
        play(Some(r#"{"cost":7,"hue":"red"}"#), json!({ "schema": schema }), &[Did::Answers(reply)]);
    score(&reward(), &episode).reward.value().unwrap()
}

#[test]
fn every_layer_earns_its_weight() {
    let close = |reply: &str, wanted: f64| {
        let found = earns(reply);
        assert!((found - wanted).abs() < 1e-9, "{reply}: {found}, not {wanted}");
    };
    // Structure 0.25, validity 0.25, content 0.3, length 0.05.
    close(r#"{"cost":7,"hue":"red"}"#, 0.85);
    // Half of the content is wrong.
    close(r#"{"cost":8,"hue":"red"}"#, 0.85 - 0.15);
    // No JSON at all earns its length.
    close("{", 0.05);
}

#[test]
fn tricks_earn_less_than_honest_mistakes() {
    let mistake = earns(r#"{"cost":8,"hue":"red"}"#);
    for trick in [
        "{}",
        r#"{"cost":7,"cost":7,"hue":"red","hue":"red"}"#,
        r#"{"type":"object","required":["cost","hue"]}"#,
        r#"{"cost":7,"hue":"red","wood":"oak","mass":3}"#,
        r#"here {"cost":7,"hue":"red"}"#,
    ] {
        assert!(earns(trick) < mistake, "{trick} earns {}, an honest mistake {mistake}", earns(trick));
    }
}
