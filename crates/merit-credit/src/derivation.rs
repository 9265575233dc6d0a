//! How the advantages of a sample came about, as data and in words: the audit of credit.

use crate::kernels::{Discount, GroupNorm, GroupStats, Moments, STD_EPSILON, VARIANCE_EPSILON};
use merit_core::{Outcome, Sample};
use std::fmt::Write as _;

/// Reward that falls on a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Payment {
    /// Position in the sample.
    pub token: usize,
    /// How much.
    pub reward: f64,
}

/// Where a sample's advantages come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Derivation {
    /// The outcome does not count: no mask, no credit.
    Excluded(Outcome),
    /// One number for all trainable tokens, from the comparison with the group.
    Group {
        /// The episode's reward.
        reward: f64,
        /// Of the counting members.
        stats: GroupStats,
        /// How they were compared.
        norm: GroupNorm,
    },
    /// Discounted returns, whitened over the batch.
    Returns {
        /// The episode's reward by token.
        payments: Vec<Payment>,
        /// The discount.
        gamma: f64,
        /// Of all trainable tokens of the batch.
        batch: Moments,
    },
    /// Generalized advantage estimates.
    Values {
        /// The episode's reward by token.
        payments: Vec<Payment>,
        /// The discount.
        discount: Discount,
        /// The value after the last trainable token: 0 at a real end, the bootstrap of a truncated episode.
        last_value: f64,
        /// Of all trainable tokens of the batch; absent when advantages are not whitened.
        batch: Option<Moments>,
    },
}

/// The derivation of a sample's advantages in words.
pub(crate) fn explain(sample: &Sample, derivation: &Derivation) -> String {
    let mut text = format!("sample {}, group {}\n", sample.episode, sample.group);
    let trainable = sample.trainable();
    // Writing to a string cannot fail.
    let _ = match derivation {
        Derivation::Excluded(outcome) => writeln!(
            text,
            "outcome {}: does not count, so its mask is empty, its advantage 0, and the group's statistics are without it",
            outcome.name()
        ),
        Derivation::Group { reward, stats, norm } => {
            writeln!(text, "{}", group_line(*reward, stats, *norm, trainable))
        }
        Derivation::Returns { payments, gamma, batch } => {
            let _ = writeln!(text, "{}\n{}", paid_line(payments), batch_line("return", batch));
            explain_returns(&mut text, sample, payments, *gamma)
        }
        Derivation::Values { payments, discount, last_value, batch } => {
            let Discount { gamma, lambda } = discount;
            let _ = writeln!(text, "{}", paid_line(payments));
            let _ = writeln!(text, "gamma {gamma}, lambda {lambda}, value after the last token {last_value}");
            let whitened = batch.as_ref().map(|b| batch_line("advantage", b));
            let _ = writeln!(text, "{}", whitened.unwrap_or_else(|| "not whitened".to_owned()));
            explain_values(&mut text, sample, payments, *discount, *last_value)
        }
    };
    text
}

/// A number as a person reads it: six decimals at most. The numbers themselves stay in the derivation.
fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

fn group_line(reward: f64, stats: &GroupStats, norm: GroupNorm, trainable: usize) -> String {
    let count = stats.count;
    let advantage = short(stats.advantage(reward, norm));
    let [reward, mean, std] = [reward, stats.mean, stats.std].map(short);
    let how = match norm {
        _ if count < 2 => "alone in its group, so there is nothing to compare".to_owned(),
        _ if stats.constant => "all counting members have the same reward up to float noise".to_owned(),
        GroupNorm::MeanStd => format!("({reward} − {mean}) / ({std} + {STD_EPSILON})"),
        GroupNorm::Mean => format!("{reward} − {mean}"),
        GroupNorm::LeaveOneOut => format!("({reward} − {mean}) · {count} / {}", count - 1),
    };
    format!(
        "reward {reward}, {count} counting members, group mean {mean}, group std {std}\nadvantage of each of {trainable} trainable tokens = {advantage}: {how}"
    )
}

fn paid_line(payments: &[Payment]) -> String {
    let paid: Vec<String> = payments.iter().map(|p| format!("{} at token {}", p.reward, p.token)).collect();
    format!("reward paid: {}", if paid.is_empty() { "nowhere".to_owned() } else { paid.join(", ") })
}

fn batch_line(what: &str, batch: &Moments) -> String {
    let (Moments { count, mean, .. }, variance) = (batch, batch.variance());
    if batch.constant() {
        return format!(
            "the {what}s of the batch ({count} tokens) are all {mean}, so that every advantage is 0"
        );
    }
    format!(
        "advantage = ({what} − {mean}) / sqrt({variance} + {VARIANCE_EPSILON}), over {count} tokens of the batch"
    )
}

fn reward_at(payments: &[Payment], token: usize) -> f64 {
    payments.iter().find(|p| p.token == token).map_or(0.0, |p| p.reward)
}

fn trained(sample: &Sample) -> impl DoubleEndedIterator<Item = (usize, f32)> {
    let advantages = sample.advantages.as_deref().unwrap_or(&[]);
    advantages.iter().enumerate().filter(|(at, _)| sample.mask[*at]).map(|(at, a)| (at, *a))
}

fn explain_returns(text: &mut String, sample: &Sample, payments: &[Payment], gamma: f64) -> std::fmt::Result {
    let mut next = 0.0;
    let mut lines = Vec::new();
    for (at, advantage) in trained(sample).rev() {
        let reward = reward_at(payments, at);
        let here = reward + gamma * next;
        lines.push(format!("token {at}: return {here} = {reward} + {gamma} · {next}; advantage {advantage}"));
        next = here;
    }
    lines.iter().rev().try_for_each(|line| writeln!(text, "{line}"))
}

fn explain_values(
    text: &mut String,
    sample: &Sample,
    payments: &[Payment],
    discount: Discount,
    last_value: f64,
) -> std::fmt::Result {
    let (mut next_value, mut next_estimate) = (last_value, 0.0);
    let mut lines = Vec::new();
    for (at, advantage) in trained(sample).rev() {
        let (reward, value) = (reward_at(payments, at), f64::from(sample.values[at]));
        let delta = reward + discount.gamma * next_value - value;
        let estimate = delta + discount.gamma * discount.lambda * next_estimate;
        lines.push(format!(
            "token {at}: delta {delta} = {reward} + {} · {next_value} − {value}; estimate {estimate}; advantage {advantage}",
            discount.gamma
        ));
        (next_value, next_estimate) = (value, estimate);
    }
    lines.iter().rev().try_for_each(|line| writeln!(text, "{line}"))
}
