//! An expression as one plain line, `x^2 + 3*x`, for explanations. Brackets stand wherever reading back could go wrong.

use super::names::{constant_name, function_name, quantifier_name, relation_sign};
use crate::{Expr, Rounded};
use dashu_ratio::RBig;
use std::fmt::{self, Display, Formatter, Write};

/// How tightly an expression holds together when written; what is looser than its surroundings gets brackets.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Grip {
    List,
    Relation,
    Sets,
    Sum,
    Product,
    Power,
    Atom,
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_loose(self, f)
    }
}

fn grip(expr: &Expr) -> Grip {
    match expr {
        Expr::List(_) | Expr::Either(_) | Expr::Piecewise(_) | Expr::Labelled(..) => Grip::List,
        Expr::Relation(..) | Expr::Chain(_) | Expr::Ratio(_) => Grip::Relation,
        Expr::Union(_) | Expr::Intersection(_) | Expr::Difference(..) => Grip::Sets,
        Expr::Add(_) | Expr::PlusMinus(_) => Grip::Sum,
        Expr::Mul(_) | Expr::Quantity(..) | Expr::Percent(_) => Grip::Product,
        Expr::Num(value) if !value.is_int() => Grip::Product,
        Expr::Num(value) if value < &RBig::ZERO => Grip::Product,
        Expr::Decimal(rounded) if rounded.value < RBig::ZERO => Grip::Product,
        Expr::Pow(_, power) if is_minus_one(power) => Grip::Product,
        Expr::Pow(..) => Grip::Power,
        _ => Grip::Atom,
    }
}

fn write_tight(expr: &Expr, at_least: Grip, f: &mut Formatter<'_>) -> fmt::Result {
    if grip(expr) >= at_least {
        return write_loose(expr, f);
    }
    f.write_char('(')?;
    write_loose(expr, f)?;
    f.write_char(')')
}

fn write_loose(expr: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    match expr {
        Expr::Num(value) => write!(f, "{value}"),
        Expr::Decimal(rounded) => write_decimal(rounded, f),
        Expr::Constant(constant) => f.write_str(constant_name(*constant)),
        Expr::Symbol(name) | Expr::NamedSet(name) => f.write_str(name),
        Expr::Text(text) => write!(f, "\"{text}\""),
        Expr::Truth(truth) => write!(f, "{truth}"),
        Expr::InBase(digits, base) => write!(f, "{digits}_{base}"),
        Expr::Add(parts) => write_sum(parts, f),
        Expr::Mul(factors) => write_product(factors, f),
        Expr::Pow(base, power) => write_power(base, power, f),
        Expr::Apply(function, arguments) => write_call(function_name(*function), arguments, f),
        Expr::Unknown(name, arguments) => write_call(name, arguments, f),
        Expr::PlusMinus(part) => write_after("±", part, Grip::Product, f),
        Expr::Percent(part) => write_before(part, "%", f),
        Expr::Quantity(part, unit) => write_before(part, &format!(" {unit}"), f),
        Expr::Labelled(label, part) => write_after(&format!("\"{label}\" "), part, Grip::Sets, f),
        Expr::Relation(relation, left, right) => {
            write_tight(left, Grip::Sets, f)?;
            write!(f, " {} ", relation_sign(*relation))?;
            write_tight(right, Grip::Sets, f)
        }
        Expr::Chain(parts) => write_joined(parts, " and ", Grip::Relation, f),
        Expr::Either(parts) => write_joined(parts, " or ", Grip::Relation, f),
        Expr::List(parts) => write_joined(parts, ", ", Grip::Relation, f),
        Expr::Ratio(parts) => write_joined(parts, ":", Grip::Product, f),
        Expr::Union(parts) => write_joined(parts, " ∪ ", Grip::Sum, f),
        Expr::Intersection(parts) => write_joined(parts, " ∩ ", Grip::Sum, f),
        Expr::Difference(left, right) => {
            write_tight(left, Grip::Sum, f)?;
            f.write_str(" \\ ")?;
            write_tight(right, Grip::Sum, f)
        }
        other => write_enclosed(other, f),
    }
}

/// Expressions that bring their own brackets.
fn write_enclosed(expr: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    match expr {
        Expr::Set(parts) => write_within("{", parts, "}", f),
        Expr::Tuple(parts) => write_within("(", parts, ")", f),
        Expr::Interval { low, high, low_closed, high_closed } => {
            // `(a, b)` is a tuple; an interval open at both ends has its brackets turned.
            let (open, close) = if !low_closed && !high_closed { ("]", "[") } else { ("(", ")") };
            f.write_str(if *low_closed { "[" } else { open })?;
            write!(f, "{low}, {high}")?;
            f.write_str(if *high_closed { "]" } else { close })
        }
        Expr::SetBuilder(element, condition) => write!(f, "{{{element} | {condition}}}"),
        Expr::Matrix(rows) => {
            f.write_str("[")?;
            for (at, row) in rows.iter().enumerate() {
                write_within(if at == 0 { "[" } else { ", [" }, row, "]", f)?;
            }
            f.write_str("]")
        }
        Expr::Piecewise(pieces) => {
            for (at, (value, condition)) in pieces.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { "; " })?;
                write!(f, "{value} if {condition}")?;
            }
            Ok(())
        }
        Expr::Quantified { what, body, variable, from, to } => {
            write!(f, "{}({body}, {variable}", quantifier_name(*what))?;
            for bound in [from, to].into_iter().flatten() {
                write!(f, ", {bound}")?;
            }
            f.write_str(")")
        }
        _ => Ok(()),
    }
}

