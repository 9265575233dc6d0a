//! Cuts of a distribution: the likeliest k tokens, the likeliest with a given mass.
//!
//! Weights are counted into buckets by their leading bits; only the bucket in which the cut falls is sorted, so that a
//! vocabulary of many thousands is walked, never sorted.

/// Weights in a bucket agree in sign, exponent and the first three bits of the fraction.
const SHIFT: u32 = 20;
/// Weights are at most 1.
const BUCKETS: usize = (1.0_f32.to_bits() >> SHIFT) as usize + 1;
/// A bucket of more members is cut into finer ones, by the next ten bits.
const WORTH_REFINING: usize = 256;
const FINER_SHIFT: u32 = SHIFT - 10;

/// Scratch of a cut.
#[derive(Debug, Default)]
pub(crate) struct CutSpace {
    buckets: Vec<Bucket>,
    members: Vec<u32>,
}

/// How many weights are in a bucket, and what they sum to.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    count: usize,
    mass: f64,
}

impl CutSpace {
    /// Zeroes all but the `k` largest weights; of equals the first are kept.
    pub(crate) fn keep_count(&mut self, weights: &mut [f32], k: usize) {
        self.count(weights.iter().copied(), coarse);
        self.keep(weights, |count, _| count >= k);
    }

    /// Zeroes everything outside the smallest set of largest weights that reaches `share` of the whole.
    pub(crate) fn keep_mass(&mut self, weights: &mut [f32], share: f32) {
        self.count(weights.iter().copied(), coarse);
        let goal = self.buckets.iter().map(|bucket| bucket.mass).sum::<f64>() * f64::from(share);
        self.keep(weights, |_, mass| mass >= goal);
    }

    fn count(&mut self, weights: impl Iterator<Item = f32>, bucket: impl Fn(f32) -> usize) {
        self.buckets.clear();
        self.buckets.resize(BUCKETS.max(1024), Bucket::default());
        for weight in weights.filter(|&weight| weight > 0.0) {
            let bucket = &mut self.buckets[bucket(weight)];
            bucket.count += 1;
            bucket.mass += f64::from(weight);
        }
    }

    /// The bucket at whose end enough is kept, after adding those above it to `kept`.
    fn find(&self, kept: &mut Bucket, enough: impl Fn(usize, f64) -> bool) -> Option<usize> {
        (0..self.buckets.len()).rev().find(|&bucket| {
            let Bucket { count, mass } = self.buckets[bucket];
            let more = Bucket { count: kept.count + count, mass: kept.mass + mass };
            let reached = enough(more.count, more.mass);
            if !reached {
                *kept = more;
            }
            reached
        })
    }

    /// Keeps the largest weights, one after the other, until their number and mass are `enough`.
    fn keep(&mut self, weights: &mut [f32], enough: impl Fn(usize, f64) -> bool) {
        let mut kept = Bucket::default();
        let Some(cut) = self.find(&mut kept, &enough) else { return };
        self.members.clear();
        let inside = |&i: &u32| weights[i as usize] > 0.0 && coarse(weights[i as usize]) == cut;
        self.members.extend((0..weights.len() as u32).filter(inside));
        if self.members.len() > WORTH_REFINING {
            self.refine(weights, &mut kept, &enough);
        }
        let order = |a: &u32, b: &u32| weights[*b as usize].total_cmp(&weights[*a as usize]).then(a.cmp(b));
        self.members.sort_unstable_by(order);
        let mut reached = |&&i: &&u32| {
            kept.count += 1;
            kept.mass += f64::from(weights[i as usize]);
            enough(kept.count, kept.mass)
        };
        // Sums in another order may end a hair below: then all members are kept.
        let last = self.members.iter().find(&mut reached).or(self.members.last());
        let Some(last) = last.map(|&i| (weights[i as usize], i)) else { return };
        for (i, weight) in (0..).zip(weights.iter_mut()) {
            if *weight < last.0 || (*weight == last.0 && i > last.1) {
                *weight = 0.0;
            }
        }
    }

    /// Leaves only those members among which the cut falls.
    fn refine(&mut self, weights: &[f32], kept: &mut Bucket, enough: impl Fn(usize, f64) -> bool) {
        let members = std::mem::take(&mut self.members);
        self.count(members.iter().map(|&i| weights[i as usize]), fine);
        let least = self.buckets.iter().position(|bucket| bucket.count > 0).unwrap_or(0);
        let before = *kept;
        let cut = self.find(kept, enough).unwrap_or_else(|| {
            // As above: the members together were enough, so the cut falls among the least.
            let above = self.buckets[least + 1..].iter();
            *kept = above.fold(before, |sum, more| Bucket {
                count: sum.count + more.count,
                mass: sum.mass + more.mass,
            });
            least
        });
        self.members = members;
        self.members.retain(|&i| fine(weights[i as usize]) == cut);
    }
}

/// Larger weights never lie in a smaller bucket.
fn coarse(weight: f32) -> usize {
    ((weight.to_bits() >> SHIFT) as usize).min(BUCKETS - 1)
}

/// Nor do they inside one coarse bucket.
fn fine(weight: f32) -> usize {
    (weight.to_bits() >> FINER_SHIFT) as usize & 1023
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Seed;

    /// The definition: sort everything.
    fn sorted(weights: &[f32], enough: impl Fn(usize, f64) -> bool) -> Vec<f32> {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let (mut kept, mut mass) = (vec![0.0; weights.len()], 0.0);
        for (count, i) in order.into_iter().enumerate() {
            kept[i] = weights[i];
            mass += f64::from(weights[i]);
            if enough(count + 1, mass) {
                break;
            }
        }
        kept
    }

    #[test]
    fn cuts_keep_what_sorting_everything_would_keep() {
        let mut stream = Seed::root(4).stream();
        for spread in [0.0, 0.3, 3.0, 12.0] {
            let logits: Vec<f64> = (0..3000).map(|_| spread * stream.normal()).collect();
            let most = logits.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f32> = logits.iter().map(|x| (x - most).exp() as f32).collect();
            for k in [1, 2, 40, 2999, 3000, 5000] {
                let mut got = weights.clone();
                CutSpace::default().keep_count(&mut got, k);
                assert_eq!(got, sorted(&weights, |count, _| count >= k), "{k} of spread {spread}");
            }
            let total: f64 = weights.iter().map(|&x| f64::from(x)).sum();
            for share in [0.01_f32, 0.5, 0.9001, 0.99] {
                let mut got = weights.clone();
                CutSpace::default().keep_mass(&mut got, share);
                let want = sorted(&weights, |_, mass| mass >= total * f64::from(share));
                assert_eq!(got, want, "{share} of spread {spread}");
            }
        }
    }
}
