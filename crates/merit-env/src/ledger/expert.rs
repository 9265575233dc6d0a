//! Plays a ledger task with a running total: right, or wrong in one of three manners.
//!
//! In: the purchase and the turns so far. Out: the next line. The exact manner reads only what the tools answered, so it also
//! gets through refusals and time-outs: a line without an answer is said again.

use super::purchase::PRICES;
use super::{Entry, Kind, Purchase, Sign, sql, words};
use merit_api::ExpertTurn;
use merit_core::{Message, Role, Seed};

/// How an episode is played, from its first turn to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Manner {
    /// Every price looked up, every sum computed: right.
    Exact,
    /// Answers after the first entry although entries remain; with a single entry there is nothing to skip.
    Hasty,
    /// Never looks up and invents the prices.
    Guesser,
    /// Drops the count or flips the sign in one of its sums.
    Careless,
    /// Errs in each entry one time in five, so that more entries are harder. Never drawn: it is asked for by name.
    Sloppy,
}

/// How often each bad manner is drawn, where an episode is not played right; the weights add up to 1.
///
/// Haste dominates because it is the fault that practice can cure: the hasty agent does everything right and stops early.
pub const MANNER_WEIGHTS: [(Manner, f64); 3] =
    [(Manner::Hasty, 0.8), (Manner::Guesser, 0.1), (Manner::Careless, 0.1)];

/// How often a sloppy agent errs in an entry.
const SLOPPY: f64 = 0.2;

/// The manners by name, in the order of [`Manner`].
pub(super) const NAMED: &[merit_api::Manner] = &[
    merit_api::Manner::new("exact", "Every price looked up, every sum computed: right."),
    merit_api::Manner::new("hasty", "Answers after the first entry although entries remain."),
    merit_api::Manner::new("guesser", "Never looks up and invents the prices."),
    merit_api::Manner::new("careless", "Drops the count or flips the sign in one of its sums."),
    merit_api::Manner::new("sloppy", "Errs in each entry one time in five."),
];

impl Manner {
    /// The manner of this name. Absent: there is none.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Exact, Self::Hasty, Self::Guesser, Self::Careless, Self::Sloppy];
        NAMED.iter().position(|manner| manner.name == name).map(|at| all[at])
    }

    /// The manner of the episode that `seed` belongs to: exact with probability `p_correct`.
    pub fn drawn(p_correct: f64, seed: &Seed) -> Self {
        let mut stream = seed.child("manner", 0).stream();
        if stream.chance(p_correct) {
            return Self::Exact;
        }
        let mut left = stream.unit();
        for (manner, weight) in MANNER_WEIGHTS {
            left -= weight;
            if left < 0.0 {
                return manner;
            }
        }
        Self::Careless
    }
}

/// What a demonstration has learned so far.
#[derive(Default)]
struct Progress {
    /// The price of the entry at hand, once looked up.
    price: Option<i64>,
    /// The running total after each finished entry.
    totals: Vec<i64>,
}

impl Progress {
    fn after(turns: &[ExpertTurn]) -> Self {
        let mut progress = Self::default();
        for turn in turns {
            let Some(number) = answered(&turn.observed) else { continue };
            match turn.said.split_once(' ') {
                Some(("lookup", _)) => progress.price = Some(number),
                Some(("calc", _)) => {
                    progress.totals.push(number);
                    progress.price = None;
                }
                _ => {}
            }
        }
        progress
    }
}

/// The number a tool answered; a refusal or a time-out is none.
pub(super) fn answered(observed: &[Message]) -> Option<i64> {
    // By some chat templates, tools answer as the user.
    let answer = observed.iter().find(|message| matches!(message.role, Role::Tool | Role::User))?;
    answer.text.trim().parse().ok()
}

