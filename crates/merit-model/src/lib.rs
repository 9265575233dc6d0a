//! What would this model say, and how likely was it? Embedded decoders: sample, log-probs, train.

mod active;
mod adamw;
mod attention;
mod attention_backward;
mod backend;
mod block;
mod cache;
mod checkpoint;
mod choose;
mod config;
mod decode;
mod error;
mod generator;
#[cfg(test)]
mod gradient_check;
mod head;
mod kernels;
mod layout;
mod packed;
mod rope;
mod sampler;
mod sequence;
mod shard;
mod stop;
mod tokenizer;
mod train;
mod weights;
mod workers;

pub use adamw::{AdamWSettings, UpdateStats};
pub use backend::BACKENDS;
pub use config::DecoderConfig;
pub use error::ModelError;
pub use generator::{Generator, GeneratorSettings};
pub use kernels::Isa;
pub use sampler::{
    Completion, CompletionSink, Pump, SampleRequest, Sampler, SamplerError, SamplingParams, SessionId,
    SessionResult, StopReason,
};
pub use sequence::{Coefficients, SequenceOutputs, SequenceScores, TrainSequence};
pub use tokenizer::Tokenizer;
pub use train::{Objective, Trainer, TrainerSettings, score_sequences};
pub use weights::Weights;
pub use workers::Workers;
