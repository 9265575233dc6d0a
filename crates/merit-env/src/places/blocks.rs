//! Blocks on a table, in towers: the ground of `blocks`.
//!
//! `stack red blue` puts a block that bears nothing on another that bears nothing, `unstack red` puts it on the table. How the towers
//! shall stand is told whole. A block is settled when everything from it down to the table stands as wanted; a shortest play never
//! moves a settled block, settles one whenever it can, and otherwise puts one on the table: which one is searched.

use super::ground::{AtFirst, Ground, Heard, Reply};
use super::home::some;
use super::tour::{Errands, Next, Stop};
use merit_api::Derived;
use merit_core::Stream;
use serde::{Deserialize, Serialize};

pub const HUES: [&str; 6] = ["red", "blue", "green", "white", "black", "brown"];
/// Where a block stands that stands on no other.
const TABLE: u8 = 0;

/// Blocks, how they stand and how they shall stand. For each block: the block that it stands on, from 1 on, or 0 for the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    /// The names of the blocks, in their order, so that a task is written in one way only.
    pub hues: Vec<u8>,
    pub start: Vec<u8>,
    pub goal: Vec<u8>,
    #[serde(skip)]
    pub at_first: Derived<AtFirst>,
}

/// Whether blocks can stand so: none on itself, however far down, and no two on one.
fn stands(on: &[u8]) -> bool {
    let bears = |one: usize| on.iter().filter(|under| usize::from(**under) == one + 1).count();
    let down = |one: usize| {
        let below = |at: &u8| on.get(usize::from(*at).wrapping_sub(1)).copied();
        std::iter::successors(on.get(one).copied(), below).take(on.len() + 1)
    };
    (0..on.len()).all(|one| bears(one) < 2 && down(one).last() == Some(TABLE))
}

impl Blocks {
    /// So many blocks, put one after the other on the table or on the last one.
    pub fn draw(blocks: usize, rng: &mut Stream) -> Self {
        let towers = |rng: &mut Stream| {
            let mut on = vec![TABLE; blocks];
            for pair in some(blocks, blocks, rng).windows(2) {
                on[usize::from(pair[1])] = if rng.chance(0.6) { pair[0] + 1 } else { TABLE };
            }
            on
        };
        let mut hues = some(HUES.len(), blocks, rng);
        hues.sort_unstable();
        Self { hues, start: towers(rng), goal: towers(rng), at_first: Derived::default() }
    }

    /// What is wrong with it; every number that is used as a place is checked here.
    pub fn check(&self) -> Result<(), String> {
        let blocks = self.hues.len();
        let known = self.hues.iter().all(|hue| usize::from(*hue) < HUES.len());
        let named = known && self.hues.is_sorted_by(|one, next| one < next);
        let sound = [
            ("hues", blocks > 0 && named),
            ("blocks", self.start.len() == blocks && stands(&self.start)),
            ("goals", self.goal.len() == blocks && stands(&self.goal)),
        ];
        match sound.iter().find(|(_, sound)| !sound) {
            Some((what, _)) => Err(format!("its {what} do not fit together")),
            None => Ok(()),
        }
    }

    fn name(&self, block: usize) -> &'static str {
        self.hues.get(block).and_then(|hue| HUES.get(usize::from(*hue))).copied().unwrap_or_default()
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.hues.len()
    }

    /// The block on a block.
    fn borne(on: &[u8], block: usize) -> Option<usize> {
        on.iter().position(|under| usize::from(*under) == block + 1)
    }

    /// The topmost block of the tower of a block.
    fn top(on: &[u8], block: usize) -> usize {
        std::iter::successors(Some(block), |at| Self::borne(on, *at)).last().unwrap_or(block)
    }

    fn settled(&self, on: &[u8], block: usize) -> bool {
        let mut at = block;
        while on[at] == self.goal[at] {
            match usize::from(on[at]).checked_sub(1) {
                Some(under) => at = under,
                None => return true,
            }
        }
        false
    }

    /// Whether a block bears nothing and could stand where it shall, for good.
    fn ready(&self, on: &[u8], block: usize) -> bool {
        let to = usize::from(self.goal[block]).checked_sub(1);
        !self.settled(on, block)
            && Self::borne(on, block).is_none()
            && to.is_none_or(|to| self.settled(on, to) && Self::borne(on, to).is_none())
    }

    /// The moves of a shortest play: blocks, and where they go.
    fn way(&self, on: &[u8]) -> Vec<(usize, u8)> {
        let mut on = on.to_vec();
        let mut way = Vec::new();
        while let Some(block) = self.all().find(|block| self.ready(&on, *block)) {
            on[block] = self.goal[block];
            way.push((block, self.goal[block]));
        }
        let loose = |block: &usize| {
            on[*block] != TABLE && Self::borne(&on, *block).is_none() && !self.settled(&on, *block)
        };
        let from = |block: usize| {
            let mut next = on.clone();
            next[block] = TABLE;
            [vec![(block, TABLE)], self.way(&next)].concat()
        };
        way.extend(self.all().filter(loose).map(from).min_by_key(Vec::len).unwrap_or_default());
        way
    }

    fn line(&self, block: usize, to: u8) -> String {
        match usize::from(to).checked_sub(1) {
            Some(to) => format!("stack {} {}", self.name(block), self.name(to)),
            None => format!("unstack {}", self.name(block)),
        }
    }

    /// Towers from the table up, in the order of their lowest blocks.
    fn towers(&self, on: &[u8]) -> Vec<Vec<usize>> {
        let up = |block: usize| std::iter::successors(Some(block), |at| Self::borne(on, *at)).collect();
        self.all().filter(|block| on[*block] == TABLE).map(up).collect()
    }

    fn view(&self, on: &[u8]) -> String {
        let tower =
            |blocks: &Vec<usize>| blocks.iter().map(|one| self.name(*one)).collect::<Vec<_>>().join(" ");
        self.towers(on).iter().map(tower).collect::<Vec<_>>().join(", ")
    }
}

