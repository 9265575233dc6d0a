//! A tiny recipe, the real binary as a process, and what is left of a run when everything that depends on the clock is
//! taken away.

use merit_store::{EpisodeFilter, RunFolder};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The recipe.
pub(crate) const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny/tiny.toml");
/// Episodes of one training step of it.
pub(crate) const PER_STEP: usize = 16;

/// The binary, to be run in `dir` with nothing to read and nobody watching.
pub(crate) fn merit(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_merit"));
    command.current_dir(dir).stdin(Stdio::null()).env_remove("RUST_BACKTRACE").env("COLUMNS", "100");
    command
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// Nothing may ever panic, whatever a command was given.
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) };
        assert!(!said.err.contains("panicked"), "{}", said.err);
        said
    }

    /// The same, when it must have gone well.
    pub(crate) fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// Every line of the output as a JSON object.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        let object = |line: &str| match serde_json::from_str(line) {
            Ok(value @ serde_json::Value::Object(_)) => value,
            other => panic!("not a JSON object ({other:?}): {line}"),
        };
        self.out.lines().map(object).collect()
    }
}

/// Runs `merit ARGUMENTS` in `dir` to its end.
pub(crate) fn say<S: AsRef<OsStr>>(dir: &Path, arguments: impl IntoIterator<Item = S>) -> Said {
    Said::of(&merit(dir).args(arguments).output().unwrap())
}

/// Everything about a finished run that must not depend on threads, kills or clocks.
#[derive(Debug, PartialEq)]
pub(crate) struct Essence {
    /// Bytes of the exported policy, its tokenizer and every file of every checkpoint.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Content hash of every episode.
    pub(crate) episodes: BTreeMap<String, String>,
    /// Score and credit of every episode.
    pub(crate) judged: BTreeMap<String, String>,
    /// Bits of every metric but speed.
    pub(crate) metrics: BTreeMap<String, u64>,
}

/// Reads the essence of the run in `path`.
pub(crate) fn essence(path: &Path) -> Essence {
    let folder = RunFolder::open_read_only(path).unwrap();
    let stored = folder.episodes(&EpisodeFilter::default()).unwrap();
    let name = |e: &merit_store::StoredEpisode| e.scored.episode.id.to_string();
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let judged = |e: &merit_store::StoredEpisode| {
        format!("{:?} {:?}", e.scored.score, e.credit.as_ref().map(|c| bits(&c.advantages)))
    };
    let metrics = folder.metrics().unwrap();
    let metrics = metrics.iter().filter(|m| !m.by_clock());
    Essence {
        files: files(path),
        episodes: stored.iter().map(|e| (name(e), e.scored.episode.content_hash())).collect(),
        judged: stored.iter().map(|e| (name(e), judged(e))).collect(),
        metrics: metrics.map(|m| (format!("{}/{}/{}", m.phase, m.step, m.name), m.value.to_bits())).collect(),
    }
}

fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut paths: Vec<PathBuf> = ["policy.safetensors", "tokenizer.json"].map(|name| run.join(name)).into();
    for checkpoint in std::fs::read_dir(run.join("checkpoints")).unwrap() {
        paths.extend(std::fs::read_dir(checkpoint.unwrap().path()).unwrap().map(|f| f.unwrap().path()));
    }
    let name = |path: &Path| path.strip_prefix(run).unwrap().display().to_string();
    paths.into_iter().map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
}

impl Essence {
    /// Panics with what differs, in words rather than in megabytes.
    pub(crate) fn must_be(&self, other: &Self) {
        assert_eq!(differences(&self.episodes, &other.episodes), [""; 0], "episodes differ");
        assert_eq!(differences(&self.judged, &other.judged), [""; 0], "scores or credits differ");
        assert_eq!(differences(&self.metrics, &other.metrics), [""; 0], "metrics differ");
        assert_eq!(differences(&self.files, &other.files), [""; 0], "files differ");
    }

    /// The file of that name in the newest checkpoint.
    pub(crate) fn newest(&self, name: &str) -> &[u8] {
        let ours = |(path, _): &(&String, &Vec<u8>)| path.ends_with(name) && path.starts_with("checkpoints");
        self.files.iter().rfind(ours).unwrap().1
    }
}

fn differences<V: PartialEq>(a: &BTreeMap<String, V>, b: &BTreeMap<String, V>) -> Vec<String> {
    let names = a.keys().chain(b.keys()).collect::<std::collections::BTreeSet<_>>();
    names.into_iter().filter(|name| a.get(*name) != b.get(*name)).cloned().collect()
}

/// A finished run that nothing disturbed.
pub(crate) struct Reference {
    _dir: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) essence: Essence,
    pub(crate) said: Said,
}

/// The undisturbed run of this test program; made once.
pub(crate) fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("undisturbed");
        let said = say(dir.path(), ["train", RECIPE, "--json", "--run", "undisturbed"]).well();
        Reference { essence: essence(&path), path, said, _dir: dir }
    })
}
