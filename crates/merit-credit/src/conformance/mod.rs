//! What must hold for every credit rule, as checks that anybody can run on their own.
//!
//! [`check_rule`] runs a rule over seeded batches of [`Sketch`]es, ragged and with every outcome among them, and returns
//! every violation in words; empty means that the rules hold.

mod sketch;

pub use sketch::Sketch;

use crate::{Baseline, Credit, Rule};
use merit_core::{Group, Outcome, Sample, ScoredEpisode, Seed, Stream, conformance::check_sample};

const BATCHES: u64 = 12;

/// Every violation found, in words.
pub fn check_rule(rule: &dyn Rule) -> Vec<String> {
    let mut found = Vec::new();
    for batch in 0..BATCHES {
        let mut stream = Seed::root(0).child("batch", batch).stream();
        let sketches = random_batch(&mut stream);
        match check_batch(rule, &sketches) {
            Ok(violations) => found.extend(violations.into_iter().map(|v| format!("batch {batch}: {v}"))),
            Err(error) => found.push(format!("batch {batch}: {error}")),
        }
    }
    found.extend(check_nothing_to_compare(rule).unwrap_or_else(|error| vec![error.to_string()]));
    found
}

fn check_batch(rule: &dyn Rule, sketches: &[Vec<Sketch>]) -> Result<Vec<String>, crate::CreditError> {
    let groups = assemble(sketches);
    let credit = rule.assign(&groups)?;
    let mut found = check_shape(&groups, &credit);
    if !found.is_empty() {
        return Ok(found);
    }
    found.extend(check_sums(rule.baseline(), groups.len(), &credit.samples));
    if streams(&credit) != streams(&rule.assign(&groups)?) {
        found.push("the same groups got two different credits".to_owned());
    }
    let counting: Vec<Vec<Sketch>> = sketches.iter().map(|g| only_counting(g)).collect();
    let without = rule.assign(&assemble(&counting))?;
    if trained(&credit) != trained(&without) {
        found.push("episodes that do not count moved the credit of their siblings".to_owned());
    }
    found.extend(check_permuted(rule, sketches, &credit)?);
    Ok(found)
}

fn check_shape(groups: &[Group], credit: &Credit) -> Vec<String> {
    let members: Vec<&ScoredEpisode> = groups.iter().flat_map(Group::members).collect();
    if credit.samples.len() != members.len() {
        return vec![format!("{} samples for {} episodes", credit.samples.len(), members.len())];
    }
    let mut found = Vec::new();
    for (at, (scored, sample)) in members.into_iter().zip(&credit.samples).enumerate() {
        found.extend(check_sample(scored, sample));
        if sample.episode != scored.episode.id {
            found.push(format!("sample {at} is of episode {}, not {}", sample.episode, scored.episode.id));
        }
        if sample.advantages.is_none() {
            found.push(format!("sample {} has no advantages", sample.episode));
        }
        if sample.returns.as_ref().is_some_and(|r| r.len() != sample.tokens.len()) {
            found.push(format!("sample {} has returns of another length", sample.episode));
        }
        if credit.explain(at).is_none_or(|text| text.is_empty()) {
            found.push(format!("sample {} is not explained", sample.episode));
        }
    }
    found
}

fn check_sums(baseline: Baseline, groups: usize, samples: &[Sample]) -> Vec<String> {
    let close = |sum: f64, size: f64| sum.abs() <= 1e-5 * (1.0 + size);
    let totals =
        |numbers: Vec<f64>| (numbers.iter().sum::<f64>(), numbers.iter().map(|a| a.abs()).sum::<f64>());
    match baseline {
        Baseline::Value => Vec::new(),
        Baseline::Batch => {
            let (sum, size) = totals(samples.iter().flat_map(credits).collect());
            let bad = !close(sum, size);
            bad.then(|| format!("the advantages of the batch sum to {sum}")).into_iter().collect()
        }
        Baseline::Group => (0..groups)
            .filter_map(|group| {
                let members = samples.iter().filter(|s| s.group == group);
                let (sum, size) = totals(members.filter_map(|s| credits(s).next()).collect());
                (!close(sum, size)).then(|| format!("the advantages of group {group} sum to {sum}"))
            })
            .collect(),
    }
}

