//! Nodes, containers and things, with acts that have preconditions, an exact oracle, and one ground under several skins.
//!
//! `house` and `quests` are rooms that are seen one at a time, a line per turn (`go den`, `open box`, `take cup`, `put cup bin`); in a
//! house things may have to be washed or heated first. `plan` shows all rooms and wants the whole plan in one line, every step with
//! its tag: `ok: n go den, m take cup, m put cup bin`; gold steps can be given as done. `site` is a shop on the web with mirrors, of
//! which pages may be blocked. `errands` is a town seen one place at a time, with errands to be run in their order, maybe by a deadline;
//! `blocks` are towers on a table to be built otherwise. What is drawn and what an act does is in `home`, `site`, `town` and `blocks`,
//! behind [`ground::Ground`]; what a turn was in `play`, how a plan is read in `plan`, the shortest play in `tour`; `expert` plays in four
//! manners. The size of a task is the number of acts of a shortest play.
//!
//! The info of every turn: `read`, `executed` (in a plan the share of its steps), `refused`, `repeat` (the line before again, and nothing
//! changed), `progress` (1 - acts left / acts at first), `keypoint` (fewer acts left than ever before), `milestones` and `new_milestone`
//! (shares of the stops that a right play makes), `goal_share`, `solved`, `left` and `optimal`. A plan has `rule` (its form) and `hint`
//! (steps that were given), a site `blocked`, `bad_send`, where it has a number `looks_right` (to one who sees only the last pages), and `tree` (-1 unread, -0.5 refused or sent in vain, 0.5 a key point, otherwise
//! 0), errands `hit` (share of errands that the turn ran, again or for the first time), `pulled`, `stuck` (no new milestone for ten turns)
//! and `late`.

pub mod blocks;
mod commands;
mod expert;
pub mod ground;
pub mod home;
mod plan;
mod play;
mod settings;
pub mod site;
pub mod tour;
pub mod town;

pub use plan::MAX_STEPS;
pub use play::Happened;
pub use settings::{Doors, Hints, MAX_SIZE, Places, Sites, Skin};

use blocks::Blocks;
use ground::{AtFirst, Ground, gold};
use home::Home;
use merit_api::{
    CommandCard, Context, Demonstration, Manner, StepResult, TextGame, line, sizes_of, split_of,
};
use merit_core::{Action, CallRecord, Split, Stream, canonical};
use plan::Plan;
use play::Turn;
use serde::{Deserialize, Serialize};
use serde_json::json;
use site::Site;
use town::Town;

const MAX_LINE: usize = 1200;
const MAX_DRAWS: usize = 20_000;

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Puzzle {
    Home(Home),
    Site(Site),
    Town(Town),
    Blocks(Blocks),
}

impl Puzzle {
    fn ground(&self) -> &dyn Ground {
        match self {
            Self::Home(home) => home,
            Self::Site(site) => site,
            Self::Town(town) => town,
            Self::Blocks(blocks) => blocks,
        }
    }

    /// Gold steps that are given.
    fn hint(&self) -> usize {
        match self {
            Self::Home(home) => home.hint as usize,
            Self::Site(_) | Self::Town(_) | Self::Blocks(_) => 0,
        }
    }

    /// The cells at the beginning, what was given done.
    fn first(&self) -> Vec<u8> {
        let mut cells = self.ground().start();
        gold(self.ground(), &mut cells, self.hint());
        cells
    }

    /// What is true at first; the puzzle does not change any more.
    fn at_first(&self) -> &AtFirst {
        let kept = match self {
            Self::Home(home) => &home.at_first,
            Self::Site(site) => &site.at_first,
            Self::Town(town) => &town.at_first,
            Self::Blocks(blocks) => &blocks.at_first,
        };
        kept.get_or(|| AtFirst::of(self.ground()))
    }
}

impl Places {
    fn site(&self, fields: usize, rng: &mut Stream) -> Site {
        let sections = self.sections.unwrap_or(3) as usize;
        match self.sites {
            None => Site::draw(sections, fields, rng),
            Some(Sites { first, count }) => {
                let number = first + rng.below(u64::from(count)) as u32;
                Site::numbered(number as u8, sections, fields, rng)
            }
        }
    }
}

/// What an act is called, whatever the spaces.
fn act_of(text: &str) -> &str {
    line(text).trim()
}

impl TextGame for Places {
    type Puzzle = Puzzle;
    type State = Happened;

