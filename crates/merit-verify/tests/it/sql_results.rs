//! What counts as the same result of a query.

use merit_verify::Conclusion;
use merit_verify::sql::{
    Cell, Database, Difference, Expected, ExpectedRows, Extract, SqlConfig, SqlLimits, SqlVerdict,
    SqlVerifier,
};

const PEOPLE: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER, pay REAL);
    INSERT INTO people VALUES
        (1, 'Ann', 'Oslo', 30, 10.5), (2, 'Bob', 'Rome', 40, 20.25), (3, 'Cid', 'Oslo', 30, 0.1),
        (4, 'Dee', NULL, 50, 0.2), (5, 'Eve', 'Rome', 30, NULL);
    CREATE VIEW olds AS SELECT name FROM people WHERE age >= 40;
";

fn verify_with(config: SqlConfig, response: &str, reference: &str) -> SqlVerdict {
    let database = Database::script(PEOPLE).unwrap();
    let expected = Expected::Query(reference.to_owned());
    SqlVerifier::compile(config).unwrap().verify(&database, response, &expected)
}

fn check(response: &str, reference: &str, equal: bool) {
    let verdict = verify_with(SqlConfig::default(), response, reference);
    assert_eq!(verdict.passed(), Some(equal), "{response}\n{reference}\n{verdict:?}");
}

#[test]
fn rows_are_a_multiset_where_the_reference_does_not_order() {
    check("SELECT name FROM people ORDER BY name DESC", "SELECT name FROM people", true);
    check("SELECT city FROM people", "SELECT DISTINCT city FROM people", false);
    check("SELECT DISTINCT city FROM people", "SELECT city FROM people", false);
}

#[test]
fn order_counts_where_the_reference_orders() {
    check("SELECT name FROM people ORDER BY name", "SELECT name FROM people ORDER BY name", true);
    check("SELECT name FROM people ORDER BY name DESC", "SELECT name FROM people ORDER BY name", false);
    let verdict = verify_with(
        SqlConfig::default(),
        "SELECT name FROM people ORDER BY name DESC",
        "SELECT name FROM people ORDER BY name",
    );
    assert!(matches!(verdict.difference, Some(Difference::Order { .. })));
}

#[test]
fn an_order_inside_a_sub_query_is_not_the_order_of_the_result() {
    let reference = "SELECT name FROM (SELECT name FROM people ORDER BY name)";
    check("SELECT name FROM people ORDER BY name DESC", reference, true);
}

#[test]
fn ties_may_come_in_any_order() {
    // Ann, Cid and Eve are 30: any order among them, but before Bob.
    let reference = "SELECT name, age FROM people ORDER BY age";
    check("SELECT name, age FROM people ORDER BY age, name DESC", reference, true);
    check("SELECT name, age FROM people ORDER BY age DESC", reference, false);
}

#[test]
fn ties_are_seen_also_when_the_result_does_not_show_the_key() {
    let reference = "SELECT name FROM people ORDER BY age";
    check("SELECT name FROM people ORDER BY age, name DESC", reference, true);
    check("SELECT name FROM people ORDER BY name", reference, false);
    check(
        "SELECT name FROM people ORDER BY length(name), age, id",
        "SELECT name FROM people ORDER BY age + 0",
        true,
    );
}

#[test]
fn any_of_the_tied_rows_may_fill_the_last_places() {
    let reference = "SELECT name FROM people ORDER BY age LIMIT 2";
    check("SELECT name FROM people ORDER BY age, name DESC LIMIT 2", reference, true);
    check("SELECT name FROM people WHERE name IN ('Ann', 'Bob')", reference, false);
    check("SELECT name FROM people WHERE name = 'Ann'", reference, false);
    check("SELECT 'Ann' FROM people LIMIT 2", reference, false);
    check(
        "SELECT name FROM people ORDER BY age, name DESC LIMIT 1",
        "SELECT name FROM people ORDER BY age LIMIT 1",
        true,
    );
}

