//! The rewards that come with merit: files in `rewards/`, each a whole reward to use as it is or to start from.
//!
//! A new one is a file there and a line here; a test holds the two together. The text is TOML and reads into a
//! [`RewardConfig`](crate::RewardConfig); the caller brings the parser.

use merit_core::About;
use merit_core::registry::{UnknownName, find};

/// A reward that comes with merit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedReward {
    /// Name (its file's, without the ending), one line of help.
    pub about: About,
    /// The reward's file, TOML.
    pub text: &'static str,
}

macro_rules! shipped {
    ( $( $name:literal: $summary:literal, )* ) => {
        /// Every reward that comes with merit.
        pub const REWARDS: &[ShippedReward] = &[$( ShippedReward {
            about: About { name: $name, summary: $summary, paper: "" },
            text: include_str!(concat!("../../../rewards/", $name, ".toml")),
        }, )*];
    };
}

shipped! {
    "airline": "tau-bench's airline desk: expected changes by turn, and outcome, outputs, calls and cost behind success.",
    "code": "A program that passes all of the task's tests, the hidden ones too, and a little for brevity behind them.",
    "dialogue-checklist": "A conversation in which something was to be done, judged item by item behind doing it.",
    "final-answer": "The right final answer and nothing else.",
    "json-object": "One JSON object by the task's schema: content behind validity, a little for shape.",
    "maths": "A mathematics answer, exactly, and a little for its box behind being right.",
    "search-qa": "A short answer word for word, with cited evidence behind being right.",
    "sql": "A query that finds the right rows, and a little for brevity behind them.",
}

/// The shipped reward called `name`, or an error that names the nearest.
pub fn shipped(name: &str) -> Result<&'static ShippedReward, UnknownName> {
    find("shipped reward", REWARDS, |reward| reward.about, name)
}
