//! Credit over arrays: rows are episodes, columns are tokens, and a mask says which tokens the policy chose.

mod batch;

use crate::arrays::{self, by_row, maybe_by_row, of_rows};
use crate::process::apart;
use crate::{error, plain, settings};
use batch::Given;
use merit_core::Chosen;
use merit_credit::kernels::{self, Discount, Rows, Valued};
use merit_credit::{CreditRule, Differs};
use numpy::PyArray1;
use pyo3::prelude::*;
use serde::Serialize;

/// Advantages and returns, each as the mask lies.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);
type Maybe<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Generalized advantage estimation over the tokens of the mask: advantages and returns, of the mask's shape.
///
/// `rewards` and `values` have an entry for each token; `last_values` one for each row, 0 where the episode really ended. With
/// `whiten` advantages have mean 0 and variance 1 over the tokens of the mask, as verl and TRL whiten them.
///
/// Arrays of numpy and tensors on the CPU are read where they lie: float32, row by row. A mask may be of whole numbers. Where the
/// mask is a list of rows, of any lengths, so is what comes back.
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
    rewards: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    mask: &Bound<'py, PyAny>,
    gamma: f64,
    lam: f64,
    last_values: Option<&Bound<'py, PyAny>>,
    whiten: bool,
) -> PyResult<Pair<'py>> {
    let (mask, layout) = arrays::mask(mask)?;
    let (rewards, values) =
        (arrays::numbers("rewards", rewards, &layout)?, arrays::numbers("values", values, &layout)?);
    let last_values = maybe_by_row::<f64>("last_values", last_values)?;
    of_rows(py, "last_values", last_values.as_ref(), &layout)?;
    let last = last_values.unwrap_or_else(|| vec![0.0; layout.rows()]);
    let (mask, rewards, values, bounds) = (mask.slice(), rewards.slice(), values.slice(), &layout.bounds);
    let done = apart(py, || {
        let (mut advantages, mut returns) = (vec![0.0; mask.len()], vec![0.0; mask.len()]);
        let rows = Rows::new(bounds, mask)?;
        let input = Valued { rewards, values, last_values: &last };
        let discount = Discount { gamma, lambda: lam };
        match whiten {
            true => kernels::gae_whitened(&rows, input, discount, &mut advantages, &mut returns).map(|_| ()),
            false => kernels::gae(&rows, input, discount, &mut advantages, &mut returns),
        }
        .map(|()| (advantages, returns))
    })?;
    let (advantages, returns) = done.map_err(|why| error::input(py, why))?;
    Ok((layout.give(py, advantages)?, layout.give(py, returns)?))
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
    rewards: &Bound<'py, PyAny>,
    groups: &Bound<'py, PyAny>,
    formula: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (rewards, groups) = (by_row::<Option<f64>>("rewards", rewards)?, by_row::<u32>("groups", groups)?);
    let rewards: Vec<Option<f64>> =
        rewards.into_iter().map(|reward| reward.filter(|r| !r.is_nan())).collect();
    if let Some(at) = rewards.iter().position(|reward| reward.is_some_and(f64::is_infinite)) {
        let why =
            format!("reward {at} is infinite; give finite numbers, and `None` where there is no verdict");
        return Err(error::input(py, why));
    }
    let formula = match formula {
        "grpo" => kernels::mean_std,
        "mean" => kernels::mean,
        "rloo" => kernels::leave_one_out,
        other => {
            let why = merit_core::registry::UnknownName::among("formula", other, ["grpo", "mean", "rloo"]);
            return Err(error::input(py, why));
        }
    };
    let compared = apart(py, || {
        let bounds: Vec<usize> = (0..=rewards.len()).collect();
        let mask = vec![true; rewards.len()];
        let mut out = vec![0.0; rewards.len()];
        let rows = Rows::new(&bounds, &mask)?;
        kernels::group_advantages(&rows, &rewards, &groups, formula, &mut out)
    })?;
    Ok(PyArray1::from_vec(py, compared.map_err(|why| error::input(py, why))?.per_row))
}

