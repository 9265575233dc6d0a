//! Finite differences against each backward kernel.

use merit_core::Seed;
use merit_kernels::gate::{geglu, geglu_backward, swiglu, swiglu_backward};
use merit_kernels::loss::{row_backward, row_stats};
use merit_kernels::norm::{
    normalise, normalise_backward, normalise_gain_backward, normalise_heads, normalise_heads_backward,
    normalise_rows_backward,
};
use merit_kernels::rotary::{rotate_heads, rotate_heads_back};
use merit_kernels::softmax::{softmax_backward_rows, softmax_rows};
use merit_kernels::{Isa, math};

fn random(name: &str, len: usize) -> Vec<f32> {
    let mut stream = Seed::root(8).child(name, 0).stream();
    (0..len).map(|_| stream.normal() as f32).collect()
}

fn dot(x: &[f32], y: &[f32]) -> f64 {
    x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}

/// Compares `gradient` of `f` at `x` with central differences, entry by entry.
fn check(x: &[f32], gradient: &[f32], f: impl Fn(&[f32]) -> f64) {
    const STEP: f32 = 1e-2;
    for i in 0..x.len() {
        let moved = |by: f32| {
            let mut moved = x.to_vec();
            moved[i] += by;
            f(&moved)
        };
        let want = (moved(STEP) - moved(-STEP)) / (2.0 * f64::from(STEP));
        let got = f64::from(gradient[i]);
        assert!((want - got).abs() < 2e-3 * (1.0 + want.abs()), "entry {i}: {got} against {want}");
    }
}

#[test]
fn the_norm() {
    let isa = Isa::best();
    let (x, gain, dy) = (random("x", 3 * 20), random("gain", 20), random("dy", 3 * 20));
    let forward = |x: &[f32], gain: &[f32]| {
        let mut y = vec![0.0; 60];
        normalise(isa, x, gain, 1e-5, &mut y);
        dot(&y, &dy)
    };
    let (mut dx, mut dgain) = (vec![0.0; 60], vec![0.0; 20]);
    normalise_backward(isa, &x, &gain, 1e-5, &dy, &mut dx, &mut dgain);
    check(&x, &dx, |x| forward(x, &gain));
    check(&gain, &dgain, |gain| forward(&x, gain));
}

#[test]
fn the_norm_in_two_parts_has_the_bits_of_the_whole() {
    let isa = Isa::best();
    let (x, gain, dy) = (random("x", 5 * 37), random("gain", 37), random("dy", 5 * 37));
    let (mut dx, mut dgain) = (vec![0.5; x.len()], vec![0.25; 37]);
    let (mut dx_parts, mut dgain_parts, mut inverses) = (dx.clone(), dgain.clone(), vec![0.0; 5]);
    normalise_backward(isa, &x, &gain, 1e-5, &dy, &mut dx, &mut dgain);
    normalise_rows_backward(isa, &x, &gain, 1e-5, &dy, &mut dx_parts, &mut inverses);
    let (left, right) = dgain_parts.split_at_mut(20);
    normalise_gain_backward(isa, &x, &inverses, &dy, 37, 0, left);
    normalise_gain_backward(isa, &x, &inverses, &dy, 37, 20, right);
    assert_eq!((dx, dgain), (dx_parts, dgain_parts));
}

#[test]
fn the_norm_of_heads() {
    let isa = Isa::best();
    // Rows of 20 whose columns 4..16 are two heads of six.
    let (x, gain, dy) = (random("x", 3 * 20), random("gain", 6), random("dy", 3 * 20));
    let forward = |x: &[f32], gain: &[f32]| {
        let mut y = x.to_vec();
        normalise_heads(isa, &mut y, 20, 4, 16, gain, 1e-5);
        dot(&y, &dy)
    };
    let (mut dx, mut dgain) = (dy.clone(), vec![0.0; 6]);
    normalise_heads_backward(isa, &x, 20, &mut dx, 20, 4, 16, &gain, 1e-5, &mut dgain);
    check(&x, &dx, |x| forward(x, &gain));
    check(&gain, &dgain, |gain| forward(&x, gain));
}

