//! Values to bytes, in the encodings that are written.

use crate::encoding::Encoding;
use crate::half::{f32_to_bf16, f32_to_f16};

/// The bytes of `values`; `None` for encodings that are only read, and where they do not fill whole blocks.
pub(crate) fn encode(encoding: Encoding, values: &[f32]) -> Option<Vec<u8>> {
    encoding.bytes_for(values.len())?;
    Some(match encoding {
        Encoding::F32 => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Encoding::F16 => values.iter().flat_map(|&v| f32_to_f16(v).to_le_bytes()).collect(),
        Encoding::Bf16 => values.iter().flat_map(|&v| f32_to_bf16(v).to_le_bytes()).collect(),
        Encoding::Q8_0 => values.as_chunks::<32>().0.iter().flat_map(q8_0).collect(),
        _ => return None,
    })
}

/// The largest magnitude becomes 127; halves are rounded away from zero.
fn q8_0(values: &[f32; 32]) -> [u8; 34] {
    let largest = values.iter().fold(0.0_f32, |largest, v| largest.max(v.abs()));
    let d = largest / 127.0;
    let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
    let mut block = [0; 34];
    block[..2].copy_from_slice(&f32_to_f16(d).to_le_bytes());
    for (q, v) in block[2..].iter_mut().zip(values) {
        *q = ((v * inverse).round() as i8).cast_unsigned();
    }
    block
}
