//! A judge on disk: what it consults, and how that came to be.
//!
//! ```text
//! my-judge/  library.toml          what kind of judge it is, how pairs are split, how it is evolved
//!            entries/NAME.toml   the library in use, for people; rewritten with every version
//!            history/0007.toml   one change each, kept or not, with what it did
//!            tested.json         what the last test of a version came to
//!            state.toml          which version is in use, which is the best, how often the test pairs were looked at
//! ```
//! The history is the truth: any version is made again from it. A file is there whole or not at all.

use crate::Tested;
use merit_core::settings::{Writable, from_toml, to_toml};
use merit_evolve::{Change, Entry, EvolveSettings, Library, Phase};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Why a judge's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder holds no judge.
    #[error("{} is no judge: there is no `library.toml` in it; `merit evolve {}` makes one", .0.display(), .0.display())]
    NotAJudge(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    /// There is no such version.
    #[error("there is no version {version}; the last one is {last}")]
    Version {
        /// What was asked for.
        version: usize,
        /// The last version that the folder has.
        last: usize,
    },
    /// Somebody changed the entries by hand.
    #[error(
        "the entries in {} are not those of version {version}: {what}; `merit library commit` makes a version of them, `merit \
         library revert` brings the old ones back",
        path.display()
    )]
    Edited {
        path: PathBuf,
        /// The version in use.
        version: usize,
        /// Which entries differ, in words.
        what: String,
    },
}

/// What is written in `library.toml`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LibraryFile {
    /// How pairs are parted.
    pub split: SplitShares,
    /// How the library is evolved.
    pub evolve: EvolveSettings,
}

/// Shares of the groups of pairs; what is left is for the test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplitShares {
    /// What proposals are made from.
    pub train: f64,
    /// What decides whether they are kept.
    pub validation: f64,
}

impl Default for SplitShares {
    fn default() -> Self {
        Self { train: 0.5, validation: 0.25 }
    }
}

impl LibraryFile {
    pub fn check(&self) -> Result<(), String> {
        let SplitShares { train, validation } = self.split;
        if !(train > 0.0 && validation > 0.0 && train + validation < 1.0) {
            return Err(format!(
                "`split` gives {train} to training and {validation} to validation; both must be above 0, and something must be \
                 left for the test"
            ));
        }
        self.evolve.check().map_err(|refusal| format!("`evolve`: {refusal}"))
    }
}

/// What is written in `state.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The version in use.
    pub version: usize,
    /// The version that was most right on the validation pairs.
    pub best: usize,
    /// How often the test pairs were looked at.
    pub looks: usize,
}

/// A judge's folder, open.
#[derive(Debug, Clone)]
pub struct JudgeFolder {
    path: PathBuf,
    pub file: LibraryFile,
    /// The version in use, and the best one.
    pub state: State,
    /// Everything that was tried, by version.
    pub changes: Vec<Change>,
}

impl JudgeFolder {
    /// Makes a folder with an empty library, unless there is one.
    pub fn create(path: &Path, file: &LibraryFile) -> Result<(), FolderError> {
        let to = path.join("library.toml");
        if to.exists() {
            return Ok(());
        }
        for folder in [path.to_owned(), path.join("entries"), path.join("history")] {
            std::fs::create_dir_all(&folder).map_err(|error| wrong(&folder, error))?;
        }
        write(&to, file)
    }

