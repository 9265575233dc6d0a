//! Which items belong to this query? Ranked, then packed under a budget of words.

use crate::shelf::{Shelf, name_of};
use crate::{Item, Memory, MemoryError, Retrieval};
use merit_search::graph::{DAMPING, Graph, pack};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is looked for.
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
    /// Best first.
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
            by => self.shelf()?.rank(by, query.text, depth)?,
        };
        let mut found = Vec::new();
        for (id, score) in ranked {
            if found.len() > depth {
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

    /// What is searched, read from the database where it is not in memory.
    fn shelf(&mut self) -> Result<&mut Shelf, MemoryError> {
        let seen: i64 = self.db.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        if self.shelf.as_ref().is_none_or(|shelf| shelf.is_worn(seen)) {
            let mut rows = self.db.prepare("SELECT id, key FROM items ORDER BY id")?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            let all = rows.query_map([], row)?.collect::<Result<Vec<_>, _>>()?;
            drop(rows);
            self.shelf = Some(Shelf::build(all, seen)?);
        }
        Ok(self.shelf.get_or_insert_default())
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
        let seeds = self.shelf()?.rank(Retrieval::Words, text, SEEDS)?;
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