#[test]
fn a_union_or_distinct_orders_by_what_it_shows() {
    let reference = "SELECT DISTINCT age FROM people ORDER BY age";
    check("SELECT age FROM people GROUP BY age ORDER BY 1", reference, true);
    check("SELECT age FROM people GROUP BY age ORDER BY 1 DESC", reference, false);
    let union =
        "SELECT name FROM people WHERE id < 3 UNION SELECT name FROM people WHERE id > 3 ORDER BY name";
    check("SELECT name FROM people WHERE id <> 3 ORDER BY name", union, true);
    check("SELECT name FROM people WHERE id <> 3 ORDER BY name DESC", union, false);
}

#[test]
fn values_are_compared_by_type_and_value() {
    check("SELECT age * 1.0 FROM people", "SELECT age FROM people", true);
    check("SELECT CAST(age AS TEXT) FROM people", "SELECT age FROM people", false);
    check("SELECT coalesce(city, '') FROM people", "SELECT city FROM people", false);
    check("SELECT 0.1 * (10 * pay) FROM people", "SELECT pay FROM people", true);
    let exact = SqlConfig { tolerance: 0.0, ..SqlConfig::default() };
    let verdict = verify_with(
        exact,
        "SELECT 0.3 FROM people WHERE id = 1",
        "SELECT 0.1 + 0.2 FROM people WHERE id = 1",
    );
    assert_eq!(verdict.passed(), Some(false));
}

#[test]
fn columns_count_and_their_names_where_asked() {
    check("SELECT name, id FROM people", "SELECT name FROM people", false);
    check("SELECT name AS n FROM people", "SELECT name FROM people", true);
    let named = SqlConfig { column_names: true, ..SqlConfig::default() };
    let verdict = verify_with(named.clone(), "SELECT name AS n FROM people", "SELECT name FROM people");
    assert!(matches!(verdict.difference, Some(Difference::ColumnName { column: 0, .. })));
    assert_eq!(
        verify_with(named, "SELECT name AS NAME FROM people", "SELECT name FROM people").score,
        Some(1.0)
    );
}

#[test]
fn the_first_rows_that_differ_are_shown() {
    let verdict = verify_with(
        SqlConfig::default(),
        "SELECT name FROM people WHERE id IN (1, 2)",
        "SELECT name FROM people WHERE id IN (1, 3)",
    );
    let Some(Difference::Rows { unmatched: 1, first }) = verdict.detail.difference else {
        panic!("{verdict:?}");
    };
    assert_eq!(first[0].response, Some((1, vec![Cell::Text("Bob".into())])));
    assert_eq!(first[0].reference, Some((1, vec![Cell::Text("Cid".into())])));
}

#[test]
fn partial_credit_is_given_only_where_asked() {
    let partial = SqlConfig { partial_credit: true, ..SqlConfig::default() };
    let score = |config: &SqlConfig, response: &str, reference: &str| {
        verify_with(config.clone(), response, reference).score
    };
    let (response, reference) = ("SELECT name FROM people WHERE id < 4", "SELECT name FROM people");
    assert_eq!(score(&SqlConfig::default(), response, reference), Some(0.0));
    assert_eq!(score(&partial, response, reference), Some(0.6)); // three of five rows
    assert_eq!(score(&partial, "SELECT name, id FROM people", reference), Some(0.5)); // one of two columns
    assert_eq!(score(&partial, "SELECT nothing FROM people", reference), Some(0.0));
}

#[test]
fn whose_doing_it_is_is_told() {
    let conclusion = |response: &str, reference: &str| {
        let verdict = verify_with(SqlConfig::default(), response, reference);
        (verdict.conclusion, verdict.score)
    };
    let good = "SELECT name FROM people";
    assert!(matches!(conclusion("SELECT x FROM people", good), (Conclusion::Refused { .. }, Some(0.0))));
    assert!(matches!(conclusion("", good), (Conclusion::Refused { .. }, Some(0.0))));
    assert!(matches!(conclusion(good, "SELECT x FROM people"), (Conclusion::BadReference { .. }, None)));
    assert!(matches!(conclusion(good, "DROP TABLE people"), (Conclusion::BadReference { .. }, None)));
    // Both empty: any query that finds nothing would win.
    let nothing = "SELECT name FROM people WHERE 0";
    assert!(matches!(conclusion(nothing, nothing), (Conclusion::BadReference { .. }, None)));
}

