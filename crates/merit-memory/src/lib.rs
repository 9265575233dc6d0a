//! What was learned and is worth showing again? A memory: a store of short texts that grows, forgets, and is searched.
//!
//! Three verbs. *Form* turns lines or scored episodes into candidates ([`form`]). *Evolve* admits them, through a gate where one is
//! asked for, merges what is known already, and forgets by a stated rule ([`Memory::evolve`]). *Retrieve* finds the items for a query
//! ([`Memory::retrieve`]): exact, by words, by vectors, by both, or along edges. A memory is a folder with `memory.toml` and
//! `items.db` (and what is searched, once it is large), or lives in the process. Every change is one transaction and one version; every item says who made it. Knows nothing of
//! worlds, policies and rewards: what an item is worth is told by [`Memory::feedback`].
//!
//! ```
//! use merit_memory::{Memory, Query, Settings, form};
//! let mut memory = Memory::in_process(Settings::default())?;
//! memory.evolve(form::lines("Owls hunt at night.\nBats sleep hanging by their feet.", "animals")?)?;
//! let found = memory.retrieve(&Query::new("Who hunts at night?", 1))?;
//! assert_eq!((found.items[0].text.as_str(), found.version), ("Owls hunt at night.", 1));
//! # Ok::<(), merit_memory::MemoryError>(())
//! ```

mod error;
mod evolve;
pub mod form;
mod item;
mod kept;
mod questions;
mod retrieve;
mod settings;
mod shelf;
mod store;
mod vectors;

pub use error::MemoryError;
pub use evolve::{Evolved, Forgotten};
pub use item::{Candidate, Edge, Item, MadeBy};
pub use questions::{Question, answered};
pub use retrieve::{Query, Retrieved};
pub use settings::{Forgetting, Kind, Retrieval, Settings};
pub use store::{Change, Memory, Snapshot};
