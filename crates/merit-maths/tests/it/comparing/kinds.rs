//! Answers that are more than one number: tuples, sets, intervals, relations, matrices, units, percent, words.

use super::reader::expr;
use super::{MathsConfig, decided};
use merit_maths::{Expr, Percent, Relation, Several, Units};

fn all(parts: &[&str]) -> Vec<Expr> {
    parts.iter().map(|part| expr(part)).collect()
}

fn tuple(parts: &[&str]) -> Expr {
    Expr::Tuple(all(parts))
}

fn set(parts: &[&str]) -> Expr {
    Expr::Set(all(parts))
}

fn list(parts: &[&str]) -> Expr {
    Expr::List(all(parts))
}

fn interval(brackets: &str, low: &str, high: &str) -> Expr {
    Expr::Interval {
        low: Box::new(expr(low)),
        high: Box::new(expr(high)),
        low_closed: brackets.starts_with('['),
        high_closed: brackets.ends_with(']'),
    }
}

fn rel(left: &str, op: &str, right: &str) -> Expr {
    let op = match op {
        "=" => Relation::Equal,
        "!=" => Relation::NotEqual,
        "<" => Relation::Less,
        "<=" => Relation::AtMost,
        ">" => Relation::Greater,
        ">=" => Relation::AtLeast,
        _ => Relation::About,
    };
    Expr::Relation(op, Box::new(expr(left)), Box::new(expr(right)))
}

fn within(name: &str, set: Expr) -> Expr {
    Expr::Relation(Relation::In, Box::new(expr(name)), Box::new(set))
}

fn text(words: &str) -> Expr {
    Expr::Text(words.into())
}

fn unit(value: &str, unit: &str) -> Expr {
    Expr::Quantity(Box::new(expr(value)), unit.into())
}

fn percent(value: &str) -> Expr {
    Expr::Percent(Box::new(expr(value)))
}

fn rows(rows: &[&[&str]]) -> Expr {
    Expr::Matrix(rows.iter().map(|row| all(row)).collect())
}

#[track_caller]
fn check_with(config: &MathsConfig, gold: &Expr, response: &Expr, equal: bool) {
    let decision = decided(gold, response, config).unwrap();
    assert_eq!(decision.equal, equal, "{gold:?} against {response:?}: {decision:?}");
    assert!(!decision.why.is_empty());
}

#[track_caller]
fn check(gold: Expr, response: Expr, equal: bool) {
    check_with(&MathsConfig::default(), &gold, &response, equal);
}

#[track_caller]
fn both_ways(gold: Expr, response: Expr, equal: bool) {
    check_with(&MathsConfig::default(), &gold, &response, equal);
    check_with(&MathsConfig::default(), &response, &gold, equal);
}

#[test]
fn tuples_have_an_order_and_sets_have_none() {
    both_ways(tuple(&["3", "pi/2"]), tuple(&["3", "pi/2"]), true);
    both_ways(tuple(&["1", "2"]), tuple(&["2", "1"]), false);
    both_ways(tuple(&["1", "9/2"]), tuple(&["1", "4.5"]), true);
    both_ways(tuple(&["1", "2"]), tuple(&["1", "2", "3"]), false);
    both_ways(set(&["1", "2"]), set(&["2", "1"]), true);
    both_ways(set(&["1", "2"]), set(&["2", "1", "4/2"]), true);
    both_ways(set(&["1", "2"]), set(&["2"]), false);
    both_ways(set(&["1", "3"]), tuple(&["1", "3"]), false);
    both_ways(set(&[]), set(&[]), true);
    both_ways(set(&[]), set(&["0"]), false);
    both_ways(set(&["5"]), expr("5"), true);
    let points = |a: &[&str], b: &[&str]| Expr::List(vec![tuple(a), tuple(b)]);
    both_ways(points(&["5", "8"], &["8", "5"]), points(&["8", "5"], &["5", "8"]), true);
    both_ways(points(&["5", "8"], &["8", "5"]), points(&["8", "5"], &["5", "9"]), false);
}

