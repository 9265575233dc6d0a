//! Which layers this kernel gives, by trying each; and which of them a sandbox will use.

use crate::layer::LAYERS;
use crate::server::{self, GroupLimits, StartMessage};
use crate::{Layer, LayerStatus, SandboxError, SandboxSettings, filter, interpreter};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) struct Found {
    pub(crate) statuses: Vec<LayerStatus>,
    pub(crate) own_ids: bool,
    root: bool,
}

#[derive(Deserialize)]
struct Answer {
    layers: BTreeMap<String, (bool, String)>,
    own_ids: bool,
    root: bool,
}

/// Tries every layer in throw-away processes of `python` (absent: `python3` of the PATH) and says what this kernel gives.
pub fn probe(python: Option<&Path>) -> Result<Vec<LayerStatus>, SandboxError> {
    Ok(find(&interpreter::resolve(python)?)?.statuses)
}

pub(crate) fn find(python: &Path) -> Result<Found, SandboxError> {
    let group_limits = GroupLimits { memory: 1 << 30, pids: 64 };
    let message = StartMessage {
        mode: "probe",
        layers: Vec::new(),
        filters: hexadecimal(true)?,
        modules: Vec::new(),
        packages: Vec::new(),
        own_ids: false,
        crowd: 1,
        group_limits,
    };
    let answer = server::probe(python, &message)?;
    let answer: Answer =
        serde_json::from_value(answer).map_err(|error| SandboxError::Start(format!("its probe: {error}")))?;
    let status = |&layer: &Layer| {
        let (available, detail) =
            answer.layers.get(layer.name()).cloned().unwrap_or((false, "it was not tried".to_owned()));
        LayerStatus { layer, available, detail, required: is_required(layer, answer.root) }
    };
    Ok(Found { statuses: LAYERS.iter().map(status).collect(), own_ids: answer.own_ids, root: answer.root })
}

fn is_required(layer: Layer, root: bool) -> bool {
    match layer {
        Layer::Cgroup => false,
        Layer::UserNamespace => !root,
        _ => true,
    }
}

impl Found {
    /// The layers to use, or an error that names what is missing and was not waived.
    pub(crate) fn choose(&self, without: &[Layer]) -> Result<Vec<Layer>, SandboxError> {
        let wanted = |status: &&LayerStatus| !without.contains(&status.layer);
        let missing: Vec<(Layer, String)> = self
            .statuses
            .iter()
            .filter(wanted)
            .filter(|status| status.required && !status.available)
            .map(|status| (status.layer, status.detail.clone()))
            .collect();
        if !missing.is_empty() {
            return Err(SandboxError::MissingLayers { missing });
        }
        let useful =
            |status: &&LayerStatus| status.available && !(self.root && status.layer == Layer::UserNamespace);
        Ok(self.statuses.iter().filter(wanted).filter(useful).map(|status| status.layer).collect())
    }
}

/// What servers are started with.
pub(crate) fn start_message(
    settings: &SandboxSettings,
    found: &Found,
    layers: Vec<Layer>,
) -> Result<StartMessage, SandboxError> {
    let crowd = settings.max_running + settings.server_count() * settings.spare;
    Ok(StartMessage {
        mode: "serve",
        filters: hexadecimal(layers.contains(&Layer::PidNamespace))?,
        modules: settings.modules.clone(),
        packages: settings.packages.clone(),
        own_ids: found.own_ids && layers.contains(&Layer::Unprivileged),
        crowd,
        group_limits: group_limits(settings, crowd),
        layers,
    })
}

/// Over a whole server: everything it may run at once, but never all of the machine.
fn group_limits(settings: &SandboxSettings, crowd: usize) -> GroupLimits {
    let limits = &settings.limits;
    let each = (limits.memory_mb + limits.disk_mb + 32) << 20;
    let machine = total_memory().unwrap_or(u64::MAX) / 10 * 9 / settings.server_count().max(1) as u64;
    let tasks = u64::from(limits.threads) + u64::from(limits.processes) + 2;
    GroupLimits { memory: each.saturating_mul(crowd as u64).min(machine), pids: tasks * crowd as u64 + 16 }
}

fn total_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kb| kb << 10)
}

fn hexadecimal(own_pids: bool) -> Result<[String; 3], SandboxError> {
    let text = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(filter::programs(own_pids)?.map(text))
}
