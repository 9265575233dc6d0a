//! The update of the optimiser and the norm of the gradient, on any number of threads.

use merit_kernels::optim::AdamStep;
use merit_kernels::{Device, Isa, Workers};

#[test]
fn the_norm_is_right_and_the_same_on_all_threads_and_instruction_sets() {
    let x: Vec<f32> = (0..200_003).map(|i| ((i * 7919) % 1000) as f32 * 0.01 - 5.0).collect();
    let want = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    let got = Device::single().norm(&x);
    assert!((got - want).abs() < 1e-9 * want, "{got} against {want}");
    for isa in Isa::available() {
        let device = Device::new(Workers::new(3).unwrap()).with_isa(isa);
        assert_eq!(device.norm(&x).to_bits(), got.to_bits(), "{isa:?}");
    }
}

#[test]
fn the_update_is_the_same_on_all_threads() {
    let step = AdamStep {
        gradient_scale: 0.5,
        beta1: 0.9,
        beta2: 0.95,
        rate: 0.01,
        second_correction: 20.0,
        eps: 1e-8,
        keep: 0.999,
    };
    let gradient: Vec<f32> = (0..150_000).map(|i| (i as f32 * 0.1).sin()).collect();
    let run = |threads| {
        let (mut w, mut m, mut v) = (vec![1.0; 150_000], vec![0.1; 150_000], vec![0.2; 150_000]);
        let device = Device::new(Workers::new(threads).unwrap());
        device.adamw(&mut w, &gradient, &mut m, &mut v, step);
        [w, m, v].concat()
    };
    assert_eq!(run(1), run(4));
    // One element by hand: g = 0, so m = 0.09, v = 0.19, w = 0.999 - 0.01 * 0.09 / sqrt(3.8).
    assert!((run(1)[0] - (0.999 - 0.0009 / 3.8_f32.sqrt())).abs() < 1e-6);
}
