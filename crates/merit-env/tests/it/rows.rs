//! The hidden table answers what it is asked, and says what is wrong with a question.

use merit_env::rows::{Aggregate, Query, Row};

fn table() -> Vec<Row> {
    let row = |city: &str, item: &str, price| Row { city: city.to_owned(), item: item.to_owned(), price };
    vec![row("oslo", "mug", 40), row("oslo", "pen", 12), row("rome", "mug", 99)]
}

#[test]
fn a_query_is_answered_over_the_rows_that_fit() {
    let check =
        |text: &str, want: u64| assert_eq!(Query::read(text).unwrap().value(&table()), want, "{text}");
    check("select sum(price) where city=oslo", 52);
    check("select max(price)", 99);
    check("select min(price) where item=mug", 40);
    check("select count(price) where city=oslo and item=mug", 1);
    check("select sum(price) where city=nowhere", 0);
}

#[test]
fn a_query_reads_back_as_it_was_written() {
    for (city, item) in [(None, None), (Some("rome"), None), (Some("oslo"), Some("hat"))] {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let query = Query { of: Aggregate::Count, city: owned(city), item: owned(item) };
        assert_eq!(Query::read(&query.sql()).unwrap(), query);
    }
}

#[test]
fn what_is_no_query_is_refused_with_the_reason() {
    let check = |text: &str, why: &str| assert_eq!(Query::read(text).unwrap_err(), why, "{text}");
    check("drop table", "a query begins with select");
    check("select avg(price)", "only sum, max, min and count are known");
    check("select sum(price) where price=3", "the columns are city and item");
    check("select sum(price) where city=oslo and city=rome", "city is asked twice");
    check("select sum(price) where city", "a condition is COLUMN=VALUE");
}
