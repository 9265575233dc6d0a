//! What did other people's agents do? Recorded episodes of other formats, read into the record.
//!
//! In: a file of OpenAI-style messages, a tau-bench result file, plain JSON lines or merit's own episodes. Out: an
//! [`Imported`] with typed turns, calls and ends, and a list of everything that could not be read or carried over. What the
//! file does not say (tokens, log-probabilities, times, some ends) is marked as absent, never invented. [`read`] touches no
//! disk; [`import_into`] writes a folder that can be shown and scored. A new format is one file and one line of [`FORMATS`].
//! Data to learn from is another matter: [`read_examples`] reads conversations to imitate and preferences, and keeps no record.
//!
//! ```
//! use merit_import::{ImportOptions, read};
//! let file = r#"{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}], "reward": 1}"#;
//! let imported = read(file.as_bytes(), "auto", &ImportOptions::default())?;
//! assert_eq!(imported.found.format, "openai");
//! let episode = &imported.episodes[0].episode;
//! assert_eq!(episode.answer(), Some("4"));
//! assert_eq!(episode.transcript.missing(), Some("tokens and log-probabilities"));
//! assert_eq!(episode.reported.as_ref().map(|r| r.reward), Some(1.0));
//! # Ok::<(), merit_import::ImportError>(())
//! ```

mod assemble;
mod draft;
mod entry;
mod error;
mod examples;
mod fields;
mod folder;
mod format;
mod imported;
mod jsonl;
mod layout;
mod messages;
mod open_calls;
mod openai;
mod options;
mod parquet;
mod play;
mod read;
mod row;
mod sharegpt;
mod tau_bench;

pub use error::{ImportError, ItemError};
pub use examples::{Completion, Example, ExampleMessage, Examples, Purpose, read_examples};
pub use folder::{Written, import_into, reported_score};
pub use format::{AUTO, FORMATS, Format};
pub use imported::{Found, Imported, Layout, Remark, Skipped};
pub use options::{ImportLimits, ImportOptions};
pub use read::{read, read_file, read_rows};
pub use row::Row;
pub use sharegpt::messages as sharegpt_messages;
