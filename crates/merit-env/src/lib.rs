//! What world is the agent in? The worlds that come with merit.
//!
//! The seam is in merit-api: settings ([`WorldSettings`]) are built into a [`World`], which makes tasks and opens each as an
//! [`Env`]. Each world here is a module; [`WORLDS`] lists them, and a new one is one file and one line.

mod registry;
mod script;

/// Declares the module of each world and lists what stands in it: a new world is one file, and one line here.
macro_rules! worlds {
    ($($module:ident: $($($world:ident)::+),+;)+) => {
        $( pub mod $module; )+

        /// The worlds that come with merit; a caller may add others to [`merit_core::registry::Components`].
        pub static WORLDS: &[merit_core::registry::Entry<dyn WorldSettings>] =
            &[$($( merit_core::entry!($module::$($world)::+ as dyn WorldSettings) ),+),+];
    };
}

worlds! {
    ledger: Ledger;
    vault: Vault;
    sums: Sums;
    rows: Rows;
    inquiry: Inquiry, clinic::Clinic, sale::Sale;
    catalogue: Catalogue, shop::Shop, tables::Tables, travel::Travel, Tutor;
    lens: Lens;
    service: Service;
    boards: Boards;
    kbqa: Kbqa;
    look: Look;
    places: Places;
    pairs: Pairs;
    toolshelf: Toolshelf;
    programs: synth::Synth, repair::Repair;
    mix: Mix;
    tasks: Tasks;
    command: Command;
    python: Python;
}

pub use merit_api::conformance;
pub use merit_api::{
    Env, EnvError, Expert, ExpertTurn, LiveTools, StepResult, Termination, ToolBuilder, World, WorldSettings,
    fingerprint, split_of,
};
pub use registry::{read_world, register, world};
