//! Objectives over arrays: the loss of a batch and its derivative in every log-probability, for whoever has a model elsewhere.

use crate::arrays::{self, Entries, maybe_by_row, of_rows};
use crate::process::apart;
use crate::{error, plain, settings};
use merit_api::trainer::SequenceOutputs;
use merit_learn::{Entry, LossAgg, LossParts, Objective};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// The loss of a batch and its derivatives, by token; 0 outside the mask.
///
/// >>> import merit_rl, numpy as np
/// >>> told = merit_rl.coefficients("sft", np.full((1, 2), -1.0, np.float32), np.array([[True, True]]))
/// >>> told.loss, told.parts["policy"], told.clipped, told.entropy
/// (1.0, 1.0, 0.0, None)
/// >>> told.logprobs.tolist()
/// [[-0.5, -0.5]]
#[pyclass(frozen, module = "merit_rl", name = "Coefficients")]
pub(crate) struct Coefficients {
    parts: LossParts,
    /// How many tokens are trained.
    #[pyo3(get)]
    tokens: usize,
    /// The share of the trained tokens whose gradient a clip cut.
    #[pyo3(get)]
    clipped: f64,
    /// Derivatives in the log-probabilities.
    #[pyo3(get)]
    logprobs: Py<PyAny>,
    /// Derivatives in the entropies; `None` where the objective has no entropy bonus.
    #[pyo3(get)]
    entropy: Option<Py<PyAny>>,
    /// Derivatives in the values; `None` where the objective has no value loss.
    #[pyo3(get)]
    values: Option<Py<PyAny>>,
}

type Again<'py> = (Bound<'py, PyAny>, usize, f64, Py<PyAny>, Option<Py<PyAny>>, Option<Py<PyAny>>);

#[pymethods]
impl Coefficients {
    /// Made again from what it says.
    #[new]
    #[pyo3(signature = (parts, tokens, clipped, logprobs, entropy = None, values = None))]
    fn new(
        parts: &Bound<'_, PyDict>,
        tokens: usize,
        clipped: f64,
        logprobs: Py<PyAny>,
        entropy: Option<Py<PyAny>>,
        values: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let part = |name: &str| match parts.get_item(name)? {
            Some(value) => value.extract::<f64>(),
            None => Err(error::input(parts.py(), format!("`parts` has no `{name}`"))),
        };
        let (policy, kl, entropy_part, value) =
            (part("policy")?, part("kl")?, part("entropy")?, part("value")?);
        let parts = LossParts { policy, kl, entropy: entropy_part, value };
        Ok(Self { parts, tokens, clipped, logprobs, entropy, values })
    }

    /// The loss of the batch.
    #[getter]
    fn loss(&self) -> f64 {
        self.parts.total()
    }

    /// What the loss is the sum of: `policy`, `kl`, `entropy` and `value`, signed as they enter it.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::give(py, &self.parts)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, Again<'py>> {
        let (py, this) = (slf.py(), slf.get());
        let copy = |array: &Option<Py<PyAny>>| array.as_ref().map(|array| array.clone_ref(py));
        let parts = (this.parts(py)?, this.tokens, this.clipped, this.logprobs.clone_ref(py));
        let again = (parts.0, parts.1, parts.2, parts.3, copy(&this.entropy), copy(&this.values));
        Ok((slf.get_type().into_any(), again))
    }

    fn __repr__(&self) -> String {
        format!("Coefficients(loss={}, tokens={}, clipped={})", self.loss(), self.tokens, self.clipped)
    }
}

