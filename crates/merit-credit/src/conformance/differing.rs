//! Groups in which only one thing differs, and what a rule has to make of them by what it says of itself.

use super::{Sketch, all_equal, assign, credits, credits_in, near, off_zero};
use crate::{Credit, CreditError, CreditRule, Differs, ZeroSum};
use merit_core::{Outcome, Sample};

/// One check: every violation in words.
type Check = fn(&dyn CreditRule) -> Result<Vec<String>, CreditError>;

pub(super) const CHECKS: [Check; 6] =
    [nothing_to_compare, learns, same_turn_sums, turns_sum, pay_stays, branches_are_told_apart];

/// Turns of a member: tokens that it writes and that it is shown.
const TURNS: [(usize, usize); 3] = [(2, 1), (3, 2), (1, 0)];

/// A member that says what no other says.
fn member(number: usize, reward: f64) -> Sketch {
    Sketch::new(&TURNS, Outcome::PolicyWrong, reward).saying(1 + number as u32, 0)
}

/// Six members that differ in this and nothing else. What differs by turn differs at the turn in the middle, and what is paid by turn is all
/// that is paid.
fn group(differs: Differs) -> Vec<Sketch> {
    let one = |number: usize| {
        let (same, share) = (member(number, 1.0), (number % 3) as f64 / 2.0);
        match differs {
            Differs::Rewards => Sketch { reward: share, ..same },
            Differs::TurnRewards => {
                Sketch { turn_rewards: vec![0.5, share, 0.5], reward: 1.0 + share, ..same }
            }
            Differs::TurnTerms => Sketch { told: vec![0.0, (number % 2) as f64, 0.0], ..same },
            Differs::TurnAnnotations => Sketch { annotated: vec![Some(0.5), Some(share), Some(0.5)], ..same },
            Differs::Values => Sketch { values: vec![share as f32; same.values.len()], ..same },
            // What continuations of a sketch earn differs from turn to turn.
            Differs::Continuations | Differs::Branches => same,
        }
    };
    match differs {
        Differs::Branches => tree([2.0, 0.0, 1.0, 0.0]),
        _ => (0..6).map(one).collect(),
    }
}

/// A trunk, a branch that parts from it after the first turn, another that parts after the second, and one that shares nothing.
fn tree(rewards: [f64; 4]) -> Vec<Sketch> {
    let [trunk, early, late, alone] = rewards;
    let trunk = member(0, trunk);
    let (early, late) = (trunk.fork(1, 11, (0, 1), early), trunk.fork(2, 12, (0, 2), late));
    vec![trunk, early, late, member(1, alone)]
}

/// The advantage of every turn of every member; absent where nothing of it is trained.
fn by_turn(credit: &Credit) -> Vec<Vec<Option<f64>>> {
    let turns =
        |sample: &Sample| sample.turns.iter().map(|range| credits_in(sample, range.clone()).next()).collect();
    credit.samples.iter().map(turns).collect()
}

