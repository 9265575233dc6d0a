//! `merit eval`: models, runs and servers on the tasks of a recipe, side by side.

use super::WrongInput;
use crate::cli::eval::{Eval as Arguments, EvalSplit};
use crate::cli::{models, tapes};
use crate::out;
use anyhow::{Result, bail};
use merit_core::{Components, Split, printable};
use merit_measure::versus;
use merit_rollout::{CallForm, OpenAiSettings};
use merit_run::{Backend, EmbeddedModel, Eval, EvalResult, Event, Player, Recipe, Share, shipped};
use merit_store::RunFolder;
use serde_json::json;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;

/// Sections that say how a policy learns, which changes nothing of what is measured.
const LEARNING: [&str; 8] =
    ["learn", "credit", "warm_start", "interleave", "guests", "tasks", "datasets", "stages"];

/// More tasks than a file is likely to have, and few enough to be kept in memory.
const ALL: u32 = 10_000;

pub(crate) fn run(arguments: &Arguments, components: &Components) -> Result<()> {
    let names = &arguments.models;
    if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(*name)) {
        bail!(WrongInput(format!("{} is named twice", twice.1)));
    }
    let native = arguments.native_tools.then(|| "--native-tools".to_owned());
    let flag = arguments.server.given().or(native);
    if let Some(flag) = flag.filter(|_| !names.iter().any(|name| models::is_address(name))) {
        bail!(WrongInput(format!("{flag} is for servers, and none is named")));
    }
    let players = names.iter().map(|name| player(name, arguments)).collect::<Result<Vec<_>>>()?;
    let (recipe, is_file) = recipe(arguments, &players, components)?;
    let splits: &[Split] = match arguments.split {
        Some(EvalSplit::Train) => &[Split::Train],
        Some(EvalSplit::HeldOut) => &[Split::HeldOut],
        None if !is_file => &[Split::HeldOut],
        Some(EvalSplit::All) | None => &[Split::HeldOut, Split::Train],
    };
    let tasks = arguments.tasks.unwrap_or(if is_file { ALL } else { recipe.evaluation.tasks });
    let toolbox = arguments.tools.open()?;
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut results = Vec::new();
    for (player, name) in players.iter().zip(names) {
        let eval = Eval {
            recipe: &recipe,
            player,
            name,
            splits,
            tasks,
            samples: arguments.samples,
            by: &arguments.by,
            seed: arguments.seed,
            threads: arguments.threads.map_or_else(cores, usize::from),
            toolbox: toolbox.clone(),
        };
        let mut line = Line::new(name);
        let done = eval.run(&arguments.out, &mut waits, &mut |done, of| line.say(done, of));
        line.end();
        let result = done?;
        result.notes.iter().for_each(|note| out::complain(format_args!("note: {note}")));
        if arguments.json {
            out::line(json!({ "result": &result }))?;
        }
        results.push(result);
    }
    tapes::report(&toolbox)?;
    compare(&results, arguments.json)?;
    if let Some(none) = results.iter().find(|result| result.success.is_none()) {
        bail!("{}: no episode counts, so that nothing was measured; {}", none.model, broken(none));
    }
    Ok(())
}

/// Who a word on the command line means.
fn player(name: &str, arguments: &Arguments) -> Result<Player> {
    if name == "oracle" {
        return Ok(Player::Backend(Backend::default()));
    }
    if models::is_address(name)
        && let Some(server) = models::server(name, &arguments.server)?
    {
        let calls = if arguments.native_tools { CallForm::Native } else { CallForm::Text };
        let settings = OpenAiSettings { calls, ..OpenAiSettings::new(server) };
        settings.validate().map_err(|error| WrongInput(error.to_string()))?;
        return Ok(Player::Backend(Backend::Openai(Box::new(settings))));
    }
    if Path::new(name).join("merit.db").exists() {
        return Ok(Player::Run(name.into()));
    }
    if !Path::new(name).exists() {
        bail!(WrongInput(format!(
            "there is no {name}; name a GGUF file, a folder with safetensors, a run's folder, a server as \
             http://127.0.0.1:8000/v1#MODEL, or `oracle`"
        )));
    }
    Ok(Player::Backend(Backend::Embedded(EmbeddedModel { file: name.to_owned(), context: None })))
}

/// What is measured on, and whether it is a file of tasks.
fn recipe(arguments: &Arguments, players: &[Player], components: &Components) -> Result<(Recipe, bool)> {
    let run = players.iter().find_map(|player| match player {
        Player::Run(path) => Some(path),
        Player::Backend(_) => None,
    });
    let (recipe, is_file) = match (&arguments.on, run) {
        (Some(tasks), _) if tasks.ends_with(".jsonl") => (of_tasks(tasks, components)?, true),
        (Some(name), _) => (shipped::load_with(name, components)?, false),
        (None, Some(path)) => (Recipe::of_run(&RunFolder::open_read_only(path)?, components)?, false),
        (None, None) => bail!(WrongInput(
            "nothing says what to measure on; add --on with a recipe or a file of tasks (JSON lines)".into()
        )),
    };
    let section = |key: &str| key.split('.').next().is_some_and(|section| LEARNING.contains(&section));
    if let Some((key, _)) = arguments.set.iter().find(|(key, _)| section(key)) {
        bail!(WrongInput(format!(
            "--set {key} says how a policy learns, which `merit eval` does not do; leave it out, or give it to `merit train`"
        )));
    }
    Ok((recipe.with(&arguments.set)?, is_file))
}

