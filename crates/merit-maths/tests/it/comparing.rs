//! What the comparison must decide, one sentence per rule.

mod kinds;
mod properties;
mod reader;

use merit_maths::{Budget, Decision, Exhausted, Expr, Limits, MathsConfig, compare};
use reader::expr;

fn decided(gold: &Expr, response: &Expr, config: &MathsConfig) -> Result<Decision, Exhausted> {
    compare(gold, response, config, &mut Budget::new(config.limits))
}

#[track_caller]
fn check(gold: &str, response: &str, equal: bool) -> &'static str {
    let decision = decided(&expr(gold), &expr(response), &MathsConfig::default()).unwrap();
    assert_eq!(decision.equal, equal, "{gold} against {response}: {decision:?}");
    let back = decided(&expr(response), &expr(gold), &MathsConfig::default()).unwrap();
    assert_eq!(back.equal, equal, "{response} against {gold}: {back:?}");
    decision.rule
}

#[track_caller]
fn same(gold: &str, response: &str) {
    check(gold, response, true);
}

#[track_caller]
fn other(gold: &str, response: &str) {
    check(gold, response, false);
}

#[test]
fn numbers_are_compared_exactly() {
    assert_eq!(check("0.5", "1/2", true), "exact-rational");
    same("1.50", "3/2");
    same("10^2", "100");
    same("2^-3", "1/8");
    other("0.333", "1/3");
    other("0.333333333333333333333333333333333", "1/3");
    other("1000000000000000000000000000000", "1000000000000000000000000000001");
    other("1/2004!", "1/2006!");
    other("10^-30", "0");
}

#[test]
fn radicals_have_one_normal_form() {
    assert_eq!(check("sqrt(8)", "2*sqrt(2)", true), "normal-form");
    same("1/sqrt(2)", "sqrt(2)/2");
    same("sqrt(2)*sqrt(3)", "sqrt(6)");
    same("1/(1+sqrt(2))", "sqrt(2)-1");
    same("sqrt(3+2*sqrt(2))", "1+sqrt(2)");
    same("sqrt(5-2*sqrt(6))", "sqrt(3)-sqrt(2)");
    same("cbrt(-8)", "-2");
    same("cbrt(16)", "2*cbrt(2)");
    same("sqrt(1/3)", "sqrt(3)/3");
    same("5*sqrt(42)/27", "10*sqrt(10.5)/27");
    same("sqrt(-4)", "2*i");
    same("(1+i)^8", "16");
    other("sqrt(2)+sqrt(3)", "sqrt(5)");
    other("sqrt(2)+sqrt(5)", "sqrt(2)-sqrt(5)");
    other("1+sqrt(19)", "1-sqrt(19)");
}

#[test]
fn formulas_are_compared_as_functions() {
    assert_eq!(check("(x+1)^2", "x^2+2*x+1", true), "normal-form");
    same("(x^2-1)/(x-1)", "x+1");
    same("1/x+1/y", "(x+y)/(x*y)");
    same("(x+2)/7", "x/7+2/7");
    same("pi*r/(h+r)", "r*pi/(r+h)");
    same("2^(n+1)", "2*2^n");
    same("4^n", "2^(2*n)");
    same("exp(x+y)", "e^x*e^y");
    same("(n+1)!/n!", "n+1");
    same("binom(n,2)", "n*(n-1)/2");
    same("1/(3*cbrt(x)^2)", "1/(3*x^(2/3))");
    other("x+2*n+1", "x+1");
    other("(x+1)^2", "x^2+1");
    other("(a+5)*(b+2)", "5*(b+2)");
    other("2^n", "2*n");
    other("x", "y");
}

