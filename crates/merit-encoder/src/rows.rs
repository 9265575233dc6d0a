//! What happens to rows between products: biases, norms, means.
//!
//! Sums are kept in `f64`, in eight lanes by place in the row, so that a row's bits depend on nothing but the row.

/// A gain and a bias after normalising: `gain (x - mean) / sqrt(variance + eps) + bias`.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    pub(crate) gain: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) eps: f32,
}

impl LayerNorm {
    /// Normalises every row in place.
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        let width = self.gain.len();
        for row in rows.chunks_exact_mut(width.max(1)) {
            let mean = sum(row, |x| x) / width as f64;
            let variance = sum(row, |x| (x - mean) * (x - mean)) / width as f64;
            let inverse = 1.0 / (variance + f64::from(self.eps)).sqrt();
            for ((x, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
                *x = ((f64::from(*x) - mean) * inverse) as f32 * gain + bias;
            }
        }
    }
}

const LANES: usize = 8;

fn sum(row: &[f32], of: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0_f64; LANES];
    for chunk in row.chunks(LANES) {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += of(f64::from(x));
        }
    }
    lanes.iter().sum()
}

/// `row + bias` for every row.
pub(crate) fn add_bias(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len().max(1)) {
        row.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias);
    }
}

/// `rows += more`
pub(crate) fn add(rows: &mut [f32], more: &[f32]) {
    rows.iter_mut().zip(more).for_each(|(x, more)| *x += more);
}

/// The mean of the rows; zeros where there are none.
pub(crate) fn mean(rows: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; width];
    for row in rows.chunks_exact(width.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    let count = rows.len().checked_div(width).unwrap_or(0).max(1) as f64;
    sums.into_iter().map(|sum| (sum / count) as f32).collect()
}

/// Brings a vector to length 1; zeros stay zeros.
pub(crate) fn to_unit(vector: &mut [f32]) {
    let length = sum(vector, |x| x * x).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normalised_row_has_mean_zero_and_variance_one_before_gain_and_bias() {
        // Mean 2, variance (1 + 0 + 1) / 3; deviations ∓1 become ∓sqrt(3 / 2).
        let norm = LayerNorm { gain: vec![1.0, 1.0, 2.0], bias: vec![0.0, 5.0, 0.0], eps: 0.0 };
        let mut rows = [1.0, 2.0, 3.0];
        norm.apply(&mut rows);
        let root = 1.5_f32.sqrt();
        assert!(
            rows.iter().zip([-root, 5.0, 2.0 * root]).all(|(got, want)| (got - want).abs() < 1e-6),
            "{rows:?}"
        );
    }

    #[test]
    fn the_mean_of_no_rows_is_zero_and_zero_has_no_direction() {
        assert_eq!(mean(&[], 2), [0.0, 0.0]);
        assert_eq!(mean(&[1.0, 2.0, 3.0, 6.0], 2), [2.0, 4.0]);
        let mut nothing = [0.0, 0.0];
        to_unit(&mut nothing);
        assert_eq!(nothing, [0.0, 0.0]);
        let mut vector = [3.0, 4.0];
        to_unit(&mut vector);
        assert_eq!(vector, [0.6, 0.8]);
    }
}