#[test]
fn lists_follow_the_policy() {
    let (gold, turned) = (list(&["1", "2"]), list(&["2", "1"]));
    check(gold.clone(), turned.clone(), true);
    check(gold.clone(), list(&["1", "2", "3"]), false);
    check(gold.clone(), expr("1"), false);
    check(expr("1"), gold.clone(), false);
    let in_order = MathsConfig { several: Several::AllInOrder, ..MathsConfig::default() };
    check_with(&in_order, &gold, &turned, false);
    check_with(&in_order, &gold, &gold, true);
    let any = MathsConfig { several: Several::AnyOne, ..MathsConfig::default() };
    check_with(&any, &gold, &expr("2"), true);
    check_with(&any, &gold, &expr("3"), false);
    check_with(&any, &gold, &list(&["1", "3"]), false);
}

#[test]
fn plus_minus_stands_for_two_values() {
    both_ways(expr("1 + ±sqrt(19)"), list(&["1-sqrt(19)", "1+sqrt(19)"]), true);
    both_ways(expr("±2021"), set(&["-2021", "2021"]), true);
    both_ways(expr("±2021"), expr("2021"), false);
    both_ways(
        Expr::Set(vec![expr("1 + ±sqrt(5)"), expr("-2")]),
        set(&["-2", "1+sqrt(5)", "1-sqrt(5)"]),
        true,
    );
}

#[test]
fn an_assignment_to_a_name_equals_its_value() {
    both_ways(rel("x", "=", "5"), expr("5"), true);
    both_ways(rel("x", "=", "5"), rel("x", "=", "5"), true);
    both_ways(rel("f(x)", "=", "x+1"), rel("f(y)", "=", "y+1"), true);
    both_ways(rel("f(x)", "=", "x+1"), rel("f(y)", "=", "y+2"), false);
    both_ways(rel("x", "~", "11"), expr("11"), true);
    both_ways(rel("x", "=", "5"), rel("y", "=", "5"), false);
    both_ways(rel("2*x+z", "=", "1"), expr("1"), false);
    both_ways(rel("a^2+b", "=", "0"), expr("0"), false);
    both_ways(rel("7", "=", "11*a+c"), expr("11*a+c"), false);
    let chain = Expr::Chain(vec![rel("x", "=", "5+6"), rel("5+6", "=", "11")]);
    both_ways(chain, expr("11"), true);
    let named = Expr::List(vec![rel("k", "=", "45"), rel("n", "=", "2")]);
    both_ways(named.clone(), list(&["45", "2"]), true);
    both_ways(named.clone(), list(&["2", "45"]), false);
    both_ways(named, Expr::List(vec![rel("n", "=", "2"), rel("k", "=", "45")]), true);
}

#[test]
fn equations_are_equal_up_to_a_factor() {
    both_ways(rel("2*x+4*y-3", "=", "0"), rel("y", "=", "3/4-x/2"), true);
    both_ways(rel("x^2/4+y^2/3", "=", "1"), rel("x^2/16+y^2/12", "=", "1/4"), true);
    both_ways(rel("34*x+45*y-20*z+100", "=", "0"), rel("-34*x-45*y+20*z-100", "=", "0"), true);
    both_ways(rel("y", "=", "1/x"), rel("x*y", "=", "1"), true);
    both_ways(rel("x^2", "=", "x"), rel("x", "=", "1"), false);
    both_ways(rel("y", "=", "2*x"), rel("x", "=", "2*y"), false);
}

#[test]
fn inequalities_are_sets_of_numbers() {
    both_ways(rel("x", "<", "3"), rel("3", ">", "x"), true);
    both_ways(rel("2*x", "<", "6"), rel("x", "<", "3"), true);
    both_ways(rel("x", "<", "1"), rel("-x", ">", "-1"), true);
    both_ways(rel("x", "<", "1"), rel("x", "<=", "1"), false);
    both_ways(rel("x", "<", "1"), rel("y", "<", "1"), false);
    both_ways(rel("x", ">", "5"), rel("x", "<", "5"), false);
    both_ways(rel("x^2", "<", "4"), interval("()", "-2", "2"), true);
    both_ways(rel("abs(x-1)", "<=", "2"), interval("[]", "-1", "3"), true);
    both_ways(rel("x+y", "<", "1"), rel("2", ">", "2*x+2*y"), true);
    both_ways(rel("x+y", "<", "1"), rel("x+y", ">", "1"), false);
    let chain = Expr::Chain(vec![rel("-2", "<=", "x"), rel("x", "<=", "7")]);
    both_ways(chain.clone(), interval("[]", "-2", "7"), true);
    both_ways(chain.clone(), within("x", interval("[]", "-2", "7")), true);
    both_ways(chain, interval("[)", "-2", "7"), false);
    let open = Expr::Chain(vec![rel("-793", "<", "a"), rel("a", "<", "10")]);
    both_ways(open, tuple(&["-793", "10"]), true);
    let ring = Expr::Chain(vec![rel("1", "<=", "abs(z)"), rel("abs(z)", "<=", "3/2")]);
    let pieces = Expr::Union(vec![interval("[]", "-3/2", "-1"), interval("[]", "1", "3/2")]);
    both_ways(ring, within("z", pieces), true);
}