impl Ground for Blocks {
    /// What each block stands on.
    fn start(&self) -> Vec<u8> {
        self.start.clone()
    }

    fn fits(&self, cells: &[u8]) -> bool {
        cells.len() == self.hues.len() && stands(cells)
    }

    fn act(&self, cells: &mut Vec<u8>, said: &str) -> Heard {
        let words: Vec<&str> = said.split_whitespace().collect();
        let (one, to) = match words[..] {
            ["stack", one, to] => (one, Some(to)),
            ["unstack", one] => (one, None),
            _ => return Heard::Unread,
        };
        if ![Some(one), to].iter().flatten().all(|name| HUES.contains(name)) {
            return Heard::Unread;
        }
        let free = |name: &str| {
            let block = self.all().find(|block| self.name(*block) == name);
            block.filter(|block| Self::borne(cells, *block).is_none())
        };
        let place = match to {
            Some(to) => free(to).map(|to| to as u8 + 1),
            None => Some(TABLE),
        };
        match free(one).zip(place) {
            Some((block, place)) if cells[block] != place && usize::from(place) != block + 1 => {
                cells[block] = place;
                Heard::Done
            }
            _ => Heard::Refused,
        }
    }

    fn reply(&self, cells: &[u8], _: &str) -> Reply {
        let over = cells == self.goal;
        Reply { text: if over { "done".to_owned() } else { self.view(cells) }, over }
    }

    fn prompt(&self, cells: &[u8]) -> String {
        format!("want {}. {}", self.view(&self.goal), self.view(cells))
    }

    /// One node without roads: all blocks stand on one table.
    fn roads(&self) -> Vec<Vec<usize>> {
        vec![Vec::new()]
    }

    fn road(&self, _: usize, _: usize) -> String {
        self.line(0, TABLE)
    }

    fn node(&self, _: &[u8]) -> usize {
        0
    }

    /// One chain: the moves of a shortest play.
    fn errands(&self, cells: &[u8]) -> Errands {
        let stop = |(block, to): (usize, u8)| Stop { node: 0, acts: vec![self.line(block, to)] };
        Errands { chains: vec![self.way(cells).into_iter().map(stop).collect()], last: None }
    }

    /// Tower after tower as they are told, from the table up: what is in the way goes to the table.
    fn in_order(&self, cells: &[u8]) -> Option<Next> {
        let block =
            self.towers(&self.goal).into_iter().flatten().find(|block| !self.settled(cells, *block))?;
        let under = usize::from(self.goal[block]).checked_sub(1);
        let tops = [Some(block), under].into_iter().flatten().map(|at| (at, Self::top(cells, at)));
        let (moved, to) = match tops.into_iter().find(|(at, top)| at != top) {
            Some((_, top)) => (top, TABLE),
            None => (block, self.goal[block]),
        };
        Some(Next::Act(self.line(moved, to)))
    }

    fn facts(&self, cells: &[u8]) -> Vec<bool> {
        cells.iter().zip(&self.goal).map(|(on, goal)| on == goal).collect()
    }

    fn knows(&self, _: &[bool], _: usize) -> bool {
        true
    }

    fn acts(&self, cells: &[u8]) -> Vec<String> {
        let places = 0..=self.hues.len() as u8;
        let acts = self.all().flat_map(|block| places.clone().map(move |to| self.line(block, to)));
        acts.filter(|act| self.act(&mut cells.to_vec(), act) == Heard::Done).collect()
    }
}
