//! Random points for identity testing, drawn from the expressions themselves, and walks over expressions.

use super::complex::Complex;
use super::real::Real;
use crate::{Budget, Exhausted, Expr};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Values for variables.
pub(crate) type Point = Vec<(Arc<str>, Complex)>;

/// A number that depends on the expression and nothing else.
pub(crate) fn seed(expr: &Expr) -> u64 {
    struct Fnv(u64);
    impl Write for Fnv {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // Writing into the hash cannot fail.
    let _ = write!(hash, "{expr:?}");
    hash.0
}

fn mix(state: u64) -> u64 {
    // SplitMix64.
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `attempt`-th point: positive, negative, mixed, large, small and whole values in turn; never 0 or 1.
pub(crate) fn point(names: &BTreeSet<Arc<str>>, seed: u64, attempt: u64) -> Point {
    let mut state = mix(seed ^ attempt.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut draw = || {
        state = mix(state);
        state
    };
    let kind = attempt % 6;
    let value = |random: u64, sign: u64| -> Complex {
        let fraction = (random >> 8) & 0xf_ffff; // 20 bits
        let (whole, negative) = match kind {
            0 => (random % 5, false),
            1 => (random % 5, true),
            2 => (random % 8, sign.is_multiple_of(2)),
            3 => (20 + random % 300, false),
            4 => (0, sign.is_multiple_of(4)),
            _ => return Complex::int(2 + (random % 11) as i64),
        };
        let scaled = ((whole << 20) | fraction | 1) as i64;
        Complex::real(Real::int(if negative { -scaled } else { scaled }).scale(-20))
    };
    names.iter().map(|name| (name.clone(), value(draw(), draw()))).collect()
}

/// Calls `visit` on every part of an expression, outside in, while it returns true.
pub(crate) fn walk(
    expr: &Expr,
    visit: &mut dyn FnMut(&Expr) -> bool,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    if !visit(expr) {
        return Ok(());
    }
    budget.deeper(|b| children(expr, &mut |child, b| walk(child, visit, b), b))
}

type Visit<'a> = dyn FnMut(&Expr, &mut Budget) -> Result<(), Exhausted> + 'a;

fn children(expr: &Expr, each: &mut Visit, budget: &mut Budget) -> Result<(), Exhausted> {
    use Expr::*;
    match expr {
        Add(parts)
        | Mul(parts)
        | Apply(_, parts)
        | Unknown(_, parts)
        | Chain(parts)
        | Either(parts)
        | Set(parts)
        | Tuple(parts)
        | List(parts)
        | Union(parts)
        | Intersection(parts)
        | Ratio(parts) => parts.iter().try_for_each(|part| each(part, budget)),
        Matrix(rows) => rows.iter().flatten().try_for_each(|part| each(part, budget)),
        Pow(a, b)
        | Relation(_, a, b)
        | Difference(a, b)
        | SetBuilder(a, b)
        | Interval { low: a, high: b, .. } => {
            each(a, budget)?;
            each(b, budget)
        }
        PlusMinus(a) | Percent(a) | Quantity(a, _) | Labelled(_, a) => each(a, budget),
        Piecewise(cases) => cases.iter().try_for_each(|(value, condition)| {
            each(value, budget)?;
            each(condition, budget)
        }),
        Quantified { body, from, to, .. } => {
            each(body, budget)?;
            from.iter().chain(to).try_for_each(|end| each(end, budget))
        }
        _ => Ok(()),
    }
}

/// Whether any part satisfies `test`.
pub(crate) fn any(
    expr: &Expr,
    test: &mut dyn FnMut(&Expr) -> bool,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    let mut found = false;
    walk(
        expr,
        &mut |part| {
            found |= test(part);
            !found
        },
        budget,
    )?;
    Ok(found)
}

/// The free variables, by name.
pub(crate) fn variables(exprs: &[&Expr], budget: &mut Budget) -> Result<BTreeSet<Arc<str>>, Exhausted> {
    let mut names = BTreeSet::new();
    for expr in exprs {
        gather(expr, &mut Vec::new(), &mut names, budget)?;
    }
    Ok(names)
}

fn gather(
    expr: &Expr,
    bound: &mut Vec<Arc<str>>,
    names: &mut BTreeSet<Arc<str>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    match expr {
        Expr::Symbol(name) => {
            if !bound.contains(name) {
                names.insert(name.clone());
            }
            Ok(())
        }
        Expr::Quantified { body, variable, from, to, .. } => budget.deeper(|b| {
            for end in from.iter().chain(to) {
                gather(end, bound, names, b)?;
            }
            bound.push(variable.clone());
            let done = gather(body, bound, names, b);
            bound.pop();
            done
        }),
        _ => budget.deeper(|b| children(expr, &mut |child, b| gather(child, bound, names, b), b)),
    }
}
