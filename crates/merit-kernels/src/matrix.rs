//! A weight matrix in the form that its products read.

use crate::bf16::{Cut, Source};
use crate::pack::Packed;
use crate::quant::{QuantError, QuantMatrix, QuantPart};
use crate::tile_runs::TileRuns;
use crate::{Isa, Workers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the operands of a product are rounded to; sums are always f32.
///
/// A sum of `k` products in bf16 is off by at most `(2⁻⁷ + k 2⁻²³) Σ |x w|`: half a unit in the eighth bit for each operand,
/// and the rounding of the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Not rounded.
    #[default]
    F32,
    /// To eight significant bits, the nearest; subnormal numbers to zero.
    Bf16,
}

/// A matrix `[inputs, outputs]`, laid out for products with it and, where training needs it, with its transpose.
#[derive(Debug, Clone)]
pub struct Matrix {
    inputs: usize,
    outputs: usize,
    /// Whether the values it is made from lie `[outputs, inputs]`.
    transposed: bool,
    form: Form,
}

/// The layout of a matrix: one way for its products, one for those with its transpose.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    F32 {
        forward: Packed,
        back: Option<Packed>,
    },
    Bf16 {
        forward: TileRuns,
        back: Option<TileRuns>,
    },
    /// With what activations are rounded to.
    Quantised(Arc<QuantMatrix>, Precision),
}

impl Matrix {
    /// From row-major `[inputs, outputs]`.
    pub fn pack(values: &[f32], inputs: usize, outputs: usize, precision: Precision, back: bool) -> Self {
        Self::new(values, (inputs, outputs), false, precision, back)
    }

    /// From row-major `[outputs, inputs]`, as an embedding that is read as the head.
    pub fn pack_transposed(
        values: &[f32],
        inputs: usize,
        outputs: usize,
        precision: Precision,
        back: bool,
    ) -> Self {
        Self::new(values, (inputs, outputs), true, precision, back)
    }

    /// From the blocks of a file, one or more matrices joined along their outputs; they stay as they are, and products have
    /// the bits of those with the decoded weights in f32. Only for products forward.
    ///
    /// [`Matrix::with_activations`] rounds activations instead, which is quicker.
    pub fn quantised(parts: &[QuantPart]) -> Result<Self, QuantError> {
        Ok(Self::of_quantised(Arc::new(QuantMatrix::new(parts)?)))
    }

    pub(crate) fn of_quantised(weights: Arc<QuantMatrix>) -> Self {
        let (inputs, outputs) = (weights.inputs(), weights.outputs());
        Self { inputs, outputs, transposed: true, form: Form::Quantised(weights, Precision::F32) }
    }

    /// A quantised matrix over the same memory whose products round activations to this precision; weights are never
    /// rounded. Other matrices, and those with parts of plain numbers, stay as they are.
    ///
    /// In bf16 the codes of a group are summed before they are scaled, in the order of AMX tiles, with the same bits on every
    /// unit and instruction set and at any batch size. A result is off by at most `2⁻⁸ Σ |x w|` and the rounding of sums.
    #[must_use]
    pub fn with_activations(mut self, precision: Precision) -> Self {
        if let Form::Quantised(weights, own) = &mut self.form
            && (weights.has_codes() || precision == Precision::F32)
        {
            *own = precision;
        }
        self
    }

    fn new(
        values: &[f32],
        (inputs, outputs): (usize, usize),
        transposed: bool,
        precision: Precision,
        back: bool,
    ) -> Self {
        let form = match precision {
            Precision::F32 => Form::F32 { forward: Packed::default(), back: back.then(Packed::default) },
            Precision::Bf16 => {
                Form::Bf16 { forward: TileRuns::default(), back: back.then(TileRuns::default) }
            }
        };
        let mut matrix = Self { inputs, outputs, transposed, form };
        matrix.refill(Isa::best(), &Workers::single(), values);
        matrix
    }

    /// Takes new values in the order it was made from; memory is kept.
    pub(crate) fn refill(&mut self, isa: Isa, workers: &Workers, values: &[f32]) {
        let Self { inputs, outputs, transposed, .. } = *self;
        assert_eq!(values.len(), inputs * outputs, "a matrix takes as many values as it has elements");
        let (rows, columns) = if transposed { (outputs, inputs) } else { (inputs, outputs) };
        match &mut self.form {
            Form::F32 { forward, back } => {
                forward.fill(workers, values, (inputs, outputs), transposed);
                if let Some(back) = back {
                    back.fill(workers, values, (outputs, inputs), !transposed);
                }
            }
            Form::Bf16 { forward, back } => {
                let source = Source::new(values, columns, rows, columns);
                let cut = |transposed| if transposed { Cut::AlongTransposed } else { Cut::Across };
                forward.make_room(outputs, inputs);
                forward.fill_on(workers, isa, cut(transposed), source, outputs);
                if let Some(back) = back {
                    back.make_room(inputs, outputs);
                    back.fill_on(workers, isa, cut(!transposed), source, inputs);
                }
            }
            Form::Quantised(..) => panic!("quantised weights come from a file and are not refilled"),
        }
    }

    /// Width of what goes in.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Width of what comes out.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// What its products round their operands to.
    pub fn precision(&self) -> Precision {
        match self.form {
            Form::F32 { .. } => Precision::F32,
            Form::Quantised(_, precision) => precision,
            Form::Bf16 { .. } => Precision::Bf16,
        }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.form
    }
}
