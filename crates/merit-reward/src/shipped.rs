//! The rewards that come with merit: the files of `rewards/`, each a whole reward with its reasons.

use merit_core::About;

/// A reward that is part of the binary.
#[derive(Debug, Clone, Copy)]
pub struct ShippedReward {
    /// Name, one line, paper.
    pub about: About,
    /// The TOML text.
    pub text: &'static str,
}

/// Every shipped reward.
pub const REWARDS: &[ShippedReward] = &[ShippedReward {
    about: About { name: "final-answer", summary: "the right final answer and nothing else", paper: "" },
    text: include_str!("../../../rewards/final-answer.toml"),
}];
