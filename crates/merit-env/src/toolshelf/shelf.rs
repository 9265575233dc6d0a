//! The tools on a shelf, what they take and give, and requests for them.

use merit_core::{Seed, Stream};
use serde::{Deserialize, Serialize};

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
const UNITS: [&str; 5] = ["cup", "pound", "yard", "hour", "crate"];
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
fn part(which: usize, place: u8, other: bool) -> &'static str {
    let words = PARTS.get(which).and_then(|words| words.get(usize::from(place)));
    words.map_or("", |(word, synonym)| if other { synonym } else { word })
}

/// The tools of a shelf, those that are asked for most first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    /// All of them; a tool is known by its place here.
    pub tools: Vec<Tool>,
    /// Whether tools are named by numbers, and not by words.
    pub numbered: bool,
}

impl Shelf {
    /// The shelf of this number: always the same one. No two tools have the same domain, verb and object.
    pub fn new(shelf: u64, count: u32, numbered: bool) -> Self {
        let mut rng = Seed::root(shelf).child("shelf", 0).stream();
        let mut places: Vec<u32> = (0..1000).collect();
        // Only as much of a shuffle as there are tools. A larger shelf begins like a smaller one.
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
        Self { tools: places.into_iter().take(count as usize).map(tool).collect(), numbered }
    }

    /// The tool at a place.
    pub fn tool(&self, place: u32) -> Option<&Tool> {
        self.tools.get(place as usize)
    }

    /// The name of a tool: its four words, or a number that tells nothing about it.
    pub fn name(&self, place: u32) -> String {
        if self.numbered {
            return number_of(place).to_string();
        }
        self.tool(place).map(words_of).unwrap_or_default()
    }

    /// The tool of this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        if self.numbered {
            let number = name.parse::<u32>().ok().filter(|number| number.to_string() == name)?;
            return (0..self.tools.len() as u32).find(|place| number_of(*place) == number);
        }
        let (parts, unit) = named(name)?;
        self.tools.iter().position(|tool| tool.parts == parts && tool.unit == unit).map(|place| place as u32)
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
        if self.numbered {
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
            Some(words_of(&tool)).filter(|name| self.find(name).is_none())
        };
        (0..200).find_map(other).unwrap_or_else(|| "none".to_owned())
    }

    /// How many tools a request could mean that says all but these parts of a tool.
    fn meant(&self, tool: &Tool, left_out: Option<u8>) -> usize {
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

/// The parts and the unit that four words name.
fn named(name: &str) -> Option<([u8; 3], u8)> {
    let mut words = name.split(' ');
    let mut parts = [0; 3];
    for (known, part) in PARTS.iter().zip(&mut parts) {
        let word = words.next()?;
        *part = known.iter().position(|(known, _)| *known == word)? as u8;
    }
    let unit = words.next()?;
    let unit = UNITS.iter().position(|known| *known == unit)? as u8;
    words.next().is_none().then_some((parts, unit))
}

/// The number by which the tool at a place is named: different for every place below 1000.
fn number_of(place: u32) -> u32 {
    (place * 7 + 3) % 1000
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The place of the tool on the shelf.
    pub tool: u32,
    /// Whether domain, verb and object are said by their other words.
    pub other_words: [bool; 3],
    /// Whether the unit is left out.
    pub vague: bool,
    /// The part that is left out as well, where the others still mean one tool: 0 the domain, 1 the verb, 2 the object.
    pub left_out: Option<u8>,
}

/// The puzzle of a task: tools to be used one after the other, each on what the one before gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errand {
    /// What is asked for, in order; 1 to 3.
    pub needs: Vec<Need>,
    /// What the first tool is given, 1 to 9.
    pub number: u32,
    /// The size that every tool is given which takes one.
    pub size: u8,
}

impl Errand {
    /// Draws needs for `size` tools of a shelf.
    pub fn draw(size: u32, shelf: &Shelf, [vague, synonyms, skew]: [f64; 3], rng: &mut Stream) -> Self {
        let weights: Vec<f64> = (0..shelf.tools.len()).map(|rank| (rank as f64 + 1.0).powf(-skew)).collect();
        let all: f64 = weights.iter().sum();
        let need = |_| {
            let mut left = rng.unit() * all;
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let tool = drawn.unwrap_or_default() as u32;
            let other_words = [0; 3].map(|_| rng.chance(synonyms));
            let vague = rng.chance(vague);
            let mut parts = [0_u8, 1, 2];
            rng.shuffle(&mut parts);
            let unique = |part: &u8| shelf.tool(tool).is_some_and(|tool| shelf.meant(tool, Some(*part)) == 1);
            let left_out = parts.into_iter().find(unique).filter(|_| vague);
            Need { tool, other_words, vague, left_out }
        };
        let needs = (0..size).map(need).collect();
        Self { needs, number: 1 + rng.below(9) as u32, size: rng.below(SIZES.len() as u64) as u8 }
    }

    /// The lines that each tool takes and what it gives, in order.
    pub fn course(&self, shelf: &Shelf) -> Vec<(u32, String, u32)> {
        let mut number = self.number;
        let step = |need: &Need| {
            let arguments = shelf.tool(need.tool)?.takes.given(number, self.size);
            number = shelf.run(need.tool, &arguments)?;
            Some((need.tool, arguments, number))
        };
        self.needs.iter().filter_map(step).collect()
    }

    /// What is asked for; the same words in another order where it is shifted.
    pub fn said(&self, shelf: &Shelf, shifted: bool) -> String {
        let need = |need: &Need| {
            let Some(tool) = shelf.tool(need.tool) else { return String::new() };
            let word = |at: u8| {
                let at = usize::from(at);
                Some(part(at, tool.parts[at], need.other_words[at]))
                    .filter(|_| need.left_out != Some(at as u8))
            };
            let act: Vec<&str> = [word(1), word(2)].into_iter().flatten().collect();
            let unit = UNITS.get(usize::from(tool.unit)).filter(|_| !need.vague);
            let place = word(0).map(|word| format!("at {word}"));
            let unit = unit.map(|unit| format!("by {unit}"));
            let act = Some(act.join(" "));
            let said = if shifted { [unit, place, act] } else { [act, place, unit] };
            said.into_iter().flatten().collect::<Vec<String>>().join(" ")
        };
        let needs: Vec<String> = self.needs.iter().map(need).collect();
        let given = Takes::NumSize.given(self.number, self.size);
        if shifted {
            format!("for {given} need {}", needs.join(" then "))
        } else {
            format!("need {} for {given}", needs.join(" then "))
        }
    }

    /// What is wrong with an errand that comes from a file.
    pub fn check(&self, size: u32, shelf: &Shelf) -> Result<(), String> {
        if self.needs.len() != size as usize || !(1..=3).contains(&size) {
            return Err(format!("{} tools are needed, its size is {size}", self.needs.len()));
        }
        if !(1..=9).contains(&self.number) || usize::from(self.size) >= SIZES.len() {
            return Err("it gives a number or a size that there is not".to_owned());
        }
        for need in &self.needs {
            let Some(tool) = shelf.tool(need.tool) else {
                return Err(format!("tool {} is needed, but the shelf has {}", need.tool, shelf.tools.len()));
            };
            let left_out =
                need.left_out.filter(|part| *part > 2 || !need.vague || shelf.meant(tool, Some(*part)) != 1);
            if let Some(part) = left_out {
                return Err(format!("part {part} is left out, and what remains does not mean one tool"));
            }
        }
        Ok(())
    }
}