#[test]
fn identities_that_have_no_normal_form_are_found_by_their_values() {
    assert_eq!(check("sin(2*x)", "2*sin(x)*cos(x)", true), "numeric-identity");
    same("tan(y)^2+1", "sec(y)^2");
    same("2*sin(b)*cos(a)", "sin(a+b)-sin(a-b)");
    same("cosh(x)^2-sinh(x)^2", "1");
    same("arcsin(1/2)", "pi/6");
    same("arctan(1)", "pi/4");
    same("ln(a*b)", "ln(a)+ln(b)");
    same("sqrt(x^2)", "abs(x)");
    same("sqrt(a*b)", "sqrt(a)*sqrt(b)");
    same("cos(2*pi/7)+cos(4*pi/7)+cos(6*pi/7)", "-1/2");
    other("sqrt(x^2)", "x");
    other("abs(x)", "x");
    other("sin(x)", "x");
    other("sin(2*x)", "2*sin(x)");
}

#[test]
fn constants_that_are_nearly_equal_are_different() {
    other("1-1/e", "1+1/e");
    other("sin(10^-20)", "0");
    other("sin(10^-20)", "10^-20");
    other("pi", "3.14159265358979323846264338327950288419716939937510");
    other("e^(pi*sqrt(163))", "262537412640768744");
    other("1+e^(-500)", "1");
    other("ln(1+10^-40)", "10^-40");
    other("22/7", "pi");
    other("e^-1000", "0");
    other("e^(3*e^6)+1", "e^(3*e^6)");
    other("x*e^(3*e^6)+1", "x*e^(3*e^6)");
}

#[test]
fn named_values_of_functions_are_exact() {
    assert_eq!(check("sin(pi/6)", "1/2", true), "normal-form");
    same("cos(pi/12)", "(sqrt(6)+sqrt(2))/4");
    same("sin(pi/10)", "(sqrt(5)-1)/4");
    same("tan(pi/3)", "sqrt(3)");
    same("log(8,2)", "3");
    same("log(100)", "2");
    same("ln(12)", "2*ln(2)+ln(3)");
    same("ln(e^3)", "3");
    same("e^(i*pi)", "-1");
    same("e^(2*ln(3))", "9");
    same("gamma(1/2)", "sqrt(pi)");
    same("5!", "120");
    same("binom(10,3)", "120");
    same("gcd(12,18)", "6");
    same("lcm(4,6)", "12");
    same("floor(sqrt(10))", "3");
    same("abs(1-sqrt(2))", "sqrt(2)-1");
    same("abs(3+4*i)", "5");
    same("dfact(7)", "105");
    other("log(8,2)", "2");
}

#[test]
fn what_has_no_value_equals_nothing() {
    for undefined in ["1/0", "0/0", "x/(x-x)", "ln(0)", "0^0", "1/(sqrt(2)-sqrt(2))"] {
        other(undefined, undefined);
        other(undefined, "1");
        other(undefined, "0");
    }
    same("inf", "inf");
    other("inf", "-inf");
    other("inf", "1");
    same("-inf", "-inf");
}

#[test]
fn what_is_too_large_is_refused_or_decided_without_computing_it() {
    same("2^100000000", "4^50000000");
    other("2^100000000", "2^100000001");
    other("9^(9^9)", "9");
    same("9^(9^9)", "3^(2*9^9)");
    let config = MathsConfig::default();
    for tower in ["9^(9^(9^9))", "10^(10^(10^10))", "(10^6)!!"] {
        let gold = expr("1");
        match decided(&gold, &expr(tower), &config) {
            Ok(decision) => assert!(!decision.equal, "{tower}: {decision:?}"),
            Err(limit) => assert!(matches!(limit, Exhausted::Size | Exhausted::Steps), "{tower}: {limit}"),
        }
    }
}

#[test]
fn a_small_budget_is_reported_as_such() {
    let limits = Limits { steps: 200, ..Limits::default() };
    let config = MathsConfig { limits, ..MathsConfig::default() };
    let spent = decided(&expr("(a+b+c+d)^9"), &expr("(d+c+b+a)^9+sin(x)"), &config);
    assert_eq!(spent, Err(Exhausted::Steps));
    let deep = (0..400).fold(expr("x"), |inner, _| Expr::Apply(merit_maths::Function::Sin, vec![inner]));
    assert_eq!(decided(&deep, &deep, &MathsConfig::default()), Err(Exhausted::Depth));
}
