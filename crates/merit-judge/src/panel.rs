//! Several judges, or several votes of one: what they come to together. A judge that gave no verdict is left out of the count.

use crate::agreement::{Metric, alpha};
use crate::{Answer, Choice, Judge, Verdict};
use merit_core::stats::{mean, quantile};
use merit_core::{Cost, Episode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How several verdicts become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PanelRule {
    /// The choice of most, a tie where two have as many; the median of numbers.
    #[default]
    Majority,
    /// The mean of numbers; of choices the one that outweighs the other, whatever the ties.
    Mean,
    /// The least number; a choice only where all agree.
    Min,
}

/// Several judges who are asked the same.
pub struct Panel {
    judges: Vec<Box<dyn Judge>>,
    rule: PanelRule,
    /// What each judge counts. Empty: all the same.
    weights: Vec<f64>,
    /// What each said of each question so far; nothing where that was no verdict.
    choices: Vec<Vec<Option<f64>>>,
    scores: Vec<Vec<Option<f64>>>,
}

impl Panel {
    /// These judges, whose verdicts are pooled by this rule.
    pub fn new(judges: Vec<Box<dyn Judge>>, rule: PanelRule) -> Self {
        Self { judges, rule, weights: Vec::new(), choices: Vec::new(), scores: Vec::new() }
    }

    /// The same, in which each judge counts so much, in their order. Those beyond the list count 1.
    #[must_use]
    pub fn weighted(mut self, weights: Vec<f64>) -> Self {
        self.weights = weights;
        self
    }

    /// Krippendorff's alpha over everything that the judges were asked: of choices, and of numbers. Absent: too little was said, or
    /// everybody always says the same.
    pub fn agreement(&self) -> (Option<f64>, Option<f64>) {
        (alpha(&self.choices, Metric::Nominal), alpha(&self.scores, Metric::Interval))
    }

    fn pool(&mut self, all: Vec<Vec<Answer>>) -> Vec<Answer> {
        let questions = all.iter().map(Vec::len).min().unwrap_or_default();
        let mut all: Vec<_> = all.into_iter().map(Vec::into_iter).collect();
        let mut answers = Vec::with_capacity(questions);
        for _ in 0..questions {
            let said: Vec<Answer> = all.iter_mut().filter_map(Iterator::next).collect();
            self.choices.push(said.iter().map(|answer| answer.verdict.choice().map(side)).collect());
            self.scores.push(said.iter().map(|answer| answer.verdict.value()).collect());
            answers.push(pooled_by(said, &self.weights, self.rule));
        }
        answers
    }
}

impl Judge for Panel {
    fn id(&self) -> String {
        let ids: Vec<String> = self.judges.iter().map(|judge| judge.id()).collect();
        let weights =
            if self.weights.is_empty() { String::new() } else { format!(" weighing {:?}", self.weights) };
        format!("{:?} of [{}]{weights}", self.rule, ids.join(", ")).to_lowercase()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        let all = self.judges.iter_mut().map(|judge| judge.compare(asked)).collect();
        self.pool(all)
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        let all = self.judges.iter_mut().map(|judge| judge.score(episodes)).collect();
        self.pool(all)
    }
}

/// A choice as a number: 1 for the first, -1 for the second.
pub(crate) fn side(choice: Choice) -> f64 {
    match choice {
        Choice::First => 1.0,
        Choice::Tie => 0.0,
        Choice::Second => -1.0,
    }
}

/// What several answers to one question come to. More than half of them must be verdicts, and of one kind.
pub fn pooled(answers: Vec<Answer>, rule: PanelRule) -> Answer {
    pooled_by(answers, &[], rule)
}

/// The same where each answer counts as much as its weight says; 1 where there is none.
fn pooled_by(mut answers: Vec<Answer>, weights: &[f64], rule: PanelRule) -> Answer {
    if answers.len() == 1 {
        return answers.remove(0);
    }
    let weight = |at: usize| weights.get(at).copied().unwrap_or(1.0);
    let cost: Cost = answers.iter().map(|answer| answer.cost).sum();
    let said: Vec<(f64, &Verdict)> = answers
        .iter()
        .enumerate()
        .map(|(at, answer)| (weight(at), &answer.verdict))
        .filter(|(_, verdict)| is_said(verdict))
        .collect();
    let whole: f64 = (0..answers.len()).map(weight).sum();
    let Some((_, first)) = said.first().filter(|_| total(&said) * 2.0 > whole) else {
        return Answer { cost, ..without(&answers, said.len()) };
    };
    let verdict = match first {
        Verdict::Prefers { .. } => {
            all(&said, Verdict::choice).map(|c| Verdict::Prefers { choice: chosen(&c, rule) })
        }
        Verdict::Score { .. } => all(&said, Verdict::value).map(|values| number(&values, rule)),
        Verdict::Items { weights, .. } => all(&said, items)
            .map(|lists| Verdict::Items { met: each_item(&lists, rule), weights: weights.clone() }),
        _ => all(&said, order).map(|orders| Verdict::Ranks { order: by_mean_place(&orders) }),
    };
    let Some(verdict) = verdict else {
        let why = "the judges gave verdicts of different kinds".to_owned();
        return Answer { cost, ..Answer::of(Verdict::Failed { why }) };
    };
    let agrees = |answer: &Answer| answer.verdict == verdict;
    let evidence = answers.iter().find(|one| agrees(one)).or(answers.first()).map(|one| one.evidence.clone());
    let agreeing = answers.iter().enumerate().filter(|(_, one)| agrees(one)).map(|(at, _)| weight(at));
    let agreeing = agreeing.sum::<f64>() / whole;
    let confidence = matches!(verdict, Verdict::Prefers { .. }).then_some(agreeing);
    Answer { verdict, evidence: evidence.unwrap_or_default(), confidence, cost }
}

/// The sum of weights.
fn total<T>(said: &[(f64, T)]) -> f64 {
    said.iter().map(|(weight, _)| weight).sum()
}

fn is_said(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Refused { .. } | Verdict::Unreadable { .. } | Verdict::Failed { .. })
}

