//! Queries that attack: they end within their limits, change nothing, and are the response's own doing.

use merit_verify::Conclusion;
use merit_verify::sql::{
    Database, DatabaseError, Expected, LimitKind, SqlConfig, SqlLimits, SqlVerdict, SqlVerifier,
};

const SCRIPT: &str = "CREATE TABLE t (n INTEGER, s TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');";

fn verify(limits: SqlLimits, response: &str) -> SqlVerdict {
    let database = Database::script(SCRIPT).unwrap();
    let config = SqlConfig { limits, ..SqlConfig::default() };
    let expected = Expected::Query("SELECT n FROM t".to_owned());
    SqlVerifier::compile(config).unwrap().verify(&database, response, &expected)
}

fn check_limit(limits: SqlLimits, response: &str, want: LimitKind) {
    let verdict = verify(limits, response);
    assert_eq!((verdict.passed(), verdict.limit), (Some(false), Some(want)), "{response:.200}");
    assert_eq!(verdict.score, Some(0.0));
}

fn check_refused(response: &str) {
    let verdict = verify(SqlLimits::default(), response);
    assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }), "{response:.200}: {verdict:?}");
    assert_eq!(verdict.score, Some(0.0));
}

fn few_steps() -> SqlLimits {
    SqlLimits { steps: 1_000_000, ..SqlLimits::default() }
}

const FOREVER: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";

#[test]
fn endless_recursion_is_stopped_by_steps() {
    check_limit(few_steps(), &format!("{FOREVER} SELECT count(*) FROM c, t"), LimitKind::Steps);
    check_limit(few_steps(), &format!("{FOREVER} SELECT max(x) FROM c"), LimitKind::Steps);
}

#[test]
fn a_cross_join_is_stopped_by_steps() {
    let tables =
        vec!["t"; 30].iter().enumerate().map(|(i, t)| format!("{t} AS t{i}")).collect::<Vec<_>>().join(", ");
    check_limit(few_steps(), &format!("SELECT count(*) FROM {tables}"), LimitKind::Steps);
}

#[test]
fn the_wall_fence_stops_what_steps_would_not() {
    let limits = SqlLimits { steps: 1_000_000_000_000, wall_ms: 100, ..SqlLimits::default() };
    check_limit(limits, &format!("{FOREVER} SELECT max(x) FROM c"), LimitKind::WallTime);
}

#[test]
fn rows_and_bytes_of_a_result_are_bounded() {
    check_limit(SqlLimits::default(), &format!("{FOREVER} SELECT x FROM c"), LimitKind::Rows);
    let wide = format!("{FOREVER} SELECT printf('%.50000c', 'x') FROM c");
    check_limit(SqlLimits::default(), &wide, LimitKind::ResultBytes);
}

#[test]
fn one_value_is_bounded_however_it_is_made() {
    for value in [
        "zeroblob(1000000000)",
        "printf('%.1000000000c', 'x')",
        "hex(zeroblob(90000))",
        "replace(printf('%.9000c', 'x'), 'x', '0123456789abcdef')",
    ] {
        check_limit(SqlLimits::default(), &format!("SELECT length({value}) FROM t"), LimitKind::ValueBytes);
    }
    let doubling = "WITH RECURSIVE c(x) AS (SELECT 'xxxxxxxx' UNION ALL SELECT x || x FROM c) SELECT max(length(x)) FROM c, t";
    check_limit(SqlLimits::default(), doubling, LimitKind::ValueBytes);
    let gathered = format!(
        "{FOREVER} SELECT group_concat(x) FROM (SELECT x FROM c LIMIT 1000000), (SELECT 1 FROM t LIMIT 1)"
    );
    check_limit(SqlLimits::default(), &gathered, LimitKind::ValueBytes);
}

#[cfg(target_os = "linux")]
#[test]
fn intermediate_results_are_bounded() {
    let limits = SqlLimits { spill_bytes: 64 << 20, ..SqlLimits::default() };
    for query in [
        format!("{FOREVER} SELECT count(*) FROM (SELECT DISTINCT printf('%.90000c', 'x') || x FROM c)"),
        format!("{FOREVER} SELECT y FROM (SELECT printf('%.90000c', 'x') || x AS y FROM c LIMIT 1000000) ORDER BY y LIMIT 1000001"),
        "WITH RECURSIVE c(x, y) AS (SELECT 1, 'a' UNION SELECT x + 1, printf('%.90000c', 'x') FROM c) SELECT count(*) FROM c".to_owned(),
    ] {
        check_limit(limits, &query, LimitKind::SpillBytes);
    }
}

#[test]
fn exponential_expansion_is_stopped_while_preparing() {
    let mut query = "WITH a0 AS (SELECT 1 AS x FROM t)".to_owned();
    for i in 1..40 {
        query += &format!(", a{i} AS (SELECT l.x FROM a{} AS l, a{} AS r)", i - 1, i - 1);
    }
    query += " SELECT count(*) FROM a39";
    // 2^39 joins: only a refusal ends at all.
    let verdict = verify(SqlLimits::default(), &query);
    let stopped = matches!(verdict.conclusion, Conclusion::Refused { .. });
    assert!(stopped && verdict.score == Some(0.0), "{verdict:?}");
}

