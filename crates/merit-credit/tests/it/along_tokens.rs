//! GAE and REINFORCE++ against numbers worked out by hand.

use merit_core::{Group, Outcome, Sample};
use merit_credit::conformance::Sketch;
use merit_credit::rules::{Gae, ReinforcePlusPlus};
use merit_credit::{Credit, CreditBatch, CreditError, CreditRule};

fn gae(gamma: f64, lambda: f64, whiten: bool) -> Gae {
    Gae { gamma, lambda, whiten }
}

fn try_assign(rule: &dyn CreditRule, members: &[Sketch]) -> Result<Credit, CreditError> {
    let group: Group = Sketch::group(members, 0).unwrap();
    rule.assign(&CreditBatch::new(&[group]))
}

fn assign(rule: &dyn CreditRule, members: &[Sketch]) -> Credit {
    try_assign(rule, members).unwrap()
}

fn valued(turns: &[(usize, usize)], outcome: Outcome, reward: f64, values: &[f32]) -> Sketch {
    Sketch { values: values.to_vec(), ..Sketch::new(turns, outcome, reward) }
}

fn trained(sample: &Sample, stream: &Option<Vec<f32>>) -> Vec<f64> {
    let stream = stream.as_ref().unwrap();
    stream.iter().zip(&sample.mask).filter(|(_, m)| **m).map(|(x, _)| f64::from(*x)).collect()
}

fn near(got: &[f64], want: &[f64]) {
    let close = got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-6);
    assert!(close, "{got:?}, not {want:?}");
}

fn check(rule: &dyn CreditRule, sketch: Sketch, advantages: &[f64], returns: &[f64]) {
    let credit = assign(rule, &[sketch]);
    let sample = &credit.samples[0];
    near(&trained(sample, &sample.advantages), advantages);
    near(&trained(sample, &sample.returns), returns);
}

#[test]
fn gae_runs_backwards_from_a_real_end() {
    // gamma 1/2, lambda 1/2, values 1, 2, 4, reward 8 at the end:
    //   delta_2 = 8 − 4 = 4              adv_2 = 4
    //   delta_1 = 0 + 4/2 − 2 = 0        adv_1 = 0 + 4/4 = 1
    //   delta_0 = 0 + 2/2 − 1 = 0        adv_0 = 0 + 1/4 = 1/4       returns: adv + value
    let sketch = valued(&[(3, 0)], Outcome::Solved, 8.0, &[1.0, 2.0, 4.0]);
    check(&gae(0.5, 0.5, false), sketch, &[0.25, 1.0, 4.0], &[1.25, 3.0, 8.0]);
}

#[test]
fn gae_skips_what_the_policy_did_not_write() {
    // The same three tokens with tool output between: the numbers must not change.
    let sketch = valued(&[(1, 4), (2, 3)], Outcome::Solved, 8.0, &[1.0, 2.0, 4.0]);
    check(&gae(0.5, 0.5, false), sketch, &[0.25, 1.0, 4.0], &[1.25, 3.0, 8.0]);
}

#[test]
fn truncation_keeps_the_bootstrap() {
    // As above with reward 0 and value 16 where it was cut: delta_2 = 0 + 16/2 − 4 = 4.
    let mut sketch = valued(&[(3, 0)], Outcome::PolicyTimedOut, 0.0, &[1.0, 2.0, 4.0]);
    sketch.bootstrap = Some(16.0);
    check(&gae(0.5, 0.5, false), sketch.clone(), &[0.25, 1.0, 4.0], &[1.25, 3.0, 8.0]);
    // The same cut taken for an end would give −4 on the last token.
    sketch.outcome = Outcome::PolicyWrong;
    sketch.bootstrap = None;
    check(&gae(0.5, 0.5, false), sketch, &[-0.25, -1.0, -4.0], &[0.75, 1.0, 0.0]);
}

#[test]
fn a_truncated_episode_without_its_bootstrap_is_refused() {
    let mut sketch = valued(&[(1, 0)], Outcome::PolicyTimedOut, 0.0, &[1.0]);
    sketch.bootstrap = None;
    let error = try_assign(&gae(1.0, 1.0, false), &[sketch]).unwrap_err();
    assert!(matches!(error, CreditError::MissingBootstrap { .. }), "{error}");
}

#[test]
fn a_policy_without_values_is_refused() {
    let error =
        try_assign(&gae(1.0, 1.0, false), &[valued(&[(1, 0)], Outcome::Solved, 1.0, &[])]).unwrap_err();
    assert!(error.to_string().contains("give the policy a value head"), "{error}");
    // Values in the first turn only: the second turn is named.
    let half = valued(&[(1, 0), (2, 0)], Outcome::Solved, 1.0, &[1.0]);
    let error = try_assign(&gae(1.0, 1.0, false), &[half]).unwrap_err();
    assert!(matches!(error, CreditError::MissingValues { turn: 1, .. }), "{error}");
    let wild = valued(&[(1, 0)], Outcome::Solved, 1.0, &[f32::NAN]);
    let error = try_assign(&gae(1.0, 1.0, false), &[wild]).unwrap_err();
    assert!(matches!(error, CreditError::NotFinite { what: "value", .. }), "{error}");
}

