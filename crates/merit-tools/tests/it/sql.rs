//! Queries of agents: tables of text, own copies, and nothing beside them.

use merit_core::Task;
use merit_tools::conformance::{check_tool, example_task};
use merit_tools::{
    ExecKind, Sql, SqlToolConfig, Tool, ToolAnswer, ToolError, ToolSession, call_blocking, read_tool,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const SCRIPT: &str =
    "CREATE TABLE t (n INTEGER, s TEXT); INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'NULL');";

fn build(toml: &str) -> Arc<dyn Tool> {
    read_tool(&format!("type = \"sql\"\n{toml}")).unwrap().build_one().unwrap()
}

fn refusal(toml: &str) -> String {
    match read_tool(&format!("type = \"sql\"\n{toml}")) {
        Ok(settings) => settings.build_one().err().unwrap().to_string(),
        Err(error) => error.to_string(),
    }
}

fn with_script(settings: &str) -> Arc<dyn Tool> {
    build(&format!("script = \"{SCRIPT}\"\n{settings}"))
}

fn open(tool: &Arc<dyn Tool>) -> Arc<dyn ToolSession> {
    tool.open(&example_task(), None).unwrap()
}

fn ask(session: &Arc<dyn ToolSession>, query: &str) -> ToolAnswer {
    call_blocking(session, query, Duration::from_secs(60)).unwrap()
}

fn ok(session: &Arc<dyn ToolSession>, query: &str) -> String {
    match ask(session, query) {
        ToolAnswer::Ok(text) => text,
        other => panic!("{query}: {other:?}"),
    }
}

#[test]
fn rows_are_a_small_table() {
    let session = open(&with_script(""));
    assert_eq!(ok(&session, "SELECT n, s FROM t ORDER BY n;"), "n | s\n1 | a\n2 | NULL\n3 | 'NULL'");
    assert_eq!(ok(&session, "SELECT n FROM t WHERE n > 9"), "n\n(no rows)");
    assert!(ok(&session, "SELECT name, sql FROM sqlite_schema").contains("CREATE TABLE t"));
}

#[test]
fn rows_beyond_those_shown_are_counted() {
    let session = open(&with_script("shown_rows = 2"));
    assert_eq!(ok(&session, "SELECT n FROM t ORDER BY n"), "n\n1\n2\n… 1 more row");
    let many =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000) SELECT x FROM c";
    assert!(ok(&session, many).ends_with("… 998 more rows"));
}

#[test]
fn wrong_queries_are_refused_and_long_ones_time_out() {
    let tool = with_script("limits = { steps = 100000 }");
    assert_eq!(tool.exec_kind(), ExecKind::Computing);
    let session = open(&tool);
    for (query, word) in [
        ("SELECT m FROM t", "no such column"),
        ("DELETE FROM t", "not a query"),
        ("SELECT 1; SELECT 2", "more than one"),
        ("SELECT random()", "not allowed"),
        ("SELECT date('now')", "current time"),
        ("", "empty"),
    ] {
        match ask(&session, query) {
            ToolAnswer::Refused(why) => assert!(why.contains(word), "{query}: {why}"),
            other => panic!("{query}: {other:?}"),
        }
    }
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c";
    assert!(matches!(ask(&session, endless), ToolAnswer::TimedOut(why) if why.contains("too long")));
    assert_eq!(ok(&session, "SELECT count(*) AS c FROM t"), "c\n3");
}

#[test]
fn a_task_brings_its_own_database() {
    let tool = build("");
    let task = Task { payload: json!({ "database": SCRIPT }), ..example_task() };
    let session = tool.open(&task, None).unwrap();
    assert_eq!(ok(&session, "SELECT sum(n) AS total FROM t"), "total\n6");
    for (payload, why) in [
        (json!({}), "has no `database`"),
        (json!({ "database": 3 }), "not a text"),
        (json!({ "database": "CREATE TABEL x (a)" }), "script of the database failed"),
        (json!({ "database": "ATTACH 'x.db' AS x" }), "script of the database failed"),
    ] {
        let error = tool.open(&Task { payload, ..example_task() }, None).err().unwrap();
        assert!(matches!(&error, ToolError::Task { .. }) && error.to_string().contains(why), "{error}");
    }
    let both = with_script("").open(&task, None).err().unwrap().to_string();
    assert!(both.contains("keep one"), "{both}");
}

