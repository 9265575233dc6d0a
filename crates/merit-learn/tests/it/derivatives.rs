//! Every registered objective, under every registered loss aggregation, hands over the derivatives of the loss that it reports. Both
//! lists are those of the registry, so that a component that is added is tested without an edit here.

use merit_api::trainer::SequenceOutputs;
use merit_core::Seed;
use merit_core::registry::{Chosen, Component as _, Components, Entry as Registered, Kind};
use merit_learn::*;

/// How far a number is moved. The numbers are multiples of it, so that moved ones are exact in `f32`.
const STEP: f32 = 1.0 / 4096.0;

/// What both policies say of mismatched pairs, which is fixed before the step.
static MISMATCHED: [f64; 5] = [0.3, -0.1, 0.2, 0.4, 0.1];

/// A sequence with everything that an objective may declare.
struct Drawn {
    group: usize,
    mask: Vec<bool>,
    weight: f64,
    reward: f64,
    guest: bool,
    old_logprobs: Vec<f32>,
    advantages: Vec<f32>,
    old_values: Vec<f32>,
    returns: Vec<f32>,
    reference: Vec<f32>,
    old_entropy: Vec<f32>,
    /// Log-probabilities, entropies and values of the current policy.
    said: [Vec<f32>; 3],
}

/// Two groups with a best, a worst and, in the first, one whose reward is the mean.
fn batch(seed: u64, guests: bool) -> Vec<Drawn> {
    let mut stream = Seed::root(seed).stream();
    let rewards = [(0, 1.0), (0, 0.0), (0, 0.5), (1, 0.25), (1, 1.0)];
    let drawn = rewards.into_iter().enumerate().map(|(at, (group, reward))| {
        let tokens = 4 + at;
        let mut near = |middle: f64, spread: f64| -> Vec<f32> {
            let number = |unit: f64| middle + spread * (2.0 * unit - 1.0);
            (0..tokens).map(|_| (number(stream.unit()) as f32 / STEP).round() * STEP).collect()
        };
        let old_logprobs = near(-1.5, 1.0);
        let logprobs = old_logprobs.iter().zip(near(0.0, 0.4)).map(|(old, apart)| old + apart).collect();
        Drawn {
            group,
            // The first token has no context, and the third is not the policy's.
            mask: (0..tokens).map(|t| t != 0 && t != 2).collect(),
            weight: 1.0 + 0.25 * at as f64,
            reward,
            guest: guests && (at == 1 || at == 4),
            advantages: near(0.0, 1.5),
            old_values: near(0.3, 0.6),
            returns: near(0.5, 0.5),
            reference: near(-1.5, 1.0),
            old_entropy: near(1.0, 0.5),
            said: [logprobs, near(1.0, 0.5), near(0.3, 0.6)],
            old_logprobs,
        }
    });
    drawn.collect()
}

impl Drawn {
    fn entry(&self, at: usize) -> Entry<'_> {
        Entry {
            name: format!("sequence {at}"),
            whole: at,
            group: self.group,
            tokens: &[],
            mask: self.mask.clone(),
            weight: self.weight,
            fresh: false,
            old_logprobs: (!self.guest).then_some(self.old_logprobs.as_slice()),
            advantages: Some(&self.advantages),
            old_values: Some(&self.old_values),
            returns: Some(&self.returns),
            reference: Some(self.reference.clone()),
            old_entropy: Some(self.old_entropy.clone()),
            reward: Some(self.reward),
            group_reward: Some([0.5, 0.625][self.group]),
            own_reward: Some(0.25),
        }
    }

    fn outputs(&self, index: usize) -> SequenceOutputs<'_> {
        let [logprobs, entropy, values] = &self.said;
        SequenceOutputs { index, logprobs, entropy, values }
    }
}

fn told(objective: &Chosen<dyn Objective>, loss_agg: &Chosen<dyn LossAgg>, batch: &[Drawn]) -> BatchLoss {
    let entries: Vec<Entry<'_>> = batch.iter().enumerate().map(|(at, drawn)| drawn.entry(at)).collect();
    let outputs: Vec<SequenceOutputs<'_>> =
        batch.iter().enumerate().map(|(at, drawn)| drawn.outputs(at)).collect();
    let mismatched = objective.needs().mismatched.then_some(MISMATCHED.as_slice());
    coefficients(objective, loss_agg, &entries, &outputs, mismatched)
        .unwrap_or_else(|why| panic!("{objective:?} {loss_agg:?}: {why}"))
}