#[test]
fn stating_the_answer_is_not_finding_it() {
    let verdict = verify_with(SqlConfig::default(), "SELECT 5", "SELECT count(*) FROM people");
    assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }), "{verdict:?}");
    let allowed = SqlConfig { allow_constant: true, ..SqlConfig::default() };
    assert_eq!(verify_with(allowed, "SELECT 5", "SELECT count(*) FROM people").score, Some(1.0));
    check("SELECT count(*) FROM people", "SELECT count(id) FROM people", true);
    check("SELECT name FROM olds", "SELECT name FROM people WHERE age >= 40", true);
}

#[test]
fn rows_may_be_given_instead_of_a_query() {
    let database = Database::script(PEOPLE).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig::default()).unwrap();
    let rows = vec![vec![Cell::Text("Bob".into())], vec![Cell::Text("Ann".into())]];
    let given = |ordered| Expected::Rows(ExpectedRows { columns: None, rows: rows.clone(), ordered });
    let response = "SELECT name FROM people WHERE id < 3 ORDER BY id";
    assert_eq!(verifier.verify(&database, response, &given(false)).passed(), Some(true));
    assert_eq!(verifier.verify(&database, response, &given(true)).passed(), Some(false));
    let ragged =
        Expected::Rows(ExpectedRows { columns: None, rows: vec![vec![Cell::Null], vec![]], ordered: false });
    assert_eq!(verifier.verify(&database, response, &ragged).passed(), None);
    let json: Expected =
        serde_json::from_str(r#"{"rows": {"rows": [["Ann"], ["Bob"]], "ordered": true}}"#).unwrap();
    assert_eq!(verifier.verify(&database, response, &json).passed(), Some(true));
}

#[test]
fn a_query_may_stand_in_a_fenced_block() {
    let fenced = SqlConfig { extract: Extract::LastFence, ..SqlConfig::default() };
    let response = "I would write:\n```sql\nSELECT name FROM people;\n```\n";
    assert_eq!(verify_with(fenced, response, "SELECT name FROM people").passed(), Some(true));
    check(response, "SELECT name FROM people", false);
}

#[test]
fn configs_refuse_unknown_keys_and_impossible_numbers() {
    let unknown = toml::from_str::<SqlConfig>("tolerence = 0.1").unwrap_err().to_string();
    assert!(unknown.contains("unknown field `tolerence`"), "{unknown}");
    let config: SqlConfig = toml::from_str("tolerance = 2.0").unwrap();
    let refused = SqlVerifier::compile(config).unwrap_err().to_string();
    assert!(refused.contains("`tolerance` is 2"), "{refused}");
    let config: SqlConfig = toml::from_str("partial_credit = true\n[limits]\nrows = 10").unwrap();
    assert!(SqlVerifier::compile(config).is_ok());
}

#[test]
fn many_threads_share_one_database_and_agree() {
    use rayon::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(PEOPLE).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig::default()).unwrap();
    let expected = Expected::Query("SELECT name, age FROM people ORDER BY age".to_owned());
    for database in [Database::open(&path).unwrap(), Database::script(PEOPLE).unwrap()] {
        let judge = |i: usize| {
            let response = [
                "SELECT name, age FROM people ORDER BY age, id DESC",
                "SELECT 1",
                "SELECT * FROM people",
                "x",
            ][i % 4];
            verifier.verify(&database, response, &expected)
        };
        let alone: Vec<SqlVerdict> = (0..64).map(judge).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let together: Vec<SqlVerdict> = pool.install(|| (0..64).into_par_iter().map(judge).collect());
        assert_eq!(alone, together);
    }
}

