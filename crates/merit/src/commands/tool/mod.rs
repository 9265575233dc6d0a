//! `merit tool`: any tool by hand, and how an agent is told of it.

mod run;
mod settings;
mod show;

use crate::cli::tools::Tool;
use anyhow::Result;
use merit_core::Components;

pub(crate) use run::task;
pub(crate) use settings::{from_file, named};

pub(crate) fn run(arguments: &Tool, components: &Components) -> Result<()> {
    match arguments {
        Tool::Run(arguments) => run::run(arguments, components),
        Tool::Show { name, set, settings, format } => {
            show::show((name, components), set, settings.as_deref(), format.as_deref())
        }
    }
}
