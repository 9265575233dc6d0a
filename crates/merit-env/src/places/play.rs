//! What a turn does to the ground, and what is then true, which the agent is not told.

use super::ground::{Ground, Heard};
use super::plan::Plan;
use super::tour::route;
use super::{Places, Puzzle, Skin};
use merit_api::StepResult;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// The state of the ground. Empty: as at the beginning.
    pub cells: Vec<u8>,
    /// What was written in the turn before, cut to a limit; a repeated turn is told by it.
    pub last: String,
    /// Acts by which the distance was shortened at best.
    pub gained: u32,
    /// Stops that were made at best.
    pub made: u32,
    /// Turns so far, of errands.
    #[serde(default, skip_serializing_if = "is_none")]
    pub turns: u32,
    /// The turn of the last new milestone, of errands.
    #[serde(default, skip_serializing_if = "is_none")]
    pub gain: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

/// Turns without a new milestone after which somebody is stuck.
const STUCK: u32 = 10;

pub(super) struct Turn {
    pub(super) read: bool,
    pub(super) executed: f64,
    pub(super) refused: bool,
    pub(super) repeat: bool,
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Places {
    pub(super) fn hint_line(&self) -> &'static str {
        match self.skin {
            Skin::Plan => "say ok: n go ROOM, m VERB THING",
            Skin::Site => "say click, pick, set, next, home or send",
            Skin::Blocks => "say stack ONE OTHER or unstack ONE",
            Skin::House | Skin::Quests | Skin::Errands => "what",
        }
    }

    /// What is known after a turn, and what of it the agent is not told.
    pub(super) fn told(
        &self,
        puzzle: &Puzzle,
        state: &mut Happened,
        turn: &Turn,
        result: StepResult,
    ) -> StepResult {
        let ground = puzzle.ground();
        let first = puzzle.at_first();
        let optimal = first.optimal.unwrap_or(1);
        let errands = ground.errands(&state.cells);
        let left =
            route(&first.roads, ground.node(&state.cells), &errands).map_or(optimal, |route| route.left);
        let facts = ground.facts(&state.cells);
        let held = facts.iter().filter(|fact| **fact).count();
        let stops = first.stops.max(1);
        let made = stops.saturating_sub(errands.stops()) as u32;
        let gained = (optimal.saturating_sub(left)) as u32;
        let (best, made_before) = (state.gained, state.made);
        state.gained = best.max(gained);
        state.made = made_before.max(made);
        result.with_info([
            ("read", flag(turn.read)),
            ("executed", turn.executed),
            ("refused", flag(turn.refused)),
            ("repeat", flag(turn.repeat)),
            ("progress", 1.0 - left as f64 / optimal as f64),
            ("keypoint", flag(gained > best)),
            ("milestones", f64::from(made) / stops as f64),
            ("new_milestone", f64::from(made.saturating_sub(made_before)) / stops as f64),
            ("goal_share", held as f64 / facts.len().max(1) as f64),
            ("solved", flag(held == facts.len())),
            ("left", left as f64),
            ("optimal", optimal as f64),
        ])
    }

    pub(super) fn play_plan(&self, puzzle: &Puzzle, state: &mut Happened, text: &str) -> StepResult {
        let plan = Plan::read(text);
        let done =
            plan.acts.iter().filter(|act| puzzle.ground().act(&mut state.cells, act) == Heard::Done).count();
        let executed = done as f64 / plan.acts.len().max(1) as f64;
        let turn = Turn { read: true, executed, refused: done < plan.acts.len(), repeat: false };
        let result = self.told(puzzle, state, &turn, StepResult::default().done());
        result.with_info([("rule", plan.rule), ("hint", puzzle.hint() as f64)])
    }

    pub(super) fn play_line(&self, puzzle: &Puzzle, state: &mut Happened, text: &str) -> StepResult {
        let ground = puzzle.ground();
        let before = state.cells.clone();
        let heard = ground.act(&mut state.cells, text);
        let repeat = heard != Heard::Done && state.last == text;
        let reply = ground.reply(&state.cells, text);
        let result = match heard {
            Heard::Unread => StepResult::saying(self.tracked(puzzle, state, self.hint_line())),
            Heard::Refused => StepResult::saying(self.tracked(puzzle, state, "no")),
            Heard::Done if reply.over => StepResult::saying(reply.text).done(),
            Heard::Done => StepResult::saying(self.tracked(puzzle, state, &reply.text)),
        };
        let turn = Turn {
            read: heard != Heard::Unread,
            executed: flag(heard == Heard::Done),
            refused: heard == Heard::Refused,
            repeat,
        };
        let end = text.char_indices().nth(80).map_or(text.len(), |(at, _)| at);
        text[..end].clone_into(&mut state.last);
        let result = self.told(puzzle, state, &turn, result);
        if self.skin == Skin::Errands {
            return self.of_town(puzzle, state, &before, result);
        }
        self.of_site(puzzle, state, text == "send" && heard == Heard::Done, result)
    }

    /// A reply that tells which errand is due, where that is wanted.
    pub(super) fn tracked(&self, puzzle: &Puzzle, state: &Happened, text: &str) -> String {
        match puzzle {
            Puzzle::Town(town) if self.tracker == Some(true) => {
                format!("{text}. now {}", town.due(&state.cells).unwrap_or_default())
            }
            _ => text.to_owned(),
        }
    }

    /// Turns after which it is too late.
    pub(super) fn deadline(&self, puzzle: &Puzzle) -> Option<u32> {
        Some(puzzle.at_first().optimal? as u32 + self.slack?)
    }

    /// What is known of errands beside, given the cells before the turn; an agent that is late is out.
    pub(super) fn of_town(
        &self,
        puzzle: &Puzzle,
        state: &mut Happened,
        before: &[u8],
        result: StepResult,
    ) -> StepResult {
        let Puzzle::Town(town) = puzzle else { return result };
        state.turns = state.turns.saturating_add(1);
        if result.info.get("new_milestone").is_some_and(|share| *share > 0.0) {
            state.gain = state.turns;
        }
        let done = |cells: &[u8]| town.facts(cells).iter().filter(|fact| **fact).count();
        let (was, is) = (done(before), done(&state.cells));
        let late = !result.is_last() && self.deadline(puzzle).is_some_and(|turns| state.turns >= turns);
        let result = if late {
            StepResult { observations: StepResult::saying("late").observations, ..result }.done()
        } else {
            result
        };
        result.with_info([
            ("hit", is.saturating_sub(was) as f64 / town.errands.len().max(1) as f64),
            ("pulled", flag(is < was)),
            ("stuck", flag(state.turns.saturating_sub(state.gain) >= STUCK)),
            ("late", flag(late)),
        ])
    }

    pub(super) fn of_site(
        &self,
        puzzle: &Puzzle,
        state: &Happened,
        sent: bool,
        result: StepResult,
    ) -> StepResult {
        let Puzzle::Site(site) = puzzle else { return result };
        let bad = sent && site.facts(&state.cells).contains(&false);
        let is = |name: &str| result.info.get(name).is_some_and(|number| *number > 0.0);
        // OpAgent's tree: the first line that fits.
        let tree = match () {
            () if !is("read") => -1.0,
            () if is("refused") || is("repeat") || bad => -0.5,
            () if is("keypoint") => 0.5,
            () => 0.0,
        };
        let blocked = flag(site.shut_out(&state.cells));
        let result = result.with_info([("blocked", blocked), ("bad_send", flag(bad)), ("tree", tree)]);
        match site.number {
            Some(_) => result.with_info([("looks_right", flag(site.looks_right(&state.cells)))]),
            None => result,
        }
    }
}
