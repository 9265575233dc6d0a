//! Generalized advantage estimation (Schulman et al., arXiv:1506.02438); the recursion is [`super::backwards`]'s.
//!
//! After the last trainable entry the value is the row's last value: 0 for a real end, the bootstrap for a truncated row.

use super::backwards::Backwards;
use super::{Moments, Rows, same_len};
use crate::CreditError;

/// The two factors of the estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discount {
    /// How much the next token's value counts.
    pub gamma: f64,
    /// How far the sum looks ahead: 0 is one step, 1 is to the end.
    pub lambda: f64,
}

/// What advantages are estimated from: `rewards` and `values` have one entry per stream entry, `last_values` one per row.
#[derive(Debug, Clone, Copy)]
pub struct Valued<'a, R> {
    /// The reward of each entry.
    pub rewards: &'a [R],
    /// The value before each entry.
    pub values: &'a [f32],
    /// The value after each row.
    pub last_values: &'a [f64],
}

/// Writes advantages and returns (advantage + value), with 0 on entries that are not trainable.
pub fn gae<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    input: Valued<'_, R>,
    discount: Discount,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<(), CreditError> {
    check(rows, &input, advantages, returns)?;
    advantages.fill(0.0);
    returns.fill(0.0);
    recursion(rows, input, discount).each(|at, advantage, value| {
        advantages[at] = advantage as f32;
        returns[at] = (advantage + value) as f32;
    });
    Ok(())
}

/// The same with the advantages whitened over all trainable entries; returns stay as earned.
pub fn gae_whitened<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    input: Valued<'_, R>,
    discount: Discount,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<Moments, CreditError> {
    check(rows, &input, advantages, returns)?;
    advantages.fill(0.0);
    returns.fill(0.0);
    let recursion = recursion(rows, input, discount);
    let moments = recursion.moments(|at, advantage, value| returns[at] = (advantage + value) as f32);
    let whitener = moments.whitener();
    recursion.each(|at, advantage, _| advantages[at] = whitener.of(advantage));
    Ok(moments)
}

fn check<R>(
    rows: &Rows<'_>,
    input: &Valued<'_, R>,
    advantages: &[f32],
    returns: &[f32],
) -> Result<(), CreditError> {
    let want = rows.mask().len();
    same_len("rewards", input.rewards.len(), want)?;
    same_len("values", input.values.len(), want)?;
    same_len("last_values", input.last_values.len(), rows.len())?;
    same_len("advantages", advantages.len(), want)?;
    same_len("returns", returns.len(), want)
}

fn recursion<'a, R: Copy + Into<f64>>(
    rows: &'a Rows<'a>,
    input: Valued<'a, R>,
    discount: Discount,
) -> Backwards<'a, impl Fn(usize) -> f64, impl Fn(usize) -> f64, impl Fn(usize) -> f64> {
    Backwards {
        rows,
        reward: move |at: usize| input.rewards[at].into(),
        value: move |at: usize| f64::from(input.values[at]),
        last_value: move |row: usize| input.last_values[row],
        gamma: discount.gamma,
        lambda: discount.lambda,
    }
}
