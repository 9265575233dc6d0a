//! `merit generate`: one prompt or conversation a line in, one completion a line out, many at a time.
//!
//! Lines are read while others are being written, completions come out in the order of the input, and a line that cannot be
//! used becomes an error in its place.

mod conversation;
mod feed;
mod grammar;
mod line;
mod order;
mod output;
mod plan;
mod work;

use super::WrongInput;
use super::local::{self, Local};
use crate::cli::models::Generate;
use crate::out;
use anyhow::{Context as _, Result, bail};
use feed::Feed;
use output::Output;
use plan::Planner;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;
use work::{Tally, Work};

/// Most tokens of a completion where nothing else is said.
const MAX_TOKENS: usize = 256;

pub(crate) fn run(arguments: &Generate) -> Result<()> {
    if arguments.model.starts_with("http://") || arguments.model.starts_with("https://") {
        bail!(WrongInput(format!(
            "{} is a server, and `merit generate` runs models in this process; `merit chat` talks to servers",
            arguments.model
        )));
    }
    let batch = usize::from(arguments.batch);
    let local = Local::open(&arguments.model, &arguments.engine, batch)?;
    let defaults = local::params(&arguments.sampling, 1.0, MAX_TOKENS);
    defaults.check(local.vocab()).map_err(WrongInput)?;
    let input = input(&arguments.input)?;
    let real = |path: &Path| path.canonicalize().ok();
    if real(&arguments.output).is_some_and(|to| real(&arguments.input) == Some(to)) {
        let why =
            format!("{} is what is read; name another place for the output", arguments.output.display());
        bail!(WrongInput(why));
    }
    let mut output = Output::open(&arguments.output, arguments.force)?;
    let begun = Instant::now();
    let Local { model, mut generator } = local;
    let planner = Planner::new(&model, &generator, defaults, arguments.sampling.seed);
    let tally = Work::new(planner, &mut generator, batch).run(Feed::start(input)?, &mut output)?;
    output.finish()?;
    if arguments.stats {
        report(&tally, begun.elapsed().as_secs_f64());
    }
    if tally.refused > 0 {
        let (refused, lines) = (tally.refused, tally.lines);
        bail!(WrongInput(format!("{refused} of {lines} lines have an error; the output says which")));
    }
    Ok(())
}

fn report(tally: &Tally, seconds: f64) {
    let Tally { lines, samples, read, written, .. } = tally;
    let speed = *written as f64 / seconds.max(1e-9);
    out::complain(format_args!(
        "{lines} lines, {samples} completions: {read} tokens read, {written} tokens written in {seconds:.2} s, {speed:.1} tokens/s"
    ));
}

/// The stream of lines.
fn input(path: &Path) -> Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let refuse = |why: String| WrongInput(format!("cannot read {}: {why}", path.display()));
    let file = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let about = file.metadata().with_context(|| format!("cannot read {}", path.display()))?;
    if about.is_dir() {
        bail!(refuse("it is a folder".to_owned()));
    }
    Ok(Box::new(file))
}
