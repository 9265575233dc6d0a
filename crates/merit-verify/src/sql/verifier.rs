//! A compiled SQL verifier: the reference first, then the response, then the comparison.

use super::compare::compare;
use super::execute::{Ran, Stopped, run};
use super::extract::extract;
use super::order::Reference;
use super::stated::stated;
use super::variation::USED;
use super::{
    Cell, Database, Expected, ExpectedRows, ResultShape, SqlConfig, SqlConfigError, SqlDetail, SqlVerdict,
    Table,
};
use merit_core::{Conclusion, Judgement};

/// Judges queries. `verify` takes `&self`; any number of threads may share a verifier and a database.
#[derive(Debug, Clone)]
pub struct SqlVerifier {
    config: SqlConfig,
}

impl SqlVerifier {
    pub fn compile(config: SqlConfig) -> Result<Self, SqlConfigError> {
        config.check()?;
        Ok(Self { config })
    }

    /// Judges one response on a database.
    pub fn verify(&self, database: &Database, response: &str, expected: &Expected) -> SqlVerdict {
        let reference = match self.reference(database, expected) {
            Ok(reference) => reference,
            Err(conclusion) => return Judgement::unmeasured(conclusion, SqlDetail::default()),
        };
        let about = SqlDetail {
            reference: Some(ResultShape::of(&reference.table)),
            ordered: reference.ordered,
            ..SqlDetail::default()
        };
        let query = match extract(self.config.extract, response) {
            Ok(query) => query,
            Err(why) => return Judgement::unmeasured(Conclusion::refused(why), about),
        };
        match run(database, &self.config, query) {
            Ok(ran) => {
                let given = ran.table.clone();
                let verdict = self.judge(ran, &reference, about);
                let passed = verdict.conclusion == Conclusion::Pass;
                if passed { self.vary(database, query, &given, expected, verdict) } else { verdict }
            }
            Err(Stopped::Query(why)) => Judgement::unmeasured(Conclusion::refused(why), about),
            Err(Stopped::Limit(limit)) => {
                let why = format!("the query reaches a limit: {limit:?}");
                Judgement::unmeasured(Conclusion::refused(why), SqlDetail { limit: Some(limit), ..about })
            }
            Err(Stopped::Grader(why)) => Judgement::unmeasured(Conclusion::grader_failed(why), about),
        }
    }

    /// Refuses a query whose answer does not follow the data. With a reference query, it is compared on variations of the database
    /// in which the reference's answer is another one; most must agree. With rows alone, or where no variation changes the
    /// reference's answer, the answer must change in one of them, and no column of it may come from the query's own text.
    fn vary(
        &self,
        database: &Database,
        query: &str,
        given: &Table,
        expected: &Expected,
        verdict: SqlVerdict,
    ) -> SqlVerdict {
        if self.config.allow_constant {
            return verdict;
        }
        let asked = |varied: &Database| run(varied, &self.config, query).ok().map(|ran| ran.table);
        let (mut matched, mut usable) = (0_usize, 0_usize);
        match expected {
            Expected::Query(sql) => {
                for varied in database.variations() {
                    if usable == USED {
                        break;
                    }
                    let Ok(reference) = Reference::query(varied, &self.config, sql.trim()) else { continue };
                    if compare(&self.config, given, &reference).difference.is_some() {
                        usable += 1;
                        let follows =
                            |table: Table| compare(&self.config, &table, &reference).difference.is_none();
                        matched += usize::from(asked(varied).is_some_and(follows));
                    }
                }
                if usable == 0 && stated(database, &self.config, sql.trim(), given).is_none() {
                    return self.found(database, query, given, verdict);
                }
            }
            Expected::Rows(_) => {
                // A table that lost its rows gives nothing to a constant beside it either.
                let says = |table: &Table| table.rows.iter().flatten().any(|cell| *cell != Cell::Null);
                let others = database.variations().chain(database.doubled());
                for table in others.filter_map(asked).filter(says) {
                    if table.rows != given.rows {
                        return self.found(database, query, given, verdict);
                    }
                    usable += 1;
                }
                if usable == 0 {
                    return self.found(database, query, given, verdict);
                }
            }
        }
        if 2 * matched >= usable {
            return verdict;
        }
        let why = format!(
            "the answer does not follow the data: when the rows change, {matched} of {usable} answers are right; the query states \
             an answer instead of finding one"
        );
        Judgement::unmeasured(Conclusion::refused(why), verdict.detail)
    }