fn write_sum(parts: &[Expr], f: &mut Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        match (at, unsigned(part)) {
            (0, _) => write_tight(part, Grip::Product, f)?,
            (_, Some(positive)) => {
                f.write_str(" - ")?;
                write_tight(&positive, Grip::Product, f)?;
            }
            (_, None) if matches!(part, Expr::PlusMinus(_)) => {
                f.write_str(" ± ")?;
                if let Expr::PlusMinus(part) = part {
                    write_tight(part, Grip::Product, f)?;
                }
            }
            (_, None) => {
                f.write_str(" + ")?;
                write_tight(part, Grip::Product, f)?;
            }
        }
    }
    Ok(())
}

/// The term without its minus, where it has one in front.
fn unsigned(term: &Expr) -> Option<Expr> {
    match term {
        Expr::Num(value) if value < &RBig::ZERO => Some(Expr::Num(-value.clone())),
        Expr::Decimal(rounded) if rounded.value < RBig::ZERO => {
            Some(Expr::Decimal(Rounded { value: -rounded.value.clone(), places: rounded.places }))
        }
        Expr::Mul(factors) => match factors.split_first() {
            Some((first, [only])) if is_minus_one(first) => Some(only.clone()),
            Some((first, rest)) if is_minus_one(first) && rest.len() > 1 => Some(Expr::Mul(rest.to_vec())),
            _ => None,
        },
        _ => None,
    }
}

fn write_product(factors: &[Expr], f: &mut Formatter<'_>) -> fmt::Result {
    let mut rest = factors;
    if let Some((first, others)) = factors.split_first() {
        let divides = matches!(others.first(), Some(Expr::Pow(_, power)) if is_minus_one(power));
        if is_minus_one(first) && !others.is_empty() && !divides {
            f.write_char('-')?;
            rest = others;
        }
    }
    for (at, factor) in rest.iter().enumerate() {
        match factor {
            Expr::Pow(base, power) if at > 0 && is_minus_one(power) => {
                f.write_char('/')?;
                write_tight(base, Grip::Power, f)?;
            }
            _ if at > 0 => {
                f.write_char('*')?;
                write_tight(factor, Grip::Power, f)?;
            }
            _ => write_tight(factor, if rest.len() > 1 { first_grip(factor) } else { Grip::Power }, f)?,
        }
    }
    Ok(())
}

/// A number may stand first in a product without brackets.
fn first_grip(factor: &Expr) -> Grip {
    match factor {
        Expr::Num(value) if value.is_int() => Grip::Product,
        Expr::Decimal(_) => Grip::Product,
        _ => Grip::Power,
    }
}

fn write_power(base: &Expr, power: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    match power {
        Expr::Num(value) if is_minus_one(power) && value.is_int() => write_after("1/", base, Grip::Power, f),
        Expr::Num(value) if *value == RBig::from_parts(1.into(), 2u8.into()) => {
            write_call("sqrt", std::slice::from_ref(base), f)
        }
        _ => {
            write_tight(base, Grip::Atom, f)?;
            f.write_char('^')?;
            write_tight(power, Grip::Atom, f)
        }
    }
}

fn write_decimal(rounded: &Rounded, f: &mut Formatter<'_>) -> fmt::Result {
    let Ok(places) = usize::try_from(rounded.places) else { return write!(f, "{}", rounded.value) };
    let scaled = &rounded.value * RBig::from(dashu_int::UBig::from(10u8).pow(places));
    let digits = scaled.numerator().to_string();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits.as_str()),
    };
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    match places {
        0 => write!(f, "{sign}{whole}"),
        _ => write!(f, "{sign}{whole}.{fraction}"),
    }
}

fn write_call(name: &str, arguments: &[Expr], f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(name)?;
    write_within("(", arguments, ")", f)
}

fn write_after(before: &str, part: &Expr, at_least: Grip, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(before)?;
    write_tight(part, at_least, f)
}

fn write_before(part: &Expr, after: &str, f: &mut Formatter<'_>) -> fmt::Result {
    write_tight(part, Grip::Product, f)?;
    f.write_str(after)
}

fn write_within(open: &str, parts: &[Expr], close: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(open)?;
    write_joined(parts, ", ", Grip::Relation, f)?;
    f.write_str(close)
}

fn write_joined(parts: &[Expr], between: &str, at_least: Grip, f: &mut Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { between })?;
        write_tight(part, at_least, f)?;
    }
    Ok(())
}

fn is_minus_one(expr: &Expr) -> bool {
    matches!(expr, Expr::Num(value) if *value == RBig::NEG_ONE)
}
