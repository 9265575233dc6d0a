//! How fast is each objective learned, and what should it weigh? The arithmetic of `dynamic-weights`, without episodes.

/// Weights by the speed of learning; slow or declining objectives gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedWeights {
    /// Above 0; the lower it is, the more the slowest objective gets.
    pub temperature: f64,
    /// The least weight of each objective.
    pub floor: f64,
    /// Share of the old weight that stays.
    pub smoothing: f64,
}

impl SpeedWeights {
    /// The weights of the next step. `means` holds one row of as many numbers as there are weights per step, oldest first.
    ///
    /// ```
    /// use merit_reward::SpeedWeights;
    /// let by = SpeedWeights { temperature: 1.0, floor: 0.0, smoothing: 0.0 };
    /// // The first rises, the second stands still: e^-s against 1 with s = 1 / 0.5 standard deviations a step.
    /// let weights = by.next(&[0.5, 0.5], &[0.0, 1.0, 1.0, 1.0]);
    /// assert!((weights[1] - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-12);
    /// ```
    pub fn next(&self, old: &[f64], means: &[f64]) -> Vec<f64> {
        let parts = old.len();
        let column = |k: usize| means.iter().skip(k).step_by(parts.max(1)).copied().collect::<Vec<f64>>();
        let urgency: Vec<f64> = (0..parts).map(|k| (-speed(&column(k)) / self.temperature).exp()).collect();
        let total: f64 = urgency.iter().sum();
        let free = 1.0 - self.floor * parts as f64;
        let blend = |(old, urgency): (&f64, &f64)| {
            let target = self.floor + free * urgency / total;
            self.smoothing * old + (1.0 - self.smoothing) * target
        };
        old.iter().zip(&urgency).map(blend).collect()
    }
}

/// The least-squares slope over the steps, in standard deviations; 0 where nothing moves.
fn speed(means: &[f64]) -> f64 {
    let n = means.len() as f64;
    if means.len() < 2 {
        return 0.0;
    }
    let (x_mean, y_mean) = ((n - 1.0) / 2.0, means.iter().sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in means.iter().enumerate() {
        let (dx, dy) = (x as f64 - x_mean, y - y_mean);
        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    let std = (yy / n).sqrt();
    if std <= 1e-12 * y_mean.abs().max(1.0) { 0.0 } else { xy / xx / std }
}
