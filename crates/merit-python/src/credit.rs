//! Credit over arrays: rows are episodes, columns are tokens, and a mask says which tokens the policy chose.

mod batch;

use crate::arrays::{flat, of_rows};
use crate::{error, settings};
use batch::Given;
use merit_credit::CreditRule;
use merit_credit::kernels::{self, Discount, Rows, Valued};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

type Maybe<'py> = (Bound<'py, PyArray2<f32>>, Option<Bound<'py, PyArray2<f32>>>);
type Pair<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>);

fn bounds((rows, columns): (usize, usize)) -> Vec<usize> {
    (0..=rows).map(|row| row * columns).collect()
}

/// Generalized advantage estimation over the tokens of the mask: advantages and returns, of the mask's shape.
///
/// `rewards` and `values` have an entry for each token; `last_values` one for each row, 0 where the episode really ended. With
/// `whiten` advantages have mean 0 and variance 1 over the tokens of the mask, as verl and TRL whiten them.
///
/// >>> import merit_rl, numpy as np
/// >>> mask = np.array([[True, False, True]])
/// >>> rewards = np.array([[0, 0, 1]], dtype=np.float32)
/// >>> values = np.zeros((1, 3), dtype=np.float32)
/// >>> advantages, returns = merit_rl.gae(rewards, values, mask, gamma=0.5, lam=1.0)
/// >>> advantages.tolist()
/// [[0.5, 0.0, 1.0]]
#[pyfunction]
#[pyo3(signature = (rewards, values, mask, *, gamma = 1.0, lam = 1.0, last_values = None, whiten = false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn gae<'py>(
    py: Python<'py>,
    rewards: PyReadonlyArray2<'py, f32>,
    values: PyReadonlyArray2<'py, f32>,
    mask: PyReadonlyArray2<'py, bool>,
    gamma: f64,
    lam: f64,
    last_values: Option<PyReadonlyArray1<'py, f64>>,
    whiten: bool,
) -> PyResult<Pair<'py>> {
    let shape = mask.as_array().dim();
    let mask = flat(py, "mask", &mask, shape)?;
    let (rewards, values) = (flat(py, "rewards", &rewards, shape)?, flat(py, "values", &values, shape)?);
    let last: Vec<f64> = match &last_values {
        Some(last) => last.as_array().to_vec(),
        None => vec![0.0; shape.0],
    };
    let (advantages, returns) =
        (PyArray2::<f32>::zeros(py, shape, false), PyArray2::<f32>::zeros(py, shape, false));
    {
        let (mut into_advantages, mut into_returns) = (advantages.readwrite(), returns.readwrite());
        let made = (into_advantages.as_slice_mut(), into_returns.as_slice_mut());
        let (Ok(advantages), Ok(returns)) = made else {
            return Err(error::broke(py, "a new array does not lie row by row"));
        };
        let bounds = bounds(shape);
        let done = py.detach(|| {
            let rows = Rows::new(&bounds, mask)?;
            let input = Valued { rewards, values, last_values: &last };
            let discount = Discount { gamma, lambda: lam };
            match whiten {
                true => kernels::gae_whitened(&rows, input, discount, advantages, returns).map(|_| ()),
                false => kernels::gae(&rows, input, discount, advantages, returns),
            }
        });
        done.map_err(|why| error::input(py, why))?;
    }
    Ok((advantages, returns))
}

