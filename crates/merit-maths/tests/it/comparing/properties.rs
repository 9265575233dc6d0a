//! Properties over random expressions: reflexive, symmetric, blind to true identities, sharp on near misses, and never a
//! panic.

use super::decided;
use dashu_ratio::RBig;
use merit_maths::{Constant, Exhausted, Expr, Function, Limits, MathsConfig, Quantifier, Relation};
use proptest::prelude::*;

fn num(value: i64) -> Expr {
    Expr::Num(RBig::from(value))
}

fn pow(base: Expr, exponent: Expr) -> Expr {
    Expr::Pow(Box::new(base), Box::new(exponent))
}

fn symbol() -> impl Strategy<Value = Expr> {
    prop_oneof![Just("x"), Just("y"), Just("n")].prop_map(|name| Expr::Symbol(name.into()))
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        3 => (-9i64..10).prop_map(num),
        1 => (1i64..50, 1u64..12).prop_map(|(a, b)| Expr::Num(RBig::from_parts(a.into(), b.into()))),
        3 => symbol(),
        1 => Just(Expr::Constant(Constant::Pi)),
        1 => Just(Expr::Constant(Constant::E)),
        1 => Just(Expr::Constant(Constant::I)),
    ]
}

/// Formulas as answers have them.
fn formula() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Add),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Mul),
            (inner.clone(), -2i64..4).prop_map(|(base, n)| pow(base, num(n))),
            (inner.clone(), 1i64..4, 2u64..4)
                .prop_map(|(base, a, b)| pow(base, Expr::Num(RBig::from_parts(a.into(), b.into())))),
            (
                prop::sample::select(vec![
                    Function::Sin,
                    Function::Cos,
                    Function::Exp,
                    Function::Ln,
                    Function::Abs
                ]),
                inner
            )
                .prop_map(|(function, argument)| Expr::Apply(function, vec![argument])),
        ]
    })
}

/// A polynomial in x and y by its coefficients, none zero.
fn polynomial() -> impl Strategy<Value = Vec<(i64, u8, u8)>> {
    prop::collection::btree_map((0u8..4, 0u8..4), prop_oneof![-9i64..0, 1i64..10], 1..6)
        .prop_map(|terms| terms.into_iter().map(|((a, b), c)| (c, a, b)).collect())
}

fn written(terms: &[(i64, u8, u8)]) -> Expr {
    let term = |&(c, a, b): &(i64, u8, u8)| {
        let x = pow(Expr::Symbol("x".into()), num(i64::from(a)));
        let y = pow(Expr::Symbol("y".into()), num(i64::from(b)));
        Expr::Mul(vec![num(c), x, y])
    };
    Expr::Add(terms.iter().map(term).collect())
}

/// Any tree at all.
fn anything() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        leaf(),
        Just(Expr::Constant(Constant::Infinity)),
        any::<i64>().prop_map(num),
        ".{0,6}".prop_map(|text| Expr::Text(text.as_str().into())),
        any::<bool>().prop_map(Expr::Truth),
        prop::sample::select(vec!["R", "Z", "Q"]).prop_map(|name| Expr::NamedSet(name.into())),
    ];
    let functions = vec![
        Function::Tan,
        Function::Arcsin,
        Function::Arccot,
        Function::Arcosh,
        Function::Artanh,
        Function::Log,
        Function::Floor,
        Function::Factorial,
        Function::DoubleFactorial,
        Function::Gamma,
        Function::Binomial,
        Function::Gcd,
        Function::Lcm,
        Function::Mod,
        Function::Max,
        Function::Arg,
        Function::Determinant,
        Function::Norm,
        Function::Coth,
        Function::Sign,
        Function::Re,
        Function::Permutations,
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let many = || prop::collection::vec(inner.clone(), 0..4);
        let relations =
            vec![Relation::Equal, Relation::Less, Relation::AtLeast, Relation::In, Relation::NotEqual];
        let quantifiers = vec![Quantifier::Sum, Quantifier::Product, Quantifier::Integral, Quantifier::Limit];
        prop_oneof![
            many().prop_map(Expr::Add),
            many().prop_map(Expr::Mul),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Expr::Pow(a, b)),
            (prop::sample::select(functions.clone()), many()).prop_map(|(f, a)| Expr::Apply(f, a)),
            many().prop_map(|a| Expr::Unknown("f".into(), a)),
            boxed.clone().prop_map(Expr::PlusMinus),
            boxed.clone().prop_map(Expr::Percent),
            (boxed.clone(), "[a-z°^/$ ]{0,8}").prop_map(|(a, u)| Expr::Quantity(a, u.as_str().into())),
            (prop::sample::select(relations), boxed.clone(), boxed.clone())
                .prop_map(|(r, a, b)| Expr::Relation(r, a, b)),
            many().prop_map(Expr::Chain),
            many().prop_map(Expr::Either),
            many().prop_map(Expr::Set),
            many().prop_map(Expr::Tuple),
            many().prop_map(Expr::List),
            many().prop_map(Expr::Union),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Expr::Difference(a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Expr::SetBuilder(a, b)),
            prop::collection::vec(prop::collection::vec(inner.clone(), 0..3), 0..3).prop_map(Expr::Matrix),
            (boxed.clone(), boxed.clone(), any::<bool>(), any::<bool>()).prop_map(|(low, high, a, b)| {
                Expr::Interval { low, high, low_closed: a, high_closed: b }
            }),
            (
                prop::sample::select(quantifiers),
                boxed.clone(),
                prop::option::of(boxed.clone()),
                prop::option::of(boxed)
            )
                .prop_map(|(what, body, from, to)| Expr::Quantified {
                    what,
                    body,
                    variable: "n".into(),
                    from,
                    to
                }),
        ]
    })
}