/// What is left where too few gave a verdict: the kind of those that did not, where they are of one.
fn without(answers: &[Answer], said: usize) -> Answer {
    let missing: Vec<&Answer> = answers.iter().filter(|answer| !is_said(&answer.verdict)).collect();
    let word = missing.first().map_or("", |first| first.verdict.word());
    if said == 0
        && let Some(first) = missing.first()
        && missing.iter().all(|answer| answer.verdict.word() == word)
    {
        return (*first).clone();
    }
    let why = format!("{} of {} gave no verdict", missing.len(), answers.len());
    Answer::of(Verdict::Failed { why })
}

/// What `get` finds in every verdict, with its weight. Absent: one of them is of another kind.
fn all<T>(said: &[(f64, &Verdict)], get: fn(&Verdict) -> Option<T>) -> Option<Vec<(f64, T)>> {
    said.iter().map(|(weight, verdict)| Some((*weight, get(verdict)?))).collect()
}

fn items(verdict: &Verdict) -> Option<Vec<Option<bool>>> {
    match verdict {
        Verdict::Items { met, .. } => Some(met.clone()),
        _ => None,
    }
}

fn order(verdict: &Verdict) -> Option<Vec<usize>> {
    match verdict {
        Verdict::Ranks { order } => Some(order.clone()),
        _ => None,
    }
}

fn chosen(choices: &[(f64, Choice)], rule: PanelRule) -> Choice {
    let count =
        |wanted| choices.iter().filter(|(_, choice)| *choice == wanted).map(|(weight, _)| weight).sum();
    let (first, second, tie): (f64, f64, f64) =
        (count(Choice::First), count(Choice::Second), count(Choice::Tie));
    let only = |wanted| choices.iter().all(|(_, choice)| *choice == wanted);
    match rule {
        PanelRule::Majority if first > second && first > tie => Choice::First,
        PanelRule::Majority if second > first && second > tie => Choice::Second,
        PanelRule::Mean if first > second => Choice::First,
        PanelRule::Mean if second > first => Choice::Second,
        PanelRule::Min if only(Choice::First) => Choice::First,
        PanelRule::Min if only(Choice::Second) => Choice::Second,
        PanelRule::Majority | PanelRule::Mean | PanelRule::Min => Choice::Tie,
    }
}

