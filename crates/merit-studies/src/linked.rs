//! Rewards that one policy earns by what another does: a hint by the next trial, a solution and its critique by a score.
//!
//! In: returns, or a score as it was read. Out: what each is paid. Pure; knows no policy.

/// What a reflection earns: the next return less the one before it; less also what would have come without it, where that was tried.
///
/// `empty` is the return of a trial from the same state without the reflection.
pub fn return_delta(before: f64, after: f64, empty: Option<f64>) -> f64 {
    (after - before) - empty.map_or(0.0, |empty| empty - before)
}

/// What the three roles of an exchange earn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    pub solver: f64,
    pub critic: f64,
    pub scorer: f64,
}

/// Of a score t from 1 to 3: `(t − 1) / 2` to the solver, the rest, `(3 − t) / 2`, to the critic, nothing to the scorer. A score that cannot
/// be read, or is no score, costs the scorer 1 and pays no policy.
pub fn interaction(score: Option<u8>) -> Shares {
    match score {
        Some(t @ 1..=3) => {
            let solver = f64::from(t - 1) / 2.0;
            Shares { solver, critic: 1.0 - solver, scorer: 0.0 }
        }
        _ => Shares { solver: 0.0, critic: 0.0, scorer: -1.0 },
    }
}