/// Reversing the members of every group reverses their credit.
fn check_permuted(
    rule: &dyn Rule,
    sketches: &[Vec<Sketch>],
    credit: &Credit,
) -> Result<Vec<String>, crate::CreditError> {
    let reversed: Vec<Vec<Sketch>> =
        sketches.iter().map(|group| group.iter().rev().cloned().collect()).collect();
    let mirrored = rule.assign(&assemble(&reversed))?;
    let mut found = Vec::new();
    let mut start = 0;
    for group in sketches {
        for member in 0..group.len() {
            let (here, there) = (start + member, start + group.len() - 1 - member);
            let pairs = credits(&credit.samples[here]).zip(credits(&mirrored.samples[there]));
            if pairs.into_iter().any(|(a, b)| (a - b).abs() > 1e-5 * (1.0 + a.abs())) {
                found.push(format!(
                    "permuting the group changed the credit of {}",
                    credit.samples[here].episode
                ));
            }
        }
        start += group.len();
    }
    Ok(found)
}

/// Groups without a difference teach nothing, up to float noise: 0.1 + 0.2 is 0.3.
fn check_nothing_to_compare(rule: &dyn Rule) -> Result<Vec<String>, crate::CreditError> {
    if rule.baseline() != Baseline::Group {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let noisy = [0.3, 0.1 + 0.2, 0.3].map(|reward| Sketch::new(&[(3, 1)], Outcome::PolicyWrong, reward));
    for (what, group) in [("constant", noisy.to_vec()), ("lone", noisy[..1].to_vec())] {
        let credit = rule.assign(&assemble(&[group]))?;
        if credit.samples.iter().flat_map(credits).any(|a| a != 0.0) {
            found.push(format!("a {what} group got credit that is not 0"));
        }
        if credit.report.constant_groups != 1 {
            found.push(format!("a {what} group is not counted as constant"));
        }
    }
    Ok(found)
}

fn assemble(sketches: &[Vec<Sketch>]) -> Vec<Group> {
    let groups = sketches.iter().enumerate().map(|(group, members)| Sketch::group(members, group as u32));
    groups.filter_map(Result::ok).collect()
}

fn only_counting(group: &[Sketch]) -> Vec<Sketch> {
    group.iter().filter(|s| s.outcome.counts()).cloned().collect()
}

/// Advantages of the trainable tokens.
fn credits(sample: &Sample) -> impl Iterator<Item = f64> {
    let advantages = sample.advantages.as_deref().unwrap_or(&[]);
    advantages.iter().zip(&sample.mask).filter(|(_, m)| **m).map(|(a, _)| f64::from(*a))
}

fn trained(credit: &Credit) -> Vec<Vec<f64>> {
    credit.samples.iter().map(|s| credits(s).collect()).filter(|c: &Vec<f64>| !c.is_empty()).collect()
}

/// Advantages and returns of a sample, where it has them.
type Streams<'a> = (Option<&'a [f32]>, Option<&'a [f32]>);

fn streams(credit: &Credit) -> Vec<Streams<'_>> {
    credit.samples.iter().map(|s| (s.advantages.as_deref(), s.returns.as_deref())).collect()
}

fn random_batch(stream: &mut Stream) -> Vec<Vec<Sketch>> {
    (0..stream.between(1, 4)).map(|_| (0..stream.between(1, 6)).map(|_| random(stream)).collect()).collect()
}

fn random(stream: &mut Stream) -> Sketch {
    let outcome = Outcome::ALL[stream.below(Outcome::ALL.len() as u64) as usize];
    // The first turn writes something, so that the episode's advantage can be read off a token; later turns need not.
    let turns: Vec<(usize, usize)> = (0..stream.between(1, 3))
        .map(|turn| (usize::from(turn == 0) + stream.below(5) as usize, stream.below(4) as usize))
        .collect();
    let mut sketch = Sketch::new(&turns, outcome, stream.normal());
    sketch.values.iter_mut().for_each(|v| *v = stream.normal() as f32);
    sketch.bootstrap = (outcome == Outcome::PolicyTimedOut).then(|| stream.normal() as f32);
    sketch
}
