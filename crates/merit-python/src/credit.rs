//! Credit over arrays: rows are episodes, columns are tokens, and a mask says which tokens the policy chose.
//!
//! Arrays that lie in memory row by row are read where they are; others are refused with what to do, never copied in silence.

use crate::{error, settings};
use merit_core::{
    Action, End, Episode, EpisodeId, Group, Limit, Phase, PolicyVersion, Provenance, Reward, Role, Score,
    ScoredEpisode, Seed, Segment, Task, TokenId, Transcript, Turn,
};
use merit_credit::kernels::{self, Discount, Rows, Valued};
use merit_credit::{CreditBatch, CreditRule};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

type Maybe<'py> = (Bound<'py, PyArray2<f32>>, Option<Bound<'py, PyArray2<f32>>>);
type Pair<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>);

/// The entries of an array, row by row.
fn flat<'a, T: numpy::Element>(
    py: Python<'_>,
    name: &str,
    array: &'a PyReadonlyArray2<'_, T>,
    shape: (usize, usize),
) -> PyResult<&'a [T]> {
    let dims = array.as_array();
    let found = dims.dim();
    if found != shape {
        let why = format!("`{name}` has the shape {found:?} and the mask {shape:?}; give them the same");
        return Err(error::input(py, why));
    }
    let by_row = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    by_row.ok_or_else(|| {
        error::input(py, format!("`{name}` does not lie row by row; pass numpy.ascontiguousarray({name})"))
    })
}

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
    let rule = settings::chosen::<dyn CreditRule>(py, table(rule)?)?;
    let shape = mask.as_array().dim();
    let mask = flat(py, "mask", &mask, shape)?;
    let values = values.as_ref().map(|values| flat(py, "values", values, shape)).transpose()?;
    let lengths = [
        ("rewards", Some(rewards.len())),
        ("groups", groups.as_ref().map(Vec::len)),
        ("turn_rewards", turn_rewards.as_ref().map(Vec::len)),
        ("truncated", truncated.as_ref().map(Vec::len)),
        ("last_values", last_values.as_ref().map(Vec::len)),
    ];
    for (name, length) in lengths {
        if length.is_some_and(|length| length != shape.0) {
            let why = format!("`{name}` has {} entries and the mask {} rows", length.unwrap_or(0), shape.0);
            return Err(error::input(py, why));
        }
    }
    let groups = groups.unwrap_or_else(|| (0..shape.0 as u32).collect());
    let given =
        Given { mask, values, columns: shape.1, rewards, turn_rewards, truncated, last_values, groups };
    let made = py.detach(|| given.assign(rule.component().as_ref(), seed));
    let (advantages, returns) = made.map_err(|why| error::input(py, why))?;
    let shaped = |flat: Vec<f32>| PyArray1::from_vec(py, flat).reshape(shape);
    Ok((shaped(advantages)?, returns.map(shaped).transpose()?))
}

fn table(rule: &Bound<'_, PyAny>) -> PyResult<Value> {
    match rule.extract::<String>() {
        Ok(name) => settings::table(&name, None),
        Err(_) => match rule.cast::<PyDict>() {
            Ok(table) => crate::plain::value("the rule", table),
            Err(_) => Err(error::input(rule.py(), "the rule is neither a name nor a dict with a `type`")),
        },
    }
}

/// A batch of arrays.
struct Given<'a> {
    mask: &'a [bool],
    values: Option<&'a [f32]>,
    columns: usize,
    rewards: Vec<Option<f64>>,
    turn_rewards: Option<Vec<Vec<f64>>>,
    truncated: Option<Vec<bool>>,
    last_values: Option<Vec<f32>>,
    groups: Vec<u32>,
}

