//! The tools on a shelf, how they are named, and what they take and give.

use super::Names;
use merit_api::Word;
use merit_core::{Seed, Stream};

/// Where tools are for, what they do and to what: each with its word, and another word for it.
const PARTS: [[(&str, &str); 10]; 3] = [
    [
        ("home", "house"),
        ("farm", "field"),
        ("bank", "vault"),
        ("ship", "boat"),
        ("lab", "bench"),
        ("shop", "store"),
        ("camp", "tent"),
        ("mine", "pit"),
        ("park", "green"),
        ("port", "dock"),
    ],
    [
        ("heat", "warm"),
        ("cool", "chill"),
        ("weigh", "mass"),
        ("count", "sum"),
        ("price", "cost"),
        ("clean", "wash"),
        ("cut", "trim"),
        ("pack", "wrap"),
        ("lift", "raise"),
        ("test", "check"),
    ],
    [
        ("soup", "broth"),
        ("grain", "wheat"),
        ("coin", "cash"),
        ("rope", "cord"),
        ("glass", "pane"),
        ("bread", "loaf"),
        ("wool", "fleece"),
        ("stone", "rock"),
        ("lamp", "light"),
        ("fish", "trout"),
    ],
];
pub(super) const UNITS: [&str; 5] = ["cup", "pound", "yard", "hour", "crate"];
/// The sizes that an argument can have.
pub(super) const SIZES: [&str; 3] = ["small", "mid", "big"];
/// Tools that a shelf can have.
pub const MAX_TOOLS: u32 = 500;

/// One tool: its domain, verb and object by place, its unit, and the order of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Domain, verb and object, by their places in the lists of words.
    pub parts: [u8; 3],
    /// By its place in the list of units.
    pub unit: u8,
    /// What it has to be given.
    pub takes: Takes,
}

/// What a tool has to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Num,
    NumSize,
    SizeNum,
}

impl Takes {
    /// As it is written about a tool.
    pub fn words(self) -> &'static str {
        match self {
            Self::Num => "num",
            Self::NumSize => "num size",
            Self::SizeNum => "size num",
        }
    }

    /// The arguments in the order in which they are taken.
    pub fn given(self, number: u32, size: u8) -> String {
        let size = SIZES.get(usize::from(size)).copied().unwrap_or_default();
        match self {
            Self::Num => number.to_string(),
            Self::NumSize => format!("{number} {size}"),
            Self::SizeNum => format!("{size} {number}"),
        }
    }
}

/// A part of a tool in words; `other` for the other word for it.
pub(super) fn part(which: usize, place: u8, other: bool) -> &'static str {
    let words = PARTS.get(which).and_then(|words| words.get(usize::from(place)));
    words.map_or("", |(word, synonym)| if other { synonym } else { word })
}

/// The tools of a shelf, those that are asked for most first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    /// All of them; a tool is known by its place here.
    pub tools: Vec<Tool>,
    pub names: Names,
}

impl Shelf {
    /// The shelf of this number: always the same one. No two tools have the same domain, verb and object.
    pub fn new(shelf: u64, count: u32, names: Names) -> Self {
        let mut rng = Seed::root(shelf).child("shelf", 0).stream();
        let mut places: Vec<u32> = (0..1000).collect();
        // Only as much of a shuffle as there are tools, so that a larger shelf begins like a smaller one.
        for at in 0..(count as usize).min(places.len()) {
            let other = at + rng.below((places.len() - at) as u64) as usize;
            places.swap(at, other);
        }
        let mut rng = Seed::root(shelf).child("shelf", 1).stream();
        let tool = |place: u32| Tool {
            parts: [place / 100, place / 10 % 10, place % 10].map(|digit| digit as u8),
            unit: rng.below(UNITS.len() as u64) as u8,
            takes: [Takes::Num, Takes::NumSize, Takes::SizeNum][rng.below(3) as usize],
        };
        Self { tools: places.into_iter().take(count as usize).map(tool).collect(), names }
    }

    pub fn tool(&self, place: u32) -> Option<&Tool> {
        self.tools.get(place as usize)
    }

    /// The name of a tool: its four words, also as one word, or a number that tells nothing about it.
    pub fn name(&self, place: u32) -> String {
        let name = |tool: &Tool| match self.names {
            Names::Words => words_of(tool),
            Names::Numbers => number_of(place).to_string(),
            Names::Tokens => bracketed(&words_of(tool)),
        };
        self.tool(place).map(name).unwrap_or_default()
    }

