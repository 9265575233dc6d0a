//! AdamW (Loshchilov and Hutter, arXiv:1711.05101) over the flat vector, with clipping by the global norm.

use crate::ModelError;
use crate::checkpoint::{gather_all, parse, parse_note, scatter_all, serialise};
use crate::layout::{TensorKind, TensorPlace};
use merit_api::trainer::{AdamWSettings, UpdateStats};
use merit_kernels::Isa;
use merit_kernels::Workers;
use merit_kernels::optim::{AdamStep, adamw};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdamWState {
    m: Vec<f32>,
    v: Vec<f32>,
    steps: u64,
}

const STEP_KEY: &str = "merit_adamw_steps";
/// Weights per piece of work.
const PIECE: usize = 1 << 16;

impl AdamWState {
    pub(crate) fn new(len: usize) -> Self {
        Self { m: vec![0.0; len], v: vec![0.0; len], steps: 0 }
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn apply(
        &mut self,
        isa: Isa,
        settings: &AdamWSettings,
        values: &mut [f32],
        places: &[TensorPlace],
        (gradients, norm): (&[f32], f64),
        workers: &Workers,
    ) -> Result<UpdateStats, ModelError> {
        if !norm.is_finite() {
            return Err(ModelError::NonFiniteGradient { norm });
        }
        let limit = settings.clip_norm.map(f64::from).filter(|limit| norm > *limit);
        self.steps += 1;
        let step = AdamStep {
            gradient_scale: limit.map_or(1.0, |limit| (limit / norm) as f32),
            beta1: settings.beta1,
            beta2: settings.beta2,
            rate: settings.lr / self.correction(settings.beta1),
            second_correction: 1.0 / self.correction(settings.beta2),
            eps: settings.eps,
            keep: 1.0,
        };
        let decayed = AdamStep { keep: 1.0 - settings.lr * settings.weight_decay, ..step };
        let mut pieces = self.pieces(values, places, gradients);
        workers.for_each(&mut pieces, |_, piece| {
            adamw(
                isa,
                piece.weights,
                piece.gradients,
                piece.m,
                piece.v,
                if piece.decays { decayed } else { step },
            );
        });
        Ok(UpdateStats { grad_norm: norm, clipped: limit.is_some() })
    }

    /// `1 - beta^t`
    fn correction(&self, beta: f32) -> f32 {
        (1.0 - f64::from(beta).powf(self.steps as f64)) as f32
    }

    fn pieces<'a>(
        &'a mut self,
        mut values: &'a mut [f32],
        places: &[TensorPlace],
        mut gradients: &'a [f32],
    ) -> Vec<Piece<'a>> {
        let (mut m, mut v) = (&mut self.m[..], &mut self.v[..]);
        let mut pieces = Vec::new();
        for (mut len, decays) in runs(places) {
            while len > 0 {
                let take = len.min(PIECE);
                pieces.push(Piece {
                    weights: values.split_off_mut(..take).expect("runs cover the weights"),
                    gradients: gradients.split_off(..take).expect("runs cover the gradient"),
                    m: m.split_off_mut(..take).expect("runs cover the moments"),
                    v: v.split_off_mut(..take).expect("runs cover the moments"),
                    decays,
                });
                len -= take;
            }
        }
        pieces
    }

    pub(crate) fn to_safetensors(&self, places: &[TensorPlace]) -> Vec<u8> {
        let mut tensors = gather_all(places, &self.m, "m.");
        tensors.extend(gather_all(places, &self.v, "v."));
        serialise(&tensors, (STEP_KEY, self.steps.to_string()))
    }

    pub(crate) fn from_safetensors(bytes: &[u8], places: &[TensorPlace]) -> Result<Self, ModelError> {
        let mut state = Self::new(places.iter().map(|place| place.rows * place.columns).sum());
        state.steps = parse_note(bytes, STEP_KEY)?;
        let file = parse(bytes)?;
        scatter_all(places, &file, "m.", &mut state.m)?;
        scatter_all(places, &file, "v.", &mut state.v)?;
        Ok(state)
    }
}

struct Piece<'a> {
    weights: &'a mut [f32],
    gradients: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    decays: bool,
}

/// Lengths of the runs of weights that do or do not decay, in order.
fn runs(places: &[TensorPlace]) -> Vec<(usize, bool)> {
    let mut runs: Vec<(usize, bool)> = Vec::new();
    for place in places {
        let (len, decays) = (place.rows * place.columns, place.kind != TensorKind::Vector);
        match runs.last_mut() {
            Some((total, same)) if *same == decays => *total += len,
            _ => runs.push((len, decays)),
        }
    }
    runs
}

/// The Euclidean norm, summed in `f64` in a fixed order.
pub(crate) fn norm(gradient: &[f32]) -> f64 {
    let mut lanes = [0.0_f64; 16];
    for chunk in gradient.chunks(16) {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(*x) * f64::from(*x);
        }
    }
    lanes.iter().sum::<f64>().sqrt()
}
