//! Worlds of small programs: `synth` wants one written, `repair` wants some mended. Both run the same small language of lists.

mod exercise;
pub mod language;
mod mend;
pub mod repair;
mod repo;
mod slack;
pub mod synth;
mod workspace;
mod write;
