//! What a vault task is about: what lies in each box, drawn from a seed and checked when read back.

use super::{ABOUT, VERSION};
use crate::{EnvError, fingerprint, split_of};
use merit_core::canonical;
use merit_core::{Seed, Split, Task};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Half of all draws fall into a split, so this many in vain means a broken generator.
const MAX_DRAWS: usize = 10_000;
const MAX_BOXES: usize = 9;

/// The payload of a task. Boxes are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boxes {
    /// The box named in the opening.
    pub start: u32,
    /// For each box the box its note names; 0 is the key.
    pub notes: Vec<u32>,
}

impl Boxes {
    /// Draws a row that belongs to `split`, with `size` boxes on the way to the key.
    pub(super) fn draw(split: Split, size: u32, boxes: u32, seed: &Seed) -> Result<Self, EnvError> {
        let mut stream = seed.stream();
        for _ in 0..MAX_DRAWS {
            let mut order: Vec<u32> = (1..=boxes).collect();
            stream.shuffle(&mut order);
            let (way, rest) = order.split_at(size as usize);
            let mut notes = vec![0; boxes as usize];
            way.windows(2).for_each(|pair| notes[pair[0] as usize - 1] = pair[1]);
            rest.iter().for_each(|&at| notes[at as usize - 1] = 1 + stream.below(u64::from(boxes)) as u32);
            let drawn = Self { start: way[0], notes };
            if split_of(&drawn.content()) == split {
                return Ok(drawn);
            }
        }
        let why = format!("{MAX_DRAWS} draws gave no {} task of size {size}", split.name());
        Err(EnvError::Broken { world: ABOUT.name, why })
    }

    /// What lies in a box; `None` when there is no such box.
    pub(super) fn note(&self, number: u32) -> Option<u32> {
        self.notes.get((number as usize).checked_sub(1)?).copied()
    }

    /// The boxes from the start to the key; `None` when the notes run in a circle or out of the row.
    pub fn way(&self) -> Option<Vec<u32>> {
        let mut way = vec![self.start];
        while let Some(next) = way.last().and_then(|&at| self.note(at)) {
            if next == 0 {
                return Some(way);
            }
            if way.len() > self.notes.len() {
                return None;
            }
            way.push(next);
        }
        None
    }

    /// What makes the task what it is: the row and the way. Notes off the way do not.
    fn content(&self) -> String {
        format!("{} boxes, way {:?}", self.notes.len(), self.way().unwrap_or_default())
    }

    pub(super) fn into_task(self, split: Split, index: u64) -> Task {
        let payload = json!(self);
        Task {
            id: format!("{}/{}/{index:05}-{}", ABOUT.name, split.name(), fingerprint(&canonical(&payload))),
            world: ABOUT.name.to_owned(),
            version: VERSION,
            split,
            size: self.way().map_or(0, |way| way.len() as u32),
            answer: None,
            payload,
        }
    }

    /// The boxes of a task, checked.
    pub fn of(task: &Task) -> Result<Self, EnvError> {
        let bad = |why: String| EnvError::Task { world: ABOUT.name, task: task.id.clone(), why };
        if task.world != ABOUT.name || task.version != VERSION {
            return Err(bad(format!(
                "it is of world `{}` version {}, wanted version {VERSION}",
                task.world, task.version
            )));
        }
        let boxes = Self::deserialize(&task.payload).map_err(|error| bad(format!("payload: {error}")))?;
        if boxes.notes.len() > MAX_BOXES {
            return Err(bad(format!("{} boxes; at most {MAX_BOXES}", boxes.notes.len())));
        }
        match boxes.way() {
            Some(way) if way.len() == task.size as usize => Ok(boxes),
            Some(way) => Err(bad(format!("its way has {} boxes, its size is {}", way.len(), task.size))),
            None => Err(bad("its notes do not lead to the key".to_owned())),
        }
    }
}
