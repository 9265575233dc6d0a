//! Reward models: a decoder whose scalar head is read behind the last token, and that head as a file of its own.
//!
//! In: token sequences. Out: one reward each, or the gradient of a preference between two. The head is the one that estimates
//! values elsewhere; here only the state behind the whole sequence is asked, and `transformers` reads the file's tensor as the
//! `score` of a sequence classifier with one label.

use crate::checkpoint::{fault, parse, serialise};
use crate::{
    AdamWSettings, Coefficients, ModelError, PackedWeights, SequenceOutputs, TrainSequence, Trainer,
    UpdateStats, Weights,
};
use merit_core::TokenId;
use safetensors::{Dtype, SafeTensors};
use std::sync::Arc;

/// The name of the file in a model's folder.
pub const REWARD_HEAD_FILE: &str = "reward_head.safetensors";

const WEIGHT: &str = "score.weight";
const BIAS: &str = "score.bias";
const WIDTH_KEY: &str = "merit_reward_head_width";

/// A linear map from the normalised state behind a sequence to its reward.
///
/// ```
/// use merit_model::RewardHead;
/// let head = RewardHead::new(vec![0.5, -1.0], 0.25);
/// assert_eq!(RewardHead::from_safetensors(&head.to_safetensors(), 2)?, head);
/// # Ok::<(), merit_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RewardHead {
    weight: Vec<f32>,
    bias: f32,
}

impl RewardHead {
    /// A head for a decoder as wide as `weight`.
    pub fn new(weight: Vec<f32>, bias: f32) -> Self {
        Self { weight, bias }
    }

    /// One number for each of the decoder's, and what is added.
    pub fn parts(&self) -> (&[f32], f32) {
        (&self.weight, self.bias)
    }

    /// Reads a head for a decoder of this width; a file without a bias has none.
    pub fn from_safetensors(bytes: &[u8], width: usize) -> Result<Self, ModelError> {
        let file = parse(bytes)?;
        if let Some(extra) = file.names().into_iter().find(|name| ![WEIGHT, BIAS].contains(name)) {
            return Err(fault(extra, "does not belong to a reward head".into()));
        }
        let weight = floats(&file, WEIGHT, &[1, width])?;
        let bias = if file.names().contains(&BIAS) { floats(&file, BIAS, &[1])?[0] } else { 0.0 };
        Ok(Self { weight, bias })
    }

    /// The head as the bytes of a file.
    pub fn to_safetensors(&self) -> Vec<u8> {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensors = vec![
            (WEIGHT.to_owned(), vec![1, self.weight.len()], bytes(&self.weight)),
            (BIAS.to_owned(), vec![1], bytes(&[self.bias])),
        ];
        serialise(&tensors, (WIDTH_KEY, self.weight.len().to_string()))
    }
}

fn floats(file: &SafeTensors, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
    let view = file.tensor(name).map_err(|_| fault(name, "is missing".into()))?;
    if view.dtype() != Dtype::F32 {
        return Err(fault(name, format!("has type {:?}, want F32", view.dtype())));
    }
    if view.shape() != shape {
        return Err(fault(name, format!("has shape {:?}, want {shape:?}", view.shape())));
    }
    let values: Vec<f32> = view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(fault(name, format!("holds {} at index {at}", values[at]))),
        None => Ok(values),
    }
}

impl Weights {
    /// The same weights with this reward head in the place of their scalar head.
    pub fn with_reward_head(self, head: &RewardHead) -> Result<Self, ModelError> {
        let (want, got) = (self.config().d_model, head.weight.len());
        if got != want {
            return Err(fault(WEIGHT, format!("is {got} wide, but the decoder is {want}")));
        }
        let mut weights = self.with_value_head();
        let place = weights.layout().value.clone().expect("a scalar head was added");
        let values = weights.values_mut();
        values[place.clone()].copy_from_slice(&head.weight);
        values[place.end] = head.bias;
        Ok(weights)
    }
}

/// Two answers to the same question, of which one was liked better.
#[derive(Debug, Clone, Copy)]
pub struct Preference<'a> {
    /// Question and better answer.
    pub chosen: &'a [TokenId],
    /// Question and worse answer.
    pub rejected: &'a [TokenId],
}

/// How well a reward model tells chosen from rejected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreferenceFit {
    /// `mean(-log σ(chosen - rejected))`, in nats.
    pub loss: f64,
    /// The share of pairs whose chosen sequence has the higher reward; equal rewards count half.
    pub accuracy: f64,
}

/// A decoder that gives whole sequences a reward, and learns to from preferences.
#[derive(Debug)]
pub struct RewardModel {
    trainer: Trainer,
}

impl RewardModel {
    /// A reward model over weights or an adapter under training; they must have a scalar head
    /// ([`Weights::with_reward_head`]).
    pub fn over(trainer: Trainer) -> Result<Self, ModelError> {
        if !trainer.weights().config().value_head {
            return Err(ModelError::Config(
                "a reward model needs weights with a reward head: load one by `with_reward_head`".into(),
            ));
        }
        Ok(Self { trainer })
    }

    /// The reward of each sequence.
    pub fn score(&mut self, sequences: &[&[TokenId]]) -> Result<Vec<f32>, ModelError> {
        let batch = self.behind(sequences)?;
        let scores = self.trainer.score(&batch.sequences(), 1.0)?;
        Ok(scores.iter().map(|scores| scores.values.last().copied().unwrap_or_default()).collect())
    }

