//! What has been looked at and said, and what is true of it.

use super::Puzzle;
use super::clip::Claim;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub zooms: u32,
    /// Zooms that showed something.
    pub zooms_ok: u32,
    /// The most cells of one part that are of the tile that is asked about.
    pub overlap: u32,
    pub claims: Vec<Claim>,
}

impl Seen {
    pub(super) fn info(&self, puzzle: &Puzzle) -> Vec<(&'static str, f64)> {
        let Puzzle::Video(clip) = puzzle else {
            return self.grid_info(puzzle);
        };
        let needed: Vec<Claim> = clip.needed().collect();
        let idle = |(at, claim): &(usize, &Claim)| {
            clip.is_true(claim) && (!needed.contains(claim) || self.claims[..*at].contains(claim))
        };
        let total = self.claims.len();
        let share = |count: usize| if total == 0 { 0.0 } else { count as f64 / total as f64 };
        let held = self.claims.iter().filter(|claim| clip.is_true(claim)).count();
        let sufficient = clip.reader(&self.claims) == Some(clip.told(clip.who));
        vec![
            ("claims", total as f64),
            ("obs_true", share(held)),
            ("obs_false", share(total - held)),
            ("obs_idle", share(self.claims.iter().enumerate().filter(idle).count())),
            ("sufficient", f64::from(u8::from(sufficient))),
        ]
    }

    fn grid_info(&self, puzzle: &Puzzle) -> Vec<(&'static str, f64)> {
        let Some((scene, needs_zoom)) = puzzle.scene() else { return Vec::new() };
        let mut info = vec![
            ("needs_zoom", f64::from(u8::from(needs_zoom))),
            ("zooms", f64::from(self.zooms)),
            ("zooms_ok", f64::from(self.zooms_ok)),
        ];
        if needs_zoom {
            let both = 2 * u32::from(scene.tile).pow(2) - self.overlap;
            info.push(("iou", f64::from(self.overlap) / f64::from(both)));
        }
        info
    }
}
