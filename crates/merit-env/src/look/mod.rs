//! Something that is seen badly: look closer before answering or judging, or say what was seen.
//!
//! In the modes `answer` and `judge` a grid is seen from afar, and `zoom 4 7` shows a part of it in full. Some questions are answered by
//! the view from afar. `answer ring` ends an episode, or `pick ring` where two answers are offered. In the mode `video` a table in time is
//! seen through noise; up to four lines as `saw dog 3 mill` say what was seen and are not confirmed, before `answer lake`. In the mode
//! `count` a picture of code words is shown, its caption, or both, and `answer 6` ends it. The grid is in `scene`, the table in `clip`, the
//! picture in `figure`, and `expert` plays in five manners.
//!
//! The info of every turn of a grid: `needs_zoom`, `zooms`, `zooms_ok` so far, and, where a zoom is needed, `iou`: the best overlap of
//! a part with the tile that is asked about. Of a table: `claims`, the shares `obs_true`, `obs_false` and `obs_idle` (true, and not
//! needed) of them, and `sufficient`: whether a fixed reader finds the right answer by the claims alone.

mod clip;
mod expert;
mod figure;
mod scene;
mod seen;
mod settings;

pub use clip::{ANIMALS, Claim, Clip, MAX_CLAIMS, PLACES, STRETCHES};
pub use figure::{Channel, Figure};
pub use scene::{MARKS, Rival, Scene, TINTS, Zoom};
pub use seen::Seen;
pub use settings::{Look, Mode};

use merit_api::{
    CommandCard, Demonstration, Manner, StepResult, TextGame, Tool, ToolBuilder, ToolError, line, sizes_of,
};
use merit_core::{Action, CallEnd, CallRecord, Message, Role, Split, Stream, ToolCall, canonical};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

const NO_TOOLS: &str = "no tools here";
const NOTED: &str = "ok";
const ENOUGH: &str = "no more";

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Puzzle {
    /// A question about tints, which the view from afar answers.
    Plain(Scene),
    /// A question about a mark.
    Zoom(Scene),
    /// A question about a table in time.
    Video(Clip),
    /// A question about a picture.
    Count(Figure),
}

impl Puzzle {
    /// The grid, and whether the question needs a zoom.
    fn scene(&self) -> Option<(&Scene, bool)> {
        match self {
            Self::Plain(scene) => Some((scene, false)),
            Self::Zoom(scene) => Some((scene, true)),
            Self::Video(_) | Self::Count(_) => None,
        }
    }
}

impl Look {
    fn hint(&self) -> &'static str {
        match self.mode {
            Mode::Answer => "say zoom ROW COLUMN or answer WORD",
            Mode::Judge => "say zoom ROW COLUMN or pick WORD",
            Mode::Video => "say saw ANIMAL NUMBER PLACE or answer PLACE",
            Mode::Count => "say answer NUMBER or answer COLOUR SHAPE",
        }
    }

    fn is_answer(&self, word: &str) -> bool {
        match self.mode {
            Mode::Answer | Mode::Judge => TINTS.contains(&word) || MARKS.contains(&word),
            Mode::Video => PLACES.contains(&word),
            Mode::Count => Figure::is_answer(word),
        }
    }

    fn verb(&self) -> &'static str {
        if self.mode == Mode::Judge { "pick" } else { "answer" }
    }

    fn zoomed(&self, puzzle: &Puzzle, seen: &mut Seen, calls: &[CallRecord]) -> StepResult {
        for record in calls {
            let shown = self.tool && record.end == CallEnd::Ok;
            let overlap = puzzle.scene().and_then(|(scene, _)| scene.overlap(&record.call.input));
            seen.zooms = seen.zooms.saturating_add(1);
            seen.zooms_ok = seen.zooms_ok.saturating_add(u32::from(shown));
            seen.overlap = seen.overlap.max(overlap.filter(|_| shown).unwrap_or_default());
        }
        let told = |record: &CallRecord| {
            Message::new(Role::Tool, if self.tool { record.output.clone() } else { NO_TOOLS.to_owned() })
        };
        StepResult::observing(calls.iter().map(told).collect())
    }
}

