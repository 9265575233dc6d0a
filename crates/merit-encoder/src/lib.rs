//! Which texts mean the same? Encoders of the BERT kind that turn a text into one vector.
//!
//! In: a folder as `sentence-transformers` keeps them, and texts. Out: one vector per text, in `f32`, with the same bits
//! whatever else is in the batch and however many threads there are. The files are `merit_formats`' to read, words
//! become tokens in `merit_text`, products are those of `merit_kernels`. Knows nothing of corpora or searching.

mod activation;
mod block;
mod embedder;
mod encoder;
mod error;
mod framing;
mod rows;
mod weights;

pub use embedder::ByMeaning;
pub use encoder::Encoder;
pub use error::EncoderError;
