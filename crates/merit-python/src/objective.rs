//! Objectives over arrays: the loss of a batch and its derivative in every log-probability, for whoever has a model elsewhere.

use crate::arrays::{flat, of_rows};
use crate::{error, plain, settings};
use merit_api::trainer::SequenceOutputs;
use merit_learn::{BatchLoss, Entry, LossAgg, Objective};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray2};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The loss of a batch and its derivatives, by token; 0 outside the mask.
#[pyclass(frozen, module = "merit_rl", name = "Coefficients")]
pub(crate) struct Coefficients {
    told: BatchLoss,
    /// Derivatives in the log-probabilities.
    #[pyo3(get)]
    logprobs: Py<PyArray2<f32>>,
    /// Derivatives in the entropies; `None` where the objective has no entropy bonus.
    #[pyo3(get)]
    entropy: Option<Py<PyArray2<f32>>>,
    /// Derivatives in the values; `None` where the objective has no value loss.
    #[pyo3(get)]
    values: Option<Py<PyArray2<f32>>>,
}

#[pymethods]
impl Coefficients {
    /// The loss of the batch.
    #[getter]
    fn loss(&self) -> f64 {
        self.told.loss.total()
    }

    /// What the loss is the sum of: `policy`, `kl`, `entropy` and `value`, signed as they enter it.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::give(py, &self.told.loss)
    }

    /// The share of the trained tokens whose gradient a clip cut.
    #[getter]
    fn clipped(&self) -> f64 {
        self.told.clipped as f64 / self.told.tokens.max(1) as f64
    }

    fn __repr__(&self) -> String {
        format!("Coefficients(loss={}, tokens={}, clipped={})", self.loss(), self.told.tokens, self.clipped())
    }
}

type Stream<'py> = Option<PyReadonlyArray2<'py, f32>>;

/// The loss of a batch by any objective (see `names("objectives")`) and its derivatives: merit's losses under a model of yours.
///
/// `objective` and `loss_agg` are names or dicts with settings. `logprobs` is what the policy gives each token now, `mask` says
/// which tokens are trained. The rest is what the objective reads: `old_logprobs` from when the tokens were chosen,
/// `advantages` (of `merit_rl.advantages`), log-probabilities of a `reference` policy, `entropy` and
/// `old_entropy` (before the update), `values`, `old_values` and `returns`, all of the mask's shape; `rewards` and `groups` by row, where `None` as a reward leaves a row out; `guests` says
/// which rows a teacher wrote, `mismatched` is what KTO's baseline is taken from. What is missing is refused by name.
///
/// With torch, `(torch.from_numpy(c.logprobs) * logprobs).sum().backward()` gives the gradient of the loss.
///
/// >>> import merit_rl, numpy as np
/// >>> old = np.full((1, 3), -1.0, np.float32)
/// >>> mask = np.array([[True, True, False]])
/// >>> c = merit_rl.coefficients("policy-gradient", old, mask, old_logprobs=old, advantages=np.full((1, 3), 2.0, np.float32))
/// >>> c.loss, c.logprobs.tolist()
/// (-2.0, [[-1.0, -1.0, 0.0]])
#[pyfunction]
#[pyo3(signature = (objective, logprobs, mask, *, old_logprobs = None, advantages = None, reference = None, entropy = None, old_entropy = None, values = None, old_values = None, returns = None, rewards = None, groups = None, guests = None, mismatched = None, loss_agg = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn coefficients<'py>(
    py: Python<'py>,
    objective: &Bound<'py, PyAny>,
    logprobs: PyReadonlyArray2<'py, f32>,
    mask: PyReadonlyArray2<'py, bool>,
    old_logprobs: Stream<'py>,
    advantages: Stream<'py>,
    reference: Stream<'py>,
    entropy: Stream<'py>,
    old_entropy: Stream<'py>,
    values: Stream<'py>,
    old_values: Stream<'py>,
    returns: Stream<'py>,
    rewards: Option<Vec<Option<f64>>>,
    groups: Option<Vec<usize>>,
    guests: Option<Vec<bool>>,
    mismatched: Option<Vec<f64>>,
    loss_agg: Option<&Bound<'py, PyAny>>,
) -> PyResult<Coefficients> {
    let objective = settings::chosen::<dyn Objective>(py, settings::named("the objective", objective)?)?;
    let loss_agg = match loss_agg {
        Some(given) => settings::named("`loss_agg`", given)?,
        None => settings::table("token", None)?,
    };
    let loss_agg = settings::chosen::<dyn LossAgg>(py, loss_agg)?;
    let shape = mask.as_array().dim();
    of_rows(py, "rewards", rewards.as_ref(), shape)?;
    of_rows(py, "groups", groups.as_ref(), shape)?;
    of_rows(py, "guests", guests.as_ref(), shape)?;
    let given = Given {
        columns: shape.1,
        mask: flat(py, "mask", &mask, shape)?,
        logprobs: flat(py, "logprobs", &logprobs, shape)?,
        old_logprobs: maybe(py, "old_logprobs", &old_logprobs, shape)?,
        advantages: maybe(py, "advantages", &advantages, shape)?,
        reference: maybe(py, "reference", &reference, shape)?,
        entropy: maybe(py, "entropy", &entropy, shape)?,
        old_entropy: maybe(py, "old_entropy", &old_entropy, shape)?,
        values: maybe(py, "values", &values, shape)?,
        old_values: maybe(py, "old_values", &old_values, shape)?,
        returns: maybe(py, "returns", &returns, shape)?,
        groups: groups.unwrap_or_else(|| (0..shape.0).collect()),
        rewards,
        guests,
    };
    let told = py.detach(|| {
        let rows = given.rows();
        let (all, own) = (given.means(|_| true), given.means(|row| !given.is_guest(row)));
        let (entries, outputs): (Vec<Entry<'_>>, Vec<SequenceOutputs<'_>>) = rows
            .iter()
            .enumerate()
            .map(|(at, &row)| {
                let (entry, outputs) = given.entry(at, row);
                let mean = |means: &BTreeMap<usize, f64>| means.get(&entry.group).copied();
                let (group_reward, own_reward) = (mean(&all), mean(&own));
                (Entry { group_reward, own_reward, ..entry }, outputs)
            })
            .unzip();
        let told =
            merit_learn::coefficients(&objective, &loss_agg, &entries, &outputs, mismatched.as_deref());
        told.map(|told| (rows, told))
    });
    let (rows, told) = told.map_err(|why| error::input(py, why))?;
    let laid = |of: fn(&merit_api::trainer::Coefficients) -> &Vec<f32>| {
        let mut whole = vec![0.0; shape.0 * shape.1];
        for (&row, coefficients) in rows.iter().zip(&told.coefficients) {
            let derivatives = of(coefficients);
            whole[row * shape.1..][..derivatives.len()].copy_from_slice(derivatives);
        }
        PyArray1::from_vec(py, whole).reshape(shape).map(Bound::unbind)
    };
    let needs = objective.needs();
    let logprobs = laid(|c| &c.logprob)?;
    let entropy = needs.entropy.then(|| laid(|c| &c.entropy)).transpose()?;
    let values = needs.values.then(|| laid(|c| &c.value)).transpose()?;
    Ok(Coefficients { told, logprobs, entropy, values })
}

