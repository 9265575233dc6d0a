//! Small worlds that studies play in.

pub mod fog_grid;
pub mod progress;
pub mod sparse;
pub mod t_maze;