/// A recipe for questions with answers, without tools.
fn of_tasks(path: &str, components: &Components) -> Result<Recipe> {
    let name =
        Path::new(path).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let text = format!(
        "name = {}\n[world]\ntype = \"tasks\"\nfile = {}\ntools = []\ncalls = \"hermes\"\nanswer_mark = \"Answer:\"\n\
         [rollout]\nmax_turns = 2\nmax_turn_tokens = 512\nmax_episode_tokens = 4096\n[reward]\ntype = \"exact-answer\"\n\
         [credit]\ntype = \"grpo\"\n[budget]\nsteps = 1\ngroups = 1\ngroup_size = 2\n[model]\ncontext = 8192\n",
        quoted(&name.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'), "-")),
        quoted(path)
    );
    Ok(Recipe::read(path, &text, components)?)
}

fn waits(event: Event) {
    match event {
        Event::Stalled { waiting } => out::complain(format_args!("waiting: {waiting}")),
        Event::Note { text } => out::complain(format_args!("note: {text}")),
        _ => {}
    }
}

/// How far a model is, on one line of a terminal.
struct Line<'a> {
    name: &'a str,
    shown: bool,
}

impl<'a> Line<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, shown: false }
    }

    fn say(&mut self, done: usize, of: usize) {
        if std::io::stderr().is_terminal() {
            eprint!("\r{}  {done} of {of} episodes ", printable::piece(self.name));
            self.shown = true;
        }
    }

    fn end(&self) {
        if self.shown {
            eprint!("\r\u{1b}[K");
        }
    }
}

/// Tables, or the comparisons as JSON.
fn compare(results: &[EvalResult], as_json: bool) -> Result<()> {
    let Some((first, others)) = results.split_first() else { return Ok(()) };
    if !as_json {
        out::text(tables(results))?;
    }
    for other in others {
        match versus(&first.condition(), &other.condition()) {
            Some(found) if as_json => out::line(json!({ "versus": found, "says": found.sentence() }))?,
            Some(found) => out::line(found.sentence())?,
            None => {}
        }
    }
    Ok(())
}

fn tables(results: &[EvalResult]) -> String {
    let mut text = String::new();
    let first = &results[0];
    let _ = writeln!(text, "{}: {} tasks, seed {}\n", first.recipe, first.tasks, first.seed);
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let head =
        ["", "success", "95 % interval", "reward", "turns", "calls", "tokens", "seconds", "not judged"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(results.iter().map(|one| {
        let share = one.success.map_or_else(|| ["-".to_owned(), "-".to_owned()], cells);
        let broken: usize = one.not_judged.values().sum();
        let mut row = vec![printable::piece(&one.model)];
        row.extend(share);
        row.extend([number(one.reward, 3), number(one.turns, 1), number(one.tool_calls, 1)]);
        row.extend([number(one.tokens, 0), number(Some(one.seconds), 1), broken.to_string()]);
        row
    }));
    text.push_str(&aligned(&rows));
    let mut more = |title: &str, of: &dyn Fn(&EvalResult) -> Vec<(String, Share)>| {
        let columns: Vec<Vec<(String, Share)>> = results.iter().map(of).collect();
        let mut names: Vec<&String> = Vec::new();
        columns.iter().flatten().for_each(|(name, _)| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        if names.is_empty() {
            return;
        }
        let mut rows = vec![vec![title.to_owned()]];
        rows[0].extend(results.iter().map(|one| printable::piece(&one.model)));
        for name in names {
            let mut row = vec![name.clone()];
            row.extend(columns.iter().map(|column| {
                let share = column.iter().find(|(other, _)| other == name);
                share.map_or_else(
                    || "-".to_owned(),
                    |(_, share)| {
                        let [value, interval] = cells(*share);
                        format!("{value} ({interval}) of {}", share.count)
                    },
                )
            }));
            rows.push(row);
        }
        let _ = write!(text, "\n{}", aligned(&rows));
    };
    more("samples", &|one| one.passes.iter().map(|(name, share)| (name.clone(), *share)).collect());
    more("by", &|one| {
        one.parts.iter().map(|part| (format!("{} {}", part.by, part.value), part.success)).collect()
    });
    for one in results.iter().filter(|one| !one.causes.is_empty()) {
        let _ = writeln!(text, "\n{}: {}", printable::piece(&one.model), broken(one));
    }
    text.push('\n');
    for one in results {
        let _ = writeln!(text, "episodes of {}: {}", printable::piece(&one.model), one.folder);
    }
    text
}

/// What has no verdict, and why, the most frequent first.
fn broken(result: &EvalResult) -> String {
    let kinds: Vec<String> =
        result.not_judged.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut causes: Vec<(&String, &usize)> = result.causes.iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown: Vec<String> = causes
        .iter()
        .take(5)
        .map(|(why, count)| format!("\n  {count} x {}", printable::piece(why)))
        .collect();
    let more = causes.len().saturating_sub(5);
    let more = if more > 0 { format!("\n  and {more} other causes") } else { String::new() };
    format!("{}{}{more}", kinds.join(", "), shown.concat())
}

fn cells(share: Share) -> [String; 2] {
    let percent = |value: f64| format!("{:.1}", value * 100.0);
    let Share { value, interval, .. } = share;
    [format!("{} %", percent(value)), format!("{} to {}", percent(interval.low), percent(interval.high))]
}

/// Columns of one width; the first to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells: Vec<String> = cells
            .map(
                |(at, (cell, &width))| {
                    if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
