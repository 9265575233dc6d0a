//! Which items belong to this query? Ranked, then packed under a budget of words.

use crate::kept::{self, WORTH_IT};
use crate::shelf::{Shelf, name_of};
use crate::vectors::Vectors;
use crate::{Item, Memory, MemoryError, Retrieval};
use merit_search::graph::{DAMPING, Graph, pack};
use rusqlite::Connection;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The most items that are returned.
    pub k: usize,
    /// Most words of all texts together, counted between white space. Absent: any number.
    pub words: Option<usize>,
    /// Items formed from this task are left out.
    pub not_from: Option<&'a str>,
    /// Another way to find items than the memory's own.
    pub by: Option<Retrieval>,
}

impl<'a> Query<'a> {
    /// The best `k` items, in the memory's own way.
    pub fn new(text: &'a str, k: usize) -> Self {
        Self { text, k, words: None, not_from: None, by: None }
    }
}

/// Items found for a query, and what each was ranked by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Retrieved {
    /// The version of the memory that was asked.
    pub version: u64,
    /// The retrieved items, best first.
    pub items: Vec<Item>,
    /// What each was ranked by, in the same order; what it measures depends on the way.
    pub scores: Vec<f64>,
}

/// Items that a walk begins at.
const SEEDS: usize = 8;
/// Items that a walk may reach, and items that one name may join: names that join more say nothing.
const REACH: usize = 192;
const CROWD: usize = 64;
/// How many edges away from the seeds items are looked for.
const HOPS: usize = 2;

impl Memory {
    /// Finds items for a query. Changes nothing: who shows them says so by [`Memory::feedback`].
    pub fn retrieve(&mut self, query: &Query<'_>) -> Result<Retrieved, MemoryError> {
        let by = query.by.unwrap_or(self.settings.retrieval);
        // Some of the ranked may be left out afterwards.
        let depth = query.k.saturating_mul(2).saturating_add(16).min(merit_search::MAX_HITS);
        let ranked = match by {
            Retrieval::Exact => self.named(query.text, depth)?,
            Retrieval::Graph => self.walk(query.text)?,
            by => self.rank(by, query.text, depth)?,
        };
        // Without a budget of words the first are taken.
        let enough = if query.words.is_some() { depth + 1 } else { query.k };
        let mut found = Vec::new();
        for (id, score) in ranked {
            if found.len() >= enough {
                break;
            }
            let Some(item) = self.get(id)? else { continue };
            let own = query.not_from.is_some_and(|task| item.made_by.task.as_deref() == Some(task));
            if !own && !found.iter().any(|(known, _): &(Item, f64)| known.text == item.text) {
                found.push((item, score));
            }
        }
        let words = |at: usize| found[at].0.text.split_whitespace().count();
        let taken = pack(0..found.len(), query.k, query.words.unwrap_or(usize::MAX), words);
        let scores = taken.iter().map(|at| found[*at].1).collect();
        let items = taken.into_iter().map(|at| found[at].0.clone()).collect();
        Ok(Retrieved { version: self.version()?, items, scores })
    }

    fn rank(&mut self, by: Retrieval, text: &str, k: usize) -> Result<Vec<(i64, f64)>, MemoryError> {
        self.fill_shelf(matches!(by, Retrieval::Dense | Retrieval::Hybrid))?;
        self.shelf.as_ref().map_or(Ok(Vec::new()), |shelf| shelf.rank(by, text, k))
    }

    /// What is searched, read from its file or made of the items where it is not in memory.
    fn fill_shelf(&mut self, vectors: bool) -> Result<(), MemoryError> {
        let seen: i64 = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let shelf = match self.shelf.take().filter(|shelf| !shelf.is_worn(seen)) {
            Some(shelf) => shelf,
            None => self.kept_shelf(seen)?.map_or_else(|| self.new_shelf(seen), Ok)?,
        };
        let shelf = self.shelf.insert(shelf);
        if vectors && shelf.vectors.is_none() {
            let made = vectors_of(&self.db, self.folder.as_deref(), shelf)?;
            shelf.put_vectors(made)?;
        }
        Ok(())
    }

    fn new_shelf(&self, seen: i64) -> Result<Shelf, MemoryError> {
        // Read before the items: a file may say less than it holds, and not more.
        let version = self.version()?;
        let mut shelf = Shelf::build(keys(&self.db, 0)?, seen);
        if let (Some(folder), (ids, Some(index))) = (&self.folder, shelf.indexed())
            && ids.len() >= WORTH_IT
        {
            shelf.kept = kept::keep_words(&self.db, folder, version, ids, index);
        }
        Ok(shelf)
    }