impl Given<'_> {
    fn assign(&self, rule: &dyn CreditRule, seed: u64) -> Result<(Vec<f32>, Option<Vec<f32>>), String> {
        let mut order: Vec<(u32, Vec<usize>)> = Vec::new();
        for (row, group) in self.groups.iter().enumerate() {
            match order.iter_mut().find(|(known, _)| known == group) {
                Some((_, rows)) => rows.push(row),
                None => order.push((*group, vec![row])),
            }
        }
        let groups = order.iter().map(|(group, rows)| {
            let members: Result<Vec<ScoredEpisode>, String> = rows
                .iter()
                .enumerate()
                .map(|(member, &row)| self.episode(row, *group, member as u32))
                .collect();
            Group::assemble(members?).map_err(|why| why.to_string())
        });
        let groups = groups.collect::<Result<Vec<Group>, String>>()?;
        let batch = CreditBatch::new(&groups).with_seed(Seed::root(seed));
        let credit = rule.assign(&batch).map_err(|why| why.to_string())?;
        let mut advantages = vec![0.0; self.mask.len()];
        let mut returns = None;
        let rows = order.iter().flat_map(|(_, rows)| rows);
        for (&row, sample) in rows.zip(&credit.samples) {
            let Some(range) = self.span(row) else { continue };
            if let Some(given) = &sample.advantages {
                advantages[range.clone()].copy_from_slice(given);
            }
            if let Some(given) = &sample.returns {
                returns.get_or_insert_with(|| vec![0.0; self.mask.len()])[range].copy_from_slice(given);
            }
        }
        Ok((advantages, returns))
    }

    /// From the first token that the policy chose to the last: what lies outside is nobody's to credit.
    fn span(&self, row: usize) -> Option<Range<usize>> {
        let start = row * self.columns;
        let mask = &self.mask[start..start + self.columns];
        let first = mask.iter().position(|&chosen| chosen)?;
        let last = mask.iter().rposition(|&chosen| chosen)?;
        Some(start + first..start + last + 1)
    }

    fn episode(&self, row: usize, group: u32, member: u32) -> Result<ScoredEpisode, String> {
        let mut transcript = Transcript::default();
        let mut turns: Vec<Turn> = Vec::new();
        let span = self.span(row).unwrap_or(0..0);
        let mut at = span.start;
        while at < span.end {
            let chosen = self.mask[at];
            let length = self.mask[at..span.end].iter().take_while(|&&other| other == chosen).count();
            let turn = turns.len() as u32;
            if chosen {
                turns.push(Turn::new(turn, Action::Say { text: String::new() }));
            }
            let values = self.values.filter(|_| chosen).map(|values| values[at..at + length].to_vec());
            let segment = Segment {
                role: if chosen { Role::Policy } else { Role::Environment },
                provenance: Provenance::Sampled,
                turn,
                tokens: vec![TokenId(0); length],
                logprobs: if chosen { vec![0.0; length] } else { Vec::new() },
                values: values.unwrap_or_default(),
                policy_version: chosen.then_some(PolicyVersion(0)),
                text: String::new(),
                known: merit_core::Known::Full,
            };
            transcript.append(segment).map_err(|why| why.to_string())?;
            at += length;
        }
        let cut = self.truncated.as_ref().is_some_and(|cut| cut[row]);
        let end = if cut { End::Truncated { limit: Limit::Turns } } else { End::EnvironmentDone };
        let bootstrap = self.last_values.as_ref().filter(|_| cut).map(|last| last[row]);
        let id = EpisodeId { phase: Phase::train(), step: 0, group, member, branch: 0 };
        let task = Task::new("arrays", format!("arrays/{group}"));
        let count = turns.len();
        let episode = Episode::new(id, task, end)
            .with_transcript(transcript)
            .with_turns(turns)
            .with_bootstrap(bootstrap);
        let reward = match self.rewards[row].filter(|reward| !reward.is_nan()) {
            Some(value) => Reward::Value { value },
            None => Reward::Unscorable { why: "there is no reward".to_owned() },
        };
        let mut score = Score::new(reward);
        if let Some(paid) = self.turn_rewards.as_ref().map(|paid| &paid[row]).filter(|paid| !paid.is_empty())
        {
            if paid.len() != count {
                return Err(format!(
                    "row {row} has {count} turns in the mask and {} turn rewards",
                    paid.len()
                ));
            }
            score = score.with_turn_rewards(paid.clone());
        }
        Ok(ScoredEpisode { episode: Arc::new(episode), score: Some(score) })
    }
}
