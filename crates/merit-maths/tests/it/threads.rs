//! The same verdicts on one thread and on sixteen.

use merit_maths::{Compat, Limits, MathsConfig, Verdict};
use merit_maths_compat::verify;
use rayon::prelude::*;

/// Answers of every kind, each against each.
const ANSWERS: [&str; 26] = [
    "42",
    r"\boxed{42}",
    "the answer is 42.0",
    r"$\frac{84}{2}$",
    r"\boxed{\sqrt{1764}}",
    "42%",
    r"$42\text{ cm}$",
    r"$x=42$",
    r"$(4,2)$",
    r"$\{4,2\}$",
    "4, 2",
    r"$[4,2)$",
    r"$x<42$",
    r"$42>x$",
    r"$(-\infty,42)$",
    r"$x^2+2x+1$",
    r"$(x+1)^2$",
    r"$\sin^2 x+\cos^2 x$",
    "1",
    r"$e^{i\pi}$",
    "-1",
    r"$\begin{pmatrix}4&2\end{pmatrix}$",
    r"$\text{forty-two}$",
    "nothing",
    r"\boxed{7^{7^{7^7}}}",
    "#### 1,042",
];

fn pairs() -> Vec<(&'static str, &'static str, MathsConfig)> {
    // Steps decide; a busy machine must not reach the fence on the clock first.
    let limits = Limits { wall_ms: 600_000, ..Limits::default() };
    let strict = MathsConfig { limits, ..MathsConfig::default() };
    let policies = [strict.clone(), MathsConfig { compat: Compat::MathVerify, ..strict }];
    let mut pairs = Vec::new();
    for config in &policies {
        for gold in ANSWERS {
            pairs.extend(ANSWERS.map(|response| (gold, response, config.clone())));
        }
    }
    pairs
}

#[test]
fn one_and_sixteen_threads_come_to_identical_verdicts() {
    let pairs = pairs();
    let one: Vec<Verdict> = pairs.iter().map(|(g, r, p)| verify(g, r, p)).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(16).build().unwrap();
    for _ in 0..3 {
        let many: Vec<Verdict> = pool.install(|| pairs.par_iter().map(|(g, r, p)| verify(g, r, p)).collect());
        for ((pair, a), b) in pairs.iter().zip(&one).zip(&many) {
            assert_eq!(a, b, "{} against {}", pair.1, pair.0);
        }
    }
}
