//! Quantised products over the shapes of SmolLM2-135M: how fast, and how near to what the memory and the multipliers allow.
//!
//! `quant_speed [ENCODING] [THREADS] [ROUNDS]` (Q4_1, 1 thread, 20 rounds). The head is Q8_0. One JSON line for the machine (bytes
//! a second of a copy, of a read; multiply-adds a second of a loop without memory), then one for each batch: milliseconds of
//! each kind of product summed over the layers, tokens a second if nothing else cost time, bytes of weights a second and their
//! share of the copy, FLOPs a second and their share of the loop. Times of one thread are its processor time, so that other
//! programs on the machine do not count; of several threads, the wall clock.

#![allow(clippy::print_stdout)]

use merit_core::Seed;
use merit_formats::{Encoding, f32_to_f16};
use merit_kernels::{Device, Matrix, QuantPart, Start, Workers};
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

const LAYERS: usize = 30;
const BATCHES: [usize; 6] = [1, 2, 4, 8, 16, 64];
/// Name, inputs, outputs.
const SHAPES: [(&str, usize, usize); 4] =
    [("qkv", 576, 960), ("output", 576, 576), ("gate_up", 576, 3072), ("down", 1536, 576)];
const HEAD: (&str, usize, usize) = ("head", 576, 49152);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |index: usize, or: &str| arguments.get(index).cloned().unwrap_or_else(|| or.to_owned());
    let name = word(0, "Q4_1");
    let encoding = Encoding::all().find(|e| e.name() == name).expect("a name like Q4_1");
    let number = |index: usize, or: &str| word(index, or).parse::<usize>().expect("a number");
    let (threads, rounds) = (number(1, "1"), number(2, "20").max(1));
    let device = Device::new(Workers::new(threads).expect("threads start"));

    let clock = Clock { wall: threads > 1 };
    let (copy, read, peak) = (copied(&clock), read(&clock), multiplied(&clock));
    println!("{}", json!({"what": "machine", "copy_gb_s": copy, "read_gb_s": read, "fma_gflop_s": peak}));

    let mut kinds: Vec<Kind> = SHAPES.iter().map(|shape| Kind::new(encoding, LAYERS, *shape)).collect();
    kinds.push(Kind::new(Encoding::Q8_0, 1, HEAD));
    let weights: usize = kinds.iter().flat_map(|kind| &kind.matrices).map(|m| m.inputs() * m.outputs()).sum();
    let bytes: usize = kinds.iter().map(|kind| kind.bytes).sum();
    for batch in BATCHES {
        let x = vec![0.5_f32; batch * 1536];
        let mut y = vec![0.0_f32; batch * HEAD.2];
        let rounds = rounds.div_ceil(batch);
        let mut spent = vec![0.0; kinds.len()];
        device.workers().enter(|| {
            for round in 0..=rounds {
                for (kind, spent) in kinds.iter().zip(&mut spent) {
                    let start = clock.now();
                    for matrix in &kind.matrices {
                        device.product(matrix, batch, &x, &mut y, Start::Zero);
                    }
                    // The first round warms up.
                    *spent += if round == 0 { 0.0 } else { (clock.now() - start) / rounds as f64 };
                }
            }
        });
        let seconds: f64 = spent.iter().sum();
        let (gb_s, gflop_s) = (bytes as f64 / seconds / 1e9, 2.0 * (weights * batch) as f64 / seconds / 1e9);
        let ms = kinds.iter().zip(&spent).map(|(kind, seconds)| (kind.name.to_owned(), json!(seconds * 1e3)));
        let ms: serde_json::Map<_, _> = ms.collect();
        println!(
            "{}",
            json!({
                "what": "products", "encoding": encoding.name(), "threads": threads, "batch": batch, "ms": ms,
                "tokens_per_s": batch as f64 / seconds, "weight_bytes": bytes, "gb_s": gb_s, "share_of_copy": gb_s / copy,
                "gflop_s": gflop_s, "share_of_fma": gflop_s / peak,
            })
        );
    }
}