    /// Adds the gradient of the pairs' mean loss `-log σ(chosen - rejected)` (Bradley and Terry) to what is accumulated, and
    /// says how the present weights do on them.
    pub fn accumulate(&mut self, pairs: &[Preference]) -> Result<PreferenceFit, ModelError> {
        let sequences = both(pairs)?;
        let rewards = self.score(&sequences)?;
        let fit = fit_of(&rewards);
        let pull = |pair: usize| {
            let ahead = f64::from(rewards[2 * pair]) - f64::from(rewards[2 * pair + 1]);
            (1.0 / (1.0 + ahead.exp()) / pairs.len() as f64) as f32
        };
        let objective = |outputs: &SequenceOutputs| {
            let mut value = vec![0.0; outputs.values.len()];
            let sign = if outputs.index.is_multiple_of(2) { -1.0 } else { 1.0 };
            value.iter_mut().last().into_iter().for_each(|last| *last = sign * pull(outputs.index / 2));
            Coefficients { value, ..Coefficients::default() }
        };
        let batch = self.behind(&sequences)?;
        self.trainer.accumulate(&batch.sequences(), 1.0, &objective)?;
        Ok(fit)
    }

    /// Adds the gradient of the mean squared difference between rewards and `targets`, one each, to what is accumulated, and says
    /// how large it is under the present weights.
    pub fn accumulate_targets(
        &mut self,
        sequences: &[&[TokenId]],
        targets: &[f32],
    ) -> Result<f64, ModelError> {
        if sequences.is_empty() || sequences.len() != targets.len() {
            let (given, wanted) = (targets.len(), sequences.len());
            return Err(ModelError::Config(format!("{given} targets for {wanted} sequences")));
        }
        let rewards = self.score(sequences)?;
        let count = targets.len() as f64;
        let off: Vec<f64> = rewards
            .iter()
            .zip(targets)
            .map(|(reward, target)| f64::from(*reward) - f64::from(*target))
            .collect();
        let objective = |outputs: &SequenceOutputs| {
            let mut value = vec![0.0; outputs.values.len()];
            let pull = (2.0 * off[outputs.index] / count) as f32;
            value.iter_mut().last().into_iter().for_each(|last| *last = pull);
            Coefficients { value, ..Coefficients::default() }
        };
        let batch = self.behind(sequences)?;
        self.trainer.accumulate(&batch.sequences(), 1.0, &objective)?;
        Ok(off.iter().map(|off| off * off).sum::<f64>() / count)
    }

    /// How the present weights do on these pairs, without learning from them.
    pub fn fit(&mut self, pairs: &[Preference]) -> Result<PreferenceFit, ModelError> {
        Ok(fit_of(&self.score(&both(pairs)?)?))
    }

    /// One step with what was accumulated.
    pub fn apply(&mut self, adamw: &AdamWSettings) -> Result<UpdateStats, ModelError> {
        self.trainer.apply(adamw)
    }

    /// Restores what [`Trainer::optimiser_to_safetensors`] wrote; nothing changes on an error.
    pub fn load_optimiser(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.trainer.load_optimiser(bytes)
    }

    /// The head as it is now, to be written to [`REWARD_HEAD_FILE`].
    pub fn head(&mut self) -> RewardHead {
        let packed: Arc<PackedWeights> = self.trainer.policy();
        let value = packed.value.as_ref().expect("`over` found a scalar head");
        RewardHead::new(value.weight.clone(), value.bias)
    }

    /// What is trained, and its gradients.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// The sequences as the trainer reads them, once their lengths are found good.
    fn behind(&self, sequences: &[&[TokenId]]) -> Result<Behind, ModelError> {
        // The trainer counts the token behind a sequence too.
        let most = self.trainer.weights().config().max_context - 1;
        for (index, len) in sequences.iter().map(|sequence| sequence.len()).enumerate() {
            if len == 0 || len > most {
                let reason = format!("{len} tokens; a reward is read behind 1 to {most}");
                return Err(ModelError::Sequence { index, reason });
            }
        }
        Ok(Behind::new(sequences))
    }
}

/// Chosen and rejected sequences in turn.
fn both<'a>(pairs: &[Preference<'a>]) -> Result<Vec<&'a [TokenId]>, ModelError> {
    if pairs.is_empty() {
        return Err(ModelError::Config("there is no pair to prefer one of".into()));
    }
    Ok(pairs.iter().flat_map(|pair| [pair.chosen, pair.rejected]).collect())
}

fn fit_of(rewards: &[f32]) -> PreferenceFit {
    let pairs = rewards.as_chunks::<2>().0;
    let count = pairs.len() as f64;
    let (mut loss, mut right) = (0.0, 0.0);
    for [chosen, rejected] in pairs {
        let ahead = f64::from(*chosen) - f64::from(*rejected);
        // log(1 + e^-x), without overflow.
        loss += (-ahead).max(0.0) + (-ahead.abs()).exp().ln_1p();
        right += if ahead > 0.0 {
            1.0
        } else if ahead == 0.0 {
            0.5
        } else {
            0.0
        };
    }
    PreferenceFit { loss: loss / count, accuracy: right / count }
}

/// Sequences with one token more, before which the head is asked; it is never read.
struct Behind {
    tokens: Vec<Vec<TokenId>>,
    needed: Vec<Vec<bool>>,
}

impl Behind {
    fn new(sequences: &[&[TokenId]]) -> Self {
        let tokens = sequences.iter().map(|sequence| [sequence, &[TokenId(0)][..]].concat()).collect();
        let needed =
            sequences.iter().map(|sequence| (0..=sequence.len()).map(|t| t == sequence.len()).collect());
        Self { tokens, needed: needed.collect() }
    }

    fn sequences(&self) -> Vec<TrainSequence<'_>> {
        let both = self.tokens.iter().zip(&self.needed);
        both.map(|(tokens, needed)| TrainSequence { tokens, needed }).collect()
    }
}
