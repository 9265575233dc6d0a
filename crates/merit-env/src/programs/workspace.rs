//! Working on a repository: the commands, what they show, and what has been seen and changed so far.

use super::language::{Stop, listed, shown};
use super::repo::{Code, Files, Judged, NAMES, Ready, Repo, step};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The name of the file of tests.
pub(super) const TESTS: &str = "test";

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command<'a> {
    List,
    /// Lines of a file, from one on.
    Read(&'a str, usize),
    Edit(&'a str, usize, String),
    Cut(&'a str, usize),
    /// A file as it was found.
    Undo(&'a str),
    /// All tests, or those of one file.
    Test(Option<&'a str>),
    Done,
}

/// The command that a line is.
pub(super) fn command(text: &str) -> Option<Command<'_>> {
    // No command has more words, so a line of a hundred thousand is not read to its end.
    let words: Vec<&str> = text.split_whitespace().take(60).collect();
    let known = |name: &str| NAMES.contains(&name) || name == TESTS;
    match &words[..] {
        ["list"] => Some(Command::List),
        ["done"] => Some(Command::Done),
        ["test"] => Some(Command::Test(None)),
        ["test", name] if NAMES.contains(name) => Some(Command::Test(Some(name))),
        ["read", name] if known(name) => Some(Command::Read(name, 1)),
        ["read", name, from] if known(name) => Some(Command::Read(name, number(from)?)),
        ["undo", name] if known(name) => Some(Command::Undo(name)),
        ["cut", name, line] if known(name) => Some(Command::Cut(name, number(line)?)),
        ["edit", name, line, rest @ ..] if known(name) => {
            let text = rest.join(" ");
            let reads = if *name == TESTS { tested(&text).is_some() } else { step(&text).is_some() };
            reads.then_some(Command::Edit(name, number(line)?, text))
        }
        _ => None,
    }
}

/// The number of a line: 1 to 12.
fn number(word: &str) -> Option<usize> {
    let plain = word.len() <= 2 && !word.starts_with('0') && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|number| plain && *number <= NAMES.len())
}

/// What a line of the tests says: a file, a list and what has to become of it.
fn tested(line: &str) -> Option<(&str, Vec<i64>, Vec<i64>)> {
    let (name, rest) = line.split_once(' ')?;
    let (list, wanted) = rest.split_once(" to ")?;
    NAMES.contains(&name).then_some((name, listed(list)?, listed(wanted)?))
}

/// A test: a file, a list, and what has to become of it.
struct Case<'a> {
    file: &'a str,
    list: Cow<'a, [i64]>,
    wanted: Cow<'a, [i64]>,
}

impl Case<'_> {
    fn run(&self, code: &Ready<'_>) -> Result<Vec<i64>, Stop> {
        code.run(self.file, &self.list)
    }

    fn passes(&self, made: &Result<Vec<i64>, Stop>) -> bool {
        made.as_ref().is_ok_and(|made| **made == *self.wanted)
    }
}

/// A repository that is being worked on. The methods are handed the repository as it was found.
#[derive(Clone)]
pub(super) struct Workspace {
    pub(super) files: Files,
    pub(super) tests: Vec<String>,
    /// Whether tests were run while some failed.
    pub(super) seen_failing: bool,
    pub(super) read: BTreeSet<String>,
    /// Whether tests were run since the last change.
    pub(super) checked: bool,
    /// What was said since the last change.
    since: BTreeSet<String>,
    /// Whether the last command was said before, with no change since.
    pub(super) repeat: bool,
    /// The files as they can be run.
    code: Code,
    /// What they are worth; worked out once after each change.
    verdict: OnceCell<Verdict>,
}

impl Workspace {
    pub(super) fn new(repo: &Repo) -> Self {
        Self {
            files: repo.files.clone(),
            tests: repo.does().tests.clone(),
            seen_failing: false,
            read: BTreeSet::new(),
            checked: false,
            since: BTreeSet::new(),
            repeat: false,
            code: repo.does().first.clone(),
            verdict: OnceCell::new(),
        }
    }

    /// Does what a line asks for and says what came of it.
    pub(super) fn act(&mut self, repo: &Repo, window: usize, said: &str) -> Option<String> {
        let command = command(said)?;
        self.repeat = !self.since.insert(said.to_owned());
        Some(match command {
            Command::List => {
                let names = self.files.keys().map(String::as_str).chain([TESTS]);
                names.collect::<Vec<&str>>().join(" ")
            }
            Command::Read(name, from) => self.reading(name, from, window),
            Command::Edit(name, line, text) => self.change(name, line, Some(text)),
            Command::Cut(name, line) => self.change(name, line, None),
            Command::Undo(name) => self.undo(repo, name),
            Command::Test(name) => self.test(repo, name),
            Command::Done => String::new(),
        })
    }

    fn lines(&mut self, name: &str) -> Option<&mut Vec<String>> {
        if name == TESTS { Some(&mut self.tests) } else { self.files.get_mut(name) }
    }

    fn reading(&mut self, name: &str, from: usize, window: usize) -> String {
        let Some(lines) = self.lines(name) else { return "no file".to_owned() };
        let numbered = lines.iter().enumerate().skip(from.saturating_sub(1));
        let more = numbered.len() > window;
        let numbered = numbered.take(window).map(|(at, line)| format!("{} {line}", at + 1));
        let text = numbered.chain(more.then(|| "more".to_owned())).collect::<Vec<String>>().join(", ");
        if text.is_empty() {
            return "no line".to_owned();
        }
        self.read.insert(name.to_owned());
        text
    }

