//! A small language of programs over lists of numbers, and its interpreter, which counts steps and stops at a limit.
//!
//! A program is words in a row, and each changes the list: `sort take 2 add 3` makes `5 1 4` into `4 7`. `do 3 … end` repeats, `note 2`
//! does nothing and is counted, and other words may be names of what the interpreter is handed. Pure; it knows no world.

/// Words that stand alone.
pub const ALONE: [&str; 12] =
    ["flip", "sort", "neg", "scan", "odd", "even", "twin", "tail", "head", "top", "low", "sum"];
/// Words with a number from 1 to 9 behind them.
pub const NUMBERED: [&str; 7] = ["add", "less", "mul", "mod", "take", "drop", "over"];
/// Words of a program that can be read.
pub const MOST_WORDS: usize = 40;
/// Numbers are from -99 to 99.
pub const LARGEST: i64 = 99;
/// Numbers that a list can hold.
pub const LONGEST: usize = 12;
/// How deep `do` can stand in `do`.
const DEEPEST_LOOP: usize = 3;
/// How deep names can call names.
const DEEPEST_CALL: usize = 12;

/// One step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// One of `ALONE`.
    Alone(&'static str),
    /// One of `NUMBERED`, with its number.
    Numbered(&'static str, i64),
    Do(i64, Vec<Op>),
    Note(i64),
    /// What is called, by its place among the names.
    Call(usize),
}

/// Why a program stops before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It wants a number of an empty list.
    Empty,
    /// A number or a list is too large.
    Large,
    /// It takes too many steps, or names call each other too deep.
    Long,
    /// It calls what there is not.
    Unknown,
}

impl Stop {
    /// The reason in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "none",
            Self::Large => "large",
            Self::Long => "long",
            Self::Unknown => "who",
        }
    }
}

/// Which words there are besides those of the language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// What can be called.
    pub names: &'a [&'a str],
    /// Whether `note` can be said.
    pub notes: bool,
}

impl Words<'_> {
    /// The program that a text is. Absent: none, or a longer one than can be read.
    pub fn read(&self, text: &str) -> Option<Vec<Op>> {
        let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS + 1).collect();
        if words.is_empty() || words.len() > MOST_WORDS {
            return None;
        }
        let mut rest = words.as_slice();
        let program = self.block(&mut rest, 0)?;
        rest.is_empty().then_some(program)
    }

    /// Reads to the end of the text, or of the `do` that was begun.
    fn block(&self, rest: &mut &[&str], depth: usize) -> Option<Vec<Op>> {
        let mut program = Vec::new();
        while let Some((word, after)) = rest.split_first() {
            *rest = after;
            if *word == "end" {
                return (depth > 0 && !program.is_empty()).then_some(program);
            }
            program.push(self.op(word, rest, depth)?);
        }
        (depth == 0).then_some(program)
    }

    fn op(&self, word: &str, rest: &mut &[&str], depth: usize) -> Option<Op> {
        if let Some(known) = ALONE.iter().find(|known| **known == word) {
            return Some(Op::Alone(known));
        }
        if let Some(place) = self.names.iter().position(|name| *name == word) {
            return Some(Op::Call(place));
        }
        let (number, after) = rest.split_first()?;
        let number = digit(number)?;
        *rest = after;
        match word {
            "do" if depth < DEEPEST_LOOP => Some(Op::Do(number, self.block(rest, depth + 1)?)),
            "note" if self.notes => Some(Op::Note(number)),
            _ => NUMBERED.iter().find(|known| **known == word).map(|known| Op::Numbered(known, number)),
        }
    }

    /// A program as it is read.
    pub fn written(&self, program: &[Op]) -> String {
        let word = |op: &Op| match op {
            Op::Alone(word) => (*word).to_owned(),
            Op::Numbered(word, number) => format!("{word} {number}"),
            Op::Do(times, body) => format!("do {times} {} end", self.written(body)),
            Op::Note(number) => format!("note {number}"),
            Op::Call(place) => self.names.get(*place).copied().unwrap_or("who").to_owned(),
        };
        program.iter().map(word).collect::<Vec<String>>().join(" ")
    }
}

/// A number from 1 to 9.
fn digit(word: &str) -> Option<i64> {
    match word.as_bytes() {
        [digit @ b'1'..=b'9'] => Some(i64::from(digit - b'0')),
        _ => None,
    }
}

/// A list as it is shown: its numbers, or `none`.
pub fn shown(list: &[i64]) -> String {
    if list.is_empty() {
        return "none".to_owned();
    }
    list.iter().map(i64::to_string).collect::<Vec<String>>().join(" ")
}

