//! Blocks to values, one function for each encoding, by the public definition of the format.
//!
//! `d` is a block's scale, `m` its lowest value, both half precision; sums and products are in `f32`.

use crate::encoding::Encoding;
use crate::half::{bf16_to_f32, f16_to_f32};

/// Both lengths are whole blocks of `encoding` and fit each other.
pub(crate) fn decode(encoding: Encoding, bytes: &[u8], out: &mut [f32]) {
    match encoding {
        Encoding::F32 => each::<4, 1>(bytes, out, |b, y| y[0] = f32::from_le_bytes(*b)),
        Encoding::F16 => each::<2, 1>(bytes, out, |b, y| y[0] = f16_to_f32(u16::from_le_bytes(*b))),
        Encoding::Bf16 => each::<2, 1>(bytes, out, |b, y| y[0] = bf16_to_f32(u16::from_le_bytes(*b))),
        Encoding::Q8_0 => each::<34, 32>(bytes, out, q8_0),
        Encoding::Q4_0 => each::<18, 32>(bytes, out, q4_0),
        Encoding::Q4_1 => each::<20, 32>(bytes, out, q4_1),
        Encoding::Q5_0 => each::<22, 32>(bytes, out, q5_0),
        Encoding::Q5_1 => each::<24, 32>(bytes, out, q5_1),
        Encoding::Q4K => each::<144, 256>(bytes, out, q4_k),
        Encoding::Q5K => each::<176, 256>(bytes, out, q5_k),
        Encoding::Q6K => each::<210, 256>(bytes, out, q6_k),
    }
}

fn each<const B: usize, const N: usize>(
    bytes: &[u8],
    out: &mut [f32],
    one: impl Fn(&[u8; B], &mut [f32; N]),
) {
    let blocks = bytes.as_chunks::<B>().0;
    for (block, values) in blocks.iter().zip(out.as_chunks_mut::<N>().0) {
        one(block, values);
    }
}

fn half_at(block: &[u8], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

fn q8_0(block: &[u8; 34], y: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (value, &q) in y.iter_mut().zip(&block[2..]) {
        *value = d * f32::from(q.cast_signed());
    }
}

fn q4_0(block: &[u8; 18], y: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, &q) in block[2..].iter().enumerate() {
        y[j] = d * (f32::from(q & 15) - 8.0);
        y[j + 16] = d * (f32::from(q >> 4) - 8.0);
    }
}

fn q4_1(block: &[u8; 20], y: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for (j, &q) in block[4..].iter().enumerate() {
        y[j] = d * f32::from(q & 15) + m;
        y[j + 16] = d * f32::from(q >> 4) + m;
    }
}

/// The fifth bits of 32 values lie together, one bit each.
fn fifth_bit(block: &[u8], at: usize, value: usize) -> u8 {
    ((block[at + value / 8] >> (value % 8)) & 1) << 4
}

fn q5_0(block: &[u8; 22], y: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, &q) in block[6..].iter().enumerate() {
        y[j] = d * (f32::from(q & 15 | fifth_bit(block, 2, j)) - 16.0);
        y[j + 16] = d * (f32::from(q >> 4 | fifth_bit(block, 2, j + 16)) - 16.0);
    }
}

fn q5_1(block: &[u8; 24], y: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for (j, &q) in block[8..].iter().enumerate() {
        y[j] = d * f32::from(q & 15 | fifth_bit(block, 4, j)) + m;
        y[j + 16] = d * f32::from(q >> 4 | fifth_bit(block, 4, j + 16)) + m;
    }
}

/// Six-bit scale and lowest value of one of eight groups. Twelve bytes: four scales, four lowest values, each with two
/// bits of a later one on top, then four bytes of lower halves for the later four.
fn scale_and_low(packed: &[u8], group: usize) -> (f32, f32) {
    let (scale, low) = if group < 4 {
        (packed[group] & 63, packed[group + 4] & 63)
    } else {
        let halves = packed[group + 4];
        ((halves & 15) | (packed[group - 4] >> 6) << 4, (halves >> 4) | (packed[group] >> 6) << 4)
    };
    (f32::from(scale), f32::from(low))
}

fn q4_k(block: &[u8; 144], y: &mut [f32; 256]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    let (packed, quants) = block[4..].split_at(12);
    for pair in 0..4 {
        let [first, second] = [0, 1].map(|half| scale_and_low(packed, 2 * pair + half));
        for (l, &q) in quants[32 * pair..32 * pair + 32].iter().enumerate() {
            y[64 * pair + l] = d * first.0 * f32::from(q & 15) - m * first.1;
            y[64 * pair + 32 + l] = d * second.0 * f32::from(q >> 4) - m * second.1;
        }
    }
}

fn q5_k(block: &[u8; 176], y: &mut [f32; 256]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    let (packed, rest) = block[4..].split_at(12);
    let (high, quants) = rest.split_at(32);
    for pair in 0..4 {
        let [first, second] = [0, 1].map(|half| scale_and_low(packed, 2 * pair + half));
        for (l, &q) in quants[32 * pair..32 * pair + 32].iter().enumerate() {
            let bits = high[l] >> (2 * pair);
            y[64 * pair + l] = d * first.0 * f32::from(q & 15 | (bits & 1) << 4) - m * first.1;
            y[64 * pair + 32 + l] = d * second.0 * f32::from(q >> 4 | (bits >> 1 & 1) << 4) - m * second.1;
        }
    }
}

fn q6_k(block: &[u8; 210], y: &mut [f32; 256]) {
    let d = half_at(block, 208);
    for half in 0..2 {
        let low = &block[64 * half..64 * half + 64];
        let high = &block[128 + 32 * half..128 + 32 * half + 32];
        let scales = &block[192 + 8 * half..192 + 8 * half + 8];
        for l in 0..32 {
            let nibbles = [low[l] & 15, low[l + 32] & 15, low[l] >> 4, low[l + 32] >> 4];
            for (part, nibble) in nibbles.into_iter().enumerate() {
                let q = f32::from(nibble | (high[l] >> (2 * part) & 3) << 4) - 32.0;
                let scale = f32::from(scales[2 * part + l / 16].cast_signed());
                y[128 * half + 32 * part + l] = d * scale * q;
            }
        }
    }
}
