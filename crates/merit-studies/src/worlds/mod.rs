//! Small worlds that studies play in.

pub mod field;
pub mod fog_grid;
pub mod progress;
pub mod sparse;
pub mod t_maze;
