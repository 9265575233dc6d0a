//! Rewards that no weighted sum can stand in for: on tabular worlds, every deterministic policy is played, scored by the real
//! scorer, and the best is compared with the best under every weighted sum of the same terms.
use crate::tabular::{Arrow, Step, TabularWorld, deterministic_policies, episode, roll_out};
use merit_core::*;
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::sync::Arc;

/// What happens at a step.
#[derive(Clone, Copy)]
enum Does {
    /// A call that works.
    Works,
    /// A call that is refused.
    Refused,
    /// Text that nobody understands.
    Babbles,
    Answers(&'static str),
}
use Does::*;

/// A way through the world: its name and what happens on it.
type Way = (&'static str, &'static [Does]);

/// From the start each action enters one way, which is then followed to the end. Every step of every way is a state.
fn forks(ways: &[Way]) -> TabularWorld {
    let mut states = vec!["start".to_owned()];
    let mut transitions: Vec<Vec<Vec<Arrow>>> = vec![Vec::new()];
    let end = 1 + ways.iter().map(|(_, does)| does.len() - 1).sum::<usize>();
    for (name, does) in ways {
        let next = |at: usize, states: &Vec<String>| if at + 1 == does.len() { end } else { states.len() };
        transitions[0].push(Arrow::sure(next(0, &states), 0.0));
        for at in 1..does.len() {
            states.push(format!("{name} {at}"));
            let mut row = vec![Vec::new(); ways.len()];
            row[0] = Arrow::sure(next(at, &states), 0.0);
            transitions.push(row);
        }
    }
    states.push("end".to_owned());
    transitions.push(vec![Vec::new(); ways.len()]);
    let terminal = (0..states.len()).map(|state| state == end).collect();
    let actions = ways.iter().map(|(name, _)| (*name).to_owned()).collect();
    TabularWorld { states, actions, transitions, terminal, gamma: 0.9 }
}

/// What a step of a way looks like as a turn.
fn turn(ways: &[Way], world: &TabularWorld, step: &Step) -> (Action, Vec<CallRecord>) {
    let place = &world.states[step.state];
    let does = match place.rsplit_once(' ') {
        Some((way, at)) => {
            ways.iter().find(|(name, _)| *name == way).unwrap().1[at.parse::<usize>().unwrap()]
        }
        None => ways[step.action].1[0],
    };
    let call = |end: CallEnd| {
        let call = ToolCall { tool: "tool".into(), input: String::new() };
        let record = CallRecord { call: call.clone(), end, output: String::new(), seconds: None };
        (Action::Calls { calls: vec![call] }, vec![record])
    };
    match does {
        Works => call(CallEnd::Ok),
        Refused => call(CallEnd::Refused),
        Babbles => (Action::Malformed { why: "no tag".into() }, Vec::new()),
        Answers(text) => (Action::Answer { text: text.into() }, Vec::new()),
    }
}

/// Every deterministic policy, played: the way it goes and the episode it records.
fn played(ways: &[Way]) -> Vec<(String, Arc<Episode>)> {
    let world = forks(ways);
    let task = Arc::new(Task {
        id: "forks".into(),
        world: "forks".into(),
        version: 1,
        split: Split::Train,
        size: 1,
        payload: serde_json::Value::Null,
        answer: Some("right".into()),
    });
    let policies = deterministic_policies(&world).unwrap();
    assert_eq!(policies.len(), ways.len());
    let play = |policy| {
        let trajectory = roll_out(&world, policy, 0, 100, 0).unwrap();
        assert!(trajectory.ended);
        let way = world.actions[trajectory.steps[0].action].clone();
        let dress = |world: &TabularWorld, step: &Step| turn(ways, world, step);
        (way, Arc::new(episode(&world, &trajectory, &task, Some(&dress))))
    };
    policies.iter().map(play).collect()
}

fn scorer(toml: &str) -> Scorer {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap_or_else(|e| panic!("{toml}: {e}"));
    Scorer::compile(&config).unwrap()
}

/// The ways that get the most.
fn best(
    scorer: &Scorer,
    played: &[(String, Arc<Episode>)],
    context: &ScoreContext,
    state: &RewardState,
) -> BTreeSet<String> {
    let episodes: Vec<Arc<Episode>> = played.iter().map(|(_, episode)| Arc::clone(episode)).collect();
    let scored = scorer.score_batch(&episodes, context, state).episodes;
    let values: Vec<f64> = scored.iter().map(|s| s.reward().unwrap()).collect();
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    played.iter().zip(&values).filter(|(_, v)| **v >= most - 1e-12).map(|((way, _), _)| way.clone()).collect()
}

fn best_now(toml: &str, played: &[(String, Arc<Episode>)]) -> BTreeSet<String> {
    best(&scorer(toml), played, &ScoreContext::default(), &RewardState::default())
}

/// The best ways under weighted sums of two terms, over all directions of the weights; scale decides nothing.
fn best_under_sums(first: &str, second: &str, played: &[(String, Arc<Episode>)]) -> Vec<BTreeSet<String>> {
    let sum = |degree: u32| {
        let angle = f64::from(degree) * PI / 180.0;
        let (a, b) = (angle.cos(), angle.sin());
        format!(
            "type = 'sum'\nof = [{{ type = '{first}', weight = {a} }}, {{ type = '{second}', weight = {b} }}]"
        )
    };
    (0..360).map(|degree| best_now(&sum(degree), played)).collect()
}

fn only(way: &str) -> BTreeSet<String> {
    BTreeSet::from([way.to_owned()])
}

/// Five turns each. As (share of calls that work, share of turns understood):
///
///   sparing (1, 0.2)   balanced (0.5, 0.4)   fluent (0, 1)   idle (0, 0.2)
///
/// `balanced` lies strictly inside the triangle of the other three: on the line from `sparing` to `fluent`, tools at 0.5 go
/// with form at 0.6. A linear function has its greatest value at a corner, so no weighted sum, whatever its weights, has
/// `balanced` among its best.
const WAYS: &[Way] = &[
    ("sparing", &[Works, Babbles, Babbles, Babbles, Babbles]),
    ("balanced", &[Works, Refused, Babbles, Babbles, Babbles]),
    ("fluent", &[Refused, Refused, Refused, Refused, Refused]),
    ("idle", &[Refused, Babbles, Babbles, Babbles, Babbles]),
];

#[test]
fn no_weighted_sum_has_the_optimum_of_a_gate() {
    let played = played(WAYS);
    // Form is paid where half of the calls work: sparing 0.2, balanced 0.4, fluent and idle 0.
    let gate = "type = 'gate'\nwhen = { type = 'tool-success' }\nat_least = 0.5\nthen = { type = 'format' }";
    assert_eq!(best_now(gate, &played), only("balanced"));
    for best in best_under_sums("tool-success", "format", &played) {
        assert!(!best.contains("balanced"), "{best:?}");
    }
}

#[test]
fn no_weighted_sum_has_the_optimum_of_lexicographic_tiers() {
    let played = played(WAYS);
    // 0.1 · tools, then form where tools pass 0.5: sparing 0.1 + 0.2, balanced 0.05 + 0.4, fluent 0, idle 0.
    let tiers = "type = 'lexicographic'\ntiers = [{ of = { type = 'tool-success' }, weight = 0.1, pass = 0.5 }, { of = { type = 'format' } }]";
    assert_eq!(best_now(tiers, &played), only("balanced"));
    for best in best_under_sums("tool-success", "format", &played) {
        assert!(!best.contains("balanced"), "{best:?}");
    }
}

/// As (form, answer): `neat` (1, 0), `messy` (1/3, 1), `dull` (2/3, 0).
const LESSONS: &[Way] = &[
    ("neat", &[Refused, Refused, Answers("wrong")]),
    ("messy", &[Babbles, Babbles, Answers("right")]),
    ("dull", &[Babbles, Refused, Answers("wrong")]),
];

#[test]
fn no_weighted_sum_has_the_optima_of_stages() {
    let played = played(LESSONS);
    // Form alone until step 10, the answer alone from then on.
    let steps = scorer(
        "type = 'staged'\nby = 'step'\ncarry = false\nstages = [{ of = { type = 'format' }, until_step = 10 }, { of = { type = 'exact-answer' } }]",
    );
    let at = |step| best(&steps, &played, &ScoreContext::at_step(step), &RewardState::default());
    assert_eq!((at(0), at(9)), (only("neat"), only("neat")));
    assert_eq!((at(10), at(99)), (only("messy"), only("messy")));
    // A weighted sum has one set of best policies for all steps, and no one set is both {neat} and {messy}.
    for best in best_under_sums("format", "exact-answer", &played) {
        assert!(best != at(0) || best != at(10), "{best:?}");
    }
}

#[test]
fn a_policy_that_masters_a_stage_is_asked_for_the_next() {
    let played = played(LESSONS);
    let mastery = scorer(
        "type = 'staged'\nby = 'mastery'\ncarry = false\nstages = [{ of = { type = 'format' }, mastered_at = 0.9 }, { of = { type = 'exact-answer' } }]",
    );
    let at = |step, state: &RewardState| best(&mastery, &played, &ScoreContext::at_step(step), state);
    let mut state = RewardState::default();
    assert_eq!(at(0, &state), only("neat"));
    // The policy learns what is best and plays it; the next stage begins.
    let neat: Vec<Arc<Episode>> =
        played.iter().filter(|(way, _)| way == "neat").map(|(_, e)| Arc::clone(e)).collect();
    state = mastery.score_batch(&neat, &ScoreContext::at_step(0), &state).state;
    assert_eq!(at(1, &state), only("messy"));
    // A policy that was only dull, at 2/3, stays where it is.
    let dull: Vec<Arc<Episode>> =
        played.iter().filter(|(way, _)| way == "dull").map(|(_, e)| Arc::clone(e)).collect();
    let behind = mastery.score_batch(&dull, &ScoreContext::at_step(0), &RewardState::default()).state;
    assert_eq!(at(1, &behind), only("neat"));
}
