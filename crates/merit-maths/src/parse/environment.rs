//! `\begin{…}`: matrices, determinants, cases, systems of equations and aligned lines.

use super::ParseError;
use super::answer::assemble;
use super::cursor::Parser;
use super::kind::Kind;
use crate::{Budget, Expr, Function};

impl Parser<'_> {
    /// The environment that begins here.
    pub(super) fn environment(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let begin = self.take();
        let name = self.source(begin).trim_end_matches('*');
        match name {
            "matrix" | "pmatrix" | "bmatrix" | "Bmatrix" | "smallmatrix" | "array" | "tabular" => {
                self.matrix(budget)
            }
            "vmatrix" => Ok(Expr::Apply(Function::Determinant, vec![self.matrix(budget)?])),
            "Vmatrix" => Ok(Expr::Apply(Function::Norm, vec![self.matrix(budget)?])),
            "cases" | "dcases" | "rcases" => self.cases(budget),
            _ => self.lines(budget),
        }
    }

    fn matrix(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let rows = self.rows(budget)?;
        let length = rows.first().map_or(0, Vec::len);
        if length == 0 || rows.iter().any(|row| row.len() != length) {
            return self.unexpected("rows of one length");
        }
        Ok(Expr::Matrix(rows))
    }

    fn cases(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.rows(budget).map(system)
    }

    /// Cells between `&` and `\\` up to the end of the environment.
    fn rows(&mut self, budget: &mut Budget) -> Result<Vec<Vec<Expr>>, ParseError> {
        let mut rows = Vec::new();
        let mut row = Vec::new();
        loop {
            budget.spend(1)?;
            match self.kind() {
                Kind::EndOf => {
                    self.at += 1;
                    break;
                }
                Kind::Ampersand | Kind::Comma => self.at += 1,
                Kind::RowBreak => {
                    self.at += 1;
                    if !row.is_empty() {
                        rows.push(std::mem::take(&mut row));
                    }
                }
                _ => {
                    let cell = self.enclosed(budget, false, |parser, budget| parser.cell(budget))?;
                    row.push(cell);
                    let ends =
                        matches!(self.kind(), Kind::EndOf | Kind::Ampersand | Kind::RowBreak | Kind::Comma);
                    if !ends {
                        return self.unexpected("the end of a cell");
                    }
                }
            }
        }
        if !row.is_empty() {
            rows.push(row);
        }
        Ok(rows)
    }

    fn cell(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let cell = self.relation(budget)?;
        self.eat(Kind::Dot);
        Ok(cell)
    }

    /// `aligned` and its like: what stands on the lines, one after the other.
    fn lines(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let items = self.enclosed(budget, false, |parser, budget| parser.items(budget))?;
        match self.kind() {
            Kind::EndOf => self.at += 1,
            Kind::End => {}
            _ => return self.unexpected("the end of the environment"),
        }
        Ok(assemble(items))
    }
}

/// Rows as equations that hold together, or as values with conditions.
pub(super) fn system(rows: Vec<Vec<Expr>>) -> Expr {
    if rows.iter().all(|row| row.len() == 1) {
        return Expr::Chain(rows.into_iter().flatten().collect());
    }
    let pieces = rows.into_iter().map(|row| {
        let mut cells = row.into_iter();
        let value = cells.next().unwrap_or(Expr::Truth(true));
        (value, condition(cells.next()))
    });
    Expr::Piecewise(pieces.collect())
}

/// What stands beside a value, without its `if`.
fn condition(cell: Option<Expr>) -> Expr {
    match cell {
        None => Expr::Truth(true),
        Some(Expr::Labelled(label, condition))
            if matches!(&*label, "if" | "for" | "when" | "If" | "where") =>
        {
            *condition
        }
        Some(Expr::Text(words)) if matches!(&*words, "otherwise" | "else" | "Otherwise") => Expr::Truth(true),
        Some(other) => other,
    }
}