/// The list that is shown so.
pub fn listed(text: &str) -> Option<Vec<i64>> {
    if text.trim() == "none" {
        return Some(Vec::new());
    }
    let list: Option<Vec<i64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    list.filter(|list| !list.is_empty() && fits(list))
}

/// Whether a list is one that a program can hold.
pub fn fits(list: &[i64]) -> bool {
    list.len() <= LONGEST && list.iter().all(|number| (-LARGEST..=LARGEST).contains(number))
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    Program(&'a [Op]),
    /// Lists with what becomes of each; any other becomes an empty one.
    Table(&'a [(Vec<i64>, Vec<i64>)]),
    Missing,
}

/// The interpreter.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// Steps after which a program is stopped. Every word takes one, and one more for each number of the list.
    pub limit: u32,
    /// What the names stand for, in their order.
    pub known: &'a [Known<'a>],
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ran {
    pub list: Vec<i64>,
    /// Steps in all, also inside of what was called.
    pub steps: u32,
    /// Steps outside of what was called.
    pub own_steps: u32,
    /// Numbers that were noted, one bit each.
    pub noted: u32,
}

impl Machine<'_> {
    pub fn run(&self, program: &[Op], list: &[i64]) -> Result<Ran, Stop> {
        if !fits(list) {
            return Err(Stop::Large);
        }
        let mut ran = Ran { list: list.to_vec(), ..Ran::default() };
        self.steps(program, &mut ran, 0)?;
        Ok(ran)
    }

    fn steps(&self, program: &[Op], ran: &mut Ran, depth: usize) -> Result<(), Stop> {
        for op in program {
            let cost = match op {
                Op::Alone(_) | Op::Numbered(..) => 1 + ran.list.len() as u32,
                Op::Do(..) | Op::Note(_) | Op::Call(_) => 1,
            };
            ran.steps += cost;
            ran.own_steps += if depth == 0 { cost } else { 0 };
            if ran.steps > self.limit || depth > DEEPEST_CALL {
                return Err(Stop::Long);
            }
            match op {
                Op::Alone(word) => alone(word, &mut ran.list)?,
                Op::Numbered(word, number) => numbered(word, *number, &mut ran.list),
                Op::Do(times, body) => (0..*times).try_for_each(|_| self.steps(body, ran, depth))?,
                Op::Note(number) => ran.noted |= 1 << (*number).clamp(0, 31),
                Op::Call(place) => match self.known.get(*place) {
                    Some(Known::Program(called)) => self.steps(called, ran, depth + 1)?,
                    Some(Known::Table(table)) => {
                        let row = table.iter().find(|(from, _)| *from == ran.list);
                        let to = row.map_or(&[][..], |(_, to)| to);
                        ran.list.clear();
                        ran.list.extend(to);
                    }
                    Some(Known::Missing) | None => return Err(Stop::Unknown),
                },
            }
            if !fits(&ran.list) {
                return Err(Stop::Large);
            }
        }
        Ok(())
    }
}

fn alone(word: &str, list: &mut Vec<i64>) -> Result<(), Stop> {
    let one = |number: Option<i64>, list: &mut Vec<i64>| {
        let number = number.ok_or(Stop::Empty)?;
        list.clear();
        list.push(number);
        Ok(())
    };
    // Bytes are compared as a tree, texts one after the other.
    match word.as_bytes() {
        b"flip" => list.reverse(),
        b"sort" => list.sort_unstable(),
        b"neg" => list.iter_mut().for_each(|number| *number = -*number),
        b"scan" => {
            let mut sum = 0;
            for number in list {
                sum += *number;
                *number = sum;
            }
        }
        b"odd" => list.retain(|number| number % 2 != 0),
        b"even" => list.retain(|number| number % 2 == 0),
        b"twin" => list.extend_from_within(..),
        b"tail" if list.is_empty() => return Err(Stop::Empty),
        b"tail" => _ = list.remove(0),
        b"head" => return one(list.first().copied(), list),
        b"top" => return one(list.iter().max().copied(), list),
        b"low" => return one(list.iter().min().copied(), list),
        b"sum" => return one(Some(list.iter().sum()), list),
        _ => return Err(Stop::Unknown),
    }
    Ok(())
}

fn numbered(word: &str, by: i64, list: &mut Vec<i64>) {
    fn each(list: &mut [i64], change: impl Fn(i64) -> i64) {
        list.iter_mut().for_each(|number| *number = change(*number));
    }
    match word.as_bytes() {
        b"add" => each(list, |number| number + by),
        b"less" => each(list, |number| number - by),
        b"mul" => each(list, |number| number * by),
        b"mod" => each(list, |number| number.rem_euclid(by.max(1))),
        b"take" => list.truncate(by as usize),
        b"drop" => _ = list.drain(..list.len().min(by as usize)),
        _ => list.retain(|number| *number > by),
    }
}
