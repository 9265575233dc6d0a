//! How a tensor's values are laid down in bytes: plain numbers, or blocks that share a scale.
//!
//! In: bytes. Out: `f32` values, exact by the definition of each block; this is the reference that faster kernels are
//! compared with.

use crate::dequantise;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Encoding {
    /// Four bytes each.
    F32,
    /// IEEE half precision, 16 bits.
    F16,
    /// The upper half of an `f32`.
    #[serde(rename = "BF16")]
    Bf16,
    /// 32 values: a scale and a signed byte each.
    #[serde(rename = "Q8_0")]
    Q8_0,
    /// 32 values: a scale and four bits each, centred.
    #[serde(rename = "Q4_0")]
    Q4_0,
    /// 32 values: a scale, a lowest value and four bits each.
    #[serde(rename = "Q4_1")]
    Q4_1,
    /// 32 values: a scale and five bits each, centred.
    #[serde(rename = "Q5_0")]
    Q5_0,
    /// 32 values: a scale, a lowest value and five bits each.
    #[serde(rename = "Q5_1")]
    Q5_1,
    /// 256 values in eight groups with six-bit scales and lowest values, four bits each.
    #[serde(rename = "Q4_K")]
    Q4K,
    /// 256 values in eight groups with six-bit scales and lowest values, five bits each.
    #[serde(rename = "Q5_K")]
    Q5K,
    /// 256 values in sixteen groups with signed eight-bit scales, six bits each, centred.
    #[serde(rename = "Q6_K")]
    Q6K,
}

/// Bytes and values that do not belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes of {encoding} do not hold {values} values")]
pub struct LengthMismatch {
    /// The encoding of the bytes.
    pub encoding: Encoding,
    pub bytes: usize,
    /// How many values were asked for.
    pub values: usize,
}

/// Names as files and people write them, numbers in GGUF, values in a block, bytes of a block.
const TABLE: [(Encoding, &str, u32, usize, usize); 11] = [
    (Encoding::F32, "F32", 0, 1, 4),
    (Encoding::F16, "F16", 1, 1, 2),
    (Encoding::Q4_0, "Q4_0", 2, 32, 18),
    (Encoding::Q4_1, "Q4_1", 3, 32, 20),
    (Encoding::Q5_0, "Q5_0", 6, 32, 22),
    (Encoding::Q5_1, "Q5_1", 7, 32, 24),
    (Encoding::Q8_0, "Q8_0", 8, 32, 34),
    (Encoding::Q4K, "Q4_K", 12, 256, 144),
    (Encoding::Q5K, "Q5_K", 13, 256, 176),
    (Encoding::Q6K, "Q6_K", 14, 256, 210),
    (Encoding::Bf16, "BF16", 30, 1, 2),
];

impl Encoding {
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, u32, usize, usize) {
        TABLE.iter().find(|row| row.0 == self).expect("the table names every encoding")
    }

    /// Its name, as `Q4_1`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// How many values a block holds; 1 for plain numbers.
    pub fn block(self) -> usize {
        self.row().3
    }

    /// How many bytes a block takes.
    pub fn block_bytes(self) -> usize {
        self.row().4
    }

    /// How many bytes `values` take; `None` where they do not fill whole blocks or the number overflows.
    pub fn bytes_for(self, values: usize) -> Option<usize> {
        values
            .is_multiple_of(self.block())
            .then(|| (values / self.block()).checked_mul(self.block_bytes()))?
    }

    /// Its number in the list of tensors of a GGUF file.
    pub fn gguf_number(self) -> u32 {
        self.row().2
    }

    /// The encoding with this number in GGUF, where it is one of these.
    pub fn from_gguf_number(number: u32) -> Option<Self> {
        TABLE.iter().find(|row| row.2 == number).map(|row| row.0)
    }

    /// Its name in safetensors; `None` for blocks, which that format does not know.
    pub fn safetensors_name(self) -> Option<&'static str> {
        (self.block() == 1).then(|| self.name())
    }

    /// The encoding with this name in safetensors, where it is one of these.
    pub fn from_safetensors_name(name: &str) -> Option<Self> {
        [Self::F32, Self::F16, Self::Bf16].into_iter().find(|e| e.name() == name)
    }

    /// Writes the values of `bytes` into `out`.
    pub fn decode(self, bytes: &[u8], out: &mut [f32]) -> Result<(), LengthMismatch> {
        if self.bytes_for(out.len()) != Some(bytes.len()) {
            return Err(LengthMismatch { encoding: self, bytes: bytes.len(), values: out.len() });
        }
        dequantise::decode(self, bytes, out);
        Ok(())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
