//! What texts are read as, said by the plain line of the tree; and that no text can hurt.

use merit_maths::{Budget, Exhausted, Expr, Limits, ParseError, parse_latex, parse_plain};
use proptest::prelude::*;

fn latex(text: &str) -> Result<Expr, ParseError> {
    parse_latex(text, &mut Budget::new(Limits::default()))
}

fn plain(text: &str) -> Result<Expr, ParseError> {
    parse_plain(text, &mut Budget::new(Limits::default()))
}

/// Each LaTeX text on the left reads as the plain line on the right.
fn check(cases: &[(&str, &str)]) {
    for (text, shown) in cases {
        let read = latex(text).map_or_else(|error| format!("error: {error}"), |expr| expr.to_string());
        assert_eq!(&read, shown, "reading {text:?}");
    }
}

fn check_plain(cases: &[(&str, &str)]) {
    for (text, shown) in cases {
        let read = plain(text).map_or_else(|error| format!("error: {error}"), |expr| expr.to_string());
        assert_eq!(&read, shown, "reading {text:?}");
    }
}

#[test]
fn numbers_keep_what_was_written() {
    check(&[
        ("042", "42"),
        ("1.50", "1.50"),
        (".5", "0.5"),
        ("1.2e5", "120000"),
        (r"1.2\times 10^{-3}", "0.0012"),
        (r"3\times 10^8", "3*10^8"),
        (r"0.1\overline{6}", "1/6"),
        ("0.333...", "1/3"),
        ("204_5", "204_5"),
        ("(101)_2", "101_2"),
        (r"1\frac{1}{2}", "1 + 1/2"),
        (r"-1\frac12", "-(1 + 1/2)"),
        (r"2\frac{x}{3}", "2*(x/3)"),
    ]);
    let Expr::Decimal(rounded) = latex("1.5e3").unwrap() else { panic!("1.5e3 is written with decimals") };
    assert_eq!((rounded.value, rounded.places), (1500.into(), -2));
}

#[test]
fn a_comma_between_digits_separates_groups_or_decimals_or_answers() {
    check(&[
        ("12,345", "12345"),
        ("1{,}000{,}000", "1000000"),
        (r"1\,000", "1000"),
        (r"12,\! 500", "12500"),
        ("1 000", "1000"),
        ("3{,}14", "3.14"),
        ("1,22", "1, 22"),
        ("12, 345", "12, 345"),
        ("(12,102)", "(12, 102)"),
        ("(1,000)", "1000"),
        ("(0,5; 1,5)", "(0.5, 1.5)"),
    ]);
    check_plain(&[
        ("1,22", "1, 22"),
        ("1,2", "1, 2"),
        ("1,234", "1234"),
        ("1,000.99", "1000.99"),
        ("1,2,3", "1, 2, 3"),
        ("(1,2)", "(1, 2)"),
    ]);
}

#[test]
fn fractions_roots_and_powers_need_no_braces() {
    check(&[
        (r"\frac12", "1/2"),
        (r"\dfrac1{72}", "1/72"),
        (r"{a+1 \over b}", "(a + 1)/b"),
        (r"\sqrt2", "sqrt(2)"),
        (r"\sqrt[3]{x}", "x^(1/3)"),
        (r"\sqrt[n]{x}", "x^(1/n)"),
        ("x^10", "x^10"),
        ("x^{-1}", "1/x"),
        ("2^3^2", "2^(3^2)"),
        ("-x^2", "-x^2"),
        ("1/2x", "1/(2*x)"),
        ("-1/2 x", "-1/2*x"),
        ("a/b/c", "a/b/c"),
        (r"2 \cdot -3", "2*(-3)"),
    ]);
}

#[test]
fn functions_take_what_belongs_to_them() {
    check(&[
        (r"\sin^2 x", "sin(x)^2"),
        (r"\sin^{-1} x", "arcsin(x)"),
        (r"\sin 2x \cos x", "sin(2*x)*cos(x)"),
        (r"\log_2 8", "log(8, 2)"),
        (r"\ln|x|+C", "ln(abs(x)) + C"),
        (r"\operatorname{lcm}(4,6)", "lcm(4, 6)"),
        (r"\max\{1,2\}", "max(1, 2)"),
        (r"\binom{n}{2}", "binomial(n, 2)"),
        ("(n+1)!", "factorial(n + 1)"),
        ("5!=120", "factorial(5) = 120"),
        ("x!=3", "x != 3"),
        ("f^{-1}(x)", "f^-1(x)"),
        ("x(x+1)", "x*(x + 1)"),
        ("P(A|B)", "P(A, B)"),
        ("||x|-1|", "abs(abs(x) - 1)"),
        (r"\sin 30^\circ", "sin(30 °)"),
    ]);
}

