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
use std::collections::hash_map::Entry;
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

/// An entry that may stay, and its task's place among the tasks; an episode of merit's own brings its task along.
struct Admitted {
    entry: Placed,
    task: Option<usize>,
}

pub(crate) fn assemble(entries: Vec<Placed>, split: Split) -> Assembled {
    let mut out = Assembled::default();
    let mut tasks = Tasks::default();
    let entries: Vec<Admitted> =
        entries.into_iter().filter_map(|entry| tasks.admit(entry, &mut out)).collect();
    let groups = tasks.named(split);
    let mut places = Places::of(&entries, groups.len());
    for Admitted { entry: Placed { line, item, draft }, task } in entries {
        let group = task.and_then(|task| groups.get(task));
        let id = match (&draft, task.zip(group)) {
            (Draft::Whole(episode, _), _) => episode.id.clone(),
            (Draft::Foreign(foreign), Some((task, group))) => {
                let member = places.member(task, foreign);
                EpisodeId { phase: Phase::Import, step: 0, group: group.number, member, branch: 0 }
            }
            (Draft::Foreign(_), None) => continue,
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
                let Some(group) = group else { continue };
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
    places: HashMap<Key, usize>,
    /// In the order of the file.
    sketches: Vec<Sketch>,
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
    /// Passes an entry on, unless it says another thing of a task than the entries before it. Its task stays here.
    fn admit(&mut self, mut entry: Placed, out: &mut Assembled) -> Option<Admitted> {
        let Placed { line, item, draft } = &mut entry;
        let (line, item) = (*line, *item);
        let Draft::Foreign(foreign) = draft else { return Some(Admitted { entry, task: None }) };
        // A run that broke before it began may not even say what its task was.
        let bare = foreign.task.payload.is_empty() && foreign.play.transcript.segments().is_empty();
        let task = std::mem::take(&mut foreign.task);
        let sketch = |task| Sketch { line, item, bare, task, fields: foreign.fields.clone() };
        let at = match self.places.entry(std::mem::take(&mut foreign.key)) {
            Entry::Vacant(place) => {
                self.sketches.push(sketch(task));
                *place.insert(self.sketches.len() - 1)
            }
            Entry::Occupied(place) => {
                let known = self.sketches.get_mut(*place.get())?;
                if known.bare {
                    *known = sketch(task);
                } else if !bare {
                    if let Some(what) = difference(&known.task, &task) {
                        let (task, first) = (place.key().text().to_owned(), known.line);
                        let why = ItemError::OtherTask { task, what, first, item: known.item };
                        out.skipped.push(Skipped { line, item, why });
                        return None;
                    }
                    known.fields.retain(|key, value| foreign.fields.get(key) == Some(value));
                }
                *place.get()
            }
        };
        Some(Admitted { entry, task: Some(at) })
    }

    /// The tasks with their names, in the order of the file.
    fn named(self, split: Split) -> Vec<Group> {
        let mut keys: Vec<(Key, usize)> = self.places.into_iter().collect();
        keys.sort_unstable_by_key(|(_, place)| *place);
        let numbers = numbers(&keys);
        let groups = keys.into_iter().zip(self.sketches).zip(numbers).map(|(((key, _), sketch), number)| {
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
            Group { number, task: Arc::new(task), fields: sketch.fields }
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
fn numbers(keys: &[(Key, usize)]) -> Vec<u32> {
    let plain = |(key, _): &(Key, usize)| match key {
        Key::Named(name) => name.parse::<u32>().ok().filter(|number| number.to_string() == *name),
        Key::Opening(_) => None,
    };
    let named: Option<Vec<u32>> = keys.iter().map(plain).collect();
    named.unwrap_or_else(|| (0..).take(keys.len()).collect())
}

/// Which places are taken.
struct Places {
    /// The members that entries ask for, by task.
    asked: Vec<HashSet<u32>>,
    /// Where to look for the next free member, by task.
    next: Vec<u32>,
    taken: HashMap<EpisodeId, (usize, usize)>,
}

impl Places {
    fn of(entries: &[Admitted], tasks: usize) -> Self {
        let mut asked: Vec<HashSet<u32>> = vec![HashSet::new(); tasks];
        for Admitted { entry, task } in entries {
            let asked = task.and_then(|task| asked.get_mut(task));
            if let (Draft::Foreign(foreign), Some(asked)) = (&entry.draft, asked) {
                asked.extend(foreign.member);
            }
        }
        Self { asked, next: vec![0; tasks], taken: HashMap::with_capacity(entries.len()) }
    }

    /// The member of a task that an entry asks for, or the next free one.
    fn member(&mut self, task: usize, foreign: &Foreign) -> u32 {
        if let Some(member) = foreign.member {
            return member;
        }
        let (asked, next) = (&self.asked[task], &mut self.next[task]);
        while asked.contains(next) {
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
