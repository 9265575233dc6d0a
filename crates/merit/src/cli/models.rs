//! What can be said on the command line about models: `merit chat`, `merit generate` and `merit model`.

use crate::commands::WrongInput;
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use merit_endpoint::EndpointConfig;
use std::path::PathBuf;

/// The settings of an endpoint where the model is an address; absent where it is a path.
pub(crate) fn server(model: &str, flags: &ServerFlags) -> Result<Option<EndpointConfig>> {
    if !is_address(model) {
        return match flags.given() {
            Some(flag) => bail!(WrongInput(format!("{flag} is for a server, and {model} is a path"))),
            None => Ok(None),
        };
    }
    let Some((url, name)) = model.split_once('#').filter(|(_, name)| !name.is_empty()) else {
        bail!(WrongInput(format!(
            "{model} names no model; put its name behind a #, as in http://127.0.0.1:8000/v1#NAME"
        )));
    };
    let ServerFlags { api_key_env, remote, ca_file } = flags.clone();
    Ok(Some(EndpointConfig { api_key_env, remote, ca_file, ..EndpointConfig::new(url, name) }))
}

/// Whether a model is named by the address of its server.
pub(crate) fn is_address(model: &str) -> bool {
    model.starts_with("http://") || model.starts_with("https://")
}

/// How a server is reached.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServerFlags {
    /// The environment variable that holds the key of a server.
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) api_key_env: Option<String>,
    /// Allow a server on another machine: what is asked then leaves this one.
    #[arg(long, requires = "model")]
    pub(crate) remote: bool,
    /// Certificates in PEM form that are trusted besides the usual ones, such as those of a company's proxy.
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(crate) ca_file: Option<PathBuf>,
}

impl ServerFlags {
    /// A flag that was given, as it was written.
    pub(crate) fn given(&self) -> Option<String> {
        let key = self.api_key_env.as_ref().map(|name| format!("--api-key-env {name}"));
        let remote = self.remote.then(|| "--remote".to_owned());
        key.or(remote).or_else(|| self.ca_file.as_ref().map(|path| format!("--ca-file {}", path.display())))
    }
}

#[derive(Debug, Args)]
#[command(after_help = CHAT_HELP)]
pub(crate) struct Chat {
    /// A GGUF file, a folder with safetensors, or a server as `http://127.0.0.1:8000/v1#MODEL`.
    pub(crate) model: String,
    /// Standing instructions, said before the first message.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) system: Option<String>,
    /// Say at the end how many tokens were read and written, and how fast.
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    #[command(flatten)]
    pub(crate) sampling: SamplingFlags,
    #[command(flatten)]
    pub(crate) engine: EngineFlags,
}

const CHAT_HELP: &str = "\
Every line of standard input is a message; the answer is printed as it comes. Ctrl-C ends the answer, the end of the input ends \
the chat. An answer that is empty, cut, refused or only thought is said to be so on standard error. The conversation is laid out by the model's own template, and what was said is never tokenised again.";

#[derive(Debug, Args)]
#[command(after_help = GENERATE_HELP)]
pub(crate) struct Generate {
    /// A GGUF file, or a folder with safetensors.
    pub(crate) model: String,
    /// JSON lines to read; `-` is standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) input: PathBuf,
    /// Where to write JSON lines; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Replace the output file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
    /// Completions that are written together; what they say does not depend on it.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) batch: u16,
    /// Say at the end how many tokens were read and written, and how fast.
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) sampling: SamplingFlags,
    #[command(flatten)]
    pub(crate) engine: EngineFlags,
}

const GENERATE_HELP: &str = "\
A line is {\"prompt\": \"Once\"} or {\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}, the latter laid out by the model's own \
template. It may also have `tools`, `max_tokens`, `temperature`, `top_p`, `top_k`, `min_p`, `stop` (a text or several), `seed`, `n` \
(completions of this line), `json_schema` or `regex` (what the text has to be), `logprobs` (true, or how many of the likeliest \
tokens to tell) and `id`, which is handed on. What a line leaves out is as the options say.

