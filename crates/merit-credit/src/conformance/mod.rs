//! What must hold for every credit rule, as checks that anybody can run on their own.
//!
//! [`check_rule`] runs a rule over seeded batches of [`Sketch`]es, ragged and with every outcome among them, and returns
//! every violation in words; empty means that the rules hold.

mod sketch;

pub use sketch::Sketch;

use crate::{Baseline, Credit, CreditBatch, CreditError, CreditRule, Probe};
use merit_core::{Group, Outcome, Sample, ScoredEpisode, Seed, Stream, conformance::check_sample};

const BATCHES: u64 = 12;

/// Every violation found, in words.
///
/// ```
/// use merit_core::{Chosen, Components};
/// use merit_credit::{CreditRule, conformance::check_rule};
/// let components = merit_credit::register(Components::default());
/// let rule: Chosen<dyn CreditRule> = components.reading(|| toml::from_str("type = \"rloo\""))?;
/// assert!(check_rule(&*rule).is_empty());
/// # Ok::<(), toml::de::Error>(())
/// ```
pub fn check_rule(rule: &dyn CreditRule) -> Vec<String> {
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
    found.extend(check_turns(rule).unwrap_or_else(|error| vec![error.to_string()]));
    found.extend(check_levels(rule).unwrap_or_else(|error| vec![error.to_string()]));
    found
}

/// What the rule says of `sketches`, with the continuations it needs.
fn assign(rule: &dyn CreditRule, sketches: &[Vec<Sketch>]) -> Result<(Vec<Group>, Credit), CreditError> {
    let groups = assemble(sketches);
    let probes = probes(sketches, rule.needs().probes_per_turn);
    let credit = rule.assign(&CreditBatch::new(&groups).with_probes(&probes))?;
    Ok((groups, credit))
}

