//! How tokens are drawn: temperature, cuts, biases, masks and stops.
//!
//! The order is fixed: biases and masks change the logits, the temperature divides them, then the cuts take away what is
//! unlikely: top-k, top-p of what is left, min-p. Reported log-probabilities are those of the full softmax at the
//! temperature, before any of it, so that what was sampled can be trained on.

use super::ConstraintSource;
use crate::CallLanguage;
use merit_core::TokenId;
use std::sync::Arc;

/// How tokens are drawn and when to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingParams {
    /// Logits are divided by this; 0 takes the likeliest token and reports log-probabilities at temperature 1.
    pub temperature: f32,
    /// Draw only from this many of the likeliest tokens; 0 draws from all.
    pub top_k: usize,
    /// Draw only from the likeliest tokens that together have this probability; 1 draws from all.
    pub top_p: f32,
    /// Draw only from tokens at least this share as likely as the likeliest; 0 draws from all.
    pub min_p: f32,
    /// Added to the logits of these tokens, before the temperature.
    pub logit_bias: Vec<(TokenId, f32)>,
    /// Tokens that are never drawn.
    pub banned: Vec<TokenId>,
    /// Draw only from these; empty draws from all.
    pub allowed: Vec<TokenId>,
    /// What may be said, token by token.
    pub constraint: Option<ConstraintSource>,
    /// How many of the likeliest tokens to report at each position.
    pub top_logprobs: usize,
    /// Most tokens of a completion.
    pub max_tokens: usize,
    /// Texts that end a completion wherever they appear in it; the token that completes one is kept.
    pub stop: Vec<String>,
    /// Tokens that end a completion; kept.
    pub stop_tokens: Vec<TokenId>,
    /// How calls of tools are written and read, for samplers behind which calls are no text. Others do not look at it.
    pub calls: Option<Arc<dyn CallLanguage>>,
}

impl Default for SamplingParams {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            logit_bias: Vec::new(),
            banned: Vec::new(),
            allowed: Vec::new(),
            constraint: None,
            top_logprobs: 0,
            max_tokens: 256,
            stop: Vec::new(),
            stop_tokens: Vec::new(),
            calls: None,
        }
    }
}

impl SamplingParams {
    /// Refuses what cannot be sampled with from a vocabulary of this size, with the reason.
    pub fn check(&self, vocab: usize) -> Result<(), String> {
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return Err(format!("temperature {} is not 0 or more", self.temperature));
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return Err(format!("top_p {} is not above 0 and at most 1", self.top_p));
        }
        if !(0.0..=1.0).contains(&self.min_p) {
            return Err(format!("min_p {} is not between 0 and 1", self.min_p));
        }
        if self.top_logprobs > vocab {
            return Err(format!("top_logprobs {} is more than the vocabulary of {vocab}", self.top_logprobs));
        }
        if let Some((token, bias)) = self.logit_bias.iter().find(|(_, bias)| !bias.is_finite()) {
            return Err(format!(
                "the bias {bias} of token {} is not finite; ban tokens with `banned`",
                token.0
            ));
        }
        let biased = self.logit_bias.iter().map(|(token, _)| ("logit_bias", token));
        let banned = self.banned.iter().map(|token| ("banned", token));
        let allowed = self.allowed.iter().map(|token| ("allowed", token));
        match biased.chain(banned).chain(allowed).find(|(_, token)| token.0 as usize >= vocab) {
            Some((list, token)) => {
                Err(format!("token {} in `{list}` is outside the vocabulary of {vocab}", token.0))
            }
            None => Ok(()),
        }
    }

    /// Whether biases or bans change the logits.
    pub fn changes_logits(&self) -> bool {
        !(self.logit_bias.is_empty() && self.banned.is_empty() && self.allowed.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut SamplingParams), message: &str) {
        let mut params = SamplingParams::default();
        change(&mut params);
        let error = params.check(10).unwrap_err();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn parameters_that_cannot_be_sampled_with_are_refused_with_the_reason() {
        assert_eq!(SamplingParams::default().check(10), Ok(()));
        check(|p| p.temperature = -1.0, "temperature -1");
        check(|p| p.temperature = f32::INFINITY, "temperature inf");
        check(|p| p.top_p = 1.5, "top_p 1.5");
        check(|p| p.top_p = f32::NAN, "top_p NaN");
        check(|p| p.min_p = -0.1, "min_p -0.1");
        check(|p| p.min_p = f32::NAN, "min_p NaN");
        check(|p| p.top_logprobs = 11, "top_logprobs 11");
        check(|p| p.logit_bias = vec![(TokenId(1), f32::INFINITY)], "not finite");
        check(|p| p.logit_bias = vec![(TokenId(10), 1.0)], "`logit_bias`");
        check(|p| p.banned = vec![TokenId(10)], "`banned`");
        check(|p| p.allowed = vec![TokenId(3), TokenId(99)], "token 99 in `allowed`");
    }
}
