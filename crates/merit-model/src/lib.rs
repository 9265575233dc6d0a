//! What would this model say, and how likely was it? Embedded decoders: sample, log-probs, train.

mod active;
mod adamw;
mod backend;
mod block;
mod cache;
mod checkpoint;
mod constraint;
mod decode;
mod error;
#[cfg(test)]
mod family_check;
mod frozen;
mod generator;
mod gradient;
#[cfg(test)]
mod gradient_check;
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
mod params;
mod pass;
mod prefix;
mod reward;
mod rope;
mod sample_token;
mod sampler;
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
pub use constraint::{Constraint, ConstraintSource, TokenMask};
pub use error::ModelError;
pub use frozen::FrozenPolicy;
pub use generator::{Generator, GeneratorSettings};
pub use language::LanguageModel;
pub use load::LoadOptions;
pub use lora::Adapter;
pub use lora_settings::{AdapterSettings, Target};
pub use merit_api::trainer::{
    AdamWSettings, Coefficients, CoefficientsOf, SequenceOutputs, SequenceScores, TrainSequence, UpdateStats,
};
pub use merit_formats::{Activation, DecoderConfig, Family, RopeScaling, Style, Window};
pub use merit_kernels::{Isa, Precision, Workers};
pub use merit_text::Tokenizer;
pub use packed::PackedWeights;
pub use packed_files::Held;
pub use params::SamplingParams;
pub use pass::{next_logits, score_packed, score_sequences};
pub use reward::{Preference, PreferenceFit, REWARD_HEAD_FILE, RewardHead, RewardModel};
pub use sampler::{
    Completion, CompletionSink, Drawn, Pump, SampleRequest, Sampler, SamplerError, SessionId, SessionResult,
    StopReason, TokenLogprob,
};
pub use train::{Trainer, TrainerSettings};
pub use value_head::VALUE_HEAD_FILE;
pub use weights::Weights;
