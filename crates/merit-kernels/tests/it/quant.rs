//! Quantised products beside the chain of `gemm` on the decoded weights: equal to the last bit.

use merit_core::Seed;
use merit_formats::{Encoding, bf16_to_f32, f32_to_bf16, f32_to_f16};
use merit_kernels::{Device, Dot, Isa, Matrix, Precision, QuantError, QuantPart, Start, Table, Workers};

fn random(name: &str, len: usize) -> Vec<f32> {
    let mut stream = Seed::root(9).child(name, len as u64).stream();
    (0..len).map(|_| stream.normal() as f32).collect()
}

/// Blocks of random codes, with random scales of either sign and some below the normal range of half precision.
fn blocks(encoding: Encoding, values: usize) -> Vec<u8> {
    let bytes = encoding.bytes_for(values).expect("whole blocks");
    let mut stream = Seed::root(9).child(encoding.name(), values as u64).stream();
    let mut blocks: Vec<u8> = (0..bytes).map(|_| stream.bits() as u8).collect();
    let mut half = |at: &mut [u8]| {
        let scale = stream.normal() as f32 * if stream.chance(0.1) { 1e-6 } else { 0.05 };
        at.copy_from_slice(&f32_to_f16(scale).to_le_bytes());
    };
    for block in blocks.chunks_exact_mut(encoding.block_bytes()) {
        match encoding {
            Encoding::F32 => {
                half(&mut block[..2]);
                block.copy_from_slice(&(f32::from(block[0]) - 99.5).to_le_bytes());
            }
            Encoding::Bf16 => {
                let value = f32_to_bf16(f32::from(block[0]) / 64.0 - 2.0);
                block.copy_from_slice(&value.to_le_bytes());
            }
            Encoding::F16 | Encoding::Q8_0 | Encoding::Q4_0 | Encoding::Q5_0 => half(&mut block[..2]),
            Encoding::Q4_1 | Encoding::Q5_1 | Encoding::Q4K | Encoding::Q5K => {
                half(&mut block[..2]);
                half(&mut block[2..4]);
            }
            Encoding::Q6K => half(&mut block[208..]),
        }
    }
    blocks
}

fn decoded(encoding: Encoding, bytes: &[u8], values: usize) -> Vec<f32> {
    let mut out = vec![0.0; values];
    encoding.decode(bytes, &mut out).expect("blocks of these values");
    out
}

/// Each element as one chain over the inputs, going on from what is there; more than 512 inputs in chains of 32.
fn naive(x: &[f32], weights: &[f32], inputs: usize, out: &mut [f32]) {
    let outputs = weights.len() / inputs;
    for (x, out) in x.chunks_exact(inputs).zip(out.chunks_exact_mut(outputs)) {
        for (sum, weights) in out.iter_mut().zip(weights.chunks_exact(inputs)) {
            let chain = |x: &[f32], weights: &[f32], from: f32| {
                x.iter().zip(weights).fold(from, |sum, (x, w)| x.mul_add(*w, sum))
            };
            *sum = if inputs > 512 {
                x.chunks(32).zip(weights.chunks(32)).fold(*sum, |sum, (x, w)| sum + chain(x, w, 0.0))
            } else {
                chain(x, weights, *sum)
            };
        }
    }
}

fn assert_same(got: &[f32], want: &[f32], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let different = got.iter().zip(want).position(|(got, want)| got.to_bits() != want.to_bits());
    if let Some(at) = different {
        panic!("{what}: element {at} is {} and should be {}", got[at], want[at]);
    }
}

/// One part of each encoding with these outputs, joined.
fn joined(encodings: &[Encoding], outputs: usize, inputs: usize) -> (Matrix, Vec<f32>) {
    let bytes: Vec<Vec<u8>> = encodings.iter().map(|&encoding| blocks(encoding, outputs * inputs)).collect();
    let parts: Vec<QuantPart> = encodings
        .iter()
        .zip(&bytes)
        .map(|(&encoding, bytes)| QuantPart { encoding, bytes, outputs, inputs })
        .collect();
    let weights =
        parts.iter().flat_map(|part| decoded(part.encoding, part.bytes, outputs * inputs)).collect();
    (Matrix::quantised(&parts).expect("well-formed parts"), weights)
}

