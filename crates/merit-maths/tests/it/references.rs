//! References: read whole or refused, and what numbers, lists, scales and units in them mean.

use merit_maths::{MathsConfig, verify};

#[track_caller]
fn check(gold: &str, response: &str, conclusion: &str) {
    let verdict = verify(gold, response, &MathsConfig::default());
    assert_eq!(verdict.conclusion.word(), conclusion, "{gold} against {response}: {verdict:?}");
}

#[test]
fn a_long_reference_is_read_whole() {
    let long: Vec<String> = (1..200).map(|n| n.to_string()).collect();
    check(&long.join(", "), r"\boxed{199}", "fail");
    check(&long.join(", "), &format!(r"\boxed{{{}}}", long.join(", ")), "pass");
    let sum =
        format!("x^{{1000}} + {}", (1..150).map(|n| format!("{n}x^{n}")).collect::<Vec<_>>().join(" + "));
    assert!(sum.len() > 400);
    check(&sum, r"\boxed{149}", "fail");
    check(&sum, &format!("${sum}$"), "pass");
}

#[test]
fn a_reference_that_cannot_be_read_whole_is_a_bad_one() {
    let prose = "We first note that the triangle is isosceles and so on. ".repeat(10) + "This gives 12.";
    check(&prose, r"\boxed{12}", "bad reference");
    check("We first find $x=2$ and then also $y=3$, so it is 5", r"\boxed{5}", "bad reference");
    check(r"3 + ^ 4", r"\boxed{4}", "bad reference");
    check("((((", "4", "bad reference");
    // What says where its answer stands is read there, and a text around one formula is read as that.
    check(&format!("{prose} #### 12"), r"\boxed{12}", "pass");
    check(&format!(r"{prose} \boxed{{12}}"), r"\boxed{12}", "pass");
    check("The area is $12$ in all", r"\boxed{12}", "pass");
}

#[test]
fn a_bare_comma_makes_a_list_and_groups_of_three_a_number() {
    check("1,2", "1, 2", "pass");
    check("1,2", r"\boxed{2, 1}", "pass");
    check("x=1,2", "x = 1 or x = 2", "pass");
    check("1,234", "1234", "pass");
    check("1,234,567", "1234567", "pass");
    check("12,5", "12", "fail");
    // Nobody can tell which is meant, where the response takes it for a decimal.
    check("1,2", "1.2", "bad reference");
    check("1,2", r"\boxed{\frac{6}{5}}", "bad reference");
    // A response with a decimal comma says what it means beside a number.
    check("3.14", "3,14", "pass");
    check("3", "3,14", "fail");
    check("1200", r"\boxed{1,200}", "pass");
    check("1.2", r"\boxed{1,200}", "fail");
}

#[test]
fn words_of_scale_are_numbers() {
    for (gold, response) in [
        ("1.5 million", "1500000"),
        ("1500000", "1.5 million"),
        ("1500000", "It comes to 1.5 million in all."),
        ("36", "The answer is 3 dozen."),
        ("3 dozen", r"\boxed{36}"),
        ("3 dozen eggs", "36 eggs"),
        ("7 billion", r"\boxed{7 \times 10^9}"),
        (r"2.5\text{ thousand}", "2500"),
        ("4 hundred", "400"),
        ("2 hundred thousand", "200000"),
        (r"\$1.5 million", "1500000 dollars"),
        ("12 percent", "12%"),
        ("0.12", "12 percent"),
        ("3 trillion", "3000 billion"),
    ] {
        check(gold, response, "pass");
    }
    check("1.5 million", "1.5", "fail");
    check("1.5 million", "1.5 billion", "fail");
    check("3 dozen", "3", "fail");
}

