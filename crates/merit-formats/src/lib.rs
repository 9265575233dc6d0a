//! What is in this model file? The shape of a decoder; GGUF and safetensors, read and written.
//!
//! [`ModelFiles`] opens a GGUF file or a folder of `transformers` and shows both alike: a [`DecoderConfig`], tensors by the
//! names, shapes and order of rows that `transformers` has, a tokenizer, special tokens, chat templates. Bytes stay
//! encoded until they are asked for. Everything in a file is checked before it is believed, and what the engine could
//! not honour is refused by name. [`save_hf`] and [`save_gguf`] write models, [`Adapter`] low-rank changes of them,
//! [`EncoderFiles`] reads models that turn a text into a vector. What tokens mean and what weights compute is decided
//! elsewhere.

mod adapter;
mod atomic;
mod completeness;
mod config;
mod dequantise;
mod describe;
mod encoder;
mod encoder_config;
mod encoding;
mod error;
mod expected;
mod files;
mod gguf;
mod half;
mod hf;
mod locate;
mod mapped;
mod quantise;
mod rope;
mod safetensors;
mod settings;
mod span;
mod special;
mod stream;
mod style;
mod view;
mod vocabulary;

pub use adapter::{Adapter, LowRank};
pub use config::{ConfigError, DecoderConfig};
pub use describe::{Description, EncodingShare};
pub use encoder::{EncoderFiles, encoder_tensors};
pub use encoder_config::{EncoderActivation, EncoderConfig, Pooling};
pub use encoding::{Encoding, LengthMismatch};
pub use error::FormatError;
pub use expected::{ExpectedTensor, TensorRole, expected_tensors};
pub use files::{Format, ModelFiles, TokenizerSource};
pub use gguf::write::{GgufExtras, save_gguf};
pub use half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
pub use hf::write::{HfExtras, HfOptions, save_hf};
pub use special::{Special, SpecialToken};
pub use style::{Activation, Family, RopeScaling, Style, Window};
pub use view::{NamedTensor, TensorView};
pub use vocabulary::{GgufVocabulary, TokenKind};
