//! Several judges, or several votes of one: what they come to together. Whoever gave no verdict has no say, and is not counted as one.

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
    /// What each said of each question so far; nothing where that was no verdict.
    choices: Vec<Vec<Option<f64>>>,
    scores: Vec<Vec<Option<f64>>>,
}

impl Panel {
    /// These judges, whose verdicts are pooled by this rule.
    pub fn new(judges: Vec<Box<dyn Judge>>, rule: PanelRule) -> Self {
        Self { judges, rule, choices: Vec::new(), scores: Vec::new() }
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
            answers.push(pooled(said, self.rule));
        }
        answers
    }
}

impl Judge for Panel {
    fn id(&self) -> String {
        let ids: Vec<String> = self.judges.iter().map(|judge| judge.id()).collect();
        format!("{:?} of [{}]", self.rule, ids.join(", ")).to_lowercase()
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

fn side(choice: Choice) -> f64 {
    match choice {
        Choice::First => 1.0,
        Choice::Tie => 0.0,
        Choice::Second => -1.0,
    }
}

/// What several answers to one question come to. More than half of them must be verdicts, and of one kind.
pub fn pooled(mut answers: Vec<Answer>, rule: PanelRule) -> Answer {
    if answers.len() == 1 {
        return answers.remove(0);
    }
    let cost: Cost = answers.iter().map(|answer| answer.cost).sum();
    let verdicts: Vec<&Verdict> =
        answers.iter().map(|answer| &answer.verdict).filter(|v| is_said(v)).collect();
    if verdicts.len() * 2 <= answers.len() {
        return Answer { cost, ..without(&answers, verdicts.len()) };
    }
    let verdict = match verdicts[0] {
        Verdict::Prefers { .. } => {
            all(&verdicts, Verdict::choice).map(|c| Verdict::Prefers { choice: chosen(&c, rule) })
        }
        Verdict::Score { .. } => all(&verdicts, Verdict::value).map(|values| number(&values, rule)),
        Verdict::Items { .. } => {
            all(&verdicts, items).map(|lists| Verdict::Items { met: each_item(&lists, rule) })
        }
        _ => all(&verdicts, order).map(|orders| Verdict::Ranks { order: by_mean_place(&orders) }),
    };
    let Some(verdict) = verdict else {
        let why = "the judges gave verdicts of different kinds".to_owned();
        return Answer { cost, ..Answer::of(Verdict::Failed { why }) };
    };
    let agrees = |answer: &&Answer| answer.verdict == verdict;
    let evidence = answers.iter().find(agrees).or(answers.first()).map(|one| one.evidence.clone());
    let agreeing = answers.iter().filter(agrees).count() as f64 / answers.len() as f64;
    let confidence = matches!(verdict, Verdict::Prefers { .. }).then_some(agreeing);
    Answer { verdict, evidence: evidence.unwrap_or_default(), confidence, cost }
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

/// What `get` finds in every verdict. Absent: one of them is of another kind.
fn all<T>(verdicts: &[&Verdict], get: fn(&Verdict) -> Option<T>) -> Option<Vec<T>> {
    verdicts.iter().map(|verdict| get(verdict)).collect()
}

fn items(verdict: &Verdict) -> Option<Vec<Option<bool>>> {
    match verdict {
        Verdict::Items { met } => Some(met.clone()),
        _ => None,
    }
}

fn order(verdict: &Verdict) -> Option<Vec<usize>> {
    match verdict {
        Verdict::Ranks { order } => Some(order.clone()),
        _ => None,
    }
}

fn chosen(choices: &[Choice], rule: PanelRule) -> Choice {
    let count = |wanted| choices.iter().filter(|choice| **choice == wanted).count();
    let (first, second, tie) = (count(Choice::First), count(Choice::Second), count(Choice::Tie));
    match rule {
        PanelRule::Majority if first > second && first > tie => Choice::First,
        PanelRule::Majority if second > first && second > tie => Choice::Second,
        PanelRule::Mean if first > second => Choice::First,
        PanelRule::Mean if second > first => Choice::Second,
        PanelRule::Min if first == choices.len() => Choice::First,
        PanelRule::Min if second == choices.len() => Choice::Second,
        PanelRule::Majority | PanelRule::Mean | PanelRule::Min => Choice::Tie,
    }
}

fn number(values: &[f64], rule: PanelRule) -> Verdict {
    let pooled = match rule {
        PanelRule::Majority => quantile(values, 0.5),
        PanelRule::Mean => mean(values),
        PanelRule::Min => quantile(values, 0.0),
    };
    match pooled {
        Some(value) => Verdict::Score { value },
        None => Verdict::Failed { why: "nobody gave a number".to_owned() },
    }
}

/// Each item by those who spoke of it. Nothing where nobody did, or as many say yes as no.
fn each_item(lists: &[Vec<Option<bool>>], rule: PanelRule) -> Vec<Option<bool>> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let one = |at: usize| {
        let said: Vec<bool> = lists.iter().filter_map(|list| list.get(at).copied().flatten()).collect();
        let yes = said.iter().filter(|met| **met).count();
        match rule {
            PanelRule::Min => (!said.is_empty()).then_some(yes == said.len()),
            PanelRule::Majority | PanelRule::Mean => (yes * 2 != said.len()).then_some(yes * 2 > said.len()),
        }
    };
    (0..longest).map(one).collect()
}

/// Candidates by the sum of their places (Borda); those with the same sum as they are shown.
fn by_mean_place(orders: &[Vec<usize>]) -> Vec<usize> {
    let count = orders.iter().map(Vec::len).max().unwrap_or_default();
    let mut sums = vec![0; count];
    for order in orders {
        for (place, candidate) in order.iter().enumerate() {
            if let Some(sum) = sums.get_mut(*candidate) {
                *sum += place;
            }
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|candidate| sums[*candidate]);
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
    fn items_and_orders_are_pooled_place_by_place() {
        let items = |met: [Option<bool>; 2]| Answer::of(Verdict::Items { met: met.to_vec() });
        let answers =
            vec![items([Some(true), Some(true)]), items([Some(true), Some(false)]), items([None, None])];
        let met = vec![Some(true), None];
        assert_eq!(pooled(answers, PanelRule::Majority).verdict, Verdict::Items { met });
        let order = |order: [usize; 3]| Answer::of(Verdict::Ranks { order: order.to_vec() });
        // Places of 0, 1, 2: (0, 1, 2), (1, 0, 2), (0, 2, 1): sums 1, 3, 5.
        let answers = vec![order([0, 1, 2]), order([1, 0, 2]), order([0, 2, 1])];
        assert_eq!(pooled(answers, PanelRule::Majority).verdict, Verdict::Ranks { order: vec![0, 1, 2] });
    }
}