#[test]
fn relations_chain_and_answers_are_listed() {
    check(&[
        ("x = 5+1 = 6", "x = 5 + 1 and 5 + 1 = 6"),
        (r"-1 \le x < 2", "-1 <= x and x < 2"),
        (r"x=1 \text{ or } x=2", "x = 1 or x = 2"),
        ("x=1orx=2", "x = 1 or x = 2"),
        (r"1, 2 \text{ and } 3", "1, 2, 3"),
        ("p=5,q=2;p=7,q=2", "(p = 5, q = 2), (p = 7, q = 2)"),
        (r"\boxed{1}\boxed{2}", "1, 2"),
        (r"a \equiv b \pmod{5}", "a ≡ (b, 5)"),
        (r"x=k\pi \quad (k \in \mathbb{Z})", "x = k*pi, k in Z"),
        ("7:32", "7:32"),
        (r"1 \pm \sqrt{5}", "1 ± sqrt(5)"),
    ]);
}

#[test]
fn sets_intervals_and_matrices_keep_their_kind() {
    check(&[
        (r"\{1, 2\}", "{1, 2}"),
        ("{1,2}", "{1, 2}"),
        ("(1,2)", "(1, 2)"),
        ("[1,2)", "[1, 2)"),
        ("]0,1[", "]0, 1["),
        ("[0;1[", "[0, 1)"),
        (r"(-\infty, 0) \cup [2, \infty)", "(-oo, 0) ∪ [2, oo)"),
        (r"\mathbb{R} \setminus \{0\}", r"R \ {0}"),
        (r"\{x \mid x > 0\}", "{x | x > 0}"),
        (r"\emptyset", "{}"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "[[1, 2], [3, 4]]"),
        (r"\begin{vmatrix} a & b \\ c & d \end{vmatrix}", "det([[a, b], [c, d]])"),
        (r"\left\{ \begin{array}{l} x=1 \\[2pt] y=2 \end{array} \right.", "x = 1 and y = 2"),
        (r"\begin{cases} x & \text{if } x>0 \\ 0 & \text{otherwise} \end{cases}", "x if x > 0; 0 if true"),
    ]);
    check_plain(&[("[[1,2],[3,4]]", "[[1, 2], [3, 4]]"), ("{1,2}", "{1, 2}"), ("[1, 2)", "[1, 2)")]);
}

#[test]
fn sums_integrals_and_limits_bind_their_variable() {
    check(&[
        (r"\sum_{i=1}^{n} i^2", "sum(i^2, i, 1, n)"),
        (r"\int_0^1 x^2 \, dx", "integral(x^2, x, 0, 1)"),
        (r"\int \frac{dx}{x}", "integral(1/x, x)"),
        (r"\lim_{x \to 0} \frac{\sin x}{x}", "limit(sin(x)/x, x, 0)"),
        (r"\frac{dy}{dx}", "derivative(y, x)"),
    ]);
    let Expr::Quantified { body, .. } = latex(r"\sum_{i=1}^{n} i").unwrap() else { panic!("a sum") };
    assert_eq!(*body, Expr::Symbol("i".into()), "the sum binds i, so it is not the imaginary unit");
}

#[test]
fn units_percent_and_money_stay_with_their_amount() {
    check(&[
        (r"5\text{ cm}^2", "5 cm^2"),
        (r"9.8\mathrm{~m/s}^2", "9.8 m/s^2"),
        (r"2+3\sqrt2\text{ cm}", "(2 + 3*sqrt(2)) cm"),
        (r"3\text{ hours }20\text{ minutes}", "3 hours + 20 minutes"),
        ("35 cm", "35 cm"),
        (r"50\%", "50%"),
        ("28 percent", "28%"),
        (r"\$1{,}250.50", "1250.50 $"),
        (r"90^\circ", "90 °"),
    ]);
    check_plain(&[
        ("$1,000.99", "1000.99 $"),
        ("1,000.99€", "1000.99 €"),
        ("1,000.99m²", "1000.99 m^2"),
        ("5 km/h", "5 km/h"),
        ("5 apples and 3 pears", "5 apples, 3 pears"),
    ]);
}

