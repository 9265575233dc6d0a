//! Every token the policy chose, in an episode that counts.

use merit_core::{About, Sample};

pub(super) const ABOUT: About = About { name: "policy", summary: "every token the policy chose", paper: "" };

pub(super) fn keep(_: &Sample, _: usize) -> bool {
    true
}
