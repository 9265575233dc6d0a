//! The search tool: a shared corpus or one that comes with the task, and documents opened by their id.

use merit_core::Task;
use merit_tools::conformance::example_task;
use merit_tools::{Tool, ToolAnswer, call_blocking, read_tool};
use serde_json::json;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

fn tools(settings: &str) -> Vec<Arc<dyn Tool>> {
    read_tool(&format!("type = \"search\"\n{settings}")).unwrap().build().unwrap()
}

fn ask(tool: &Arc<dyn Tool>, task: &Task, input: &str) -> ToolAnswer {
    call_blocking(&tool.open(task, None).unwrap(), input, Duration::from_secs(10)).unwrap()
}

#[test]
fn a_query_shows_ids_titles_and_the_passage() {
    let answer = ask(&tools("")[0], &example_task(), "a mug for tea, or a pen");
    let shown =
        "1. [mug] Mug\n   A blue mug for tea and coffee.\n2. [pen] Pen\n   A pen that writes in black.";
    assert_eq!(answer, ToolAnswer::Ok(shown.to_owned()));
}

#[test]
fn what_was_found_can_be_opened() {
    let tools = tools("open = true");
    assert_eq!(tools[1].spec().name, "open");
    assert_eq!(
        ask(&tools[1], &example_task(), "pen"),
        ToolAnswer::Ok("Pen\nA pen that writes in black.".to_owned())
    );
    assert_eq!(
        ask(&tools[1], &example_task(), "penn"),
        ToolAnswer::Refused("no document `penn`; nearest: pen".to_owned())
    );
}

#[test]
fn a_query_that_finds_nothing_is_refused() {
    let answer = ask(&tools("")[0], &example_task(), "elephants");
    assert_eq!(answer, ToolAnswer::Refused("nothing was found; try other words".to_owned()));
}

#[test]
fn a_corpus_in_a_file_serves_every_task() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{{\"id\": \"owl\", \"text\": \"Owls hunt at night.\"}}").unwrap();
    let tool = &tools(&format!("corpus = {:?}", file.path()))[0];
    let task = Task { payload: json!({}), ..example_task() };
    assert_eq!(
        ask(tool, &task, "hunting owls"),
        ToolAnswer::Ok("1. [owl]\n   Owls hunt at night.".to_owned())
    );
}

#[test]
fn a_task_without_a_corpus_is_refused_where_none_was_given() {
    let task = Task { payload: json!({}), ..example_task() };
    let error = tools("")[0].open(&task, None).err().unwrap().to_string();
    assert!(error.contains("its payload has no `corpus`"), "{error}");
    let task = Task { payload: json!({ "corpus": [{ "body": "x" }] }), ..example_task() };
    let error = tools("")[0].open(&task, None).err().unwrap().to_string();
    assert!(error.contains("document 1 of its `corpus`"), "{error}");
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let build = |settings: &str| read_tool(&format!("type = \"search\"\n{settings}")).map(|c| c.build());
    let error = build("hits = 0").err().unwrap().to_string();
    assert!(error.contains("`hits` is 0; it must be 1 to 50"), "{error}");
    assert!(
        build("corpus = \"/nowhere.jsonl\"").unwrap().err().unwrap().to_string().contains("/nowhere.jsonl")
    );
    let unknown = build("hit = 3").err().unwrap().to_string();
    assert!(unknown.contains("unknown field `hit`"), "{unknown}");
}

#[test]
fn a_dense_index_finds_a_misspelled_word() {
    let dense = tools(
        "index = { mode = \"hybrid\", dense = { role = \"hashed-ngrams\", dimensions = 256, weight = 1.0 } }",
    );
    let ToolAnswer::Ok(found) = ask(&dense[0], &example_task(), "blackk wrting penn") else {
        panic!("nothing found")
    };
    assert!(found.starts_with("1. [pen]"), "{found}");
}

#[test]
fn a_model_finds_what_is_meant_in_other_words() {
    let Some(folder) = merit_testing::weights("all-minilm-l6-v2") else { return };
    let settings = format!("hits = 1\nindex = {{ mode = \"dense\" }}\nembedding = {{ model = {folder:?} }}");
    let tool = &tools(&settings)[0];
    let ToolAnswer::Ok(found) = ask(tool, &example_task(), "something to drink from at breakfast") else {
        panic!("nothing found")
    };
    assert!(found.starts_with("1. [mug]"), "{found}");
    let ToolAnswer::Ok(found) = ask(tool, &example_task(), "an instrument for signing letters") else {
        panic!("nothing found")
    };
    assert!(found.starts_with("1. [pen]"), "{found}");
}

#[test]
fn a_model_that_cannot_be_used_is_refused_before_anything_is_searched() {
    let build = |settings: &str| {
        let config = read_tool(&format!("type = \"search\"\n{settings}"));
        config.map_err(|error| error.to_string()).and_then(|c| c.build().map_err(|error| error.to_string()))
    };
    let refused = |settings: &str| build(settings).err().unwrap();
    let missing = refused("embedding = { model = \"/nowhere\" }");
    assert!(missing.contains("`embedding`: ") && missing.contains("/nowhere"), "{missing}");
    let twice = refused(
        "embedding = { model = \"/nowhere\" }\nindex = { dense = { role = \"hashed-ngrams\", dimensions = 8 } }",
    );
    assert!(twice.contains("`embedding` and `index.dense`"), "{twice}");
    assert!(refused("embedding = { modle = \"x\" }").contains("modle"));
}
