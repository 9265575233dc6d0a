//! Speed of the products, by hand: `cargo test --release -p merit-model -- --ignored --nocapture products_run_near_the_peak`.

use super::gemm::{Left, Size, Start, gemm, gemm_across};
use super::{Isa, pack};

/// Nanoseconds that this thread has spent on a processor.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn rate(name: &str, size: Size, mut run: impl FnMut()) {
    let flops = 2.0 * (size.m * size.n * size.k) as f64;
    let repeats = (3e9 / flops).ceil() as usize;
    run();
    let best = (0..5).map(|_| {
        let start = processor_ns();
        (0..repeats).for_each(|_| run());
        flops * repeats as f64 / (processor_ns() - start) as f64
    });
    let best = best.fold(0.0, f64::max);
    println!("{name:>10} {:>5} x {:>5} x {:>5}: {best:6.1} GFLOP/s", size.m, size.n, size.k);
}

#[test]
#[ignore = "measures, asserts nothing"]
fn products_run_near_the_peak() {
    let isa = Isa::best();
    for (inputs, outputs) in [
        (64, 128),
        (64, 352),
        (176, 64),
        (64, 264),
        (128, 704),
        (352, 128),
        (256, 512),
        (256, 1408),
        (704, 256),
        (256, 2048),
    ] {
        let w = vec![0.5_f32; inputs * outputs + 64];
        let packed = pack::pack(&w, inputs, outputs, outputs);
        for m in [1, 8, 16, 64, 2048] {
            let x = vec![0.25_f32; m * inputs + 64];
            let mut y = vec![0.0_f32; m * outputs];
            let size = Size { m, n: outputs, k: inputs };
            rate("y = x w", size, || {
                gemm(isa, size, Left::rows(&x, inputs), packed.as_right(), &mut y, outputs, Start::Zero)
            });
        }
        let (x, dy) = (vec![0.25_f32; 2048 * inputs + 64], vec![0.25_f32; 2048 * outputs + 64]);
        let mut dw = vec![0.0_f32; inputs * outputs];
        let size = Size { m: inputs, n: outputs, k: 2048 };
        rate("dw += x dy", size, || gemm_across(isa, size, &x, &dy, &mut dw));
    }
}