    /// The names that are one token each, and the words that they stand for.
    pub(super) fn words(&self) -> Vec<Word> {
        let word = |tool: &Tool| {
            let words = words_of(tool);
            // With the space that is before a word in what is asked, so that it is of the same tokens.
            Word { text: bracketed(&words), of: format!(" {words}") }
        };
        if self.names == Names::Tokens { self.tools.iter().map(word).collect() } else { Vec::new() }
    }

    /// The tool of this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        let inside = || name.strip_prefix('<')?.strip_suffix('>');
        let same = |(place, tool): &(u32, &Tool)| match self.names {
            Names::Words => is_named(tool, name),
            Names::Numbers => number_of(*place).to_string() == name,
            Names::Tokens => inside().is_some_and(|name| is_named(tool, name)),
        };
        (0..).zip(&self.tools).find(same).map(|(place, _)| place)
    }

    /// What is written about a tool.
    pub fn doc(&self, place: u32) -> String {
        let Some(tool) = self.tool(place) else { return String::new() };
        let [domain, verb, object] = [0, 1, 2].map(|at| part(at, tool.parts[at], false));
        let unit = UNITS.get(usize::from(tool.unit)).copied().unwrap_or_default();
        format!("doc to {verb} {object} at {domain} by {unit} takes {}", tool.takes.words())
    }

    /// What a tool gives for its arguments: 10 to 99. Absent where the arguments are not what it takes.
    pub fn run(&self, place: u32, arguments: &str) -> Option<u32> {
        let tool = self.tool(place)?;
        let size = SIZES.iter().position(|size| arguments.split(' ').any(|word| word == *size));
        let number = arguments.split(' ').find_map(|word| word.parse::<u32>().ok())?;
        let size = size.unwrap_or_default() as u8;
        if number > 99 || tool.takes.given(number, size) != arguments {
            return None;
        }
        let named = format!("{} {arguments}", words_of(tool));
        Some(10 + Seed::root(0).child(&named, 0).stream().below(90) as u32)
    }

    /// A tool that is as much like this one as any, and another.
    pub fn neighbour(&self, place: u32, rng: &mut Stream) -> u32 {
        let Some(tool) = self.tool(place) else { return place };
        let alike = |other: &Tool| other.parts.iter().zip(&tool.parts).filter(|(a, b)| a == b).count();
        let others = || self.tools.iter().zip(0_u32..).filter(|(_, at)| *at != place);
        let most = others().map(|(other, _)| alike(other)).max().unwrap_or_default();
        let near: Vec<u32> = others().filter(|(other, _)| alike(other) == most).map(|(_, at)| at).collect();
        rng.pick(&near).copied().unwrap_or(place)
    }

    /// A name like that of a tool which no tool on the shelf has.
    pub fn invented(&self, place: u32, rng: &mut Stream) -> String {
        if self.names == Names::Numbers {
            let taken: Vec<u32> = (0..self.tools.len() as u32).map(number_of).collect();
            let free: Vec<u32> = (0..1000).filter(|number| !taken.contains(number)).collect();
            return rng.pick(&free).copied().unwrap_or_default().to_string();
        }
        let tool = self.tool(place).copied();
        let other = |_| {
            let mut tool = tool?;
            match rng.below(4) as usize {
                at @ 0..=2 => tool.parts[at] = rng.below(10) as u8,
                _ => tool.unit = rng.below(UNITS.len() as u64) as u8,
            }
            let words = words_of(&tool);
            let name = if self.names == Names::Tokens { bracketed(&words) } else { words };
            Some(name).filter(|name| self.find(name).is_none())
        };
        (0..200).find_map(other).unwrap_or_else(|| "none".to_owned())
    }

    /// How many tools a request could mean that says all but these parts of a tool.
    pub(super) fn meant(&self, tool: &Tool, left_out: Option<u8>) -> usize {
        let fits =
            |other: &&Tool| (0..3).all(|at| left_out == Some(at as u8) || other.parts[at] == tool.parts[at]);
        self.tools.iter().filter(fits).count()
    }
}

fn words_of(tool: &Tool) -> String {
    let [domain, verb, object] = [0, 1, 2].map(|at| part(at, tool.parts[at], false));
    let unit = UNITS.get(usize::from(tool.unit)).copied().unwrap_or_default();
    format!("{domain} {verb} {object} {unit}")
}

fn bracketed(words: &str) -> String {
    format!("<{words}>")
}

/// Whether these are the four words of a tool.
fn is_named(tool: &Tool, name: &str) -> bool {
    let mut words = name.split(' ');
    (0..3).all(|at| words.next() == Some(part(at, tool.parts[at], false)))
        && words.next() == UNITS.get(usize::from(tool.unit)).copied()
        && words.next().is_none()
}

/// The number by which the tool at a place is named: different for every place below 1000.
fn number_of(place: u32) -> u32 {
    (place * 7 + 3) % 1000
}
