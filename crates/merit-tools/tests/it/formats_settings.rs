//! Call formats in a recipe: a name or a table, what they can serve, and what is refused.

use merit_core::Components;
use merit_core::ToolCall;
use merit_core::registry::Chosen;
use merit_tools::ToolSpec;
use merit_tools::formats::{CALL_FORMATS, CallFormat, call_format};
use serde_json::{Map, json};

fn cards() -> Vec<ToolSpec> {
    vec![
        ToolSpec::text("python", "Runs Python.", "code", "a program", "print(1)"),
        ToolSpec::text("calc", "Exact arithmetic.", "expression", "a sum", "1+1"),
        ToolSpec::json("act", "Does things.", json!({ "type": "object" }), &json!({ "what": "it" })),
    ]
}

fn config(text: &str) -> Result<Chosen<dyn CallFormat>, String> {
    let table: toml::Table = toml::from_str(text).unwrap();
    let read = || table["calls"].clone().try_into();
    let components = merit_tools::register(Components::default());
    components.reading(read).map_err(|error: toml::de::Error| error.to_string())
}

#[test]
fn code_tags_serve_one_tool_only() {
    let tags = call_format("code-tags").unwrap();
    let error = tags.serves(&cards()).unwrap_err();
    assert_eq!(
        error,
        "it calls one tool, `python`, but the tools are python, calc, act; set `tool`, or use `fenced`"
    );
    assert!(tags.serves(&[]).unwrap_err().contains("the tools are none"));
    let other = config("calls = { type = \"code-tags\", tool = \"act\" }").unwrap();
    assert_eq!(other.serves(&cards()[2..]), Err("`act` does not take text; use `hermes`".to_owned()));
}

#[test]
fn a_format_is_a_name_or_a_table_and_unknown_settings_are_refused() {
    for entry in CALL_FORMATS {
        let name = entry.about.name;
        let by_name = config(&format!("calls = \"{name}\"")).unwrap();
        assert_eq!(by_name, config(&format!("calls = {{ type = \"{name}\" }}")).unwrap());
        assert_eq!(by_name, call_format(name).unwrap());
        let written = toml::to_string(&Map::from_iter([("calls".to_owned(), json!(by_name))])).unwrap();
        assert_eq!(config(&written).unwrap(), by_name, "{written}");
        let error = config(&format!("calls = {{ type = \"{name}\", frm = 1 }}")).unwrap_err();
        assert!(error.contains("unknown field `frm`"), "{error}");
    }
    assert!(config("calls = \"hermse\"").unwrap_err().contains("did you mean `hermes`?"));
    assert!(config("calls = 3").unwrap_err().contains("a call format is a table or a name, not a integer"));
}

#[test]
fn fences_may_be_mapped_to_tools() {
    let fenced = config("calls = { type = \"fenced\", fences = { bc = \"calc\" } }").unwrap();
    let turn = fenced.parse("```bc\n1+1\n```\n```py\n1\n```", &cards()).unwrap();
    assert_eq!(turn.calls, [ToolCall { tool: "calc".into(), input: "1+1".into() }]);
    let lost = config("calls = { type = \"fenced\", fences = { sh = \"bash\" } }").unwrap();
    assert!(lost.serves(&cards()).unwrap_err().contains("there is no such tool"));
}
