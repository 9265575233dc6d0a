//! Answers that look alike and are not the same, and answers that look different and are: each pair was once judged wrongly.

use merit_maths::{MathsConfig, verify};

#[track_caller]
fn judged(word: &str, pairs: &[(&str, &str)]) {
    for (gold, response) in pairs {
        let verdict = verify(gold, response, &MathsConfig::default());
        assert_eq!(verdict.conclusion.word(), word, "{gold} against {response}: {verdict:?}");
    }
}

#[track_caller]
fn right(pairs: &[(&str, &str)]) {
    judged("pass", pairs);
}

#[track_caller]
fn wrong(pairs: &[(&str, &str)]) {
    judged("fail", pairs);
}

#[test]
fn equations_are_no_answer_to_each_other_for_having_the_same_real_roots() {
    wrong(&[
        ("x^2+2x+5=0", r"\boxed{x^2+7=0}"),
        ("z^2+1=0", r"\boxed{z^2+4=0}"),
        ("x^2-4x+4=0", r"\boxed{x-2=0}"),
        ("x^2+1>0", r"\boxed{x^2+4>0}"),
        ("x^2+1<0", r"\boxed{x^2+4<0}"),
    ]);
    right(&[
        ("x^2+2x+5=0", r"\boxed{-2x^2-4x=10}"),
        ("2x-4=0", r"\boxed{x-2=0}"),
        ("x^2+1>0", r"\boxed{-x^2<1}"),
        ("2x>4", r"\boxed{x>2}"),
    ]);
}

#[test]
fn formulas_of_several_regions_are_compared_in_every_region() {
    wrong(&[
        ("|x||y|", r"\boxed{xy}"),
        (r"\sqrt{m^2n^2}", r"\boxed{mn}"),
        ("|xyz|", r"\boxed{xyz}"),
        ("|x+20|", r"\boxed{x+20}"),
        (r"\sqrt{(x+100)^2}", r"\boxed{x+100}"),
        ("|x-1000|", r"\boxed{1000-x}"),
        ("|x-10^9|", r"\boxed{10^9-x}"),
        (r"\max(x,-10)", r"\boxed{x}"),
        (r"\max(x,y+300)", r"\boxed{y+300}"),
        (r"\min(x,1000)", r"\boxed{x}"),
        (r"\sqrt{x^2-2000x+10^6}", r"\boxed{1000-x}"),
        ("y=|x+20|", r"\boxed{y=x+20}"),
        ("2y=2|x+20|", r"\boxed{y=x+20}"),
        (r"\lfloor x/1000 \rfloor", r"\boxed{0}"),
    ]);
    right(&[
        ("|x||y|", r"\boxed{|xy|}"),
        (r"\sqrt{m^2n^2}", r"\boxed{|m||n|}"),
        ("|x-1000|", r"\boxed{|1000-x|}"),
        (r"\sqrt{x^2-2000x+10^6}", r"\boxed{|x-1000|}"),
        (r"\max(x,y)", r"\boxed{\frac{x+y+|x-y|}{2}}"),
        (r"\max(x,-10)", r"\boxed{-\min(-x,10)}"),
        (r"\sqrt{\ln x}", r"\boxed{(\ln x)^{1/2}}"),
        (r"\ln\sqrt{x}", r"\boxed{\frac{\ln x}{2}}"),
        (r"\sqrt{x-5}\sqrt{x+5}", r"\boxed{\sqrt{x^2-25}}"),
        (r"\frac{\sin x}{\sqrt{1-x^2}}", r"\boxed{\frac{\sqrt{1-x^2}\sin x}{1-x^2}}"),
        (r"e^{|x|}", r"\boxed{e^{\sqrt{x^2}}}"),
        (r"\sqrt{x}\cdot x!", r"\boxed{x!\,x^{1/2}}"),
    ]);
}