/// Groups without a difference teach nothing, up to float noise (0.1 + 0.2 is 0.3), also where the reward is paid over several turns or the
/// members are branches of a tree.
fn nothing_to_compare(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    let properties = rule.properties();
    if !properties.compares_members {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let rewards = [0.3, 0.1 + 0.2, 0.3, 0.3];
    let short = rewards.map(|reward| Sketch::new(&[(3, 1)], Outcome::PolicyWrong, reward));
    let long = rewards.map(|reward| {
        let sketch = Sketch::new(&[(2, 1), (0, 1), (3, 0)], Outcome::PolicyWrong, 2.0 * reward);
        Sketch { turn_rewards: vec![reward, 0.0, reward], ..sketch }
    });
    let mut cases =
        vec![("constant", short.to_vec()), ("lone", short[..1].to_vec()), ("constant tree", tree(rewards))];
    // The turns of an episode may differ from each other where they are compared with all turns of the group.
    if properties.zero_sum != ZeroSum::Turns {
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

/// A rule learns from each of what it says it learns from.
fn learns(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    let (properties, needs) = (rule.properties(), rule.needs());
    let mut found = Vec::new();
    if properties.learns_from.is_empty() {
        found.push("it says that there is nothing it learns from".to_owned());
    }
    for &differs in properties.learns_from {
        let given = match differs {
            Differs::Values => needs.values,
            Differs::Continuations => needs.probes_per_turn > 0,
            Differs::TurnAnnotations => needs.annotations.iter().any(|need| need.per_turn),
            Differs::Rewards | Differs::TurnRewards | Differs::TurnTerms | Differs::Branches => true,
        };
        if !given {
            found.push(format!(
                "it says that it learns from {}, and does not say that it needs them",
                differs.words()
            ));
            continue;
        }
        let (_, credit) = assign(rule, &[group(differs)])?;
        if credit.samples.iter().flat_map(credits).all(|advantage| advantage == 0.0) {
            found.push(format!("where only {} differ, it writes 0 everywhere", differs.words()));
        }
    }
    Ok(found)
}

/// Where a rule says so, a turn that all members reach sums to 0, however long they are, and one at which all are paid the same is 0 where
/// pay stays at its turn.
fn same_turn_sums(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    let properties = rule.properties();
    if properties.zero_sum != ZeroSum::SameTurn {
        return Ok(Vec::new());
    }
    let mut ragged = group(Differs::TurnRewards);
    for (number, sketch) in ragged.iter_mut().enumerate().filter(|(number, _)| number % 2 == 1) {
        sketch.turns.push((2, 0));
        sketch.values.extend([0.0; 2]);
        sketch.turn_rewards.push(number as f64 / 4.0);
        sketch.reward = sketch.turn_rewards.iter().sum();
    }
    let mut found = Vec::new();
    for (what, members) in [("", group(Differs::TurnRewards)), (" among members of several lengths", ragged)]
    {
        let turns = by_turn(&assign(rule, &[members])?.1);
        for turn in 0..TURNS.len() {
            let at = || turns.iter().filter_map(|of| of[turn]);
            if let Some(sum) = off_zero(at()) {
                found.push(format!("the advantages of turn {turn} sum to {sum}{what}"));
            }
            if properties.pay_stays && turn != 1 && at().any(|advantage| advantage != 0.0) {
                found.push(format!(
                    "a turn at which all members earn the same got credit that is not 0{what}"
                ));
            }
        }
    }
    Ok(found)
}

/// Where a rule says so, the turns of a group whose members have as many sum to 0, whatever differs.
fn turns_sum(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    let properties = rule.properties();
    if properties.zero_sum != ZeroSum::Turns {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for &differs in properties.learns_from.iter().filter(|differs| **differs != Differs::Branches) {
        let turns = by_turn(&assign(rule, &[group(differs)])?.1);
        if let Some(sum) = off_zero(turns.into_iter().flatten().flatten()) {
            found.push(format!("where only {} differ, the turns of the group sum to {sum}", differs.words()));
        }
    }
    Ok(found)
}

/// Where a rule says that pay stays at its turn, the turns before and behind one that differs do not tell members apart.
fn pay_stays(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    let properties = rule.properties();
    if !properties.pay_stays {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for differs in [Differs::TurnRewards, Differs::TurnAnnotations] {
        if !properties.learns_from(differs) {
            continue;
        }
        let turns = by_turn(&assign(rule, &[group(differs)])?.1);
        if [0, 2].iter().any(|&turn| !all_equal(turns.iter().filter_map(|of| of[turn]))) {
            found.push(format!(
                "where only {} differ, members got different advantages at turns where nothing differs",
                differs.words()
            ));
        }
    }
    Ok(found)
}

/// A rule that learns from branches tells them apart where they part, and judges a shared turn by all who share it, whoever of them earned
/// what.
fn branches_are_told_apart(rule: &dyn CreditRule) -> Result<Vec<String>, CreditError> {
    if !rule.properties().learns_from(Differs::Branches) {
        return Ok(Vec::new());
    }
    let judged = |rewards| Ok::<_, CreditError>(by_turn(&assign(rule, &[tree(rewards)])?.1));
    let turns = judged([2.0, 0.0, 1.0, 0.0])?;
    let mut found = Vec::new();
    let [trunk, early, late] = [&turns[0], &turns[1], &turns[2]];
    if trunk[1] == early[1] || trunk[2] == late[2] {
        found.push("branches that earn different rewards got the same advantage where they part".to_owned());
    }
    // The first turn is shared by three branches, the second by the first and the last of them.
    for (shared, rewards) in [(0, [0.0, 2.0, 1.0, 0.0]), (0, [1.0, 0.0, 2.0, 0.0]), (1, [1.0, 0.0, 2.0, 0.0])]
    {
        let other = judged(rewards)?[0][shared];
        if !trunk[shared].zip(other).is_some_and(|(one, other)| near(one, other)) {
            found.push(format!(
                "the advantage of turn {shared}, which branches share, depends on which of them earned what"
            ));
        }
    }
    Ok(found)
}
