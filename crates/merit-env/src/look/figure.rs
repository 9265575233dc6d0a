//! A picture of a few objects as code words, a caption that tells the same, and a question that takes two steps.
//!
//! An object is a colour and a shape. In the picture it is one of two code words that stand for both; a caption names it. `twice ring
//! and red` asks for two times the rings and the reds together, in its last digit; `what` asks for the name of a single object.

use merit_core::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const COLOURS: [&str; 3] = ["red", "blue", "gold"];
pub(super) const SHAPES: [&str; 3] = ["ring", "box", "star"];
/// Two for each colour and shape.
const CODES: [&str; 18] = [
    "ka", "ke", "ki", "ko", "ku", "na", "ne", "ni", "no", "nu", "ta", "te", "ti", "to", "tu", "va", "ve",
    "vi",
];
const SIDE: usize = 3;
pub(super) const MAX_OBJECTS: u32 = 4;

/// How a scene is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// The scene in words, without a picture.
    Text,
    /// A caption beside the picture.
    Caption,
    /// The picture, without words about it.
    Image,
    /// An empty picture: a probe of what is answered without seeing.
    Blank,
    /// Each task in one of the first three ways; where an object is to be named, the picture alone.
    Any,
}

/// The puzzle of a task about a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Colour and shape of each object, by their places in `COLOURS` and `SHAPES`.
    pub objects: Vec<[u8; 2]>,
    /// The cell of each object in the picture, and which of its two code words is there.
    pub cells: Vec<u8>,
    pub codes: Vec<u8>,
    /// The shape that counts twice and the colour that counts once. Absent: the one object is to be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<[u8; 2]>,
    pub channel: Channel,
}

impl Figure {
    /// A single object is to be named with the chance `named`. What is counted is 0, 1, 2 or more equally often, so that a guess is
    /// worth little.
    pub(super) fn draw(objects: u32, named: f64, channel: Channel, rng: &mut Stream) -> Self {
        let wanted = rng.below(4) as usize;
        let name = objects == 1 && rng.chance(named);
        let mut figure = Self::any(objects, name, channel, rng);
        while figure.ask.is_some_and(|ask| figure.counted(ask).min(3) != wanted) {
            figure = Self::any(objects, name, channel, rng);
        }
        figure
    }

    fn any(objects: u32, name: bool, channel: Channel, rng: &mut Stream) -> Self {
        let mut places: Vec<u8> = (0..(SIDE * SIDE) as u8).collect();
        rng.shuffle(&mut places);
        let any = |rng: &mut Stream, count: usize| rng.below(count as u64) as u8;
        let objects: Vec<[u8; 2]> =
            (0..objects).map(|_| [any(rng, COLOURS.len()), any(rng, SHAPES.len())]).collect();
        let codes = objects.iter().map(|_| any(rng, 2)).collect();
        let ask = [any(rng, SHAPES.len()), any(rng, COLOURS.len())];
        let shown = [Channel::Text, Channel::Caption, Channel::Image][usize::from(any(rng, 3))];
        let channel = match channel {
            Channel::Any if name => Channel::Image,
            Channel::Any => shown,
            fixed => fixed,
        };
        let cells = places[..objects.len()].to_vec();
        Self { objects, cells, codes, ask: (!name).then_some(ask), channel }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let count = self.objects.len();
        let known =
            |pair: &[u8; 2], of: [usize; 2]| pair.iter().zip(of).all(|(at, of)| usize::from(*at) < of);
        let apart =
            |(at, cell): (usize, &u8)| usize::from(*cell) < SIDE * SIDE && !self.cells[..at].contains(cell);
        let sound = (1..=MAX_OBJECTS as usize).contains(&count)
            && self.objects.iter().all(|one| known(one, [COLOURS.len(), SHAPES.len()]))
            && self.cells.len() == count
            && self.cells.iter().enumerate().all(apart)
            && self.codes.len() == count
            && self.codes.iter().all(|code| *code < 2)
            && self.channel != Channel::Any
            && self.ask.map_or(count == 1, |ask| known(&ask, [SHAPES.len(), COLOURS.len()]));
        if sound {
            Ok(())
        } else {
            Err("its objects, cells, codes and question do not fit together".to_owned())
        }
    }

