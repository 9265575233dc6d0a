//! Chains of relations, and sets joined, cut and taken away.

use super::build::integer;
use super::tokens::{Bracket, Token};
use super::{Fail, Parsed, Parser};
use crate::values::only_symbols;
use merit_maths::{Expr, Relation};

impl Parser<'_, '_> {
    /// A chain of relations after its first member.
    pub(super) fn relations(&mut self, first: Expr) -> Parsed {
        let mut done = first;
        loop {
            let relation = match self.peek() {
                Some(Token::Assign | Token::Equal) => Relation::Equal,
                Some(Token::Less) => Relation::Less,
                Some(Token::LessEqual) => Relation::AtMost,
                Some(Token::Greater) => Relation::Greater,
                Some(Token::GreaterEqual) => Relation::AtLeast,
                Some(Token::Unequal) => Relation::NotEqual,
                Some(Token::Approx) => {
                    self.at += 1;
                    let right = self.outside_bars(Self::expr)?;
                    // The exact side counts; an approximated name is its value.
                    if only_symbols(&done) {
                        done = right;
                    }
                    continue;
                }
                Some(Token::In) => return Err(Fail::Syntax),
                _ => return Ok(done),
            };
            self.at += 1;
            self.budget.spend(1)?;
            let right = self.outside_bars(Self::expr)?;
            done = chained(done, relation, right);
        }
    }

    pub(super) fn set_relation(&mut self) -> Parsed {
        let assigned = self.attempt(|p| {
            let left = p.symbols()?;
            let relation = match p.next()?.token {
                Token::In | Token::Assign => Relation::Equal,
                Token::NotIn => Relation::NotIn,
                _ => return Err(Fail::Syntax),
            };
            let right = p.deeper(Self::set_relation)?;
            Ok(Expr::Relation(relation, Box::new(left), Box::new(right)))
        })?;
        match assigned {
            Some(relation) => Ok(relation),
            None => self.differences(),
        }
    }

    fn differences(&mut self) -> Parsed {
        let mut left = self.unions()?;
        let mut nested = 0;
        while self.eat(Token::SetMinus) {
            nested += 1;
            self.nested(nested)?;
            left = Expr::Difference(Box::new(left), Box::new(self.unions()?));
        }
        Ok(left)
    }

    fn unions(&mut self) -> Parsed {
        let mut parts = vec![self.intersections()?];
        while self.eat(Token::Union) {
            parts.push(self.intersections()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Expr::Union(parts.into_iter().map(as_set).collect())
        })
    }

    fn intersections(&mut self) -> Parsed {
        let mut parts = vec![self.set_group()?];
        while self.eat(Token::Intersection) {
            parts.push(self.set_group()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Expr::Intersection(parts.into_iter().map(as_set).collect())
        })
    }

    fn set_group(&mut self) -> Parsed {
        if self.peek() == Some(Token::Open(Bracket::Paren)) {
            let group = self.attempt(|p| {
                p.at += 1;
                let inside = p.deeper(Self::differences)?;
                p.close(Bracket::Paren)?;
                Ok(inside)
            })?;
            if let Some(inside) = group {
                return Ok(inside);
            }
        }
        self.deeper(Self::set_atom)
    }
}

fn chained(done: Expr, relation: Relation, right: Expr) -> Expr {
    let next = |left: Expr, right| Expr::Relation(relation, Box::new(left), Box::new(right));
    match done {
        Expr::Chain(mut links) => {
            let last = match links.last() {
                Some(Expr::Relation(_, _, rhs)) => (**rhs).clone(),
                _ => integer(0),
            };
            links.push(next(last, right));
            Expr::Chain(links)
        }
        Expr::Relation(first, lhs, rhs) => {
            let last = (*rhs).clone();
            Expr::Chain(vec![Expr::Relation(first, lhs, rhs), next(last, right)])
        }
        left => next(left, right),
    }
}

fn as_set(expr: Expr) -> Expr {
    match expr {
        Expr::Tuple(parts) => Expr::Set(parts),
        other => other,
    }
}
