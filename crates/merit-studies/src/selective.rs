//! What selective answers are worth: coverage, cost, error detection, calibration.

use crate::conformal::{Answer, Item};
use crate::scores::{auroc, ece};

/// Over one set of items.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Selective {
    /// Share of the answered items whose answer holds the truth.
    pub coverage: f64,
    /// Options per set, over the items answered with a set.
    pub set_size: f64,
    pub single_rate: f64,
    pub abstention_rate: f64,
    /// `(1 − coverage) + 0.3 set size + 0.3 abstention − 0.4 (1 − abstention) − 0.2 H + 0.5 max(0, single − 0.8)`, H the entropy
    /// of the three shares.
    pub cost: f64,
    /// Area under the accuracy-rejection curve, the least confident rejected first; abstention is rejection.
    pub auarc: f64,
    /// The same area as the published code has it: abstentions count as correct where the rule may abstain, and correct sets
    /// count only as much as their confidence where it may not.
    pub auarc_published: f64,
    /// How well the confidence tells right from wrong among the answered.
    pub auroc: f64,
    /// Expected calibration error of the answered, 15 bins.
    pub ece: f64,
}

impl Selective {
    pub fn of(items: &[Item], answers: &[Answer], may_abstain: bool) -> Self {
        let n = items.len() as f64;
        let share =
            |kind: fn(&Answer) -> bool| answers.iter().filter(|answer| kind(answer)).count() as f64 / n;
        let single = share(|answer| matches!(answer, Answer::Single(_)));
        let set = share(|answer| matches!(answer, Answer::Set(_)));
        let abstained = share(|answer| matches!(answer, Answer::Abstain));
        let sizes: u32 =
            answers.iter().map(|a| if let Answer::Set(mask) = a { mask.count_ones() } else { 0 }).sum();
        let set_size = if set > 0.0 { f64::from(sizes) / (set * n) } else { 0.0 };

        let mut answered: Vec<(f64, bool)> =
            items.iter().zip(answers).filter_map(|(item, answer)| confidence(item, *answer)).collect();
        answered.sort_by(|a, b| b.0.total_cmp(&a.0));
        let right = answered.iter().filter(|(_, right)| *right).count() as f64;
        let coverage = if answered.is_empty() { 0.0 } else { right / answered.len() as f64 };
        let plain: Vec<f64> = answered.iter().map(|(_, right)| f64::from(u8::from(*right))).collect();
        let published: Vec<f64> = if may_abstain {
            let free = std::iter::repeat_n(1.0, items.len() - answered.len());
            plain.iter().copied().chain(free).collect()
        } else {
            answered.iter().map(|(sure, right)| if *right { *sure } else { 0.0 }).collect()
        };

        let entropy = -[single, set, abstained].iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>();
        let cost =
            (1.0 - coverage) + 0.3 * set_size + 0.3 * abstained - 0.4 * (1.0 - abstained) - 0.2 * entropy
                + 0.5 * (single - 0.8).max(0.0);
        Self {
            coverage,
            set_size,
            single_rate: single,
            abstention_rate: abstained,
            cost,
            auarc: auarc(&plain, items.len()),
            auarc_published: auarc(&published, items.len()),
            auroc: auroc(&answered),
            ece: ece(&answered, 15),
        }
    }

    /// The mean of every number over several draws.
    pub fn mean(draws: impl Iterator<Item = Self>) -> Self {
        let (mut sum, mut count) = ([0.0; 9], 0.0);
        for draw in draws {
            count += 1.0;
            draw.named().iter().zip(&mut sum).for_each(|((_, value), sum)| *sum += value);
        }
        let [coverage, set_size, single_rate, abstention_rate, cost, auarc, auarc_published, auroc, ece] =
            sum.map(|sum| sum / f64::max(count, 1.0));
        Self { coverage, set_size, single_rate, abstention_rate, cost, auarc, auarc_published, auroc, ece }
    }

    /// By name, for a desk.
    pub fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("coverage", self.coverage),
            ("set_size", self.set_size),
            ("single_rate", self.single_rate),
            ("abstention_rate", self.abstention_rate),
            ("cost", self.cost),
            ("auarc", self.auarc),
            ("auarc_published", self.auarc_published),
            ("auroc", self.auroc),
            ("ece", self.ece),
        ]
    }
}

/// The greatest probability inside the answer, and whether the answer holds the truth; `None` for abstention.
fn confidence(item: &Item, answer: Answer) -> Option<(f64, bool)> {
    let mask = match answer {
        Answer::Single(option) => 1 << option,
        Answer::Set(mask) => mask,
        Answer::Abstain => return None,
    };
    let inside = item.probs.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, p)| *p);
    Some((inside.fold(0.0, f64::max), mask >> item.truth & 1 == 1))
}

/// The mean, over how many of the n items one would answer, of the accuracy of the most confident of them. Where fewer are
/// answered, the accuracy of all that are.
pub fn auarc(correct_by_confidence: &[f64], n: usize) -> f64 {
    let (mut sum, mut area, mut last) = (0.0, 0.0, 0.0);
    for at in 0..n {
        if let Some(correct) = correct_by_confidence.get(at) {
            sum += correct;
            last = sum / (at + 1) as f64;
        }
        area += last;
    }
    area / n.max(1) as f64
}
