//! Rows of activations to columns side by side.

use merit_kernels::Isa;
use merit_kernels::testing::transpose_simd;

#[test]
fn every_shape_is_transposed_alike_on_every_instruction_set() {
    for (rows, height, columns) in
        [(16, 16, 1), (16, 16, 16), (16, 16, 37), (16, 16, 64), (3, 4, 20), (1, 1, 5)]
    {
        let from: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
        for isa in Isa::available() {
            let mut to = vec![-1.0; height * columns];
            transpose_simd(isa, &from, rows, columns, &mut to, height);
            for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
                assert_eq!(to[c * height + r], from[r * columns + c], "{isa:?} {rows}x{columns}");
            }
        }
    }
}
