//! A small repository: files of a few steps that call one another, a test for each, and one or more bugs. How it is drawn, and what
//! it does as it stands and as it should.

use super::exercise::any;
use super::language::{Known, Machine, NUMBERED, Op, Stop, Words, fits, shown};
use merit_api::Derived;
use merit_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names that files have, in the order in which they are listed.
pub const NAMES: [&str; 12] =
    ["ant", "bat", "cow", "dog", "elk", "fox", "hen", "jay", "owl", "pig", "ram", "yak"];
/// Lines that a file can have.
const MOST_LINES: usize = 8;
/// Lists that are only for the judgement, for each file.
const HIDDEN: usize = 3;
/// Steps after which a file is stopped.
const STEPS: u32 = 600;
/// Words that files are drawn of, besides those with a number.
const QUIET: [&str; 4] = ["flip", "sort", "neg", "scan"];

pub(super) type Files = BTreeMap<String, Vec<String>>;

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repo {
    /// The lines of each file as they are found, bugs and all.
    pub files: Files,
    pub bugs: Vec<Bug>,
    /// The file whose failing test is reported.
    pub issue: String,
    /// The list on which each file is tested.
    pub tests: BTreeMap<String, Vec<i64>>,
    /// Lists on which each file is judged besides.
    pub hidden: BTreeMap<String, Vec<Vec<i64>>>,
    /// What it does; asked for once its files and bugs are there.
    #[serde(skip)]
    kept: Derived<Does>,
}

/// What a repository does as it should and as it was found.
pub(super) struct Does {
    right: Files,
    pub(super) code: Code,
    /// As it was found.
    pub(super) first: Code,
    /// The lines of its tests.
    pub(super) tests: Vec<String>,
    pub(super) judged: Vec<Judged>,
}

/// A list by which a file is judged.
pub(super) struct Judged {
    pub(super) file: String,
    pub(super) list: Vec<i64>,
    pub(super) is_test: bool,
    /// What should become of it.
    pub(super) wanted: Result<Vec<i64>, Stop>,
    /// Whether that became of it at first.
    pub(super) was_good: bool,
}

impl Judged {
    /// Whether its file does what it should in other code than the first; `apart` has the files that may do something else there.
    pub(super) fn is_good(&self, now: &Ready<'_>, apart: &[bool; NAMES.len()]) -> bool {
        match place_of(&self.file) {
            Ok(place) if !apart[place] => self.was_good,
            _ => now.run(&self.file, &self.list) == self.wanted,
        }
    }
}

/// A line of a file that was made wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// What the line should be. Empty: it should not be there.
    pub right: String,
}

/// The words that a line may have.
pub(super) const WORDS: Words<'static> = Words { names: &NAMES, notes: false };

/// The single step that a line is.
pub(super) fn step(line: &str) -> Option<Op> {
    WORDS.read(line).filter(|program| program.len() == 1).and_then(|mut program| program.pop())
}

/// Files that can be run.
#[derive(Clone)]
pub(super) struct Code {
    /// By the place of their names; absent where there is no such file.
    programs: [Option<Vec<Op>>; NAMES.len()],
}

/// The program of lines. Those that cannot be read do nothing; a repository that was checked has none.
fn program(lines: &[String]) -> Vec<Op> {
    lines.iter().filter_map(|line| step(line)).collect()
}

fn place_of(file: &str) -> Result<usize, Stop> {
    NAMES.iter().position(|name| *name == file).ok_or(Stop::Unknown)
}

/// Whether a step calls one of the marked files.
fn calls(op: &Op, marked: &[bool]) -> bool {
    match op {
        Op::Call(place) => marked.get(*place).is_some_and(|marked| *marked),
        Op::Do(_, body) => body.iter().any(|op| calls(op, marked)),
        Op::Alone(_) | Op::Numbered(..) | Op::Note(_) => false,
    }
}

impl Code {
    pub(super) fn of(files: &Files) -> Self {
        Self { programs: NAMES.map(|name| files.get(name).map(|lines| program(lines))) }
    }

    /// The program of a file in place of the one it had.
    pub(super) fn replace(&mut self, file: &str, lines: &[String]) {
        if let Ok(place) = place_of(file) {
            self.programs[place] = Some(program(lines));
        }
    }