/// What a credit rule needs that arrays do not say by themselves: `groups` (it compares the rows of a group), `values` (what a value head
/// says), and in words what only episodes hold (`beyond`): with that it cannot work here.
///
/// >>> import merit_rl
/// >>> merit_rl.credit_needs("grpo")
/// {'groups': True, 'values': False, 'beyond': []}
/// >>> merit_rl.credit_needs("branch-monte-carlo")["beyond"]
/// ['continuations from every turn']
#[pyfunction]
pub(crate) fn credit_needs<'py>(py: Python<'py>, rule: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let rule = read_rule(py, rule)?.component();
    let told = apart(py, || Needed::of(rule.as_ref()))?;
    plain::give(py, &told)
}

fn read_rule(py: Python<'_>, rule: &Bound<'_, PyAny>) -> PyResult<Chosen<dyn CreditRule>> {
    let rule = settings::named("the rule", rule)?;
    let read = apart(py, || settings::chosen::<dyn CreditRule>(rule))?;
    read.map_err(|why| error::input(py, why))
}

/// What arrays must hold for a rule, and what they cannot.
#[derive(Serialize)]
struct Needed {
    groups: bool,
    values: bool,
    beyond: Vec<String>,
}

impl Needed {
    fn of(rule: &dyn CreditRule) -> Self {
        let (needs, properties) = (rule.needs(), rule.properties());
        // It learns from rewards too, but what it is for are trees and terms.
        let whole = [Differs::TurnTerms, Differs::Branches].into_iter();
        let whole = whole.filter(|what| properties.learns_from(*what)).map(|what| what.words().to_owned());
        let beyond = needs.beyond_arrays().into_iter().chain(whole).collect();
        Self { groups: properties.compares_members, values: needs.values, beyond }
    }
}

/// Advantages by any credit rule (see `names("rules")`), of the mask's shape, and returns where the rule fits values. Arrays and
/// lists of rows are read as `gae` reads them.
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
    rewards: &Bound<'py, PyAny>,
    mask: &Bound<'py, PyAny>,
    groups: Option<&Bound<'py, PyAny>>,
    turn_rewards: Option<&Bound<'py, PyAny>>,
    values: Option<&Bound<'py, PyAny>>,
    truncated: Option<&Bound<'py, PyAny>>,
    last_values: Option<&Bound<'py, PyAny>>,
    seed: u64,
) -> PyResult<Maybe<'py>> {
    let rule = read_rule(py, rule)?;
    let beyond = Needed::of(rule.component().as_ref()).beyond;
    if !beyond.is_empty() {
        let (name, beyond) = (rule.about().name, beyond.join(" and "));
        let why =
            format!("the rule `{name}` learns from {beyond}, which arrays do not hold; use it in a recipe");
        return Err(error::input(py, why));
    }
    let (mask, layout) = arrays::mask(mask)?;
    let values = arrays::maybe("values", values, &layout)?;
    let rewards = by_row::<Option<f64>>("rewards", rewards)?;
    let groups = maybe_by_row::<u32>("groups", groups)?;
    let turn_rewards = maybe_by_row::<Bound<'py, PyAny>>("turn_rewards", turn_rewards)?;
    let turn_rewards = turn_rewards
        .map(|rows| rows.iter().map(|row| by_row::<f64>("turn_rewards", row)).collect::<PyResult<Vec<_>>>())
        .transpose()?;
    let truncated = maybe_by_row::<bool>("truncated", truncated)?;
    let last_values = maybe_by_row::<f32>("last_values", last_values)?;
    of_rows(py, "rewards", Some(&rewards), &layout)?;
    of_rows(py, "groups", groups.as_ref(), &layout)?;
    of_rows(py, "turn_rewards", turn_rewards.as_ref(), &layout)?;
    of_rows(py, "truncated", truncated.as_ref(), &layout)?;
    of_rows(py, "last_values", last_values.as_ref(), &layout)?;
    let groups = groups.unwrap_or_else(|| (0..layout.rows() as u32).collect());
    let given = Given {
        mask: mask.slice(),
        values: values.as_ref().map(arrays::Entries::slice),
        bounds: &layout.bounds,
        rewards,
        turn_rewards,
        truncated,
        last_values,
        groups,
    };
    let made = apart(py, || given.assign(rule.component().as_ref(), seed))?;
    let (advantages, returns) = made.map_err(|why| error::input(py, why))?;
    Ok((layout.give(py, advantages)?, returns.map(|returns| layout.give(py, returns)).transpose()?))
}
