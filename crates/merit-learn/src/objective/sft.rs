//! Supervised fine-tuning: `l = -logprob`. Samples count by their weight; credit is not looked at.

use super::{LossParts, Token, TokenLoss};
use merit_core::About;

pub(super) const ABOUT: About =
    About { name: "sft", summary: "make the tokens likely, whoever chose them", paper: "" };

pub(super) fn token(token: &Token) -> TokenLoss {
    TokenLoss {
        parts: LossParts { policy: -token.logprob, ..LossParts::default() },
        d_logprob: -1.0,
        ..TokenLoss::default()
    }
}
