//! Kernels against an independent computation in `f64`, on random ragged and masked rows; the error stays below 1e-6.

use merit_credit::CreditError;
use merit_credit::kernels::*;
use proptest::prelude::*;

/// A row: mask, rewards and values by entry, the value after it, its group, and whether it counts.
#[derive(Debug, Clone)]
struct Row {
    cells: Vec<(bool, f32, f32)>,
    last_value: f64,
    group: u32,
    reward: Option<f64>,
}

fn row() -> impl Strategy<Value = Row> {
    let cells = prop::collection::vec((any::<bool>(), -2.0..2.0_f32, -2.0..2.0_f32), 0..40);
    let reward = prop::option::weighted(0.8, prop_oneof![Just(0.0), Just(1.0), -3.0..3.0_f64]);
    (cells, -2.0..2.0_f64, 0..4_u32, reward).prop_map(|(cells, last_value, group, reward)| Row {
        cells,
        last_value,
        group,
        reward,
    })
}

struct Flat {
    bounds: Vec<usize>,
    mask: Vec<bool>,
    rewards: Vec<f32>,
    values: Vec<f32>,
}

fn flat(rows: &[Row]) -> Flat {
    let mut bounds = vec![0];
    rows.iter().for_each(|row| bounds.push(bounds[bounds.len() - 1] + row.cells.len()));
    let cells = || rows.iter().flat_map(|row| &row.cells);
    Flat {
        bounds,
        mask: cells().map(|c| c.0).collect(),
        rewards: cells().map(|c| c.1).collect(),
        values: cells().map(|c| c.2).collect(),
    }
}

/// Advantage of each cell by the definition: a discounted sum of deltas over the trainable cells at and after it.
fn gae_by_definition(row: &Row, gamma: f64, lambda: f64) -> Vec<f64> {
    let trained: Vec<usize> = (0..row.cells.len()).filter(|&i| row.cells[i].0).collect();
    let value = |k: usize| trained.get(k).map_or(row.last_value, |&i| f64::from(row.cells[i].2));
    let delta = |k: usize| f64::from(row.cells[trained[k]].1) + gamma * value(k + 1) - value(k);
    let mut out = vec![0.0; row.cells.len()];
    for (k, &at) in trained.iter().enumerate() {
        out[at] = (k..trained.len()).map(|j| (gamma * lambda).powi((j - k) as i32) * delta(j)).sum();
    }
    out
}

/// How a reward becomes an advantage within its group.
type Formula = fn(f64, &GroupStats) -> f64;

fn by_definition(rows: &[Row], at: usize, norm: &str) -> f64 {
    let Some(reward) = rows[at].reward else { return 0.0 };
    let peers: Vec<f64> =
        rows.iter().filter(|r| r.group == rows[at].group).filter_map(|r| r.reward).collect();
    let n = peers.len() as f64;
    if peers.iter().all(|p| (p - peers[0]).abs() < 1e-9) {
        return 0.0;
    }
    let mean = peers.iter().sum::<f64>() / n;
    match norm {
        "mean" => reward - mean,
        "leave one out" => reward - (peers.iter().sum::<f64>() - reward) / (n - 1.0),
        _ => {
            let variance = peers.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / (n - 1.0);
            (reward - mean) / (variance.sqrt() + 1e-6)
        }
    }
}

fn whitened(numbers: &[f64], mask: &[bool]) -> Vec<f64> {
    let kept: Vec<f64> = numbers.iter().zip(mask).filter(|(_, m)| **m).map(|(x, _)| *x).collect();
    let n = kept.len() as f64;
    let mean = kept.iter().sum::<f64>() / n;
    let variance = kept.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let white = |x: f64| if kept.len() < 2 { 0.0 } else { (x - mean) / (variance + 1e-8).sqrt() };
    numbers.iter().zip(mask).map(|(&x, &m)| if m { white(x) } else { 0.0 }).collect()
}

fn close(got: &[f32], want: &[f64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        prop_assert!((f64::from(*got) - want).abs() < 1e-6, "{} is not {}", got, want);
    }
    Ok(())
}

