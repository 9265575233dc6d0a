//! `merit play`: a world by hand.

use crate::cli::runs::Play as Arguments;
use crate::commands::WrongInput;
use crate::out;
use anyhow::Result;
use merit_api::{EnvError, Expert, ExpertTurn, World, WorldSettings};
use merit_core::registry::{Entry, nearest};
use merit_core::{Components, Message, Role, ScoredEpisode, Seed, Task, printable};
use merit_run::{Play, Recipe, play_with, shipped};
use merit_tools::Toolbox;
use std::io::BufRead as _;
use std::sync::Arc;

/// Pays for reaching the end of a world that no recipe pays in, where its tasks have no single right answer.
const ENDED: &str = "{ type = 'solved-by', term = 'ended', of = { type = 'ended' } }";

/// What goes with a world that no recipe is played in.
const BY_ITSELF: &str = r#"
name = "by-itself"
rollout = { max_turns = 200 }
reward = { type = "exact-answer" }
credit = { type = "grpo" }
budget = { steps = 0, groups = 1, group_size = 2 }
"#;

pub(crate) fn run(arguments: &Arguments, components: &Components) -> Result<()> {
    let found = recipe(&arguments.what, components)?;
    let (by_itself, recipe) = match found {
        Found::Recipe(recipe) => (false, recipe),
        Found::World(recipe) => (true, recipe),
    };
    let mut recipe = recipe.with(&arguments.set)?;
    let play = Play {
        split: arguments.split.into(),
        tasks: 1,
        group_size: 1,
        temperature: 0.0,
        seed: arguments.seed,
        fork_at: None,
        toolbox: Toolbox::Live,
    };
    let world = recipe.world.build(&play.toolbox)?;
    let paid = arguments.set.iter().any(|(key, _)| key.starts_with("reward"));
    if by_itself && !paid && world.task(play.split, 0, &Seed::root(play.seed))?.answer.is_none() {
        recipe = recipe.with(&[("reward".to_owned(), ENDED.to_owned())])?;
    }
    out::line(format_args!(
        "{}: {} Say one line a turn; `?` shows what an expert would say, Ctrl-D leaves.\n",
        world.about().name,
        world.about().summary
    ))?;
    let person = Person { world };
    for scored in play_with(&recipe, &person, &play)? {
        ended(&scored)?;
    }
    Ok(())
}

/// What the name on the command line stands for.
enum Found {
    /// A recipe: its own, or the first shipped one in the world of this name.
    Recipe(Recipe),
    /// A world that no shipped recipe is played in, made into a recipe.
    World(Recipe),
}

fn recipe(what: &str, components: &Components) -> Result<Found> {
    let worlds = components.entries::<dyn WorldSettings>();
    let Some(entry) = worlds.iter().find(|entry| entry.about.name == what) else {
        let found = shipped::load_with(what, components).map_err(|error| {
            match nearest(what, worlds.iter().map(|entry| entry.about.name)) {
                Some(world) => WrongInput(format!("{error}; or did you mean the world `{world}`?")).into(),
                None => anyhow::Error::from(error),
            }
        });
        return found.map(Found::Recipe);
    };
    let of_world = |recipe: &Recipe| recipe.world.about().name == what;
    let mut recipes = shipped::recipes().iter().filter_map(|recipe| shipped::load(recipe.about.name).ok());
    match recipes.find(of_world) {
        Some(recipe) => Ok(Found::Recipe(recipe)),
        None => by_itself(entry, components).map(Found::World),
    }
}

/// A world with its usual settings; where it cannot do without some, with those of its example.
fn by_itself(entry: &Entry<dyn WorldSettings>, components: &Components) -> Result<Recipe> {
    let read = |settings: &str| -> Result<Recipe> {
        let name = entry.about.name;
        let mut world: toml::Table = settings.parse()?;
        world.insert("type".to_owned(), name.into());
        let mut recipe: toml::Table = BY_ITSELF.parse()?;
        recipe.insert("world".to_owned(), world.into());
        Ok(Recipe::read(&format!("world `{name}`"), &toml::to_string(&recipe)?, components)?)
    };
    read("").or_else(|_| read(entry.example))
}

/// Somebody at the keyboard, who is told what was observed and says what comes next.
struct Person {
    world: Box<dyn World>,
}

impl Person {
    fn show(&self, messages: &[Message]) -> std::io::Result<()> {
        messages.iter().try_for_each(|message| {
            let who = match message.role {
                Role::Tool => "tool",
                Role::System => "rules",
                Role::User => "world",
                _ => "seen",
            };
            out::line(format_args!("{who:>6}  {}", printable::lines(&message.text)))
        })
    }

    /// What the person is shown now: the opening, or what came of the last turn.
    fn observed(&self, task: &Task, turns: &[ExpertTurn]) -> Result<(), EnvError> {
        let shown = match turns.last() {
            Some(turn) => self.show(&turn.observed),
            None => {
                let mut env = self.world.open(&Arc::new(task.clone()), &Seed::root(0), None)?;
                self.show(&env.reset()?)
            }
        };
        shown.map_err(|error| self.gone(error.to_string()))
    }

    fn gone(&self, why: String) -> EnvError {
        EnvError::Setting { world: self.world.about().name, why }
    }
}

impl Expert for Person {
    fn say(&self, task: &Task, turns: &[ExpertTurn], _: f64, seed: &Seed) -> Result<String, EnvError> {
        self.observed(task, turns)?;
        let mut lines = std::io::stdin().lock();
        loop {
            out::text(format_args!("{:>6}  ", "you")).map_err(|error| self.gone(error.to_string()))?;
            let mut line = Vec::new();
            let read = lines.read_until(b'\n', &mut line).map_err(|error| self.gone(error.to_string()))?;
            if read == 0 {
                return Err(self.gone(LEFT.to_owned()));
            }
            let line = String::from_utf8_lossy(&line);
            let said = line.trim_end_matches(['\n', '\r']);
            if said.trim() != "?" {
                return Ok(said.to_owned());
            }
            let hint = match self.world.expert().map(|expert| expert.say(task, turns, 1.0, seed)) {
                Some(Ok(hint)) => hint,
                Some(Err(error)) => error.to_string(),
                None => "nobody knows: this world has no expert".to_owned(),
            };
            out::line(format_args!("{:>6}  {}", "expert", printable::lines(&hint)))
                .map_err(|error| self.gone(error.to_string()))?;
        }
    }
}

/// Said where the input ended: whoever played has gone.
const LEFT: &str = "nobody is at the keyboard any more";

/// How it ended: the verdict, the reward, and what the world knows to be true.
fn ended(scored: &ScoredEpisode) -> Result<()> {
    let episode = &scored.episode;
    if let merit_core::End::Failed { fault } = &episode.end {
        if fault.message.ends_with(LEFT) {
            let turns = printable::count(episode.turns.len(), "turn");
            return Ok(out::line(format_args!("\nleft after {turns}"))?);
        }
        return Ok(out::line(format_args!("\nleft: {}", fault.message))?);
    }
    let turns = episode.turns.len();
    let reward =
        scored.reward().map_or_else(|| "no reward".to_owned(), |reward| format!("reward {reward:.2}"));
    out::line(format_args!("\n{} after {turns} turns, {reward}", scored.outcome().name()))?;
    let info = episode.turns.last().map(|turn| &turn.info);
    for (name, value) in info.into_iter().flatten() {
        out::line(format_args!("  {name} {value}"))?;
    }
    Ok(())
}