/// The advantage of each reward against the others of its group. `None` (or NaN) is an episode without a verdict: it gets 0 and
/// moves nobody. `formula` is `grpo` (over the standard deviation), `mean` (Dr. GRPO) or `rloo` (less the mean of the others).
///
/// >>> import merit_rl
/// >>> merit_rl.group_advantages([1.0, 0.0, None], [7, 7, 7], formula="mean").tolist()
/// [0.5, -0.5, 0.0]
#[pyfunction]
#[pyo3(signature = (rewards, groups, *, formula = "grpo"))]
pub(crate) fn group_advantages<'py>(
    py: Python<'py>,
    rewards: Vec<Option<f64>>,
    groups: Vec<u32>,
    formula: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let rewards: Vec<Option<f64>> =
        rewards.into_iter().map(|reward| reward.filter(|r| !r.is_nan())).collect();
    let formula = match formula {
        "grpo" => kernels::mean_std,
        "mean" => kernels::mean,
        "rloo" => kernels::leave_one_out,
        other => {
            let why = merit_core::registry::UnknownName::among("formula", other, ["grpo", "mean", "rloo"]);
            return Err(error::input(py, why));
        }
    };
    let bounds: Vec<usize> = (0..=rewards.len()).collect();
    let mask = vec![true; rewards.len()];
    let mut out = vec![0.0; rewards.len()];
    let compared = Rows::new(&bounds, &mask)
        .and_then(|rows| kernels::group_advantages(&rows, &rewards, &groups, formula, &mut out))
        .map_err(|why| error::input(py, why))?;
    Ok(PyArray1::from_vec(py, compared.per_row))
}

/// Advantages by any credit rule (see `names("rules")`), of the mask's shape, and returns where the rule fits values.
///
/// `rule` is a name or a dict with its settings. A run of `True` in a row of the mask is a turn. `rewards` has one entry for each row,
/// `None` where there is no verdict; `turn_rewards` one list for each row, an entry for each turn, where the reward is paid by
/// turn; `groups` says which rows share a task; `values` what a value head says; `truncated` which rows were cut, and
/// `last_values` what they were worth there.
///
/// >>> import merit_rl, numpy as np
/// >>> mask = np.array([[True, True, False, True], [True, False, False, False]])
/// >>> advantages, returns = merit_rl.advantages({"type": "grpo", "scale_by_std": False}, [1.0, 0.0], mask, groups=[0, 0])
/// >>> advantages.tolist(), returns
/// ([[0.5, 0.5, 0.0, 0.5], [-0.5, 0.0, 0.0, 0.0]], None)
#[pyfunction]
#[pyo3(signature = (rule, rewards, mask, *, groups = None, turn_rewards = None, values = None, truncated = None, last_values = None, seed = 0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn advantages<'py>(
    py: Python<'py>,
    rule: &Bound<'py, PyAny>,
    rewards: Vec<Option<f64>>,
    mask: PyReadonlyArray2<'py, bool>,
    groups: Option<Vec<u32>>,
    turn_rewards: Option<Vec<Vec<f64>>>,
    values: Option<PyReadonlyArray2<'py, f32>>,
    truncated: Option<Vec<bool>>,
    last_values: Option<Vec<f32>>,
    seed: u64,
) -> PyResult<Maybe<'py>> {
    let rule = settings::chosen::<dyn CreditRule>(py, settings::named("the rule", rule)?)?;
    let shape = mask.as_array().dim();
    let mask = flat(py, "mask", &mask, shape)?;
    let values = values.as_ref().map(|values| flat(py, "values", values, shape)).transpose()?;
    of_rows(py, "rewards", Some(&rewards), shape)?;
    of_rows(py, "groups", groups.as_ref(), shape)?;
    of_rows(py, "turn_rewards", turn_rewards.as_ref(), shape)?;
    of_rows(py, "truncated", truncated.as_ref(), shape)?;
    of_rows(py, "last_values", last_values.as_ref(), shape)?;
    let groups = groups.unwrap_or_else(|| (0..shape.0 as u32).collect());
    let given =
        Given { mask, values, columns: shape.1, rewards, turn_rewards, truncated, last_values, groups };
    let made = py.detach(|| given.assign(rule.component().as_ref(), seed));
    let (advantages, returns) = made.map_err(|why| error::input(py, why))?;
    let shaped = |flat: Vec<f32>| PyArray1::from_vec(py, flat).reshape(shape);
    Ok((shaped(advantages)?, returns.map(shaped).transpose()?))
}
