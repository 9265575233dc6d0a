//! What a recommendation was worth: whether it is right, was looked at, and what is true of what is said about it.

use super::super::flag;
use super::Visit;
use super::request::Wish;

/// What a recommendation was worth; nothing before there is one.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) exists: bool,
    pub(super) hard_share: f64,
    pub(super) grounded: bool,
    pub(super) claims_true: usize,
    pub(super) claims_false: usize,
    pub(super) claims_relevant: usize,
    pub(super) persuasive: f64,
}

impl Verdict {
    pub(super) fn of_pick(wish: &Wish, visit: &Visit, number: u32, claims: &[(u8, u8)]) -> Self {
        let item = wish.item(number);
        let is_true = |claim: &&(u8, u8)| item.is_some_and(|item| item.has(&[**claim]));
        let claims_true = claims.iter().filter(is_true).count();
        let relevant = claims.iter().filter(is_true).filter(|(attribute, _)| wish.tell.contains(attribute));
        let claims_relevant = relevant.count();
        let claims_false = claims.len() - claims_true;
        let told = claims_relevant as f64 - claims_false as f64;
        Self {
            exists: item.is_some(),
            hard_share: item.map_or(0.0, |item| wish.share(item)),
            grounded: visit.shown.contains(&number),
            claims_true,
            claims_false,
            claims_relevant,
            persuasive: told.max(0.0) / wish.tell.len().max(1) as f64,
        }
    }

    /// An agent knows that there is nothing after it searched for all words and looked at everything that has them.
    pub(super) fn of_nothing(wish: &Wish, visit: &Visit) -> Self {
        let seen = wish.found(&wish.wanted).iter().all(|item| visit.shown.contains(&item.number));
        let right = wish.right().is_none();
        Self {
            hard_share: flag(right),
            grounded: visit.searched && seen,
            persuasive: flag(right),
            ..Self::default()
        }
    }
}
