//! What judges do, from outside.

mod asking;
mod evolving;
mod judging;
mod made;
mod oracles;
mod ranking;
