//! Record and replay of tool calls: what a tape promises to whoever replays it.

mod bench_tools;
mod cache;
mod file;
mod lines;
mod random_sessions;
mod record;
mod replay;
mod time;
