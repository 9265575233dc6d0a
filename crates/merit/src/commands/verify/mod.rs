//! `merit verify`: one record a line in, one verdict a line out.
//!
//! A new verifier is a type that implements [`Verifier`], one subcommand and one arm here.

mod settings;

use super::WrongInput;
use crate::cli::rewards::{Verify, VerifyArguments};
use crate::out;
use anyhow::{Context as _, Result, bail};
use merit_maths_compat::MathsVerifier;
use merit_run::RecipeError;
use merit_verify::Verifier;
use merit_verify::calls::CallsVerifier;
use merit_verify::code::CodeVerifier;
use merit_verify::json::JsonRecords;
use merit_verify::records::{Bounds, Judge, Lines, StreamError};
use merit_verify::sql::SqlRecords;
use merit_verify::state::StateVerifier;
use merit_verify::text::TextRecords;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs::File;
use std::io::Read;

/// Stack of a thread: records nest as deep as their parsers allow.
const STACK_BYTES: usize = 8 << 20;

pub(crate) fn run(command: &Verify) -> Result<()> {
    match command {
        Verify::Maths(arguments) => verify::<MathsVerifier>(arguments),
        Verify::Json(arguments) => verify::<JsonRecords>(arguments),
        Verify::Sql(arguments) => verify::<SqlRecords>(arguments),
        Verify::Code(arguments) => verify::<CodeVerifier>(arguments),
        Verify::Text(arguments) => verify::<TextRecords>(arguments),
        Verify::State(arguments) => verify::<StateVerifier>(arguments),
        Verify::Calls(arguments) => verify::<CallsVerifier>(arguments),
    }
}

fn verify<V: Verifier>(arguments: &VerifyArguments) -> Result<()> {
    let loaded = settings::load::<V::Settings>(arguments.settings.as_deref(), &arguments.set)?;
    let judge = Judge::<V>::new(loaded.settings, arguments.explain)
        .map_err(|why| RecipeError::Combination { file: loaded.name, why })?;
    let (stream, name) = input(arguments)?;
    let mut lines = Lines::new(stream, Bounds::USUAL);
    let judged = judge.run(&mut lines, &threads(arguments.threads)?, |text| out::text(text));
    let tally = judged.map_err(|stopped| match stopped {
        StreamError::Read(error) => anyhow::Error::new(error).context(format!("cannot read {name}")),
        StreamError::Write(error) => anyhow::Error::new(error),
    })?;
    let records = tally.records();
    if arguments.explain {
        let (right, wrong, unknown, errors) = (tally.right, tally.wrong, tally.unknown, tally.errors);
        out::line(format_args!(
            "{records} records: {right} right, {wrong} wrong, {unknown} that cannot be judged, {errors} errors"
        ))?;
    }
    if tally.errors > 0 {
        let errors = tally.errors;
        bail!(WrongInput(format!("{errors} of {records} lines could not be judged; the output says why")));
    }
    Ok(())
}

/// The stream and its name.
fn input(arguments: &VerifyArguments) -> Result<(Box<dyn Read>, String)> {
    match &arguments.file {
        Some(path) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let refuse = |e| WrongInput(format!("cannot read {name}: {e}"));
            let file = File::open(path).map_err(refuse)?;
            if file.metadata().is_ok_and(|about| about.is_dir()) {
                bail!(WrongInput(format!("cannot read {name}: it is a folder")));
            }
            Ok((Box::new(file), name))
        }
        _ => Ok((Box::new(std::io::stdin()), "standard input".to_owned())),
    }
}

fn threads(wanted: Option<u16>) -> Result<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(wanted.map_or(0, usize::from)).stack_size(STACK_BYTES);
    builder.build().context("cannot start threads")
}