/// The next line of a demonstration.
pub(super) fn next_line(purchase: &Purchase, turns: &[ExpertTurn], manner: Manner, seed: &Seed) -> String {
    if purchase.kind().has_words() {
        return words::next_line(purchase, turns, manner, seed);
    }
    let Progress { price, totals } = Progress::after(turns);
    let total = totals.last().copied();
    let entry = match (purchase.entries.get(totals.len()), total) {
        (None, total) => return format!("answer {}", total.unwrap_or_default()),
        (Some(_), Some(total)) if manner == Manner::Hasty => return format!("answer {total}"),
        (Some(entry), _) => entry,
    };
    let position = totals.len() as u64;
    let told = (purchase.kind() == Kind::Calc).then(|| purchase.price(entry));
    let price = match (manner, price.or(told)) {
        (Manner::Guesser, _) => invented_price(entry, total, &seed.child("invented", position)),
        (_, Some(price)) => price,
        (_, None) => return format!("lookup {}", entry.item),
    };
    let sum = if slips(purchase, manner, position, seed) {
        wrong_sum(entry, price, total, seed)
    } else {
        right_sum(entry, price, total)
    };
    format!("calc {sum}")
}

/// Whether this manner errs in the entry at this position.
pub(super) fn slips(purchase: &Purchase, manner: Manner, position: u64, seed: &Seed) -> bool {
    match manner {
        Manner::Careless => seed.child("slip", 0).stream().below(purchase.entries.len() as u64) == position,
        Manner::Sloppy => seed.child("sloppy", position).stream().chance(SLOPPY),
        Manner::Exact | Manner::Hasty | Manner::Guesser => false,
    }
}

fn right_sum(entry: &Entry, price: i64, total: Option<i64>) -> String {
    let count = entry.count;
    match (total, entry.sign) {
        (None, _) => format!("{count}*{price}"),
        (Some(total), Sign::Buy) => format!("{total}+{count}*{price}"),
        (Some(total), Sign::Return) => format!("{total}-{count}*{price}"),
    }
}

/// One mistake that always changes the total and does not itself make it negative.
fn wrong_sum(entry: &Entry, price: i64, total: Option<i64>, seed: &Seed) -> String {
    let flipped =
        Entry { sign: if entry.sign == Sign::Buy { Sign::Return } else { Sign::Buy }, ..entry.clone() };
    let flip = seed.child("slip", 1).stream().chance(0.5);
    match total {
        Some(sum) if flip && sum + flipped.amount(price) >= 0 => right_sum(&flipped, price, total),
        Some(sum) => format!("{sum}{}{price}", if entry.sign == Sign::Buy { '+' } else { '-' }),
        None => price.to_string(),
    }
}

/// A price out of thin air, low enough that the total stays non-negative.
pub(super) fn invented_price(entry: &Entry, total: Option<i64>, seed: &Seed) -> i64 {
    let price = seed.stream().between(PRICES.0, PRICES.1);
    match (entry.sign, total) {
        (Sign::Return, Some(total)) => price.min(total / entry.count.max(1)),
        _ => price,
    }
}

/// The answer the same manner would reach, for a world in which no tool can be asked.
pub(super) fn answer_unaided(purchase: &Purchase, manner: Manner, seed: &Seed) -> String {
    let mut turns: Vec<ExpertTurn> = Vec::new();
    loop {
        let said = next_line(purchase, &turns, manner, seed);
        let answer = match said.split_once(' ') {
            Some(("lookup", item)) => purchase.table.get(item).copied().unwrap_or_default().to_string(),
            Some(("sql", condition)) => sql::asked(&purchase.table, condition).unwrap_or_default().to_owned(),
            // The expert writes sums that can be computed; 0 ends the loop if it ever does not.
            Some(("calc", sum)) => {
                merit_tools::evaluate(sum).map_or_else(|_| "0".to_owned(), |sum| sum.to_string())
            }
            _ => return said,
        };
        turns.push(ExpertTurn { said, observed: vec![Message::new(Role::Tool, answer)] });
    }
}
