//! The files of one episode within their quotas.

use super::WorkspaceConfig;
use super::path;
use crate::excerpt::excerpt;
use merit_core::registry;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Texts by path. A path is a file or a folder of others, never both.
#[derive(Debug)]
pub(super) struct Files {
    config: WorkspaceConfig,
    texts: BTreeMap<String, String>,
    /// Bytes of all paths and texts.
    used: usize,
}

impl Files {
    /// The files that are there first.
    pub(super) fn new(config: WorkspaceConfig, first: BTreeMap<String, String>) -> Result<Self, String> {
        let mut files = Self { config, texts: BTreeMap::new(), used: 0 };
        for (path, text) in first {
            let normal = path::of_file(&path)?;
            if files.texts.contains_key(&normal) {
                return Err(format!("two files are called `{}`", excerpt(&normal, 60)));
            }
            files.put(&normal, text)?;
        }
        Ok(files)
    }

    pub(super) fn all(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// Most bytes that one request can sensibly have: a text of the whole quota, with every character escaped.
    pub(super) fn most_bytes(&self) -> usize {
        self.config.bytes.saturating_mul(6).saturating_add(4_096)
    }

    pub(super) fn shown_bytes(&self) -> usize {
        self.config.shown_bytes
    }

    /// The text at a path in its one spelling.
    pub(super) fn get(&self, path: &str) -> Result<&str, String> {
        if let Some(text) = self.texts.get(path) {
            return Ok(text);
        }
        let shown = excerpt(path, 60);
        if self.is_folder(path) {
            return Err(format!("`{shown}` is a folder; list it"));
        }
        Err(match registry::nearest(path, self.texts.keys().take(1_000).map(String::as_str)) {
            Some(nearest) => format!("no file `{shown}`; nearest: {}", excerpt(&nearest, 80)),
            None => format!("no file `{shown}`; list shows what there is"),
        })
    }

    /// Sets the text at a path, if the quotas allow it. True when a file was there.
    pub(super) fn put(&mut self, path: &str, text: String) -> Result<bool, String> {
        let shown = || excerpt(path, 60);
        if self.is_folder(path) {
            return Err(format!("`{}` is a folder; give another name", shown()));
        }
        if let Some(file) = ancestors(path).find(|above| self.texts.contains_key(*above)) {
            return Err(format!("`{}` is a file, so nothing can be in it", excerpt(file, 60)));
        }
        let before = self.texts.get(path).map(|text| text.len() + path.len());
        if before.is_none() && self.texts.len() >= self.config.files {
            return Err(format!("there are {} files, and no more may be; delete one", self.config.files));
        }
        let used = self.used - before.unwrap_or(0) + path.len() + text.len();
        if used > self.config.bytes {
            return Err(format!(
                "that would make {used} bytes, and {} may be; delete something",
                self.config.bytes
            ));
        }
        self.used = used;
        self.texts.insert(path.to_owned(), text);
        Ok(before.is_some())
    }

    pub(super) fn delete(&mut self, path: &str) -> Result<(), String> {
        self.get(path)?;
        if let Some(text) = self.texts.remove(path) {
            self.used -= text.len() + path.len();
        }
        Ok(())
    }

    /// The files at and below a path; all of them below the empty one.
    pub(super) fn below<'f>(&'f self, path: &'f str) -> impl Iterator<Item = (&'f str, &'f str)> {
        let inside = move |name: &str| {
            path.is_empty()
                || name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let all = self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        all.filter(move |(name, _)| inside(name))
    }

    fn is_folder(&self, path: &str) -> bool {
        let from = format!("{path}/");
        let mut after = self.texts.range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded));
        after.next().is_some_and(|(name, _)| name.starts_with(&from))
    }
}

/// The folders that a path is in.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}
