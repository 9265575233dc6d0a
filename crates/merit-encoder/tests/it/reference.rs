//! The vectors are those of the definition, and those of `transformers` on the real model.

use crate::support::{EPS, FEED, HEADS, LAYERS, Tensors, WIDTH, tensors, write};
use merit_encoder::Encoder;
use serde::Deserialize;

/// The encoder by its formulas, in `f64`, one token after the other.
struct Plain<'a>(&'a Tensors);

impl Plain<'_> {
    fn linear(&self, at: &str, x: &[f64]) -> Vec<f64> {
        let (weight, bias) = (&self.0[&format!("{at}.weight")].1, &self.0[&format!("{at}.bias")].1);
        let rows = weight.chunks(x.len()).zip(bias);
        rows.map(|(row, b)| f64::from(*b) + row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum::<f64>())
            .collect()
    }

    fn norm(&self, at: &str, x: &[f64]) -> Vec<f64> {
        let (gain, bias) =
            (&self.0[&format!("{at}LayerNorm.weight")].1, &self.0[&format!("{at}LayerNorm.bias")].1);
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64;
        let scaled = x.iter().map(|x| (x - mean) / (variance + EPS).sqrt());
        scaled.zip(gain).zip(bias).map(|((x, g), b)| x * f64::from(*g) + f64::from(*b)).collect()
    }

    fn embedded(&self, tokens: &[u32]) -> Vec<Vec<f64>> {
        let row = |table: &str, at: usize| {
            let values = &self.0[&format!("embeddings.{table}_embeddings.weight")].1;
            values[at * WIDTH..(at + 1) * WIDTH].iter().map(|v| f64::from(*v)).collect::<Vec<f64>>()
        };
        let sum = |(place, token): (usize, &u32)| {
            let parts = [row("word", *token as usize), row("position", place), row("token_type", 0)];
            let x: Vec<f64> = (0..WIDTH).map(|i| parts.iter().map(|part| part[i]).sum()).collect();
            self.norm("embeddings.", &x)
        };
        tokens.iter().enumerate().map(sum).collect()
    }

    fn attended(&self, at: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let part = |name: &str| -> Vec<Vec<f64>> {
            rows.iter().map(|row| self.linear(&format!("{at}attention.self.{name}"), row)).collect()
        };
        let (q, k, v) = (part("query"), part("key"), part("value"));
        let width = WIDTH / HEADS;
        let one = |from: &Vec<f64>| -> Vec<f64> {
            (0..WIDTH)
                .map(|column| {
                    let head = column / width * width..(column / width + 1) * width;
                    let score = |key: &Vec<f64>| {
                        let dot: f64 = head.clone().map(|i| from[i] * key[i]).sum();
                        (dot / (width as f64).sqrt()).exp()
                    };
                    let scores: Vec<f64> = k.iter().map(score).collect();
                    let mixed: f64 = scores.iter().zip(&v).map(|(score, value)| score * value[column]).sum();
                    mixed / scores.iter().sum::<f64>()
                })
                .collect()
        };
        q.iter().map(one).collect()
    }

    fn layer(&self, layer: usize, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let at = format!("encoder.layer.{layer}.");
        let plus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>();
        let one = |(row, attended): (&Vec<f64>, &Vec<f64>)| {
            let merged = self.linear(&format!("{at}attention.output.dense"), attended);
            let row = self.norm(&format!("{at}attention.output."), &plus(row, &merged));
            let wide: Vec<f64> =
                self.linear(&format!("{at}intermediate.dense"), &row).into_iter().map(gelu).collect();
            assert_eq!(wide.len(), FEED);
            self.norm(&format!("{at}output."), &plus(&row, &self.linear(&format!("{at}output.dense"), &wide)))
        };
        rows.iter().zip(&self.attended(&at, rows)).map(one).collect()
    }

    fn vector(&self, tokens: &[u32]) -> Vec<f64> {
        let rows = (0..LAYERS).fold(self.embedded(tokens), |rows, layer| self.layer(layer, &rows));
        let mean: Vec<f64> =
            (0..WIDTH).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64).collect();
        let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
        mean.into_iter().map(|x| x / length).collect()
    }
}

/// `x Phi(x)`, with `Phi` by Simpson's rule over the density.
fn gelu(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (steps, h) = (400, x / 400.0);
    let inner: f64 = (1..steps).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * density(f64::from(i) * h)).sum();
    x * (0.5 + h / 3.0 * (density(0.0) + inner + density(x)))
}

fn farthest(got: &[f32], want: impl Iterator<Item = f64>) -> f64 {
    got.iter().zip(want).map(|(got, want)| (f64::from(*got) - want).abs()).fold(0.0, f64::max)
}

#[test]
fn a_vector_is_what_the_formulas_say() {
    let folder = tempfile::tempdir().unwrap();
    let tensors = tensors();
    write(folder.path(), &tensors);
    let encoder = Encoder::open(folder.path()).unwrap();
    for text in ["the cat sat on the mat.", "Dogs ran away", "the", "", "zebra cats"] {
        let tokens: Vec<u32> = encoder.tokens(text).iter().map(|token| token.0).collect();
        let got = encoder.embed(&[text]).unwrap().remove(0);
        let off = farthest(&got, Plain(&tensors).vector(&tokens).into_iter());
        assert!(off < 2e-6, "{text:?}: off by {off:e}");
    }
}

#[derive(Deserialize)]
struct Golden {
    text: String,
    tokens: Vec<u32>,
    vector: Vec<f64>,
}

#[test]
fn all_minilm_l6_v2_agrees_with_transformers_to_1e5() {
    let Some(folder) = merit_testing::weights("all-minilm-l6-v2") else { return };
    let golden: Vec<Golden> = include_str!("../golden/minilm.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(golden.len(), 20);
    let encoder = Encoder::open(folder).unwrap();
    let texts: Vec<&str> = golden.iter().map(|one| one.text.as_str()).collect();
    let vectors = encoder.embed(&texts).unwrap();
    for (one, got) in golden.iter().zip(&vectors) {
        let tokens: Vec<u32> = encoder.tokens(&one.text).iter().map(|token| token.0).collect();
        assert_eq!(tokens, one.tokens, "{:?}", one.text);
        let off = farthest(got, one.vector.iter().copied());
        assert!(got.len() == one.vector.len() && off < 1e-5, "{:?}: off by {off:e}", one.text);
    }
    let cosine = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(a, b)| a * b).sum::<f32>();
    assert!(cosine(2, 3) > cosine(2, 4) + 0.3, "a cat is nearer to a feline than to the markets");
}