    const MANNERS: &'static [Manner] = expert::MANNERS;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, self.trained_sizes(), &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Puzzle {
        let shape = self.shape();
        let draw = |rng: &mut Stream| match self.skin {
            Skin::Site => {
                let fields = size.saturating_sub(5 + rng.below(2) as u32).clamp(1, 4);
                Puzzle::Site(self.site(fields as usize, rng))
            }
            Skin::Errands => Puzzle::Town(Town::draw(shape.rooms, shape.tree, self.errands() as usize, rng)),
            Skin::Blocks => Puzzle::Blocks(Blocks::draw(shape.things, rng)),
            Skin::House | Skin::Quests | Skin::Plan => {
                let most = shape.things.min(home::MAX_GOALS).min(size as usize / 2).max(1);
                let least = (size as usize).div_ceil(6).min(most);
                let goals = least + rng.below((most - least + 1) as u64) as usize;
                Puzzle::Home(Home::draw(&shape, goals, rng))
            }
        };
        let mut puzzle = draw(rng);
        let mut tries = 0;
        while AtFirst::of(puzzle.ground()).optimal != Some(size as usize) && tries < MAX_DRAWS {
            puzzle = draw(rng);
            tries += 1;
        }
        let split = split_of(&self.identity(&puzzle));
        match &mut puzzle {
            Puzzle::Home(home) => {
                let hints = if split == Split::Train { self.hints } else { self.held_out_hints };
                if let Some(hints) = hints.filter(|hints| rng.chance(hints.share)) {
                    home.hint = rng.below((hints.depth * f64::from(size)) as u64 + 1) as u32;
                }
            }
            Puzzle::Site(site) if split == Split::Train => site.block(self.blocked.unwrap_or_default(), rng),
            Puzzle::Town(town) => {
                // Drawn in any case, so that a town with a lever is the town without it.
                let room = rng.below(shape.rooms as u64) as u8;
                town.lever = self.lever.unwrap_or_default().then_some(room);
            }
            Puzzle::Site(_) | Puzzle::Blocks(_) => {}
        }
        puzzle
    }

    /// Wishes on sites with a number; a proposer that does not know their shelves may want what is not there.
    fn propose(&self, context: Context, rng: &mut Stream) -> Option<(Puzzle, u32)> {
        self.sites?;
        let fields = 1 + rng.below(3) as usize;
        let site = self.site(fields, rng);
        let site = if context == Context::Known { site } else { site.unknowing(rng) };
        // As many acts as if what is not there were on the first page.
        let size = AtFirst::of(&site).optimal.unwrap_or(5 + fields);
        Some((Puzzle::Site(site), size as u32))
    }

    /// The ground and what is wanted; what is given or blocked, and a lever, do not make it another.
    fn identity(&self, puzzle: &Puzzle) -> String {
        match puzzle {
            Puzzle::Home(home) => canonical(&json!(Home { hint: 0, ..home.clone() })),
            Puzzle::Site(site) => canonical(&json!(Site { blocked: Vec::new(), ..site.clone() })),
            Puzzle::Town(town) => canonical(&json!(Town { lever: None, ..town.clone() })),
            Puzzle::Blocks(blocks) => canonical(&json!(blocks)),
        }
    }

    fn check_puzzle(&self, puzzle: &Puzzle, size: u32) -> Result<(), String> {
        match (puzzle, self.skin) {
            (Puzzle::Home(home), Skin::House | Skin::Quests | Skin::Plan) => home.check()?,
            (Puzzle::Site(site), Skin::Site) => site.check()?,
            (Puzzle::Town(town), Skin::Errands) => town.check()?,
            (Puzzle::Blocks(blocks), Skin::Blocks) => blocks.check()?,
            _ => return Err("it is of another skin".to_owned()),
        }
        if puzzle.hint() > 0 && (self.skin != Skin::Plan || puzzle.hint() >= size as usize) {
            return Err(format!("{} of its {size} steps are given", puzzle.hint()));
        }
        match puzzle.at_first().optimal {
            Some(optimal) if optimal == size as usize => Ok(()),
            Some(optimal) => Err(format!("a shortest play has {optimal} acts, its size is {size}")),
            None if matches!(puzzle, Puzzle::Site(Site { absent: Some(_), .. })) => Ok(()),
            None => Err("what is wanted is out of reach".to_owned()),
        }
    }

    fn check_state(&self, puzzle: &Puzzle, state: &Happened) -> Result<(), String> {
        if state.cells.is_empty() || puzzle.ground().fits(&state.cells) {
            Ok(())
        } else {
            Err("its cells do not fit the puzzle".to_owned())
        }
    }

    fn prompt(&self, puzzle: &Puzzle) -> String {
        let (Puzzle::Home(home), Skin::Plan) = (puzzle, self.skin) else {
            let by = self.deadline(puzzle).map_or(String::new(), |turns| format!("by {turns}. "));
            return format!("{by}{}", puzzle.ground().prompt(&puzzle.first()));
        };
        let mut cells = home.start();
        let seen = home.overview(&cells);
        let given = gold(home, &mut cells, home.hint as usize);
        let given = if given.is_empty() { String::new() } else { format!(". done {}", given.join(", ")) };
        format!("{seen}{given}")
    }

    fn instructions(&self) -> Option<String> {
        let text = match self.skin {
            Skin::Plan => {
                "Plan how to bring things where they are wanted, treated first where a treatment is named. Say the whole plan in one \
                 line, `n` before walking and `m` before any other act: `ok: n go ROOM, m open BOX, m take THING, m wash THING, m put \
                 THING BOX`. What is done already is not repeated. A shut box must be opened; what is carried is treated where its \
                 fixture is (sink wash, stove heat, frost cool, board chop, tap fill, line dry)."
            }
            Skin::Site => {
                "Order what is wanted on a site. Say one line per turn: `click LINK`, `pick HUE`, `next`, `prev`, `home`, `set FIELD VALUE` \
                 on a form, and `send` when its fields are as wanted, which ends it."
            }
            Skin::Errands => {
                "Run the errands in the order in which they are wanted. Say one line per turn: `go PLACE`, or an errand as it is told, as in `pay \
                 bill`, where its thing is. A lever undoes all errands. If turns are told, as in `by 30`, be done by then."
            }
            Skin::Blocks => {
                "Build the towers that are wanted; towers are told from the table up. Say one line per turn: `stack ONE OTHER` puts a block on \
                 another, `unstack ONE` puts it on the table. A block that bears another cannot be moved."
            }
            Skin::House | Skin::Quests => {
                "Bring things where they are wanted, treated first where a treatment is named. Say one line per turn: `go ROOM`, `open BOX`, \
                 `take THING`, `put THING BOX`, `drop THING`, or a treatment as in `wash THING`, where its fixture is (sink wash, stove heat, \
                 frost cool, board chop, tap fill, line dry)."
            }
        };
        self.instructions.then(|| text.to_owned())
    }

    fn commands(&self) -> Vec<CommandCard> {
        commands::cards(self.skin)
    }

    fn parse(&self, text: &str) -> Action {
        let said = act_of(text);
        let malformed = || Action::Malformed { why: self.hint_line().to_owned() };
        if said.is_empty() || said.contains(['\n', '\r']) || said.len() > MAX_LINE {
            return malformed();
        }
        match self.skin {
            Skin::Plan if !Plan::read(said).is_one() => malformed(),
            Skin::Plan => Action::Say { text: said.to_owned() },
            _ => Action::Say { text: said.split_whitespace().collect::<Vec<_>>().join(" ") },
        }
    }

    fn step(&self, puzzle: &Puzzle, state: &mut Happened, action: &Action, _: &[CallRecord]) -> StepResult {
        if state.cells.is_empty() {
            state.cells = puzzle.first();
        }
        match action {
            Action::Say { text } if self.skin == Skin::Plan => self.play_plan(puzzle, state, text),
            Action::Say { text } => self.play_line(puzzle, state, text),
            Action::Answer { .. } | Action::Calls { .. } | Action::Malformed { .. } => {
                let before = state.cells.clone();
                let turn = Turn { read: false, executed: 0.0, refused: false, repeat: false };
                let said = StepResult::saying(self.tracked(puzzle, state, self.hint_line()));
                let result = self.told(puzzle, state, &turn, said);
                match self.skin {
                    Skin::Plan => result.with_info([("rule", 0.0), ("hint", puzzle.hint() as f64)]),
                    Skin::Errands => self.of_town(puzzle, state, &before, result),
                    _ => self.of_site(puzzle, state, false, result),
                }
            }
        }
    }

    fn expert(&self, puzzle: &Puzzle, play: &Demonstration<'_>) -> Option<String> {
        expert::next_line(self, puzzle.ground(), puzzle.hint(), play)
    }
}
