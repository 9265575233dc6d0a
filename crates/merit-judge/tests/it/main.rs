//! What judges do, from outside.

mod asking;
mod oracles;
mod ranking;