#[test]
fn a_constant_dressed_as_a_query_is_refused() {
    let reference = "SELECT count(*) FROM people WHERE city = 'Oslo'";
    for constant in [
        "SELECT 2 FROM people LIMIT 1",
        "SELECT 2 FROM (SELECT 1 FROM people) LIMIT 1",
        "SELECT value FROM json_each('[2]'), people LIMIT 1",
        "SELECT CASE WHEN count(*) = 5 THEN 2 ELSE 0 END FROM people",
        "SELECT max(2) FROM people",
        "WITH a(n) AS (SELECT 2 UNION SELECT 2 FROM people) SELECT n FROM a",
    ] {
        let verdict = verify_with(SqlConfig::default(), constant, reference);
        assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }), "{constant}: {verdict:?}");
    }
    let given =
        Expected::Rows(ExpectedRows { rows: vec![vec![Cell::Integer(2)]], columns: None, ordered: false });
    let database = Database::script(PEOPLE).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig::default()).unwrap();
    assert_eq!(verifier.verify(&database, "SELECT 2 FROM people LIMIT 1", &given).passed(), Some(false));
    assert_eq!(verifier.verify(&database, reference, &given).passed(), Some(true));
}

#[test]
fn where_rows_are_given_a_constant_beside_an_emptied_table_is_refused() {
    // Tables of a row or two, which variations of the database leave empty: then even a constant says nothing, which is no answer
    // that follows the data.
    let script = "CREATE TABLE one (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO one VALUES (1, 7);
                  CREATE TABLE two (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO two VALUES (1, 3), (2, 4);";
    let database = Database::script(script).unwrap();
    let verifier = SqlVerifier::compile(SqlConfig::default()).unwrap();
    let of = |cell| Expected::Rows(ExpectedRows { rows: vec![vec![cell]], columns: None, ordered: false });
    let seven = of(Cell::Integer(7));
    for constant in [
        "SELECT 7 FROM one",
        "SELECT 7 FROM two LIMIT 1",
        "SELECT 7 FROM one, two LIMIT 1",
        "SELECT max(7) FROM one",
        "SELECT 7 FROM two WHERE id = 1",
        "SELECT value FROM json_each('[7]'), one",
    ] {
        let verdict = verifier.verify(&database, constant, &seven);
        assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }), "{constant}: {verdict:?}");
    }
    assert_eq!(verifier.verify(&database, "SELECT sum(n) FROM two", &seven).passed(), Some(true));
}

#[test]
fn queries_that_find_the_answer_by_another_way_are_paid() {
    check("SELECT sum(city = 'Oslo') FROM people", "SELECT count(*) FROM people WHERE city = 'Oslo'", true);
    check(
        "SELECT name FROM people WHERE pay = (SELECT max(pay) FROM people)",
        "SELECT name FROM people ORDER BY pay DESC LIMIT 1",
        true,
    );
    check("SELECT avg(age) FROM people", "SELECT sum(age) * 1.0 / count(age) FROM people", true);
    check("SELECT name FROM people WHERE id IN (2, 4)", "SELECT name FROM olds", false);
}

/// The verdict on a query, where only rows are given: what the query itself gives on the database.
fn judged_by_rows(query: &str) -> SqlVerdict {
    let database = Database::script(PEOPLE).unwrap();
    let rows = database.ask(query, &SqlLimits::default(), 100).unwrap().table.rows;
    let given = Expected::Rows(ExpectedRows { rows, columns: None, ordered: false });
    SqlVerifier::compile(SqlConfig::default()).unwrap().verify(&database, query, &given)
}

