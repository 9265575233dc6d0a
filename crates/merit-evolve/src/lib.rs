//! How does a library improve? What a frozen judge consults is evolved on labelled items, without any update of weights.
//!
//! In: a [`Library`] of entries, a [`Subject`] that says how right it is about each item with a given library, and a [`Proposer`]
//! of edits. Out: an [`Evolution`]: the head, the best version so far, and every [`Change`] with what it did to the same held-out
//! items. Knows nothing of models, texts or disks. RewardHarness (arXiv 2605.08703) is the pattern; the gate is
//! [`merit_core::gate`].
//!
//! ```
//! use merit_evolve::{Edit, Entry, Kind, Library};
//! let body = "Look at the unit before the number.".into();
//! let (title, when, made_by) = ("units".into(), vec!["km".into()], "a person".into());
//! let entry = Entry { kind: Kind::Skill, title, when, body, weight: 1.0, made_by };
//! let library = Library::default().edited(&[Edit::Add { id: "units".into(), entry }])?;
//! assert_eq!(library.routed("how many miles are 5 km?").count(), 1);
//! assert_eq!(library.routed("what is 2 + 2?").count(), 0);
//! # Ok::<(), merit_evolve::EditError>(())
//! ```

mod evolve;
mod library;
mod prune;
mod settings;

pub use evolve::{
    Change, Evolution, EvolveError, Part, Phase, Proposal, Proposer, Subject, evolve, prune_only,
};
pub use library::{Edit, EditError, Entry, Kind, Library};
pub use settings::EvolveSettings;
