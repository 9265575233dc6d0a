//! Times the advantage kernels on one thread, on the batch that `benchmarks/peers/verl_advantages.py` times its peer on.
//!
//! Each line is one round of one rule: `{"what":"grpo","rows":1024,"cols":1024,"mask":"prefix","round":0,"ms":1.2,…}`. A round
//! takes token-level rewards (and values) as full matrices and fills full matrices of advantages (and returns), made anew, whitening
//! included where the rule has it. `error` is the largest difference from a plain `f64` computation; the fields `check_*` are
//! those of the peer's script. Arguments: rounds, rows, columns, and `turns` for masks with gaps.
#![allow(clippy::print_stdout)]

use merit_credit::CreditError;
use merit_credit::kernels::{
    Discount, Rows, Valued, gae_whitened, group_advantages, leave_one_out, mean_std, whitened_returns,
};
use std::time::Instant;

const GROUP: usize = 8;
const DISCOUNT: Discount = Discount { gamma: 0.999, lambda: 0.95 };

/// Knuth's MMIX generator; the high 24 bits of each state.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 40
    }

    /// In [0, 1), exact in `f32`.
    fn unit(&mut self) -> f32 {
        self.next() as f32 / (1_u32 << 24) as f32
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
    /// Rows of an eighth of the columns to all of them; the reward on the last trainable token, a value on every token.
    fn new(rows: usize, cols: usize, gaps: bool) -> Self {
        let mut random = Lcg(20_250_101);
        let cells = rows * cols;
        let (mut mask, mut rewards, mut values) =
            (vec![false; cells], vec![0.0; cells], Vec::with_capacity(cells));
        for start in (0..cells).step_by(cols) {
            let shortest = cols / 8;
            let len = shortest + random.next() as usize % (cols - shortest + 1);
            let reward = random.unit();
            values.extend((0..cols).map(|_| random.unit() - 0.5));
            (0..len).for_each(|t| mask[start + t] = !(gaps && (t / 64) % 4 == 3));
            if let Some(last) = mask[start..start + cols].iter().rposition(|&m| m) {
                rewards[start + last] = reward;
            }
        }
        let bounds = (0..=rows).map(|row| row * cols).collect();
        let groups = (0..rows).map(|row| (row / GROUP) as u32).collect();
        Self { cols, bounds, groups, mask, rewards, values }
    }

    fn row(&self, row: usize) -> std::ops::Range<usize> {
        row * self.cols..(row + 1) * self.cols
    }
}

/// Every buffer is made inside, as in a trainer that keeps nothing between batches.
fn grpo(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let mut out = vec![0.0; batch.mask.len()];
    group_advantages(&rows, &row_rewards(&rows, batch), &batch.groups, mean_std, &mut out)?;
    Ok(out)
}

fn rloo(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let mut out = vec![0.0; batch.mask.len()];
    group_advantages(&rows, &row_rewards(&rows, batch), &batch.groups, leave_one_out, &mut out)?;
    Ok(out)
}

/// The peer is given one reward per token, so each row is summed first, in eight running sums that do not wait for each other.
fn row_rewards(rows: &Rows<'_>, batch: &Batch) -> Vec<Option<f64>> {
    let sum = |row: usize| {
        let mut lanes = [0.0_f64; 8];
        let chunks = batch.rewards[rows.range(row)].chunks_exact(8);
        let tail: f64 = chunks.remainder().iter().map(|&x| f64::from(x)).sum();
        for chunk in chunks {
            lanes.iter_mut().zip(chunk).for_each(|(lane, &x)| *lane += f64::from(x));
        }
        Some(lanes.iter().sum::<f64>() + tail)
    };
    (0..rows.len()).map(sum).collect()
}

fn reinforce_plus_plus(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let mut out = vec![0.0; batch.mask.len()];
    whitened_returns(&rows, &batch.rewards, DISCOUNT.gamma, &mut out)?;
    Ok(out)
}

fn gae(batch: &Batch) -> Result<Vec<f32>, CreditError> {
    let rows = Rows::new(&batch.bounds, &batch.mask)?;
    let last_values = vec![0.0; rows.len()];
    let (mut out, mut returns) = (vec![0.0; batch.mask.len()], vec![0.0; batch.mask.len()]);
    let input = Valued { rewards: &batch.rewards, values: &batch.values, last_values: &last_values };
    gae_whitened(&rows, input, DISCOUNT, &mut out, &mut returns)?;
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
    let (words, numbers): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a == "turns");
    let numbers: Vec<usize> = numbers.iter().map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let argument = |at: usize, otherwise: usize| numbers.get(at).copied().unwrap_or(otherwise).max(1);
    let (rounds, rows, cols) = (argument(0, 10), argument(1, 1024), argument(2, 1024));
    let mask = if words.is_empty() { "prefix" } else { "turns" };
    let batch = Batch::new(rows, cols, !words.is_empty());
    let cases: [(&str, Kernel, Vec<f64>); 4] = [
        ("grpo", grpo, plain::group(&batch, false)),
        ("rloo", rloo, plain::group(&batch, true)),
        ("reinforce++", reinforce_plus_plus, plain::whitened(&batch, false)),
        ("gae", gae, plain::whitened(&batch, true)),
    ];
    for round in 0..rounds {
        for (what, kernel, reference) in &cases {
            let start = Instant::now();
            let advantages = kernel(std::hint::black_box(&batch))?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let off = advantages.iter().zip(reference).map(|(&a, r)| (f64::from(a) - r).abs());
            let error = off.fold(0.0, f64::max);
            let size: f64 = advantages.iter().map(|&a| f64::from(a).abs()).sum();
            let first: Vec<f32> = advantages.iter().step_by(cols).take(4).copied().collect();
            println!(
                "{{\"what\":\"{what}\",\"rows\":{rows},\"cols\":{cols},\"mask\":\"{mask}\",\"round\":{round},\"ms\":{ms:.4},\
                 \"error\":{error:e},\"check_abs_sum\":{size},\"check_first\":{first:?}}}"
            );
        }
    }
    Ok(())
}