    fn caption(&self) -> String {
        self.objects.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn picture(&self, blank: bool) -> String {
        let cell = |cell: usize| {
            let at = self.cells.iter().position(|place| usize::from(*place) == cell).filter(|_| !blank);
            at.map_or(".", |at| code(self.objects[at], self.codes[at]))
        };
        let row =
            |row: usize| (0..SIDE).map(|column| cell(row * SIDE + column)).collect::<Vec<_>>().join(" ");
        (0..SIDE).map(row).collect::<Vec<_>>().join(" / ")
    }

    pub(super) fn prompt(&self) -> String {
        let shown = match self.channel {
            Channel::Text => self.caption(),
            Channel::Caption => format!("{}, {}", self.caption(), self.picture(false)),
            Channel::Image => self.picture(false),
            Channel::Blank | Channel::Any => self.picture(true),
        };
        match self.ask.map(|ask| ask.map(usize::from)) {
            Some([shape, colour]) => format!("{shown}, twice {} and {}", SHAPES[shape], COLOURS[colour]),
            None => format!("{shown}, what"),
        }
    }

    pub(super) fn right(&self) -> String {
        match self.ask {
            Some(ask) => (self.counted(ask) % 10).to_string(),
            None => self.objects.first().map(name).unwrap_or_default(),
        }
    }

    /// Two times the shape and the colour together.
    fn counted(&self, [shape, colour]: [u8; 2]) -> usize {
        let count = |at: usize, one: u8| self.objects.iter().filter(|object| object[at] == one).count();
        2 * count(1, shape) + count(0, colour)
    }

    /// A guess at what is counted; names are not guessed.
    pub(super) fn guess(&self, rng: &mut Stream) -> Option<String> {
        let most = 3 * self.objects.len() as u64;
        self.ask.map(|_| rng.below(most.min(9) + 1).to_string())
    }

    pub(super) fn is_answer(said: &str) -> bool {
        let named = said
            .split_once(' ')
            .is_some_and(|(colour, shape)| COLOURS.contains(&colour) && SHAPES.contains(&shape));
        named || (said.len() == 1 && said.bytes().all(|digit| digit.is_ascii_digit()))
    }
}

fn name([colour, shape]: &[u8; 2]) -> String {
    format!("{} {}", COLOURS[usize::from(*colour)], SHAPES[usize::from(*shape)])
}

fn code([colour, shape]: [u8; 2], variant: u8) -> &'static str {
    CODES[2 * (SHAPES.len() * usize::from(colour) + usize::from(shape)) + usize::from(variant)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_scene_in_every_channel_and_its_answer_by_hand() {
        // A red ring, a red box and a gold ring: two rings twice are four, two reds make six.
        let figure = Figure {
            objects: vec![[0, 0], [0, 1], [2, 0]],
            cells: vec![4, 0, 8],
            codes: vec![0, 1, 1],
            ask: Some([0, 0]),
            channel: Channel::Caption,
        };
        assert_eq!(figure.check(), Ok(()));
        let shown = |channel| Figure { channel, ..figure.clone() }.prompt();
        assert_eq!(shown(Channel::Text), "red ring, red box, gold ring, twice ring and red");
        assert_eq!(shown(Channel::Image), "ko . . / . ka . / . . to, twice ring and red");
        assert_eq!(shown(Channel::Blank), ". . . / . . . / . . ., twice ring and red");
        assert!(shown(Channel::Caption).starts_with("red ring, red box, gold ring, ko . . /"));
        assert_eq!(figure.right(), "6");
        // Four golden stars: eight and four, in the last digit.
        let many = Figure { objects: vec![[2, 2]; 4], ask: Some([2, 2]), ..figure.clone() };
        assert_eq!(many.right(), "2");
        let one = Figure { objects: vec![[1, 2]], cells: vec![3], codes: vec![0], ask: None, ..figure };
        assert_eq!((one.check(), one.right().as_str()), (Ok(()), "blue star"));
        assert!(Figure::is_answer("blue star") && Figure::is_answer("7"));
        assert!(!Figure::is_answer("12") && !Figure::is_answer("star blue"));
    }
}
