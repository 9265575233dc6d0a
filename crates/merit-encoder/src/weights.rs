//! An encoder's weights, laid out for products.

use crate::rows::LayerNorm;
use merit_formats::{EncoderConfig, EncoderFiles, FormatError};
use merit_kernels::{Device, Matrix, Precision, Start};

/// All weights of an encoder.
#[derive(Debug)]
pub(crate) struct Weights {
    /// A row per token.
    pub(crate) words: Vec<f32>,
    /// A row per position, that of segment kind 0 added: every text is one segment.
    pub(crate) places: Vec<f32>,
    pub(crate) norm: LayerNorm,
    pub(crate) layers: Vec<Layer>,
}

/// The weights of one transformer block.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Query, key and value side by side.
    pub(crate) qkv: Linear,
    pub(crate) merge: Linear,
    pub(crate) attention_norm: LayerNorm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) output_norm: LayerNorm,
}

/// `x W + b`
#[derive(Debug)]
pub(crate) struct Linear {
    matrix: Matrix,
    bias: Vec<f32>,
}

impl Linear {
    /// One matrix of those at `names`, side by side along their outputs.
    fn read(files: &EncoderFiles, names: &[String], inputs: usize) -> Result<Self, FormatError> {
        let (mut values, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            values.extend(files.values(&format!("{name}.weight"))?);
            bias.extend(files.values(&format!("{name}.bias"))?);
        }
        let matrix = Matrix::pack_transposed(&values, inputs, bias.len(), Precision::F32, false);
        Ok(Self { matrix, bias })
    }

    /// Width of what comes out.
    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes `rows` rows of outputs to the front of `out`.
    pub(crate) fn apply(&self, device: &Device, rows: usize, x: &[f32], out: &mut [f32]) {
        device.product(&self.matrix, rows, x, out, Start::Zero);
        crate::rows::add_bias(&mut out[..rows * self.outputs()], &self.bias);
    }
}

impl Weights {
    pub(crate) fn read(files: &EncoderFiles) -> Result<Self, FormatError> {
        let config = files.config();
        let mut places = files.values("embeddings.position_embeddings.weight")?;
        let kinds = files.values("embeddings.token_type_embeddings.weight")?;
        crate::rows::add_bias(&mut places, kinds.get(..config.d_model).unwrap_or_default());
        Ok(Self {
            words: files.values("embeddings.word_embeddings.weight")?,
            places,
            norm: norm(files, "embeddings.")?,
            layers: (0..config.layers)
                .map(|layer| Layer::read(files, config, layer))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Layer {
    fn read(files: &EncoderFiles, config: &EncoderConfig, layer: usize) -> Result<Self, FormatError> {
        let at = format!("encoder.layer.{layer}.");
        let (d, ff) = (config.d_model, config.d_ff);
        let linear = |name: &str, inputs: usize| Linear::read(files, &[format!("{at}{name}")], inputs);
        let parts = ["query", "key", "value"].map(|part| format!("{at}attention.self.{part}"));
        Ok(Self {
            qkv: Linear::read(files, &parts, d)?,
            merge: linear("attention.output.dense", d)?,
            attention_norm: norm(files, &format!("{at}attention.output."))?,
            up: linear("intermediate.dense", d)?,
            down: linear("output.dense", ff)?,
            output_norm: norm(files, &format!("{at}output."))?,
        })
    }
}

fn norm(files: &EncoderFiles, at: &str) -> Result<LayerNorm, FormatError> {
    Ok(LayerNorm {
        gain: files.values(&format!("{at}LayerNorm.weight"))?,
        bias: files.values(&format!("{at}LayerNorm.bias"))?,
        eps: files.config().norm_eps,
    })
}