/// Whether a teacher's sequences are among them, where the objective reads them. `mixed-policy` does not differentiate the stand-in
/// for the teacher's probability, which only under the shift `certain` is a constant; the others are tested by their formula.
fn has_guests(objective: &Chosen<dyn Objective>) -> bool {
    let table = objective.table();
    let shift = table.get("shift").and_then(|shift| shift.get("type")?.as_str());
    objective.needs().guests && shift.is_none_or(|shift| shift == "certain")
}

/// A component with its defaults, where it has them for every key, and with its example.
fn settings<T: Kind + ?Sized>(entry: &Registered<T>) -> Vec<Chosen<T>> {
    let example = Chosen::read(entry, toml::from_str(entry.example).unwrap()).unwrap();
    let plain = Chosen::read(entry, toml::Table::new()).ok().filter(|plain| *plain != example);
    plain.into_iter().chain([example]).collect()
}

fn check(objective: &Chosen<dyn Objective>, loss_agg: &Chosen<dyn LossAgg>) {
    let (mut compared, mut bent, mut pushed) = (0, 0, [false; 3]);
    for seed in 0..4 {
        let mut batch = batch(seed, has_guests(objective));
        let whole = told(objective, loss_agg, &batch);
        let streams = whole.coefficients.iter().map(|c| [&c.logprob, &c.entropy, &c.value]);
        let streams: Vec<[&Vec<f32>; 3]> = streams.collect();
        let largest = streams.iter().flatten().copied().flatten().fold(0.0, |most: f32, d| most.max(d.abs()));
        let largest = f64::from(largest);
        for (at, stream, t) in places(&batch) {
            let was = batch[at].said[stream][t];
            let mut loss = |number: f32| {
                batch[at].said[stream][t] = number;
                told(objective, loss_agg, &batch).loss.total()
            };
            let (below, above, here) = (loss(was - STEP), loss(was + STEP), loss(was));
            let step = f64::from(STEP);
            // Between slopes that differ by more than a smooth loss bends there is a kink, such as a limit of a clip: there the
            // slope of either side is right.
            if (above - here - (here - below)).abs() > 8.0 * step * step * largest {
                bent += 1;
                continue;
            }
            let want = (above - below) / (2.0 * step);
            let got = f64::from(streams[at][stream].get(t).copied().unwrap_or(0.0));
            assert!(
                (got - want).abs() <= 1e-5 * largest,
                "{objective:?} under {loss_agg:?}, sequence {at}, stream {stream}, token {t}: {got}, not {want}"
            );
            compared += 1;
            pushed[stream] |= got != 0.0;
        }
    }
    let needs = objective.needs();
    assert_eq!(pushed, [true, needs.entropy, needs.values], "{objective:?}: which streams have derivatives");
    assert!(bent * 50 < compared, "{objective:?}: {bent} kinks beside {compared} comparisons");
}

/// Every number that is said: sequence, stream and token.
fn places(batch: &[Drawn]) -> Vec<(usize, usize, usize)> {
    let of = |at: usize| {
        let tokens = batch[at].mask.len();
        (0..3).flat_map(move |stream| (0..tokens).map(move |t| (at, stream, t)))
    };
    (0..batch.len()).flat_map(of).collect()
}

#[test]
fn every_registered_objective_has_the_derivatives_of_its_loss_under_every_registered_aggregation() {
    let components = register(Components::default());
    let loss_aggs: Vec<_> = components.entries::<dyn LossAgg>().iter().flat_map(settings).collect();
    for objective in components.entries::<dyn Objective>().iter().flat_map(settings) {
        // Losses of whole units are averaged over these, whatever the aggregation, and another than the usual one is refused.
        let by_token = objective.average() == Average::Tokens;
        let usual = |loss_agg: &&Chosen<dyn LossAgg>| loss_agg.about().name == TokenMean::ABOUT.name;
        loss_aggs.iter().filter(|one| by_token || usual(one)).for_each(|one| check(&objective, one));
    }
}
