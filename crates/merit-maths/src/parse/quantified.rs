//! Sums, products, limits and integrals, and the letters they bind.

use super::ParseError;
use super::cursor::{Parser, twice_deeper, whole};
use super::function::Scripts;
use super::kind::{Big, Kind};
use crate::{Budget, Constant, Expr, Quantifier, Relation};
use std::sync::Arc;

impl Parser<'_> {
    /// The big operator here with its limits and its body.
    pub(super) fn big(&mut self, big: Big, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.at += 1;
        let scripts = self.scripts(budget)?;
        match big {
            Big::Integral => twice_deeper(budget, |budget| self.integral(scripts, budget)),
            _ => budget.deeper(|budget| self.bound_body(big, scripts, budget)),
        }
    }

    fn bound_body(&mut self, big: Big, scripts: Scripts, budget: &mut Budget) -> Result<Expr, ParseError> {
        let (variable, from) = binding(scripts.below);
        let binds = [&*variable == "i", &*variable == "e"].map(u32::from);
        self.bound = [self.bound[0] + binds[0], self.bound[1] + binds[1]];
        let body = budget.deeper(|budget| self.product(budget)).map(Box::new);
        self.bound = [self.bound[0] - binds[0], self.bound[1] - binds[1]];
        Ok(quantified(big, body?, variable, from, scripts.above))
    }

    fn integral(&mut self, scripts: Scripts, budget: &mut Budget) -> Result<Expr, ParseError> {
        let outer = self.differential.take();
        self.integrals += 1;
        let body = match self.at_differential() {
            true => Ok(Box::new(whole(1))),
            false => budget.deeper(|budget| self.sum(budget)).map(Box::new),
        };
        if self.at_differential() {
            self.differential = Some(self.take_differential());
        }
        self.integrals -= 1;
        let body = body?;
        let Some(variable) = std::mem::replace(&mut self.differential, outer) else {
            return self.unexpected("the variable of the integral, as in `dx`");
        };
        Ok(Expr::Quantified {
            what: Quantifier::Integral,
            body,
            variable,
            from: scripts.below,
            to: scripts.above,
        })
    }

    /// Whether `dx` stands here and an integral waits for it.
    pub(super) fn at_differential(&self) -> bool {
        let token = self.token(0);
        if self.integrals == 0 || !matches!(token.kind, Kind::Word | Kind::Roman) {
            return false;
        }
        let word = self.source(token).trim();
        let next = self.token(1);
        match word.strip_prefix('d').map(str::len) {
            Some(0) => {
                matches!(next.kind, Kind::Letter(_)) || next.kind == Kind::Word && next.end - next.start == 1
            }
            Some(1) => true,
            _ => false,
        }
    }

    pub(super) fn take_differential(&mut self) -> Arc<str> {
        let token = self.take();
        match self.source(token).trim().strip_prefix('d') {
            Some(variable) if !variable.is_empty() => variable.into(),
            _ => match self.take() {
                token if matches!(token.kind, Kind::Word) => self.source(token).into(),
                token => match token.kind {
                    Kind::Letter(name) => name.into(),
                    _ => "".into(),
                },
            },
        }
    }
}

/// The bound variable, and where it begins or what it must satisfy.
fn binding(below: Option<Box<Expr>>) -> (Arc<str>, Option<Box<Expr>>) {
    match below.map(|below| *below) {
        Some(Expr::Relation(Relation::Equal | Relation::Tends, variable, from)) => {
            (name(&variable), Some(from))
        }
        Some(Expr::Relation(relation, left, right)) => {
            let variable = name(&left);
            (variable, Some(Box::new(Expr::Relation(relation, left, right))))
        }
        Some(alone @ (Expr::Symbol(_) | Expr::Constant(_))) => (name(&alone), None),
        Some(other) => ("".into(), Some(Box::new(other))),
        None => ("".into(), None),
    }
}

fn quantified(
    big: Big,
    body: Box<Expr>,
    variable: Arc<str>,
    from: Option<Box<Expr>>,
    to: Option<Box<Expr>>,
) -> Expr {
    let what = match big {
        Big::Product => Quantifier::Product,
        Big::Limit => Quantifier::Limit,
        Big::Sum | Big::Integral => Quantifier::Sum,
        Big::Union | Big::Intersection => {
            let name = if big == Big::Union { "union" } else { "intersection" };
            let bounds = [from, to].into_iter().flatten();
            return Expr::Unknown(
                name.into(),
                std::iter::once(body).chain(bounds).map(|part| *part).collect(),
            );
        }
    };
    Expr::Quantified { what, body, variable, from, to }
}

fn name(variable: &Expr) -> Arc<str> {
    match variable {
        Expr::Symbol(name) => name.clone(),
        Expr::Constant(Constant::I) => "i".into(),
        Expr::Constant(Constant::E) => "e".into(),
        _ => "".into(),
    }
}
