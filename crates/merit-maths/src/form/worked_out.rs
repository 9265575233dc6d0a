//! Whether an answer is worked out: a number, or a collection of numbers, and not a sum still to be done.
//!
//! `6 \cdot 7` equals 42, and a policy that gives the question back has not answered it. A fraction, a mixed number, a
//! percentage, scientific notation, a unit and `x = 42` are ways to write a number.

use crate::{Expr, Relation};
use dashu_int::IBig;
use dashu_ratio::RBig;

/// Whether nothing is left to be done. Nested no deeper than the parser allows.
pub(super) fn worked_out(expr: &Expr) -> bool {
    match expr {
        Expr::Percent(part) | Expr::Quantity(part, _) | Expr::Labelled(_, part) | Expr::PlusMinus(part) => {
            worked_out(part)
        }
        Expr::Relation(Relation::In | Relation::NotIn, left, right) => is_name(left) && worked_out(right),
        Expr::Relation(_, left, right) => {
            is_name(left) && worked_out(right) || is_name(right) && worked_out(left)
        }
        Expr::Set(parts) | Expr::Tuple(parts) | Expr::List(parts) | Expr::Either(parts) => {
            parts.iter().all(worked_out)
        }
        // `x = 5 + 6 = 11`: what was worked out stands at the end.
        Expr::Chain(parts) if parts.iter().all(is_equation) => match parts.last() {
            Some(Expr::Relation(_, _, end)) => worked_out(end),
            _ => false,
        },
        Expr::Chain(parts) | Expr::Union(parts) | Expr::Ratio(parts) => parts.iter().all(worked_out),
        Expr::Matrix(rows) => rows.iter().flatten().all(worked_out),
        Expr::Interval { low, high, .. } => worked_out(low) && worked_out(high),
        Expr::Difference(left, right) => worked_out(left) && worked_out(right),
        Expr::SetBuilder(_, condition) => worked_out(condition),
        Expr::NamedSet(_) => true,
        // `2 hours 30 minutes`
        Expr::Add(parts) if parts.iter().all(|part| matches!(part, Expr::Quantity(..))) => {
            parts.iter().all(worked_out)
        }
        other => numeral(other),
    }
}

fn is_equation(expr: &Expr) -> bool {
    matches!(expr, Expr::Relation(Relation::Equal | Relation::About, ..))
}

/// Whether one side of an equation only says what the other is the value of.
fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Symbol(_) | Expr::Unknown(..) | Expr::Apply(..) => true,
        Expr::Tuple(parts) => parts.iter().all(|part| matches!(part, Expr::Symbol(_))),
        // `AB`, a segment by its ends. `xy` is a product of two unknowns and names nothing.
        Expr::Mul(parts) => parts
            .iter()
            .all(|part| matches!(part, Expr::Symbol(name) if name.starts_with(char::is_uppercase))),
        _ => false,
    }
}

fn numeral(expr: &Expr) -> bool {
    match expr {
        Expr::Num(_) | Expr::Decimal(_) | Expr::Constant(_) => true,
        Expr::Mul(parts) => match parts.as_slice() {
            [Expr::Num(sign), rest] if *sign == RBig::from(-1) => numeral(rest),
            [Expr::Num(top), part] if reciprocal(part) => proper(top, part),
            [Expr::Num(sign), Expr::Num(top), part] if *sign == RBig::from(-1) && reciprocal(part) => {
                proper(top, part)
            }
            [Expr::Num(_) | Expr::Decimal(_), part] if power_of_ten(part) => true,
            _ => is_multiple(parts),
        },
        // A mixed number.
        Expr::Add(parts) => match parts.as_slice() {
            [Expr::Num(whole), Expr::Mul(fraction)] if is_integer(whole) => {
                matches!(fraction.as_slice(), [Expr::Num(_), part] if reciprocal(part))
            }
            _ => false,
        },
        part => reciprocal(part) || power_of_ten(part),
    }
}