fn number(values: &[(f64, f64)], rule: PanelRule) -> Verdict {
    let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let alike = values.iter().all(|(weight, _)| *weight == 1.0);
    let pooled = match rule {
        PanelRule::Min => quantile(&plain, 0.0),
        PanelRule::Majority if alike => quantile(&plain, 0.5),
        PanelRule::Majority => weighted_median(values),
        PanelRule::Mean if alike => mean(&plain),
        PanelRule::Mean => {
            Some(values.iter().map(|(weight, value)| weight * value).sum::<f64>() / total(values))
        }
    };
    match pooled {
        Some(value) => Verdict::Score { value },
        None => Verdict::Failed { why: "nobody gave a number".to_owned() },
    }
}

/// The value with half of the weight on either side; the mean of two where the half falls between them.
fn weighted_median(values: &[(f64, f64)]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (half, mut below) = (total(&sorted) / 2.0, 0.0);
    for (at, (weight, value)) in sorted.iter().enumerate() {
        below += weight;
        if below == half {
            return Some(sorted.get(at + 1).map_or(*value, |(_, next)| (value + next) / 2.0));
        }
        if below > half {
            return Some(*value);
        }
    }
    None
}

/// Each item by those who spoke of it. Nothing where none did, or as much weight says yes as no.
fn each_item(lists: &[(f64, Vec<Option<bool>>)], rule: PanelRule) -> Vec<Option<bool>> {
    let longest = lists.iter().map(|(_, list)| list.len()).max().unwrap_or_default();
    let one = |at: usize| {
        let said =
            lists.iter().filter_map(|(weight, list)| Some((*weight, list.get(at).copied().flatten()?)));
        let said: Vec<(f64, bool)> = said.collect();
        let yes = said.iter().filter(|(_, met)| *met).map(|(weight, _)| weight).sum::<f64>() * 2.0;
        match rule {
            PanelRule::Min => (!said.is_empty()).then_some(said.iter().all(|(_, met)| *met)),
            PanelRule::Majority | PanelRule::Mean => (yes != total(&said)).then_some(yes > total(&said)),
        }
    };
    (0..longest).map(one).collect()
}

