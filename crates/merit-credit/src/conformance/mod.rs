//! What must hold for every credit rule, as checks that anybody can run on their own.
//!
//! [`check_rule`] runs a rule over seeded batches of [`Sketch`]es, ragged, forked, some paid by turn, with every outcome among them, and over
//! groups in which only one thing differs. It holds the rule to what it says of itself ([`Properties`]) and returns every violation in
//! words; empty means that the rules hold.

mod differing;
mod sketch;

pub use sketch::Sketch;

use crate::{Credit, CreditBatch, CreditError, CreditRule, Grain, Needs, Note, Probe, Properties, ZeroSum};
use merit_core::{Annotations, Group, Outcome, Sample, Seed, Stream, conformance::check_sample};

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
    for check in differing::CHECKS {
        found.extend(check(rule).unwrap_or_else(|error| vec![error.to_string()]));
    }
    found
}

/// What the rule says of `sketches`, with all it needs.
fn assign(rule: &dyn CreditRule, sketches: &[Vec<Sketch>]) -> Result<(Vec<Group>, Credit), CreditError> {
    let (groups, needs) = (assemble(sketches), rule.needs());
    let (probes, annotations) = (probes(sketches, needs.probes_per_turn), annotations(sketches, &needs));
    let batch = CreditBatch::new(&groups).with_probes(&probes).with_annotations(&annotations);
    let credit = rule.assign(&batch)?;
    Ok((groups, credit))
}

fn check_batch(rule: &dyn CreditRule, sketches: &[Vec<Sketch>]) -> Result<Vec<String>, CreditError> {
    let (groups, credit) = assign(rule, sketches)?;
    let mut found = check_shape(rule, &groups, &credit)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let properties = rule.properties();
    found.extend(check_grain(&properties, &credit.samples));
    found.extend(check_sums(&properties, groups.len(), &credit.samples));
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

fn check_shape(rule: &dyn CreditRule, groups: &[Group], credit: &Credit) -> Result<Vec<String>, CreditError> {
    let batch = CreditBatch::new(groups);
    let bare = if rule.trains_left() { batch.samples_of_turns()? } else { batch.samples()? };
    if credit.samples.len() != bare.len() {
        return Ok(vec![format!("{} samples for {} episodes", credit.samples.len(), bare.len())]);
    }
    let mut found = Vec::new();
    for (at, ((scored, bare), sample)) in bare.iter().zip(&credit.samples).enumerate() {
        found.extend(check_sample(scored, sample));
        if sample.episode != scored.episode.id {
            found.push(format!("sample {at} is of episode {}, not {}", sample.episode, scored.episode.id));
        }
        if sample.mask.iter().zip(&bare.mask).any(|(trained, own)| *trained && !own) {
            found.push(format!("sample {} trains tokens that are not its own", sample.episode));
        }
        if sample.advantages.is_none() {
            found.push(format!("sample {} has no advantages", sample.episode));
        }
        if sample.returns.as_ref().is_some_and(|r| r.len() != sample.tokens.len()) {
            found.push(format!("sample {} has returns of another length", sample.episode));
        }
        if credit.notes.get(at).is_none_or(|Note { lines }| lines.iter().all(String::is_empty)) {
            found.push(format!("sample {} is not explained", sample.episode));
        }
    }
    Ok(found)
}

/// A rule writes one number for each of what it says shares one.
fn check_grain(properties: &Properties, samples: &[Sample]) -> Vec<String> {
    let mixed = |sample: &&Sample| match properties.grain {
        Grain::Episode => !all_equal(credits(sample)),
        Grain::Turn => sample.turns.iter().any(|range| !all_equal(credits_in(sample, range.clone()))),
        Grain::Token => false,
    };
    let unit = properties.grain.word();
    let words = |sample: &Sample| format!("{} carries several advantages within one {unit}", sample.episode);
    samples.iter().filter(mixed).map(words).collect()
}

fn all_equal(numbers: impl Iterator<Item = f64>) -> bool {
    let numbers: Vec<f64> = numbers.collect();
    numbers.windows(2).all(|pair| pair[0] == pair[1])
}

/// The sum of numbers where it is not 0, up to float noise.
fn off_zero(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, size) = numbers.fold((0.0, 0.0), |(sum, size), a| (sum + a, size + f64::abs(a)));
    (sum.abs() > 1e-5 * (1.0 + size)).then_some(sum)
}

