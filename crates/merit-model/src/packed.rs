//! Everything that a pass reads of one policy version, in the form that its operations want; shared by all threads.
//!
//! Made from trainable [`Weights`] at a precision, or straight from the files of a model. A pass never sees anything else.

use crate::layout::BlockLayout;
use crate::{DecoderConfig, Weights};
use merit_kernels::{Device, Matrix, Precision, Table};
use std::ops::Range;
use std::sync::Arc;

/// The weights of one block.
#[derive(Debug, Clone)]
pub(crate) struct PackedBlock {
    pub(crate) attention_norm: Vec<f32>,
    pub(crate) qkv: Arc<Matrix>,
    pub(crate) qkv_bias: Option<Vec<f32>>,
    /// Gains of each query head and of each key head.
    pub(crate) head_norms: Option<[Vec<f32>; 2]>,
    pub(crate) output: Arc<Matrix>,
    pub(crate) feed_norm: Vec<f32>,
    pub(crate) gate_up: Arc<Matrix>,
    pub(crate) down: Arc<Matrix>,
    /// Gains of what attention and of what the feed-forward add to the stream.
    pub(crate) post_norms: Option<[Vec<f32>; 2]>,
}

/// A linear value estimate.
#[derive(Debug, Clone)]
pub(crate) struct PackedValue {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: f32,
}

impl PackedValue {
    fn of(weights: &Weights) -> Option<Self> {
        let (place, values) = (weights.layout().value.clone()?, weights.values());
        Some(Self { weight: values[place.clone()].to_vec(), bias: values[place.end] })
    }
}

/// Gives a matrix new values, in its own memory unless somebody else still reads it.
pub(crate) fn refill_matrix(device: &Device, matrix: &mut Arc<Matrix>, values: &[f32]) {
    device.refill(Arc::make_mut(matrix), values);
}

/// Rows by token.
#[derive(Debug, Clone)]
pub(crate) enum Embedding {
    /// Read where the trainable weights keep it.
    Master(Arc<Weights>),
    /// Held on its own, perhaps as a file has it.
    Table(Table),
}

/// Weights packed for products, of one policy version.
///
/// ```
/// use merit_core::Seed;
/// use merit_model::{DecoderConfig, Precision, PackedWeights, Weights};
/// let text = r#"{"vocab":37,"layers":2,"d_model":24,"heads":3,"kv_heads":1,"d_ff":40,"max_context":64}"#;
/// let config: DecoderConfig = serde_json::from_str(text)?;
/// let weights = Weights::init(&config, Seed::root(1))?;
/// let packed = PackedWeights::for_sampling(weights, Precision::F32);
/// assert_eq!(packed.config().vocab, 37);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedWeights {
    pub(crate) config: DecoderConfig,
    pub(crate) precision: Precision,
    pub(crate) embedding: Embedding,
    pub(crate) blocks: Vec<PackedBlock>,
    pub(crate) final_norm: Vec<f32>,
    /// Hidden state to logits.
    pub(crate) head: Arc<Matrix>,
    pub(crate) value: Option<PackedValue>,
}

impl PackedWeights {
    /// What remembered keys and values are rounded to: bfloat16 where every product that makes them rounds its operands.
    pub fn memory_precision(&self) -> Precision {
        let rounds = self.blocks.iter().all(|block| block.qkv.precision() == Precision::Bf16);
        if rounds { Precision::Bf16 } else { Precision::F32 }
    }

    /// For forward passes only.
    pub fn for_sampling(weights: impl Into<Arc<Weights>>, precision: Precision) -> Self {
        let weights = weights.into();
        Self::new(&weights, precision, false, Embedding::Master(Arc::clone(&weights)))
    }

    /// For forward and backward passes; about twice as large.
    pub fn for_training(weights: impl Into<Arc<Weights>>, precision: Precision) -> Self {
        let weights = weights.into();
        Self::new(&weights, precision, true, Embedding::Master(Arc::clone(&weights)))
    }

    /// For forward passes over weights that somebody else owns.
    pub(crate) fn copied(weights: &Weights, precision: Precision) -> Self {
        let embedding = &weights.values()[weights.layout().embedding.clone()];
        let table = Table::plain(embedding, weights.config().d_model);
        Self::new(weights, precision, false, Embedding::Table(table))
    }

