//! The merit binary.
fn main() {}
