//! Components of the reward: which actions they pay for, in which states.

use super::tool_mdp::{ACTIONS, LAYERS, STATES, TEXTS, TOOLS, Table};
use merit_core::Stream;

/// Which actions pay: a target for every component and state, and the states that each component looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// `action[k][s]`.
    pub action: Vec<Vec<usize>>,
    /// `pays[k][s]`.
    pub pays: Vec<Vec<bool>>,
}

impl Targets {
    /// `components` look at disjoint states; the first two (format and accuracy) also look at a share `coupling` of each
    /// other's, where they want different actions. The third wants tools (executability), the others text.
    pub fn draw(components: usize, coupling: f64, stream: &mut Stream) -> Self {
        let mut order: Vec<usize> = (0..STATES).collect();
        stream.shuffle(&mut order);
        let action: Vec<Vec<usize>> =
            (0..components).map(|k| (0..STATES).map(|_| any_action(k, stream)).collect()).collect();
        let mut targets = Self { action, pays: vec![vec![false; STATES]; components] };
        for s in 0..STATES {
            targets.pays[s % components][s] = true;
        }
        if components > 1 {
            let contested: Vec<usize> = order.into_iter().filter(|s| s % components < 2).collect();
            let shared = (coupling * contested.len() as f64).round() as usize;
            for &s in &contested {
                let [first, second] = [targets.action[0][s], targets.action[1][s]];
                targets.action[1][s] = if first == second { (second + 1) % TEXTS } else { second };
            }
            for &s in &contested[..shared] {
                targets.pays[0][s] = true;
                targets.pays[1][s] = true;
            }
        }
        targets
    }

    /// The tables of the components.
    pub fn tables(&self) -> Vec<Table> {
        let paid = |k: usize| {
            let mut table = vec![[0.0; ACTIONS]; STATES];
            for s in (0..STATES).filter(|&s| self.pays[k][s]) {
                table[s][self.action[k][s]] = 1.0;
            }
            table
        };
        (0..self.action.len()).map(paid).collect()
    }

    /// A task like this one: every target stays with chance `keep` and is drawn again otherwise.
    pub fn redrawn(&self, keep: f64, stream: &mut Stream) -> Self {
        let mut task = self.clone();
        for (k, of_k) in task.action.iter_mut().enumerate() {
            for target in of_k.iter_mut() {
                if !stream.chance(keep) {
                    *target = any_action(k, stream);
                }
            }
        }
        task
    }

    /// The mean tables of tasks drawn by [`Targets::redrawn`].
    pub fn mean_tables(&self, keep: f64) -> Vec<Table> {
        let mut tables = self.tables();
        for (k, table) in tables.iter_mut().enumerate() {
            let (from, count) = choices(k);
            for s in (0..STATES).filter(|&s| self.pays[k][s]) {
                table[s].iter_mut().for_each(|paid| *paid *= keep);
                table[s][from..from + count].iter_mut().for_each(|paid| *paid += (1.0 - keep) / count as f64);
            }
        }
        tables
    }
}

fn choices(component: usize) -> (usize, usize) {
    if component == 2 { (TEXTS, TOOLS) } else { (0, TEXTS) }
}

fn any_action(component: usize, stream: &mut Stream) -> usize {
    let (from, count) = choices(component);
    from + stream.below(count as u64) as usize
}

/// The weighted sum of tables, over the horizon.
pub fn composite(tables: &[Table], weights: &[f64]) -> Table {
    let mut sum = vec![[0.0; ACTIONS]; STATES];
    for (table, weight) in tables.iter().zip(weights) {
        for (sum, row) in sum.iter_mut().zip(table) {
            sum.iter_mut().zip(row).for_each(|(sum, paid)| *sum += weight * paid / LAYERS as f64);
        }
    }
    sum
}
