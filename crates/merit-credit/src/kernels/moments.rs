//! Mean and variance of many numbers, gathered in parts, and whitening by them: mean 0, variance 1.

/// Added to the variance before the root.
pub const VARIANCE_EPSILON: f64 = 1e-8;

/// Mean and spread of many numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    pub count: usize,
    /// Their mean; 0 when there is none.
    pub mean: f64,
    /// The sum of their squared differences from the mean.
    pub squares: f64,
}

impl Moments {
    /// Of these numbers. Two passes: the second sums squares around the mean of the first.
    pub fn of(numbers: &[f64]) -> Self {
        let count = numbers.len();
        let mean = sum_of(numbers, |x| x) / count.max(1) as f64;
        Self { count, mean, squares: sum_of(numbers, |x| (x - mean) * (x - mean)) }
    }

    /// Of both sets together (Chan, Golub and LeVeque 1979).
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        if other.count == 0 || self.count == 0 {
            return if other.count == 0 { self } else { other };
        }
        let share = other.count as f64 / count as f64;
        let apart = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + apart * share,
            squares: self.squares + other.squares + apart * apart * self.count as f64 * share,
        }
    }

    /// Unbiased variance (divisor n − 1); 0 below two.
    pub fn variance(&self) -> f64 {
        if self.count < 2 { 0.0 } else { self.squares / (self.count - 1) as f64 }
    }

    /// Whether there is nothing to compare: fewer than two, or all equal up to float noise.
    pub fn constant(&self) -> bool {
        self.count < 2 || self.variance().sqrt() <= 1e-9 * self.mean.abs().max(1.0)
    }

    /// Whitening by these moments: `(x − mean) / sqrt(variance + 1e-8)`, and exactly 0 where they are constant.
    pub fn whitener(&self) -> Whitener {
        let scale = (self.variance() + VARIANCE_EPSILON).sqrt();
        Whitener { mean: self.mean, inverse: if self.constant() { 0.0 } else { 1.0 / scale } }
    }
}

/// Whitens numbers by the moments it was made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whitener {
    mean: f64,
    inverse: f64,
}

impl Whitener {
    /// The whitened number.
    #[inline]
    pub fn of(&self, x: f64) -> f32 {
        ((x - self.mean) * self.inverse) as f32
    }
}

/// The sum of `f(x)`, in eight running sums so that the additions do not wait for each other.
fn sum_of(numbers: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0_f64; 8];
    let chunks = numbers.chunks_exact(sums.len());
    let tail: f64 = chunks.remainder().iter().map(|&x| f(x)).sum();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, &x)| *sum += f(x));
    }
    sums.iter().sum::<f64>() + tail
}