    /// The files that may do something else than in the other code, by their places: those that differ, and those that call them.
    pub(super) fn apart(&self, other: &Self) -> [bool; NAMES.len()] {
        let mut apart = std::array::from_fn(|place| self.programs[place] != other.programs[place]);
        loop {
            let before = apart;
            for (apart, program) in apart.iter_mut().zip(&self.programs) {
                *apart |= program.iter().flatten().any(|op| calls(op, &before));
            }
            if apart == before {
                return apart;
            }
        }
    }

    /// The same, ready to be run on many lists.
    pub(super) fn ready(&self) -> Ready<'_> {
        let mut known = [Known::Missing; NAMES.len()];
        for (known, program) in known.iter_mut().zip(&self.programs) {
            if let Some(program) = program {
                *known = Known::Program(program);
            }
        }
        Ready(known)
    }

    /// Whether every line of its files could be read.
    fn is_whole(&self, files: &Files) -> bool {
        files.iter().all(|(name, lines)| {
            let program = place_of(name).ok().and_then(|place| self.programs[place].as_ref());
            program.is_some_and(|program| program.len() == lines.len())
        })
    }

    /// What a file makes of a list.
    pub(super) fn run(&self, file: &str, list: &[i64]) -> Result<Vec<i64>, Stop> {
        self.ready().run(file, list)
    }

    /// What a file makes of each list.
    pub(super) fn runs<'a>(
        &self,
        file: &str,
        lists: impl IntoIterator<Item = &'a Vec<i64>>,
    ) -> Vec<Result<Vec<i64>, Stop>> {
        let ready = self.ready();
        lists.into_iter().map(|list| ready.run(file, list)).collect()
    }
}

/// Files that are about to be run.
pub(super) struct Ready<'a>([Known<'a>; NAMES.len()]);

impl Ready<'_> {
    /// What a file makes of a list.
    pub(super) fn run(&self, file: &str, list: &[i64]) -> Result<Vec<i64>, Stop> {
        let call = [Op::Call(place_of(file)?)];
        Machine { limit: STEPS, known: &self.0 }.run(&call, list).map(|ran| ran.list)
    }
}

impl Repo {
    pub(super) fn does(&self) -> &Does {
        self.kept.get_or(|| {
            let right = self.right();
            let first = Code::of(&self.files);
            let mut code = first.clone();
            for bug in &self.bugs {
                right.get(&bug.file).into_iter().for_each(|lines| code.replace(&bug.file, lines));
            }
            let (ready, ready_first, apart) = (code.ready(), first.ready(), code.apart(&first));
            let line = |(name, list): (&String, &Vec<i64>)| {
                let wanted = ready.run(name, list).unwrap_or_default();
                format!("{name} {} to {}", shown(list), shown(&wanted))
            };
            let tests: Vec<String> = self.tests.iter().map(line).collect();
            let lists = self.hidden.iter().flat_map(|(name, lists)| {
                let test = self.tests.get(name).map(|list| (name, list, true));
                test.into_iter().chain(lists.iter().map(move |list| (name, list, false)))
            });
            let judged = lists.map(|(name, list, is_test)| {
                let wanted = ready.run(name, list);
                let same = place_of(name).is_ok_and(|place| !apart[place]);
                let was_good = same || ready_first.run(name, list) == wanted;
                Judged { file: name.clone(), list: list.clone(), is_test, wanted, was_good }
            });
            let judged = judged.collect();
            Does { judged, tests, right, first, code }
        })
    }

    /// Draws a repository of `size` files of at most `lines` lines, with this many bugs in different files.
    pub(super) fn draw(size: usize, bugs: usize, lines: usize, rng: &mut Stream) -> Self {
        loop {
            let mut order = NAMES;
            rng.shuffle(&mut order);
            let mut repo = Self {
                files: Files::new(),
                bugs: Vec::new(),
                issue: String::new(),
                tests: BTreeMap::new(),
                hidden: BTreeMap::new(),
                kept: Derived::default(),
            };
            // The first calls no other, each of the others mostly one of the two before it.
            let order = order.get(..size).unwrap_or(&order);
            let drawn = (0..order.len()).all(|at| repo.add_file(order, at, lines, rng));
            if drawn && repo.add_bugs(order, bugs, rng) && repo.check().is_ok() {
                return repo;
            }
        }
    }

