//! How are other programs reached? What clients and servers of any protocol over HTTP share.
//!
//! [`Threads`] carry connections, [`Events`] reads a stream of events, [`whole`] reads a body within a bound, [`is_loopback`] says
//! what is on this machine; [`text`] makes other people's words fit for an error. Knows no protocol above HTTP.

mod body;
mod loopback;
mod sse;
pub mod text;
mod threads;

pub use body::{BodyError, whole};
pub use loopback::is_loopback;
pub use sse::Events;
pub use threads::{Task, Threads, wait};
