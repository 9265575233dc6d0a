//! Every world by name. A new world is one file with a settings struct, and one line in the list below.

use crate::boards::Boards;
use crate::catalogue::Catalogue;
use crate::catalogue::Tutor;
use crate::catalogue::shop::Shop;
use crate::catalogue::tables::Tables;
use crate::catalogue::travel::Travel;
use crate::command::Command;
use crate::inquiry::Inquiry;
use crate::inquiry::clinic::Clinic;
use crate::inquiry::sale::Sale;
use crate::kbqa::Kbqa;
use crate::ledger::Ledger;
use crate::lens::Lens;
use crate::look::Look;
use crate::mix::Mix;
use crate::pairs::Pairs;
use crate::places::Places;
use crate::programs::repair::Repair;
use crate::programs::synth::Synth;
use crate::python::Python;
use crate::rows::Rows;
use crate::service::Service;
use crate::sums::Sums;
use crate::tasks::Tasks;
use crate::toolshelf::Toolshelf;
use crate::vault::Vault;
use merit_api::WorldSettings;
use merit_core::entry;
use merit_core::registry::{Chosen, Components, Entry, UnknownName};
use merit_core::settings::{ReadError, from_toml};

/// The worlds that come with merit; a caller may add others to [`merit_core::registry::Components`].
pub static WORLDS: &[Entry<dyn WorldSettings>] = &[
    entry!(Ledger as dyn WorldSettings),
    entry!(Vault as dyn WorldSettings),
    entry!(Sums as dyn WorldSettings),
    entry!(Rows as dyn WorldSettings),
    entry!(Inquiry as dyn WorldSettings),
    entry!(Clinic as dyn WorldSettings),
    entry!(Sale as dyn WorldSettings),
    entry!(Catalogue as dyn WorldSettings),
    entry!(Lens as dyn WorldSettings),
    entry!(Service as dyn WorldSettings),
    entry!(Boards as dyn WorldSettings),
    entry!(Kbqa as dyn WorldSettings),
    entry!(Look as dyn WorldSettings),
    entry!(Places as dyn WorldSettings),
    entry!(Pairs as dyn WorldSettings),
    entry!(Shop as dyn WorldSettings),
    entry!(Tables as dyn WorldSettings),
    entry!(Travel as dyn WorldSettings),
    entry!(Tutor as dyn WorldSettings),
    entry!(Toolshelf as dyn WorldSettings),
    entry!(Synth as dyn WorldSettings),
    entry!(Repair as dyn WorldSettings),
    entry!(Mix as dyn WorldSettings),
    entry!(Tasks as dyn WorldSettings),
    entry!(Command as dyn WorldSettings),
    entry!(Python as dyn WorldSettings),
];

/// Adds every world. Tools are added by `merit_tools::register`.
#[must_use]
pub fn register(components: Components) -> Components {
    components.with_all(WORLDS)
}

/// The world called `name`, or an error that names the nearest.
///
/// ```
/// assert_eq!(merit_env::world("ledger").unwrap().about.name, "ledger");
/// assert!(merit_env::world("leger").unwrap_err().to_string().contains("did you mean `ledger`?"));
/// ```
pub fn world(name: &str) -> Result<Entry<dyn WorldSettings>, UnknownName> {
    register(Components::default()).find(name)
}

/// The settings that a TOML text describes: `type` and whatever the world takes, its tools among it.
///
/// ```
/// use merit_env::{LiveTools, read_world};
/// let vault = read_world("type = \"vault\"\nboxes = 5").unwrap().build(&LiveTools).unwrap();
/// assert_eq!(vault.about().name, "vault");
/// ```
pub fn read_world(text: &str) -> Result<Chosen<dyn WorldSettings>, ReadError> {
    merit_tools::register(register(Components::default())).reading(|| from_toml(text))
}
