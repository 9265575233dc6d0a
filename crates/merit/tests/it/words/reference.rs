//! The reference: the page, the schemas, and the keys of one component. None of them may miss a key.

use super::golden::{block, check};
use crate::tiny::say;
use merit::prelude::*;
use merit::reference::{self, keys};
use merit_run::built_in;
use merit_verify::calls::{Call, CallChecker, ToolSchema};
use merit_verify::json::{Limits, UnknownKeywords};
use serde_json::Value;
use std::path::Path;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every table of a schema, with the name of its definition.
fn tables(document: &Value) -> Vec<(String, &Value)> {
    let defs = document["$defs"].as_object().unwrap().iter();
    let below =
        defs.flat_map(|(name, schema)| keys::tables(schema).into_iter().map(move |t| (name.clone(), t)));
    std::iter::once((String::new(), document)).chain(below).collect()
}

#[test]
fn the_documents_are_those_that_the_program_prints() {
    for (file, arguments) in
        [("reference.md", &["recipe", "reference"][..]), ("recipe.schema.json", &["recipe", "schema"])]
    {
        check(&format!("../../../../docs/{file}"), &say(here(), arguments).well().out);
    }
}

#[test]
fn every_key_of_every_table_has_a_meaning_and_stands_on_the_page() {
    let page = reference::page(&built_in());
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let mut silent = Vec::new();
    for document in [reference::recipe_schema(&built_in()), reference::system_schema()] {
        for (table, schema) in tables(&document) {
            for key in keys::keys(&document, schema) {
                if key.meaning.is_empty() {
                    silent.push(format!("{table}: {}", key.name));
                }
                let start = format!("| `{}` | {} |", key.name, key.of.replace('|', "\\|"));
                assert!(
                    rows.iter().any(|row| row.starts_with(&start)),
                    "{table}: `{}` is not on the page",
                    key.name
                );
            }
        }
    }
    assert!(silent.is_empty(), "keys without a doc comment: {silent:#?}");
}

#[test]
fn every_component_is_on_the_page_with_its_keys() {
    let page = reference::page(&built_in());
    let schemas = [
        (built_in(), reference::recipe_schema(&built_in())),
        (reference::studies(), reference::system_schema()),
    ];
    for (components, document) in schemas {
        assert!(!components.all().is_empty());
        for listed in components.all() {
            let table = &document["$defs"][listed.definition()];
            assert_eq!(table["properties"]["type"]["const"], listed.about.name, "{}", listed.definition());
            assert!(!listed.about.summary.is_empty(), "{}", listed.definition());
            let sections =
                page.split("\n### ").filter(|s| s.starts_with(&format!("{}\n", listed.about.name)));
            let keys = keys::keys(&document, table);
            let whole =
                |section: &str| keys.iter().all(|key| section.contains(&format!("\n| `{}` |", key.name)));
            assert!(sections.into_iter().any(whole), "{} lacks a key", listed.definition());
        }
    }
}

/// What checks documents in TOML against a schema, which is compiled once. The checker of tool calls validates whole documents.
struct Checked(CallChecker);

impl Checked {
    fn by(schema: &Value) -> Self {
        let spec = ToolSchema {
            name: "document".to_owned(),
            description: String::new(),
            parameters: schema.clone(),
        };
        let limits = Limits { steps: 100_000_000, ..Limits::default() };
        Self(CallChecker::compile(&[spec], UnknownKeywords::default(), limits).unwrap())
    }

    fn obeys(&self, text: &str) -> bool {
        self.holds(&toml::from_str::<toml::Table>(text).unwrap())
    }

