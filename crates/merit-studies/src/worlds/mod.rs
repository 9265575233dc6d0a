//! Small worlds that studies play in.

pub mod biased_answers;
pub mod door_grid;
pub mod edits;
pub mod encyclopaedia;
pub mod facts;
pub mod field;
pub mod fog_grid;
pub mod frames;
pub mod keys;
pub mod knowledge;
pub mod pick_place;
pub mod planted_graph;
pub mod progress;
pub mod recommender;
pub mod records;
pub mod sale;
pub mod sparse;
pub mod t_maze;
pub mod traces;
pub mod triples;
