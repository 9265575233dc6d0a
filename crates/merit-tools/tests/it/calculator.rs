//! The calculator never rounds, never overflows silently and never takes long.

use merit_tools::{MAX_DEPTH, MAX_LENGTH, evaluate};
use proptest::prelude::*;

fn check(expression: &str, value: &str) {
    assert_eq!(evaluate(expression), Ok(value.to_owned()), "{expression}");
}

fn refused(expression: &str, text: &str) {
    assert_eq!(evaluate(expression).unwrap_err(), text, "{expression}");
}

#[test]
fn products_bind_tighter_than_sums_and_both_from_the_left() {
    check("3*47", "141");
    check("141+4*12", "189");
    check("189-2*15", "159");
    check("10-3-2", "5");
    check("24/4/2", "3");
    check("(1+2)*(3+4)", "21");
}

#[test]
fn minus_may_stand_before_any_factor() {
    check("-3*47", "-141");
    check("3*-47", "-141");
    check("2--3", "5");
    check("-(2+3)", "-5");
    check("0*-1", "0");
}

#[test]
fn powers_bind_tighter_than_signs_and_are_whole() {
    check("2**10", "1024");
    check("-2**2", "-4");
    check("(-2)**3", "-8");
    check("3*2**-2", "0.75");
    check("0.5 ** 3", "0.125");
    check("7**0", "1");
    refused("2**200", "a power is a whole number up to 128");
    refused("2**0.5", "a power is a whole number up to 128");
    refused("9**99", "number too large");
    refused("0**-1", "division by zero");
    refused("2**", "a number must follow `*`");
    refused("2**3**2", "powers of powers need parentheses, as in (2**3)**2");
}

#[test]
fn decimals_are_exact() {
    check("0.1+0.2", "0.3");
    check(".5*4", "2");
    check("1/8", "0.125");
    check("-1/8", "-0.125");
    check("2.50", "2.5");
}

#[test]
fn a_quotient_that_does_not_terminate_stays_a_fraction() {
    check("1/3", "1/3");
    check("2/6+1/6", "0.5");
    check("-10/4/3", "-5/6");
    // 2^30 has 30 decimal places: longer than anybody wants to read.
    check("1/1073741824", "1/1073741824");
}

#[test]
fn spaces_are_ignored_between_but_not_within_numbers() {
    check("  3 *\t47 ", "141");
    refused("1 2", "`2` where + - * or / was expected");
}

#[test]
fn refusals_say_what_to_write() {
    refused("", "write a sum, as in 141+4*12");
    refused("3*", "a number must follow `*`");
    refused("*3", "start with a number");
    refused("()", "a number must follow `(`");
    refused("3+)", "a number must follow `+`");
    refused("(3", "a `(` is not closed");
    refused("3)", "`)` without `(`");
    refused("3 x 4", "`x` where + - * or / was expected");
    refused("mug*3", "`m` is not a number: only numbers, + - * / and ( )");
    refused("3*\u{e9}", "that character is not a number: only numbers, + - * / and ( )");
    refused("5.", "a digit must follow `.`");
    refused("1.2.3", "`.` where + - * or / was expected");
    refused("1/(2-2)", "division by zero");
}

#[test]
fn overflow_is_refused_and_not_wrapped() {
    let largest = i128::MAX.to_string();
    check(&largest, &largest);
    check(&format!("-{largest}-1"), &i128::MIN.to_string());
    refused(&format!("{largest}+1"), "number too large");
    refused(&format!("{largest}*2"), "number too large");
    refused(&format!("-(-{largest}-1)"), "number too large");
    refused(&format!("{largest}0"), "number too large");
    refused(&format!("0.{}1", "0".repeat(40)), "number too large");
    refused(&format!("1/{largest}/2"), "number too large");
}

#[test]
fn nesting_is_allowed_to_the_limit_and_no_further() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    check(&nested(MAX_DEPTH as usize), "1");
    refused(&nested(MAX_DEPTH as usize + 1), "nested too deep: at most 24 parentheses");
    check(&format!("{}1", "-".repeat(MAX_LENGTH - 1)), "-1");
}

#[test]
fn a_hundred_kilobytes_are_refused_by_their_length() {
    refused(&"(".repeat(100_000), "too long: at most 200 characters");
    refused(&"\u{1f980}".repeat(100_000), "too long: at most 200 characters");
}

/// A random expression with its value, computed independently on small numbers.
fn expressions() -> impl Strategy<Value = (String, i64)> {
    let leaf = (0_i64..100).prop_map(|n| (n.to_string(), n));
    leaf.prop_recursive(4, 16, 2, |inner| {
        (inner.clone(), inner, prop::sample::select(vec!['+', '-', '*'])).prop_map(|((a, x), (b, y), op)| {
            let value = match op {
                '+' => x + y,
                '-' => x - y,
                _ => (x % 1000) * (y % 1000),
            };
            let text = if op == '*' {
                format!("({})*({})", reduce(&a, x), reduce(&b, y))
            } else {
                format!("({a}){op}({b})")
            };
            (text, value)
        })
    })
}

/// Keeps factors small: a large subexpression is replaced by its value modulo 1000.
fn reduce(text: &str, value: i64) -> String {
    if value % 1000 == value { text.to_owned() } else { (value % 1000).to_string() }
}

proptest! {
    #[test]
    fn any_expression_has_the_value_that_integers_give((text, value) in expressions()) {
        prop_assume!(text.len() <= MAX_LENGTH);
        prop_assert_eq!(evaluate(&text), Ok(value.to_string()));
    }

    #[test]
    fn any_text_gets_a_value_or_a_short_refusal(text in "\\PC{0,40}|[-+*/(). 0-9]{0,200}") {
        if let Err(refusal) = evaluate(&text) {
            prop_assert!(!refusal.is_empty() && refusal.len() <= 80, "{}", refusal);
        }
    }

    #[test]
    fn what_is_printed_can_be_read_back(numerator in any::<i64>(), denominator in 1_i64..1_000_000) {
        let value = evaluate(&format!("{numerator}/{denominator}")).unwrap();
        prop_assert_eq!(evaluate(&value), Ok(value.clone()));
    }

    #[test]
    fn fractions_obey_the_rules_of_arithmetic(a in -500_i64..500, b in 1_i64..500, c in -500_i64..500, d in 1_i64..500) {
        let value = |text: String| evaluate(&text).unwrap();
        let (x, y) = (format!("({a}/{b})"), format!("({c}/{d})"));
        prop_assert_eq!(value(format!("{x}+{y}")), value(format!("{}/{}", a * d + c * b, b * d)));
        prop_assert_eq!(value(format!("{x}-{y}+{y}")), value(x.clone()));
        prop_assert_eq!(value(format!("{x}*{y}")), value(format!("{}/{}", a * c, b * d)));
        if c != 0 {
            prop_assert_eq!(value(format!("{x}/{y}*{y}")), value(x));
        }
    }
}
