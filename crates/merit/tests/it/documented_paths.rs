//! Every path that a document names is one of the repository.

use merit_testing::root;
use std::path::Path;

/// What looks like such a path and is none: files that merit or its users write, and words.
const ELSEWHERE: &[&str] = &[
    ".cache/",
    "/",
    "adapter/",
    "gain.toml",
    "gated.toml",
    "import.toml",
    "judge.toml",
    "library.toml",
    "memory.toml",
    "merit/TERM",
    "merit_world.py",
    "results/NAME.md",
    "reward.toml",
    "runs/lab/",
];

/// Every file and folder below `folder`, as `above` and its name; nothing hidden, and nothing that is built or run.
fn walk(folder: &Path, above: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let made = above.is_empty() && ["target", "runs"].contains(&name.as_str());
        if made || name.starts_with('.') {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{above}{name}/"), found);
        }
        found.push(format!("{above}{name}"));
    }
}

/// The documents that a reader begins with, and those of `docs/`, by their paths.
fn documents(paths: &[String]) -> Vec<&str> {
    let docs = paths.iter().filter(|path| path.starts_with("docs/") && path.matches('/').count() == 1);
    let docs = docs.filter(|path| path.ends_with(".md")).map(String::as_str);
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].into_iter().chain(docs).collect()
}

/// The lines outside of fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    })
}

/// Whether what stands between backticks is meant as a path: it ends as one does, or begins with a folder at the top, a crate, or a
/// folder that every crate has.
fn is_path(name: &str, paths: &[String]) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
    let ends = [".rs", ".toml", ".md", ".py", "/"].iter().any(|end| name.ends_with(end));
    let begins = name.split_once('/').is_some_and(|(first, _)| {
        ["src", "tests"].contains(&first)
            || paths.iter().any(|path| path.strip_prefix("crates/").unwrap_or(path) == first)
    });
    plain && (ends || begins)
}

/// Whether a file or folder has this path, or one that ends so: a paragraph about a crate names its files alone.
fn is_there(name: &str, paths: &[String]) -> bool {
    let name = name.trim_end_matches('/');
    let is_tail = |path: &String| path.strip_suffix(name).is_some_and(|h| h.is_empty() || h.ends_with('/'));
    paths.iter().any(is_tail)
}

#[test]
fn every_path_that_a_document_names_is_there() {
    let mut paths = Vec::new();
    walk(&root(), "", &mut paths);
    paths.sort();
    let (mut named, mut wrong, mut idle) = (0, Vec::new(), ELSEWHERE.to_vec());
    for document in documents(&paths) {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let folder = root().join(document).parent().unwrap().to_owned();
        for (number, line) in prose(&text) {
            for name in line.split('`').skip(1).step_by(2).filter(|name| is_path(name, &paths)) {
                named += 1;
                idle.retain(|other| *other != name);
                if !ELSEWHERE.contains(&name) && !is_there(name, &paths) {
                    wrong.push(format!("{document}:{number}: `{name}`"));
                }
            }
            let links = line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
            for link in links.filter(|link| !link.contains("://") && !link.starts_with('#')) {
                named += 1;
                if !folder.join(link.split('#').next().unwrap_or(link)).exists() {
                    wrong.push(format!("{document}:{number}: ({link})"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "the repository has no\n{}", wrong.join("\n"));
    assert!(idle.is_empty(), "no document has {idle:?} any more");
    assert!(named > 400, "only {named} paths were found");
}
