//! Sets, tuples, lists and intervals against each other; a bare value is a set of one.

use super::order::{distinct, ordered, same};
use super::pieces;
use super::{Equal, Grader, No};
use crate::values::is_set;
use merit_maths::Expr;

impl Grader<'_> {
    pub(super) fn sets(&mut self, gold: &Expr, pred: &Expr) -> Equal {
        let (a, b) = (as_collection(gold), as_collection(pred));
        if let (Expr::Interval { .. }, Expr::Interval { .. }) = (&a, &b) {
            return self.intervals(&a, &b);
        }
        if same(&a, &b, self.budget)? {
            return Ok("same-set");
        }
        if is_set(&a) && is_set(&b) && pieces::same_points(&a, &b, self.budget)? {
            return Ok("same-points");
        }
        match (&a, &b) {
            (Expr::Set(_) | Expr::Tuple(_), Expr::Set(_) | Expr::Tuple(_)) => {
                self.element_by_element(&a, &b, pred)
            }
            (
                Expr::Interval { low, high, low_closed: false, high_closed: false },
                Expr::Set(_) | Expr::Tuple(_),
            ) => {
                let pair = Expr::Tuple(vec![(**low).clone(), (**high).clone()]);
                self.element_by_element(&pair, &b, pred)
            }
            (
                Expr::Set(_) | Expr::Tuple(_),
                Expr::Interval { low, high, low_closed: false, high_closed: false },
            ) => {
                let pair = Expr::Tuple(vec![(**low).clone(), (**high).clone()]);
                self.element_by_element(&a, &pair, pred)
            }
            _ => Err(No::Different),
        }
    }

    fn intervals(&mut self, a: &Expr, b: &Expr) -> Equal {
        let (
            Expr::Interval { low: al, high: ah, low_closed: alc, high_closed: ahc },
            Expr::Interval { low: bl, high: bh, low_closed: blc, high_closed: bhc },
        ) = (a, b)
        else {
            return Err(No::Different);
        };
        if alc != blc || ahc != bhc {
            return Err(No::Different);
        }
        self.equal(al, bl)?;
        self.equal(ah, bh)?;
        Ok("interval")
    }

    /// A set is sorted; a tuple keeps its order, and so does a set that a tuple in the reference is held against.
    fn element_by_element(&mut self, gold: &Expr, pred: &Expr, written: &Expr) -> Equal {
        let count = |e: &Expr, budget: &mut _| match e {
            Expr::Set(elements) => distinct(elements, budget).map(|d| d.len()),
            Expr::Tuple(parts) => Ok(parts.len()),
            _ => Ok(0),
        };
        if count(gold, self.budget)? != count(pred, self.budget)? {
            return Err(No::Different);
        }
        let (a, b) = match (gold, pred) {
            (Expr::Set(a), Expr::Set(b) | Expr::Tuple(b)) => {
                (ordered(a, self.budget)?, ordered(b, self.budget)?)
            }
            (Expr::Tuple(a), Expr::Set(b)) if is_set(written) => (a.clone(), b.clone()),
            (Expr::Tuple(a), Expr::Set(b)) => (a.clone(), ordered(b, self.budget)?),
            (Expr::Tuple(a), Expr::Tuple(b)) => (a.clone(), b.clone()),
            _ => return Err(No::Different),
        };
        for (x, y) in a.iter().zip(&b) {
            self.equal(x, y)?;
        }
        if a.len() == b.len() { Ok("elements") } else { Err(No::Broken) }
    }
}

fn as_collection(expr: &Expr) -> Expr {
    if is_set(expr) || matches!(expr, Expr::Tuple(_)) { expr.clone() } else { Expr::Set(vec![expr.clone()]) }
}