#[test]
fn a_unit_in_plain_words_is_part_of_the_answer() {
    for wrong in [
        "The answer is 5 miles",
        "He walks 5 miles.",
        "5 miles",
        "So it is 5 kilograms",
        "The answer is: 5 m",
    ] {
        check("5 km", wrong, "fail");
    }
    for right in [
        "The answer is 5 km",
        "He walks 5 kilometers.",
        "He walks 5000 meters in all.",
        "It is 5 in total.",
        "5",
    ] {
        check("5 km", right, "pass");
    }
    check("12 apples", "There are 12 of them", "pass");
    check("5", "The answer is 5 miles", "pass");
    check("2.5 hours", "It takes 2 hours and 30 minutes.", "pass");
    check("2 hours 30 minutes", r"\boxed{150\text{ minutes}}", "pass");
    check("2 hours 30 minutes", "The answer is 2.5 hours", "pass");
    check("2 hours 30 minutes", "The answer is 2 hours 20 minutes", "fail");
}

#[test]
fn a_matrix_needs_no_delimiters() {
    let gold = r"\begin{pmatrix}1&2\\3&4\end{pmatrix}";
    for response in [
        r"The answer is \begin{pmatrix}1&2\\3&4\end{pmatrix}.",
        "The answer is\n\\begin{bmatrix}\n1 & 2 \\\\\n3 & 4\n\\end{bmatrix}",
        r"Then A = \begin{pmatrix}1&2\\3&4\end{pmatrix}",
        "[[1, 2], [3, 4]]",
    ] {
        check(gold, response, "pass");
    }
    check(gold, r"The answer is \begin{pmatrix}1&2\\3&5\end{pmatrix}.", "fail");
}

#[test]
fn numbers_stand_in_any_base() {
    for (gold, response) in [
        ("1011_2", r"\boxed{1011_2}"),
        ("1011_2", "1011 (base 2)"),
        ("1011_{2}", "1011 base 2"),
        ("FF_{16}", r"\boxed{FF_{16}}"),
        ("FF_{16}", r"\boxed{\text{FF}}"),
        ("FF_{16}", "0xFF"),
        ("FF_{16}", r"\boxed{FF}"),
        (r"\text{(A)}", "A"),
        ("1A3_{16}", "$1A3_{16}$"),
        ("1011_2", "0b1011"),
        ("1011_2", r"\boxed{1011}"),
    ] {
        check(gold, response, "pass");
    }
    check("1011_2", r"\boxed{11}", "fail");
    check("FF_{16}", r"\boxed{255}", "fail");
    check("FF_{16}", r"\boxed{FE_{16}}", "fail");
    check("1011_2", r"\boxed{1011_3}", "fail");
}

#[test]
fn numbers_in_words_are_numbers() {
    for (gold, response) in [
        (r"\frac12", "one half"),
        ("2/3", "two thirds"),
        ("21", "twenty-one"),
        ("21", "The answer is twenty-one."),
        ("1500000", "one million five hundred thousand"),
        ("305", r"\boxed{\text{three hundred and five}}"),
        ("12", "a dozen"),
        ("3/4", "three quarters"),
        ("2.5", "two and a half"),
        ("five", "5"),
    ] {
        check(gold, response, "pass");
    }
    check("21", "twenty-two", "fail");
    check("20", "twenty times as many", "fail");
}

