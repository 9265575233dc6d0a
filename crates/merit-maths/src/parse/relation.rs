//! Relations and their chains, and the operations on sets below them.

use super::ParseError;
use super::cursor::Parser;
use super::kind::Kind;
use super::weight::nodes;
use crate::{Budget, Expr, Relation};
use std::sync::Arc;

impl Parser<'_> {
    /// `a`, `a = b`, `a < b < c`.
    pub(super) fn relation(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        budget.deeper(|budget| self.chain(budget))
    }

    fn chain(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        if let Some(label) = self.label() {
            return self.labelled(label, budget);
        }
        let left = self.side(budget)?;
        match self.kind() {
            Kind::Rel(_) | Kind::Not | Kind::ModWithBase => budget.deeper(|budget| self.links(left, budget)),
            _ => Ok(left),
        }
    }

    fn labelled(&mut self, label: Arc<str>, budget: &mut Budget) -> Result<Expr, ParseError> {
        let labelled = Box::new(self.relation(budget)?);
        Ok(Expr::Labelled(label, labelled))
    }

    /// The relations that follow `left`.
    fn links(&mut self, mut left: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut links = Vec::new();
        while let Some(relation) = self.relation_sign() {
            // `f(x) =` and nothing after it: the sign is not part of the answer.
            if matches!(self.kind(), Kind::End) {
                break;
            }
            let mut right = self.side(budget)?;
            if relation == Relation::Congruent {
                right = self.modulus(right, budget)?;
            }
            let kept = match self.kind() {
                Kind::Rel(_) | Kind::Not => self.copy(&right, budget)?,
                // The last of the chain is needed once only.
                _ => Expr::Truth(true),
            };
            links.push(link(relation, left, right));
            left = kept;
        }
        if links.is_empty() && matches!(self.kind(), Kind::ModWithBase) {
            left = self.modulo(left, budget)?;
        }
        Ok(chained(links, left))
    }

    /// Whether a condition in brackets stands here, as in `x = k\pi \ (k \in \mathbb{Z})`.
    pub(super) fn condition_ahead(&self) -> bool {
        let mut names = 0;
        loop {
            let token = self.token(1 + names);
            match token.kind {
                Kind::Word if token.end - token.start == 1 => names += 1,
                Kind::Letter(_) | Kind::Comma => names += 1,
                Kind::Rel(_) => return names > 0 && self.token(0).gap,
                _ => return false,
            }
            if names > 8 {
                return false;
            }
        }
    }

    /// A copy of the middle of a chain, paid for by its size.
    fn copy(&self, middle: &Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        budget.spend(8 * nodes(middle))?;
        Ok(middle.clone())
    }

    fn relation_sign(&mut self) -> Option<Relation> {
        let negated = matches!(self.kind(), Kind::Not) && matches!(self.kind_at(1), Kind::Rel(_));
        let Kind::Rel(relation) = self.kind_at(usize::from(negated)) else { return None };
        if self.in_set && relation == Relation::Divides {
            return None;
        }
        self.at += 1 + usize::from(negated);
        Some(match (negated, relation) {
            (true, Relation::Equal | Relation::Congruent) => Relation::NotEqual,
            (true, Relation::In) => Relation::NotIn,
            (true, Relation::Less) => Relation::AtLeast,
            (true, Relation::Greater) => Relation::AtMost,
            _ => relation,
        })
    }

    /// `9 \pmod{11}` on the right of a congruence is the pair of remainder and modulus.
    fn modulus(&mut self, right: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let bracketed = matches!((self.kind(), self.kind_at(1)), (Kind::Open(_), Kind::Mod));
        if !bracketed && !self.eat(Kind::ModWithBase) {
            return Ok(match right {
                Expr::Apply(crate::Function::Mod, pair) => Expr::Tuple(pair),
                other => other,
            });
        }
        if bracketed {
            self.at += 2;
        }
        let modulus = if bracketed { self.sum(budget)? } else { self.argument(budget)? };
        if bracketed && matches!(self.kind(), Kind::Close(_)) {
            self.at += 1;
        }
        Ok(Expr::Tuple(vec![right, modulus]))
    }

    fn modulo(&mut self, left: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.at += 1;
        let modulus = self.argument(budget)?;
        Ok(Expr::Apply(crate::Function::Mod, vec![left, modulus]))
    }

    /// One side of a relation: a sum, a ratio `7:32`, or an operation on sets.
    fn side(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let first = self.sum(budget)?;
        match self.kind() {
            Kind::Union | Kind::Intersection | Kind::SetMinus => {
                budget.deeper(|budget| self.sets(first, budget))
            }
            Kind::Colon if !self.in_set => budget.deeper(|budget| self.ratio(first, budget)),
            _ => Ok(first),
        }
    }

    /// The parts in proportion to `first`; inside a set the colon divides instead.
    fn ratio(&mut self, first: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut parts = vec![first];
        while self.eat(Kind::Colon) {
            if matches!(self.kind(), Kind::End | Kind::Close(_)) {
                break;
            }
            parts.push(self.sum(budget)?);
        }
        match parts.len() {
            1 => Ok(parts.swap_remove(0)),
            _ => Ok(Expr::Ratio(parts)),
        }
    }

    /// Unions, intersections and differences after `left`, in the order written; `\cap` binds like `\cup`.
    fn sets(&mut self, mut left: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut first = true;
        while matches!(self.kind(), Kind::Union | Kind::Intersection | Kind::SetMinus) {
            if self.kind() == Kind::SetMinus && self.kind_at(1) == Kind::End {
                break;
            }
            let sign = self.take().kind;
            let right = self.sum(budget)?;
            let longer = matches!(
                (sign, &left),
                (Kind::Union, Expr::Union(_)) | (Kind::Intersection, Expr::Intersection(_))
            );
            if !first && !longer {
                self.wrap_again()?;
            }
            first = false;
            left = operate(sign, left, right);
        }
        Ok(left)
    }
}

fn link(relation: Relation, left: Expr, right: Expr) -> Expr {
    Expr::Relation(relation, Box::new(left), Box::new(right))
}

/// The links as one relation or a chain; `last` alone where there are none.
fn chained(mut links: Vec<Expr>, last: Expr) -> Expr {
    match links.len() {
        0 => last,
        1 => links.swap_remove(0),
        _ => Expr::Chain(links),
    }
}

fn operate(sign: Kind, left: Expr, right: Expr) -> Expr {
    match (sign, left) {
        (Kind::Union, Expr::Union(mut parts)) => {
            parts.push(right);
            Expr::Union(parts)
        }
        (Kind::Intersection, Expr::Intersection(mut parts)) => {
            parts.push(right);
            Expr::Intersection(parts)
        }
        (Kind::Union, left) => Expr::Union(vec![left, right]),
        (Kind::Intersection, left) => Expr::Intersection(vec![left, right]),
        (_, left) => Expr::Difference(Box::new(left), Box::new(right)),
    }
}