#[test]
fn words_are_text_and_letters_are_products() {
    check(&[
        (r"\text{Evelyn}", "\"Evelyn\""),
        ("odd", "\"odd\""),
        ("no solution", "\"no solution\""),
        (r"\text{Yes}", "true"),
        (r"\text{(A) } 5", "\"(A)\" 5"),
        ("xyz", "x*y*z"),
        ("2ab", "2*a*b"),
        ("ABCD", "A*B*C*D"),
        (r"1 - \frac{1}{\mathrm{e}}", "1 - 1/e"),
    ]);
}

#[test]
fn damage_and_decoration_are_seen_through() {
    check(&[
        (r"\\frac{1}{2}", "1/2"),
        ("\u{c}rac{7}{4}", "7/4"),
        (r"\left( \frac{1}{2} \right).", "1/2"),
        (r"\displaystyle \boxed{x\!=\!1}", "x = 1"),
        (r"\quadx", "x"),
        ("½ − x²≤３", "1/2 - x^2 <= 3"),
        ("**5**", "5"),
        (r"\zzz", r"\zzz"),
    ]);
}

#[test]
fn plain_text_reads_like_a_calculator() {
    check_plain(&[
        ("2**3", "2^3"),
        ("2*sqrt(3)/x", "2*sqrt(3)/x"),
        ("-oo", "-oo"),
        ("2pi", "2*pi"),
        ("1 1/2", "1 + 1/2"),
        ("sin x", "sin(x)"),
        (r"\frac{1}{2}", "1/2"),
        ("x^{10}", "x^10"),
    ]);
}

#[test]
fn an_unreadable_text_says_where_and_what() {
    for (text, at) in [("1+", 1), ("(1", 2), (r"\frac{1}{", 9), ("½ ) 2", 3)] {
        match latex(text) {
            Err(ParseError::Unexpected { at: found, .. }) => assert_eq!(found, at, "{text:?}"),
            other => panic!("{text:?} gives {other:?}"),
        }
    }
    assert_eq!(latex("  "), Err(ParseError::Empty));
}

/// Texts that try to run out of stack, time or memory.
fn hostile() -> Vec<String> {
    let deep = [
        "(", "[", "{", r"\{", "|", r"\left|", r"\frac{", r"\sqrt{", "2^", "2^{", r"\sin ", r"\sin(", "-(",
        "x_{",
    ]
    .into_iter()
    .chain([
        "f(",
        r"\boxed{",
        r"\sum_{i=1}^n ",
        r"\int ",
        r"\text{a} ",
        r"\begin{pmatrix}",
        r"\lim_{x\to 0}",
        "$",
        "1=(",
    ])
    .chain(["x+(2*x^(", r"\mathrm{\mathrm{", r"\overline{", "1 cm 1 cm ", r"\log_", r"\{x|", "]"]);
    let mut texts: Vec<String> = deep.map(|part| part.repeat(100_000 / part.len())).collect();
    let wide = [
        "!", "x!", "'", "%", "^", "1,", "1,000,", "1 ", "a", "and ", "1 cm/", r"\\", "&", "1;", "--", "+-",
        "1!%",
    ];
    texts.extend(wide.map(|part| format!("x{}", part.repeat(30_000 / part.len()))));
    texts.extend(wide.map(|part| part.repeat(30_000 / part.len())));
    texts.push("9".repeat(100_000));
    texts.push(format!("1e{}", "9".repeat(50)));
    texts.push(format!("1.{}", "3".repeat(10_000)));
    texts.push(format!(r"{}1{}", "(".repeat(60), ")".repeat(60)));
    texts.push(format!("A{}", r"\setminus B".repeat(9000)));
    texts.push(format!("A{}", r"\cup B\cap C".repeat(8000)));
    texts.push(format!("a{}", r" \bmod b".repeat(9000)));
    texts.push(format!("{}x{}", "1=(".repeat(30), ")=1".repeat(30)));
    texts
}

/// Texts as deep as the limit lets them be, so that the tree itself is as tall as trees get.
fn tall() -> Vec<String> {
    let nested = [
        (r"\sqrt", ""),
        (r"\sqrt{", "}"),
        ("-(", ")"),
        ("x+(2*x^(", "))!"),
        (r"\frac1", ""),
        ("|", "|"),
        ("2^{", "}"),
    ];
    let more = [
        ("1=(", ")"),
        (r"\sin ", ""),
        ("f(", ")"),
        (r"\left|", r"\right|"),
        (r"\{", r"\}"),
        (r"\$", ""),
        ("(1,", ")!"),
    ];
    let pairs = nested.into_iter().chain(more);
    let depths = [10, 15, 20, 25, 30, 39, 49, 66, 99, 150, 190, 198];
    let text = |open: &str, close: &str, depth: usize| {
        format!("{}x{}{}", open.repeat(depth), "!!!!".repeat(12), close.repeat(depth))
    };
    pairs.flat_map(|(open, close)| depths.map(|depth| text(open, close, depth))).collect()
}