#[test]
fn slow_single_steps_end_at_the_fence() {
    let limits = SqlLimits { wall_ms: 500, ..SqlLimits::default() };
    for query in [
        // One long text searched in another, again and again.
        format!(
            "{FOREVER} SELECT sum(instr(printf('%.90000c', 'a'), printf('%.45000c', 'a') || 'b')) FROM c"
        ),
        format!("{FOREVER} SELECT sum(printf('%.90000c', 'a') LIKE '%a%a%a%a%a%a%a%a%a%b') FROM c"),
        format!("{FOREVER} SELECT sum(printf('%.90000c', 'a') GLOB '*a*a*a*a*a*a*a*a*a*b') FROM c"),
    ] {
        let verdict = verify(limits, &query);
        assert!(verdict.limit.is_some(), "{query}: {verdict:?}");
    }
}

#[test]
fn long_and_deep_queries_end_early() {
    check_limit(SqlLimits::default(), &"x".repeat(1 << 20), LimitKind::QueryBytes);
    check_limit(SqlLimits::default(), &"SELECT 1;".repeat(200_000), LimitKind::QueryBytes);
    check_refused(&format!("SELECT {}1{} FROM t", "(".repeat(9000), ")".repeat(9000)));
    check_refused(&format!("SELECT {}1 FROM t", "-".repeat(9001)));
    check_refused(&format!("SELECT {}1 FROM t", "NOT ".repeat(4000)));
    check_refused(&"SELECT 1;".repeat(2000));
    check_refused(&";".repeat(19_999));
    check_refused(&"(".repeat(19_999));
    check_refused("SELECT '\u{202E}\u{0}");
}

#[test]
fn only_reading_is_allowed() {
    for query in [
        "INSERT INTO t VALUES (4, 'd')",
        "DELETE FROM t",
        "UPDATE t SET n = 0 RETURNING n",
        "WITH x AS (SELECT 1) DELETE FROM t RETURNING n",
        "WITH x AS (SELECT 1) INSERT INTO t SELECT 1, 'a' RETURNING n",
        "CREATE TEMP TABLE u AS SELECT * FROM t",
        "ATTACH '/etc/passwd' AS p",
        "DETACH main",
        "PRAGMA query_only = OFF",
        "PRAGMA table_info(t)",
        "SELECT * FROM pragma_table_info('t')",
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('x') FROM t",
        "SELECT readfile('/etc/passwd') FROM t",
        "SELECT writefile('/tmp/x', 'y') FROM t",
        "SELECT random() FROM t",
        "SELECT randomblob(3) FROM t",
        "SELECT n FROM t ORDER BY random()",
        "SELECT CURRENT_TIMESTAMP FROM t",
        "SELECT datetime('now') FROM t",
        "VACUUM INTO '/tmp/stolen.sqlite'",
        "BEGIN",
        "SAVEPOINT s",
        "EXPLAIN SELECT n FROM t",
        "SELECT n FROM t; DROP TABLE t",
        "SELECT ? FROM t",
    ] {
        check_refused(query);
    }
}

#[test]
fn a_file_is_never_written_and_survives_every_attack() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(SCRIPT).unwrap();
    let before = std::fs::read(&path).unwrap();
    let database = Database::open(&path).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig { limits: few_steps(), ..SqlConfig::default() }).unwrap();
    let expected = Expected::Query("SELECT n FROM t".to_owned());
    let endless = format!("{FOREVER} SELECT max(x) FROM c");
    for attack in ["DELETE FROM t", "WITH x AS (SELECT 1) DELETE FROM t RETURNING n", endless.as_str()] {
        assert_eq!(verifier.verify(&database, attack, &expected).passed(), Some(false));
        // The connection goes back to the pool and still works.
        assert_eq!(verifier.verify(&database, "SELECT n FROM t", &expected).passed(), Some(true));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_reference_that_reaches_a_limit_is_the_tasks_fault() {
    let database = Database::script(SCRIPT).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig { limits: few_steps(), ..SqlConfig::default() }).unwrap();
    let expected = Expected::Query(format!("{FOREVER} SELECT max(x) FROM c"));
    let verdict = verifier.verify(&database, "SELECT n FROM t", &expected);
    assert!(matches!(verdict.conclusion, Conclusion::BadReference { .. }) && verdict.score.is_none());
}

#[test]
fn a_database_that_cannot_be_used_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Database::open(folder.path().join("none.sqlite")).unwrap_err();
    assert!(matches!(&missing, DatabaseError::Path { .. }) && missing.to_string().contains("none.sqlite"));
    let junk = folder.path().join("junk.sqlite");
    std::fs::write(&junk, vec![7; 10_000]).unwrap();
    assert!(matches!(Database::open(&junk).unwrap_err(), DatabaseError::Open { .. }));
    for script in
        ["CREATE TABLE", "ATTACH '/tmp/x' AS y", "PRAGMA journal_mode = WAL", "SELECT load_extension('x')"]
    {
        assert!(matches!(Database::script(script).unwrap_err(), DatabaseError::Script { .. }), "{script}");
    }
    let dump =
        "PRAGMA foreign_keys=OFF; BEGIN TRANSACTION; CREATE TABLE t (n); INSERT INTO t VALUES (1); COMMIT;";
    assert!(Database::script(dump).is_ok());
}

#[test]
fn a_damaged_file_is_the_graders_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE t (n); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 5000) INSERT INTO t SELECT x FROM c;").unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0xAA);
    std::fs::write(&path, bytes).unwrap();
    let database = Database::open(&path).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig::default()).unwrap();
    let verdict =
        verifier.verify(&database, "SELECT n FROM t", &Expected::Query("SELECT n FROM t".to_owned()));
    assert!(
        matches!(verdict.conclusion, Conclusion::GraderFailed { .. }) && verdict.score.is_none(),
        "{verdict:?}"
    );
}
