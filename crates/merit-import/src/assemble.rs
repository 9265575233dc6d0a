//! Entries become episodes: tasks are shared by name, every episode gets its place, and nothing is placed twice.
//!
//! A group is a task and a member a trial. Where every task of the file is named by a plain number, that number is the group;
//! otherwise groups are counted in the order of the file. Fields that all episodes of a task agree on describe the task; the
//! others are counted as left out.

use crate::ItemError;
use crate::draft::{Draft, Foreign, Key, TaskDraft};
use crate::imported::{Remark, Skipped};
use merit_core::{Episode, EpisodeId, Phase, ScoredEpisode, Split, Task};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// An entry with its place in the file.
pub(crate) struct Placed {
    pub(crate) line: usize,
    pub(crate) item: usize,
    pub(crate) draft: Draft,
}

/// What came of the entries.
#[derive(Default)]
pub(crate) struct Assembled {
    pub(crate) episodes: Vec<ScoredEpisode>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) left_out: BTreeMap<String, usize>,
}

pub(crate) fn assemble(entries: Vec<Placed>, split: Split) -> Assembled {
    let mut out = Assembled::default();
    let mut tasks = Tasks::default();
    let entries: Vec<Placed> = entries.into_iter().filter_map(|entry| tasks.admit(entry, &mut out)).collect();
    let tasks = tasks.named(split);
    let mut places = Places::of(&entries);
    for Placed { line, item, draft } in entries {
        let id = match &draft {
            Draft::Whole(episode, _) => episode.id.clone(),
            Draft::Foreign(foreign) => {
                let Some(group) = tasks.get(&foreign.key) else { continue };
                let member = places.member(foreign);
                EpisodeId { phase: Phase::Import, step: 0, group: group.number, member, branch: 0 }
            }
        };
        if let Err(why) = places.take(&id, line, item) {
            out.skipped.push(Skipped { line, item, why });
            continue;
        }
        let scored = match draft {
            Draft::Whole(episode, score) => {
                ScoredEpisode { episode: Arc::new(*episode), score: score.map(|score| *score) }
            }
            Draft::Foreign(foreign) => {
                let Some(group) = tasks.get(&foreign.key) else { continue };
                out.note(&foreign, group, line, &id);
                ScoredEpisode { episode: Arc::new(episode(*foreign, group, id)), score: None }
            }
        };
        out.episodes.push(scored);
    }
    out.skipped.sort_by_key(|skipped| skipped.item);
    out
}

impl Assembled {
    fn note(&mut self, foreign: &Foreign, group: &Group, line: usize, id: &EpisodeId) {
        let remark = |what: &String| Remark { line, episode: id.clone(), what: what.clone() };
        self.remarks.extend(foreign.play.remarks.iter().map(remark));
        let differing = foreign.fields.keys().filter(|key| !group.fields.contains_key(*key));
        let differing = differing.map(|key| format!("{key} (not the same in all episodes of a task)"));
        let names: HashSet<String> = foreign.left_out.iter().cloned().chain(differing).collect();
        names.into_iter().for_each(|name| *self.left_out.entry(name).or_default() += 1);
    }
}

fn episode(foreign: Foreign, group: &Group, id: EpisodeId) -> Episode {
    let cost = foreign.play.cost();
    Episode::new(id, Arc::clone(&group.task), foreign.end)
        .with_transcript(foreign.play.transcript)
        .with_turns(foreign.play.turns)
        .with_cost(cost)
        .with_reported(foreign.reported)
}

/// The tasks of a file, as their entries are met.
#[derive(Default)]
struct Tasks {
    /// In the order of the file.
    keys: Vec<Key>,
    by_key: HashMap<Key, Sketch>,
}

struct Sketch {
    line: usize,
    item: usize,
    /// Whether only runs that broke before they began were met.
    bare: bool,
    task: TaskDraft,
    fields: Map<String, Value>,
}

/// A task with its place.
struct Group {
    number: u32,
    task: Arc<Task>,
    /// Fields that all episodes agree on.
    fields: Map<String, Value>,
}

