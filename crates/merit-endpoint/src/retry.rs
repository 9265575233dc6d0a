//! How long to wait before the next try: pure, so that it can be tested without a clock.

use crate::EndpointConfig;
use crate::config::span;
use merit_core::Seed;
use std::time::Duration;

/// What follows a try that failed but may pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Next {
    /// Try again after this long.
    After(Duration),
    /// No tries are left.
    Spent,
    /// The server asks to wait longer than we are willing to.
    TooLong,
}

/// Decides after try `tries` (from 1) of the request that `seed` belongs to.
pub(crate) fn next(config: &EndpointConfig, seed: &Seed, tries: u32, asked: Option<Duration>) -> Next {
    if tries > config.retries {
        return Next::Spent;
    }
    match asked {
        Some(wait) if wait > span(config.retry_after_most_s) => Next::TooLong,
        // Other clients were told the same time, so a random delay spreads the retries.
        Some(wait) => Next::After(wait + jitter(config, seed, tries).mul_f64(0.1)),
        None => Next::After(jitter(config, seed, tries)),
    }
}

/// Full jitter: uniform between nothing and the doubled-up pause.
fn jitter(config: &EndpointConfig, seed: &Seed, tries: u32) -> Duration {
    let doubled = config.backoff_base_s * 2_f64.powi(tries.min(64) as i32 - 1);
    let most = doubled.min(config.backoff_most_s);
    span(most * seed.child("try", u64::from(tries)).stream().unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> EndpointConfig {
        EndpointConfig {
            retries: 6,
            backoff_base_s: 1.0,
            backoff_most_s: 8.0,
            retry_after_most_s: 30.0,
            ..EndpointConfig::new("http://127.0.0.1/v1", "m")
        }
    }

    #[test]
    fn pauses_are_spread_below_a_bound_that_doubles_up_to_the_most() {
        // Bounds after tries 1 to 6: 1, 2, 4, 8, 8, 8 seconds.
        for (tries, bound) in (1..=6).zip([1.0, 2.0, 4.0, 8.0, 8.0, 8.0]) {
            let pauses: Vec<f64> = (0..200)
                .map(|request| match next(&config(), &Seed::root(request), tries, None) {
                    Next::After(pause) => pause.as_secs_f64(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert!(pauses.iter().all(|&pause| pause < bound), "{pauses:?}");
            let mean = pauses.iter().sum::<f64>() / 200.0;
            assert!((0.4 * bound..0.6 * bound).contains(&mean), "try {tries}: mean {mean}");
        }
        assert_eq!(next(&config(), &Seed::root(1), 7, None), Next::Spent);
    }

    #[test]
    fn the_same_seed_gives_the_same_pause() {
        let pause = |run| next(&config(), &Seed::root(run), 3, None);
        assert_eq!(pause(1), pause(1));
        assert_ne!(pause(1), pause(2));
    }

    #[test]
    fn a_server_may_ask_for_a_pause_within_its_limit() {
        let asked = |seconds| next(&config(), &Seed::root(1), 1, Some(Duration::from_secs(seconds)));
        let Next::After(pause) = asked(30) else { panic!() };
        assert!((30.0..30.1).contains(&pause.as_secs_f64()), "{pause:?}");
        assert_eq!(asked(31), Next::TooLong);
    }
}