fn check(encodings: &[Encoding], outputs: usize, inputs: usize, rows: usize) {
    let (matrix, weights) = joined(encodings, outputs, inputs);
    let x = random("x", rows * inputs);
    let held = random("held", rows * matrix.outputs());
    for start in [Start::Zero, Start::Resume] {
        let mut want = if start == Start::Zero { vec![0.0; held.len()] } else { held.clone() };
        naive(&x, &weights, inputs, &mut want);
        for isa in Isa::available() {
            let mut got = held.clone();
            Device::single().with_isa(isa).product(&matrix, rows, &x, &mut got, start);
            let what = format!("{encodings:?} {isa:?} {outputs}x{inputs}, {rows} rows");
            assert_same(&got, &want, &what);
        }
    }
}

#[test]
fn a_product_has_the_bits_of_the_decoded_product_in_every_encoding_on_every_instruction_set() {
    for encoding in Encoding::all() {
        for (outputs, inputs) in [(1, 256), (16, 256), (37, 512), (100, 256), (20, 768)] {
            for rows in [1, 2, 3, 7, 16, 19] {
                check(&[encoding], outputs, inputs, rows);
            }
        }
    }
}

#[test]
fn parts_of_different_encodings_are_joined_along_the_outputs() {
    check(&[Encoding::Q4K, Encoding::Q6K, Encoding::Q8_0], 48, 256, 3);
    check(&[Encoding::Q4_1, Encoding::F16, Encoding::Q5_0], 13, 64, 5);
}