impl Tasks {
    /// Passes an entry on, unless it says another thing of a task than the entries before it.
    fn admit(&mut self, entry: Placed, out: &mut Assembled) -> Option<Placed> {
        let Placed { line, item, draft } = &entry;
        let Draft::Foreign(foreign) = draft else { return Some(entry) };
        // A run that broke before it began may not even say what its task was.
        let bare = foreign.task.payload.is_empty() && foreign.play.transcript.segments().is_empty();
        let sketch = |bare| Sketch {
            line: *line,
            item: *item,
            bare,
            task: foreign.task.clone(),
            fields: foreign.fields.clone(),
        };
        match self.by_key.get_mut(&foreign.key) {
            None => {
                self.keys.push(foreign.key.clone());
                self.by_key.insert(foreign.key.clone(), sketch(bare));
            }
            Some(known) if known.bare => *known = sketch(bare),
            Some(known) if !bare => {
                if let Some(what) = difference(&known.task, &foreign.task) {
                    let (task, first, at) = (foreign.key.text().to_owned(), known.line, known.item);
                    let why = ItemError::OtherTask { task, what, first, item: at };
                    out.skipped.push(Skipped { line: *line, item: *item, why });
                    return None;
                }
                known.fields.retain(|key, value| foreign.fields.get(key) == Some(value));
            }
            Some(_) => {}
        }
        Some(entry)
    }

    fn named(self, split: Split) -> HashMap<Key, Group> {
        let numbers = numbers(&self.keys);
        let mut by_key = self.by_key;
        let groups = self.keys.into_iter().zip(numbers).filter_map(|(key, number)| {
            let sketch = by_key.remove(&key)?;
            let mut payload = sketch.task.payload;
            if !sketch.fields.is_empty() {
                payload.insert("fields".to_owned(), Value::Object(sketch.fields.clone()));
            }
            let task = Task {
                id: format!("{}/{}", sketch.task.world, key.text()),
                world: sketch.task.world,
                version: 1,
                split,
                size: sketch.task.size,
                payload: Value::Object(payload),
                answer: sketch.task.answer,
            };
            Some((key, Group { number, task: Arc::new(task), fields: sketch.fields }))
        });
        groups.collect()
    }
}

/// In what two accounts of one task differ.
fn difference(a: &TaskDraft, b: &TaskDraft) -> Option<String> {
    if a.world != b.world {
        return Some("world".to_owned());
    }
    if a.answer != b.answer {
        return Some("answer".to_owned());
    }
    let keys = a.payload.keys().chain(b.payload.keys());
    let odd = keys.into_iter().find(|key| a.payload.get(*key) != b.payload.get(*key));
    odd.map(|key| format!("`{key}`"))
}

/// The names themselves where all are plain numbers; otherwise places in the order of the file.
fn numbers(keys: &[Key]) -> Vec<u32> {
    let plain = |key: &Key| match key {
        Key::Named(name) => name.parse::<u32>().ok().filter(|number| number.to_string() == *name),
        Key::Opening(_) => None,
    };
    let named: Option<Vec<u32>> = keys.iter().map(plain).collect();
    named.unwrap_or_else(|| (0..).take(keys.len()).collect())
}

/// Which places are taken.
struct Places {
    /// The members that entries ask for, by task.
    asked: HashMap<Key, HashSet<u32>>,
    /// Where to look for the next free member.
    next: HashMap<Key, u32>,
    taken: HashMap<EpisodeId, (usize, usize)>,
}

impl Places {
    fn of(entries: &[Placed]) -> Self {
        let mut asked: HashMap<Key, HashSet<u32>> = HashMap::new();
        for entry in entries {
            if let Draft::Foreign(foreign) = &entry.draft {
                asked.entry(foreign.key.clone()).or_default().extend(foreign.member);
            }
        }
        Self { asked, next: HashMap::new(), taken: HashMap::new() }
    }

    /// The member that an entry asks for, or the next that nobody does.
    fn member(&mut self, foreign: &Foreign) -> u32 {
        if let Some(member) = foreign.member {
            return member;
        }
        let asked = self.asked.get(&foreign.key);
        let next = self.next.entry(foreign.key.clone()).or_default();
        while asked.is_some_and(|asked| asked.contains(next)) {
            *next += 1;
        }
        let member = *next;
        *next += 1;
        member
    }

    fn take(&mut self, id: &EpisodeId, line: usize, item: usize) -> Result<(), ItemError> {
        match self.taken.get(id) {
            Some(&(first, item)) => Err(ItemError::Duplicate { episode: id.to_string(), first, item }),
            None => {
                self.taken.insert(id.clone(), (line, item));
                Ok(())
            }
        }
    }
}
