//! Choosing under a hard budget: the online threshold rule, and the least-cost cover by exact search.

use std::f64::consts::E;

/// The online knapsack rule of Zhou, Chakrabarty and Lukose (2008): an item of value per cost `rho` is taken at fill `z` when
///   `rho >= Psi(z) = (U e / L)^z * (L / e)`.
/// With small items its value is at least the optimum divided by `ln(U / L) + 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineRule {
    /// L, the least value per cost that may arrive; above 0.
    pub low: f64,
    /// U, the greatest value per cost that may arrive.
    pub high: f64,
}

impl OnlineRule {
    /// The bar at fill `z` in [0, 1].
    pub fn threshold(&self, z: f64) -> f64 {
        (self.high * E / self.low).powf(z) * self.low / E
    }

    /// Whether an item is taken when `spent` of `budget` is gone.
    pub fn takes(&self, value: f64, cost: f64, spent: f64, budget: f64) -> bool {
        spent + cost <= budget && value / cost >= self.threshold(spent / budget)
    }
}

/// Something to choose: what it costs, and which needs it covers (bit j: need j).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cover {
    pub cost: f64,
    pub covers: u32,
}

/// The items that cover the most weight within the budget, and among these sets the cheapest. Exact: the least cost of every set
/// of needs, item by item. At most 16 needs.
pub fn best_cover(items: &[Cover], weights: &[f64], budget: f64) -> Vec<usize> {
    assert!(weights.len() <= 16, "the table has a row for every set of needs");
    let sets = 1 << weights.len();
    let mut best: Vec<Option<(f64, Vec<usize>)>> = vec![None; sets];
    best[0] = Some((0.0, Vec::new()));
    for (at, item) in items.iter().enumerate() {
        for set in 0..sets {
            let with = set | item.covers as usize & (sets - 1);
            let Some((cost, chosen)) = &best[set] else { continue };
            let cost = cost + item.cost;
            if with == set || best[with].as_ref().is_some_and(|(least, _)| *least <= cost) {
                continue;
            }
            let chosen = chosen.iter().copied().chain([at]).collect();
            best[with] = Some((cost, chosen));
        }
    }
    let weight =
        |set: usize| (0..weights.len()).filter(|j| set >> j & 1 == 1).map(|j| weights[j]).sum::<f64>();
    let affordable = best.into_iter().enumerate().filter_map(|(set, found)| Some((weight(set), found?)));
    let affordable = affordable.filter(|(_, (cost, _))| *cost <= budget);
    let found = affordable.reduce(|a, b| if (b.0, -b.1.0) > (a.0, -a.1.0) { b } else { a });
    found.map_or_else(Vec::new, |(_, (_, chosen))| chosen)
}
