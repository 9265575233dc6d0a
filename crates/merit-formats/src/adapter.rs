//! Low-rank adapters in the folders that PEFT writes: `adapter_config.json` and `adapter_model.safetensors`.
//!
//! In and out: plain data. A module's weight becomes `W + alpha / rank * B A`.

use crate::hf::json;
use crate::hf::shards::Shards;
use crate::hf::write::put;
use crate::quantise::encode;
use crate::safetensors::write_head;
use crate::settings::Settings;
use crate::{Encoding, FormatError, atomic};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Low-rank changes of a model's matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapter {
    /// The model that it was made for, as its maker named it.
    pub base: Option<String>,
    /// Rows of every `A`.
    pub rank: usize,
    /// Strength; the change is multiplied by `alpha / rank`.
    pub alpha: f32,
    /// Last parts of the names of changed modules, as `q_proj`; sorted.
    pub targets: Vec<String>,
    /// The change of each module, by names as `model.layers.0.self_attn.q_proj`.
    pub tensors: BTreeMap<String, LowRank>,
}

/// The change of one matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct LowRank {
    /// Columns of the matrix.
    pub inputs: usize,
    /// Rows of the matrix.
    pub outputs: usize,
    /// `[rank, inputs]`, row after row.
    pub a: Vec<f32>,
    /// `[outputs, rank]`, row after row.
    pub b: Vec<f32>,
}

const CONFIG: &str = "adapter_config.json";
const WEIGHTS: &str = "adapter_model.safetensors";
const PREFIX: &str = "base_model.model.";

impl Adapter {
    /// Reads a folder. What would change the model in another way is refused by name.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FormatError> {
        let folder = folder.as_ref();
        let config = folder.join(CONFIG);
        let map = json::map(&config)?.ok_or_else(|| FormatError::file(&config, "is missing"))?;
        let settings = Settings::new(&config, "", map);
        check_kind(&settings)?;
        let rank = settings.required_size("r")?;
        if rank == 0 {
            return Err(settings.error("r", "is 0; an adapter has a rank of at least 1"));
        }
        let alpha =
            settings.number("lora_alpha")?.ok_or_else(|| settings.error("lora_alpha", "is missing"))?;
        let weights = folder.join(WEIGHTS);
        let tensors = read_pairs(&weights, &Shards::of_file(&weights)?, rank)?;
        let adapter = Self {
            base: settings.text("base_model_name_or_path")?,
            rank,
            alpha,
            targets: targets(&settings)?,
            tensors,
        };
        adapter.check(&weights)?;
        Ok(adapter)
    }

    /// Writes a folder, whole or not at all, in `f32`.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), FormatError> {
        let folder = folder.as_ref();
        self.check(folder)?;
        let known = |name: &str| [CONFIG, WEIGHTS].contains(&name);
        atomic::write_folder(folder, known, |scratch| {
            put(scratch, CONFIG, &self.config_json())?;
            let path = scratch.join(WEIGHTS);
            let bytes = self.weights().map_err(|reason| FormatError::file(folder, reason))?;
            std::fs::write(&path, bytes).map_err(FormatError::io("write", &path))?;
            atomic::sync(&path)
        })
    }

    /// Every pair fits the rank and a target, and is finite.
    fn check(&self, path: &Path) -> Result<(), FormatError> {
        if self.tensors.is_empty() {
            return Err(FormatError::file(path, "the adapter changes no module"));
        }
        for (module, pair) in &self.tensors {
            let refuse = |reason: String| Err(FormatError::tensor(path, module, reason));
            let last = module.rsplit('.').next().unwrap_or_default();
            if !self.targets.iter().any(|target| target == last || target == module) {
                return refuse(format!("is changed, and is none of the targets {}", self.targets.join(", ")));
            }
            let sizes = (pair.inputs.checked_mul(self.rank), pair.outputs.checked_mul(self.rank));
            if sizes != (Some(pair.a.len()), Some(pair.b.len())) {
                let (a, b, rank) = (pair.a.len(), pair.b.len(), self.rank);
                return refuse(format!("A has {a} values and B {b}, which does not fit rank {rank}"));
            }
            if pair.a.iter().chain(&pair.b).any(|value| !value.is_finite()) {
                return refuse("has a value that is not finite".to_owned());
            }
        }
        Ok(())
    }

    fn config_json(&self) -> serde_json::Value {
        json!({
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": self.base,
            "r": self.rank,
            "lora_alpha": crate::hf::config_out::decimal(self.alpha),
            "lora_dropout": 0.0,
            "target_modules": self.targets,
            "bias": "none",
            "fan_in_fan_out": false,
            "inference_mode": true,
            "init_lora_weights": true,
            "modules_to_save": null,
            "use_rslora": false,
            "use_dora": false,
        })
    }

    fn weights(&self) -> Result<Vec<u8>, String> {
        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for (module, pair) in &self.tensors {
            let parts = [
                ("lora_A", [self.rank, pair.inputs], &pair.a),
                ("lora_B", [pair.outputs, self.rank], &pair.b),
            ];
            for (part, shape, values) in parts {
                entries.push((format!("{PREFIX}{module}.{part}.weight"), shape.to_vec(), Encoding::F32));
                data.extend(encode(Encoding::F32, values).unwrap_or_default());
            }
        }
        let (mut bytes, _) = write_head(&entries)?;
        bytes.extend(data);
        Ok(bytes)
    }
}

