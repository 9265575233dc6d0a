//! The resource: simultaneous harvests, logistic regrowth.

/// Level, carrying capacity and regrowth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resource {
    pub level: f64,
    /// K: the most of the resource that there can be.
    pub capacity: f64,
    /// g: the growth rate of the resource.
    pub growth: f64,
}

impl Resource {
    /// Everybody harvests `most * effort * R / K` at once, scaled down where that is more than there is; then
    /// `R += g R (1 − R / K)`. Returns the harvests.
    pub fn harvest(&mut self, efforts: &[f64], most: f64) -> Vec<f64> {
        let mut harvests: Vec<f64> = efforts.iter().map(|e| most * e * self.level / self.capacity).collect();
        let total: f64 = harvests.iter().sum();
        if total > self.level {
            harvests.iter_mut().for_each(|h| *h *= self.level / total);
        }
        self.level -= total.min(self.level);
        self.level += self.growth * self.level * (1.0 - self.level / self.capacity);
        harvests
    }

    /// The greatest harvest per round that regrowth replaces for ever: g K / 4.
    pub fn sustainable_yield(&self) -> f64 {
        self.growth * self.capacity / 4.0
    }

    pub fn collapsed(&self) -> bool {
        self.level < 0.05 * self.capacity
    }
}