#[test]
fn complex_variables_take_values_that_are_not_real() {
    wrong(&[
        ("z", r"\boxed{\Re(z)}"),
        ("z", r"\boxed{z^*}"),
        ("z", r"\boxed{\bar z}"),
        ("z^2", r"\boxed{|z|^2}"),
        ("z^2", r"\boxed{|z^2|}"),
        (r"\overline{z}w", r"\boxed{z\overline{w}}"),
    ]);
    right(&[
        ("|z|^2", r"\boxed{z \bar z}"),
        ("|z|^2", r"\boxed{z z^*}"),
        ("|z^2|", r"\boxed{|z|^2}"),
        (r"\Re(z)", r"\boxed{\frac{z+\bar z}{2}}"),
        (r"\Re(z)", r"\boxed{\frac{z+\overline{z}}{2}}"),
        (r"\overline{z}w", r"\boxed{\overline{z\overline{w}}}"),
        (r"z\bar z=4", r"\boxed{|z|^2=4}"),
        (r"\Re(x+iy)", r"\boxed{x}"),
        (r"\bar z=2-i", r"\boxed{2-i}"),
        (r"\sqrt{z^2}", r"\boxed{|z|}"),
        (r"\sqrt{x^2+y^2}+|z|", r"\boxed{\sqrt{x^2+y^2}+\sqrt{z^2}}"),
    ]);
}

#[test]
fn a_cross_product_is_no_dot_product() {
    wrong(&[
        (r"\vec{a}\cdot\vec{b}", r"$\vec{a}\times\vec{b}$"),
        (r"\vec{a}\times\vec{b}", r"$\vec{b}\times\vec{a}$"),
        (r"\mathbf{a}\times\mathbf{b}", r"$\mathbf{a}\cdot\mathbf{b}$"),
        (r"\mathbf{a}\times\mathbf{b}", r"$\mathbf{b}\times\mathbf{a}$"),
        (r"\overrightarrow{AB}\times\overrightarrow{AC}", r"$\overrightarrow{AC}\times\overrightarrow{AB}$"),
        (r"(\vec a\times\vec b)\times\vec c", r"$\vec a\times(\vec b\times\vec c)$"),
    ]);
    right(&[
        (r"\vec{a}\times\vec{b}", r"$\vec{a}\times\vec{b}$"),
        (r"\vec{a}\times\vec{b}", r"$-\vec{b}\times\vec{a}$"),
        (r"2\vec{a}\times\vec{b}", r"$\vec a\times(2\vec b)$"),
        (r"\vec a\times(\vec b+\vec c)", r"$\vec a\times\vec b+\vec a\times\vec c$"),
        (r"\vec{v_1}\times\vec{v_2}", r"$\vec{v_1} \times \vec{v_2}$"),
        (r"|\vec a\times\vec b|", r"$|\vec b\times\vec a|$"),
        (r"\vec a\cdot\vec b", r"$\vec b\cdot\vec a$"),
        (r"3\times 4", r"\boxed{12}"),
        (r"\lambda\times\vec a", r"$\vec a\cdot\lambda$"),
    ]);
}