fn check_batch(rule: &dyn CreditRule, sketches: &[Vec<Sketch>]) -> Result<Vec<String>, CreditError> {
    let (groups, credit) = assign(rule, sketches)?;
    let mut found = check_shape(&groups, &credit);
    if !found.is_empty() {
        return Ok(found);
    }
    found.extend(check_grain(rule.baseline(), &credit.samples));
    found.extend(check_sums(rule.baseline(), groups.len(), &credit.samples));
    if streams(&credit) != streams(&assign(rule, sketches)?.1) {
        found.push("the same groups got two different credits".to_owned());
    }
    let valid: Vec<Vec<Sketch>> = sketches.iter().map(|g| that_count(g, rule.trains_left())).collect();
    let (_, without) = assign(rule, &valid)?;
    if trained(&credit) != trained(&without) {
        found.push("episodes whose outcome is not valid moved the credit of their siblings".to_owned());
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

/// A rule that compares episodes writes one number per episode, one that compares turns one number per turn.
fn check_grain(baseline: Baseline, samples: &[Sample]) -> Vec<String> {
    let mixed = |sample: &&Sample| match baseline {
        Baseline::Group | Baseline::GroupInBatch => !all_equal(credits(sample)),
        Baseline::Turn | Baseline::Levels | Baseline::Items | Baseline::Tree => {
            sample.turns.iter().any(|range| !all_equal(credits_in(sample, range.clone())))
        }
        Baseline::Batch | Baseline::Value => false,
    };
    let whole = matches!(baseline, Baseline::Group | Baseline::GroupInBatch);
    let unit = if whole { "episode" } else { "turn" };
    let words = |sample: &Sample| format!("{} carries several advantages within one {unit}", sample.episode);
    samples.iter().filter(mixed).map(words).collect()
}

fn all_equal(numbers: impl Iterator<Item = f64>) -> bool {
    let numbers: Vec<f64> = numbers.collect();
    numbers.windows(2).all(|pair| pair[0] == pair[1])
}

fn check_sums(baseline: Baseline, groups: usize, samples: &[Sample]) -> Vec<String> {
    let close = |sum: f64, size: f64| sum.abs() <= 1e-5 * (1.0 + size);
    let totals =
        |numbers: Vec<f64>| (numbers.iter().sum::<f64>(), numbers.iter().map(|a| a.abs()).sum::<f64>());
    match baseline {
        Baseline::Value | Baseline::Turn | Baseline::Levels | Baseline::Items | Baseline::Tree => Vec::new(),
        Baseline::Batch | Baseline::GroupInBatch => {
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
    rule: &dyn CreditRule,
    sketches: &[Vec<Sketch>],
    credit: &Credit,
) -> Result<Vec<String>, CreditError> {
    let reversed: Vec<Vec<Sketch>> =
        sketches.iter().map(|group| group.iter().rev().cloned().collect()).collect();
    let (_, mirrored) = assign(rule, &reversed)?;
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

/// Groups without a difference teach nothing, up to float noise (0.1 + 0.2 is 0.3), also where the reward is paid over several
/// turns.
fn check_nothing_to_compare(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    if !rule.baseline().compares_members() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let rewards = [0.3, 0.1 + 0.2, 0.3, 0.3];
    let short = rewards.map(|reward| Sketch::new(&[(3, 1)], Outcome::PolicyWrong, reward));
    let long = rewards.map(|reward| {
        let sketch = Sketch::new(&[(2, 1), (0, 1), (3, 0)], Outcome::PolicyWrong, 2.0 * reward);
        Sketch { turn_rewards: vec![reward, 0.0, reward], ..sketch }
    });
    let mut cases = vec![("constant", short.to_vec()), ("lone", short[..1].to_vec())];
    // The turns of an episode may differ from each other where they are compared with all turns of the group.
    if rule.baseline() != Baseline::Levels {
        cases.push(("constant long", long.to_vec()));
    }
    for (what, group) in cases {
        let (_, credit) = assign(rule, &[group])?;
        if credit.samples.iter().flat_map(credits).any(|a| a != 0.0) {
            found.push(format!("a {what} group got credit that is not 0"));
        }
        if credit.report.constant_groups != 1 {
            found.push(format!("a {what} group is not counted as constant"));
        }
    }
    Ok(found)
}

/// A rule that compares turns tells the turns apart: in a group whose members differ at one turn only, the others get 0 and
/// that one sums to 0.
fn check_turns(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    if rule.baseline() != Baseline::Turn {
        return Ok(Vec::new());
    }
    let members = (0..6).map(|member| {
        let reward = f64::from(member % 3);
        let sketch = Sketch::new(&[(2, 1), (3, 2), (1, 0)], Outcome::PolicyWrong, 1.0 + reward);
        Sketch { turn_rewards: vec![0.5, reward, 0.5], ..sketch }
    });
    let (_, credit) = assign(rule, &[members.collect()])?;
    let at = |turn: usize| {
        let of =
            move |sample: &Sample| credits_in(sample, sample.turns[turn].clone()).next().unwrap_or(f64::NAN);
        credit.samples.iter().map(of).collect::<Vec<f64>>()
    };
    let mut found = Vec::new();
    if at(0).iter().chain(&at(2)).any(|a| *a != 0.0) {
        found.push("a turn at which all members earn the same got credit that is not 0".to_owned());
    }
    let (sum, size) = (at(1).iter().sum::<f64>(), at(1).iter().map(|a| a.abs()).sum::<f64>());
    if !(size > 0.0 && sum.abs() <= 1e-5 * (1.0 + size)) {
        found.push(format!("a turn at which members differ got advantages of sum {sum} and size {size}"));
    }
    Ok(found)
}

/// A rule of two levels keeps them apart: pay that is the same at every turn leaves one number per episode, outcomes that are the same
/// leave what the turns were paid, and in both the turns of the group sum to 0.
fn check_levels(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    if rule.baseline() != Baseline::Levels {
        return Ok(Vec::new());
    }
    let group = |outcome: fn(u32) -> f64, paid: fn(u32) -> f64| {
        (0..4).map(move |member| {
            let turn_rewards = vec![0.5, 0.5 + paid(member), 0.5];
            let reward = outcome(member) + turn_rewards.iter().sum::<f64>();
            let sketch = Sketch::new(&[(2, 1), (3, 2), (1, 0)], Outcome::PolicyWrong, reward);
            Sketch { turn_rewards, ..sketch }
        })
    };
    let mut found = Vec::new();
    let cases: [(&str, Vec<Sketch>); 2] = [
        ("only outcomes differ", group(f64::from, |_| 0.0).collect()),
        ("only pay differs", group(|_| 1.0, f64::from).collect()),
    ];
    for (what, group) in cases {
        let (_, credit) = assign(rule, &[group])?;
        let of_turns = |sample: &Sample| -> Vec<f64> {
            sample.turns.iter().filter_map(|range| credits_in(sample, range.clone()).next()).collect()
        };
        let turns: Vec<Vec<f64>> = credit.samples.iter().map(of_turns).collect();
        let sum: f64 = turns.iter().flatten().sum();
        let size: f64 = turns.iter().flatten().map(|a| a.abs()).sum();
        if !(size > 0.0 && sum.abs() <= 1e-5 * (1.0 + size)) {
            found.push(format!("where {what}, turns got advantages of sum {sum} and size {size}"));
        }
        let mixed = match what {
            "only outcomes differ" => turns.iter().any(|of| !all_equal(of.iter().copied())),
            _ => [0, 2].iter().any(|&turn| !all_equal(turns.iter().map(|of| of[turn]))),
        };
        if mixed {
            found.push(format!("where {what}, turns that were paid the same got different advantages"));
        }
    }
    Ok(found)
}

/// Continuations from every turn of every valid episode. Their rewards follow from the sketch and the turn alone, so that they
/// move with the episode when a group is permuted.
fn probes(sketches: &[Vec<Sketch>], per_turn: u32) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (group, members) in sketches.iter().enumerate() {
        for (member, sketch) in members.iter().enumerate().filter(|_| per_turn > 0) {
            let episode = sketch.scored(group as u32, member as u32).episode.id.clone();
            probes.extend((0..sketch.turns.len() as u32).map(|turn| {
                let continued = |k| sketch.continued(turn, k).scored(group as u32, member as u32);
                let continuations = (0..per_turn).map(continued).collect();
                Probe { episode: episode.clone(), turn, continuations }
            }));
        }
    }
    probes
}

fn assemble(sketches: &[Vec<Sketch>]) -> Vec<Group> {
    let groups = sketches.iter().enumerate().map(|(group, members)| Sketch::group(members, group as u32));
    groups.filter_map(Result::ok).collect()
}

fn that_count(group: &[Sketch], left: bool) -> Vec<Sketch> {
    let counts = |s: &&Sketch| s.outcome.is_valid() || left && s.outcome == Outcome::Left;
    group.iter().filter(counts).cloned().collect()
}

/// Advantages of the trainable tokens.
fn credits(sample: &Sample) -> impl Iterator<Item = f64> {
    credits_in(sample, 0..sample.tokens.len())
}

/// Advantages of the trainable tokens of a range.
fn credits_in(sample: &Sample, range: std::ops::Range<usize>) -> impl Iterator<Item = f64> {
    let advantages = sample.advantages.as_deref().unwrap_or(&[]);
    range.filter(|&at| sample.mask[at]).filter_map(|at| advantages.get(at)).map(|a| f64::from(*a))
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
    if stream.chance(0.5) {
        sketch.turn_rewards = turns.iter().map(|_| stream.normal()).collect();
    }
    sketch.bootstrap = (outcome == Outcome::PolicyTimedOut).then(|| stream.normal() as f32);
    sketch
}
