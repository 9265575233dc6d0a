//! What do these tokens say? Tokenizers, chat templates, grammars.
//!
//! [`Tokenizer`] turns text into tokens and back: one trained on the spot, or a real model's, from its `tokenizer.json` or
//! its GGUF metadata. [`ChatTemplate`] lays a conversation out as text, by the model's own template, and [`ChatFrames`] are
//! that template cut into pieces that only ever grow. A [`Grammar`] says which tokens may come next. Nothing here knows
//! weights.

mod error;
mod frames;
#[cfg(feature = "grammar")]
mod grammar;
mod model_text;
mod specials;
mod template;
mod tokenizer;

pub use error::{FramesError, TemplateError, TokenizerError};
pub use frames::{ChatFrames, Content, Frame, Layout, Place, TemplateRole};
#[cfg(feature = "grammar")]
pub use grammar::{Grammar, GrammarError, GrammarFactory, GrammarSource, GrammarState, TokenMask};
pub use model_text::{ModelText, ModelTextError};
pub use specials::{SpecialTokens, TokenizerConfig};
pub use template::{CalledFunction, ChatMessage, ChatTemplate, ChatTool, TemplateContext};
pub use tokenizer::{PRE_TOKENIZERS, Tokenizer};
