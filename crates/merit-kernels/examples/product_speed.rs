//! Speed of the products of every size, on one thread, with every instruction set and unit: `cargo run --release -p merit-kernels --example product_speed`.
#![allow(clippy::print_stdout)]

use merit_kernels::gemm::{Size, Start};
use merit_kernels::{Device, Dot, Isa, Matrix, Precision};

/// Nanoseconds that this thread has spent on a processor.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn rate(name: &str, size: Size, mut run: impl FnMut()) {
    let flops = 2.0 * (size.m * size.n * size.k) as f64;
    run();
    // The system's count of processor time is too coarse for one run.
    let start = std::time::Instant::now();
    run();
    let repeats = (0.04 / start.elapsed().as_secs_f64()).ceil() as usize;
    let best = (0..5).map(|_| {
        let start = processor_ns();
        (0..repeats).for_each(|_| run());
        flops * repeats as f64 / (processor_ns() - start) as f64
    });
    let best = best.fold(0.0, f64::max);
    println!("{name:>10} {:>5} x {:>5} x {:>5}: {best:6.1} GFLOP/s", size.m, size.n, size.k);
}

fn measure(device: &Device, precision: Precision, shapes: &[(usize, usize)], rows: &[usize], trained: usize) {
    for &(inputs, outputs) in shapes {
        let matrix = Matrix::pack(&vec![0.5; inputs * outputs], inputs, outputs, precision, true);
        for &m in rows {
            let (x, mut y) = (vec![0.25; m * inputs], vec![0.0; m * outputs]);
            let size = Size { m, n: outputs, k: inputs };
            rate("y = x w", size, || device.product(&matrix, m, &x, &mut y, Start::Zero));
        }
        let (mut x, dy) = (vec![0.25; trained * inputs + 64], vec![0.25; trained * outputs + 64]);
        let size = Size { m: trained, n: inputs, k: outputs };
        rate("dx = dy w", size, || device.product_back(&matrix, trained, &dy, &mut x, Start::Zero));
        let mut dw = vec![0.0; inputs * outputs];
        let size = Size { m: inputs, n: outputs, k: trained };
        rate("dw += x dy", size, || {
            device.gradient(precision, trained, (&x, inputs), (&dy, outputs), &mut dw);
        });
    }
}

const SMALL: [(usize, usize); 11] = [
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
    (576, 3072),
];

const LARGE: [(usize, usize); 5] = [(576, 960), (576, 576), (576, 3072), (1536, 576), (576, 49152)];

fn main() {
    for isa in Isa::available() {
        let portable = Device::single().with_isa(isa).with_dot(Dot::portable());
        let best = Device::single().with_isa(isa);
        for (precision, device) in
            [(Precision::F32, &best), (Precision::Bf16, &best), (Precision::Bf16, &portable)]
        {
            println!("{precision:?} {isa:?} {}", device.dot().name());
            measure(device, precision, &SMALL, &[1, 16, 64, 512], 512);
            measure(device, precision, &LARGE, &[1, 16, 256, 1024], 1024);
        }
    }
}