#[test]
fn nothing_overflows_a_small_stack_or_takes_long() {
    let worker = std::thread::Builder::new().stack_size(512 << 10).spawn(|| {
        for text in hostile().into_iter().chain(tall()) {
            for expr in [latex(&text), plain(&text)].into_iter().flatten() {
                assert!(expr == expr.clone());
                assert!(!expr.to_string().is_empty());
            }
        }
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn nesting_beyond_the_limit_is_refused_as_too_deep() {
    let text = format!("{}x{}", "(".repeat(500), ")".repeat(500));
    assert_eq!(latex(&text), Err(ParseError::Exhausted(Exhausted::Depth)));
    assert_eq!(latex(&"9".repeat(100_000)), Err(ParseError::Exhausted(Exhausted::Size)));
}

#[test]
fn work_grows_with_the_length_of_the_text_and_no_faster() {
    for part in [
        "(1,222,333),",
        "222,",
        r"\frac{1}{2}+",
        "x_{12}^2 y+",
        "(1,2),",
        r"\text{a},",
        "1,5;",
        "[1;2[,",
        "abc+",
        r"\mathrm{cm} ",
    ] {
        let spent = |times: usize| {
            let mut budget = Budget::new(Limits::default());
            let _ = parse_latex(&format!("{}1", part.repeat(times)), &mut budget);
            budget.spent()
        };
        let (once, tenfold) = (spent(100), spent(1000));
        assert!(tenfold <= 11 * once, "{part:?}: {once} steps, then {tenfold}");
    }
}

const SEEDS: &[&str] = &[
    r"\frac{1}{2}\sqrt[3]{x}^{2}",
    r"\left[-1, \tfrac12\right) \cup \{2\}",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    r"x = 1,000.5 \text{ cm}^2 \text{ and } y \le 5\%",
    r"\int_0^1 \sin^2 x \, dx + \sum_{i=1}^{n} i",
    r"\{x \in \mathbb{R} \mid |x| > 1\}",
    r"1.2\times10^{5} \pm 0.\overline{3}^\circ",
    "f'(x) = 5!! != 3, 1 1/2; ½ x² ≤ ３€",
    r"\boxed{\text{(A) } \$5} \pmod{7} 204_5",
];

/// A small deterministic mutator: cuts, doublings, swaps and splices of the seeds.
fn mutate(state: &mut u64) -> String {
    let mut next = |below: usize| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % below.max(1)
    };
    let mut text: Vec<char> = SEEDS[next(SEEDS.len())].chars().collect();
    for _ in 0..1 + next(6) {
        let (from, to) = (next(text.len()), next(text.len()));
        let (from, to) = (from.min(to), from.max(to));
        match next(5) {
            0 => drop(text.drain(from..to)),
            1 => text.splice(to..to, text[from..to].to_vec()).for_each(drop),
            2 if !text.is_empty() => text.swap(from, to),
            3 => text.insert(from, ['\\', '{', '}', '^', ',', '\u{c}', '€', '|'][next(8)]),
            _ => {
                let other: Vec<char> = SEEDS[next(SEEDS.len())].chars().collect();
                let at = next(other.len());
                text.truncate(from);
                text.extend(&other[at..]);
            }
        }
        text.truncate(400);
    }
    text.into_iter().collect()
}

#[test]
fn no_mutation_of_real_answers_panics() {
    let mut state = 7;
    for _ in 0..20_000 {
        let text = mutate(&mut state);
        for expr in [latex(&text), plain(&text)].into_iter().flatten() {
            assert!(!expr.to_string().is_empty());
        }
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = latex(&text);
        let _ = plain(&text);
    }

    #[test]
    fn no_latex_like_text_panics(text in r"[\\{}()\[\]0-9a-f^_,.;:|!%&$ =+\-*/<>'~\t\f]{0,80}") {
        let _ = latex(&text);
        let _ = plain(&text);
    }

    #[test]
    fn integers_survive_being_written_in_groups(value in 0u64..10_000_000_000) {
        let digits = value.to_string();
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        prop_assert_eq!(latex(&grouped).unwrap(), Expr::Num(value.into()));
        prop_assert_eq!(plain(&grouped.replace(',', " ")).unwrap(), Expr::Num(value.into()));
    }
}
