//! What products with quantised weights make of activations in bf16, seen through weights that show it.

use merit_formats::{Encoding, bf16_to_f32, f32_to_bf16, f32_to_f16};
use merit_kernels::{Device, Dot, Isa, Matrix, Precision, QuantPart, Start};

/// Inputs of a group: one block of the encodings below.
const GROUP: usize = 32;

/// Rows of one group times a matrix of one output, made of `block`: on every instruction set, and on this machine's best unit.
fn products(encoding: Encoding, block: &[u8], x: &[f32]) -> Vec<Vec<f32>> {
    let part = QuantPart { encoding, bytes: block, outputs: 1, inputs: GROUP };
    let matrix = Matrix::quantised(&[part]).unwrap().with_activations(Precision::Bf16);
    assert_eq!(matrix.precision(), Precision::Bf16);
    let portable = |isa| Device::single().with_isa(isa).with_dot(Dot::portable());
    let devices = Isa::available().into_iter().map(portable).chain([Device::single()]);
    let product = |device: Device| {
        let mut out = vec![0.0; x.len() / GROUP];
        device.product(&matrix, x.len() / GROUP, x, &mut out, Start::Zero);
        out
    };
    devices.map(product).collect()
}

#[test]
fn activations_are_rounded_to_the_nearest_and_tiny_ones_to_zero() {
    let cases = [1.0, -1.005, 3.3, 1.0 + 0.5_f32.powi(8), 1.0 + 3.0 * 0.5_f32.powi(8), 1e38, f32::INFINITY];
    let others = [f32::NAN, 1e-31, -1e-45, 0.0];
    // Each number alone in its row, and all weights one.
    let mut x = vec![0.0; (cases.len() + others.len()) * GROUP];
    for (i, value) in cases.iter().chain(&others).enumerate() {
        x[i * GROUP + i] = *value;
    }
    let mut block = [1; 2 + GROUP];
    block[..2].copy_from_slice(&f32_to_f16(1.0).to_le_bytes());
    for got in products(Encoding::Q8_0, &block, &x) {
        let (got, others) = got.split_at(cases.len());
        assert_eq!(got, cases.map(|x| bf16_to_f32(f32_to_bf16(x))));
        assert!(others[0].is_nan());
        assert_eq!(others[1..], [0.0; 3]);
    }
}

#[test]
fn a_group_is_summed_as_a_tree() {
    // 2^24 swallows single ones, but not the sum of all the others.
    let mut values = [1.0; GROUP];
    values[0] = 16_777_216.0;
    // No scale, and a lowest value of one: the product is the sum.
    let mut block = [0; 4 + GROUP / 2];
    block[2..4].copy_from_slice(&f32_to_f16(1.0).to_le_bytes());
    for got in products(Encoding::Q4_1, &block, &values) {
        assert_eq!(got, [16_777_216.0 + 30.0]);
    }
}