fn check_kind(settings: &Settings) -> Result<(), FormatError> {
    match settings.text("peft_type")?.as_deref() {
        Some("LORA") => {}
        other => {
            let found = other.unwrap_or("missing").to_owned();
            return Err(settings.error("peft_type", format!("is {found}; only LORA is read")));
        }
    }
    if let Some(bias) = settings.text("bias")?.filter(|bias| bias != "none") {
        return Err(settings.error("bias", format!("is `{bias}`; trained biases are not read")));
    }
    let off = [
        "use_dora",
        "use_rslora",
        "fan_in_fan_out",
        "modules_to_save",
        "rank_pattern",
        "alpha_pattern",
        "trainable_token_indices",
        "layer_replication",
        "lora_bias",
        "use_qalora",
        "target_parameters",
        "alora_invocation_tokens",
        "arrow_config",
        "kasa_config",
        "monteclora_config",
        "use_bdlora",
    ];
    off.into_iter().try_for_each(|key| settings.must_be_off(key, "which plain low-rank adapters do not have"))
}

fn targets(settings: &Settings) -> Result<Vec<String>, FormatError> {
    let list = settings.get("target_modules").and_then(|value| value.as_array());
    let names = list.and_then(|list| list.iter().map(|v| v.as_str().map(str::to_owned)).collect());
    let mut names: Vec<String> =
        names.ok_or_else(|| settings.error("target_modules", "must be a list of names of modules"))?;
    names.sort();
    Ok(names)
}

/// A and B of every module; both must be there and fit the rank.
fn read_pairs(path: &Path, shards: &Shards, rank: usize) -> Result<BTreeMap<String, LowRank>, FormatError> {
    let mut pairs: BTreeMap<String, LowRank> = BTreeMap::new();
    for name in shards.names() {
        let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(".weight"));
        let Some((module, part)) = parts.and_then(|rest| rest.rsplit_once('.')) else {
            return Err(FormatError::tensor(
                path,
                name,
                format!("is not named {PREFIX}MODULE.lora_A.weight or B"),
            ));
        };
        let view = shards.view(name, name).expect("the name is from the list");
        let empty = LowRank { inputs: 0, outputs: 0, a: Vec::new(), b: Vec::new() };
        let pair = pairs.entry(module.to_owned()).or_insert(empty);
        match (part, view.shape.as_slice()) {
            ("lora_A", &[rows, inputs]) if rows == rank => {
                (pair.inputs, pair.a) = (inputs, view.finite(path)?)
            }
            ("lora_B", &[outputs, columns]) if columns == rank => {
                (pair.outputs, pair.b) = (outputs, view.finite(path)?);
            }
            ("lora_A" | "lora_B", shape) => {
                return Err(FormatError::tensor(
                    path,
                    name,
                    format!("has shape {shape:?}, which does not fit rank {rank}"),
                ));
            }
            _ => return Err(FormatError::tensor(path, name, "is neither `lora_A` nor `lora_B`")),
        }
    }
    match pairs.iter().find(|(_, pair)| pair.a.is_empty() || pair.b.is_empty()) {
        None => Ok(pairs),
        Some((module, _)) => Err(FormatError::tensor(path, module, "has only one of A and B")),
    }
}
