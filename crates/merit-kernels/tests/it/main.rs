//! The tests of `merit-kernels`: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod attention;
mod gemm;
mod gemm_bf16;
mod gradients;
mod optim;
mod peak;
mod quant;
mod quant_activations;
#[cfg(target_arch = "x86_64")]
mod softmax_alike;
mod tiles;
mod transposition;
mod units;
