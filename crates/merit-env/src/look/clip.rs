//! Three animals over 48 steps of time, seen through noise; what is claimed of them is held against the table.
//!
//! Each animal stays at a place for a stretch of twelve steps. Every fourth step is shown, and some of what is shown is wrong. `cat when
//! dog mill` asks where the cat was in the one stretch in which the dog was at the mill.

use merit_core::Stream;
use serde::{Deserialize, Serialize};

pub const ANIMALS: [&str; 3] = ["cat", "dog", "fox"];
pub const PLACES: [&str; 4] = ["mill", "lake", "barn", "hill"];
/// Stretches of twelve steps.
pub const STRETCHES: usize = 4;
/// Shown steps of a stretch.
const SHOWN: usize = 3;
/// Most claims of an episode.
pub const MAX_CLAIMS: usize = 4;

/// The puzzle of a task about a table in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// The place of each animal in each stretch.
    pub table: [[u8; 3]; STRETCHES],
    /// What is shown: the steps of each animal, stretch by stretch.
    pub shown: Vec<u8>,
    /// The animal that is asked for.
    pub who: u8,
    /// The stretch that is meant.
    pub at: u8,
    /// The animals whose places tell the stretch; where there are none, its number is told.
    pub given: Vec<u8>,
}

/// Who was where in which stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub who: u8,
    pub at: u8,
    pub place: u8,
}

impl Claim {
    /// Reads `saw cat 3 mill`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let place = |known: &[&str], word: &str| known.iter().position(|one| *one == word);
        words.next().filter(|verb| *verb == "saw")?;
        let who = place(&ANIMALS, words.next()?)? as u8;
        let at = words.next()?.parse::<u8>().ok().filter(|at| (1..=STRETCHES as u8).contains(at))? - 1;
        let place = place(&PLACES, words.next()?)? as u8;
        words.next().is_none().then_some(Self { who, at, place })
    }

    pub(super) fn words(&self) -> String {
        let (who, place) = (ANIMALS[usize::from(self.who)], PLACES[usize::from(self.place)]);
        format!("saw {who} {} {place}", self.at + 1)
    }

    pub(super) fn is_known(&self) -> bool {
        usize::from(self.who) < ANIMALS.len()
            && usize::from(self.at) < STRETCHES
            && usize::from(self.place) < PLACES.len()
    }
}

impl Clip {
    pub(super) fn draw(size: u32, corruption: f64, rng: &mut Stream) -> Self {
        let mut table: [[u8; 3]; STRETCHES] =
            std::array::from_fn(|_| std::array::from_fn(|_| rng.below(PLACES.len() as u64) as u8));
        let mut animals = [0, 1, 2];
        rng.shuffle(&mut animals);
        let given: Vec<u8> = animals.iter().copied().skip(1).take(size.saturating_sub(1) as usize).collect();
        let at = rng.below(STRETCHES as u64) as u8;
        let meant = table[usize::from(at)];
        // Only one stretch is meant: where another fits as well, its first given animal is elsewhere.
        for (_, row) in table.iter_mut().enumerate().filter(|(stretch, _)| *stretch != usize::from(at)) {
            let fits = given.iter().all(|who| row[usize::from(*who)] == meant[usize::from(*who)]);
            if let (true, Some(first)) = (fits, given.first()) {
                row[usize::from(*first)] = other(row[usize::from(*first)], rng);
            }
        }
        let seen = table.iter().flatten().flat_map(|place| [*place; SHOWN]);
        let shown =
            seen.map(|place| if rng.chance(corruption) { other(place, rng) } else { place }).collect();
        Self { table, shown, who: animals[0], at, given }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let known = |places: &[u8]| places.iter().all(|place| usize::from(*place) < PLACES.len());
        if !known(self.table.as_flattened()) || !known(&self.shown) {
            return Err(format!("a place is unknown; there are {}", PLACES.len()));
        }
        if self.shown.len() != STRETCHES * ANIMALS.len() * SHOWN {
            return Err(format!("{} steps are shown", self.shown.len()));
        }
        let mut asked: Vec<u8> = self.given.iter().copied().chain([self.who]).collect();
        asked.sort_unstable();
        asked.dedup();
        let all = asked.len() == self.given.len() + 1;
        if !all || asked.last().is_some_and(|last| usize::from(*last) >= ANIMALS.len()) {
            return Err("it asks for an unknown animal or for one twice".to_owned());
        }
        if usize::from(self.at) >= STRETCHES {
            return Err(format!("it means stretch {} of {STRETCHES}", self.at));
        }
        let meant = |stretch: usize| {
            !self.given.is_empty()
                && self.given.iter().all(|who| self.place(stretch, *who) == self.told(*who))
        };
        if (0..STRETCHES).any(|stretch| stretch != usize::from(self.at) && meant(stretch)) {
            return Err("it means more than one stretch".to_owned());
        }
        Ok(())
    }

    fn place(&self, stretch: usize, who: u8) -> u8 {
        self.table[stretch][usize::from(who)]
    }

    /// Where an animal was in the stretch that is meant.
    pub(super) fn told(&self, who: u8) -> u8 {
        self.place(usize::from(self.at), who)
    }

    pub(super) fn right(&self) -> &'static str {
        PLACES[usize::from(self.told(self.who))]
    }

    pub(super) fn prompt(&self) -> String {
        let looks = |(who, seen): (&&str, &[u8])| {
            let places: Vec<&str> = seen.iter().map(|place| PLACES[usize::from(*place)]).collect();
            format!(" {who} {}", places.join(" "))
        };
        let rows = self.shown.chunks(ANIMALS.len() * SHOWN).enumerate().map(|(stretch, row)| {
            let row: String = ANIMALS.iter().zip(row.chunks(SHOWN)).map(looks).collect();
            format!("{}{row}", stretch + 1)
        });
        let given = self
            .given
            .iter()
            .map(|who| format!(" {} {}", ANIMALS[usize::from(*who)], PLACES[usize::from(self.told(*who))]));
        let when = match self.given.is_empty() {
            true => format!("at {}", self.at + 1),
            false => format!("when{}", given.collect::<String>()),
        };
        format!("{}, {} {when}", rows.collect::<Vec<_>>().join(" "), ANIMALS[usize::from(self.who)])
    }

    pub(super) fn is_true(&self, claim: &Claim) -> bool {
        self.place(usize::from(claim.at), claim.who) == claim.place
    }

    /// The claims that the answer needs.
    pub(super) fn needed(&self) -> impl Iterator<Item = Claim> {
        let claim = |who: &u8| Claim { who: *who, at: self.at, place: self.told(*who) };
        self.given.iter().chain([&self.who]).map(claim)
    }

    /// What a fixed reader answers who knows the question and the claims and nothing else: it takes every claim for true, and
    /// says nothing where they do not tell.
    pub(super) fn reader(&self, claims: &[Claim]) -> Option<u8> {
        let meant = |at: u8| match self.given.is_empty() {
            true => at == self.at,
            false => {
                let said = |who: &u8| claims.contains(&Claim { who: *who, at, place: self.told(*who) });
                self.given.iter().all(said)
            }
        };
        let mut told = claims.iter().filter(|claim| claim.who == self.who && meant(claim.at));
        let first = told.next()?.place;
        told.all(|claim| claim.place == first).then_some(first)
    }
}

fn other(place: u8, rng: &mut Stream) -> u8 {
    let count = PLACES.len() as u64;
    ((u64::from(place) + 1 + rng.below(count - 1)) % count) as u8
}
