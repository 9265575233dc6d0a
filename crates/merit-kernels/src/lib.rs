//! The arithmetic of decoders on one device: products, norms, attention, optimiser.
//!
//! Every output element is one fixed chain of operations, written with explicit fused multiply-adds. Tiles, vector width,
//! batch size and threads choose only which elements are computed together, never the chain. `unsafe` lives in this crate
//! and in no other part of the engine.
//!
//! ```
//! use merit_kernels::math::{dot, sigmoid};
//! assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
//! assert_eq!(sigmoid(0.0), 0.5);
//! ```

mod aligned;
#[cfg(target_arch = "x86_64")]
mod amx;
pub mod attention;
mod attention_backward;
#[cfg(target_arch = "x86_64")]
mod attention_one_x86;
mod attention_pages;
#[cfg(target_arch = "x86_64")]
mod attention_pairs_x86;
mod attention_whole;
#[cfg(target_arch = "x86_64")]
mod attention_x86;
mod bf16;
mod device;
mod dot;
#[cfg(target_arch = "x86_64")]
mod dot_fma_x86;
mod dot_portable;
#[cfg(target_arch = "x86_64")]
mod dot_x86;
pub mod gate;
pub mod gemm;
mod gemm_across;
mod gemm_bf16;
mod isa;
pub mod loss;
pub mod math;
mod matrix;
pub mod norm;
pub mod optim;
pub mod pack;
mod page;
pub mod peak;
mod quant;
pub mod rotary;
mod rows;
pub mod softmax;
#[cfg(target_arch = "x86_64")]
mod softmax_x86;
mod split;
mod table;
mod target;
#[doc(hidden)]
pub mod testing;
mod tile;
mod tile_runs;
#[cfg(target_arch = "x86_64")]
mod tile_x86;
mod workers;

pub use aligned::Aligned;
pub use attention_pages::Reading;
pub use attention_whole::AttentionSpaces;
pub use device::Device;
pub use dot::Dot;
pub use gemm::Start;
pub use isa::Isa;
pub use matrix::{Matrix, Precision};
pub use page::{PAGE, PageData, PageLayout};
pub use quant::{QuantError, QuantPart};
pub use rows::Asked;
pub use table::Table;
pub use workers::{Scratch, ThreadsError, Workers};