#[test]
fn where_rows_are_given_a_guarded_constant_is_refused() {
    for constant in [
        "SELECT CASE WHEN (SELECT count(*) FROM people) > 0 THEN 3 END",
        "SELECT 3 WHERE EXISTS (SELECT 1 FROM people)",
        "SELECT 3 WHERE (SELECT count(*) FROM people) = 5",
        "SELECT CASE WHEN count(*) = 5 THEN 2 ELSE 0 END FROM people",
        "SELECT CASE WHEN count(*) = 5 THEN 1 ELSE 0 END FROM people",
        "SELECT CASE WHEN count(*) = 5 THEN 2 ELSE sum(age) END FROM people",
        "SELECT CASE WHEN count(*) = 5 THEN 1 + 1 ELSE sum(age) END FROM people",
        "SELECT CASE WHEN count(*) = 5 THEN 'B' || 'ob' ELSE max(name) END FROM people",
        "SELECT CASE WHEN count(*) = 5 THEN length('abc') ELSE max(age) END FROM people",
        "SELECT iif(count(*) = 5, 'Bob', name) FROM people",
        "SELECT coalesce((SELECT NULL FROM people), 3)",
        "SELECT max(3, (SELECT count(*) FROM people WHERE id > 100)) FROM people LIMIT 1",
        "WITH c(x) AS (SELECT 2) SELECT CASE WHEN count(*) = 5 THEN x ELSE x * sum(age) END FROM c, people",
        "SELECT value FROM json_each('[7]') WHERE (SELECT count(*) FROM people) = 5",
        "SELECT 'Ann' WHERE (SELECT count(*) FROM people) = 5 UNION SELECT 'Bob'",
        "SELECT 'Oslo', 2 FROM people WHERE city = 'Oslo' AND age = 30 LIMIT 1",
        "SELECT city, 2 FROM people WHERE city = 'Oslo' AND age = 30 LIMIT 1",
    ] {
        let verdict = judged_by_rows(constant);
        assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }), "{constant}: {verdict:?}");
    }
}

#[test]
fn where_rows_are_given_numbers_and_texts_of_an_honest_query_are_no_answers() {
    for honest in [
        "SELECT count(*) FROM people WHERE city = 'Oslo'",
        "SELECT count(*) FROM people WHERE name = 'Ann'",
        "SELECT sum(CASE WHEN city = 'Oslo' THEN 1 ELSE 0 END) FROM people",
        "SELECT sum(CASE WHEN age > 40 THEN 1 ELSE 0 END) FROM people",
        "SELECT sum(CASE WHEN name = 'Ann' THEN 1 END) FROM people",
        "SELECT count(*) + 1 FROM people",
        "SELECT 100.0 * sum(age = 30) / count(*) FROM people",
        "SELECT round(avg(age), 2) FROM people",
        "SELECT age * 12 FROM people",
        "SELECT age * 1.0 FROM people WHERE id = 2",
        "SELECT name FROM people WHERE name = 'Ann'",
        "SELECT substr(name, 1, 2) FROM people ORDER BY id LIMIT 3",
        "SELECT name || ' of ' || city FROM people WHERE city IS NOT NULL",
        "SELECT group_concat(name, ', ') FROM people WHERE age = 30",
        "SELECT coalesce(city, 'unknown') FROM people",
        "SELECT 'Oslo', count(*) FROM people WHERE city = 'Oslo'",
        "SELECT 'total', count(*) FROM people",
        "SELECT CASE WHEN count(*) > 3 THEN 'yes' ELSE 'no' END FROM people",
        "SELECT name, CASE WHEN age > 30 THEN 'old' ELSE 'young' END FROM people",
        "SELECT CASE WHEN age > 30 THEN 1 ELSE 0 END FROM people",
        "SELECT CASE WHEN age > 30 THEN 50 ELSE 20 END FROM people",
        "SELECT count(*) > 3 FROM people",
        "SELECT EXISTS (SELECT 1 FROM people WHERE pay > 20)",
    ] {
        let verdict = judged_by_rows(honest);
        assert_eq!(verdict.passed(), Some(true), "{honest}: {verdict:?}");
    }
}

#[test]
fn where_no_variation_changes_the_reference_a_guarded_constant_is_refused() {
    // There is one count, whatever the rows are.
    let reference = "SELECT count(*) FROM (SELECT count(*) FROM people)";
    let verdict = verify_with(
        SqlConfig::default(),
        "SELECT CASE WHEN (SELECT count(*) FROM people) >= 0 THEN 1 END",
        reference,
    );
    assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }), "{verdict:?}");
    check("SELECT count(n) FROM (SELECT count(*) AS n FROM people)", reference, true);
}