#[test]
fn intervals_are_brought_into_order() {
    both_ways(interval("[)", "0", "1"), interval("[)", "0", "1"), true);
    both_ways(interval("[)", "0", "9"), interval("[)", "0", "1"), false);
    both_ways(tuple(&["0", "9"]), interval("[)", "0", "9"), false);
    both_ways(tuple(&["0", "9"]), interval("()", "0", "9"), true);
    both_ways(interval("(]", "3/5", "8/3"), interval("(]", "0.6", "2.6667"), false);
    let split = Expr::Union(vec![tuple(&["1", "inf"]), interval("[]", "0", "1")]);
    both_ways(split, interval("[)", "0", "inf"), true);
    let hole = Expr::Union(vec![tuple(&["-inf", "2"]), tuple(&["2", "inf"])]);
    let minus = Expr::Difference(Box::new(Expr::NamedSet("R".into())), Box::new(set(&["2"])));
    both_ways(hole.clone(), minus, true);
    both_ways(hole, rel("x", "!=", "2"), true);
    let cut = Expr::Intersection(vec![interval("[]", "0", "2"), interval("[]", "1", "sqrt(2)")]);
    both_ways(cut, interval("[]", "1", "sqrt(8)/2"), true);
    both_ways(interval("[]", "a", "b"), interval("[]", "a", "b"), true);
    both_ways(interval("[]", "a", "b"), interval("[]", "b", "a"), false);
    let builder = Expr::SetBuilder(Box::new(expr("x")), Box::new(rel("x", ">", "2")));
    both_ways(builder, tuple(&["2", "inf"]), true);
    both_ways(interval("[]", "5", "3"), interval("[]", "7", "2"), false);
    both_ways(Expr::NamedSet("Z".into()), Expr::NamedSet("Z".into()), true);
    both_ways(Expr::NamedSet("Z".into()), Expr::NamedSet("N".into()), false);
    both_ways(Expr::NamedSet("R".into()), tuple(&["-inf", "inf"]), true);
}

#[test]
fn matrices_are_compared_entry_by_entry() {
    let a = || rows(&[&["1", "2"], &["3", "4"]]);
    both_ways(a(), a(), true);
    both_ways(a(), rows(&[&["1", "2"], &["3", "5"]]), false);
    both_ways(a(), rows(&[&["1", "2", "3", "4"]]), false);
    both_ways(
        rows(&[&["6", "8"], &["10", "12"]]),
        Expr::Add(vec![a(), rows(&[&["5", "6"], &["7", "8"]])]),
        true,
    );
    both_ways(rows(&[&["7", "10"], &["15", "22"]]), Expr::Mul(vec![a(), a()]), true);
    both_ways(rows(&[&["1"], &["2"]]), tuple(&["1", "2"]), true);
    let det = Expr::Apply(merit_maths::Function::Determinant, vec![a()]);
    both_ways(det, expr("-2"), true);
}

#[test]
fn percent_is_a_hundredth_and_the_bare_number_only_where_the_reference_has_the_sign() {
    both_ways(percent("28"), percent("28"), true);
    both_ways(percent("50"), expr("0.5"), true);
    check(percent("28"), expr("28"), true);
    check(expr("28"), percent("28"), false);
    both_ways(expr("0.28"), expr("28"), false);
    let ignored = MathsConfig { percent: Percent::Ignored, ..MathsConfig::default() };
    check_with(&ignored, &expr("28"), &percent("28"), true);
    check_with(&ignored, &percent("28"), &expr("0.28"), false);
}

