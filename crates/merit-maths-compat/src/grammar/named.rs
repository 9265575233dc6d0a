//! The functions that have a name, by their names.

use super::build::{as_integer, integer, power};
use dashu_int::IBig;
use merit_maths::{Constant, Expr, Function};

/// The function of several arguments of this name.
pub(super) fn several(name: &str) -> Option<Function> {
    Some(match name {
        "gcd" => Function::Gcd,
        "lcm" => Function::Lcm,
        "max" => Function::Max,
        "min" => Function::Min,
        _ => return None,
    })
}

/// The value to a power, if there is one.
pub(super) fn raised(value: Expr, exponent: Option<Expr>) -> Expr {
    match exponent {
        Some(exponent) => power(value, exponent),
        None => value,
    }
}

/// A named function of one argument, its base and exponent applied.
pub(super) fn apply(name: &str, argument: Expr, base: Option<Expr>, exponent: Option<Expr>) -> Option<Expr> {
    let inverse = exponent.as_ref().and_then(as_integer).is_some_and(|n| *n == IBig::from(-1));
    let one = |function| Expr::Apply(function, vec![argument.clone()]);
    let trigonometric = match (name, inverse) {
        ("sin", false) => Some(Function::Sin),
        ("cos", false) => Some(Function::Cos),
        ("tan", false) => Some(Function::Tan),
        ("csc", false) => Some(Function::Csc),
        ("sec", false) => Some(Function::Sec),
        ("cot", false) => Some(Function::Cot),
        ("sinh", false) => Some(Function::Sinh),
        ("cosh", false) => Some(Function::Cosh),
        ("tanh", false) => Some(Function::Tanh),
        ("sin", true) => return Some(one(Function::Arcsin)),
        ("cos", true) => return Some(one(Function::Arccos)),
        ("tan", true) => return Some(one(Function::Arctan)),
        ("csc", true) => return Some(one(Function::Arccsc)),
        ("sec", true) => return Some(one(Function::Arcsec)),
        ("cot", true) => return Some(one(Function::Arccot)),
        ("sinh", true) => return Some(one(Function::Arsinh)),
        ("cosh", true) => return Some(one(Function::Arcosh)),
        ("tanh", true) => return Some(one(Function::Artanh)),
        _ => None,
    };
    let value = match (trigonometric, name) {
        (Some(function), _) => one(function),
        (None, "log") => Expr::Apply(Function::Log, vec![argument, base.unwrap_or_else(|| integer(10))]),
        (None, "ln") => match base {
            Some(base) => Expr::Apply(Function::Log, vec![argument, base]),
            None => one(Function::Ln),
        },
        (None, "exp") => power(Expr::Constant(Constant::E), argument),
        (None, name) => one(other(name)?),
    };
    Some(raised(value, exponent))
}

fn other(name: &str) -> Option<Function> {
    Some(match name {
        "arcsin" => Function::Arcsin,
        "arccos" => Function::Arccos,
        "arctan" => Function::Arctan,
        "arccsc" => Function::Arccsc,
        "arcsec" => Function::Arcsec,
        "arccot" => Function::Arccot,
        "arsinh" | "arcsinh" => Function::Arsinh,
        "arcosh" | "arccosh" => Function::Arcosh,
        "artanh" | "arctanh" => Function::Artanh,
        "floor" => Function::Floor,
        "ceil" => Function::Ceiling,
        "det" => Function::Determinant,
        "rank" => Function::Rank,
        "tr" | "trace" => Function::Trace,
        "norm" => Function::Norm,
        "Gamma" | "gamma" => Function::Gamma,
        _ => return None,
    })
}