impl TextGame for Look {
    type Puzzle = Puzzle;
    type State = Seen;
    const MANNERS: &'static [Manner] = expert::MANNERS;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Puzzle {
        match self.mode {
            Mode::Video => return Puzzle::Video(Clip::draw(size, self.corruption, rng)),
            Mode::Count => {
                let channel = self.channel.unwrap_or(Channel::Image);
                return Puzzle::Count(Figure::draw(size, self.named.unwrap_or_default(), channel, rng));
            }
            Mode::Answer | Mode::Judge => {}
        }
        let needs_zoom = !rng.chance(self.easy);
        let scene = Scene::draw(self.mode, needs_zoom, size, self.tile, rng);
        if needs_zoom { Puzzle::Zoom(scene) } else { Puzzle::Plain(scene) }
    }

    fn check_puzzle(&self, puzzle: &Puzzle, size: u32) -> Result<(), String> {
        let (own, fits) = match puzzle {
            Puzzle::Video(clip) => {
                clip.check()?;
                (clip.given.len() as u32 + 1, self.mode == Mode::Video)
            }
            Puzzle::Count(figure) => {
                figure.check()?;
                (figure.objects.len() as u32, self.mode == Mode::Count)
            }
            Puzzle::Plain(scene) | Puzzle::Zoom(scene) => {
                scene.check(matches!(puzzle, Puzzle::Zoom(_)))?;
                let offers = scene.rival.is_some();
                let fits = match (self.mode, puzzle) {
                    (Mode::Video | Mode::Count, _) => false,
                    (mode, Puzzle::Zoom(_)) => offers == (mode == Mode::Judge),
                    _ => offers,
                };
                (u32::from(scene.side), fits && u32::from(scene.tile) == self.tile)
            }
        };
        match (fits, own == size) {
            (false, _) => Err("it is of another `mode` or `tile`".to_owned()),
            (_, false) => Err(format!("its puzzle has the size {own}, not {size}")),
            _ => Ok(()),
        }
    }

    fn check_state(&self, puzzle: &Puzzle, seen: &Seen) -> Result<(), String> {
        let cells = puzzle.scene().map_or(0, |(scene, _)| u32::from(scene.tile).pow(2));
        if seen.zooms_ok > seen.zooms || seen.overlap > cells || (seen.overlap > 0 && seen.zooms_ok == 0) {
            return Err("more was seen than was zoomed into".to_owned());
        }
        let video = self.mode == Mode::Video;
        let fits = seen.claims.len() <= MAX_CLAIMS && seen.claims.iter().all(Claim::is_known);
        if !fits || (!video && !seen.claims.is_empty()) || (!self.mode.is_grid() && seen.zooms > 0) {
            return Err("claims or zooms that cannot be made here".to_owned());
        }
        Ok(())
    }

    fn prompt(&self, puzzle: &Puzzle) -> String {
        match puzzle {
            Puzzle::Plain(scene) => scene.prompt(false, self.swap),
            Puzzle::Zoom(scene) => scene.prompt(true, self.swap),
            Puzzle::Video(clip) => clip.prompt(),
            Puzzle::Count(figure) => figure.prompt(),
        }
    }

    /// How a picture is shown does not make it another.
    fn identity(&self, puzzle: &Puzzle) -> String {
        match puzzle {
            Puzzle::Count(figure) => canonical(&json!(Figure { channel: Channel::Image, ..figure.clone() })),
            other => canonical(&json!(other)),
        }
    }

    fn answer(&self, puzzle: &Puzzle) -> Option<String> {
        Some(match puzzle {
            Puzzle::Video(clip) => clip.right().to_owned(),
            Puzzle::Count(figure) => figure.right(),
            Puzzle::Plain(scene) => scene.right(false).to_owned(),
            Puzzle::Zoom(scene) => scene.right(true).to_owned(),
        })
    }

    fn instructions(&self) -> Option<String> {
        let words = [TINTS.join(", "), MARKS.join(", "), ANIMALS.join(", "), PLACES.join(", ")];
        let [tints, marks, animals, places] = words;
        let grid = format!(
            "A grid of cells is shown from afar, row by row: each tile of {0} by {0} cells is one tint ({tints}). One cell of each tile is a \
             mark ({marks}), which is seen only close by. `tint red or jade` asks which of the two is there, `mark 5 8` for the mark in the tile \
             that has the cell in row 5, column 8. Say one line per turn: `zoom ROW COLUMN` to see {0} by {0} cells from there on",
            self.tile
        );
        let text = match self.mode {
            Mode::Answer => format!("{grid}, or `answer WORD`, which ends it. Zoom only where you need to."),
            Mode::Judge => format!(
                "{grid}, or `pick WORD` for the better of two answers, which ends it. Zoom only where you need to."
            ),
            Mode::Video => format!(
                "Animals ({animals}) were at places ({places}) over four stretches of time. Each stretch shows its number and three looks at \
                 each animal; some are wrong. The question asks where an animal was at the number of a stretch, or when \
                 others were where it says. Say one line per turn: `saw ANIMAL NUMBER PLACE` for what you saw, at most four times and only \
                 what the answer needs, then `answer PLACE`."
            ),
            Mode::Count => "Objects are told in words, shown as code words in a picture, or both. `twice ring and red` asks for two times the \
                 rings and the reds together, in its last digit: say `answer NUMBER`. `what` asks for the one object: say `answer \
                 COLOUR SHAPE`."
                .to_owned(),
        };
        self.instructions.then_some(text)
    }

    fn commands(&self) -> Vec<CommandCard> {
        let last = CommandCard::new(self.verb(), "Give the answer, which ends it.");
        let saw = CommandCard::new("saw", "Say what you saw.")
            .one_of("animal", "which animal", ANIMALS)
            .number("stretch", "the number of the stretch")
            .one_of("place", "where it was", PLACES)
            .example("saw dog 3 mill");
        match self.mode {
            Mode::Answer | Mode::Judge => {
                let words = TINTS.iter().chain(&MARKS).copied();
                vec![last.one_of("word", "a tint or a mark", words).example(&format!("{} ring", self.verb()))]
            }
            Mode::Video => vec![saw, last.one_of("place", "where it was", PLACES).example("answer lake")],
            Mode::Count => {
                vec![last.text("word", "a digit, or a colour and a shape").example("answer 6")]
            }
        }
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let malformed = || Action::Malformed { why: self.hint().to_owned() };
        if said.contains(['\n', '\r']) || said.len() > 40 {
            return malformed();
        }
        match said.split_once(' ').map(|(verb, rest)| (verb, rest.trim())) {
            Some(("zoom", place)) if self.mode.is_grid() => {
                Action::Calls { calls: vec![ToolCall { tool: "zoom".to_owned(), input: place.to_owned() }] }
            }
            Some((verb, word)) if verb == self.verb() && self.is_answer(word) => {
                Action::Answer { text: word.to_owned() }
            }
            _ => match Claim::read(said).filter(|_| self.mode == Mode::Video) {
                Some(claim) => Action::Say { text: claim.words() },
                None => malformed(),
            },
        }
    }

    fn step(&self, puzzle: &Puzzle, seen: &mut Seen, action: &Action, calls: &[CallRecord]) -> StepResult {
        let result = match action {
            Action::Answer { .. } => StepResult::default().answered(),
            Action::Calls { .. } if self.mode.is_grid() => self.zoomed(puzzle, seen, calls),
            Action::Say { text } if self.mode == Mode::Video => match Claim::read(text) {
                Some(_) if seen.claims.len() >= MAX_CLAIMS => StepResult::saying(ENOUGH),
                Some(claim) => {
                    seen.claims.push(claim);
                    StepResult::saying(NOTED)
                }
                None => StepResult::saying(self.hint()),
            },
            Action::Malformed { why } => StepResult::saying(why.clone()),
            Action::Say { .. } | Action::Calls { .. } => StepResult::saying(self.hint()),
        };
        result.with_info(seen.info(puzzle))
    }

    fn tools(&self, builder: &dyn ToolBuilder) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let zooms = self.tool && self.mode.is_grid();
        Ok(if zooms { vec![builder.wrap(Arc::new(Zoom))] } else { Vec::new() })
    }

    fn expert(&self, puzzle: &Puzzle, play: &Demonstration<'_>) -> Option<String> {
        expert::next_line(self, puzzle, play)
    }
}