/// `2\pi/3`: a constant times at most one number and over at most one.
fn is_multiple(parts: &[Expr]) -> bool {
    fn gather<'e>(parts: &'e [Expr], all: &mut Vec<&'e Expr>) {
        for part in parts {
            match part {
                Expr::Mul(inner) => gather(inner, all),
                other => all.push(other),
            }
        }
    }
    let mut all = Vec::new();
    gather(parts, &mut all);
    let count = |test: &dyn Fn(&Expr) -> bool| all.iter().filter(|part| test(part)).count();
    let constants = count(&|part| matches!(part, Expr::Constant(_)));
    let signs = count(&|part| matches!(part, Expr::Num(sign) if *sign == RBig::from(-1)));
    let numbers = count(&|part| matches!(part, Expr::Num(_) | Expr::Decimal(_))) - signs;
    let under = count(&reciprocal);
    constants == 1 && numbers <= 1 && under <= 1 && constants + signs + numbers + under == all.len()
}

/// Whether a fraction is one: `84/2` is a division still to be done.
fn proper(top: &RBig, bottom: &Expr) -> bool {
    let Expr::Pow(bottom, _) = bottom else { return false };
    match &**bottom {
        Expr::Num(bottom) => bottom.is_one() || bottom.is_zero() || !(top / bottom).is_int(),
        _ => false,
    }
}

fn is_integer(number: &RBig) -> bool {
    *number.denominator() == dashu_int::UBig::ONE
}

/// `1/n`
fn reciprocal(expr: &Expr) -> bool {
    let Expr::Pow(base, exponent) = expr else { return false };
    matches!(&**base, Expr::Num(_)) && matches!(&**exponent, Expr::Num(e) if *e == RBig::from(-1))
}

fn power_of_ten(expr: &Expr) -> bool {
    let Expr::Pow(base, exponent) = expr else { return false };
    let whole = |e: &Expr| match e {
        Expr::Num(e) => is_integer(e),
        Expr::Mul(parts) => matches!(parts.as_slice(), [Expr::Num(_), Expr::Num(e)] if is_integer(e)),
        _ => false,
    };
    matches!(&**base, Expr::Num(ten) if *ten == RBig::from(IBig::from(10))) && whole(exponent)
}

/// Whether a letter that looks like a digit stands against a digit: `О.375` with a Cyrillic letter is no number.
pub(crate) fn disguised(text: &str) -> bool {
    const LOOK_ALIKES: &str = "ОоЗзбΟοΙⅠ";
    let mut before: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let digit_next = rest.peek().is_some_and(|next| next.is_ascii_digit() || *next == '.');
        let digit_before = before.is_some_and(|b| b.is_ascii_digit() || b == '.');
        if LOOK_ALIKES.contains(c) && (digit_next || digit_before) {
            return true;
        }
        before = Some(c);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Limits, parse_latex};

    fn read(text: &str) -> bool {
        worked_out(&parse_latex(text, &mut Budget::new(Limits::default())).unwrap())
    }

    #[test]
    fn numbers_are_worked_out_however_they_are_written() {
        for text in [
            "42",
            "-42",
            "4.20",
            r"\frac{1}{2}",
            r"-\frac{10}{9}",
            r"1\frac{1}{2}",
            r"50\%",
            "1.5e3",
            r"3\times10^8",
            "x = 42",
            r"\{1, 2\}",
            "(1, -2)",
            r"5\text{ cm}",
            r"\pi",
            r"1/3",
            "10^6",
            "x > 3",
            r"-2 < x \le 2",
            r"(-\infty, 1) \cup (3, \infty)",
            r"f(2) = 5",
            r"\frac{2\pi}{3}",
            r"-\frac{\pi}{4}",
            r"2\pi",
        ] {
            assert!(read(text), "{text}");
        }
    }

    #[test]
    fn sums_still_to_be_done_are_not() {
        for text in [
            r"6 \cdot 7",
            "40 + 2",
            "2^5",
            r"\sqrt{16}",
            "6(7)",
            r"\binom{4}{2}",
            "(1, 1+1)",
            r"84/2 + 0",
            "84/2",
            "2x > 6",
            r"2\cdot 3\pi",
            r"\pi+\pi",
        ] {
            assert!(!read(text), "{text}");
        }
    }

    #[test]
    fn a_letter_of_another_script_is_no_digit() {
        assert!(disguised("О.375") && disguised("1О") && disguised("Ι2"));
        assert!(!disguised("0.375") && !disguised("О, да") && !disguised("π2") && !disguised("答案42"));
    }
}