#[test]
fn units_convert() {
    both_ways(unit("5", "cm"), unit("0.05", "m"), true);
    both_ways(unit("5", "cm"), unit("5", "m"), false);
    both_ways(unit("36", "km/h"), unit("10", "m/s"), true);
    both_ways(unit("15", "cm^2"), unit("15", "square centimeters"), true);
    both_ways(unit("1", "m²"), unit("10000", "\\text{ cm}^2"), true);
    both_ways(unit("1", "L"), unit("1000", "cm^3"), true);
    both_ways(unit("25", "°C"), unit("77", "°F"), true);
    both_ways(unit("180", "°"), unit("pi", "rad"), true);
    both_ways(unit("90", "^\\circ"), expr("pi/2"), true);
    both_ways(unit("90", "°"), expr("90"), true);
    both_ways(unit("1", "kWh"), unit("3.6", "MJ"), true);
    both_ways(unit("2", "hours"), unit("120", "minutes"), true);
    both_ways(unit("5", "$"), unit("500", "cents"), true);
    both_ways(unit("5", "$"), unit("5", "€"), false);
    both_ways(unit("5", "cm"), unit("5", "s"), false);
    both_ways(unit("125", "miles"), unit("125", "mile"), true);
    both_ways(unit("5", "apples"), unit("5", "apple"), true);
    both_ways(unit("5", "apples"), unit("5", "pears"), false);
    both_ways(unit("0.06", "yuan"), expr("0.06"), true);
    both_ways(unit("12", "months"), unit("1", "year"), true);
    both_ways(unit("12", "months"), unit("12", "years"), false);
    both_ways(unit("30", "mpg"), unit("30", "miles per gallon"), true);
    both_ways(unit("2", "cups"), unit("16", "fl oz"), true);
    both_ways(unit("3", "hrs"), unit("3", "hours"), true);
    // One electronvolt is 1.602176634e-19 J.
    both_ways(unit("10000000000", "eV"), unit("1.602176634", "nJ"), true);
    let required = MathsConfig { units: Units::Required, ..MathsConfig::default() };
    check_with(&required, &unit("5", "cm"), &expr("5"), false);
    check_with(&required, &unit("5", "cm"), &unit("50", "mm"), true);
    let ignored = MathsConfig { units: Units::Ignored, ..MathsConfig::default() };
    check_with(&ignored, &unit("5", "cm"), &unit("5", "m"), true);
}

#[test]
fn words_are_compared_in_order() {
    both_ways(text("Evelyn"), text("evelyn."), true);
    both_ways(text("abc"), text("cba"), false);
    both_ways(text("C"), text("(C)"), true);
    both_ways(text("E"), Expr::Symbol("E".into()), true);
    both_ways(text("odd"), expr("o*d*d"), true);
    both_ways(text("yes"), Expr::Truth(true), true);
    both_ways(text("No"), Expr::Truth(true), false);
    both_ways(text("13"), expr("13"), true);
    both_ways(text("..."), text("!!!"), false);
    both_ways(text("increasing"), expr("x"), false);
    both_ways(text("−5 apples"), text("5 apples"), false);
    both_ways(text("√2 units"), text("2 units"), false);
    both_ways(text("at 1.5"), text("at 15"), false);
    both_ways(text("12:30 pm"), text("1230 pm"), false);
    both_ways(text("1 5 x"), text("15 x"), false);
}

#[test]
fn rounding_counts_only_where_the_policy_says_so() {
    check(expr("1/3"), expr("0.33"), false);
    let rounded = MathsConfig { accept_rounded: Some(2), ..MathsConfig::default() };
    check_with(&rounded, &expr("1/3"), &expr("0.33"), true);
    check_with(&rounded, &expr("1/3"), &expr("0.34"), false);
    check_with(&rounded, &expr("1/3"), &expr("0.3"), false);
    check_with(&rounded, &expr("pi"), &expr("3.1416"), true);
    check_with(&rounded, &expr("pi"), &expr("3.1415"), false);
    check_with(&rounded, &expr("-2/3"), &expr("-0.67"), true);
    check_with(&rounded, &expr("0.333"), &expr("0.33"), false);
    let digits = MathsConfig { round_to: Some(2), ..MathsConfig::default() };
    check_with(&digits, &expr("0.333"), &expr("1/3"), true);
    check_with(&digits, &expr("sqrt(2)"), &expr("1.41"), true);
    check_with(&digits, &expr("sqrt(2)"), &expr("1.42"), false);
}

fn in_base(digits: &str, base: u32) -> Expr {
    Expr::InBase(digits.into(), base)
}

fn ratio(parts: &[&str]) -> Expr {
    Expr::Ratio(all(parts))
}