#[test]
fn plain_numbers_need_no_whole_blocks() {
    for encoding in [Encoding::F32, Encoding::F16, Encoding::Bf16] {
        for inputs in [1, 31, 33, 70, 511, 513, 570] {
            check(&[encoding], 20, inputs, 1);
            check(&[encoding], 20, inputs, 4);
        }
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_in_a_batch_on_any_number_of_threads() {
    let (matrix, _) = joined(&[Encoding::Q4_1, Encoding::Q8_0], 200, 576);
    let (inputs, outputs, rows) = (matrix.inputs(), matrix.outputs(), 33);
    let x = random("x", rows * inputs);
    let alone: Vec<f32> = x
        .chunks_exact(inputs)
        .flat_map(|x| {
            let mut out = vec![0.0; outputs];
            Device::single().product(&matrix, 1, x, &mut out, Start::Zero);
            out
        })
        .collect();
    for threads in [1, 2, 3, 5] {
        let device = Device::new(Workers::new(threads).expect("threads start"));
        for count in [1, 2, 4, 15, 16, rows] {
            let mut out = vec![0.0; count * outputs];
            device.product(&matrix, count, &x, &mut out, Start::Zero);
            assert_same(&out, &alone[..count * outputs], &format!("{count} rows, {threads} threads"));
        }
    }
}

/// Every way to compute with activations in bf16 on this machine.
fn bf16_devices() -> Vec<Device> {
    let portable = |isa| Device::single().with_isa(isa).with_dot(Dot::portable());
    let best = Device::new(Workers::new(3).expect("threads start"));
    Isa::available().into_iter().map(portable).chain([Device::single(), best]).collect()
}

#[test]
fn with_activations_in_bf16_all_units_agree_to_the_bit_and_are_near_the_exact_product() {
    for encoding in Encoding::all().filter(|encoding| encoding.block() > 1) {
        for (outputs, inputs) in [(16, 256), (37, 512), (100, 256)] {
            let (matrix, weights) = joined(&[encoding], outputs, inputs);
            let matrix = matrix.with_activations(Precision::Bf16);
            assert_eq!(matrix.precision(), Precision::Bf16);
            for rows in [1, 2, 3, 5, 16, 19] {
                let (x, held) = (random("x", rows * inputs), random("held", rows * outputs));
                let results = bf16_devices().into_iter().map(|device| {
                    let mut out = held.clone();
                    device.product(&matrix, rows, &x, &mut out, Start::Resume);
                    out
                });
                let results: Vec<Vec<f32>> = results.collect();
                let what = format!("{encoding} {outputs}x{inputs}, {rows} rows");
                results.iter().for_each(|other| assert_same(other, &results[0], &what));
                near(&results[0], &x, &weights, &held, inputs, &what);
            }
        }
    }
}

/// Within the bound for rounded activations, and within that of sums for the product with activations rounded before.
fn near(got: &[f32], x: &[f32], weights: &[f32], held: &[f32], inputs: usize, what: &str) {
    let rounded: Vec<f32> = x.iter().map(|x| bf16_to_f32(f32_to_bf16(*x))).collect();
    for (x, bound) in [(x, 1.0 / 256.0), (&rounded, inputs as f64 / f64::from(1 << 22))] {
        let rows = x.chunks_exact(inputs).flat_map(|x| weights.chunks_exact(inputs).map(move |w| (x, w)));
        for ((got, held), (x, w)) in got.iter().zip(held).zip(rows) {
            let products = || x.iter().zip(w).map(|(x, w)| f64::from(*x) * f64::from(*w));
            // A group's lowest values are multiplied by its sum of activations, which may be larger than the sum of products.
            let largest = w.iter().fold(0.0_f64, |m, w| m.max(f64::from(w.abs())));
            let size = products().map(f64::abs).sum::<f64>()
                + largest * f64::from(x.iter().map(|x| x.abs()).sum::<f32>());
            let far = (f64::from(*got) - f64::from(*held) - products().sum::<f64>()).abs();
            assert!(far <= bound * (size + f64::from(held.abs())), "{what}: off by {far}, size {size}");
        }
    }
}

#[test]
fn in_bf16_a_row_has_the_same_bits_alone_and_in_a_batch_on_any_number_of_threads() {
    let (matrix, _) = joined(&[Encoding::Q4_1, Encoding::Q8_0], 200, 576);
    let matrix = matrix.with_activations(Precision::Bf16);
    let (inputs, outputs, rows) = (matrix.inputs(), matrix.outputs(), 33);
    let mut x = random("x", rows * inputs);
    // Numbers below the normal range, which units treat differently.
    x.iter_mut().step_by(7).for_each(|x| *x *= 1e-40);
    let mut alone = vec![0.0; rows * outputs];
    for (x, out) in x.chunks_exact(inputs).zip(alone.chunks_exact_mut(outputs)) {
        Device::single().product(&matrix, 1, x, out, Start::Zero);
    }
    for threads in [1, 2, 5] {
        let device = Device::new(Workers::new(threads).expect("threads start"));
        for count in [2, 3, 4, 5, 15, 16, 17, rows] {
            let mut out = vec![0.0; count * outputs];
            device.product(&matrix, count, &x, &mut out, Start::Zero);
            assert_same(&out, &alone[..count * outputs], &format!("{count} rows, {threads} threads"));
        }
    }
}

#[test]
fn plain_numbers_are_always_multiplied_in_f32() {
    let (matrix, _) = joined(&[Encoding::Q4_1, Encoding::F16], 16, 64);
    assert_eq!(matrix.with_activations(Precision::Bf16).precision(), Precision::F32);
    let dense = Matrix::pack(&[1.0], 1, 1, Precision::F32, false);
    assert_eq!(dense.with_activations(Precision::Bf16).precision(), Precision::F32);
}

#[test]
fn products_that_meet_inside_one_pool_do_not_disturb_each_other() {
    let (matrix, weights) = joined(&[Encoding::Q4_0], 256, 512);
    let device = Device::new(Workers::new(3).expect("threads start"));
    let x = random("x", 4 * 512);
    let mut want = vec![0.0; 4 * 256];
    naive(&x, &weights, 512, &mut want);
    let mut results = vec![vec![0.0; 4 * 256]; 16];
    device.workers().for_each(&mut results, |_, out| device.product(&matrix, 4, &x, out, Start::Zero));
    results.iter().for_each(|out| assert_same(out, &want, "nested"));
}

#[test]
fn a_table_reads_single_rows_and_is_the_head_over_the_same_memory() {
    for encoding in Encoding::all() {
        let (rows, width) = (70, 256);
        let bytes = blocks(encoding, rows * width);
        let weights = decoded(encoding, &bytes, rows * width);
        let part = QuantPart { encoding, bytes: &bytes, outputs: rows, inputs: width };
        let table = Table::quantised(part).expect("well-formed");
        let mut out = vec![0.0; width];
        for row in 0..rows {
            table.row(row, &mut out);
            assert_eq!(out, weights[row * width..(row + 1) * width], "{encoding} row {row}");
        }
        let (x, mut logits, mut want) = (random("x", width), vec![0.0; rows], vec![0.0; rows]);
        let head = table.head().expect("quantised");
        Device::single().product(&head, 1, &x, &mut logits, Start::Zero);
        naive(&x, &weights, width, &mut want);
        assert_same(&logits, &want, encoding.name());
    }
}

#[test]
fn a_plain_table_gives_its_rows_and_has_no_head() {
    let table = Table::plain(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2);
    let mut out = [0.0; 2];
    table.row(1, &mut out);
    assert_eq!((out, table.rows(), table.width(), table.bytes()), ([3.0, 4.0], 3, 2, 24));
    assert!(table.head().is_none());
}

#[test]
fn panels_take_no_more_bytes_than_the_file_but_for_wider_scales() {
    for encoding in Encoding::all() {
        let bytes = blocks(encoding, 64 * 512);
        let part = QuantPart { encoding, bytes: &bytes, outputs: 64, inputs: 512 };
        // Twelve bytes of scales become sixteen in a block of 144 or 176.
        let extra = if matches!(encoding, Encoding::Q4K | Encoding::Q5K) { 64 * 2 * 4 } else { 0 };
        let table = Table::quantised(part).expect("well-formed");
        assert_eq!(table.bytes(), bytes.len() + extra, "{encoding}");
    }
}

#[test]
fn what_is_no_matrix_is_refused_with_the_reason() {
    assert_eq!(Matrix::quantised(&[]).err(), Some(QuantError::NoParts));
    let bytes = blocks(Encoding::Q4_1, 4 * 64);
    let part = QuantPart { encoding: Encoding::Q4_1, bytes: &bytes, outputs: 4, inputs: 64 };
    let refuse =
        |parts: &[QuantPart]| Matrix::quantised(parts).err().map(|e| e.to_string()).unwrap_or_default();
    assert_eq!(
        refuse(&[QuantPart { bytes: &bytes[1..], ..part }]),
        "159 bytes of Q4_1 are not 4 rows of 64 values in whole blocks"
    );
    // As many bytes as 8 rows of 32, but rows of 16 are half blocks.
    assert!(refuse(&[QuantPart { outputs: 16, inputs: 16, ..part }]).contains("16 rows of 16 values"));
    assert_eq!(
        refuse(&[part, QuantPart { outputs: 8, inputs: 32, ..part }]),
        "part 1 has 32 inputs, but those before it have 64"
    );
    assert!(refuse(&[QuantPart { outputs: usize::MAX, ..part }]).contains("whole blocks"));
}

#[test]
fn a_scale_that_is_not_finite_is_refused_with_its_place() {
    for (encoding, at) in [(Encoding::Q4_1, 2), (Encoding::Q8_0, 0), (Encoding::Q6K, 208), (Encoding::F16, 0)]
    {
        let mut bytes = blocks(encoding, 3 * 512);
        let row = bytes.len() / 3;
        bytes[row + at..row + at + 2].copy_from_slice(&0x7c00_u16.to_le_bytes());
        let part = QuantPart { encoding, bytes: &bytes, outputs: 3, inputs: 512 };
        let error = Matrix::quantised(&[part]).err().map(|e| e.to_string()).unwrap_or_default();
        let want = format!("{encoding}, row 1, block 0: a number is infinite");
        assert!(error.starts_with(&want), "{error}");
    }
}