Out come, in the order of the input, {\"line\": 1, \"sample\": 0, \"text\": \"…\", \"tokens\": […], \"finish\": \"stop-token\"}, and \
`logprobs` and `top_logprobs` where asked for. A text that a stop text ended has it at its end. `finish` is stop-token, stop-string, \
max-tokens, context-full or constraint-met. A line that cannot be used becomes {\"line\": 2, \"error\": {\"kind\": \"…\", \"message\": \
\"…\"}}; the others are answered all the same, and the exit code is 2.

The same line, place in the input and seed give the same completion at any --batch and any number of --threads.";

#[derive(Debug, Clone, Args)]
pub(crate) struct SamplingFlags {
    /// Sampling temperature; 0 takes the likeliest token [default: 0.7 in a chat, otherwise 1].
    #[arg(long, value_parser = super::values::temperature, allow_negative_numbers = true)]
    pub(crate) temperature: Option<f32>,
    /// Draw only from the likeliest tokens that together have this probability [default: 1].
    #[arg(long)]
    pub(crate) top_p: Option<f32>,
    /// Draw only from this many of the likeliest tokens [default: all].
    #[arg(long)]
    pub(crate) top_k: Option<u32>,
    /// Draw only tokens at least this share as likely as the likeliest [default: 0].
    #[arg(long)]
    pub(crate) min_p: Option<f32>,
    /// Most tokens of an answer [default: 1024 in a chat, otherwise 256].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) max_tokens: Option<u32>,
    /// Seed of the sampling.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct EngineFlags {
    /// Threads [default: all cores]; what is said does not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
    /// Longest context in tokens, prompt and answer together [default: the model's own, at most 8192].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 17))]
    pub(crate) context: Option<u32>,
    /// How the weights are held [default: stored].
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionName {
    /// As the file has them; products are those of the decoded weights.
    Stored,
    /// As the file has them, with activations rounded to bfloat16: faster where the weights are quantised.
    StoredBf16,
    /// Decoded to 32 bits.
    F32,
    /// Decoded and rounded to bfloat16.
    Bf16,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// Say what is in a model, an adapter or an encoder of texts, and how much memory it needs.
    Info {
        /// A GGUF file, a safetensors file or a folder.
        path: PathBuf,
        /// Longest context to count memory for, in tokens [default: the model's own, at most 8192].
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 17))]
        context: Option<u32>,
        /// Rank of the adapter to count memory for.
        #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
        rank: u32,
        /// One JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Write a model in another format or encoding, with its tokenizer and chat template.
    Convert {
        /// A GGUF file, a safetensors file or a folder.
        from: PathBuf,
        /// The file or folder to write.
        to: PathBuf,
        /// The format [default: gguf where TO ends in .gguf, otherwise safetensors].
        #[arg(long = "to", value_enum, value_name = "FORMAT")]
        format: Option<FormatName>,
        /// How matrices are encoded [default: as most of the model is, f32 where it is quantised].
        #[arg(long, value_enum)]
        encoding: Option<EncodingName>,
        /// Leave the tokenizer out where the new format cannot say it.
        #[arg(long)]
        without_tokenizer: bool,
        /// Replace what is there.
        #[arg(long)]
        force: bool,
    },
    /// Add a low-rank adapter, in a folder as PEFT writes it, to the weights of its model, and write a folder.
    Merge {
        /// The model: a GGUF file, a safetensors file or a folder.
        base: PathBuf,
        /// The adapter's folder.
        adapter: PathBuf,
        /// The folder to write.
        to: PathBuf,
        /// How matrices are encoded [default: as most of the model is, f32 where it is quantised].
        #[arg(long, value_enum)]
        encoding: Option<EncodingName>,
        /// Threads [default: all cores]; the result does not depend on it.
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
        threads: Option<u16>,
        /// Replace what is there.
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// A folder that `transformers` loads.
    Safetensors,
    /// One file that llama.cpp loads.
    Gguf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingName {
    /// Four bytes a weight.
    F32,
    /// Half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// Blocks of signed bytes; GGUF only.
    #[value(name = "q8_0")]
    Q8_0,
}
