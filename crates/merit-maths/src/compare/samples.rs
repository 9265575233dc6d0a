//! The points at which two expressions are compared by their values. They depend on the expressions and nothing else.
//!
//! A few random points show that two analytic formulas differ. A formula with an absolute value, a maximum, a rounding or an even
//! root has another law in every region, so such a pair is looked at in every region too: each combination of signs at three
//! sizes, and both sides of where a linear or quadratic argument of such a function is zero. A variable that stands inside `Re`,
//! a conjugate and the like takes values that are not real.

use super::complex::Complex;
use super::evaluate::Evaluator;
use super::points;
use super::rational::rational_value;
use super::real::{Real, Trouble};
use crate::{Budget, Constant, Exhausted, Expr, Function};
use dashu_ratio::RBig;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Values for variables.
pub(crate) type Point = Vec<(Arc<str>, Complex)>;

/// Bits to which an argument is computed where its zero is looked for.
const ZERO_BITS: usize = 96;
/// Most arguments whose zeros are looked for.
const MOST_ARGUMENTS: usize = 8;
/// Variables that take part in combinations of signs, and whose zeros are looked for.
const COMBINED: usize = 3;

/// Where a pair is looked at.
#[derive(Debug)]
pub(crate) struct Samples {
    names: BTreeSet<Arc<str>>,
    /// Variables whose values are not real.
    pub(crate) unreal: BTreeSet<Arc<str>>,
    /// Arguments of functions that have another law on either side of zero.
    arguments: Vec<Expr>,
    seed: u64,
}

impl Samples {
    pub(crate) fn of(
        exprs: &[&Expr],
        names: BTreeSet<Arc<str>>,
        budget: &mut Budget,
    ) -> Result<Samples, Exhausted> {
        let mut arguments = Vec::new();
        for expr in exprs {
            let mut gather = |part: &Expr| {
                bends(part, &mut arguments);
                true
            };
            points::walk(expr, &mut gather, budget)?;
        }
        // The root of a constant has one law.
        let mut varying = Vec::with_capacity(arguments.len());
        for argument in arguments {
            if points::any(&argument, &mut |part| matches!(part, Expr::Symbol(_)), budget)? {
                varying.push(argument);
            }
        }
        let arguments = varying;
        let unreal = unreal(exprs, &names, budget)?;
        let seed = exprs.iter().fold(0_u64, |sum, expr| sum.wrapping_add(seed(expr)));
        Ok(Samples { names, unreal, arguments, seed })
    }

