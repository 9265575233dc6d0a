//! A folder per episode, in memory, within its quotas.

use merit_core::Task;
use merit_tools::conformance::example_task;
use merit_tools::{
    Tool, ToolAnswer, ToolError, ToolSession, Workspace, WorkspaceConfig, call_blocking, read_tool,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn open_with(config: WorkspaceConfig, files: Value) -> Result<Arc<dyn ToolSession>, ToolError> {
    Workspace::new(config).unwrap().open(&Task { payload: json!({ "files": files }), ..example_task() }, None)
}

fn open(files: Value) -> Arc<dyn ToolSession> {
    open_with(WorkspaceConfig::default(), files).unwrap()
}

fn ask(session: &Arc<dyn ToolSession>, request: &Value) -> ToolAnswer {
    call_blocking(session, &request.to_string(), Duration::from_secs(30)).unwrap()
}

fn ok(session: &Arc<dyn ToolSession>, request: Value) -> String {
    match ask(session, &request) {
        ToolAnswer::Ok(text) => text,
        other => panic!("{request}: {other:?}"),
    }
}

fn refused(session: &Arc<dyn ToolSession>, request: Value) -> String {
    match ask(session, &request) {
        ToolAnswer::Refused(why) => why,
        other => panic!("{request}: {other:?}"),
    }
}

#[test]
fn texts_are_written_read_and_deleted() {
    let session = open(json!({ "a/one.txt": "1\n2\n3" }));
    assert_eq!(ok(&session, json!({ "op": "read", "path": "./a//one.txt" })), "1\n2\n3");
    assert_eq!(ok(&session, json!({ "op": "read", "path": "a/one.txt", "from": 2, "to": 2 })), "2\n");
    assert_eq!(ok(&session, json!({ "op": "write", "path": "b", "text": "x" })), "wrote b: 1 bytes");
    assert_eq!(ok(&session, json!({ "op": "write", "path": "b", "text": "yy" })), "overwrote b: 2 bytes");
    assert_eq!(
        ok(&session, json!({ "op": "append", "path": "b", "text": "z" })),
        "appended to b: now 3 bytes"
    );
    assert_eq!(
        ok(&session, json!({ "op": "append", "path": "c", "text": "" })),
        "appended to c: now 0 bytes"
    );
    assert_eq!(ok(&session, json!({ "op": "read", "path": "c" })), "(empty)");
    assert_eq!(ok(&session, json!({ "op": "list" })), "a/one.txt (5 bytes)\nb (3 bytes)\nc (0 bytes)");
    assert_eq!(ok(&session, json!({ "op": "list", "path": "a" })), "a/one.txt (5 bytes)");
    assert_eq!(ok(&session, json!({ "op": "delete", "path": "b" })), "deleted b");
    assert_eq!(
        refused(&session, json!({ "op": "read", "path": "a/ont.txt" })),
        "no file `a/ont.txt`; nearest: a/one.txt"
    );
    assert_eq!(
        refused(&session, json!({ "op": "read", "path": "b" })),
        "no file `b`; list shows what there is"
    );
}

#[test]
fn one_file_has_one_name() {
    let session = open(json!({}));
    ok(&session, json!({ "op": "write", "path": "cafe\u{301}.txt", "text": "1" }));
    assert_eq!(ok(&session, json!({ "op": "read", "path": "caf\u{e9}.txt" })), "1");
    for path in ["/etc/passwd", "../up", "a/../../b", "a\\b", "", ".", "a\0", " a"] {
        refused(&session, json!({ "op": "write", "path": path, "text": "" }));
    }
    assert!(
        refused(&session, json!({ "op": "write", "path": "caf\u{e9}.txt/x", "text": "" }))
            .contains("is a file")
    );
    ok(&session, json!({ "op": "write", "path": "d/x", "text": "" }));
    assert!(refused(&session, json!({ "op": "write", "path": "d", "text": "" })).contains("is a folder"));
    assert!(refused(&session, json!({ "op": "read", "path": "d" })).contains("is a folder"));
}

#[test]
fn an_edit_replaces_what_occurs_once() {
    let session = open(json!({ "f": "one\ntwo aaa\n" }));
    let replace = |old: &str, new: &str| json!({ "op": "replace", "path": "f", "old": old, "new": new });
    assert_eq!(ok(&session, replace("two", "2")), "replaced in f, line 2");
    assert_eq!(ok(&session, json!({ "op": "read", "path": "f" })), "one\n2 aaa\n");
    assert!(refused(&session, replace("aa", "b")).contains("more than once"), "places that overlap count");
    assert!(refused(&session, replace("three", "3")).contains("is not in f"));
    assert!(refused(&session, replace("", "3")).contains("empty"));
}

#[test]
fn search_names_file_and_line() {
    let session = open(json!({ "a": "x\nfind me", "b/c": "find", "d": "no" }));
    assert_eq!(ok(&session, json!({ "op": "search", "text": "find" })), "a:2: find me\nb/c:1: find");
    assert_eq!(ok(&session, json!({ "op": "search", "text": "find", "path": "b" })), "b/c:1: find");
    assert_eq!(ok(&session, json!({ "op": "search", "text": "nothing" })), "not found");
    refused(&session, json!({ "op": "search", "text": "" }));
    assert!(refused(&session, json!({ "op": "search", "text": "x", "path": "bb" })).contains("no file"));
}

#[test]
fn quotas_hold_and_a_refused_write_changes_nothing() {
    let config = WorkspaceConfig { files: 2, bytes: 20, shown_bytes: 200 };
    let session = open_with(config, json!({ "a": "123456789" })).unwrap();
    assert!(
        refused(&session, json!({ "op": "write", "path": "b", "text": "0123456789" })).contains("21 bytes")
    );
    ok(&session, json!({ "op": "write", "path": "b", "text": "012345678" }));
    assert!(refused(&session, json!({ "op": "write", "path": "c", "text": "" })).contains("2 files"));
    assert!(refused(&session, json!({ "op": "append", "path": "a", "text": "x" })).contains("21 bytes"));
    ok(&session, json!({ "op": "delete", "path": "b" }));
    ok(&session, json!({ "op": "write", "path": "a", "text": "0123456789012345678" }));
}

#[test]
fn long_answers_are_cut_and_say_how_to_go_on() {
    let lines: String = (1..=100).map(|i| format!("line {i}\n")).collect();
    let config = WorkspaceConfig { shown_bytes: 200, ..WorkspaceConfig::default() };
    let session =
        open_with(config, json!({ "f": lines, "g": "é".repeat(200), "h": "xx\n".repeat(200) })).unwrap();
    let shown = ok(&session, json!({ "op": "read", "path": "f" }));
    assert!(shown.ends_with("… cut: read on from line 27 of 100"), "{shown}");
    assert!(ok(&session, json!({ "op": "read", "path": "f", "from": 27, "to": 27 })) == "line 27\n");
    assert!(
        ok(&session, json!({ "op": "read", "path": "g" })).ends_with("… line 1 of 1 goes on for 200 bytes")
    );
    assert!(ok(&session, json!({ "op": "search", "text": "xx" })).contains("more lines"));
    for (from, to) in [(0, 1), (101, 101), (5, 4)] {
        assert!(
            refused(&session, json!({ "op": "read", "path": "f", "from": from, "to": to }))
                .contains("1 to 100")
        );
    }
}

#[test]
fn requests_that_make_no_sense_teach() {
    let session = open(json!({}));
    assert!(refused(&session, json!({ "op": "wrte", "path": "a" })).contains("unknown variant `wrte`"));
    assert!(refused(&session, json!({ "op": "write", "path": "a" })).contains("`text`"));
    assert!(refused(&session, json!({ "op": "delete", "path": "a", "text": "b" })).contains("unknown field"));
    assert!(refused(&session, json!({ "path": "a" })).contains("`op`"));
}

#[test]
fn forks_are_independent() {
    let tool = Workspace::new(WorkspaceConfig::default()).unwrap();
    let one = tool.open(&example_task(), None).unwrap();
    ok(&one, json!({ "op": "write", "path": "a", "text": "1" }));
    let two = tool.open(&example_task(), Some(&one.snapshot())).unwrap();
    ok(&two, json!({ "op": "append", "path": "a", "text": "2" }));
    assert_eq!(one.snapshot(), json!({ "files": { "a": "1" } }));
    assert_eq!(two.snapshot(), json!({ "files": { "a": "12" } }));
    let bad = json!({ "files": { "../a": "1" } });
    assert!(matches!(tool.open(&example_task(), Some(&bad)), Err(ToolError::Snapshot { .. })));
}

#[test]
fn a_task_with_files_that_cannot_be_is_refused() {
    for (files, why) in [
        (json!(["a"]), "not an object"),
        (json!({ "a": 1 }), "not a text"),
        (json!({ "../a": "" }), "`..`"),
        (json!({ "a": "", "a/b": "" }), "is a file"),
        (json!({ "a": "", "./a": "" }), "two files"),
    ] {
        let error = open_with(WorkspaceConfig::default(), files).err().unwrap().to_string();
        assert!(error.contains("cannot open task") && error.contains(why), "{error}");
    }
    let refused = |text: &str| read_tool(text).err().unwrap().to_string();
    assert!(refused("type = \"workspace\"\nfiles = 0").contains("`files` is 0"));
    assert!(refused("type = \"workspace\"\nroot = \"/\"").contains("unknown field `root`"));
}

proptest! {
    /// Against a plain map: what was written last is what is read, and the snapshot is the map.
    #[test]
    fn it_is_a_map_of_texts(ops in proptest::collection::vec((0..3_u8, "[abc]", "[xyz\n]{0,5}"), 0..30)) {
        let session = open(json!({}));
        let mut model: BTreeMap<String, String> = BTreeMap::new();
        for (op, path, text) in ops {
            match op {
                0 => {
                    ok(&session, json!({ "op": "write", "path": path, "text": text }));
                    model.insert(path, text);
                }
                1 => {
                    ok(&session, json!({ "op": "append", "path": path, "text": text }));
                    model.entry(path).or_default().push_str(&text);
                }
                _ => {
                    let deleted = matches!(ask(&session, &json!({ "op": "delete", "path": path })), ToolAnswer::Ok(_));
                    prop_assert_eq!(deleted, model.remove(&path).is_some());
                }
            }
        }
        prop_assert_eq!(session.snapshot(), json!({ "files": model }));
    }
}
