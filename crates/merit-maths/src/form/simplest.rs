//! Lowest terms, and what "simplify" asks for: nothing left to be collected, cancelled or taken out of a root.

use super::factors::body;
use crate::compare::like_terms;
use crate::{Budget, Exhausted, Expr, Function};
use dashu_int::UBig;
use dashu_int::ops::Gcd;
use dashu_ratio::RBig;

/// Whether every fraction of whole numbers is reduced.
pub(super) fn lowest_terms(expr: &Expr) -> bool {
    parts(expr).iter().all(|part| lowest_terms(part))
        && match expr {
            Expr::Mul(factors) => {
                let (top, bottom) = coefficient(factors);
                top.gcd(&bottom) == UBig::ONE
            }
            _ => true,
        }
}

/// The whole numbers above and below the line.
fn coefficient(factors: &[Expr]) -> (UBig, UBig) {
    let (mut top, mut bottom) = (UBig::ONE, UBig::ONE);
    for factor in factors {
        match factor {
            Expr::Num(value) if value.is_int() => top *= value.numerator().clone().into_parts().1,
            Expr::Pow(base, exponent) if is_number(exponent, -1) => match &**base {
                Expr::Num(value) if value.is_int() => bottom *= value.numerator().clone().into_parts().1,
                _ => {}
            },
            _ => {}
        }
    }
    (top, bottom)
}

fn is_number(expr: &Expr, value: i64) -> bool {
    matches!(expr, Expr::Num(number) if *number == RBig::from(value))
}

/// Whether an answer is as simple as it gets by itself, and not much longer than the reference.
pub(super) fn simplified(expr: &Expr, gold: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let (expr, gold) = (body(expr), body(gold));
    let long = leaves(expr) > 2 * leaves(gold) + 2 || denominators(expr) > denominators(gold);
    Ok(!long && lowest_terms(expr) && tidy(expr) && collected(expr, budget)?)
}

/// Whether no two terms of a sum can be added, no number stands twice in a product, and nothing is multiplied by 1.
pub(super) fn collected(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    budget.deeper(|budget| {
        let here = match expr {
            Expr::Add(terms) => {
                let number = |term: &Expr| matches!(term, Expr::Num(_) | Expr::Decimal(_));
                !terms.iter().any(|term| is_number(term, 0))
                    && terms.iter().filter(|term| number(term)).count() < 2
                    && !like_terms(terms, budget)?
            }
            Expr::Mul(factors) => {
                let number = |f: &&Expr| matches!(f, Expr::Num(_) | Expr::Decimal(_)) && !is_number(f, -1);
                let above = factors.iter().filter(|f| !matches!(f, Expr::Pow(_, e) if is_negative(e)));
                let ones = factors.iter().any(|f| is_number(f, 1)) && above.count() > 1;
                factors.iter().filter(number).count() < 2 && !ones
            }
            _ => true,
        };
        if !here {
            return Ok(false);
        }
        for part in parts(expr) {
            if !collected(part, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

fn is_negative(exponent: &Expr) -> bool {
    matches!(exponent, Expr::Num(value) if *value < RBig::ZERO)
}

/// Whether no power of numbers, no root of a square and no function of numbers is left to be worked out.
fn tidy(expr: &Expr) -> bool {
    let here = match expr {
        Expr::Pow(base, exponent) => match (&**base, &**exponent) {
            (Expr::Num(base), Expr::Num(e)) if e.is_int() => {
                *e == RBig::from(-1) || *base == RBig::from(10) || is_large(base, e)
            }
            (Expr::Num(base), Expr::Num(e)) => !has_power(base, e.denominator()),
            (Expr::Pow(_, inner), Expr::Num(e)) => !(e.is_int() && matches!(**inner, Expr::Num(_))),
            _ => true,
        },
        Expr::Mul(factors) => factors.iter().filter(|f| is_root(f)).count() < 2 && !repeats(factors),
        Expr::Apply(function, arguments) => {
            let counted = matches!(
                function,
                Function::Factorial
                    | Function::Binomial
                    | Function::Permutations
                    | Function::Gcd
                    | Function::Lcm
            );
            !(counted && arguments.iter().all(|a| matches!(a, Expr::Num(_))))
        }
        Expr::Quantified { .. } => false,
        _ => true,
    };
    here && parts(expr).iter().all(|part| tidy(part))
}

fn is_large(base: &RBig, exponent: &RBig) -> bool {
    let bits = |value: &RBig| dashu_int::ops::BitTest::bit_len(value.numerator());
    bits(exponent) > 16
        || bits(base).saturating_mul(usize::try_from(exponent.numerator().clone()).unwrap_or(1)) > 48
}

fn is_root(expr: &Expr) -> bool {
    matches!(expr, Expr::Pow(base, e) if matches!(**base, Expr::Num(_)) && matches!(&**e, Expr::Num(e) if !e.is_int()))
}

/// Whether a letter stands twice in a product.
fn repeats(factors: &[Expr]) -> bool {
    let name = |expr: &Expr| match expr {
        Expr::Symbol(name) => Some(name.clone()),
        Expr::Pow(base, _) => match &**base {
            Expr::Symbol(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    let mut names: Vec<_> = factors.iter().filter_map(name).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    names.len() < all
}

/// Whether a whole number has a factor that its root would let out: 50 has 25 for the square root.
fn has_power(value: &RBig, root: &UBig) -> bool {
    const LARGEST: u64 = 1_000_000_000_000;
    const TRIED: u64 = 1_000;
    let (Ok(root), Ok(n)) = (u32::try_from(root.clone()), u64::try_from(value.numerator().clone())) else {
        return false;
    };
    if !value.is_int() || n > LARGEST {
        return false;
    }
    (2..TRIED).map_while(|p: u64| p.checked_pow(root).filter(|power| *power <= n)).any(|power| n % power == 0)
}

fn leaves(expr: &Expr) -> usize {
    let parts = parts(expr);
    if parts.is_empty() { 1 } else { parts.into_iter().map(leaves).sum() }
}

/// How many denominators hold more than a number.
fn denominators(expr: &Expr) -> usize {
    let here = match expr {
        Expr::Pow(base, e) => is_negative(e) && !matches!(**base, Expr::Num(_) | Expr::Pow(..)),
        _ => false,
    };
    usize::from(here) + parts(expr).into_iter().map(denominators).sum::<usize>()
}

fn parts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Add(parts) | Expr::Mul(parts) | Expr::Apply(_, parts) | Expr::Unknown(_, parts) => {
            parts.iter().collect()
        }
        Expr::Set(parts)
        | Expr::Tuple(parts)
        | Expr::List(parts)
        | Expr::Either(parts)
        | Expr::Chain(parts) => parts.iter().collect(),
        Expr::Pow(base, exponent) | Expr::Relation(_, base, exponent) => vec![base, exponent],
        Expr::PlusMinus(part) | Expr::Percent(part) | Expr::Quantity(part, _) | Expr::Labelled(_, part) => {
            vec![part]
        }
        Expr::Interval { low, high, .. } => vec![low, high],
        _ => Vec::new(),
    }
}