#[test]
fn a_numeral_in_a_base_is_not_answered_by_its_value_in_ten() {
    check(in_base("204", 5), in_base("204", 5), true);
    check(in_base("1112112", 3), in_base("1112122", 3), false);
    check(in_base("204", 5), expr("54"), false);
    check(in_base("204", 5), expr("204"), true);
    check(expr("54"), in_base("204", 5), true);
    check(expr("204"), in_base("204", 5), false);
}

#[test]
fn ratios_are_proportions_and_times_of_day_are_not() {
    both_ways(ratio(&["7", "32"]), ratio(&["14", "64"]), true);
    both_ways(ratio(&["7", "32"]), ratio(&["32", "7"]), false);
    both_ways(ratio(&["7", "32"]), expr("7/32"), true);
    both_ways(ratio(&["12", "0"]), ratio(&["1", "0"]), false);
    both_ways(ratio(&["1", "2", "3"]), ratio(&["2", "4", "6"]), true);
    let named =
        Expr::Relation(Relation::Equal, Box::new(ratio(&["V_1", "V_2"])), Box::new(ratio(&["11", "21"])));
    both_ways(named, ratio(&["11", "21"]), true);
}

#[test]
fn degrees_inside_a_formula_are_angles() {
    let sine = |argument: Expr| Expr::Apply(merit_maths::Function::Sin, vec![argument]);
    both_ways(sine(unit("30", "°")), expr("1/2"), true);
    both_ways(sine(unit("30", "°")), sine(expr("30")), false);
}

#[test]
fn the_letter_of_a_choice_counts_and_other_labels_do_not() {
    let labelled = |label: &str, value: &str| Expr::Labelled(label.into(), Box::new(expr(value)));
    both_ways(labelled("(B)", "7"), labelled("B)", "7"), true);
    both_ways(labelled("(B)", "7"), labelled("(C)", "7"), false);
    both_ways(labelled("(B)", "7"), text("B"), true);
    both_ways(labelled("Area:", "5"), expr("5"), true);
    both_ways(labelled("Area:", "5"), expr("6"), false);
}

#[test]
fn cases_are_the_same_values_under_the_same_conditions() {
    let cases = |a: &str, b: &str| {
        Expr::Piecewise(vec![(expr(a), rel("x", "<", "0")), (expr(b), rel("x", ">=", "0"))])
    };
    both_ways(cases("-x", "x"), cases("0-x", "x"), true);
    both_ways(cases("-x", "x"), cases("x", "-x"), false);
}

#[test]
fn names_of_more_than_one_letter_are_names_too() {
    both_ways(rel("N*O/(B*O)", "=", "1/sqrt(6)"), expr("1/sqrt(6)"), true);
    both_ways(rel("x*y", "=", "6"), expr("6"), false);
    let between = Expr::Chain(vec![rel("0", "<", "f(x)"), rel("f(x)", "<", "1")]);
    both_ways(between.clone(), tuple(&["0", "1"]), true);
    both_ways(between, Expr::Chain(vec![rel("0", "<", "g(x)"), rel("g(x)", "<", "1")]), false);
    let group = |p: &str, q: &str| Expr::List(vec![rel("p", "=", p), rel("q", "=", q)]);
    let pairs = |a: [&str; 2], b: [&str; 2]| Expr::List(vec![tuple(&a), tuple(&b)]);
    let groups = Expr::List(vec![group("5", "2"), group("7", "2")]);
    both_ways(groups.clone(), pairs(["7", "2"], ["5", "2"]), true);
    both_ways(groups, pairs(["2", "5"], ["7", "2"]), false);
}

#[test]
fn products_of_many_formulas_end_within_the_budget() {
    let entry = |i: usize, j: usize| format!("a{i}{j}+b{i}{j}");
    let rows = (0..10).map(|i| (0..10).map(|j| expr(&entry(i, j))).collect()).collect();
    let power = Expr::Pow(Box::new(Expr::Matrix(rows)), Box::new(expr("12")));
    let found = decided(&power, &power, &MathsConfig::default());
    assert_eq!(found, Err(merit_maths::Exhausted::Steps));
    let many = Expr::Set((0..20_000).map(|n| expr(&n.to_string())).collect());
    let others = Expr::Set((20_000..40_000).map(|n| expr(&n.to_string())).collect());
    assert!(!decided(&many, &others, &MathsConfig::default()).unwrap().equal);
    assert!(decided(&many, &many, &MathsConfig::default()).unwrap().equal);
}