    /// Refuses an answer that the query states, where no other database can tell it from one that was found.
    fn found(&self, database: &Database, query: &str, given: &Table, verdict: SqlVerdict) -> SqlVerdict {
        match stated(database, &self.config, query, given) {
            None => verdict,
            Some(literal) => {
                let why = format!(
                    "the answer does not follow the data: `{literal}` of the query comes out as a value of the answer; read it from \
                     a column, or count it"
                );
                Judgement::unmeasured(Conclusion::refused(why), verdict.detail)
            }
        }
    }

    fn judge(&self, ran: Ran, reference: &Reference, about: SqlDetail) -> SqlVerdict {
        let reads_none = ran.tables.iter().all(|table| table.starts_with("sqlite_"));
        let reference_reads = reference.tables.as_ref().is_none_or(|tables| !tables.is_empty());
        let response = Some(ResultShape::of(&ran.table));
        let about = SqlDetail { response, tables: ran.tables, steps: ran.steps, ..about };
        if reads_none && reference_reads && !self.config.allow_constant {
            let why = "the query reads no table: it states an answer instead of finding one";
            return Judgement::unmeasured(Conclusion::refused(why), about);
        }
        let compared = compare(&self.config, &ran.table, reference);
        let score = match compared.difference {
            None => 1.0,
            Some(_) if self.config.partial_credit => compared.share,
            Some(_) => 0.0,
        };
        let difference = compared.difference;
        Judgement::scored(difference.is_none(), score, SqlDetail { difference, ..about })
    }

    fn reference(&self, database: &Database, expected: &Expected) -> Result<Reference, Conclusion> {
        let reference = match expected {
            Expected::Query(sql) => {
                Reference::query(database, &self.config, sql.trim()).map_err(|stopped| match stopped {
                    Stopped::Query(why) => {
                        Conclusion::bad_reference(format!("the reference query fails: {why}"))
                    }
                    Stopped::Limit(limit) => {
                        Conclusion::bad_reference(format!("the reference query reaches a limit: {limit:?}"))
                    }
                    Stopped::Grader(why) => Conclusion::grader_failed(why),
                })?
            }
            Expected::Rows(rows) => self.given(rows).map_err(Conclusion::bad_reference)?,
        };
        if reference.table.rows.is_empty() && !self.config.allow_empty {
            return Err(Conclusion::bad_reference(
                "the reference gives no rows, so every query that finds nothing would match; set `allow_empty` to use it",
            ));
        }
        Ok(reference)
    }

    /// Rows that the task gives.
    fn given(&self, given: &ExpectedRows) -> Result<Reference, String> {
        let width = match (&given.columns, given.rows.first()) {
            (Some(columns), _) => columns.len(),
            (None, Some(row)) => row.len(),
            (None, None) => return Err("there are neither rows nor names of columns".to_owned()),
        };
        if let Some(at) = given.rows.iter().position(|row| row.len() != width) {
            return Err(format!("row {at} does not have {width} values"));
        }
        if self.config.column_names && given.columns.is_none() {
            return Err("`column_names` is set, but the expected rows do not name their columns".to_owned());
        }
        let columns = given.columns.clone().unwrap_or_else(|| vec![String::new(); width]);
        let table = Table { columns, rows: given.rows.clone() };
        Ok(if given.ordered { Reference::in_order(table, None) } else { Reference::unordered(table, None) })
    }
}

impl ResultShape {
    fn of(table: &Table) -> Self {
        Self { columns: table.columns.len(), rows: table.rows.len() }
    }
}
