//! What products of bf16 promise: the chain of each unit, one row like many, one thread like many, and their error.

use merit_core::Seed;
use merit_kernels::testing::round;
use merit_kernels::{Device, Dot, Isa, Matrix, Precision, Start, Workers};

fn random(name: &str, len: usize) -> Vec<f32> {
    let mut stream = Seed::root(7).child(name, len as u64).stream();
    (0..len).map(|_| stream.normal() as f32).collect()
}

fn rounded(x: f32) -> f32 {
    f32::from_bits(u32::from(round(x)) << 16)
}

/// `Σ a_i b_i` as AMX adds: steps of 32, even and odd products apart and from zero.
fn by_steps(start: f32, k: usize, a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32) -> f32 {
    let at = |i: usize| if i < k { (rounded(a(i)), rounded(b(i))) } else { (0.0, 0.0) };
    (0..k).step_by(32).fold(start, |sum, first| {
        let half = |odd: usize| {
            (0..16).map(|p| at(first + 2 * p + odd)).fold(0.0_f32, |part, (a, b)| a.mul_add(b, part))
        };
        sum + (half(0) + half(1))
    })
}

/// The same as VDPBF16PS adds: pair after pair, the odd product first.
fn by_pairs(start: f32, k: usize, a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32) -> f32 {
    let at = |i: usize| if i < k { (rounded(a(i)), rounded(b(i))) } else { (0.0, 0.0) };
    (0..k.next_multiple_of(32)).step_by(2).fold(start, |sum, i| {
        let ((a0, b0), (a1, b1)) = (at(i), at(i + 1));
        a0.mul_add(b0, a1.mul_add(b1, sum))
    })
}

fn devices() -> Vec<Device> {
    let mut all: Vec<_> = Dot::available().into_iter().map(|dot| Device::single().with_dot(dot)).collect();
    let portable = |isa| Device::single().with_dot(Dot::portable()).with_isa(isa);
    all.extend(Isa::available().into_iter().map(portable));
    all
}

fn same(got: &[f32], want: &[f32], what: &str) {
    let at = got.iter().zip(want).position(|(x, y)| x.to_bits() != y.to_bits());
    assert!(at.is_none() && got.len() == want.len(), "{what}: element {at:?}");
}

const SHAPES: [(usize, usize, usize); 9] = [
    (1, 1, 1),
    (1, 48, 64),
    (3, 37, 33),
    (17, 16, 31),
    (32, 32, 32),
    (33, 70, 100),
    (40, 33, 1060),
    (18, 513, 40),
    (290, 20, 40),
];

/// One side of a sum, step by step.
type Side<'a> = &'a dyn Fn(usize) -> f32;

fn chain(dot: Dot) -> impl Fn(f32, usize, Side, Side) -> f32 {
    let steps = dot.same_chain(Dot::portable());
    move |start, k, a, b| if steps { by_steps(start, k, a, b) } else { by_pairs(start, k, a, b) }
}

#[test]
fn every_unit_follows_its_chain_in_products() {
    for (m, n, k) in SHAPES {
        let (x, w, c) = (random("x", m * k), random("w", k * n), random("c", m * n));
        let transposed: Vec<f32> = (0..n * k).map(|i| w[(i % k) * n + i / k]).collect();
        let matrices = [
            Matrix::pack(&w, k, n, Precision::Bf16, true),
            Matrix::pack_transposed(&transposed, k, n, Precision::Bf16, true),
        ];
        let dy = random("dy", m * n);
        for (device, start) in devices().iter().flat_map(|d| [(d, Start::Zero), (d, Start::Resume)]) {
            let chain = chain(device.dot());
            let begin = |value: f32| if start == Start::Resume { value } else { 0.0 };
            let want: Vec<f32> = (0..m * n)
                .map(|at| chain(begin(c[at]), k, &|i| x[at / n * k + i], &|i| w[i * n + at % n]))
                .collect();
            let back = random("back", m * k);
            let want_back: Vec<f32> = (0..m * k)
                .map(|at| chain(begin(back[at]), n, &|i| dy[at / k * n + i], &|i| w[at % k * n + i]))
                .collect();
            for matrix in &matrices {
                let name = format!("{} {:?} {m}x{n}x{k}", device.dot().name(), device.isa());
                let mut got = c.clone();
                device.product(matrix, m, &x, &mut got, start);
                same(&got, &want, &name);
                let mut got = back.clone();
                device.product_back(matrix, m, &dy, &mut got, start);
                same(&got, &want_back, &format!("back {name}"));
            }
        }
    }
}