/// Candidates by the sum of their places (Borda), each order by its weight; those with the same sum as they are shown.
fn by_mean_place(orders: &[(f64, Vec<usize>)]) -> Vec<usize> {
    let count = orders.iter().map(|(_, order)| order.len()).max().unwrap_or_default();
    let mut sums = vec![0.0; count];
    for (weight, order) in orders {
        for (place, candidate) in order.iter().enumerate() {
            if let Some(sum) = sums.get_mut(*candidate) {
                *sum += weight * place as f64;
            }
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| sums[*a].total_cmp(&sums[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefers(choice: Choice) -> Answer {
        Answer::of(Verdict::Prefers { choice })
    }

    fn score(value: f64) -> Answer {
        Answer::of(Verdict::Score { value })
    }

    fn refused() -> Answer {
        Answer::of(Verdict::Refused { why: "no".into() })
    }

    #[test]
    fn choices_are_pooled_by_each_rule() {
        use Choice::{First, Second, Tie};
        for (said, majority, mean, min) in [
            ([First, First, Second], First, First, Tie),
            ([First, Tie, Tie], Tie, First, Tie),
            ([First, Second, Tie], Tie, Tie, Tie),
            ([Second, Second, Second], Second, Second, Second),
        ] {
            let pool = |rule| pooled(said.map(prefers).to_vec(), rule).verdict.choice();
            assert_eq!(pool(PanelRule::Majority), Some(majority), "{said:?}");
            assert_eq!(pool(PanelRule::Mean), Some(mean), "{said:?}");
            assert_eq!(pool(PanelRule::Min), Some(min), "{said:?}");
        }
        let two_of_three = pooled(vec![prefers(First), prefers(First), prefers(Tie)], PanelRule::Majority);
        assert_eq!(two_of_three.confidence, Some(2.0 / 3.0));
    }

    #[test]
    fn numbers_are_pooled_by_each_rule() {
        let value = |rule| pooled(vec![score(0.2), score(0.9), score(0.4)], rule).verdict.value();
        assert_eq!((value(PanelRule::Majority), value(PanelRule::Min)), (Some(0.4), Some(0.2)));
        assert!((value(PanelRule::Mean).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn who_gives_no_verdict_has_no_say_and_too_few_are_none() {
        let pool = |answers| pooled(answers, PanelRule::Mean).verdict;
        assert_eq!(pool(vec![score(0.2), score(0.4), refused()]).value(), Some(0.30000000000000004));
        assert_eq!(pool(vec![score(0.2), refused()]).word(), "failed");
        assert_eq!(pool(vec![refused(), refused()]).word(), "refused");
        assert_eq!(pool(vec![score(0.2), prefers(Choice::Tie)]).word(), "failed");
    }

    #[test]
    fn a_judge_counts_as_much_as_it_weighs() {
        use Choice::{First, Second};
        let by = |answers: Vec<Answer>, weights: &[f64], rule| pooled_by(answers, weights, rule);
        // 3 against 1 + 1.
        let split = || vec![prefers(Second), prefers(First), prefers(First)];
        let said = by(split(), &[3.0, 1.0, 1.0], PanelRule::Majority);
        assert_eq!((said.verdict.choice(), said.confidence), (Some(Second), Some(0.6)));
        assert_eq!(by(split(), &[], PanelRule::Majority).verdict.choice(), Some(First));
        let numbers = || vec![score(0.2), score(0.9), score(0.4)];
        // (2 · 0.2 + 1 · 0.9 + 1 · 0.4) / 4 = 0.425; half of 4 falls between 0.2 and 0.4: 0.3; with 3 of 5 at 0.2 it is 0.2.
        let mean = by(numbers(), &[2.0, 1.0, 1.0], PanelRule::Mean).verdict.value().unwrap();
        assert!((mean - 0.425).abs() < 1e-12, "{mean}");
        let median = by(numbers(), &[2.0, 1.0, 1.0], PanelRule::Majority).verdict.value().unwrap();
        assert!((median - 0.3).abs() < 1e-12, "{median}");
        assert_eq!(by(numbers(), &[3.0, 1.0, 1.0], PanelRule::Majority).verdict.value(), Some(0.2));
        // Who weighs more than half and is silent leaves no verdict.
        let silent = || vec![refused(), score(0.9), score(0.9)];
        assert_eq!(by(silent(), &[3.0, 1.0, 1.0], PanelRule::Mean).verdict.word(), "failed");
        assert_eq!(by(silent(), &[], PanelRule::Mean).verdict.value(), Some(0.9));
    }

    #[test]
    fn items_and_orders_are_pooled_place_by_place() {
        let items =
            |met: [Option<bool>; 2]| Answer::of(Verdict::Items { met: met.to_vec(), weights: Vec::new() });
        let answers =
            vec![items([Some(true), Some(true)]), items([Some(true), Some(false)]), items([None, None])];
        let met = vec![Some(true), None];
        assert_eq!(pooled(answers, PanelRule::Majority).verdict, Verdict::Items { met, weights: Vec::new() });
        let order = |order: [usize; 3]| Answer::of(Verdict::Ranks { order: order.to_vec() });
        // Places of 0, 1, 2: (0, 1, 2), (1, 0, 2), (0, 2, 1): sums 1, 3, 5.
        let answers = vec![order([0, 1, 2]), order([1, 0, 2]), order([0, 2, 1])];
        assert_eq!(pooled(answers, PanelRule::Majority).verdict, Verdict::Ranks { order: vec![0, 1, 2] });
    }
}