#[test]
fn turn_rewards_fall_at_the_end_of_their_turn_and_the_rest_at_the_end() {
    // Reward 3, of which turn 0 earned 1 and turn 1 earned 0.5; 1.5 remain for the last token, with its 0.5.
    // lambda 1, gamma 1, values 0: advantages are the rewards still to come.
    let mut sketch = valued(&[(2, 1), (2, 0)], Outcome::Solved, 3.0, &[0.0; 4]);
    sketch.turn_rewards = vec![1.0, 0.5];
    check(&gae(1.0, 1.0, false), sketch.clone(), &[3.0, 3.0, 2.0, 2.0], &[3.0, 3.0, 2.0, 2.0]);
    // A turn without tokens is paid with the rest: nothing is lost.
    sketch.turns = vec![(2, 1), (0, 0)];
    sketch.values = vec![0.0; 2];
    check(&gae(1.0, 1.0, false), sketch.clone(), &[3.0, 3.0], &[3.0, 3.0]);
    sketch.turn_rewards = vec![1.0];
    let error = try_assign(&gae(1.0, 1.0, false), &[sketch]).unwrap_err();
    assert!(matches!(error, CreditError::TurnRewards { got: 1, want: 2, .. }), "{error}");
}

#[test]
fn whitening_covers_the_trainable_tokens_of_the_batch() {
    // lambda 1, values 0: estimates 1, 1 | 4. Mean 2, squares 1 + 1 + 4 = 6, variance 3: (1 − 2)/√3, (4 − 2)/√3.
    let members = [
        valued(&[(2, 5)], Outcome::Solved, 1.0, &[0.0; 2]),
        valued(&[(1, 0)], Outcome::Solved, 4.0, &[0.0]),
        valued(&[(3, 0)], Outcome::GraderFailed, 99.0, &[7.0; 3]),
    ];
    let credit = assign(&gae(1.0, 1.0, true), &members);
    let (low, high) = (-1.0 / 3.0_f64.sqrt(), 2.0 / 3.0_f64.sqrt());
    near(&trained(&credit.samples[0], &credit.samples[0].advantages), &[low, low]);
    near(&trained(&credit.samples[1], &credit.samples[1].advantages), &[high]);
    // The value head still aims at what was earned, not at whitened numbers.
    near(&trained(&credit.samples[0], &credit.samples[0].returns), &[1.0, 1.0]);
    assert!(credit.samples[2].advantages.as_ref().unwrap().iter().all(|a| *a == 0.0));
    assert!(credit.samples[2].returns.as_ref().unwrap().iter().all(|a| *a == 0.0));
}

#[test]
fn values_of_an_episode_that_broke_are_not_asked_for() {
    let members = [
        valued(&[(1, 0)], Outcome::Solved, 1.0, &[0.5]),
        valued(&[(2, 0)], Outcome::InfrastructureFailed, 0.0, &[]),
    ];
    let credit = assign(&gae(1.0, 1.0, false), &members);
    near(&trained(&credit.samples[0], &credit.samples[0].advantages), &[0.5]);
}

#[test]
fn reinforce_plus_plus_whitens_discounted_returns_over_the_batch() {
    // gamma 1/2: returns 1, 2 | 6. Mean 3, squares 4 + 1 + 9 = 14, variance 7.
    let rule = ReinforcePlusPlus { gamma: 0.5 };
    let members = [
        valued(&[(1, 3), (1, 0)], Outcome::Solved, 2.0, &[]),
        valued(&[(1, 0)], Outcome::PolicyWrong, 6.0, &[]),
        valued(&[(2, 0)], Outcome::Unscorable, 0.0, &[]),
    ];
    let credit = assign(&rule, &members);
    let scale = 7.0_f64.sqrt();
    near(&trained(&credit.samples[0], &credit.samples[0].advantages), &[-2.0 / scale, -1.0 / scale]);
    near(&trained(&credit.samples[1], &credit.samples[1].advantages), &[3.0 / scale]);
    assert_eq!(credit.samples[0].returns, None);
    let text = credit.explain(0).unwrap();
    assert!(
        text.contains("its reward + 0.5 · the return of the next") && text.contains("2 at token 6"),
        "{text}"
    );
}

#[test]
fn a_batch_without_any_difference_gets_exactly_0() {
    let rule = ReinforcePlusPlus::default();
    let members = [0.3, 0.1 + 0.2].map(|r| valued(&[(3, 1)], Outcome::Solved, r, &[]));
    let credit = assign(&rule, &members);
    assert!(credit.samples.iter().flat_map(|s| s.advantages.as_ref().unwrap()).all(|a| *a == 0.0));
}

#[test]
fn the_note_of_gae_shows_where_it_was_paid_and_what_lies_beyond_the_end() {
    let sketch = valued(&[(1, 1), (1, 0)], Outcome::Solved, 8.0, &[1.0, 4.0]);
    let text = assign(&gae(0.5, 0.5, false), &[sketch]).explain(0).unwrap();
    let want = "\
sample sketch/0/0/0, group 0
reward paid: 8 at token 4
gamma 0.5, lambda 0.5, value after the last token 0
not whitened
";
    assert_eq!(text, want);
}

#[test]
fn factors_outside_0_to_1_are_refused() {
    use merit_core::Component as _;
    let refused = [
        (gae(1.5, 0.5, true).check(), "gamma"),
        (gae(0.5, -0.1, true).check(), "lambda"),
        (gae(f64::NAN, 0.5, true).check(), "gamma"),
        (ReinforcePlusPlus { gamma: 2.0 }.check(), "gamma"),
    ];
    for (refusal, field) in refused {
        let error = refusal.unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("between 0 and 1"), "{error}");
    }
}
