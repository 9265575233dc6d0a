//! What judges do, from outside.

mod asked_evolving;
mod asking;
mod evolving;
mod judging;
mod made;
mod oracles;
mod ranking;