#[test]
fn sums_integrals_limits_and_derivatives_are_computed() {
    for (gold, response) in [
        (r"\sum_{k=1}^{10} k^2", "385"),
        (r"\prod_{k=1}^{5} k", "120"),
        (r"\int_0^1 x^2 dx", r"\frac13"),
        (r"\int_0^{\pi} \sin x \, dx", "2"),
        (r"\int_1^e \frac{1}{x} dx", "1"),
        (r"\int_0^1 \frac{4}{1+x^2} dx", r"\pi"),
        (r"\int_0^\infty e^{-x} dx", "1"),
        (r"\int_{-\infty}^{\infty} e^{-x^2} dx", r"\sqrt{\pi}"),
        (r"\int_0^a 2x\,dx", "a^2"),
        (r"\frac{d}{dx} x^3", "3x^2"),
        (r"\frac{d}{dx}\left(\sin x \cdot e^{2x}\right)", r"e^{2x}(\cos x + 2\sin x)"),
        (r"\frac{d}{dx} \ln(x^2+1)", r"\frac{2x}{x^2+1}"),
        (r"\lim_{x\to 0}\frac{\sin x}{x}", "1"),
        (r"\lim_{x \to 0} \frac{1-\cos x}{x^2}", r"\frac12"),
        (r"\lim_{n\to\infty} \left(1+\frac1n\right)^n", "e"),
        (r"\lim_{x\to\infty} \frac{3x^2+1}{x^2-x}", "3"),
        (r"\lim_{x\to 2} (x^2+1)", "5"),
    ] {
        check(gold, response, "pass");
    }
    check(r"\int_0^1 x^2 dx", r"\frac14", "fail");
    check(r"\frac{d}{dx} x^3", "x^2", "fail");
    check(r"\lim_{x\to 0}\frac{\sin x}{x}", "0", "fail");
    check(r"\int_0^1 x^3 dx", "0.2500000000000000000001", "fail");
}

#[test]
fn sums_without_end_are_computed_where_they_converge() {
    for (gold, response) in [
        (r"\sum_{n=0}^{\infty} \frac{1}{2^n}", "2"),
        (r"\sum_{n=1}^\infty \left(\frac{2}{3}\right)^n", "2"),
        (r"\sum_{n=0}^\infty 0.9^n", "10"),
        (r"\sum_{n=1}^\infty \frac{n}{3^n}", r"\frac34"),
        (r"\sum_{n=0}^\infty \frac{(-1)^n}{2^n}", r"\frac23"),
        (r"\sum_{n=1}^\infty \frac{1}{n^2}", r"\frac{\pi^2}{6}"),
        (r"\sum_{n=1}^\infty \frac{1}{n^4}", r"\frac{\pi^4}{90}"),
        (r"\sum_{n=1}^\infty \frac{1}{n(n+1)}", "1"),
        (r"\sum_{n=1}^\infty \frac{(-1)^{n+1}}{n}", r"\ln 2"),
        (r"\sum_{n=0}^\infty \frac{(-1)^n}{2n+1}", r"\frac{\pi}{4}"),
        (r"\sum_{n=0}^\infty \frac{1}{n!}", "e"),
        (r"\sum_{k=0}^\infty x^k", r"\frac{1}{1-x}"),
        (r"3 + \sum_{n=1}^\infty \frac{1}{4^n}", r"\frac{10}{3}"),
    ] {
        check(gold, &format!(r"\boxed{{{response}}}"), "pass");
    }
    for (gold, response) in [
        (r"\sum_{n=0}^{\infty} \frac{1}{2^n}", "1"),
        (r"\sum_{n=1}^\infty \frac{1}{n^2}", r"\frac{\pi^2}{8}"),
        (r"\sum_{n=1}^\infty \frac{1}{n^2}", "1.6449340668482264"),
        (r"\sum_{n=1}^\infty \frac{1}{n(n+1)}", r"\frac{999}{1000}"),
        (r"\sum_{k=0}^\infty x^k", r"\frac{1}{1+x}"),
        // These have no sum: what a way of summing gives is not it.
        (r"\sum_{n=0}^\infty (-1)^n", r"\frac12"),
        (r"\sum_{n=0}^\infty (-1)^n", "0"),
        (r"\sum_{n=0}^\infty 2^n", "-1"),
        (r"\sum_{n=1}^\infty n", r"-\frac{1}{12}"),
        (r"\sum_{n=1}^\infty \frac1n", r"\gamma"),
        (r"\sum_{n=1}^\infty \cos(\pi n / 2)", r"-\frac12"),
    ] {
        check(gold, &format!(r"\boxed{{{response}}}"), "fail");
    }
}

