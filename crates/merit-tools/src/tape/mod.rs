//! Record and replay of every tool call: a run whose calls are on a [`Tape`] can be repeated without any tool.
//!
//! A [`Toolbox`] stands where worlds build their tools and says how calls are answered: live, live and recorded, from a
//! recording alone, or from a cache that fills itself. Whatever it answers is a function of the tape and of the session's
//! own past, never of what other sessions do meanwhile. The file is `file`, its rows are `store`, what makes two calls the
//! same is `key`, and each way of answering is a file of its own.

mod book;
mod cache;
mod entry;
mod error;
mod file;
mod finding;
mod key;
mod lines;
mod record;
mod replay;
mod store;
mod strand;
mod toolbox;

pub use entry::{CallEntry, TapedTool};
pub use error::TapeError;
pub use file::{FORMAT, TapeKind};
pub use finding::{Match, Miss};
pub use key::Fingerprint;
pub(crate) use key::digest;
pub use replay::Timing;
pub use store::{Tape, TapeCounts};
pub use toolbox::{Scope, Toolbox};
