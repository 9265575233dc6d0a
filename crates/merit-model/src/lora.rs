//! Low-rank adapters (Hu et al., arXiv:2106.09685): matrices stay, and a product of two thin ones is added to each target.
//!
//! `w' = w + (alpha / rank) a b`, with `a` random and `b` zero at the start. The policy *is* the merged matrix `w'`: it is
//! what is sampled from, what is scored, what gradients are taken at and what is saved. So an adapter never shows in the
//! speed of a forward pass, and sampled log-probabilities are the trained ones. Gradients are of `a` and `b` alone:
//!   `da = s xᵀ (dy bᵀ)`, `db = s (x a)ᵀ dy`, with `s = alpha / rank`.

use crate::layout::{TensorKind, TensorPlace, VALUE_BIAS, VALUE_WEIGHT};
use crate::lora_gradient::PackedAdapter;
use crate::lora_settings::{AdapterSettings, Target};
use crate::packed::{Fused, PackedValue, PackedWeights, refill_matrix};
use crate::{DecoderConfig, ModelError, Weights};
use merit_core::Seed;
use merit_kernels::attention::room;
use merit_kernels::gemm::{Left, Right, Size, gemm};
use merit_kernels::{Device, Isa, Matrix, Precision, Start, Workers};
use std::ops::Range;

/// One target of one block: its two thin matrices in the adapter's flat vector.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) fused: Fused,
    /// Columns of the fused matrix.
    pub(crate) columns: Range<usize>,
    pub(crate) inputs: usize,
    /// `[inputs, rank]`
    pub(crate) a: Range<usize>,
    /// `[rank, columns]`
    pub(crate) b: Range<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct AdapterLayout {
    pub(crate) blocks: Vec<Vec<Part>>,
    /// The value head is small and new, so it is trained whole; its bias follows directly.
    pub(crate) value: Option<Range<usize>>,
    tensors: Vec<TensorPlace>,
    len: usize,
}

impl AdapterLayout {
    fn new(config: &DecoderConfig, settings: &AdapterSettings) -> Self {
        let mut layout = Self { blocks: Vec::new(), value: None, tensors: Vec::new(), len: 0 };
        for layer in 0..config.layers {
            let mut part = |&target: &Target| layout.part(config, settings.rank, layer, target);
            let parts = settings.targets.iter().map(&mut part).collect();
            layout.blocks.push(parts);
        }
        if config.value_head {
            let weight = layout.take(VALUE_WEIGHT.into(), 1, config.d_model, TensorKind::Vector);
            layout.take(VALUE_BIAS.into(), 1, 1, TensorKind::Vector);
            layout.value = Some(weight);
        }
        layout
    }

    fn part(&mut self, config: &DecoderConfig, rank: usize, layer: usize, target: Target) -> Part {
        let (fused, columns) = target.columns(config);
        let inputs = fused.size(config).0;
        let name = |half: &str| {
            let (path, target) = (target.path(), target.name());
            format!("base_model.model.model.layers.{layer}.{path}.{target}.lora_{half}.weight")
        };
        Part {
            a: self.take(name("A"), inputs, rank, TensorKind::Linear),
            b: self.take(name("B"), rank, columns.len(), TensorKind::Linear),
            fused,
            columns,
            inputs,
        }
    }

    fn take(&mut self, name: String, rows: usize, columns: usize, kind: TensorKind) -> Range<usize> {
        let offset = self.len;
        self.tensors.push(TensorPlace { name, offset, rows, columns, stride: columns, kind });
        self.len += rows * columns;
        offset..self.len
    }
}

/// Thin matrices for the targets of every block of one shape of decoder.
#[derive(Debug, Clone)]
pub struct Adapter {
    settings: AdapterSettings,
    config: DecoderConfig,
    layout: AdapterLayout,
    values: Vec<f32>,
}

impl Adapter {
    /// A fresh adapter, which changes nothing yet: `a` is normal of spread `1 / sqrt(in)`, `b` is zero. A value head starts
    /// as the base has it.
    pub fn init(base: &Weights, settings: AdapterSettings, seed: Seed) -> Result<Self, ModelError> {
        let mut adapter = Self::zeros(base.config(), settings)?;
        for (layer, parts) in adapter.layout.blocks.iter().enumerate() {
            for (index, part) in parts.iter().enumerate() {
                let mut stream = seed.child("layer", layer as u64).child("target", index as u64).stream();
                let spread = 1.0 / (part.inputs as f64).sqrt();
                adapter.values[part.a.clone()]
                    .iter_mut()
                    .for_each(|a| *a = (stream.normal() * spread) as f32);
            }
        }
        if let (Some(to), Some(from)) = (&adapter.layout.value, &base.layout().value) {
            adapter.values[to.start..=to.end].copy_from_slice(&base.values()[from.start..=from.end]);
        }
        Ok(adapter)
    }