    fn new(weights: &Weights, precision: Precision, back: bool, embedding: Embedding) -> Self {
        let config = weights.config().clone();
        let (d, layout, values) = (config.d_model, weights.layout(), weights.values());
        let copy = |range: &Range<usize>| values[range.clone()].to_vec();
        let blocks = layout.blocks.iter().map(|place| {
            let matrix =
                |fused: Fused| Arc::new(fused.pack(&config, &values[fused.place(place)], precision, back));
            PackedBlock {
                attention_norm: copy(&place.attention_norm),
                qkv: matrix(Fused::Qkv),
                qkv_bias: place.qkv_bias.as_ref().map(copy),
                head_norms: place.head_norms.as_ref().map(|norms| norms.each_ref().map(copy)),
                output: matrix(Fused::Output),
                feed_norm: copy(&place.feed_norm),
                gate_up: matrix(Fused::GateUp),
                down: matrix(Fused::Down),
                post_norms: place.post_norms.as_ref().map(|norms| norms.each_ref().map(copy)),
            }
        });
        let head = &values[layout.head.clone()];
        Self {
            precision,
            blocks: blocks.collect(),
            final_norm: copy(&layout.final_norm),
            head: Arc::new(Matrix::pack_transposed(head, d, config.vocab, precision, back)),
            value: PackedValue::of(weights),
            config,
            embedding,
        }
    }

    /// Lets go of the trainable weights, so that they can be changed in place; only [`PackedWeights::refill`] may follow.
    pub(crate) fn release(&mut self) {
        self.embedding = Embedding::Table(Table::plain(Vec::new(), self.config.d_model));
    }

    /// Takes the values of `weights`, of the same shape, into the memory that is already there.
    pub(crate) fn refill(&mut self, device: &Device, weights: Arc<Weights>) {
        let (layout, values) = (weights.layout(), weights.values());
        let copy = |range: &Range<usize>, to: &mut Vec<f32>| to.copy_from_slice(&values[range.clone()]);
        let pair = |places: &Option<[Range<usize>; 2]>, to: &mut Option<[Vec<f32>; 2]>| {
            let pairs = places.iter().flatten().zip(to.iter_mut().flatten());
            pairs.for_each(|(place, to)| copy(place, to));
        };
        for (place, block) in layout.blocks.iter().zip(&mut self.blocks) {
            copy(&place.attention_norm, &mut block.attention_norm);
            copy(&place.feed_norm, &mut block.feed_norm);
            place.qkv_bias.iter().zip(&mut block.qkv_bias).for_each(|(place, to)| copy(place, to));
            pair(&place.head_norms, &mut block.head_norms);
            pair(&place.post_norms, &mut block.post_norms);
            for fused in Fused::ALL {
                refill_matrix(device, fused.of_mut(block), &values[fused.place(place)]);
            }
        }
        copy(&layout.final_norm, &mut self.final_norm);
        refill_matrix(device, &mut self.head, &values[layout.head.clone()]);
        self.value = PackedValue::of(&weights);
        self.embedding = Embedding::Master(weights);
    }

    /// Sizes and style of the decoder.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// What products round their operands to.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Writes the embeddings of `tokens`, row after row, as the first block reads them.
    pub(crate) fn embed(&self, device: &Device, tokens: impl Iterator<Item = usize>, out: &mut [f32]) {
        let d = self.config.d_model;
        match &self.embedding {
            Embedding::Master(weights) => {
                device.gather(&weights.values()[weights.layout().embedding.clone()], d, tokens, out);
            }
            Embedding::Table(table) => {
                tokens.zip(out.chunks_exact_mut(d)).for_each(|(token, row)| table.row(token, row));
            }
        }
        if let Some(scale) = self.config.style.embedding_scale {
            device.scale(scale, out);
        }
    }
}

/// A matrix of a block, by the products that share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fused {
    Qkv,
    Output,
    GateUp,
    Down,
}

impl Fused {
    pub(crate) const ALL: [Self; 4] = [Self::Qkv, Self::Output, Self::GateUp, Self::Down];

    /// Inputs and outputs.
    pub(crate) fn size(self, config: &DecoderConfig) -> (usize, usize) {
        let (d, ff) = (config.d_model, config.d_ff);
        match self {
            Self::Qkv => (d, config.qkv_width()),
            Self::Output => (config.attention_width(), d),
            Self::GateUp => (d, 2 * ff),
            Self::Down => (ff, d),
        }
    }

    pub(crate) fn place(self, block: &BlockLayout) -> Range<usize> {
        match self {
            Self::Qkv => block.qkv.clone(),
            Self::Output => block.output.clone(),
            Self::GateUp => block.gate_up.clone(),
            Self::Down => block.down.clone(),
        }
    }

    pub(crate) fn of(self, block: &PackedBlock) -> &Arc<Matrix> {
        match self {
            Self::Qkv => &block.qkv,
            Self::Output => &block.output,
            Self::GateUp => &block.gate_up,
            Self::Down => &block.down,
        }
    }

    pub(crate) fn of_mut(self, block: &mut PackedBlock) -> &mut Arc<Matrix> {
        match self {
            Self::Qkv => &mut block.qkv,
            Self::Output => &mut block.output,
            Self::GateUp => &mut block.gate_up,
            Self::Down => &mut block.down,
        }
    }

    pub(crate) fn pack(
        self,
        config: &DecoderConfig,
        values: &[f32],
        precision: Precision,
        back: bool,
    ) -> Matrix {
        let (inputs, outputs) = self.size(config);
        Matrix::pack(values, inputs, outputs, precision, back)
    }
}