fn maybe<'a>(
    py: Python<'_>,
    name: &str,
    array: &'a Stream<'_>,
    shape: (usize, usize),
) -> PyResult<Option<&'a [f32]>> {
    array.as_ref().map(|array| flat(py, name, array, shape)).transpose()
}

/// A batch of arrays.
struct Given<'a> {
    columns: usize,
    mask: &'a [bool],
    logprobs: &'a [f32],
    old_logprobs: Option<&'a [f32]>,
    advantages: Option<&'a [f32]>,
    reference: Option<&'a [f32]>,
    entropy: Option<&'a [f32]>,
    old_entropy: Option<&'a [f32]>,
    values: Option<&'a [f32]>,
    old_values: Option<&'a [f32]>,
    returns: Option<&'a [f32]>,
    rewards: Option<Vec<Option<f64>>>,
    groups: Vec<usize>,
    guests: Option<Vec<bool>>,
}

impl<'a> Given<'a> {
    fn of<T>(&self, row: usize, array: &'a [T]) -> &'a [T] {
        &array[row * self.columns..(row + 1) * self.columns]
    }

    fn reward(&self, row: usize) -> Option<f64> {
        self.rewards.as_ref().and_then(|rewards| rewards[row]).filter(|reward| !reward.is_nan())
    }

    fn is_guest(&self, row: usize) -> bool {
        self.guests.as_ref().is_some_and(|guests| guests[row])
    }

    /// The rows that count: something is trained, and where rewards are given there is one.
    fn rows(&self) -> Vec<usize> {
        let counts = |row: &usize| {
            self.of(*row, self.mask).contains(&true)
                && (self.rewards.is_none() || self.reward(*row).is_some())
        };
        (0..self.groups.len()).filter(counts).collect()
    }

    /// The mean reward of the rows of each group that `counts`.
    fn means(&self, counts: impl Fn(usize) -> bool) -> BTreeMap<usize, f64> {
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (row, &group) in self.groups.iter().enumerate() {
            if let Some(reward) = self.reward(row).filter(|_| counts(row)) {
                let (sum, count) = sums.entry(group).or_default();
                (*sum, *count) = (*sum + reward, *count + 1.0);
            }
        }
        sums.into_iter().map(|(group, (sum, count))| (group, sum / count)).collect()
    }

    fn entry(&self, index: usize, row: usize) -> (Entry<'a>, SequenceOutputs<'a>) {
        let part = |array: Option<&'a [f32]>| array.map(|array| self.of(row, array));
        let entry = Entry {
            name: format!("row {row}"),
            whole: row,
            group: self.groups[row],
            tokens: &[],
            mask: self.of(row, self.mask).to_vec(),
            weight: 1.0,
            fresh: false,
            old_logprobs: part(self.old_logprobs).filter(|_| !self.is_guest(row)),
            advantages: part(self.advantages),
            old_values: part(self.old_values),
            returns: part(self.returns),
            reference: part(self.reference).map(<[f32]>::to_vec),
            old_entropy: part(self.old_entropy).map(<[f32]>::to_vec),
            reward: self.reward(row),
            group_reward: None,
            own_reward: None,
        };
        let outputs = SequenceOutputs {
            index,
            logprobs: self.of(row, self.logprobs),
            entropy: part(self.entropy).unwrap_or_default(),
            values: part(self.values).unwrap_or_default(),
        };
        (entry, outputs)
    }
}
