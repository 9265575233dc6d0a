//! A labelled pair: two episodes of one task, and which of them is better.

use merit_core::Episode;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// Which of a pair is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// The first episode is better.
    A,
    /// The second episode is better.
    B,
    /// Neither is better.
    Tie,
}

impl Label {
    /// The label of the same pair in the other order.
    pub fn swapped(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            Self::Tie => Self::Tie,
        }
    }
}

/// Two episodes of one task, and which of them is better.
#[derive(Debug, Clone)]
pub struct Pair {
    /// Its name: where it stands in its file.
    pub id: String,
    /// Pairs of one group share a prompt, and are never parted between training and test.
    pub group: String,
    pub a: Arc<Episode>,
    pub b: Arc<Episode>,
    pub label: Label,
}

impl Pair {
    /// A pair of which it is known who is better. A hash of its name decides who is shown first, so that the place tells nothing.
    pub fn ranked(id: String, group: String, better: Arc<Episode>, worse: Arc<Episode>) -> Self {
        let turned = Sha256::digest(id.as_bytes())[0] % 2 == 0;
        let pair = Self { id, group, a: better, b: worse, label: Label::A };
        if turned { pair.swapped() } else { pair }
    }

    /// The same pair in the other order.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self { a: Arc::clone(&self.b), b: Arc::clone(&self.a), label: self.label.swapped(), ..self.clone() }
    }
}
