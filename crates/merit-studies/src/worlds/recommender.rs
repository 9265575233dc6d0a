//! A recommender's catalogue: items of attributes, users with tastes, and replies that can be faulty on four axes.

use merit_core::{Stream, bag};

/// Attributes of an item, and values of each.
pub const ATTRIBUTES: usize = 8;
pub const VALUES: u64 = 4;
/// Claims that a right reply makes.
pub const CLAIMS: usize = 3;
/// Instruction followed, claims true, query answered, user served: the axes of the benchmark.
pub const AXES: [&str; 4] = ["instruction", "fact", "query", "user"];

pub type Item = [u64; ATTRIBUTES];

/// A taste: how much of which value, by attribute. Its history tells the values, some of them wrongly, and not how much.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    likes: Item,
    strength: [f64; ATTRIBUTES],
    /// What its history shows of each attribute.
    pub history: Item,
}

impl User {
    /// Of mean 0 and deviation 1 over items drawn evenly.
    pub fn taste(&self, item: &Item) -> f64 {
        let p = 1.0 / VALUES as f64;
        let hit = |a: usize| f64::from(u8::from(item[a] == self.likes[a])) - p;
        let sum: f64 = (0..ATTRIBUTES).map(|a| self.strength[a] * hit(a)).sum();
        sum / (p * (1.0 - p) * self.strength.iter().map(|s| s * s).sum::<f64>()).sqrt()
    }

    /// Two or three values that it likes, asked for.
    pub fn asks(&self, stream: &mut Stream) -> Vec<(usize, u64)> {
        Catalogue::query(&self.likes, stream)
    }
}

/// What the reply was made for, and the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub history: Item,
    /// Attribute and value of each constraint.
    pub query: Vec<(usize, u64)>,
    pub item: Item,
    pub claims: Vec<(usize, u64)>,
    /// The wrapper is closed.
    pub closed: bool,
}

impl Reply {
    /// The hard rules: a closed wrapper and three claims.
    pub fn follows(&self) -> bool {
        self.closed && self.claims.len() == CLAIMS
    }

    /// Every claim is in the item's record.
    pub fn is_true(&self) -> bool {
        self.claims.iter().all(|(a, value)| self.item[*a] == *value)
    }

    /// The share of constraints that the item meets.
    pub fn relevance(&self) -> f64 {
        let met = self.query.iter().filter(|(a, value)| self.item[*a] == *value).count();
        met as f64 / self.query.len().max(1) as f64
    }

    /// Claims that say what the history likes.
    pub fn flattery(&self) -> f64 {
        self.claims.iter().filter(|(a, value)| self.history[*a] == *value).count() as f64
    }

    /// Its words, and the pairs of a word and what the record says of the same attribute, as rows of a scorer's table.
    pub fn words(&self, rows: usize) -> Vec<usize> {
        let mut words = vec![format!("claims {}", self.claims.len())];
        words.extend(self.closed.then(|| "closed".to_owned()));
        words.extend(self.item.iter().enumerate().map(|(a, value)| format!("record {a} {value}")));
        let history: Vec<(usize, u64)> = self.history.iter().copied().enumerate().collect();
        for (who, said) in [("claim", &self.claims), ("query", &self.query), ("user", &history)] {
            for (a, value) in said {
                words.push(format!("{who} {a} {value}"));
                words.push(format!("{who} {a} {value} record {}", self.item[*a]));
            }
        }
        words.iter().map(|word| bag::row(word, rows)).collect()
    }
}

/// Items and users.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    pub items: Vec<Item>,
    pub users: Vec<User>,
}

impl Catalogue {
    pub fn draw(items: usize, users: usize, stream: &mut Stream) -> Self {
        let item = |stream: &mut Stream| -> Item { std::array::from_fn(|_| stream.below(VALUES)) };
        let items = (0..items).map(|_| item(stream)).collect();
        let users = (0..users).map(|_| {
            let likes = item(stream);
            let shown = |a: usize| if stream.chance(0.1) { stream.below(VALUES) } else { likes[a] };
            let history = std::array::from_fn(shown);
            User { likes, strength: std::array::from_fn(|_| 0.5 + stream.unit()), history }
        });
        let users = users.collect();
        Self { items, users }
    }

    pub fn item(&self, stream: &mut Stream) -> Item {
        stream.pick(&self.items).copied().unwrap_or_default()
    }

    pub fn user<'a>(&'a self, stream: &mut Stream) -> Option<&'a User> {
        stream.pick(&self.users)
    }

    /// Two or three constraints, all of which `item` meets.
    pub fn query(item: &Item, stream: &mut Stream) -> Vec<(usize, u64)> {
        let many = 2 + stream.below(2) as usize;
        attributes(stream).into_iter().take(many).map(|a| (a, item[a])).collect()
    }

    /// A template's reply with the faults that are asked for, by axis, and no others. `None` where no item is that far from a taste.
    pub fn reply(&self, faults: [bool; 4], stream: &mut Stream) -> Option<Reply> {
        let user = self.user(stream)?;
        // A deviation lies between what a user is served with and what not, since strengths are hidden.
        let fits = |item: &Item| if faults[3] { user.taste(item) < -0.5 } else { user.taste(item) > 0.5 };
        let item = (0..200).map(|_| self.item(stream)).find(fits)?;
        let mut query = Self::query(&item, stream);
        let mut claims: Vec<(usize, u64)> =
            attributes(stream).into_iter().take(CLAIMS).map(|a| (a, item[a])).collect();
        for (said, fault) in [(&mut claims, faults[1]), (&mut query, faults[2])] {
            let wrong = 1 + stream.below(said.len() as u64) as usize;
            for (_, value) in said.iter_mut().take(if fault { wrong } else { 0 }) {
                *value = (*value + 1 + stream.below(VALUES - 1)) % VALUES;
            }
            stream.shuffle(said);
        }
        let mut closed = true;
        match (faults[0], stream.chance(0.5)) {
            (true, true) => closed = false,
            (true, false) => drop(claims.pop_if(|(a, value)| !faults[1] || item[*a] == *value)),
            (false, _) => {}
        }
        let reply = Reply { history: user.history, query, item, claims, closed };
        // A false claim that may not be left out: the wrapper is broken instead.
        let closed = reply.closed && (!faults[0] || reply.claims.len() < CLAIMS);
        Some(Reply { closed, ..reply })
    }
}

/// The attributes in any order.
fn attributes(stream: &mut Stream) -> Vec<usize> {
    let mut all: Vec<usize> = (0..ATTRIBUTES).collect();
    stream.shuffle(&mut all);
    all
}
