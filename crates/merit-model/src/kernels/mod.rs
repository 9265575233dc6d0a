//! The arithmetic: matrix products, row functions and exponentials whose bits depend on their operands alone.
//!
//! Every output element is one fixed chain of operations, written with explicit fused multiply-adds. Tiles, vector width,
//! batch size and threads choose only which elements are computed together, never the chain. All code here is
//! single-threaded; `unsafe` lives in this folder and nowhere else in the crate.

pub(crate) mod gemm;
#[cfg(test)]
mod gradient_check;
pub(crate) mod isa;
pub(crate) mod loss;
pub(crate) mod math;
pub(crate) mod norm;
pub(crate) mod optim;
pub(crate) mod pack;
pub(crate) mod softmax;
#[cfg(test)]
mod speed;
pub(crate) mod swiglu;
mod tile;
#[cfg(target_arch = "x86_64")]
mod tile_x86;
pub(crate) mod turn;

pub use isa::Isa;