/// The sums that are 0 in every batch. Those of turns are so only where members have as many (`differing`).
fn check_sums(properties: &Properties, groups: usize, samples: &[Sample]) -> Vec<String> {
    match properties.zero_sum {
        ZeroSum::Nothing | ZeroSum::SameTurn | ZeroSum::Turns => Vec::new(),
        ZeroSum::Batch => {
            let sum = off_zero(samples.iter().flat_map(credits));
            sum.map(|sum| format!("the advantages of the batch sum to {sum}")).into_iter().collect()
        }
        ZeroSum::Members => {
            let sum = |group: usize| {
                let members = samples.iter().filter(|s| s.group == group);
                let sum = off_zero(members.filter_map(|s| credits(s).next()))?;
                Some(format!("the advantages of group {group} sum to {sum}"))
            };
            (0..groups).filter_map(sum).collect()
        }
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
            if pairs.into_iter().any(|(a, b)| !near(a, b)) {
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

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * (1.0 + a.abs())
}

/// Continuations from every turn of every valid episode. Their rewards follow from the sketch and the turn alone, so that they
/// move with the episode when a group is permuted.
fn probes(sketches: &[Vec<Sketch>], per_turn: u32) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (group, member, sketch) in each(sketches).filter(|_| per_turn > 0) {
        let episode = sketch.scored(group, member).episode.id.clone();
        probes.extend((0..sketch.turns.len() as u32).map(|turn| {
            let continued = |k| sketch.continued(turn, k).scored(group, member);
            let continuations = (0..per_turn).map(continued).collect();
            Probe { episode: episode.clone(), turn, continuations }
        }));
    }
    probes
}

/// What the rule needs somebody to have said of every episode.
fn annotations(sketches: &[Vec<Sketch>], needs: &Needs) -> Annotations {
    let said = |(group, member, sketch): (u32, u32, &Sketch)| {
        let said = needs.annotations.iter().map(|need| sketch.annotation(&need.name)).collect();
        (sketch.scored(group, member).episode.id.clone(), said)
    };
    each(sketches).map(said).collect()
}

/// Every sketch with its group and its place there.
fn each(sketches: &[Vec<Sketch>]) -> impl Iterator<Item = (u32, u32, &Sketch)> {
    sketches.iter().enumerate().flat_map(|(group, members)| {
        members.iter().enumerate().map(move |(member, sketch)| (group as u32, member as u32, sketch))
    })
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
    (0..stream.between(1, 4)).map(|_| random_group(stream)).collect()
}

/// Members that begin in their own words or in those of others, and branches of some of them.
fn random_group(stream: &mut Stream) -> Vec<Sketch> {
    let roots = stream.between(1, 6) as u32;
    let mut members: Vec<Sketch> = (0..roots).map(|_| random(stream)).collect();
    for branch in 1..=stream.between(0, 3) as u32 {
        let trunk = stream.below(members.len() as u64) as usize;
        let name = (members[trunk].name.map_or(trunk as u32, |name| name.0), branch);
        members.push(random_fork(&members[trunk], name, stream));
    }
    members
}

fn random(stream: &mut Stream) -> Sketch {
    let outcome = Outcome::ALL[stream.below(Outcome::ALL.len() as u64) as usize];
    // The first turn writes something, so that the episode's advantage can be read off a token; later turns need not.
    let turns: Vec<(usize, usize)> = (0..stream.between(1, 3))
        .map(|turn| (usize::from(turn == 0) + stream.below(5) as usize, stream.below(4) as usize))
        .collect();
    let mut sketch = Sketch::new(&turns, outcome, stream.normal()).saying(stream.below(3) as u32, 0);
    sketch.values.iter_mut().for_each(|v| *v = stream.normal() as f32);
    if stream.chance(0.5) {
        sketch.turn_rewards = turns.iter().map(|_| stream.normal()).collect();
    }
    sketch.annotated = turns.iter().map(|_| stream.chance(0.8).then(|| stream.normal())).collect();
    sketch.bootstrap = (outcome == Outcome::PolicyTimedOut).then(|| stream.normal() as f32);
    sketch
}

/// A branch that repeats some turns of its trunk and goes on by itself.
fn random_fork(trunk: &Sketch, name: (u32, u32), stream: &mut Stream) -> Sketch {
    let repeated = stream.between(1, trunk.turns.len() as i64) as usize;
    let written = trunk.turns[..repeated].iter().map(|turn| turn.0).sum();
    let own = random(stream);
    let paid = if trunk.turn_rewards.is_empty() {
        Vec::new()
    } else {
        own.turns.iter().map(|_| stream.normal()).collect()
    };
    Sketch {
        turns: joined(&trunk.turns[..repeated], &own.turns),
        values: joined(&trunk.values[..written], &own.values),
        turn_rewards: joined(trunk.turn_rewards.get(..repeated).unwrap_or(&[]), &paid),
        annotated: joined(&trunk.annotated[..repeated], &own.annotated),
        words: joined(&trunk.words[..repeated], &vec![10 + name.1; own.turns.len()]),
        repeated,
        name: Some(name),
        ..own
    }
}

fn joined<T: Clone>(first: &[T], then: &[T]) -> Vec<T> {
    [first, then].concat()
}
