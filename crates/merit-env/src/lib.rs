//! What world is the agent in? Procedural worlds with exact oracles.

mod world;

pub use world::{DemoTurn, Demonstrator, Env, EnvError, Reaction, World, WorldEnd};