#[test]
fn words_that_change_a_number_are_not_dropped() {
    for response in [
        r"\boxed{\text{not }4}",
        r"\boxed{\text{less than }4}",
        r"\boxed{\text{half of }4}",
        r"\boxed{\text{minus }4}",
        r"\boxed{4\text{ or 5}}",
        r"\boxed{4\text{ and a half}}",
        r"\boxed{4\text{ tenths}}",
        r"\boxed{4\text{ squared}}",
        r"\boxed{4\text{ or more}}",
        "The answer is certainly not 4",
        "The answer is not equal to 4.",
        "The answer is not $4$.",
        "The answer is greater than 4",
        "The answer is half of 4",
        "The answer is 4 or five.",
        "The answer is 4, or maybe 5",
        "The answer is between 4 and 5",
        "The answer is 4 and a half.",
        "The answer is 4 tenths.",
        "The answer is 4 squared.",
        "The answer is minus 4.",
        "The answer is minus $4$.",
        "The answer isn't 4.",
        "negative 4",
        "4 tenths",
        "It is certainly 5, not 4.",
    ] {
        wrong(&[("4", response)]);
    }
    right(&[
        ("-4", "The answer is minus 4."),
        ("-4", "The answer is negative 4."),
        ("-4", "The answer is minus $4$."),
        ("-4", r"\boxed{\text{minus }4}"),
        ("minus 4", r"\boxed{-4}"),
        (r"\text{less than }4", r"\boxed{\text{less than }4}"),
        ("4 squared", "4 squared"),
        ("4", r"\boxed{4\text{ apples}}"),
        ("4", r"\boxed{\text{about }4}"),
        ("4", "x = 4"),
        ("4", "The answer is 4 dollars"),
        ("4", "The answer is exactly 4"),
        ("4", "The answer is 4 or so."),
        ("4", "The answer is 4, and that is it."),
        ("4", "The answer is 4 quarters."),
        ("4", r"\boxed{\text{Ways of not losing: }4}"),
        ("4", "He does not have 3 apples, he has 4."),
        ("4", "There are no more than 3, I thought; but the answer is 4."),
        ("at least one", "at least one"),
    ]);
}

#[test]
fn an_unpaired_dollar_sign_before_a_digit_is_money() {
    wrong(&[("$5", "5 cents"), ("£5", "$5"), ("$5", r"\boxed{£5}"), ("5 cents", r"\boxed{$5}")]);
    right(&[
        ("$5", "500 cents"),
        ("$5", r"\boxed{5}"),
        ("5", "$5"),
        ("$5", r"\boxed{\$5}"),
        ("$5$", "5 cents"),
        ("$5,000", r"\boxed{5000}"),
        ("-$5", "-5"),
        ("$1.5 million", "1500000"),
    ]);
}

#[test]
fn an_equation_of_two_unknowns_may_be_solved_for_one() {
    right(&[("xy=1", "y=1/x"), ("xy=6", r"y=\frac{6}{x}"), ("xy=1", "x=y^{-1}"), ("AB=6", "6")]);
    wrong(&[("AB=6", "2+4"), ("xy=6", r"y=\frac{x}{6}")]);
}

#[test]
fn units_side_by_side_are_one_unit() {
    right(&[
        ("5 kg m/s^2", "5 kg m/s^2"),
        ("5 kg m/s^2", "5 N"),
        ("5 kg·m/s²", "5 kg m/s^2"),
        ("10 kg m/s", "10 kg m/s"),
        ("3 cubic cm", "3 cubic cm"),
        ("3 cubic cm", "3 cm^3"),
        ("3 sq cm", r"3\text{ cm}^2"),
        ("5 per hour", "5 per hour"),
        ("5 per hour", "5"),
        ("5 per cent", "5%"),
    ]);
    wrong(&[("5 kg m/s^2", "5 kg m/s"), ("3 cubic cm", "3 square cm"), ("5 per hour", "5 per minute")]);
}

#[test]
fn a_narrow_peak_between_the_points_of_an_integral_leaves_it_undecided() {
    wrong(&[
        (r"\int_0^1 e^{-10^6 (x-0.3)^2}dx", r"\boxed{0}"),
        (r"\int_0^1 e^{-10^5 (x-0.7)^2}dx", r"\boxed{0}"),
    ]);
    right(&[
        (r"\int_{-1}^1 x^3 dx", r"\boxed{0}"),
        (r"\int_0^{2\pi} \sin x dx", r"\boxed{0}"),
        (r"\int_0^1 x^{-1/2} dx", r"\boxed{2}"),
        (r"\int_0^\infty \frac{1}{1+x^2}dx", r"\boxed{\frac{\pi}{2}}"),
        (r"\int_0^1 0 dx", r"\boxed{0}"),
        (r"\int_0^1 10^{-30} x dx", r"\boxed{\frac{10^{-30}}{2}}"),
    ]);
}
