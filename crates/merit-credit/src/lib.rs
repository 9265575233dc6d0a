//! Which turn deserves it? Per-token advantages from scored groups.
