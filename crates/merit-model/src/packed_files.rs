//! Weights for sampling straight from a model's files, one tensor after the other, without trainable weights in between.

use crate::checkpoint::fault;
use crate::layout::{BlockLayout, Layout, TensorPlace};
use crate::load::{LoadOptions, Source, place_values};
use crate::memory::require;
use crate::packed::{Embedding, Fused, PackedBlock, PackedWeights};
use crate::{DecoderConfig, ModelError};
use merit_formats::{Encoding, ModelFiles};
use merit_kernels::{Matrix, Precision, QuantPart, Table};
use std::ops::Range;
use std::sync::Arc;

/// How the matrices of a file are held for sampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// As the file has them, decoded while they are used; products have the bits of the decoded weights in f32.
    AsStored,
    /// Decoded and packed at a precision.
    Decoded(Precision),
}

impl PackedWeights {
    /// For forward passes, from a model's files.
    pub fn from_files(files: &ModelFiles, options: LoadOptions, held: Held) -> Result<Self, ModelError> {
        let config = options.config(files)?;
        let load = Loading { files, source: Source::new(files), held, layout: Layout::new(&config), config };
        load.require_memory()?;
        load.packed()
    }

    /// The same weights, whose quantised matrices round activations to this precision; bf16 is quicker. Matrices of plain
    /// numbers stay as they are.
    #[must_use]
    pub fn with_activations(mut self, precision: Precision) -> Self {
        for block in &mut self.blocks {
            for fused in Fused::ALL {
                let matrix = fused.of_mut(block);
                *matrix = Arc::new(Matrix::clone(matrix).with_activations(precision));
            }
        }
        self.head = Arc::new(Matrix::clone(&self.head).with_activations(precision));
        self.precision = self.head.precision();
        self
    }
}

struct Loading<'a> {
    files: &'a ModelFiles,
    source: Source<'a>,
    held: Held,
    layout: Layout,
    config: DecoderConfig,
}

