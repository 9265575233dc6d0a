//! What `peak` measures is a number that a share can be taken of, for every instruction set and unit.

use merit_kernels::peak::{bf16_flops_per_s, f32_flops_per_s};
use merit_kernels::{Dot, Isa};

#[test]
fn peaks_are_finite_and_positive() {
    let mut rates: Vec<f64> = Isa::available().into_iter().map(f32_flops_per_s).collect();
    rates.extend(Dot::available().into_iter().map(bf16_flops_per_s));
    assert!(rates.iter().all(|rate| rate.is_finite() && *rate > 1e7), "{rates:?}");
}
