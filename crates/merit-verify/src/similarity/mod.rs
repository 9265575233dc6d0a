//! Do two texts say the same, and does one follow from the other? Two roles and the verdicts that use them.
//!
//! [`Embedder`](merit_core::embedder::Embedder) and [`Entailer`] are the seams: a program that can turn texts into vectors, or a
//! premise and a hypothesis into a probability, fits here. Those that need no model are honest about what they are, counting
//! characters and words; model-backed ones are built elsewhere and handed in. A new entailer is one file and one line in
//! [`ENTAILERS`].

mod entailment;
mod lexical;
mod likeness;
mod roles;

pub use entailment::{EntailmentConfig, EntailmentDetail, EntailmentVerdict, EntailmentVerifier};
pub use lexical::{Lexical, LexicalEvidence};
pub use likeness::{LikenessConfig, LikenessDetail, LikenessVerdict, LikenessVerifier};
pub use roles::{ENTAILERS, Entailer, EntailerEntry, EntailerError, SimilarityConfigError, entailer};