    fn holds(&self, document: &toml::Table) -> bool {
        let arguments = serde_json::to_string(document).unwrap();
        let verdict = self.0.check(&Call { tool: "document".to_owned(), arguments });
        verdict.is_valid().expect("the schema can be checked within the limits")
    }
}

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = here().join("../..").join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_shipped_document_obeys_its_schema() {
    let components = built_in();
    let cases = [
        ("recipes", reference::recipe_schema(&components)),
        ("rewards", reference::reward_schema(&components)),
        ("systems", reference::system_schema()),
    ];
    let mut refused = Vec::new();
    for (folder, schema) in cases {
        let (files, schema) = (files(folder), Checked::by(&schema));
        assert!(!files.is_empty(), "{folder}");
        refused.extend(files.into_iter().filter(|(_, text)| !schema.obeys(text)).map(|(file, _)| file));
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_resolved_recipe_and_every_example_obey_the_schema() {
    let schema = reference::recipe_schema(&built_in());
    let recipes = Checked::by(&schema);
    for shipped in shipped::recipes() {
        let recipe = Recipe::parse("shipped.toml", shipped.text).unwrap();
        assert!(recipes.obeys(&recipe.to_toml()), "{}", shipped.about.name);
    }
    // One schema for the examples of all components, each below the name of its definition.
    let listed = built_in();
    let each = |name: String| (name.clone(), serde_json::json!({ "$ref": format!("#/$defs/{name}") }));
    let properties: serde_json::Map<String, Value> =
        listed.all().iter().map(|listed| each(listed.definition())).collect();
    let examples = Checked::by(
        &serde_json::json!({ "properties": properties, "additionalProperties": false, "$defs": schema["$defs"] }),
    );
    for listed in listed.all() {
        let (name, text) = (listed.definition(), listed.document());
        let document = toml::Value::Table(toml::from_str(&text).unwrap());
        // A component whose keys are required and that has no example is found by its conformance test.
        assert!(examples.holds(&[(name.clone(), document)].into_iter().collect()), "{name}:\n{text}");
    }
    assert!(!examples.obeys("grop = {}"));
}

#[test]
fn a_misspelt_key_a_wrong_type_and_an_unknown_name_do_not() {
    let schema = reference::recipe_schema(&built_in());
    let text = shipped::recipes()[0].text;
    let schema = Checked::by(&schema);
    assert!(schema.obeys(text));
    for (right, wrong) in [
        ("group_size = ", "gruop_size = "),
        ("scale_by_std = true", "scale_by_std = \"yes\""),
        ("scale_by_std = true", "scale_by_sdt = true"),
        ("type = \"grpo\"", "type = \"grop\""),
    ] {
        assert!(text.contains(right), "{right}");
        assert!(!schema.obeys(&text.replacen(right, wrong, 1)), "{wrong}");
    }
}

/// Somebody else's rule.
#[derive(Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Own {
    /// How much.
    amount: f32,
}

impl Component for Own {
    const ABOUT: About = About { name: "own", summary: "A rule from outside.", paper: "" };
}

impl CreditRule for Own {
    fn properties(&self) -> merit::credit::Properties {
        merit::credit::Properties::by_episode()
    }

    fn assign(&self, _: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        unreachable!("nobody learns here")
    }
}

#[test]
fn a_component_of_ones_own_is_in_the_schema_and_on_the_page() {
    let components = built_in().with(entry!(Own as dyn CreditRule));
    let schema = reference::recipe_schema(&components);
    assert_eq!(schema["$defs"]["credit-rule.own"]["properties"]["amount"]["default"], 0.0);
    let text = shipped::recipes()[0].text.replace("scale_by_std = true\n", "amount = 2.0\n");
    let schema = Checked::by(&schema);
    assert!(schema.obeys(&text.replace("type = \"grpo\"", "type = \"own\"")));
    assert!(!schema.obeys(&text));
    assert!(reference::page(&components).contains("\n### own\n\nA rule from outside.\n"));
}

#[test]
fn the_list_shows_the_keys_of_one_component() {
    let mut text = String::new();
    for arguments in [
        ["list", "credit", "grpo"],
        ["list", "rewards", "rubric"],
        ["list", "reward", "exact-answer"],
        ["list", "world", "ledger"],
        ["list", "study", "barfi"],
        ["list", "recipes", "ledger-tools"],
        ["list", "formats", "jsonl"],
        ["list", "models", "openai"],
        ["list", "rewards", "rubrik"],
    ] {
        text.push_str(&block(here(), &arguments).1);
    }
    check("list-keys.txt", &text);
    let rows = say(here(), ["list", "credit", "grpo", "--json"]).well().json();
    assert!(rows.iter().any(|row| row["key"] == "scale_by_std" && row["default"] == "true"), "{rows:?}");
}
