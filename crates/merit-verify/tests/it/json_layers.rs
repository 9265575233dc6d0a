//! Layers of structured output: what each output earns, and why.

use merit_verify::Conclusion;
use merit_verify::json::{FailureKind, JsonConfig, JsonVerdict, JsonVerifier};
use serde_json::{Value, json};

const RECIPE: &str = r#"
[weights]
parse = 0.25
structure = 0.25
types = 0.25
content = 0.25

[schema]
type = "object"
required = ["name", "minutes", "steps"]
[schema.properties]
name = { type = "string", minLength = 1 }
minutes = { type = "integer", minimum = 1 }
steps = { type = "array", items = { type = "string" }, minItems = 1 }
note = { type = "string" }
"#;

fn verifier(extra: &str) -> JsonVerifier {
    let config: JsonConfig = toml::from_str(&format!("{extra}\n{RECIPE}")).unwrap();
    JsonVerifier::compile(config).unwrap()
}

fn reference() -> Value {
    json!({"name": "tea", "minutes": 4, "steps": ["boil", "pour"]})
}

fn judge(output: &str) -> JsonVerdict {
    verifier("").verify(output, Some(&reference()))
}

fn values(verdict: &JsonVerdict) -> [Option<f64>; 4] {
    verdict.layers().map(|(_, layer)| layer.value)
}

