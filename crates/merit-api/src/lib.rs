//! What may I bring of my own? The traits that anybody may implement, with their plain data.
//!
//! Whoever writes a world, a tool, a sampler or a trainer depends on this crate and on merit-core, and compiles little. The
//! implementations that come with merit live to the right: worlds in merit-env, tools in merit-tools, samplers and trainers in
//! merit-model.

pub mod trainer;
