//! Pairing two lists: the largest set of pairs in which no item occurs twice (augmenting paths).
//!
//! Left members are added one at a time and never lose their place, so the sizes after each addition are the best
//! possible for each prefix; credit by turn is read from them.

use super::limits::{Budget, Exhausted};

/// For each left member, its right partner. `edge` says who may be paired.
pub(crate) fn pair(
    left: usize,
    right: usize,
    budget: &mut Budget,
    mut edge: impl FnMut(usize, usize, &mut Budget) -> Result<bool, Exhausted>,
) -> Result<Vec<Option<usize>>, Exhausted> {
    let mut edges: Vec<Vec<usize>> = Vec::with_capacity(left);
    let mut partner_of_right: Vec<Option<usize>> = vec![None; right];
    let mut partner_of_left: Vec<Option<usize>> = vec![None; left];
    for l in 0..left {
        let mut mine = Vec::new();
        for r in 0..right {
            budget.spend(1)?;
            if edge(l, r, budget)? {
                mine.push(r);
            }
        }
        edges.push(mine);
        augment(l, &edges, &mut partner_of_left, &mut partner_of_right, budget)?;
    }
    Ok(partner_of_left)
}

/// Finds a place for `start`, moving others if needed; breadth first, without recursion.
fn augment(
    start: usize,
    edges: &[Vec<usize>],
    partner_of_left: &mut [Option<usize>],
    partner_of_right: &mut [Option<usize>],
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    let mut reached_from: Vec<Option<usize>> = vec![None; partner_of_right.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(l) = queue.pop_front() {
        for &r in &edges[l] {
            budget.spend(1)?;
            if reached_from[r].is_some() {
                continue;
            }
            reached_from[r] = Some(l);
            match partner_of_right[r] {
                Some(other) => queue.push_back(other),
                None => {
                    flip(r, &reached_from, partner_of_left, partner_of_right);
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Walks the found path back to its start, giving every left member on it the place it was reached by.
fn flip(
    end: usize,
    reached_from: &[Option<usize>],
    partner_of_left: &mut [Option<usize>],
    partner_of_right: &mut [Option<usize>],
) {
    let mut next = Some(end);
    while let Some(r) = next {
        let Some(l) = reached_from[r] else { return };
        next = partner_of_left[l].replace(r);
        partner_of_right[r] = Some(l);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(left: usize, right: usize, edges: &[(usize, usize)]) -> usize {
        let found = pair(left, right, &mut Budget::new(1_000_000), |l, r, _| Ok(edges.contains(&(l, r))));
        found.unwrap_or_default().iter().flatten().count()
    }

    #[test]
    fn a_contested_place_is_given_up_when_there_is_another() {
        assert_eq!(size(2, 2, &[(0, 0), (0, 1), (1, 0)]), 2);
        assert_eq!(size(3, 2, &[(0, 0), (1, 0), (2, 0)]), 1);
        assert_eq!(size(3, 3, &[(0, 0), (0, 1), (1, 0), (1, 2), (2, 0)]), 3);
    }

    #[test]
    fn too_many_pairs_end_with_the_budget() {
        let found = pair(1_000, 1_000, &mut Budget::new(5_000), |_, _, _| Ok(true));
        assert_eq!(found, Err(Exhausted(5_000)));
    }
}
