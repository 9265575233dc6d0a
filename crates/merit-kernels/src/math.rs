//! The exponential and the fixed sixteen-lane sums that all row functions are made of.

/// Lanes of a reduction; element i of a row always goes to lane `i % 16`.
pub const WIDTH: usize = 16;

/// The numbers that the exponential is made of.
pub(crate) mod exp_parts {
    /// Adding it rounds to an integer and leaves that in the low bits: 1.5 * 2^23.
    pub(crate) const ROUND: f32 = 12_582_912.0;
    pub(crate) const LN2_HIGH: f32 = 0.693_145_75;
    pub(crate) const LN2_LOW: f32 = 1.428_606_8e-6;
    /// Below it the result is 0.
    pub(crate) const LEAST: f32 = -87.0;
    pub(crate) const MOST: f32 = 88.0;
    /// Taylor's coefficients, from the seventh power down.
    pub(crate) const SERIES: [f32; 8] =
        [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
}

/// `e^x` to about one unit in the last place; 0 below -87, and no more than `e^88` above.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`; `e^r` by its Taylor series to the seventh power, `2^n` by its exponent bits.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    use exp_parts::{LEAST, LN2_HIGH, LN2_LOW, MOST, ROUND, SERIES};
    let clamped = x.clamp(LEAST, MOST);
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, clamped));
    let mut sum = SERIES[0];
    for &coefficient in &SERIES[1..] {
        sum = sum.mul_add(r, coefficient);
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < LEAST { 0.0 } else { sum * power }
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The lanes brought together, always in the same tree. A macro, because closures are not compiled for the caller's
/// instruction set unless they are inlined.
macro_rules! tree {
    ($lanes:expr, $join:ident) => {{
        let lanes: [f32; WIDTH] = $lanes;
        let (mut eight, mut four) = ([0.0_f32; 8], [0.0_f32; 4]);
        for i in 0..8 {
            eight[i] = $join(lanes[i], lanes[i + 8]);
        }
        for i in 0..4 {
            four[i] = $join(eight[i], eight[i + 4]);
        }
        $join($join(four[0], four[2]), $join(four[1], four[3]))
    }};
}

#[inline(always)]
fn plus(a: f32, b: f32) -> f32 {
    a + b
}

/// The sum of the lanes.
#[inline(always)]
pub fn fold(lanes: [f32; WIDTH]) -> f32 {
    tree!(lanes, plus)
}

/// `Σ x y`
#[inline(always)]
pub fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; WIDTH];
    let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<WIDTH>(), y.as_chunks::<WIDTH>());
    for (x, y) in xs.iter().zip(ys) {
        for i in 0..WIDTH {
            lanes[i] = x[i].mul_add(y[i], lanes[i]);
        }
    }
    if !x_tail.is_empty() {
        let (x, y) = (padded(x_tail, 0.0), padded(y_tail, 0.0));
        for i in 0..WIDTH {
            lanes[i] = x[i].mul_add(y[i], lanes[i]);
        }
    }
    fold(lanes)
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// The largest element of whole chunks; `-inf` for none.
#[inline(always)]
pub fn largest_chunk(chunks: &[[f32; WIDTH]]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; WIDTH];
    for chunk in chunks {
        for i in 0..WIDTH {
            lanes[i] = larger(lanes[i], chunk[i]);
        }
    }
    tree!(lanes, larger)
}

/// The largest element; `-inf` for an empty row.
#[inline(always)]
pub fn largest(x: &[f32]) -> f32 {
    let (chunks, tail) = x.as_chunks::<WIDTH>();
    let most = largest_chunk(chunks);
    if tail.is_empty() { most } else { larger(most, largest_chunk(&[padded(tail, f32::NEG_INFINITY)])) }
}

/// The row's last, partial chunk, filled up with `filler`.
#[inline(always)]
pub fn padded(tail: &[f32], filler: f32) -> [f32; WIDTH] {
    let mut chunk = [filler; WIDTH];
    chunk[..tail.len()].copy_from_slice(tail);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right_to_a_few_parts_in_ten_million() {
        for i in -86_999..88_000 {
            let x = i as f32 * 0.001;
            let want = f64::from(x).exp();
            let relative = (f64::from(exp(x)) - want).abs() / want;
            assert!(relative < 2e-7, "exp({x}): {} against {want}", exp(x));
        }
        assert_eq!((exp(0.0), exp(-88.0), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
    }
}