/// The loss of a batch by any objective (see `names("objectives")`) and its derivatives: merit's losses under a model of yours.
///
/// `objective` and `loss_agg` are names or dicts with settings. `logprobs` is what the policy gives each token now, `mask` says
/// which tokens are trained. The rest is what the objective reads: `old_logprobs` from when the tokens were chosen,
/// `advantages` (of `merit_rl.advantages`), log-probabilities of a `reference` policy, `entropy` and
/// `old_entropy` (before the update), `values`, `old_values` and `returns`, all of the mask's shape; `rewards` and `groups` by row, where `None` as a reward leaves a row out; `guests` says
/// which rows a teacher wrote, `mismatched` is what KTO's baseline is taken from. What is missing is refused by name. Arrays and lists
/// of rows are read as `gae` reads them, and the derivatives lie as the mask does.
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
    logprobs: &Bound<'py, PyAny>,
    mask: &Bound<'py, PyAny>,
    old_logprobs: Option<&Bound<'py, PyAny>>,
    advantages: Option<&Bound<'py, PyAny>>,
    reference: Option<&Bound<'py, PyAny>>,
    entropy: Option<&Bound<'py, PyAny>>,
    old_entropy: Option<&Bound<'py, PyAny>>,
    values: Option<&Bound<'py, PyAny>>,
    old_values: Option<&Bound<'py, PyAny>>,
    returns: Option<&Bound<'py, PyAny>>,
    rewards: Option<&Bound<'py, PyAny>>,
    groups: Option<&Bound<'py, PyAny>>,
    guests: Option<&Bound<'py, PyAny>>,
    mismatched: Option<&Bound<'py, PyAny>>,
    loss_agg: Option<&Bound<'py, PyAny>>,
) -> PyResult<Coefficients> {
    let objective = settings::named("the objective", objective)?;
    let objective = apart(py, || settings::chosen::<dyn Objective>(objective))?;
    let objective = objective.map_err(|why| error::input(py, why))?;
    let loss_agg = match loss_agg {
        Some(given) => settings::named("`loss_agg`", given)?,
        None => settings::table("token", None)?,
    };
    let loss_agg = apart(py, || settings::chosen::<dyn LossAgg>(loss_agg))?;
    let loss_agg = loss_agg.map_err(|why| error::input(py, why))?;
    let (mask, layout) = arrays::mask(mask)?;
    let rewards = maybe_by_row::<Option<f64>>("rewards", rewards)?;
    let groups = maybe_by_row::<usize>("groups", groups)?;
    let guests = maybe_by_row::<bool>("guests", guests)?;
    let mismatched = maybe_by_row::<f64>("mismatched", mismatched)?;
    of_rows(py, "rewards", rewards.as_ref(), &layout)?;
    of_rows(py, "groups", groups.as_ref(), &layout)?;
    of_rows(py, "guests", guests.as_ref(), &layout)?;
    let logprobs = arrays::numbers("logprobs", logprobs, &layout)?;
    let old_logprobs = arrays::maybe("old_logprobs", old_logprobs, &layout)?;
    let advantages = arrays::maybe("advantages", advantages, &layout)?;
    let reference = arrays::maybe("reference", reference, &layout)?;
    let entropy = arrays::maybe("entropy", entropy, &layout)?;
    let old_entropy = arrays::maybe("old_entropy", old_entropy, &layout)?;
    let values = arrays::maybe("values", values, &layout)?;
    let old_values = arrays::maybe("old_values", old_values, &layout)?;
    let returns = arrays::maybe("returns", returns, &layout)?;
    let given = Given {
        bounds: &layout.bounds,
        mask: mask.slice(),
        logprobs: logprobs.slice(),
        old_logprobs: there(&old_logprobs),
        advantages: there(&advantages),
        reference: there(&reference),
        entropy: there(&entropy),
        old_entropy: there(&old_entropy),
        values: there(&values),
        old_values: there(&old_values),
        returns: there(&returns),
        groups: groups.unwrap_or_else(|| (0..layout.rows()).collect()),
        rewards,
        guests,
    };
    let told = apart(py, || {
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
    })?;
    let (rows, told) = told.map_err(|why| error::input(py, why))?;
    let laid = |of: fn(&merit_api::trainer::Coefficients) -> &Vec<f32>| {
        let mut whole = vec![0.0; layout.entries()];
        for (&row, coefficients) in rows.iter().zip(&told.coefficients) {
            let derivatives = of(coefficients);
            whole[layout.bounds[row]..][..derivatives.len()].copy_from_slice(derivatives);
        }
        layout.give(py, whole).map(Bound::unbind)
    };
    let needs = objective.needs();
    Ok(Coefficients {
        logprobs: laid(|c| &c.logprob)?,
        entropy: needs.entropy.then(|| laid(|c| &c.entropy)).transpose()?,
        values: needs.values.then(|| laid(|c| &c.value)).transpose()?,
        parts: told.loss,
        tokens: told.tokens,
        clipped: told.clipped as f64 / told.tokens.max(1) as f64,
    })
}

fn there<'a>(stream: &'a Option<Entries<'_, f32>>) -> Option<&'a [f32]> {
    stream.as_ref().map(Entries::slice)
}

/// A batch of arrays.
struct Given<'a> {
    /// Where each row begins, and where the last one ends.
    bounds: &'a [usize],
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
        &array[self.bounds[row]..self.bounds[row + 1]]
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
