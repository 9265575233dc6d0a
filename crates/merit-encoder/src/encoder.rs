//! The encoder: a folder opened, texts to vectors.

use crate::EncoderError;
use crate::block::{self, Space};
use crate::framing::Framing;
use crate::rows::{mean, to_unit};
use crate::weights::Weights;
use merit_core::TokenId;
use merit_formats::{EncoderConfig, EncoderFiles, Pooling, encoder_tensors};
use merit_kernels::Device;
use merit_text::Tokenizer;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// Rows that go through the blocks together: enough to be worth a product, few enough to stay near the processor.
const ROWS_AT_ONCE: usize = 256;

/// An encoder, ready to be asked from any number of threads.
pub struct Encoder {
    folder: PathBuf,
    config: EncoderConfig,
    tokenizer: Tokenizer,
    framing: Framing,
    weights: Weights,
    device: Device,
}

impl Encoder {
    /// Opens a folder as `sentence-transformers` keeps them: `config.json`, safetensors, `tokenizer.json`, `modules.json`.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, EncoderError> {
        Self::from_files(&EncoderFiles::open(&folder)?, folder.as_ref())
    }

    fn from_files(files: &EncoderFiles, folder: &Path) -> Result<Self, EncoderError> {
        let folder = folder.to_path_buf();
        let config = files.config().clone();
        let tokenizer = Tokenizer::from_json(files.tokenizer_json())
            .map_err(|source| EncoderError::Tokenizer { folder: folder.clone(), source })?;
        if tokenizer.vocab_len() > config.vocab {
            return Err(EncoderError::Vocabulary {
                folder,
                tokens: tokenizer.vocab_len(),
                rows: config.vocab,
            });
        }
        let most = config.max_tokens;
        let framing = Framing::new(&tokenizer, most, config.lower_case)
            .map_err(|marks| EncoderError::NoRoom { folder: folder.clone(), marks, most })?;
        let weights = Weights::read(files)?;
        Ok(Self { folder, config, tokenizer, framing, weights, device: Device::single() })
    }

    /// Sizes and depth of the model.
    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    /// Length of every vector.
    pub fn dimensions(&self) -> usize {
        self.config.d_model
    }

    /// The tokens that stand for a text, marks included, cut to the longest text that the model takes.
    pub fn tokens(&self, text: &str) -> Vec<TokenId> {
        self.framing.tokens(&self.tokenizer, text)
    }

    /// One vector per text, of length 1 where the model says so. The threads are those of the current pool.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), merit_encoder::EncoderError> {
    /// let encoder = merit_encoder::Encoder::open("all-MiniLM-L6-v2")?;
    /// let vectors = encoder.embed(&["a cat", "a kitten"])?;
    /// assert_eq!(vectors[0].len(), encoder.dimensions());
    /// # Ok(())
    /// # }
    /// ```
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let texts: Vec<Vec<TokenId>> = texts.par_iter().map(|text| self.tokens(text)).collect();
        let vectors: Vec<Vec<f32>> =
            runs(&texts).into_par_iter().flat_map_iter(|run| self.embed_run(run)).collect();
        match vectors.iter().position(|vector| vector.iter().any(|x| !x.is_finite())) {
            None => Ok(vectors),
            Some(index) => Err(EncoderError::NotFinite { folder: self.folder.clone(), index }),
        }
    }

    /// The vectors of a few texts, computed together.
    fn embed_run(&self, texts: &[Vec<TokenId>]) -> Vec<Vec<f32>> {
        let d = self.config.d_model;
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut x: Vec<f32> = texts.iter().flat_map(|text| self.embedded(text)).collect();
        self.weights.norm.apply(&mut x);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut space = Space::new(&self.config, lengths.iter().sum(), longest);
        for layer in &self.weights.layers {
            block::apply((&self.device, &self.config, layer), &lengths, &mut x, &mut space);
        }
        let mut rest = &x[..];
        let pooled = lengths.iter().map(|length| {
            let (rows, behind) = rest.split_at(length * d);
            rest = behind;
            self.pool(rows)
        });
        pooled.collect()
    }

    /// The embeddings of a text's tokens and their places, row after row.
    fn embedded(&self, tokens: &[TokenId]) -> Vec<f32> {
        let d = self.config.d_model;
        let words = tokens.iter().map(|token| &self.weights.words[token.0 as usize * d..][..d]);
        let places = self.weights.places.chunks_exact(d);
        words.zip(places).flat_map(|(word, place)| word.iter().zip(place).map(|(w, p)| w + p)).collect()
    }

    fn pool(&self, rows: &[f32]) -> Vec<f32> {
        let d = self.config.d_model;
        let mut vector = match self.config.pooling {
            Pooling::Mean => mean(rows, d),
            Pooling::First => mean(&rows[..d.min(rows.len())], d),
        };
        if self.config.normalise {
            to_unit(&mut vector);
        }
        vector
    }

    /// SHA-256, in hexadecimal, of everything that a vector rests on: shape, weights and tokenizer of a folder.
    pub fn digest_of(folder: impl AsRef<Path>) -> Result<String, EncoderError> {
        let files = EncoderFiles::open(folder)?;
        let mut sha = Sha256::new();
        let mut add = |part: &[u8]| {
            sha.update((part.len() as u64).to_le_bytes());
            sha.update(part);
        };
        add(format!("{:?}", files.config()).as_bytes());
        add(files.tokenizer_json().as_bytes());
        for (name, _) in encoder_tensors(files.config()) {
            let tensor = files.tensor(&name)?;
            add(tensor.encoding.name().as_bytes());
            add(&tensor.bytes);
        }
        Ok(merit_core::hex(&sha.finalize()))
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("folder", &self.folder)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Texts in order, cut into runs of about [`ROWS_AT_ONCE`] tokens.
fn runs(texts: &[Vec<TokenId>]) -> Vec<&[Vec<TokenId>]> {
    let (mut all, mut rest) = (Vec::new(), texts);
    while !rest.is_empty() {
        let mut rows = 0;
        let fits = |text: &&Vec<TokenId>| {
            rows += text.len();
            rows <= ROWS_AT_ONCE
        };
        let (run, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        all.push(run);
        rest = behind;
    }
    all
}
