//! The expert of a program.

use super::protocol::{ExpertReply, Request, SaidTurn};
use super::world::{ProgramWorld, plain};
use crate::{EnvError, Expert, ExpertTurn};
use merit_core::{Seed, Task};

impl Expert for ProgramWorld {
    fn say(
        &self,
        task: &Task,
        turns: &[ExpertTurn],
        p_correct: f64,
        seed: &Seed,
    ) -> Result<String, EnvError> {
        EnvError::unless_probability(self.programs.about.name, p_correct)?;
        let said = |turn: &'_ ExpertTurn| turn.observed.iter().map(|message| message.text.clone()).collect();
        let turns = turns.iter().map(|turn| SaidTurn { said: &turn.said, observed: said(turn) }).collect();
        let task = self.programs.task_of(task)?;
        let request = Request::Expert { task: &task, turns, p_correct, seed: plain(seed) };
        Ok(self.programs.ask::<ExpertReply>(&request)?.say)
    }
}