#[test]
fn a_file_is_read_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("goods.sqlite");
    // The writable tool's snapshot is a SQLite file, which makes one without another tool.
    let maker = open(&with_script("writable = true"));
    use base64::Engine as _;
    let image = base64::engine::general_purpose::STANDARD
        .decode(maker.snapshot()["sqlite"].as_str().unwrap())
        .unwrap();
    std::fs::write(&path, &image).unwrap();
    let toml = format!("database = \"{}\"", path.display());
    assert_eq!(ok(&open(&build(&toml)), "SELECT count(*) AS c FROM t"), "c\n3");
    let writable = open(&build(&format!("{toml}\nwritable = true")));
    assert_eq!(ok(&writable, "DELETE FROM t"), "done: 3 rows changed");
    assert_eq!(std::fs::read(&path).unwrap(), image);
    assert!(refusal("database = \"/no/such/file.sqlite\"").contains("/no/such/file.sqlite"));
}

#[test]
fn each_episode_changes_its_own_copy() {
    let tool = with_script("writable = true");
    let (one, other) = (open(&tool), open(&tool));
    assert_eq!(ok(&one, "INSERT INTO t VALUES (4, 'd')"), "done: 1 row changed");
    assert_eq!(ok(&one, "DELETE FROM t WHERE n = 1 RETURNING s"), "s\na");
    assert_eq!(ok(&one, "CREATE TABLE u (a)"), "done: 0 rows changed");
    assert_eq!(ok(&other, "SELECT count(*) AS c FROM t"), "c\n3");
    let fork = tool.open(&example_task(), Some(&one.snapshot())).unwrap();
    assert_eq!(ok(&fork, "SELECT group_concat(n) AS all_n FROM t"), "all_n\n2,3,4");
    ok(&fork, "DROP TABLE t");
    assert_eq!(ok(&one, "SELECT count(*) AS c FROM t"), "c\n3");
    for statement in
        ["ATTACH 'x.db' AS x", "PRAGMA journal_mode = OFF", "BEGIN", "SELECT load_extension('x')"]
    {
        assert!(matches!(ask(&one, statement), ToolAnswer::Refused(_)), "{statement}");
    }
}

#[test]
fn a_copy_that_is_full_says_so() {
    let session = open(&with_script("writable = true\ncopy_bytes = 65536"));
    let fill = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000) \
        INSERT INTO t SELECT x, printf('%200d', x) FROM c";
    assert!(matches!(ask(&session, fill), ToolAnswer::Refused(why) if why.contains("full")));
    assert_eq!(ok(&session, "SELECT count(*) AS c FROM t"), "c\n3");
}

#[test]
fn the_contract_holds_when_it_is_writable() {
    let tool = with_script("writable = true");
    assert_eq!(check_tool(tool.as_ref(), &example_task()), Vec::<String>::new());
    for state in [json!({ "sqlite": "!!" }), json!({ "sqlite": "AAAA" }), json!({ "sqlite": "" }), json!([])]
    {
        assert!(
            matches!(tool.open(&example_task(), Some(&state)), Err(ToolError::Snapshot { .. })),
            "{state}"
        );
    }
    assert_eq!(open(&with_script("")).snapshot(), Value::Null);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    assert!(refusal("script = \"\"\ndatabase = \"x\"").contains("keep one"));
    assert!(refusal("copy_bytes = 100000").contains("writable"));
    assert!(refusal("shown_rows = 0").contains("shown_rows"));
    assert!(refusal("limits = { steps = 1 }").contains("limits.steps"));
    assert!(refusal("script = \"CREATE\"").contains("script"));
    let unknown = read_tool("type = \"sql\"\nreadonly = true").err().unwrap().to_string();
    assert!(unknown.contains("unknown field `readonly`"), "{unknown}");
    let config = SqlToolConfig { script: Some(SCRIPT.to_owned()), ..SqlToolConfig::default() };
    let again: SqlToolConfig = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    assert!(Sql::new(config).is_ok());
}
