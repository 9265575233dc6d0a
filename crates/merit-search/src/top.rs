//! The best `k` of scores that come in order of position.

/// Keeps the best; of equal scores the earlier.
pub(crate) struct Top {
    k: usize,
    /// Best first, at most `k`.
    kept: Vec<(u32, f32)>,
    floor: f32,
}

impl Top {
    /// Of scores above `floor`, the best `k`.
    pub(crate) fn new(k: usize, floor: f32) -> Self {
        Self { k, kept: Vec::with_capacity(k.saturating_add(1)), floor }
    }

    /// What a score must exceed to be kept.
    pub(crate) fn floor(&self) -> f32 {
        self.floor
    }

    /// Positions must come in ascending order; whether the score was kept.
    pub(crate) fn offer(&mut self, position: u32, score: f32) -> bool {
        if !(score > self.floor && self.k > 0) {
            return false;
        }
        let at = self.kept.partition_point(|(_, other)| *other >= score);
        self.kept.insert(at, (position, score));
        self.kept.truncate(self.k);
        if self.kept.len() == self.k {
            self.floor = self.kept.last().map_or(self.floor, |(_, lowest)| *lowest);
        }
        true
    }

    /// Best first.
    pub(crate) fn into_ranked(self) -> Vec<(u32, f32)> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_keep_the_earlier() {
        let mut top = Top::new(3, 0.0);
        for (position, score) in
            [0.5, 0.1, 0.5, 0.0, 0.9, 0.5, 0.5, -1.0, 0.9, f32::NAN].into_iter().enumerate()
        {
            top.offer(position as u32, score);
        }
        assert_eq!(top.into_ranked(), [(4, 0.9), (8, 0.9), (0, 0.5)]);
    }
}
