//! Times the advantage kernels on one thread: a batch of 1,024 rows of 1,024 columns, ragged, in groups of 8.
//!
//! Each line is one round of one rule: `{"what":"grpo","rows":1024,"cols":1024,"round":0,"ms":1.23,"error":1e-8}`. A round takes
//! token-level rewards (and values) as full matrices and fills full matrices of advantages (and returns), whitening included
//! where the rule has it; `error` is the largest difference from a plain `f64` computation. Arguments: rounds, rows, columns.
#![allow(clippy::print_stdout)]

use merit_credit::CreditError;
use merit_credit::kernels::{
    Discount, Rows, discounted_returns, gae, grpo_advantages, rloo_advantages, row_sums, whiten,
};
use std::time::Instant;

const GROUP: usize = 8;
const DISCOUNT: Discount = Discount { gamma: 0.99, lambda: 0.95 };

/// Knuth's MMIX generator; the high 53 bits of each state as a number in [0, 1).
struct Lcg(u64);

impl Lcg {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

struct Batch {
    cols: usize,
    bounds: Vec<usize>,
    groups: Vec<u32>,
    mask: Vec<bool>,
    rewards: Vec<f32>,
    values: Vec<f32>,
}

impl Batch {
    /// Row lengths from a quarter of the columns to all of them; one reward in {0, 1} plus a little noise on the last token of
    /// each row; a value on every token.
    fn new(rows: usize, cols: usize) -> Self {
        let mut random = Lcg(42);
        let cells = rows * cols;
        let (mut mask, mut rewards) = (vec![false; cells], vec![0.0; cells]);
        for row in 0..rows {
            let shortest = (cols / 4).max(1);
            let len = shortest + (random.unit() * (cols - shortest + 1) as f64) as usize;
            mask[row * cols..row * cols + len].fill(true);
            let right = f64::from(u8::from(random.unit() < 0.5));
            rewards[row * cols + len - 1] = (right + 0.1 * random.unit()) as f32;
        }
        let values = (0..cells).map(|_| random.unit() as f32).collect();
        let bounds = (0..=rows).map(|row| row * cols).collect();
        let groups = (0..rows).map(|row| (row / GROUP) as u32).collect();
        Self { cols, bounds, groups, mask, rewards, values }
    }

    fn row(&self, row: usize) -> std::ops::Range<usize> {
        row * self.cols..(row + 1) * self.cols
    }
}

/// Every buffer is made inside, as a trainer that keeps nothing between batches would.
fn grpo(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let mut out = vec![0.0; batch.mask.len()];
    grpo_advantages(&rows, &row_rewards(&rows, batch)?, &batch.groups, true, &mut out)?;
    Ok(out)
}

fn rloo(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let mut out = vec![0.0; batch.mask.len()];
    rloo_advantages(&rows, &row_rewards(&rows, batch)?, &batch.groups, &mut out)?;
    Ok(out)
}

fn row_rewards(rows: &Rows<'_>, batch: &Batch) -> Result<Vec<Option<f64>>, CreditError> {
    let mut sums = vec![0.0; rows.len()];
    row_sums(rows, &batch.rewards, &mut sums)?;
    Ok(sums.into_iter().map(Some).collect())
}

fn reinforce_plus_plus(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let mut returns = vec![0.0; batch.mask.len()];
    discounted_returns(&rows, &batch.rewards, DISCOUNT.gamma, &mut returns)?;
    let mut out = vec![0.0; batch.mask.len()];
    whiten(&returns, &batch.mask, &mut out)?;
    Ok(out)
}

fn gae_whitened(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let (mut estimates, mut returns) = (vec![0.0; batch.mask.len()], vec![0.0; batch.mask.len()]);
    let ends = vec![0.0; rows.len()];
    gae(&rows, &batch.rewards, &batch.values, &ends, DISCOUNT, &mut estimates, &mut returns)?;
    let mut out = vec![0.0; batch.mask.len()];
    whiten(&estimates, &batch.mask, &mut out)?;
    std::hint::black_box(&returns);
    Ok(out)
}

/// The same numbers the slow way, all in `f64`.
mod plain {
    use super::{Batch, DISCOUNT, GROUP};

    pub(super) fn group(batch: &Batch, leave_one_out: bool) -> Vec<f64> {
        let rows = batch.groups.len();
        let sums: Vec<f64> =
            (0..rows).map(|row| batch.rewards[batch.row(row)].iter().map(|&r| f64::from(r)).sum()).collect();
        let mut out = vec![0.0; batch.mask.len()];
        for row in 0..rows {
            let first = row / GROUP * GROUP;
            let members = &sums[first..(first + GROUP).min(rows)];
            let n = members.len() as f64;
            let mean = members.iter().sum::<f64>() / n;
            let std = (members.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
            let others = (members.iter().sum::<f64>() - sums[row]) / (n - 1.0);
            let advantage =
                if leave_one_out { sums[row] - others } else { (sums[row] - mean) / (std + 1e-6) };
            batch.row(row).filter(|&at| batch.mask[at]).for_each(|at| out[at] = advantage);
        }
        out
    }

    pub(super) fn whitened(batch: &Batch, with_values: bool) -> Vec<f64> {
        let mut out = vec![0.0; batch.mask.len()];
        for row in 0..batch.groups.len() {
            let (mut value, mut carried) = (0.0, 0.0);
            for at in batch.row(row).rev().filter(|&at| batch.mask[at]) {
                let (reward, here) = (f64::from(batch.rewards[at]), f64::from(batch.values[at]));
                carried = if with_values {
                    reward + DISCOUNT.gamma * value - here + DISCOUNT.gamma * DISCOUNT.lambda * carried
                } else {
                    reward + DISCOUNT.gamma * carried
                };
                value = here;
                out[at] = carried;
            }
        }
        let trained: Vec<f64> = out.iter().zip(&batch.mask).filter(|(_, m)| **m).map(|(x, _)| *x).collect();
        let n = trained.len() as f64;
        let mean = trained.iter().sum::<f64>() / n;
        let variance = trained.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let white = |x: f64| (x - mean) / (variance + 1e-8).sqrt();
        out.iter().zip(&batch.mask).map(|(&x, &m)| if m { white(x) } else { 0.0 }).collect()
    }
}

type Kernel = fn(&Batch) -> Result<Vec<f32>, CreditError>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let argument = |at: usize, otherwise: usize| numbers.get(at).copied().unwrap_or(otherwise).max(1);
    let (rounds, rows, cols) = (argument(0, 10), argument(1, 1024), argument(2, 1024));
    let batch = Batch::new(rows, cols);
    let cases: [(&str, Kernel, Vec<f64>); 4] = [
        ("grpo", grpo, plain::group(&batch, false)),
        ("rloo", rloo, plain::group(&batch, true)),
        ("reinforce-plus-plus", reinforce_plus_plus, plain::whitened(&batch, false)),
        ("gae", gae_whitened, plain::whitened(&batch, true)),
    ];
    for round in 0..rounds {
        for (what, kernel, reference) in &cases {
            let start = Instant::now();
            let advantages = kernel(std::hint::black_box(&batch))?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let off = advantages.iter().zip(reference).map(|(&a, r)| (f64::from(a) - r).abs());
            let error = off.fold(0.0, f64::max);
            println!(
                "{{\"what\":\"{what}\",\"rows\":{rows},\"cols\":{cols},\"round\":{round},\"ms\":{ms:.4},\"error\":{error:e}}}"
            );
        }
    }
    Ok(())
}