    /// Adds a file that may call those before it; false where chance finds none that is sound.
    fn add_file(&mut self, order: &[&str], at: usize, lines: usize, rng: &mut Stream) -> bool {
        let Some(name) = order.get(at) else { return false };
        (0..200).any(|_| {
            let count = 2 + rng.below(lines.saturating_sub(1) as u64) as usize;
            let mut body: Vec<String> = (0..count).map(|_| WORDS.written(&[quiet(rng)])).collect();
            let near = order.get(at.saturating_sub(2)..at).unwrap_or_default();
            if let Some(called) = rng.pick(near).filter(|_| rng.chance(0.95)) {
                let place = rng.below(count as u64) as usize;
                body.splice(place..=place, [(*called).to_owned()]);
            }
            let lists: Vec<Vec<i64>> = (0..=HIDDEN).map(|_| list(rng)).collect();
            self.files.insert((*name).to_owned(), body);
            let found = self.is_sound(name, &lists);
            if found {
                self.tests.insert((*name).to_owned(), lists[0].clone());
                self.hidden.insert((*name).to_owned(), lists[1..].to_vec());
            }
            found
        })
    }

    /// Whether a file makes something of every list, and every line of it matters on some.
    fn is_sound(&self, name: &str, lists: &[Vec<i64>]) -> bool {
        let made = Code::of(&self.files).runs(name, lists);
        let count = self.files.get(name).map_or(0, Vec::len);
        let idle = |line: usize| {
            let mut files = self.files.clone();
            files.get_mut(name).map(|lines| lines.remove(line));
            Code::of(&files).runs(name, lists) == made
        };
        made.iter().all(|made| made.as_ref().is_ok_and(|list| !list.is_empty())) && !(0..count).any(idle)
    }

    /// Puts bugs into files; false where one would not be noticed.
    fn add_bugs(&mut self, order: &[&str], bugs: usize, rng: &mut Stream) -> bool {
        let mut places: Vec<&str> = order.to_vec();
        rng.shuffle(&mut places);
        let all = places.iter().take(bugs).all(|file| (0..50).any(|_| self.add_bug(file, rng)));
        // Callers stand behind those they call: the last that fails is the farthest from its cause.
        let failing = self.failing(&self.files);
        if let Some(issue) = order.iter().rev().find(|name| failing.contains(*name)) {
            self.issue = (*issue).to_owned();
        }
        all
    }

    /// Puts a bug into a file, if its test notices: a line changed, or one too many.
    fn add_bug(&mut self, file: &str, rng: &mut Stream) -> bool {
        let Some(lines) = self.files.get(file) else { return false };
        let (mut broken, extra) = (lines.clone(), rng.chance(0.25));
        let place = rng.below((lines.len() + usize::from(extra)) as u64) as usize;
        let right = if extra {
            broken.insert(place, WORDS.written(&[quiet(rng)]));
            String::new()
        } else {
            let Some(line) = broken.get_mut(place) else { return false };
            let wrong = match step(line) {
                Some(Op::Numbered(word, number)) if rng.chance(0.6) => {
                    let by = if rng.chance(0.5) { 1 } else { -1 } * rng.between(1, 3);
                    Op::Numbered(word, (number + by).clamp(1, 9))
                }
                Some(Op::Call(_)) | None => return false,
                Some(_) => quiet(rng),
            };
            std::mem::replace(line, WORDS.written(&[wrong]))
        };
        let Some(test) = self.tests.get(file) else { return false };
        let before = Code::of(&self.files).run(file, test);
        let mut files = self.files.clone();
        files.insert(file.to_owned(), broken);
        let noticed = Code::of(&files).run(file, test) != before;
        if noticed {
            self.files = files;
            self.bugs.push(Bug { file: file.to_owned(), line: place + 1, right });
        }
        noticed
    }

    /// The files as they should be.
    pub(super) fn right(&self) -> Files {
        let mut files = self.files.clone();
        for bug in &self.bugs {
            let Some(lines) = files.get_mut(&bug.file) else { continue };
            let Some(place) = bug.line.checked_sub(1).filter(|place| *place < lines.len()) else { continue };
            if bug.right.is_empty() {
                lines.remove(place);
            } else {
                lines[place].clone_from(&bug.right);
            }
        }
        files
    }

