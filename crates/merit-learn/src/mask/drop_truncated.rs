//! Nothing of an episode that a limit cut: its low reward says more of the limit than of the policy.

use merit_core::{About, Sample};

pub(super) const ABOUT: About = About {
    name: "drop-truncated",
    summary: "samples that a limit cut are left out whole",
    paper: "DAPO (overlong filtering), arXiv:2503.14476",
};

pub(super) fn keep(sample: &Sample, _: usize) -> bool {
    !sample.truncated
}
