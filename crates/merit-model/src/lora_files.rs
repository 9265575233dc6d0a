//! Adapters in files: as PEFT keeps them, and as part of a checkpoint.

use crate::checkpoint::{fault, for_each_index, gather_all, parse, parse_note, scatter_all, serialise};
use crate::layout::{TensorPlace, VALUE_BIAS, VALUE_WEIGHT};
use crate::load::place_values;
use crate::lora::Adapter;
use crate::lora_settings::{AdapterSettings, Target};
use crate::{DecoderConfig, ModelError};
use merit_formats::LowRank;
use std::collections::BTreeMap;

const SETTINGS_KEY: &str = "merit_adapter";
const PREFIX: &str = "base_model.model.";

impl Adapter {
    /// Settings and values as safetensors bytes, a value head included; the same adapter always gives the same bytes.
    pub fn to_safetensors(&self) -> Vec<u8> {
        let settings = serde_json::to_string(self.settings()).expect("a plain struct is JSON");
        serialise(&gather_all(self.places(), self.values(), ""), (SETTINGS_KEY, settings))
    }

    /// Reads what [`Adapter::to_safetensors`] wrote for a decoder of this shape.
    pub fn from_safetensors(bytes: &[u8], config: &DecoderConfig) -> Result<Self, ModelError> {
        let settings: AdapterSettings = parse_note(bytes, SETTINGS_KEY)?;
        let mut adapter = Self::zeros(config, settings)?;
        let (file, places) = (parse(bytes)?, adapter.places().to_vec());
        refuse_extras(file.names().into_iter(), &places)?;
        scatter_all(&places, &file, "", adapter.values_mut())?;
        Ok(adapter)
    }

    /// As `merit_formats` writes it to a folder that PEFT loads. A value head is no part of it.
    pub fn to_peft(&self, base: Option<String>) -> merit_formats::Adapter {
        let mut tensors = BTreeMap::new();
        for pair in self.pairs() {
            let values = |place: &TensorPlace| {
                let mut values = Vec::with_capacity(place.rows * place.columns);
                for_each_index(place, |index| values.push(self.values()[index]));
                values
            };
            let (module, [a, b]) = pair;
            let change = LowRank { inputs: a.rows, outputs: b.columns, a: values(a), b: values(b) };
            tensors.insert(module.to_owned(), change);
        }
        let mut targets: Vec<String> = self.settings().targets.iter().map(|t| t.name().to_owned()).collect();
        targets.sort();
        merit_formats::Adapter {
            base,
            rank: self.settings().rank,
            alpha: self.settings().alpha,
            targets,
            tensors,
        }
    }

    /// From what `merit_formats` read of a folder; every block must change in the same places. A value head, where the
    /// decoder has one, is left at zeros.
    pub fn from_peft(peft: &merit_formats::Adapter, config: &DecoderConfig) -> Result<Self, ModelError> {
        let target = |name: &String| {
            let known = || Target::ALL.map(Target::name).join(", ");
            Target::named(name)
                .ok_or_else(|| ModelError::Adapter(format!("no target `{name}`; known: {}", known())))
        };
        let mut targets: Vec<Target> = peft.targets.iter().map(target).collect::<Result<_, _>>()?;
        targets.sort_by_key(|target| Target::ALL.iter().position(|other| other == target));
        let mut adapter =
            Self::zeros(config, AdapterSettings { rank: peft.rank, alpha: peft.alpha, targets })?;
        let pairs: Vec<(String, [TensorPlace; 2])> =
            adapter.pairs().map(|(module, [a, b])| (module.to_owned(), [a.clone(), b.clone()])).collect();
        if let Some(extra) = peft.tensors.keys().find(|name| !pairs.iter().any(|(module, _)| module == *name))
        {
            return Err(fault(extra, "is not a target of this adapter in this decoder".into()));
        }
        for (module, [a, b]) in pairs {
            let change = peft.tensors.get(&module).ok_or_else(|| fault(&module, "is missing".into()))?;
            if (change.inputs, change.outputs) != (a.rows, b.columns) {
                let (got, want) = ([change.outputs, change.inputs], [b.columns, a.rows]);
                return Err(fault(&module, format!("changes a matrix of shape {got:?}, want {want:?}")));
            }
            place_values(&a, &change.a, adapter.values_mut());
            place_values(&b, &change.b, adapter.values_mut());
        }
        Ok(adapter)
    }

    /// Each changed module with the places of its two thin matrices.
    fn pairs(&self) -> impl Iterator<Item = (&str, [&TensorPlace; 2])> {
        let thin = |place: &&TensorPlace| place.name != VALUE_WEIGHT && place.name != VALUE_BIAS;
        let (a, b) = (
            self.places().iter().filter(thin).step_by(2),
            self.places().iter().filter(thin).skip(1).step_by(2),
        );
        a.zip(b).map(|(a, b)| {
            let module = a.name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(".lora_A.weight"));
            (module.expect("names are made with both"), [a, b])
        })
    }
}

fn refuse_extras<'a>(
    mut names: impl Iterator<Item = &'a str>,
    places: &[TensorPlace],
) -> Result<(), ModelError> {
    match names.find(|name| !places.iter().any(|place| place.name == **name)) {
        Some(extra) => Err(fault(extra, "does not belong to this adapter".into())),
        None => Ok(()),
    }
}
