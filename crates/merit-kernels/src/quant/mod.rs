//! Quantised weights: kept as a file has them, decoded in registers while they are used.
//!
//! In: blocks of a file, one or more matrices joined along their outputs. Out: products. With `f32` activations they have the
//! bits of the same product with the decoded weights; with activations in bf16 they are quicker, by a chain of their own
//! (`sums`). Either way a result is the same at any batch size, on any instruction set or unit, on any number of threads.

mod kernel;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod lanes_x86;
mod product;
mod product_bf16;
mod repack;
mod scheme;
mod sums;
#[cfg(target_arch = "x86_64")]
mod tiles;
pub(crate) mod transpose;
mod walk;

use merit_formats::Encoding;
use repack::Panels;

/// One matrix of a file, `[outputs][inputs]` in rows of blocks.
#[derive(Debug, Clone, Copy)]
pub struct QuantPart<'a> {
    /// How the values are laid down.
    pub encoding: Encoding,
    pub bytes: &'a [u8],
    /// Rows in the file.
    pub outputs: usize,
    /// Values of a row.
    pub inputs: usize,
}

/// Why bytes are no quantised matrix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantError {
    #[error("a matrix is joined from at least one part")]
    NoParts,
    /// Parts of different depth.
    #[error("part {part} has {got} inputs, but those before it have {want}")]
    Inputs {
        /// Which part, counted from 0.
        part: usize,
        got: usize,
        want: usize,
    },
    /// Bytes that are not as many as the shape asks for, or rows that are not whole blocks.
    #[error("{bytes} bytes of {encoding} are not {outputs} rows of {inputs} values in whole blocks")]
    Length { encoding: Encoding, bytes: usize, outputs: usize, inputs: usize },
    /// A block that would make every result worthless.
    #[error("{encoding}, row {output}, block {block}: {reason}; the file is damaged")]
    Block {
        encoding: Encoding,
        output: usize,
        /// The block in the row.
        block: usize,
        reason: &'static str,
    },
    #[error("no room for {bytes} bytes of weights")]
    Memory {
        /// How many were wanted.
        bytes: usize,
    },
}

/// A matrix `[inputs, outputs]` of quantised weights, laid out for products.
#[derive(Debug)]
pub(crate) struct QuantMatrix {
    inputs: usize,
    outputs: usize,
    parts: Vec<Panels>,
}

impl QuantMatrix {
    pub(crate) fn new(parts: &[QuantPart]) -> Result<Self, QuantError> {
        let want = parts.first().ok_or(QuantError::NoParts)?.inputs;
        if let Some((part, other)) = parts.iter().enumerate().find(|(_, part)| part.inputs != want) {
            return Err(QuantError::Inputs { part, got: other.inputs, want });
        }
        let panels: Vec<Panels> = parts.iter().map(Panels::new).collect::<Result<_, _>>()?;
        Ok(Self { inputs: want, outputs: panels.iter().map(|part| part.outputs).sum(), parts: panels })
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// How many bytes the weights take.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(Panels::bytes).sum()
    }
}
