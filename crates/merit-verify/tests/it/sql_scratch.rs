//! A database that an agent may change: whole statements, within its size, and nothing beside it.

use merit_verify::sql::{Cell, Database, DatabaseError, Done, LimitKind, Scratch, SqlLimits, SqlStop};

const SCRIPT: &str =
    "CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT UNIQUE); INSERT INTO t VALUES (1, 'a'), (2, 'b');
    CREATE TABLE u (t INTEGER REFERENCES t (n) ON DELETE CASCADE); INSERT INTO u VALUES (1), (1), (2);";

fn scratch() -> Scratch {
    Scratch::new(&Database::script(SCRIPT).unwrap().image().unwrap(), 1 << 20).unwrap()
}

fn run(scratch: &mut Scratch, statement: &str) -> Result<Done, SqlStop> {
    scratch.run(statement, &SqlLimits::default(), 100)
}

fn count(scratch: &mut Scratch, table: &str) -> Cell {
    match run(scratch, &format!("SELECT count(*) FROM {table}")) {
        Ok(Done::Rows(page)) => page.table.rows[0][0].clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_and_tables_are_changed() {
    let mut scratch = scratch();
    assert_eq!(run(&mut scratch, "INSERT INTO t VALUES (3, 'c'), (4, 'd')"), Ok(Done::Changed { rows: 2 }));
    assert_eq!(
        run(&mut scratch, "WITH x AS (SELECT 5 AS n) INSERT INTO t SELECT n, 'e' FROM x;"),
        Ok(Done::Changed { rows: 1 })
    );
    for statement in [
        "CREATE TABLE v (a, b DEFAULT 7)",
        "CREATE INDEX i ON v (a)",
        "CREATE VIEW w AS SELECT s FROM t",
        "ALTER TABLE v RENAME COLUMN b TO c",
        "ALTER TABLE v ADD COLUMN d",
        "DROP INDEX i",
        "DROP VIEW w",
        "DROP TABLE v",
    ] {
        assert_eq!(run(&mut scratch, statement), Ok(Done::Changed { rows: 0 }), "{statement}");
    }
    let Ok(Done::Rows(page)) = run(&mut scratch, "UPDATE t SET s = s || '!' WHERE n > 3 RETURNING n") else {
        panic!()
    };
    assert_eq!(page.table.rows, [[Cell::Integer(4)], [Cell::Integer(5)]]);
    assert_eq!(count(&mut scratch, "t"), Cell::Integer(5));
}

#[test]
fn references_cascade() {
    let mut scratch = scratch();
    assert!(run(&mut scratch, "DELETE FROM t WHERE n = 1").is_ok());
    assert_eq!(count(&mut scratch, "u"), Cell::Integer(1));
    assert!(matches!(run(&mut scratch, "INSERT INTO u VALUES (99)"), Err(SqlStop::Statement(_))));
}

#[test]
fn a_statement_that_fails_changes_nothing() {
    let mut scratch = scratch();
    let before = scratch.image().unwrap();
    assert!(matches!(
        run(&mut scratch, "INSERT INTO t VALUES (8, 'x'), (9, 'a')"),
        Err(SqlStop::Statement(_))
    ));
    assert_eq!(count(&mut scratch, "t"), Cell::Integer(2));
    let endless =
        "WITH RECURSIVE c(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM c) INSERT INTO t SELECT x, x FROM c";
    let limits = SqlLimits { steps: 100_000, ..SqlLimits::default() };
    assert_eq!(scratch.run(endless, &limits, 9), Err(SqlStop::Limit(LimitKind::Steps)));
    assert_eq!(count(&mut scratch, "t"), Cell::Integer(2));
    assert_eq!(scratch.image().unwrap().len(), before.len());
}

#[test]
fn it_grows_to_its_size_and_no_further() {
    let mut scratch = scratch();
    let fill = "WITH RECURSIVE c(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM c WHERE x < 3000)
        INSERT INTO t SELECT x, printf('%1000d', x) FROM c";
    assert_eq!(run(&mut scratch, fill), Err(SqlStop::Limit(LimitKind::DatabaseBytes)));
    assert_eq!(count(&mut scratch, "t"), Cell::Integer(2));
    assert!(run(&mut scratch, "INSERT INTO t VALUES (3, 'c')").is_ok());
    assert!(scratch.image().unwrap().len() <= 1 << 20);
}

#[test]
fn what_reaches_out_or_is_not_repeatable_is_refused() {
    let mut scratch = scratch();
    let before = scratch.image().unwrap();
    for statement in [
        "ATTACH 'other.db' AS o",
        "DETACH main",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "SAVEPOINT s",
        "CREATE TEMP TABLE x (a)",
        "CREATE TABLE temp.x (a)",
        "CREATE VIRTUAL TABLE x USING fts5 (a)",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "INSERT INTO t VALUES (random(), 'r')",
        "INSERT INTO t SELECT 7, load_extension('x')",
        "INSERT INTO t VALUES (9, date('now'))",
        "INSERT INTO t VALUES (9, CURRENT_TIMESTAMP)",
        "CREATE TABLE x (a, b DEFAULT CURRENT_TIMESTAMP)",
        "CREATE TABLE x (a, b DEFAULT (datetime('now')))",
        "UPDATE sqlite_schema SET sql = 'x'",
        "DELETE FROM t; DELETE FROM u",
        "INSERT INTO t VALUES (?, 'p')",
    ] {
        let got = run(&mut scratch, statement);
        assert!(matches!(got, Err(SqlStop::Statement(_))), "{statement}: {got:?}");
    }
    assert_eq!(scratch.image().unwrap(), before);
}

#[test]
fn an_image_continues_alike_and_copies_are_independent() {
    let mut original = scratch();
    run(&mut original, "INSERT INTO t (s) VALUES ('x')").unwrap();
    let image = original.image().unwrap();
    let mut copy = Scratch::new(&image, 1 << 20).unwrap();
    assert_eq!(copy.image().unwrap(), image);
    run(&mut copy, "DELETE FROM t").unwrap();
    assert_eq!((count(&mut copy, "t"), count(&mut original, "t")), (Cell::Integer(0), Cell::Integer(3)));
}

#[test]
fn images_that_are_none_are_refused() {
    let image = Database::script(SCRIPT).unwrap().image().unwrap();
    assert!(matches!(Scratch::new(b"not a database at all", 1 << 20), Err(DatabaseError::Image { .. })));
    let mut damaged = image.clone();
    damaged[4096..4300].fill(0xff);
    assert!(matches!(Scratch::new(&damaged, 1 << 20), Err(DatabaseError::Image { .. })));
    assert!(matches!(Scratch::new(&image, 4096), Err(DatabaseError::TooLarge { .. })));
    let clock = Database::script("CREATE TABLE x (a, b DEFAULT CURRENT_DATE)").unwrap().image().unwrap();
    assert!(matches!(Scratch::new(&clock, 1 << 20), Err(DatabaseError::Clock { .. })));
}

#[test]
fn a_file_written_ahead_can_be_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wal.sqlite");
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    writer.execute_batch(SCRIPT).unwrap();
    let mut copy = Scratch::new(&Database::open(&path).unwrap().image().unwrap(), 1 << 20).unwrap();
    assert_eq!(run(&mut copy, "DELETE FROM u"), Ok(Done::Changed { rows: 3 }));
    assert_eq!(writer.query_row("SELECT count(*) FROM u", [], |row| row.get::<_, i64>(0)), Ok(3));
}

#[test]
fn a_page_counts_what_it_does_not_show() {
    let database = Database::script(SCRIPT).unwrap();
    let ask = |query: &str, limits: &SqlLimits| database.ask(query, limits, 2);
    let numbers =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50) SELECT x FROM c";
    let page = ask(numbers, &SqlLimits::default()).unwrap();
    assert_eq!((page.table.rows.len(), page.more, page.is_counted), (2, 48, true));
    let page = ask(numbers, &SqlLimits { rows: 10, ..SqlLimits::default() }).unwrap();
    assert_eq!((page.more, page.is_counted), (10, false));
    for query in ["DELETE FROM t", "SELECT 1; SELECT 2", "SELECT nothing FROM t", "SELECT date('now')", ""] {
        assert!(matches!(ask(query, &SqlLimits::default()), Err(SqlStop::Statement(_))), "{query}");
    }
}
