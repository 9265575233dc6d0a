//! How is a program in another language asked? JSON lines over one child process.
//!
//! A [`Channel`] starts its program at the first request and keeps it. A request is one line, a JSON object; the program
//! answers with one line, a JSON object. The channel adds `id` to each request, and the answer must carry the same `id`. Every
//! answer has a deadline. Whatever goes wrong is a typed [`CommandError`]: the program is killed with all that it started, and
//! the next request starts it anew, so that a late answer is never taken for the answer to another question.
//!
//! A [`Pool`] holds as many copies of a program as are in use at once. A [`PythonPart`] is a Python class or function behind such a
//! channel: merit brings the program that serves it, so that its author writes no protocol.
//!
//! [`Process`] is the layer below: lines of text in and out, for programs that speak first.
//!
//! The programs are those that the user names, run as the user, on this machine; nothing is expanded by a shell.

mod channel;
mod pool;
mod process;
mod python;

pub use channel::{Channel, CommandError, Limits};
pub use pool::Pool;
pub use process::{Failure, Process, end_all, end_group, start_group};
pub use python::{PythonPart, PythonRole};
