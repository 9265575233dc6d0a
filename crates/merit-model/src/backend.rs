//! The model backends that live in this process, by name.

use merit_core::About;

/// Every backend of this crate. Programs that play a role are listed by the rollout station.
pub const BACKENDS: &[About] = &[About {
    name: "embedded",
    summary: "a decoder in this process: sampled and trained by the same kernels, on the CPU",
    paper: "",
}];
