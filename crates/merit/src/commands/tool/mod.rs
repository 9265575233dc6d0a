//! `merit tool`: any tool by hand, and how an agent is told of it.

mod run;
mod settings;
mod show;

use crate::cli::tools::Tool;
use anyhow::Result;

pub(crate) use run::task;
pub(crate) use settings::{from_file, named};

pub(crate) fn run(arguments: &Tool) -> Result<()> {
    match arguments {
        Tool::Run(arguments) => run::run(arguments),
        Tool::Show { name, set, settings, format } => {
            show::show(name, set, settings.as_deref(), format.as_deref())
        }
    }
}