/// The matrices of one place in all layers.
struct Kind {
    name: &'static str,
    matrices: Vec<Matrix>,
    /// Bytes of all of them in a file.
    bytes: usize,
}

impl Kind {
    fn new(encoding: Encoding, layers: usize, (name, inputs, outputs): (&'static str, usize, usize)) -> Self {
        // Rows that are not whole blocks are cut to fit.
        let inputs = inputs / encoding.block() * encoding.block();
        let bytes = blocks(encoding, inputs * outputs);
        let part = QuantPart { encoding, bytes: &bytes, outputs, inputs };
        let matrix = || Matrix::quantised(&[part]).expect("finite blocks of the right length");
        Self { name, matrices: (0..layers).map(|_| matrix()).collect(), bytes: layers * bytes.len() }
    }
}

/// Random codes under small scales.
fn blocks(encoding: Encoding, values: usize) -> Vec<u8> {
    let mut stream = Seed::root(1).stream();
    let len = encoding.bytes_for(values).expect("whole blocks");
    let mut bytes: Vec<u8> =
        (0..len.div_ceil(8)).flat_map(|_| stream.bits().to_le_bytes()).take(len).collect();
    let scale = f32_to_f16(0.01).to_le_bytes();
    for block in bytes.chunks_exact_mut(encoding.block_bytes()) {
        match encoding {
            Encoding::F32 => block.copy_from_slice(&0.01_f32.to_le_bytes()),
            Encoding::Bf16 => block.copy_from_slice(&0x3c24_u16.to_le_bytes()),
            Encoding::Q6K => block[208..].copy_from_slice(&scale),
            Encoding::F16 | Encoding::Q8_0 | Encoding::Q4_0 | Encoding::Q5_0 => {
                block[..2].copy_from_slice(&scale);
            }
            _ => block[..4].copy_from_slice(&[scale, scale].concat()),
        }
    }
    bytes
}

/// Seconds: of this thread on a processor, or on the wall.
struct Clock {
    wall: bool,
}

impl Clock {
    fn now(&self) -> f64 {
        if self.wall {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            return START.get_or_init(Instant::now).elapsed().as_secs_f64();
        }
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

    fn best(&self, mut run: impl FnMut()) -> f64 {
        run();
        let times = (0..5).map(|_| {
            let start = self.now();
            run();
            self.now() - start
        });
        times.fold(f64::INFINITY, f64::min)
    }
}

/// GB a second that one thread copies, read and written counted once each.
fn copied(clock: &Clock) -> f64 {
    let (from, mut to) = (vec![1_u8; 128 << 20], vec![0_u8; 128 << 20]);
    2.0 * from.len() as f64 / clock.best(|| black_box(&mut to).copy_from_slice(black_box(&from))) / 1e9
}

/// GB a second that one thread reads.
fn read(clock: &Clock) -> f64 {
    let from = vec![1_u64; 16 << 20];
    let sum = |from: &[u64]| from.iter().fold(0_u64, |sum, x| sum.wrapping_add(*x));
    8.0 * from.len() as f64 / clock.best(|| _ = black_box(sum(black_box(&from)))) / 1e9
}

/// GFLOP a second of a product that stays in the nearest cache.
fn multiplied(clock: &Clock) -> f64 {
    let (k, n, m) = (256, 32, 14);
    let matrix = Matrix::pack(&vec![0.5; k * n], k, n, merit_kernels::Precision::F32, false);
    let (x, mut y) = (vec![0.5_f32; m * k], vec![0.0_f32; m * n]);
    let device = Device::single();
    let repeats = 2000;
    let seconds =
        clock.best(|| (0..repeats).for_each(|_| device.product(&matrix, m, &x, &mut y, Start::Zero)));
    2.0 * (k * n * m * repeats) as f64 / seconds / 1e9
}
