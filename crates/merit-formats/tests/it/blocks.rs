//! Blocks against values worked out by hand, and against the values that the format's own Python package reads.

use merit_formats::{Encoding, f32_to_f16};
use serde::Deserialize;

fn decode(encoding: Encoding, bytes: &[u8]) -> Vec<f32> {
    let mut values = vec![f32::NAN; bytes.len() / encoding.block_bytes() * encoding.block()];
    encoding.decode(bytes, &mut values).unwrap();
    values
}

fn half(value: f32) -> [u8; 2] {
    f32_to_f16(value).to_le_bytes()
}

#[test]
fn four_bits_count_from_the_middle_or_from_the_lowest() {
    // Low halves of the sixteen bytes are values 0 to 15, high halves values 16 to 31.
    let quants: Vec<u8> = (0..16).map(|j| j | (15 - j) << 4).collect();
    let block = [&half(0.5)[..], &quants].concat();
    let values = decode(Encoding::Q4_0, &block);
    assert_eq!((values[0], values[9], values[16], values[31]), (-4.0, 0.5, 3.5, -4.0));
    let block = [&half(0.5)[..], &half(-2.0), &quants].concat();
    let values = decode(Encoding::Q4_1, &block);
    assert_eq!((values[0], values[9], values[16], values[31]), (-2.0, 2.5, 5.5, -2.0));
}

#[test]
fn the_fifth_bit_is_worth_sixteen() {
    // Only the fifth bits of values 1 and 17 are set.
    let high = (1_u32 << 1 | 1 << 17).to_le_bytes();
    let block = [&half(1.0)[..], &high, &[0x32; 16]].concat();
    let values = decode(Encoding::Q5_0, &block);
    assert_eq!((values[0], values[1], values[16], values[17]), (-14.0, 2.0, -13.0, 3.0));
    let block = [&half(1.0)[..], &half(0.25), &high, &[0x32; 16]].concat();
    let values = decode(Encoding::Q5_1, &block);
    assert_eq!((values[0], values[1], values[16], values[17]), (2.25, 18.25, 3.25, 19.25));
}

#[test]
fn groups_have_scales_and_lowest_values_of_six_bits() {
    // Group 0: scale 3, lowest 5. Group 4: scale 2 | 1 << 4 = 18, lowest 7 | 2 << 4 = 39.
    let mut packed = [0_u8; 12];
    (packed[0], packed[4], packed[8]) = (3 | 1 << 6, 5 | 2 << 6, 2 | 7 << 4);
    let quants = [0x9a_u8; 128];
    let block = [&half(1.0)[..], &half(0.5), &packed, &quants].concat();
    let values = decode(Encoding::Q4K, &block);
    // Low halves are 10, high halves 9; groups 1, 5 and the rest have scale 0.
    assert_eq!(
        (values[0], values[32], values[128], values[160]),
        (3.0 * 10.0 - 2.5, 0.0, 18.0 * 10.0 - 19.5, 0.0)
    );
    // The bit of group g of every value is bit g of the byte.
    let block = [&half(1.0)[..], &half(0.5), &packed, &[1 << 4; 32], &quants].concat();
    let values = decode(Encoding::Q5K, &block);
    assert_eq!((values[0], values[128]), (3.0 * 10.0 - 2.5, 18.0 * 26.0 - 19.5));
}

#[test]
fn six_bits_are_split_into_four_and_two() {
    let mut block = [0_u8; 210];
    // Value 0: low 5, high 3 -> 53 - 32 = 21. Value 64 shares both bytes: low 10, high 1 -> 26 - 32 = -6.
    (block[0], block[128]) = (5 | 10 << 4, 3 | 1 << 4);
    (block[192], block[192 + 4]) = (2, (-3_i8).cast_unsigned());
    block[208..].copy_from_slice(&half(0.5));
    let values = decode(Encoding::Q6K, &block);
    assert_eq!((values[0], values[64]), (0.5 * 2.0 * 21.0, 0.5 * -3.0 * -6.0));
}

#[test]
fn bytes_are_signed_in_blocks_of_eight_bits() {
    let mut block = half(0.25).to_vec();
    block.extend((0..32).map(|j| (8 * j - 128_i32) as i8 as u8));
    let values = decode(Encoding::Q8_0, &block);
    assert_eq!((values[0], values[16], values[31]), (-32.0, 0.0, 30.0));
}

#[derive(Deserialize)]
struct Golden {
    encoding: String,
    bytes: String,
    bits: Vec<u32>,
}

/// Written by `benchmarks/agreement/gguf_blocks.py`.
#[test]
fn random_blocks_have_the_values_that_the_reference_reads() {
    let golden: Vec<Golden> = serde_json::from_str(include_str!("../golden/blocks.json")).unwrap();
    assert_eq!(golden.len(), 9);
    for entry in golden {
        let encoding = Encoding::all().find(|encoding| encoding.name() == entry.encoding).unwrap();
        let digits: Vec<u8> =
            entry.bytes.bytes().map(|digit| (digit as char).to_digit(16).unwrap() as u8).collect();
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let values = decode(encoding, &bytes);
        let bits: Vec<f32> = entry.bits.iter().map(|&bits| f32::from_bits(bits)).collect();
        assert_eq!(values, bits, "{encoding}");
    }
}

#[test]
fn bytes_and_values_that_do_not_belong_together_are_refused() {
    let error = Encoding::Q4K.decode(&[0; 144], &mut [0.0; 255]).unwrap_err();
    assert_eq!(error.to_string(), "144 bytes of Q4_K do not hold 255 values");
}