    /// The shelf that an earlier process kept, brought up to date; nothing where there is none or too much has changed.
    fn kept_shelf(&self, seen: i64) -> Result<Option<Shelf>, MemoryError> {
        let version = self.version()?;
        let Some(words) = self.folder.as_ref().and_then(|folder| kept::words(&self.db, folder)) else {
            return Ok(None);
        };
        let (unchanged, last) = (words.version == version, words.ids.last().copied().unwrap_or(0));
        let mut shelf = Shelf::of_kept(words, seen);
        if !unchanged {
            let mut rows = self.db.prepare("SELECT id FROM items WHERE id <= ?1 ORDER BY id")?;
            let here = rows.query_map([last], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
            let gone = shelf.indexed().0.iter().copied().filter(|id| here.binary_search(id).is_err());
            gone.collect::<Vec<_>>().into_iter().for_each(|id| shelf.remove(id));
            for (id, key) in keys(&self.db, last)? {
                shelf.push(id, &key)?;
            }
        }
        Ok((!shelf.is_worn(seen)).then_some(shelf))
    }

    /// Items of this key, newest first.
    fn named(&self, text: &str, most: usize) -> Result<Vec<(i64, f64)>, MemoryError> {
        let sql = "SELECT id FROM items WHERE name = ?1 ORDER BY id DESC LIMIT ?2";
        let mut rows = self.db.prepare_cached(sql)?;
        let found = rows.query_map((name_of(text), most as i64), |row| Ok((row.get(0)?, 1.0)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// A walk from the best items by words, over items and the names that join them.
    fn walk(&mut self, text: &str) -> Result<Vec<(i64, f64)>, MemoryError> {
        let seeds = self.rank(Retrieval::Words, text, SEEDS)?;
        let (mut graph, mut items, mut names) = (Graph::default(), BTreeMap::new(), BTreeMap::new());
        let mut open: Vec<i64> = Vec::new();
        let mut start = Vec::new();
        for (id, score) in seeds {
            let node = graph.add();
            items.insert(id, node);
            start.push((node, score));
            open.push(id);
        }
        for _ in 0..=HOPS {
            let mut next = Vec::new();
            for item in std::mem::take(&mut open) {
                for name in self.about(item)? {
                    if let Some(node) = names.get(&name) {
                        graph.join(items[&item], *node, 1.0);
                        continue;
                    }
                    let joined = self.joined(&name)?;
                    if joined.len() > CROWD {
                        continue;
                    }
                    let node = graph.add();
                    names.insert(name, node);
                    for other in joined {
                        if !items.contains_key(&other) && items.len() < REACH {
                            items.insert(other, graph.add());
                            next.push(other);
                        }
                    }
                    graph.join(items[&item], node, 1.0);
                }
            }
            open = next;
        }
        let walked = graph.pagerank(&start, DAMPING);
        let mut ranked: Vec<(i64, f64)> = items.into_iter().map(|(id, node)| (id, walked[node])).collect();
        ranked.retain(|(_, mass)| *mass > 0.0);
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(ranked)
    }

    fn about(&self, item: i64) -> Result<Vec<String>, MemoryError> {
        let mut rows =
            self.db.prepare_cached("SELECT DISTINCT node FROM edges WHERE item = ?1 ORDER BY node")?;
        let found = rows.query_map([item], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(found)
    }

    fn joined(&self, name: &str) -> Result<Vec<i64>, MemoryError> {
        let sql = "SELECT DISTINCT item FROM edges WHERE node = ?1 ORDER BY item LIMIT ?2";
        let mut rows = self.db.prepare_cached(sql)?;
        let found = rows.query_map((name, CROWD as i64 + 1), |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(found)
    }
}

/// Items above this number with their keys.
fn keys(db: &Connection, above: i64) -> Result<Vec<(i64, String)>, MemoryError> {
    let mut rows = db.prepare("SELECT id, key FROM items WHERE id > ?1 ORDER BY id")?;
    let found = rows.query_map([above], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The vectors of the items that the shelf has indexed, from their file or from their keys.
fn vectors_of(db: &Connection, folder: Option<&Path>, shelf: &Shelf) -> Result<Vectors, MemoryError> {
    let (ids, _) = shelf.indexed();
    let file = folder.zip(shelf.kept.as_deref());
    let kept = file.and_then(|(folder, words)| kept::vectors(db, folder, words));
    if let Some(vectors) = kept.and_then(|bytes| Vectors::read(&bytes, ids.len())) {
        return Ok(vectors);
    }
    let mut rows = keys(db, 0)?.into_iter().peekable();
    // Items that are gone have no key; their places stay.
    let key = |id: &i64| {
        while rows.next_if(|(at, _)| at < id).is_some() {}
        rows.next_if(|(at, _)| at == id).map(|(_, key)| key).unwrap_or_default()
    };
    let made = Vectors::build(&ids.iter().map(key).collect::<Vec<_>>())?;
    if let Some((folder, words)) = file {
        let mut bytes = Vec::new();
        made.write(&mut bytes);
        kept::keep_vectors(db, folder, words, &bytes);
    }
    Ok(made)
}
