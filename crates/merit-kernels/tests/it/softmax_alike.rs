//! The softmax of AVX-512 beside the one of any processor.

use merit_core::Seed;
use merit_kernels::Isa;
use merit_kernels::softmax::softmax_rows;
use merit_kernels::testing::softmax_alike;

/// Floats of a vector.
const LANES: usize = 16;

#[test]
fn rows_that_see_the_same_have_the_bits_of_any_rows() {
    let mut stream = Seed::root(4).stream();
    for rows in 1..=9 {
        for live in [1_usize, 2, 15, 16, 17, 40, 64, 135] {
            for low in [0, 1, 7, 15].into_iter().filter(|&low| low < live) {
                let width = live.next_multiple_of(LANES);
                let mut scores: Vec<f32> = (0..rows * width).map(|_| 40.0 * stream.normal() as f32).collect();
                let mut want = scores.clone();
                softmax_rows(Isa::best(), &mut want, width, live, 0, live - low);
                for row in scores.chunks_exact_mut(width) {
                    row[live..].fill(f32::NAN);
                }
                if !softmax_alike(&mut scores, low, live) {
                    // The processor has no AVX-512.
                    return;
                }
                let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&scores), bits(&want), "{rows} rows, {low}..{live}");
            }
        }
    }
}