#[test]
fn a_right_output_is_full_in_every_layer() {
    let verdict = judge(r#" {"steps":["boil","pour"],"minutes":4.0,"name":"tea"} "#);
    assert_eq!(verdict.conclusion, Conclusion::Pass, "{verdict:?}");
    assert_eq!(values(&verdict), [Some(1.0); 4]);
    assert_eq!(verdict.extracted, Some((1, 53)));
}

#[test]
fn a_wrong_field_costs_only_content_and_is_named() {
    let verdict = judge(r#"{"name": "tea", "minutes": 5, "steps": ["boil", "pour"]}"#);
    // Four fields: name, minutes, two steps; one is wrong.
    assert_eq!(values(&verdict), [Some(1.0), Some(1.0), Some(1.0), Some(0.75)]);
    assert_eq!(verdict.conclusion, Conclusion::Fail);
    assert_eq!(verdict.content.failures[0].path, "/minutes");
}

#[test]
fn a_missing_key_costs_structure_and_types_and_the_gate_closes() {
    let verdict = judge(r#"{"name": "tea", "steps": ["boil", "pour"]}"#);
    // Three keys expected, two there; places to check: name, minutes, one step (an array weighs its shortest form).
    let third = 2.0 / 3.0;
    assert_eq!(verdict.parse.value, Some(1.0));
    // `steps` demands one element, which is expected too: (2 keys + 1 element) of (3 keys + 1 element).
    assert_eq!(verdict.structure.value, Some(0.75));
    assert!((verdict.types.value.unwrap() - third).abs() < 1e-12, "{verdict:?}");
    assert_eq!(verdict.content.value, Some(0.0));
    assert_eq!(verdict.structure.failures[0].path, "/minutes");
    assert_eq!(verdict.structure.failures[0].kind, FailureKind::Missing);
    let open = verifier("gate = \"parsed\"")
        .verify(r#"{"name": "tea", "steps": ["boil", "pour"]}"#, Some(&reference()));
    assert_eq!(open.content.value, Some(0.75));
}

#[test]
fn an_ill_typed_value_is_named_with_its_path() {
    let verdict = judge(r#"{"name": "tea", "minutes": "four", "steps": ["boil", 7]}"#);
    let paths: Vec<&str> = verdict.types.failures.iter().map(|failure| failure.path.as_str()).collect();
    assert!(paths.contains(&"/minutes") && paths.contains(&"/steps/1"), "{paths:?}");
    // name right, minutes wrong, half of the steps' weight of 1 right.
    assert_eq!(verdict.types.value, Some(0.5));
    assert_eq!(verdict.valid, Some(false));
}

#[test]
fn broken_text_fails_to_parse_and_still_earns_structure() {
    for broken in [
        r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour"]"#,
        r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour",]}"#,
        r#"{'name': 'tea', 'minutes': 4, 'steps': ['boil', 'pour']}"#,
        r#"{name: "tea", minutes: 4, steps: ["boil", "pour"]}"#,
        r#"{"name": "tea" "minutes": 4, "steps": ["boil", "pour"]}"#,
        r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour"]} That is all."#,
        "Here you are: {\"name\": \"tea\", \"minutes\": 4, \"steps\": [\"boil\", \"pour\"]}",
        "```json\n{\"name\": \"tea\", \"minutes\": 4, \"steps\": [\"boil\", \"pour\"]}\n```",
    ] {
        let verdict = judge(broken);
        assert!(matches!(verdict.conclusion, Conclusion::Unreadable { .. }), "{broken}: {verdict:?}");
        assert_eq!(values(&verdict), [Some(0.0), Some(1.0), Some(1.0), Some(0.0)], "{broken}");
        assert_eq!(verdict.score, Some(0.5));
        assert!(!verdict.parse.failures.is_empty());
    }
}

#[test]
fn without_a_gate_right_fields_in_broken_json_count() {
    let verdict = verifier("gate = \"none\"")
        .verify(r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour"]"#, Some(&reference()));
    assert_eq!(verdict.content.value, Some(1.0));
}

#[test]
fn fences_and_prose_are_allowed_only_where_the_configuration_says_so() {
    let json = r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour"]}"#;
    let fenced = format!("Sure:\n```json\n{json}\n```\nEnjoy.");
    let prose = format!("As [1] says, {json} is it.");
    for (mode, output, want) in [
        ("whole", json, true),
        ("whole", &fenced, false),
        ("fenced", &fenced, true),
        ("fenced", &prose, false),
        ("anywhere", &fenced, true),
        ("anywhere", &prose, true),
        ("anywhere", json, true),
    ] {
        let verdict = verifier(&format!("extract = \"{mode}\"")).verify(output, Some(&reference()));
        assert_eq!(verdict.conclusion == Conclusion::Pass, want, "{mode}: {output}: {verdict:?}");
    }
}

#[test]
fn several_answers_at_once_are_no_answer() {
    let right = r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour"]}"#;
    let wrong = r#"{"name": "tea", "minutes": 9, "steps": ["boil", "pour"]}"#;
    for output in [format!("{wrong} or {right}"), format!("```\n{wrong}\n```\n```\n{right}\n```")] {
        let verdict = verifier("extract = \"anywhere\"").verify(&output, Some(&reference()));
        assert!(matches!(verdict.conclusion, Conclusion::Unreadable { .. }), "{verdict:?}");
        assert_eq!(verdict.content.value, Some(0.0));
    }
}

#[test]
fn the_known_hacks_score_below_an_honest_partial_answer() {
    let honest = judge(r#"{"name": "tea", "minutes": 5, "steps": []}"#).score.unwrap();
    let schema = toml::from_str::<JsonConfig>(RECIPE).unwrap().schema.unwrap();
    let hacks = [
        ("{}".to_owned(), 0.0),
        ("[]".to_owned(), 0.0),
        ("null".to_owned(), 0.0),
        ("\"\"".to_owned(), 0.0),
        (schema.to_string(), 0.0),
        // The schema with one word changed: strict JSON, and nothing of what was asked.
        (schema.to_string().replace("minLength", "minlength"), 0.25),
        (r#"{"answer": {"name": "tea", "minutes": 4, "steps": ["boil", "pour"]}}"#.to_owned(), 0.25),
        (String::new(), 0.0),
        ("tea, 4 minutes".to_owned(), 0.0),
    ];
    for (hack, most) in hacks {
        let score = judge(&hack).score.unwrap();
        assert!(score <= most && score < honest, "{hack}: {score} (honest {honest})");
    }
}

#[test]
fn a_key_written_twice_is_invalid_and_says_nothing() {
    let verdict = verifier("gate = \"none\"").verify(
        r#"{"name": "tea", "minutes": 4, "minutes": 5, "steps": ["boil", "pour"]}"#,
        Some(&reference()),
    );
    assert!(
        matches!(&verdict.conclusion, Conclusion::Unreadable { why } if why.contains("/minutes")),
        "{verdict:?}"
    );
    assert_eq!(verdict.duplicates, ["/minutes"]);
    assert_eq!(verdict.content.value, Some(0.75));
    // (3 keys + 1 element - 1 repeated) / 4
    assert_eq!(verdict.structure.value, Some(0.75));
}

#[test]
fn unknown_keys_subtract_and_padding_earns_nothing() {
    let padded = judge(r#"{"name": "tea", "minutes": 4, "steps": ["boil", "pour"], "a": 1, "b": 2}"#);
    // (4 - 2) / 4, and two of four fields' worth of content is lost.
    assert_eq!(padded.structure.value, Some(0.5));
    assert_eq!(padded.content.value, Some(0.5));
    let long: Vec<String> = (0..500).map(|i| format!("step {i}")).collect();
    let farmed = judge(&json!({"steps": long, "note": "x"}).to_string());
    let plain = judge(&json!({"steps": ["step 0"], "note": "x"}).to_string());
    assert_eq!((farmed.structure.value, farmed.types.value), (plain.structure.value, plain.types.value));
}

#[test]
fn fields_are_compared_as_the_configuration_says() {
    let config: JsonConfig = toml::from_str(
        r#"
        [[content.fields]]
        path = "/price"
        compare = { type = "number", absolute = 0.01 }
        [[content.fields]]
        path = "/tags"
        compare = { type = "unordered" }
        [[content.fields]]
        path = "/who"
        compare = { type = "text", ignore_case = true, ignore_space = true }
        [[content.fields]]
        path = "/**/why"
        compare = { type = "ignore" }
        "#,
    )
    .unwrap();
    let verifier = JsonVerifier::compile(config).unwrap();
    let reference = json!({"price": 3.5, "tags": ["a", "b", "b"], "who": "Ada L", "why": "x"});
    let share = |output: Value| verifier.verify(&output.to_string(), Some(&reference)).content.value.unwrap();
    assert_eq!(share(json!({"price": 3.509, "tags": ["b", "a", "b"], "who": " ada  l", "why": "y"})), 1.0);
    // Fields: price, three tags, who. One tag is not there.
    assert_eq!(share(json!({"price": 3.5, "tags": ["b", "a", "a"], "who": "ada l"})), 0.8);
    assert_eq!(
        share(json!({"price": 3.52, "tags": ["b", "a", "b"], "who": "ada l", "deep": {"why": 1}})),
        0.6
    );
}

#[test]
fn a_layer_that_does_not_apply_is_absent_and_its_weight_goes_to_the_others() {
    let verdict = verifier("").verify(r#"{"name": "tea", "minutes": 4, "steps": ["boil"]}"#, None);
    assert_eq!((verdict.content.value, verdict.score), (None, Some(1.0)));
    let plain = JsonVerifier::compile(JsonConfig::default()).unwrap().verify("[1]", None);
    assert_eq!(values(&plain), [Some(1.0), None, None, None]);
}

#[test]
fn recursive_schemas_and_alternatives_earn_partial_credit() {
    let schema = json!({
        "$defs": {"tree": {"type": "object", "required": ["value"], "properties": {
            "value": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}},
        "oneOf": [{"$ref": "#/$defs/tree"}, {"type": "object", "required": ["empty"], "properties": {"empty": {"const": true}}}]
    });
    let verifier =
        JsonVerifier::compile(JsonConfig { schema: Some(schema), ..JsonConfig::default() }).unwrap();
    let full = verifier.verify(r#"{"value": 1, "kids": [{"value": 2, "kids": []}]}"#, None);
    assert_eq!(full.conclusion, Conclusion::Pass, "{full:?}");
    assert_eq!(verifier.verify(r#"{"empty": true}"#, None).conclusion, Conclusion::Pass);
    let partly = verifier.verify(r#"{"value": "one"}"#, None);
    assert_eq!((partly.structure.value, partly.types.value), (Some(1.0), Some(0.0)));
}

#[test]
fn configurations_that_cannot_work_are_refused_with_the_reason() {
    let refusal = |text: &str| {
        let config: JsonConfig = toml::from_str(text).unwrap();
        JsonVerifier::compile(config).unwrap_err().to_string()
    };
    assert!(refusal("[schema]\ntype = \"objekt\"").contains("objekt"));
    assert!(refusal("[schema]\nrequird = [\"a\"]").contains("did you mean `required`"));
    assert!(refusal("[schema]\nunevaluatedProperties = false").contains("not supported"));
    assert!(refusal("[schema]\n\"$ref\" = \"other.json\"").contains("other.json"));
    assert!(refusal("[schema]\n\"$ref\" = \"#\"").contains("itself"));
    assert!(refusal("[schema]\npattern = \"(?=x)\"").contains("(?=x)"));
    assert!(refusal("[weights]\nparse = -1").contains("weights.parse"));
    assert!(refusal("[weights]\nparse = 0\ncontent = 0").contains("weight"));
    assert!(refusal("[limits]\ndepth = 500").contains("128"));
    assert!(refusal("[[content.fields]]\npath = \"/a\"\ncompare = { type = \"number\" }").contains("/a"));
    for (key, text) in [
        ("extracts", "extracts = \"whole\""),
        ("field", "[content]\nfield = []"),
        ("byte", "[limits]\nbyte = 3"),
    ] {
        let said = toml::from_str::<JsonConfig>(text).unwrap_err().to_string();
        assert!(said.contains(&format!("unknown field `{key}`")), "{said}");
    }
}

#[test]
fn json_inside_a_string_is_read_in_place() {
    let config: JsonConfig = toml::from_str(
        r#"
        nested = ["/answer"]
        [schema]
        type = "object"
        required = ["reasoning", "answer"]
        [schema.properties]
        reasoning = { type = "string" }
        answer = { type = "object", required = ["n"], properties = { n = { type = "integer" } } }
        [[content.fields]]
        path = "/reasoning"
        compare = { type = "ignore" }
        "#,
    )
    .unwrap();
    let verifier = JsonVerifier::compile(config).unwrap();
    let reference = json!({"reasoning": "", "answer": "{\"n\": 4}"});
    let judge = |output: &str| verifier.verify(output, Some(&reference));
    assert_eq!(judge(r#"{"reasoning": "2+2", "answer": "{\"n\": 4}"}"#).conclusion, Conclusion::Pass);
    assert_eq!(judge(r#"{"reasoning": "2+2", "answer": "{\"n\": 5}"}"#).conclusion, Conclusion::Fail);
    let broken = judge(r#"{"reasoning": "2+2", "answer": "n is 4"}"#);
    assert!(
        matches!(&broken.conclusion, Conclusion::Unreadable { why } if why.contains("/answer")),
        "{broken:?}"
    );
    assert_eq!((broken.parse.value, broken.content.value), (Some(0.0), Some(0.0)));
}