impl Loading<'_> {
    fn require_memory(&self) -> Result<(), ModelError> {
        let decoded = self.config.parameters();
        let embedding = 4 * self.layout.embedding.len();
        let need = match self.held {
            Held::AsStored => {
                let stored = |place: &TensorPlace| Some(self.files.tensor(&place.name).ok()?.bytes.len());
                self.layout.tensors.iter().filter_map(stored).sum()
            }
            Held::Decoded(Precision::F32) => 4 * decoded + embedding,
            Held::Decoded(Precision::Bf16) => 2 * decoded + embedding,
        };
        require(&format!("the weights of {}", self.files.path().display()), need)
    }

    fn packed(self) -> Result<PackedWeights, ModelError> {
        let (embedding, tied) = self.embedding()?;
        let head = match tied {
            Some(head) => head,
            None => self.head()?,
        };
        let blocks = self.layout.blocks.iter().map(|place| self.block(place)).collect::<Result<_, _>>()?;
        let precision = match self.held {
            Held::AsStored => Precision::F32,
            Held::Decoded(precision) => precision,
        };
        Ok(PackedWeights {
            precision,
            blocks,
            final_norm: self.vector(&self.layout.final_norm)?,
            head: Arc::new(head),
            value: None,
            embedding: Embedding::Table(embedding),
            config: self.config,
        })
    }

    /// The embedding, and the head where it is the same.
    fn embedding(&self) -> Result<(Table, Option<Matrix>), ModelError> {
        let place = self.places(&self.layout.embedding).next().expect("every decoder has an embedding");
        let tied = self.config.style.tied;
        if let Some(table) = self.stored_table(place)? {
            let head = table.head().filter(|_| tied);
            return Ok((table, head));
        }
        let values = self.source.values(&place.name, &place.shape())?;
        let head = tied.then(|| self.pack_head(&values));
        Ok((Table::plain(values, self.config.d_model), head))
    }

    fn head(&self) -> Result<Matrix, ModelError> {
        let place = self.places(&self.layout.head).next().expect("an untied head has a tensor");
        if let Some(table) = self.stored_table(place)? {
            return Ok(table.head().expect("stored tables are products too"));
        }
        Ok(self.pack_head(&self.source.values(&place.name, &place.shape())?))
    }

    fn pack_head(&self, values: &[f32]) -> Matrix {
        let precision = if let Held::Decoded(precision) = self.held { precision } else { Precision::F32 };
        Matrix::pack_transposed(values, self.config.d_model, self.config.vocab, precision, false)
    }

    /// A table in the encoding of its file, where that is asked for and saves anything.
    fn stored_table(&self, place: &TensorPlace) -> Result<Option<Table>, ModelError> {
        let view = self.files.tensor(&place.name)?;
        if self.held != Held::AsStored || view.encoding == Encoding::F32 {
            return Ok(None);
        }
        let part = QuantPart {
            encoding: view.encoding,
            bytes: &view.bytes,
            outputs: place.rows,
            inputs: place.columns,
        };
        let table = Table::quantised(part).map_err(|error| fault(&place.name, error.to_string()))?;
        Ok(Some(table))
    }

    fn block(&self, place: &BlockLayout) -> Result<PackedBlock, ModelError> {
        let matrix = |fused: Fused| -> Result<_, ModelError> { Ok(Arc::new(self.matrix(fused, place)?)) };
        let pair = |norms: &Option<[Range<usize>; 2]>| -> Result<_, ModelError> {
            let Some([first, second]) = norms else { return Ok(None) };
            Ok(Some([self.vector(first)?, self.vector(second)?]))
        };
        Ok(PackedBlock {
            attention_norm: self.vector(&place.attention_norm)?,
            qkv: matrix(Fused::Qkv)?,
            qkv_bias: place.qkv_bias.as_ref().map(|range| self.vector(range)).transpose()?,
            head_norms: pair(&place.head_norms)?,
            output: matrix(Fused::Output)?,
            feed_norm: self.vector(&place.feed_norm)?,
            gate_up: matrix(Fused::GateUp)?,
            down: matrix(Fused::Down)?,
            post_norms: pair(&place.post_norms)?,
        })
    }

    fn matrix(&self, fused: Fused, block: &BlockLayout) -> Result<Matrix, ModelError> {
        let range = fused.place(block);
        if let Held::Decoded(precision) = self.held {
            return self.decoded(fused, range, precision);
        }
        let views = self.places(&range).map(|place| Ok((place, self.files.tensor(&place.name)?)));
        let views: Vec<_> = views.collect::<Result<_, ModelError>>()?;
        if views.iter().any(|(_, view)| view.encoding == Encoding::F32) {
            return self.decoded(fused, range, Precision::F32);
        }
        let part = |(place, view): &(&TensorPlace, merit_formats::TensorView<'_>)| -> Result<_, ModelError> {
            if view.shape != place.shape() {
                return Err(fault(
                    &place.name,
                    format!("has shape {:?}, want {:?}", view.shape, place.shape()),
                ));
            }
            Ok((view.encoding, place.columns, place.rows))
        };
        let sizes: Vec<_> = views.iter().map(part).collect::<Result<_, _>>()?;
        let parts: Vec<_> = sizes
            .into_iter()
            .zip(&views)
            .map(|((encoding, outputs, inputs), (_, view))| QuantPart {
                encoding,
                bytes: &view.bytes,
                outputs,
                inputs,
            })
            .collect();
        Matrix::quantised(&parts).map_err(|error| fault(&views[0].0.name, error.to_string()))
    }

    fn decoded(&self, fused: Fused, range: Range<usize>, precision: Precision) -> Result<Matrix, ModelError> {
        let mut flat = vec![0.0; range.len()];
        for place in self.places(&range) {
            let values = self.source.values(&place.name, &place.shape())?;
            let own = TensorPlace { offset: place.offset - range.start, ..place.clone() };
            place_values(&own, &values, &mut flat);
        }
        Ok(fused.pack(&self.config, &flat, precision, false))
    }

    fn vector(&self, range: &Range<usize>) -> Result<Vec<f32>, ModelError> {
        let parts = self.places(range).map(|place| self.source.values(&place.name, &place.shape()));
        Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The tensors whose weights begin in `range`.
    fn places(&self, range: &Range<usize>) -> impl Iterator<Item = &TensorPlace> {
        self.layout.tensors.iter().filter({
            let range = range.clone();
            move |place| range.contains(&place.offset)
        })
    }
}