#[test]
fn an_indefinite_integral_is_known_up_to_a_constant() {
    for (gold, response) in [
        (r"\int 2x \, dx", "x^2 + C"),
        (r"\int 2x \, dx", "x^2 + K"),
        (r"\int 2x\,dx", "x^2"),
        (r"\int 2x \, dx + C", "C + x^2"),
        (r"\int x e^x dx", "(x-1)e^x + C"),
        (r"\int \sin x \cos x \, dx", r"\frac{\sin^2 x}{2} + C"),
        (r"\int \sin x \cos x \, dx", r"-\frac{\cos 2x}{4} + C"),
        (r"\int \frac{1}{1+x^2} dx", r"\arctan x + C"),
        (r"3\int t^2 dt", "t^3 + C"),
        (r"\int \frac{1}{x} dx", r"\ln |x| + C"),
    ] {
        check(gold, &format!(r"\boxed{{{response}}}"), "pass");
    }
    for (gold, response) in [
        (r"\int 2x \, dx", "x^3 + C"),
        (r"\int 2x \, dx", "2x^2 + C"),
        (r"\int 2x \, dx", "2"),
        (r"\int x e^x dx", "x e^x + C"),
        (r"\int \sin x \, dx", r"\cos x + C"),
        (r"\int t \, dt", r"\frac{x^2}{2} + C"),
        // One is not worked out.
        ("x^2 + C", r"\int 2x \, dx"),
        (r"\int_0^1 2x \, dx", "x^2 + C"),
    ] {
        check(gold, &format!(r"\boxed{{{response}}}"), "fail");
    }
}

#[test]
fn derivatives_of_higher_order_are_written_out() {
    for (gold, response) in [
        (r"\frac{d^2}{dx^2} x^3", "6x"),
        (r"\frac{d^2}{dx^2} (x^4 + x)", "12x^2"),
        (r"\frac{d^{2}}{dx^{2}} \sin x", r"-\sin x"),
        (r"\frac{d^3}{dx^3} e^{2x}", "8e^{2x}"),
        (r"\frac{\partial^2}{\partial x^2} (x^2 y)", "2y"),
        (r"\frac{d^2}{dt^2} (5t^2)", "10"),
    ] {
        check(gold, &format!(r"\boxed{{{response}}}"), "pass");
    }
    check(r"\frac{d^2}{dx^2} x^3", r"\boxed{3x^2}", "fail");
    check(r"\frac{d^2}{dx^2} x^3", r"\boxed{6}", "fail");
    // An ordinary fraction stays one.
    check(r"\frac{d^2}{4}", r"\boxed{0.25 d^2}", "pass");
    check(r"\frac{d^2}{x^2}", r"\boxed{(d/x)^2}", "pass");
}

#[test]
fn words_that_lead_to_an_answer_are_no_variables() {
    for lead in [
        "so",
        "So",
        "is",
        "It is",
        "thus",
        "hence",
        "Thus",
        "Hence we get",
        "now",
        "ans",
        "So this is",
        "are",
    ] {
        check("42", &format!("{lead} 42"), "pass");
        check("-42", &format!("{lead} -42"), "pass");
        check("42", &format!("{lead} 43"), "fail");
        check("42", &format!(r"\boxed{{{lead} 42}}"), "pass");
        check("x=3", &format!("{lead} x = 3"), "pass");
        check("x + 1", &format!("{lead} x + 1"), "pass");
    }
    check("so 42", "42", "pass");
    check("x + 1", "Thus, x + 1", "pass");
    check("x + 1", "Hence: x + 2", "fail");
    check("hence x = 3", "x = 3", "pass");
    // Letters that are no word stay variables.
    check("42", "ab 42", "fail");
    check("42ab", "ab 42", "pass");
    check("42", "xy 42", "fail");
    check("2so", "2so", "pass");
    check("so", "s*o", "pass");
    check("s=42/o", "so = 42", "pass");
}