    pub(crate) fn zeros(config: &DecoderConfig, settings: AdapterSettings) -> Result<Self, ModelError> {
        config.validate()?;
        settings.check(config)?;
        let layout = AdapterLayout::new(config, &settings);
        Ok(Self { config: config.clone(), values: vec![0.0; layout.len], settings, layout })
    }

    /// Rank, alpha and targets.
    pub fn settings(&self) -> &AdapterSettings {
        &self.settings
    }

    /// The shape of the decoder it belongs to.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// All numbers in one vector, in an order private to this crate's version.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The same, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    pub(crate) fn places(&self) -> &[TensorPlace] {
        &self.layout.tensors
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut [f32], &[TensorPlace]) {
        (&mut self.values, &self.layout.tensors)
    }

    /// Refuses a base of another shape.
    pub(crate) fn check_base(&self, base: &Weights) -> Result<(), ModelError> {
        if self.config.parameters() != base.config().parameters()
            || self.config.qkv_width() != base.config().qkv_width()
            || (self.config.layers, self.config.d_model, self.config.d_ff)
                != (base.config().layers, base.config().d_model, base.config().d_ff)
        {
            return Err(ModelError::Adapter("the adapter was made for a decoder of another shape".into()));
        }
        Ok(())
    }

    /// The base with the adapter added: the policy itself, as plain weights.
    pub fn merge(&self, base: &Weights, workers: &Workers) -> Result<Weights, ModelError> {
        self.check_base(base)?;
        let mut merged = base.clone();
        let places: Vec<_> =
            base.layout().blocks.iter().map(|block| Fused::ALL.map(|fused| fused.place(block))).collect();
        let mut rest = merged.values_mut();
        let mut taken = 0;
        let mut jobs = Vec::new();
        for (layer, places) in places.into_iter().enumerate() {
            for (fused, place) in Fused::ALL.into_iter().zip(places) {
                let behind = &mut std::mem::take(&mut rest)[place.start - taken..];
                let (matrix, after) = behind.split_at_mut(place.len());
                taken = place.end;
                rest = after;
                jobs.push((layer, fused, matrix));
            }
        }
        workers.for_each(&mut jobs, |_, (layer, fused, matrix)| {
            self.add_to(Isa::best(), *layer, *fused, matrix)
        });
        if let (Some(from), Some(to)) = (&self.layout.value, base.layout().value.clone()) {
            merged.values_mut()[to.start..=to.end].copy_from_slice(&self.values[from.start..=from.end]);
        }
        Ok(merged)
    }

    /// Adds this adapter's change of one matrix to it: each element goes on from the base's value in one chain.
    fn add_to(&self, isa: Isa, layer: usize, fused: Fused, matrix: &mut [f32]) {
        let (rank, scale) = (self.settings.rank, self.settings.scale());
        let width = fused.size(&self.config).1;
        for part in self.layout.blocks[layer].iter().filter(|part| part.fused == fused) {
            let a: Vec<f32> = self.values[part.a.clone()].iter().map(|a| a * scale).collect();
            let mut b = Vec::new();
            let columns = part.columns.len();
            room(&mut b, rank * columns)[..rank * columns].copy_from_slice(&self.values[part.b.clone()]);
            let size = Size { m: part.inputs, n: columns, k: rank };
            let to = &mut matrix[part.columns.start..];
            gemm(isa, size, Left::rows(&a, rank), Right::rows(&b, columns), to, width, Start::Resume);
        }
    }

    /// Brings `packed`, made for training, from whatever it was to the base with this adapter; matrices that no target touches stay as they are.
    pub(crate) fn refresh(&self, base: &Weights, packed: &mut PackedWeights, isa: Isa, workers: &Workers) {
        let device = Device::single().with_isa(isa);
        let mut jobs: Vec<_> = packed.blocks.iter_mut().enumerate().collect();
        workers.for_each(&mut jobs, |_, (layer, block)| {
            for fused in Fused::ALL {
                if self.layout.blocks[*layer].iter().any(|part| part.fused == fused) {
                    let mut merged = base.values()[fused.place(&base.layout().blocks[*layer])].to_vec();
                    self.add_to(isa, *layer, fused, &mut merged);
                    refill_matrix(&device, fused.of_mut(block), &merged);
                }
            }
        });
        if let Some(place) = &self.layout.value {
            packed.value = Some(PackedValue {
                weight: self.values[place.clone()].to_vec(),
                bias: self.values[place.end],
            });
        }
    }

    pub(crate) fn packed(&self) -> PackedAdapter {
        let rank = self.settings.rank;
        let thin = |part: &Part| {
            let (a, b) = (&self.values[part.a.clone()], &self.values[part.b.clone()]);
            let a = Matrix::pack(a, part.inputs, rank, Precision::F32, false);
            (a, Matrix::pack(b, rank, part.columns.len(), Precision::F32, true))
        };
        let matrices = self.layout.blocks.iter().map(|parts| parts.iter().map(thin).collect()).collect();
        PackedAdapter { layout: self.layout.clone(), rank, scale: self.settings.scale(), matrices }
    }
}
