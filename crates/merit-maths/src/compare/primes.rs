//! Prime factors by trial division, as far as is cheap.

use crate::{Budget, Exhausted};
use dashu_int::UBig;

/// Trial division goes up to here, so whatever is left below its square is prime.
const LIMIT: u32 = 1 << 12;

/// One factor with its multiplicity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factor {
    pub(crate) base: UBig,
    pub(crate) times: i64,
    /// False for a large rest that may be composite.
    pub(crate) prime: bool,
}

/// The factors of a number above zero; none of one.
pub(crate) fn factors(value: &UBig, budget: &mut Budget) -> Result<Vec<Factor>, Exhausted> {
    if let Ok(small) = u64::try_from(value) {
        return small_factors(small, budget);
    }
    let (mut rest, mut found) = (value.clone(), Vec::new());
    let words = dashu_int::ops::BitTest::bit_len(value) as u64 / 64 + 1;
    let mut divisor = 2u32;
    while divisor < LIMIT {
        budget.spend(words)?;
        let mut times = 0;
        while (&rest % divisor) == 0 {
            budget.spend(words)?;
            rest /= divisor;
            times += 1;
        }
        if times > 0 {
            found.push(Factor { base: UBig::from(divisor), times, prime: true });
            if let Ok(small) = u64::try_from(&rest) {
                found.extend(small_factors(small, budget)?);
                return Ok(found);
            }
        }
        divisor += if divisor == 2 { 1 } else { 2 };
    }
    found.push(whole_power(rest));
    Ok(found)
}

fn small_factors(mut rest: u64, budget: &mut Budget) -> Result<Vec<Factor>, Exhausted> {
    let mut found = Vec::new();
    let mut divisor = 2u64;
    while divisor < u64::from(LIMIT) && divisor * divisor <= rest {
        let mut times = 0;
        while rest.is_multiple_of(divisor) {
            rest /= divisor;
            times += 1;
        }
        if times > 0 {
            found.push(Factor { base: UBig::from(divisor), times, prime: true });
        }
        divisor += if divisor == 2 { 1 } else { 2 };
    }
    budget.spend(1 + divisor / 16)?;
    if rest > 1 {
        let limit = u64::from(LIMIT);
        if rest < limit * limit {
            found.push(Factor { base: UBig::from(rest), times: 1, prime: true });
        } else {
            found.push(whole_power(UBig::from(rest)));
        }
    }
    Ok(found)
}

/// A rest without small factors, as a square, cube or fifth power where it is one.
fn whole_power(rest: UBig) -> Factor {
    for times in [2usize, 3, 5] {
        let root = rest.nth_root(times);
        if root.pow(times) == rest {
            let inner = whole_power(root);
            return Factor { times: inner.times * times as i64, ..inner };
        }
    }
    let limit = UBig::from(LIMIT);
    let prime = rest < &limit * &limit;
    Factor { base: rest, times: 1, prime }
}