    /// The `attempt`-th random point: positive, negative, mixed, large, small and whole values in turn; never 0 or 1.
    pub(crate) fn point(&self, attempt: u64) -> Point {
        let mut draw = draws(self.seed ^ attempt.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let kind = attempt % 6;
        let value = |random: u64, sign: u64| -> Real {
            let (whole, negative) = match kind {
                0 => (random % 5, false),
                1 => (random % 5, true),
                2 => (random % 8, sign.is_multiple_of(2)),
                3 => (20 + random % 300, false),
                4 => (0, sign.is_multiple_of(4)),
                _ => return Real::int(2 + (random % 11) as i64),
            };
            near(whole, random, negative)
        };
        let mut place = |name: &Arc<str>| {
            let re = value(draw(), draw());
            let im = if self.unreal.contains(name) { value(draw(), draw()) } else { Real::zero() };
            (name.clone(), Complex { re, im })
        };
        self.names.iter().map(&mut place).collect()
    }

    /// Points of every region, for a pair that has regions; none for any other.
    pub(crate) fn regions(&self, budget: &mut Budget) -> Result<Vec<Point>, Exhausted> {
        let mut all = Vec::new();
        if self.arguments.is_empty() {
            return Ok(all);
        }
        let combinations = 1_u64 << self.names.len().min(COMBINED);
        for (size, whole) in [1_u64, 10_000, 10_000_000].into_iter().enumerate() {
            for signs in 0..combinations {
                all.push(self.signed(whole, signs, size as u64 * combinations + signs));
            }
        }
        for argument in self.arguments.iter().take(MOST_ARGUMENTS) {
            for name in self.names.iter().filter(|name| !self.unreal.contains(*name)).take(COMBINED) {
                self.beside_zeros(argument, name, &mut all, budget)?;
            }
        }
        Ok(all)
    }

    /// A point of one size, whose first variables have the signs that the bits of `signs` say; the others' are random.
    fn signed(&self, whole: u64, signs: u64, turn: u64) -> Point {
        let mut draw = draws(self.seed ^ (turn + 1).wrapping_mul(0x9e6c_63d0_876a_3f6b));
        let mut point = Point::with_capacity(self.names.len());
        for (at, name) in self.names.iter().enumerate() {
            let random = draw();
            let negative = if at < COMBINED { signs >> at & 1 == 1 } else { random & 1 == 1 };
            let re = near(whole + (random >> 40) % (2 * whole), random, negative);
            let im = if self.unreal.contains(name) {
                near(whole, draw(), negative != (random & 2 == 2))
            } else {
                Real::zero()
            };
            point.push((name.clone(), Complex { re, im }));
        }
        point
    }

    /// Points on both sides of where `argument`, if it is linear or quadratic in `name`, is zero or turns.
    fn beside_zeros(
        &self,
        argument: &Expr,
        name: &Arc<str>,
        all: &mut Vec<Point>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let base = self.point(all.len() as u64);
        let at = |value: Real| -> Point {
            let place = |(known, other): &(Arc<str>, Complex)| {
                (known.clone(), if known == name { Complex::real(value.clone()) } else { other.clone() })
            };
            base.iter().map(place).collect()
        };
        let mut values = Vec::with_capacity(3);
        for x in [-1, 0, 1] {
            match Evaluator::new(ZERO_BITS, at(Real::int(x))).value(argument, budget) {
                Ok(value) if value.is_real() => values.push(value.re),
                Err(Trouble::Exhausted(limit)) if limit != Exhausted::Size => return Err(limit),
                _ => return Ok(()),
            }
        }
        let quarter = Real::int(1).scale(-2);
        for zero in turning_points(&values).unwrap_or_default() {
            for step in [quarter.neg(), quarter.clone()] {
                if let Ok(value) = zero.middle().add(&step, ZERO_BITS) {
                    all.push(at(value.middle()));
                }
            }
        }
        Ok(())
    }
}

/// The zeros and the vertex of the parabola, or the zero of the line, through its values at −1, 0 and 1.
fn turning_points(values: &[Real]) -> Option<Vec<Real>> {
    const P: usize = ZERO_BITS;
    let [before, middle, after] = values else { return None };
    let half_slope = after.sub(before, P).ok()?.scale(-1);
    let bend = after.add(before, P).ok()?.scale(-1).sub(middle, P).ok()?;
    if bend.lower().is_none() {
        // A slope that may be zero has no zero to stand beside.
        half_slope.lower()?;
        return Some(vec![middle.neg().div(&half_slope, P).ok()?]);
    }
    let twice = bend.scale(1);
    let vertex = half_slope.neg().div(&twice, P).ok()?;
    let square = half_slope.mul(&half_slope, P).ok()?.sub(&bend.mul(middle, P).ok()?.scale(2), P).ok()?;
    let mut all = vec![vertex.clone()];
    if square.sign() == Some(std::cmp::Ordering::Greater) {
        let apart = square.sqrt(P).ok()?.div(&twice, P).ok()?;
        all.push(vertex.sub(&apart, P).ok()?);
        all.push(vertex.add(&apart, P).ok()?);
    }
    Some(all)
}

/// The arguments of `part`, where it is a function that has another law on either side of their zeros.
fn bends(part: &Expr, into: &mut Vec<Expr>) {
    match part {
        Expr::Apply(
            Function::Abs | Function::Norm | Function::Sign | Function::Floor | Function::Ceiling,
            arguments,
        ) => into.extend(arguments.iter().cloned()),
        Expr::Apply(Function::Max | Function::Min | Function::Mod, arguments) => {
            for pair in arguments.windows(2) {
                let less = Expr::Mul(vec![Expr::Num(RBig::from(-1)), pair[1].clone()]);
                into.push(Expr::Add(vec![pair[0].clone(), less]));
            }
        }
        Expr::Pow(base, exponent) if is_even_root(exponent) => {
            into.push(base.as_ref().clone());
            // The zeros of the parts of a product are zeros of the product.
            match base.as_ref() {
                Expr::Pow(inner, _) => into.push(inner.as_ref().clone()),
                Expr::Mul(parts) => into.extend(parts.iter().map(|part| match part {
                    Expr::Pow(inner, _) => inner.as_ref().clone(),
                    other => other.clone(),
                })),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Whether an exponent takes a root of even order.
fn is_even_root(exponent: &Expr) -> bool {
    let unlimited = crate::Limits { depth: usize::MAX, ..crate::Limits::default() };
    match exponent {
        Expr::Num(value) => super::exact::is_even(value.denominator()),
        Expr::Mul(_) | Expr::Pow(..) => matches!(
            rational_value(exponent, &mut Budget::new(unlimited)),
            Ok(Some(value)) if super::exact::is_even(value.denominator())
        ),
        _ => false,
    }
}

/// The variables that are no real numbers: those of a real or imaginary part, a conjugate or an argument, and `z` and `w` of an
/// absolute value. Beside `i` only `z` and `w` are complex: `a + bi` has real parts. In space, and under an even root, `z` is a
/// real number too.
fn unreal(
    exprs: &[&Expr],
    names: &BTreeSet<Arc<str>>,
    budget: &mut Budget,
) -> Result<BTreeSet<Arc<str>>, Exhausted> {
    let (mut of_parts, mut of_size) = (Vec::new(), Vec::new());
    let mut roots = false;
    for expr in exprs {
        let mut gather = |part: &Expr| {
            match part {
                Expr::Apply(Function::Re | Function::Im | Function::Conjugate | Function::Arg, arguments) => {
                    of_parts.extend(arguments.iter().cloned())
                }
                Expr::Apply(Function::Abs | Function::Norm, arguments) => {
                    of_size.extend(arguments.iter().cloned());
                }
                Expr::Pow(_, exponent) => roots |= is_even_root(exponent),
                _ => {}
            }
            true
        };
        points::walk(expr, &mut gather, budget)?;
    }
    let in_space = ["x", "y"].iter().all(|name| names.contains(*name));
    let mut found = BTreeSet::new();
    for argument in &of_parts {
        let beside_i = points::any(argument, &mut |part| *part == Expr::Constant(Constant::I), budget)?;
        let all = points::variables(&[argument], budget)?;
        found.extend(all.into_iter().filter(|name| !beside_i || is_complex_name(name)));
    }
    if found.is_empty() && !roots && !in_space {
        for argument in &of_size {
            found.extend(
                points::variables(&[argument], budget)?.into_iter().filter(|name| is_complex_name(name)),
            );
        }
    }
    found.retain(|name| names.contains(name));
    Ok(found)
}

/// Whether a name is one that complex numbers have: `z`, `w`, `z_1`.
pub(crate) fn is_complex_name(name: &str) -> bool {
    let mut letters = name.chars();
    matches!(letters.next(), Some('z' | 'w')) && matches!(letters.next(), None | Some('_' | '\''))
}

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

/// Random numbers, the same for the same seed.
fn draws(seed: u64) -> impl FnMut() -> u64 {
    let mut state = mix(seed);
    move || {
        state = mix(state);
        state
    }
}

/// A number a little above `whole`, or its negative; never a whole one.
fn near(whole: u64, random: u64, negative: bool) -> Real {
    let fraction = (random >> 8) & 0xf_ffff; // 20 bits
    let scaled = ((whole << 20) | fraction | 1) as i64;
    Real::int(if negative { -scaled } else { scaled }).scale(-20)
}