    /// Opens a folder and reads its history.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        if !path.join("library.toml").is_file() {
            return Err(FolderError::NotAJudge(path.to_owned()));
        }
        let file: LibraryFile = read(&path.join("library.toml"))?;
        file.check().map_err(|why| FolderError::File { path: path.join("library.toml"), why })?;
        let state = path.join("state.toml");
        let state = if state.exists() { read(&state)? } else { State::default() };
        let mut changes: Vec<Change> = Vec::new();
        loop {
            let next = path.join("history").join(format!("{:04}.toml", changes.len()));
            if !next.exists() {
                break;
            }
            changes.push(read(&next)?);
        }
        Ok(Self { path: path.to_owned(), file, state, changes })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of its folder; `judge` where the path ends in none.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(|| "judge".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The library of a version: the kept edits from the beginning on.
    pub fn library(&self, version: usize) -> Result<Library, FolderError> {
        let last = self.changes.len().saturating_sub(1);
        if version > last || (self.changes.is_empty() && version > 0) {
            return Err(FolderError::Version { version, last });
        }
        let mut line = Vec::new();
        let mut at = version;
        while let Some(change) = self.changes.get(at) {
            line.push(change);
            if change.version == 0 || change.parent >= change.version {
                break;
            }
            at = change.parent;
        }
        let mut library = Library::default();
        for change in line.into_iter().rev() {
            let path = self.path.join("history").join(format!("{:04}.toml", change.version));
            library = library
                .edited(&change.edits)
                .map_err(|error| FolderError::File { path, why: error.to_string() })?;
        }
        Ok(library)
    }

    /// The library in use; refused where somebody changed the entries by hand.
    pub fn in_use(&self) -> Result<Library, FolderError> {
        let library = self.library(self.state.version)?;
        let entries = self.entries()?;
        let edits = library.diff(&entries);
        match edits.first() {
            None => Ok(library),
            Some(edit) => Err(FolderError::Edited {
                path: self.path.clone(),
                version: self.state.version,
                what: format!("`{}` differs", edit.id()),
            }),
        }
    }

    /// The entries as they lie on disk.
    pub fn entries(&self) -> Result<Library, FolderError> {
        let folder = self.path.join("entries");
        let mut edits = Vec::new();
        let listed = std::fs::read_dir(&folder).map_err(|error| wrong(&folder, error))?;
        let mut files: Vec<PathBuf> = listed.filter_map(|file| Some(file.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
        files.sort();
        for file in files {
            let id = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let entry: Entry = read(&file)?;
            edits.push(merit_evolve::Edit::Add { id, entry });
        }
        Library::default()
            .edited(&edits)
            .map_err(|error| FolderError::File { path: folder, why: error.to_string() })
    }

    /// Adds a change to the history. It is numbered here.
    pub fn record(&mut self, mut change: Change, parent: usize) -> Result<usize, FolderError> {
        change.version = self.changes.len();
        change.parent = parent;
        let path = self.path.join("history").join(format!("{:04}.toml", change.version));
        write(&path, &change)?;
        self.changes.push(change);
        Ok(self.changes.len() - 1)
    }

    /// Puts a version in use: its entries are written, and the state names it.
    pub fn use_version(&mut self, version: usize) -> Result<(), FolderError> {
        let library = self.library(version)?;
        let folder = self.path.join("entries");
        for (id, entry) in library.entries() {
            write(&folder.join(format!("{id}.toml")), entry)?;
        }
        self.state.version = version;
        self.write_state()?;
        // What is not of this version goes last: a kill before leaves too much, which is noticed, and never too little.
        let listed = std::fs::read_dir(&folder).map_err(|error| wrong(&folder, error))?;
        for file in listed.filter_map(|file| Some(file.ok()?.path())) {
            let id = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if library.get(&id).is_none() {
                std::fs::remove_file(&file).map_err(|error| wrong(&file, error))?;
            }
        }
        Ok(())
    }

    /// Keeps what came of a test of a version.
    pub fn keep_test(&mut self, version: usize, tested: &Tested) -> Result<(), FolderError> {
        self.state.looks += 1;
        self.write_state()?;
        write_text(
            &self.path.join("tested.json"),
            &format!("{}\n", json!({ "version": version, "tested": tested })),
        )
    }

    /// What came of the last test, and of which version. Absent: there was none.
    pub fn last_test(&self) -> Result<Option<(usize, Tested)>, FolderError> {
        #[derive(Deserialize)]
        struct Kept {
            version: usize,
            tested: Tested,
        }
        let path = self.path.join("tested.json");
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(&path, error))?;
        let kept: Kept = serde_json::from_str(&text).map_err(|error| wrong(&path, error))?;
        Ok(Some((kept.version, kept.tested)))
    }

    /// Writes `state.toml`: the version in use, the best one, and how often the test pairs were looked at.
    pub fn write_state(&self) -> Result<(), FolderError> {
        write(&self.path.join("state.toml"), &self.state)
    }

    /// A change that a person makes: the edits from the version in use to `library`.
    pub fn by_hand(&mut self, library: &Library, phase: Phase, why: &str) -> Result<usize, FolderError> {
        let before = self.library(self.state.version)?;
        let change = Change {
            version: 0,
            parent: 0,
            phase,
            edits: before.diff(library),
            before: None,
            after: None,
            gated: None,
            kept: true,
            calls: 0,
            why: why.to_owned(),
        };
        let version = self.record(change, self.state.version)?;
        self.use_version(version)?;
        Ok(version)
    }
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> FolderError {
    FolderError::File { path: path.to_owned(), why: error.to_string() }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    let text = std::fs::read_to_string(path).map_err(|error| wrong(path, error))?;
    from_toml(&text).map_err(|error| wrong(path, error))
}

/// Writes beside the place first, so that a file is there whole or not at all.
fn write(path: &Path, value: &dyn Writable) -> Result<(), FolderError> {
    write_text(path, &to_toml(value).map_err(|error| wrong(path, error))?)
}

fn write_text(path: &Path, text: &str) -> Result<(), FolderError> {
    let beside = path.with_extension("part");
    let mut file = std::fs::File::create(&beside).map_err(|error| wrong(&beside, error))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| wrong(&beside, error))?;
    std::fs::rename(&beside, path).map_err(|error| wrong(path, error))
}
