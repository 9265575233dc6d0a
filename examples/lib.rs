//! Three programs, each of at most sixty lines, that use merit as a library. `cargo run --release --example own_world`.
