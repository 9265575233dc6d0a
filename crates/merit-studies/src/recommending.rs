//! A recommender as a policy: which item of those at hand, what to claim of it, and whether to close the wrapper.

use crate::chooser::{Choice, Chooser};
use crate::worlds::recommender::{ATTRIBUTES, CLAIMS, Catalogue, Item, Reply, User};
use merit_core::Stream;

/// Items at hand.
pub const AT_HAND: usize = 20;
// Features: a match of history and item by attribute; so many constraints that the item does not meet; the kinds of claims; the wrapper.
/// The feature of an item that meets every constraint; those of one, two and more unmet ones follow.
pub const UNMET: usize = ATTRIBUTES;
const WELCOME: usize = UNMET + 4;
const PLAIN: usize = WELCOME + 1;
/// The feature of a claim that is not true.
pub const INVENTED: usize = PLAIN + 1;
/// The feature of a wrapper that is closed.
pub const CLOSED: usize = INVENTED + 1;
const OPEN: usize = CLOSED + 1;

/// A user who asks for what it likes, and the items at hand: those that meet most of the query, ties by lot.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    pub user: &'a User,
    query: Vec<(usize, u64)>,
    /// The items at hand, those that meet most of the query first.
    pub items: Vec<Item>,
}

impl<'a> Case<'a> {
    /// `None` of a catalogue without users.
    pub fn draw(catalogue: &'a Catalogue, stream: &mut Stream) -> Option<Self> {
        let user = catalogue.user(stream)?;
        let query = user.asks(stream);
        let mut order = catalogue.items.clone();
        stream.shuffle(&mut order);
        let unmet = |item: &Item| query.iter().filter(|(a, value)| item[*a] != *value).count();
        order.sort_by_key(unmet);
        order.truncate(AT_HAND);
        Some(Self { user, query, items: order })
    }

    fn prefer_item(&self, item: &Item) -> Vec<usize> {
        let liked = (0..ATTRIBUTES).filter(|a| item[*a] == self.user.history[*a]);
        let unmet = self.query.iter().filter(|(a, value)| item[*a] != *value).count();
        liked.chain([UNMET + unmet.min(3)]).collect()
    }

    /// What can be said of the attributes not yet spoken of: what is true, and what the user would like to hear.
    fn sayings(&self, item: &Item, said: &[(usize, u64)]) -> Vec<(usize, u64)> {
        let free = (0..ATTRIBUTES).filter(|a| said.iter().all(|(spoken, _)| spoken != a));
        let both = |a: usize| {
            let wished = (item[a] != self.user.history[a]).then_some((a, self.user.history[a]));
            [Some((a, item[a])), wished].into_iter().flatten()
        };
        free.flat_map(both).collect()
    }
}

/// The policy at the start: any item, mostly true claims, a wrapper closed in four of five replies.
pub fn template() -> Chooser {
    let mut policy = Chooser::new(OPEN + 1);
    (policy.weights[WELCOME], policy.weights[PLAIN], policy.weights[CLOSED]) = (2.0, 2.0, 4.0_f64.ln());
    policy
}

/// A reply that is drawn, and the decisions that made it.
pub fn recommend(policy: &Chooser, case: &Case<'_>, stream: &mut Stream) -> (Reply, Vec<Choice>) {
    let mut path = Vec::new();
    let mut decide = |candidates: Vec<Vec<usize>>| {
        let choice = policy.choose(candidates, false, stream);
        let chosen = choice.chosen;
        path.push(choice);
        chosen
    };
    let chosen = decide(case.items.iter().map(|item| case.prefer_item(item)).collect());
    let item = case.items.get(chosen).copied().unwrap_or_default();
    let mut claims: Vec<(usize, u64)> = Vec::new();
    for _ in 0..CLAIMS {
        let sayings = case.sayings(&item, &claims);
        let kind = |(a, value): &(usize, u64)| match (item[*a] == *value, case.user.history[*a] == *value) {
            (true, true) => vec![WELCOME],
            (true, false) => vec![PLAIN],
            (false, _) => vec![INVENTED],
        };
        let chosen = decide(sayings.iter().map(kind).collect());
        claims.extend(sayings.get(chosen));
    }
    let closed = decide(vec![vec![CLOSED], vec![OPEN]]) == 0;
    (Reply { history: case.user.history, query: case.query.clone(), item, claims, closed }, path)
}