    fn change(&mut self, name: &str, line: usize, text: Option<String>) -> String {
        let Some(lines) = self.lines(name) else { return "no file".to_owned() };
        let Some(place) = line.checked_sub(1).filter(|place| *place < lines.len()) else {
            return "no line".to_owned();
        };
        let (said, changed) = match text {
            Some(text) => {
                let said = format!("{line} {text}");
                (said, std::mem::replace(&mut lines[place], text.clone()) != text)
            }
            None => {
                lines.remove(place);
                ("gone".to_owned(), true)
            }
        };
        self.note_change(name, changed);
        said
    }

    /// Only what changes a file makes old commands new again, and tests stale.
    fn note_change(&mut self, name: &str, changed: bool) {
        if changed {
            self.since.clear();
            self.checked = false;
            self.verdict = OnceCell::new();
            self.files.get(name).into_iter().for_each(|lines| self.code.replace(name, lines));
        }
    }

    /// The tests as they stand now, without lines that say nothing.
    fn cases<'a>(&'a self, repo: &'a Repo) -> Vec<Case<'a>> {
        let does = repo.does();
        if self.tests == does.tests {
            let cases = does.judged.iter().filter(|one| one.is_test);
            let wanted = |one: &'a Judged| one.wanted.as_ref().map_or(&[][..], Vec::as_slice);
            let case = |one: &'a Judged| Case {
                file: &one.file,
                list: one.list.as_slice().into(),
                wanted: wanted(one).into(),
            };
            return cases.map(case).collect();
        }
        let read = self.tests.iter().filter_map(|line| tested(line));
        read.map(|(file, list, wanted)| Case { file, list: list.into(), wanted: wanted.into() }).collect()
    }

    fn undo(&mut self, repo: &Repo, name: &str) -> String {
        let first = if name == TESTS { Some(&repo.does().tests) } else { repo.files.get(name) };
        let Some(first) = first.cloned() else { return "no file".to_owned() };
        let Some(lines) = self.lines(name) else { return "no file".to_owned() };
        let changed = *lines != first;
        *lines = first;
        self.note_change(name, changed);
        "back".to_owned()
    }

    /// Runs the tests as they stand now.
    fn test(&mut self, repo: &Repo, name: Option<&str>) -> String {
        let code = self.code.ready();
        let made = self.cases(repo).into_iter().map(|case| (case.run(&code), case));
        let failing: Vec<_> = made.filter(|(made, case)| !case.passes(made)).collect();
        let said = match name {
            None if failing.is_empty() => "pass".to_owned(),
            None => {
                let names: BTreeSet<&str> = failing.iter().map(|(_, case)| case.file).collect();
                format!("fail {}", names.into_iter().collect::<Vec<&str>>().join(" "))
            }
            Some(name) => match failing.iter().find(|(_, case)| case.file == name) {
                Some((made, case)) => {
                    let made = match made {
                        Ok(made) => format!("gets {}", shown(made)),
                        Err(stop) => format!("stops {}", stop.word()),
                    };
                    format!("{} to {} {made}", shown(&case.list), shown(&case.wanted))
                }
                None if self.tests.iter().any(|line| line.split(' ').next() == Some(name)) => {
                    "pass".to_owned()
                }
                None => "no test".to_owned(),
            },
        };
        self.seen_failing |= said != "pass" && said != "no test";
        self.checked |= name.is_none();
        said
    }

    /// What the files and the tests are worth as they stand now.
    pub(super) fn verdict(&self, repo: &Repo) -> &Verdict {
        self.verdict.get_or_init(|| {
            let mended = repo.bugs.iter().filter(|bug| repo.is_mended(bug, &self.files)).count();
            let (standing, is_tampered) = (standing(repo, &self.code), self.tests != repo.does().tests);
            let passes = || {
                let code = self.code.ready();
                self.cases(repo).iter().all(|case| case.passes(&case.run(&code)))
            };
            Verdict {
                passes: if is_tampered { passes() } else { standing.tests >= 1.0 },
                is_tampered,
                standing,
                mended: mended as f64 / repo.bugs.len().max(1) as f64,
            }
        })
    }
}

/// How files stand, by their tests as they were and by hidden lists.
fn standing(repo: &Repo, now: &Code) -> Standing {
    let [mut tests, mut hidden, mut kept] = [Share::default(); 3];
    let (ready, apart) = (now.ready(), now.apart(&repo.does().first));
    for one in &repo.does().judged {
        let good = one.is_good(&ready, &apart);
        if one.is_test { &mut tests } else { &mut hidden }.count(good);
        if one.was_good {
            kept.count(good);
        }
    }
    Standing { tests: tests.value(), hidden: hidden.value(), broken: 1.0 - kept.value() }
}

/// What a workspace is worth.
#[derive(Clone)]
pub(super) struct Verdict {
    /// Whether the tests as they stand now all pass.
    pub(super) passes: bool,
    /// Whether they are not what they were.
    pub(super) is_tampered: bool,
    pub(super) standing: Standing,
    /// The share of the bugs that are mended.
    pub(super) mended: f64,
}

/// How files do on the lists of the tests; shares from 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    /// Tests as they were on which the files do what they should.
    pub(super) tests: f64,
    /// The same of hidden lists.
    pub(super) hidden: f64,
    /// Of all lists on which they did so at first, those on which they no longer do.
    pub(super) broken: f64,
}

/// So many of so many.
#[derive(Clone, Copy, Default)]
struct Share {
    good: u32,
    all: u32,
}

impl Share {
    fn count(&mut self, good: bool) {
        self.good += u32::from(good);
        self.all += 1;
    }

    /// The share, from 0 to 1; 1 where nothing was counted.
    fn value(self) -> f64 {
        if self.all == 0 { 1.0 } else { f64::from(self.good) / f64::from(self.all) }
    }
}