    /// The files whose own test fails, as the tests were.
    pub(super) fn failing(&self, files: &Files) -> Vec<&str> {
        let (right, now) = (&self.does().code, Code::of(files));
        let fails = |(name, list): &(&String, &Vec<i64>)| right.run(name, list) != now.run(name, list);
        self.tests.iter().filter(fails).map(|(name, _)| name.as_str()).collect()
    }

    /// Whether the bug of a file is mended: the file, with all others as they should be, does what it should.
    pub(super) fn is_mended(&self, bug: &Bug, files: &Files) -> bool {
        let Does { code, judged, .. } = self.does();
        let (Some(lines), Ok(place)) = (files.get(&bug.file), place_of(&bug.file)) else { return true };
        let (mut ready, mixed) = (code.ready(), program(lines));
        ready.0[place] = Known::Program(&mixed);
        let mut own = judged.iter().filter(|one| one.file == bug.file);
        own.all(|one| ready.run(&one.file, &one.list) == one.wanted)
    }

    /// What is wrong with a repository that comes from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        let keys = |map: &BTreeMap<String, Vec<i64>>| map.keys().cloned().collect::<Vec<String>>();
        let names: Vec<String> = self.files.keys().cloned().collect();
        if keys(&self.tests) != names || self.hidden.keys().cloned().collect::<Vec<String>>() != names {
            return Err("its tests are of other files than it has".to_owned());
        }
        if let Some((name, lists)) =
            self.hidden.iter().find(|(_, lists)| !(1..=HIDDEN).contains(&lists.len()))
        {
            return Err(format!("{name} is judged by {} lists; give 1 to {HIDDEN}", lists.len()));
        }
        let Does { right, judged, code, first, .. } = self.does();
        let unread = !first.is_whole(&self.files) || !code.is_whole(right);
        for (name, lines) in self.files.iter().chain(right) {
            if !NAMES.contains(&name.as_str()) || lines.len() > MOST_LINES {
                return Err(format!("a file `{name}` of {} lines", lines.len()));
            }
            if let Some(line) = lines.iter().find(|line| unread && step(line).is_none()) {
                return Err(format!("`{line}` in {name} is no step of the language"));
            }
        }
        let tests = judged.iter().filter(|one| one.is_test);
        for one in tests.chain(judged.iter().filter(|one| !one.is_test)) {
            if !fits(&one.list) || one.list.is_empty() || one.wanted.is_err() {
                return Err(format!("{} does not run as it should be", one.file));
            }
        }
        let failing: Vec<&str> =
            judged.iter().filter(|one| one.is_test && !one.was_good).map(|one| one.file.as_str()).collect();
        let unseen = |bug: &&Bug| {
            let lines = self.files.get(&bug.file).map_or(0, Vec::len);
            !(1..=lines).contains(&bug.line) || !failing.contains(&bug.file.as_str())
        };
        let doubled = |(at, bug): (usize, &Bug)| self.bugs[..at].iter().any(|other| other.file == bug.file);
        match self.bugs.iter().find(unseen) {
            Some(bug) => Err(format!("no test notices the bug in {}", bug.file)),
            None if self.bugs.is_empty() => Err("it has no bug".to_owned()),
            None if self.bugs.iter().enumerate().any(doubled) => Err("two bugs in one file".to_owned()),
            None if !failing.contains(&self.issue.as_str()) => {
                Err("the test that is reported does not fail".to_owned())
            }
            None => Ok(()),
        }
    }
}

/// A step that seldom empties a list or makes it too large.
fn quiet(rng: &mut Stream) -> Op {
    loop {
        let op = if rng.chance(0.35) { rng.pick(&QUIET).map(|word| Op::Alone(word)) } else { Some(any(rng)) };
        match op {
            Some(Op::Numbered("over" | "mul", 4..)) => {}
            Some(op @ Op::Alone(word)) if QUIET.contains(&word) => return op,
            Some(op @ Op::Numbered(word, _)) if NUMBERED.contains(&word) => return op,
            _ => {}
        }
    }
}

fn list(rng: &mut Stream) -> Vec<i64> {
    let length = 3 + rng.below(2);
    (0..length).map(|_| rng.between(0, 9)).collect()
}
