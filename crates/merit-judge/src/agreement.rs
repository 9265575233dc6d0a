//! How far judges agree beyond chance: Krippendorff's alpha, which takes any number of judges and lets any of them be silent.

use std::collections::BTreeMap;

/// How far apart two values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// 0 where they are equal, else 1.
    Nominal,
    /// The square of their difference.
    Interval,
}

/// Krippendorff's alpha (Krippendorff, Content Analysis, 1980): `1 - observed / expected` disagreement. 1 is full agreement, 0 is chance.
///
/// One list for each question, with a value of each judge where there is one. Absent: fewer than two values of some question, or all
/// values are alike, so that nothing could disagree.
pub fn alpha(questions: &[Vec<Option<f64>>], metric: Metric) -> Option<f64> {
    let said = questions.iter().map(|said| said.iter().flatten().copied().collect::<Vec<f64>>());
    let paired: Vec<Vec<f64>> = said.filter(|values| values.len() > 1).collect();
    let all: Vec<f64> = paired.iter().flatten().copied().collect();
    let n = all.len() as f64;
    let expected = apart(&all, metric) / (n - 1.0);
    let observed: f64 = paired.iter().map(|values| apart(values, metric) / (values.len() - 1) as f64).sum();
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// The sum over all ordered pairs of how far they are apart.
fn apart(values: &[f64], metric: Metric) -> f64 {
    let n = values.len() as f64;
    match metric {
        Metric::Nominal => {
            let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
            values.iter().for_each(|value| *counts.entry(value.to_bits()).or_default() += 1.0);
            n * n - counts.values().map(|count| count * count).sum::<f64>()
        }
        Metric::Interval => {
            // Around the mean, so that large values do not cancel.
            let mean = values.iter().sum::<f64>() / n.max(1.0);
            2.0 * n * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(judges: &[&[f64]]) -> Vec<Vec<Option<f64>>> {
        (0..judges[0].len()).map(|at| judges.iter().map(|judge| Some(judge[at])).collect()).collect()
    }

    #[test]
    fn two_judges_of_ten_questions() {
        // Krippendorff's own example. 14 zeros and 6 ones; 4 questions differ, 8 ordered pairs.
        // observed 8, expected 2 * 14 * 6 / 19 = 8.8421, alpha 1 - 8 / 8.8421 = 0.0952.
        let one = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let two = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let got = alpha(&of(&[&one, &two]), Metric::Nominal).unwrap();
        assert!((got - (1.0 - 8.0 * 19.0 / 168.0)).abs() < 1e-12, "{got}");
        // Of zeros and ones the square of the difference says the same.
        assert!((alpha(&of(&[&one, &two]), Metric::Interval).unwrap() - got).abs() < 1e-9);
    }

    #[test]
    fn numbers_that_are_close_agree_more_than_those_that_are_far() {
        // Values 0, 1 and 4, 4: within 2 * 1, over all pairs of (0, 1, 4, 4): 2 * (1 + 16 + 16 + 9 + 9 + 0) = 102, / 3 = 34.
        let got = alpha(&of(&[&[0.0, 4.0], &[1.0, 4.0]]), Metric::Interval).unwrap();
        assert!((got - (1.0 - 2.0 / 34.0)).abs() < 1e-12, "{got}");
    }

    #[test]
    fn silence_is_left_out_and_nothing_to_disagree_on_has_no_alpha() {
        let mut questions = of(&[&[1.0, -1.0], &[1.0, -1.0]]);
        questions.push(vec![Some(1.0), None]);
        assert_eq!(alpha(&questions, Metric::Nominal), Some(1.0));
        assert_eq!(alpha(&of(&[&[1.0, 1.0], &[1.0, 1.0]]), Metric::Nominal), None);
        assert_eq!(alpha(&[], Metric::Interval), None);
    }
}
