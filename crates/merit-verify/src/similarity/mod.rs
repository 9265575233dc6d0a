//! Do two texts say the same, and does one follow from the other? Two roles and the verdicts that use them.
//!
//! [`Embedder`] and [`Entailer`] are the seams: whoever can turn texts into vectors, or a premise and a hypothesis into a
//! probability, fits here. The implementers in this crate are honest about what they are, counting characters and words;
//! model-backed ones are built elsewhere and handed in. A new one here is one file and one line in [`EMBEDDERS`] or
//! [`ENTAILERS`].

mod entailment;
mod hashed_ngrams;
mod lexical;
mod likeness;
mod roles;

pub use entailment::{EntailmentConfig, EntailmentDetail, EntailmentVerdict, EntailmentVerifier};
pub use hashed_ngrams::HashedNgrams;
pub use lexical::{Lexical, LexicalEvidence};
pub use likeness::{LikenessConfig, LikenessDetail, LikenessVerdict, LikenessVerifier};
pub use roles::{
    EMBEDDERS, ENTAILERS, Embedder, EmbedderEntry, Entailer, EntailerEntry, RoleError, SimilarityConfigError,
    embedder, entailer,
};
