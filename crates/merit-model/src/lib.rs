//! What would this model say, and how likely was it? Embedded decoders: sample, log-probs, train.

mod active;
mod adamw;
mod backend;
mod block;
mod cache;
mod checkpoint;
mod decode;
mod error;
#[cfg(test)]
mod family_check;
mod frozen;
mod generator;
mod gradient;
#[cfg(test)]
mod gradient_check;
mod grammar;
mod head;
mod language;
mod layout;
mod load;
mod lora;
mod lora_files;
mod lora_gradient;
mod lora_settings;
mod memory;
mod packed;
mod packed_files;
mod pass;
mod prefix;
mod reward;
mod rope;
mod sample_token;
mod schedule;
mod sequence;
mod sessions;
mod shard;
mod stop;
mod top_k_p;
mod train;
mod trained;
mod value_head;
mod weights;

pub use backend::BACKENDS;
pub use error::ModelError;
pub use frozen::FrozenPolicy;
pub use generator::{Generator, GeneratorSettings};
pub use grammar::grammar_constraint;
pub use language::LanguageModel;
pub use load::LoadOptions;
pub use lora::Adapter;
pub use lora_settings::{AdapterSettings, Target};
pub use merit_api::sampler::{
    Completion, CompletionSink, Constraint, ConstraintSource, Counted, Pump, SampleRequest, SampledToken,
    Sampler, SamplerError, SamplingParams, SessionId, SessionResult, StopReason, TokenLogprob, TokenMask,
};
pub use merit_api::trainer::{
    AdamWSettings, Coefficients, CoefficientsOf, SequenceOutputs, SequenceScores, TrainSequence, UpdateStats,
};
pub use merit_formats::{Activation, DecoderConfig, Family, RopeScaling, Style, Window};
pub use merit_kernels::{Isa, Precision, Workers};
pub use merit_text::Tokenizer;
pub use packed::PackedWeights;
pub use packed_files::Held;
pub use pass::{next_logits, score_packed, score_sequences};
pub use reward::{Preference, PreferenceFit, REWARD_HEAD_FILE, RewardHead, RewardModel};
pub use train::{Trainer, TrainerSettings};
pub use value_head::VALUE_HEAD_FILE;
pub use weights::Weights;
