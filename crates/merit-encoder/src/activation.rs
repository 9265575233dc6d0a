//! The activations of a feed-forward: GELU by the error function, by its tanh formula, and ReLU.
//!
//! `Phi(x)`, the share of a normal distribution below x, is read from a table of values and slopes by cubic Hermite
//! interpolation. With steps of 1/64 it is off by at most `h⁴ / 384 · max |Phi⁗| < 3e-10`, far below what `f32` shows.

use merit_formats::EncoderActivation;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};
use std::sync::OnceLock;

const STEPS_PER_UNIT: usize = 64;
/// Beyond it `x Phi(x)` differs from 0 or x by less than 1e-8.
const EDGE: usize = 6;

/// Value and slope, per step, of `Phi` from 0 on.
type Table = [(f64, f64); EDGE * STEPS_PER_UNIT + 1];

/// Applies the activation to every number in place.
pub(crate) fn activate(activation: EncoderActivation, values: &mut [f32]) {
    match activation {
        EncoderActivation::Gelu => {
            let table = table();
            values.iter_mut().for_each(|x| *x = (f64::from(*x) * phi(table, f64::from(*x))) as f32);
        }
        EncoderActivation::GeluTanh => values.iter_mut().for_each(|x| *x = gelu_tanh(*x)),
        EncoderActivation::Relu => values.iter_mut().for_each(|x| *x = x.max(0.0)),
    }
}

/// `x (1 + tanh z) / 2` with `z = sqrt(2 / pi) (x + 0.044715 x³)`.
fn gelu_tanh(x: f32) -> f32 {
    let x = f64::from(x);
    let z = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * (x + 0.044_715 * x * x * x);
    (0.5 * x * (1.0 + z.tanh())) as f32
}

fn phi(table: &Table, x: f64) -> f64 {
    let at = x.abs() * STEPS_PER_UNIT as f64;
    // Numbers that are none end here too, and stay what they are when multiplied.
    let upper = match table.get(at as usize..).and_then(|rest| rest.first_chunk()) {
        Some(&[(from, from_slope), (to, to_slope)]) => {
            let (t, h) = (at.fract(), 1.0 / STEPS_PER_UNIT as f64);
            let (rise, first, second) = (to - from, from_slope * h, to_slope * h);
            let bow = (1.0 - t) * (first - rise) + t * (rise - second);
            from + t * rise + t * (1.0 - t) * bow
        }
        None => 1.0,
    };
    if x < 0.0 { 1.0 - upper } else { upper }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Box<Table>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Box::new([(0.0, 0.0); EDGE * STEPS_PER_UNIT + 1]);
        for (step, entry) in table.iter_mut().enumerate() {
            let x = step as f64 / STEPS_PER_UNIT as f64;
            *entry = (0.5 + density(x) * odd_series(x), density(x));
        }
        table
    })
}

/// `exp(-x² / 2) / sqrt(2 pi)`
fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() * 0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2
}

/// `x + x³ / 3 + x⁵ / (3 · 5) + …`, which times the density is `Phi(x) - 1/2`; all terms have the sign of x.
fn odd_series(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > sum * f64::EPSILON {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(activation: EncoderActivation, x: f32, want: f32) {
        let mut values = [x];
        activate(activation, &mut values);
        assert!((values[0] - want).abs() <= 1e-7 * want.abs().max(1.0), "{x}: {} against {want}", values[0]);
    }

    #[test]
    fn gelu_is_what_tables_of_the_normal_distribution_say() {
        // Phi(1) = 0.8413447461, Phi(0.3) = 0.6179114222, Phi(-2.5) = 0.0062096653, Phi(-5) = 2.866516e-7.
        for (x, phi) in
            [(1.0, 0.841_344_7), (0.3, 0.617_911_4), (-2.5, 0.006_209_665_3), (-5.0, 2.866_516e-7)]
        {
            check(EncoderActivation::Gelu, x, x * phi);
        }
        for (x, want) in [(0.0, 0.0), (5.999_99, 5.999_99), (6.0, 6.0), (7.0, 7.0), (-7.0, 0.0), (1e30, 1e30)]
        {
            check(EncoderActivation::Gelu, x, want);
        }
    }

    #[test]
    fn between_its_entries_the_table_follows_the_series() {
        for i in 0..6000 {
            let x = f64::from(i) * 0.000_999_7;
            let want = 0.5 + density(x) * odd_series(x);
            assert!((phi(table(), x) - want).abs() < 3e-10, "{x}: {} against {want}", phi(table(), x));
        }
    }

    #[test]
    fn what_is_no_number_is_not_hidden() {
        for activation in [EncoderActivation::Gelu, EncoderActivation::GeluTanh] {
            let mut values = [f32::NAN, f32::INFINITY];
            activate(activation, &mut values);
            assert!(values[0].is_nan() && values[1] == f32::INFINITY, "{values:?}");
        }
    }

    #[test]
    fn the_other_activations_are_their_formulas() {
        // tanh(sqrt(2 / pi) · 1.044715) = 0.682384
        check(EncoderActivation::GeluTanh, 1.0, 0.841_192);
        check(EncoderActivation::Relu, -1.5, 0.0);
        check(EncoderActivation::Relu, 1.5, 1.5);
    }
}