fn check_gate(forward: fn(Isa, &[f32], usize, &mut [f32]), backward: fn(Isa, &mut [f32], usize, &mut [f32])) {
    let (x, dy) = (random("x", 2 * 2 * 21), random("dy", 2 * 21));
    let value = |isa: Isa, x: &[f32]| {
        let mut y = vec![0.0; 42];
        forward(isa, x, 21, &mut y);
        y
    };
    for isa in Isa::available() {
        let (mut dx, mut y) = (x.clone(), dy.clone());
        backward(isa, &mut dx, 21, &mut y);
        assert_eq!(y, value(isa, &x));
        assert_eq!(y, value(Isa::best(), &x));
        check(&x, &dx, |x| dot(&value(isa, x), &dy));
    }
}

#[test]
fn the_gated_units() {
    check_gate(swiglu, swiglu_backward);
    check_gate(geglu, geglu_backward);
}

#[test]
fn the_gelu_is_the_tanh_formula() {
    for i in -80..80 {
        let g = i as f32 * 0.1;
        let mut y = [0.0];
        geglu(Isa::best(), &[g, 1.0], 1, &mut y);
        let g = f64::from(g);
        let want =
            0.5 * g * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (g + 0.044_715 * g.powi(3))).tanh());
        assert!((f64::from(y[0]) - want).abs() < 1e-6 * (1.0 + want.abs()), "{} against {want}", y[0]);
    }
}

#[test]
fn the_turn() {
    let isa = Isa::best();
    let (x, dy, angles) = (random("x", 12), random("dy", 12), random("angle", 3));
    let (cos, sin): (Vec<f32>, Vec<f32>) = angles.iter().map(|a| (a.cos(), a.sin())).unzip();
    let mut dx = dy.clone();
    rotate_heads_back(isa, &mut dx, &cos, &sin, 0.5);
    check(&x, &dx, |x| {
        let mut y = x.to_vec();
        rotate_heads(isa, &mut y, &cos, &sin, 0.5);
        dot(&y, &dy)
    });
}

#[test]
fn the_softmax() {
    let isa = Isa::best();
    let (x, dp) = (random("x", 2 * 32), random("dp", 2 * 32));
    let forward = |x: &[f32]| {
        let mut p = x.to_vec();
        softmax_rows(isa, &mut p, 32, 7, 12, 10);
        p
    };
    let p = forward(&x);
    // The second row sees entries 9 to 18: ten of the first nineteen.
    assert!(p[7..32 + 9].iter().chain(&p[32 + 19..]).all(|&p| p == 0.0));
    assert!((p[32 + 9..32 + 19].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    assert!((p[..7].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    let mut ds = dp.clone();
    let delta = [math::dot(&p[..32], &dp[..32]), math::dot(&p[32..], &dp[32..])];
    softmax_backward_rows(isa, &p, &mut ds, 32, &delta);
    check(&x, &ds, |x| dot(&forward(x), &dp));
}

#[test]
fn the_log_probability_and_entropy_of_a_row() {
    let isa = Isa::best();
    let logits = random("logits", 37);
    for (on_logprob, on_entropy, inverse) in [(1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (-0.7, 0.3, 1.4)] {
        let mut dx = logits.clone();
        row_backward(isa, &mut dx, 5, row_stats(isa, &logits, inverse), inverse, on_logprob, on_entropy);
        check(&logits, &dx, |x| {
            let stats = row_stats(isa, x, inverse);
            f64::from(on_logprob * stats.logprob(x[5], inverse)) + f64::from(on_entropy * stats.entropy())
        });
    }
}

#[test]
fn equal_logits_have_the_entropy_of_a_fair_die() {
    let stats = row_stats(Isa::best(), &[3.0; 37], 1.0);
    assert!((stats.entropy() - 37.0_f32.ln()).abs() < 1e-6);
    assert!((stats.logprob(3.0, 1.0) + 37.0_f32.ln()).abs() < 1e-6);
}