proptest! {
    #[test]
    fn gae_is_its_definition(
        rows in prop::collection::vec(row(), 0..20),
        gamma in 0.0..=1.0_f64,
        lambda in 0.0..=1.0_f64,
    ) {
        let Flat { bounds, mask, rewards, values } = flat(&rows);
        let view = Rows::new(&bounds, &mask).unwrap();
        let ends: Vec<f64> = rows.iter().map(|r| r.last_value).collect();
        // Buffers that were used before: what is not trainable must be overwritten with 0.
        let (mut advantages, mut returns) = (vec![9.0; mask.len()], vec![9.0; mask.len()]);
        let discount = Discount { gamma, lambda };
        let input = Valued { rewards: &rewards, values: &values, last_values: &ends };
        gae(&view, input, discount, &mut advantages, &mut returns).unwrap();
        let want: Vec<f64> = rows.iter().flat_map(|r| gae_by_definition(r, gamma, lambda)).collect();
        let tolerance = |w: f64| 1e-6 * (1.0 + w.abs());
        for (at, (&got, &want)) in advantages.iter().zip(&want).enumerate() {
            prop_assert!((f64::from(got) - want).abs() < tolerance(want), "{}: {} is not {}", at, got, want);
            let target = if mask[at] { want + f64::from(values[at]) } else { 0.0 };
            prop_assert!((f64::from(returns[at]) - target).abs() < tolerance(target));
        }
        let (mut white, mut same) = (vec![9.0; mask.len()], vec![9.0; mask.len()]);
        let moments = gae_whitened(&view, input, discount, &mut white, &mut same).unwrap();
        prop_assert_eq!(same, returns);
        prop_assert_eq!(moments.count, mask.iter().filter(|m| **m).count());
        if !moments.constant() {
            close(&white, &whitened(&want, &mask))?;
        }
    }

    #[test]
    fn group_kernels_are_their_definitions(rows in prop::collection::vec(row(), 0..20)) {
        let Flat { bounds, mask, .. } = flat(&rows);
        let view = Rows::new(&bounds, &mask).unwrap();
        let rewards: Vec<Option<f64>> = rows.iter().map(|r| r.reward).collect();
        let groups: Vec<u32> = rows.iter().map(|r| r.group).collect();
        let formulas: [(&str, Formula); 3] =
            [("mean and std", mean_std), ("mean", mean), ("leave one out", leave_one_out)];
        for (norm, formula) in formulas {
            let mut out = vec![9.0; mask.len()];
            group_advantages(&view, &rewards, &groups, formula, &mut out).unwrap();
            let want: Vec<f64> = rows.iter().enumerate().flat_map(|(at, row)| {
                let advantage = by_definition(&rows, at, norm);
                row.cells.iter().map(move |cell| if cell.0 { advantage } else { 0.0 })
            }).collect();
            close(&out, &want)?;
        }
    }

    #[test]
    fn whitened_returns_are_discounted_sums(rows in prop::collection::vec(row(), 0..20), gamma in 0.0..=1.0_f64) {
        let Flat { bounds, mask, rewards, .. } = flat(&rows);
        let view = Rows::new(&bounds, &mask).unwrap();
        let mut out = vec![9.0; mask.len()];
        let moments = whitened_returns(&view, &rewards, gamma, &mut out).unwrap();
        // A return is an advantage with lambda 1 against values of 0 and a last value of 0.
        let bare = rows.iter().map(|row| Row {
            cells: row.cells.iter().map(|&(m, r, _)| (m, r, 0.0)).collect(),
            last_value: 0.0,
            ..row.clone()
        });
        let want: Vec<f64> = bare.flat_map(|row| gae_by_definition(&row, gamma, 1.0)).collect();
        if !moments.constant() {
            close(&out, &whitened(&want, &mask))?;
        }
    }
}

#[test]
fn a_large_shift_does_not_spoil_the_variance() {
    // Three numbers around a million: mean 1e6, variance 1, exactly; a plain sum of squares would lose it.
    let moments = Moments::of(&[1e6 - 1.0, 1e6, 1e6 + 1.0]);
    assert_eq!((moments.count, moments.mean, moments.variance()), (3, 1e6, 1.0));
    let whitener = moments.whitener();
    assert!((whitener.of(1e6 + 1.0) - 1.0).abs() < 1e-6 && whitener.of(1e6) == 0.0);
}

#[test]
fn moments_of_parts_merge_to_those_of_the_whole() {
    let stream: Vec<f64> = (0..100).map(|i| 1e3 + f64::from(i * i % 17)).collect();
    let whole = Moments::of(&stream);
    for cut in [0, 1, 37, 99, 100] {
        let merged = Moments::of(&stream[..cut]).merge(Moments::of(&stream[cut..]));
        assert_eq!(merged.count, whole.count);
        assert!((merged.mean - whole.mean).abs() < 1e-10 && (merged.squares - whole.squares).abs() < 1e-8);
    }
}

#[test]
fn what_is_masked_may_be_anything() {
    let mask = [true, false, true];
    let rows = Rows::new(&[0, 3], &mask).unwrap();
    let mut out = [9.0; 3];
    whitened_returns(&rows, &[1.0, f64::NAN, 3.0], 1.0, &mut out).unwrap();
    // Returns 4 and 3.
    assert!(out[0] > 0.0 && out[1] == 0.0 && out[2] < 0.0, "{out:?}");
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let shape = |result: Result<(), CreditError>| result.unwrap_err().to_string();
    let short = Rows::new(&[0, 2], &[true]).unwrap_err();
    assert!(matches!(short, CreditError::Shape { what: "mask", got: 1, want: 2 }), "{short}");
    assert!(Rows::new(&[1, 2], &[true, true]).unwrap_err().to_string().contains("ascend from 0"));
    assert!(Rows::new(&[0, 3, 2], &[true, true]).unwrap_err().to_string().contains("entry 2 is 2, after 3"));
    let rows = Rows::new(&[0, 1, 2], &[true, true]).unwrap();
    let error = shape(group_advantages(&rows, &[Some(1.0); 3], &[0; 3], mean, &mut [0.0; 2]).map(drop));
    assert_eq!(error, "`per_row` has 3 entries where 2 are needed");
    let error = shape(group_advantages(&rows, &[Some(1.0); 2], &[0; 1], mean, &mut [0.0; 2]).map(drop));
    assert_eq!(error, "`groups` has 1 entries where 2 are needed");
    let one = Discount { gamma: 1.0, lambda: 1.0 };
    let input = Valued { rewards: &[0.0_f32; 2], values: &[0.0; 3], last_values: &[0.0; 2] };
    let error = shape(gae(&rows, input, one, &mut [0.0; 2], &mut [0.0; 2]));
    assert_eq!(error, "`values` has 3 entries where 2 are needed");
}
