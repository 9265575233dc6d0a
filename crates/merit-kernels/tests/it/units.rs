//! Tests that stand beside their code. Their files need nothing of the crate, so they are compiled into this program: the library
//! would be compiled a second time for them otherwise.
#![allow(dead_code, unreachable_pub, reason = "what the tests of a file do not reach")]

#[path = "../../src/quant/lanes.rs"]
mod lanes;
#[path = "../../src/math.rs"]
mod math;
#[path = "../../src/split.rs"]
mod split;
