//! Products beside their definition: the same order of additions on every instruction set, in every shape.

use merit_core::Seed;
use merit_kernels::gemm::{Left, Right, SLACK, Size, Start, gemm};
use merit_kernels::pack::Packed;
use merit_kernels::{Device, Isa, Matrix, Precision, Workers};

fn random(name: &str, len: usize) -> Vec<f32> {
    let mut stream = Seed::root(5).child(name, len as u64).stream();
    (0..len).map(|_| stream.normal() as f32).collect()
}

/// The chain that every element must follow, by definition.
fn naive(size: Size, a: Left, b: impl Fn(usize, usize) -> f32, c: &mut [f32], start: Start) {
    let Size { m, n, k } = size;
    for row in 0..m {
        for col in 0..n {
            let mut sum = if start == Start::Resume { c[row * n + col] } else { 0.0 };
            for i in 0..k {
                sum = a.data[row * a.row + i * a.step].mul_add(b(i, col), sum);
            }
            c[row * n + col] = sum;
        }
    }
}

/// The same in chains of 32 from zero, one after the other added to the sum.
fn naive_in_pieces(size: Size, a: &[f32], b: &[f32], c: &mut [f32], start: Start) {
    const PIECE: usize = 32;
    let Size { m, n, k } = size;
    if start == Start::Zero {
        c.fill(0.0);
    }
    for first in (0..k).step_by(PIECE) {
        let piece = Size { k: PIECE.min(k - first), ..size };
        let mut chains = vec![0.0; m * n];
        let left = Left::rows(&a[first..], k);
        naive(piece, left, |i, j| b[(first + i) * n + j], &mut chains, Start::Zero);
        c.iter_mut().zip(&chains).for_each(|(sum, chain)| *sum += chain);
    }
}

/// A `k × n` matrix in panels, given row-major or as its transpose.
fn pack(data: &[f32], (k, n): (usize, usize), transposed: bool) -> Packed {
    let mut packed = Packed::default();
    packed.fill(&Workers::single(), data, (k, n), transposed);
    packed
}

fn check(size: Size) {
    let Size { m, n, k } = size;
    let (a, b, c) = (random("a", m * k), random("b", k * n), random("c", m * n));
    let mut slack = b.clone();
    slack.resize(b.len() + SLACK, f32::NAN);
    let transposed: Vec<f32> = (0..n * k).map(|i| b[(i % k) * n + i / k]).collect();
    let flipped: Vec<f32> = (0..m * k).map(|i| a[(i % m) * k + i / m]).collect();
    for start in [Start::Zero, Start::Resume] {
        let mut want = c.clone();
        naive(size, Left::rows(&a, k), |i, j| b[i * n + j], &mut want, start);
        for isa in Isa::available() {
            let (packed, repacked) = (pack(&b, (k, n), false), pack(&transposed, (k, n), true));
            for (left, right) in [
                (Left::rows(&a, k), packed.as_right()),
                (Left::rows(&a, k), repacked.as_right()),
                (Left::columns(&flipped, m), Right::rows(&slack, n)),
            ] {
                let mut got = c.clone();
                gemm(isa, size, left, right, &mut got, n, start);
                let same = got.iter().zip(&want).all(|(x, y)| x.to_bits() == y.to_bits());
                assert!(same, "{isa:?} {m}x{n}x{k}");
            }
        }
    }
}

#[test]
fn every_instruction_set_and_shape_follows_the_same_chain() {
    for m in [1, 2, 5, 13, 14, 15, 16, 29, 130] {
        for n in [1, 15, 16, 17, 32, 37, 48, 65] {
            for k in [1, 3, 24, 300] {
                check(Size { m, n, k });
            }
        }
    }
}

#[test]
fn long_sums_of_weights_are_added_in_pieces_on_every_instruction_set() {
    for (m, n, k) in [(3, 37, 512), (1, 16, 513), (5, 37, 600), (15, 64, 1024), (30, 33, 777)] {
        let size = Size { m, n, k };
        let (a, b, c) = (random("a", m * k), random("b", k * n), random("c", m * n));
        let matrix = Matrix::pack(&b, k, n, Precision::F32, false);
        for start in [Start::Zero, Start::Resume] {
            let (mut chain, mut pieces) = (c.clone(), c.clone());
            naive(size, Left::rows(&a, k), |i, j| b[i * n + j], &mut chain, start);
            naive_in_pieces(size, &a, &b, &mut pieces, start);
            assert_ne!(chain, pieces, "{m}x{n}x{k} does not tell the two apart");
            let want = if k > 512 { pieces } else { chain };
            for isa in Isa::available() {
                let mut got = c.clone();
                Device::single().with_isa(isa).product(&matrix, m, &a, &mut got, start);
                // Equal as numbers: an empty piece may turn -0 into 0.
                assert_eq!(got, want, "{isa:?} {m}x{n}x{k}");
            }
        }
    }
}

#[test]
fn products_across_rows_follow_the_same_chain() {
    for (m, n, k) in
        [(1, 1, 1), (24, 37, 300), (64, 48, 77), (15, 600, 513), (130, 1100, 270), (512, 300, 33)]
    {
        let size = Size { m, n, k };
        let (x, y, c) = (random("x", k * m), random("y", k * n + SLACK), random("c", m * n));
        let mut want = c.clone();
        naive(size, Left::columns(&x, m), |i, j| y[i * n + j], &mut want, Start::Resume);
        for isa in Isa::available() {
            let mut got = c.clone();
            Device::single().with_isa(isa).gradient(Precision::F32, k, (&x, m), (&y, n), &mut got);
            let same = got.iter().zip(&want).all(|(x, y)| x.to_bits() == y.to_bits());
            assert!(same, "{isa:?} {m}x{n}x{k}");
        }
    }
}

#[test]
fn an_empty_sum_is_zero() {
    let mut c = [3.0; 4];
    let size = Size { m: 2, n: 2, k: 0 };
    gemm(Isa::best(), size, Left::rows(&[], 0), Right::rows(&[], 2), &mut c, 2, Start::Zero);
    assert_eq!(c, [0.0; 4]);
}

#[test]
#[should_panic(expected = "the left matrix is too short")]
fn a_short_matrix_is_refused() {
    let size = Size { m: 2, n: 16, k: 2 };
    gemm(
        Isa::best(),
        size,
        Left::rows(&[0.0; 3], 2),
        Right::rows(&[0.0; 64], 16),
        &mut [0.0; 32],
        16,
        Start::Zero,
    );
}