/// Rewrites that change nothing, one at each node by turns.
fn rewritten(expr: &Expr, turn: &mut u32) -> Expr {
    *turn = turn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let choice = *turn >> 29;
    let deep = match expr {
        Expr::Add(parts) => Expr::Add(parts.iter().rev().map(|part| rewritten(part, turn)).collect()),
        Expr::Mul(parts) => match parts.split_first() {
            // a (b + c) = a b + a c
            Some((first, [Expr::Add(sum)])) => {
                let product = |part: &Expr| Expr::Mul(vec![first.clone(), part.clone()]);
                Expr::Add(sum.iter().map(product).collect())
            }
            _ => Expr::Mul(parts.iter().rev().map(|part| rewritten(part, turn)).collect()),
        },
        Expr::Pow(base, exponent) if **exponent == num(2) => {
            Expr::Mul(vec![rewritten(base, turn), base.as_ref().clone()])
        }
        Expr::Pow(base, exponent) => pow(rewritten(base, turn), exponent.as_ref().clone()),
        Expr::Apply(function, arguments) => {
            Expr::Apply(*function, arguments.iter().map(|a| rewritten(a, turn)).collect())
        }
        other => other.clone(),
    };
    let square = |f: Function| pow(Expr::Apply(f, vec![Expr::Symbol("y".into())]), num(2));
    match choice {
        0 => Expr::Add(vec![deep.clone(), deep, Expr::Mul(vec![num(-1), expr.clone()])]),
        1 => Expr::Mul(vec![Expr::Add(vec![square(Function::Cos), square(Function::Sin)]), deep]),
        2 => Expr::Mul(vec![num(6), deep, pow(num(6), num(-1))]),
        3 => Expr::Mul(vec![Expr::Apply(Function::Ln, vec![Expr::Constant(Constant::E)]), deep]),
        _ => deep,
    }
}

/// Without a value, or beyond a limit: nothing to say.
fn silent(found: &Result<merit_maths::Decision, Exhausted>) -> bool {
    match found {
        Ok(decision) => matches!(decision.rule, "undefined" | "not-shown-equal"),
        Err(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_formula_with_a_value_equals_itself(expr in formula()) {
        let found = decided(&expr, &expr, &MathsConfig::default());
        prop_assert!(silent(&found) || found.clone().unwrap().equal, "{found:?}");
    }

    #[test]
    fn equality_of_formulas_goes_both_ways(a in formula(), b in formula()) {
        let (there, back) = (decided(&a, &b, &MathsConfig::default()), decided(&b, &a, &MathsConfig::default()));
        if let (Ok(there), Ok(back)) = (there, back) {
            prop_assert_eq!(there.equal, back.equal);
        }
    }

    #[test]
    fn a_formula_rewritten_by_true_identities_is_the_same(expr in formula(), turn in any::<u32>()) {
        let found = decided(&expr, &rewritten(&expr, &mut turn.clone()), &MathsConfig::default());
        prop_assert!(silent(&found) || found.clone().unwrap().equal, "{found:?}");
    }

    #[test]
    fn a_formula_and_the_same_plus_one_are_different(expr in formula(), by in prop_oneof![Just(1i64), Just(-1)]) {
        let found = decided(&expr, &Expr::Add(vec![expr.clone(), num(by)]), &MathsConfig::default());
        prop_assert!(found.is_err() || !found.clone().unwrap().equal, "{found:?}");
    }

    #[test]
    fn a_polynomial_equals_its_product_form_and_no_near_miss(
        a in polynomial(), b in polynomial(), at in any::<prop::sample::Index>(), edit in 0..3
    ) {
        let product = Expr::Mul(vec![written(&a), written(&b)]);
        let turned: Vec<_> = b.iter().rev().copied().collect();
        let same = Expr::Mul(vec![written(&turned), written(&a)]);
        prop_assert!(decided(&product, &same, &MathsConfig::default()).unwrap().equal);
        let mut near = b.clone();
        let term = &mut near[at.index(b.len())];
        match edit {
            0 => term.0 = if term.0 == -1 { 1 } else { term.0 + 1 },
            1 => term.0 = -term.0,
            _ => term.1 += 4,
        }
        let near = Expr::Mul(vec![written(&a), written(&near)]);
        let found = decided(&product, &near, &MathsConfig::default()).unwrap();
        prop_assert!(!found.equal, "{found:?}");
    }

    #[test]
    fn nothing_panics_and_nothing_outlives_its_budget(a in anything(), b in anything()) {
        // The clock would wait for an hour: the steps end it.
        let limits = Limits { steps: 100_000, wall_ms: 3_600_000, ..Limits::default() };
        let config = MathsConfig { limits, ..MathsConfig::default() };
        prop_assert!(decided(&a, &b, &config) != Err(Exhausted::Time));
        prop_assert!(decided(&a, &a, &config) != Err(Exhausted::Time));
    }

    #[test]
    fn a_decision_is_the_same_on_every_thread(a in anything(), b in formula()) {
        let here = decided(&a, &b, &MathsConfig::default());
        let there = std::thread::scope(|scope| scope.spawn(|| decided(&a, &b, &MathsConfig::default())).join().unwrap());
        // The clock is a fence of its own, and the only thing that may differ.
        if here != Err(Exhausted::Time) && there != Err(Exhausted::Time) {
            prop_assert_eq!(here, there);
        }
    }
}