#[test]
fn every_unit_follows_its_chain_in_gradients() {
    for (k, m, n) in SHAPES.into_iter().chain([(70, 600, 90), (1100, 20, 40)]) {
        let (x, dy, dw) = (random("x", k * m), random("dy", k * n), random("dw", m * n));
        for device in devices() {
            let chain = chain(device.dot());
            let want: Vec<f32> = (0..m * n)
                .map(|at| chain(dw[at], k, &|i| x[i * m + at / n], &|i| dy[i * n + at % n]))
                .collect();
            let mut got = dw.clone();
            device.gradient(Precision::Bf16, k, (&x, m), (&dy, n), &mut got);
            same(&got, &want, &format!("{} {:?} {m}x{n}x{k}", device.dot().name(), device.isa()));
        }
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_among_many() {
    let (m, n, k) = (300, 80, 200);
    let (x, matrix) = (random("x", m * k), Matrix::pack(&random("w", k * n), k, n, Precision::Bf16, false));
    for device in devices() {
        let mut all = vec![0.0; m * n];
        device.product(&matrix, m, &x, &mut all, Start::Zero);
        for row in [0, 1, 15, 16, 31, 32, 255, 256, 299] {
            let mut alone = vec![0.0; n];
            device.product(&matrix, 1, &x[row * k..], &mut alone, Start::Zero);
            same(&alone, &all[row * n..(row + 1) * n], &format!("{} row {row}", device.dot().name()));
        }
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    for precision in [Precision::F32, Precision::Bf16] {
        // Large enough to be split, by rows, by columns, and as gradients.
        for (m, n, k) in [(1, 5000, 600), (400, 300, 200), (40, 1500, 1100)] {
            let (x, w, dy) = (random("x", m * k), random("w", k * n), random("dy", m * n + 32));
            let matrix = Matrix::pack(&w, k, n, precision, true);
            let run = |threads| {
                let device = Device::new(Workers::new(threads).unwrap());
                let (mut y, mut dx, mut dw) = (vec![0.0; m * n], vec![0.0; m * k], vec![0.5; k * n]);
                device.product(&matrix, m, &x, &mut y, Start::Zero);
                device.product_back(&matrix, m, &dy, &mut dx, Start::Zero);
                device.gradient(precision, m, (&x, k), (&dy, n), &mut dw);
                let mut again = matrix.clone();
                device.refill(&mut again, &w);
                let mut y_again = vec![0.0; m * n];
                device.product(&again, m, &x, &mut y_again, Start::Zero);
                same(&y_again, &y, "refilled");
                [y, dx, dw].concat()
            };
            let one = run(1);
            for threads in [2, 5] {
                same(&run(threads), &one, &format!("{precision:?} {m}x{n}x{k} on {threads} threads"));
            }
        }
    }
}

#[test]
fn bf16_stays_within_the_stated_error_of_exact_sums() {
    let (m, n, k) = (40, 50, 700);
    let (x, w) = (random("x", m * k), random("w", k * n));
    let matrix = Matrix::pack(&w, k, n, Precision::Bf16, false);
    for device in devices() {
        let mut got = vec![0.0; m * n];
        device.product(&matrix, m, &x, &mut got, Start::Zero);
        let mut worst = 0.0_f64;
        for (at, got) in got.iter().enumerate() {
            let terms = (0..k).map(|i| f64::from(x[at / n * k + i]) * f64::from(w[i * n + at % n]));
            let (exact, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()));
            let bound = (2.0_f64.powi(-7) + k as f64 * 2.0_f64.powi(-23)) * size;
            worst = worst.max((f64::from(*got) - exact).abs() / bound);
        }
        assert!(worst < 1.0, "{}: {worst} of the bound", device.dot().name());
        assert!(worst > 1e-4, "{}: the bound says nothing", device.dot().name());
    }
}

#[test]
fn an_empty_sum_is_zero() {
    let device = Device::single();
    let matrix = Matrix::pack(&[], 0, 3, Precision::Bf16, false);
    let mut y = [5.0; 6];
    device.product(&matrix, 2, &[], &mut y, Start::Zero);
    assert_eq!(y, [0.0; 6]);
}

#[test]
fn values_that_are_not_numbers_stay_in_their_row() {
    let (m, n, k) = (34, 40, 64);
    let mut x = random("x", m * k);
    (x[3 * k], x[20 * k + 5]) = (f32::NAN, f32::INFINITY);
    let matrix = Matrix::pack(&random("w", k * n), k, n, Precision::Bf16, false);
    for device in devices() {
        let mut y = vec![0.0; m * n];
        device.product(&matrix, m, &x, &mut y, Start::Zero);
        for (row, y) in y.chunks_exact(n).enumerate() {
            assert_eq!(y.iter().all(|y| y.is_finite()), row != 3 && row != 20, "row {row}");
        }
    }
}

#[test]
#[should_panic(expected = "too short")]
fn too_few_activations_are_refused() {
    let matrix = Matrix::pack(&[0.0; 64], 8, 8, Precision::Bf16, false);
    Device::single().product(&matrix, 2, &[0.0; 15], &mut [0.0; 16], Start::Zero);
}
