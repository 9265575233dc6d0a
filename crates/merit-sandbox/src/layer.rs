//! The layers that stand between a program and the host, and what a kernel gives of them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// One thing that holds a program in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Ids of its own, through which an unprivileged user gets the other namespaces; root does without.
    UserNamespace,
    /// A root of its own with the interpreter's folders only, and a private tmpfs.
    MountNamespace,
    /// Processes of its own: it sees and reaches no other, and its end is the end of all it started.
    PidNamespace,
    /// No network interfaces.
    NetNamespace,
    /// Shared memory, queues and the host name of its own.
    IpcNamespace,
    /// Files by path, whatever the mounts: reads below the interpreter's folders, writes in the private folder.
    Landlock,
    /// System calls by a list.
    Seccomp,
    /// Memory, file size, tasks and descriptors.
    Rlimits,
    /// Nothing executed can gain rights.
    NoNewPrivileges,
    /// A user id of no rights, no capabilities.
    Unprivileged,
    /// Memory and tasks of a whole server together. A backstop that runs are not refused without.
    Cgroup,
}

/// Every layer, in the order they are shown.
pub const LAYERS: &[Layer] = &[
    Layer::UserNamespace,
    Layer::MountNamespace,
    Layer::PidNamespace,
    Layer::NetNamespace,
    Layer::IpcNamespace,
    Layer::Landlock,
    Layer::Seccomp,
    Layer::Rlimits,
    Layer::NoNewPrivileges,
    Layer::Unprivileged,
    Layer::Cgroup,
];

impl Layer {
    /// The name used in config files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Layer::UserNamespace => "user-namespace",
            Layer::MountNamespace => "mount-namespace",
            Layer::PidNamespace => "pid-namespace",
            Layer::NetNamespace => "net-namespace",
            Layer::IpcNamespace => "ipc-namespace",
            Layer::Landlock => "landlock",
            Layer::Seccomp => "seccomp",
            Layer::Rlimits => "rlimits",
            Layer::NoNewPrivileges => "no-new-privileges",
            Layer::Unprivileged => "unprivileged",
            Layer::Cgroup => "cgroup",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = LAYERS.iter().map(|layer| layer.name());
        LAYERS.iter().find(|layer| layer.name() == name).copied().ok_or_else(|| {
            let hint = merit_core::registry::nearest(name, names.clone())
                .map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            format!("no layer `{name}`{hint}; known: {}", names.collect::<Vec<_>>().join(", "))
        })
    }
}

impl Serialize for Layer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Layer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Layer {
    fn schema_name() -> Cow<'static, str> {
        "layer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = LAYERS.iter().map(|layer| layer.name()).collect();
        json_schema!({ "description": "A layer of the sandbox.", "type": "string", "enum": names })
    }
}

/// What a kernel gives of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerStatus {
    pub layer: Layer,
    /// Whether it was tried and held.
    pub available: bool,
    /// What it covers here, or why it is not available.
    pub detail: String,
    /// Whether a sandbox refuses to start without it, unless told otherwise.
    pub required: bool,
}
