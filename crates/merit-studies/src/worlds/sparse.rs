//! Worlds that pay once, far away: four rooms, a line with a key, a chain with a distractor.

use crate::tabular::Mdp;

/// A world, what it pays, and where its episodes start.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    pub mdp: Mdp,
    /// By state and action.
    pub rewards: Vec<f64>,
    pub start: usize,
    /// The states that are paid.
    pub goals: Vec<usize>,
    pub max_steps: usize,
}

/// With chance `slip` an action is replaced by one of all, evenly.
fn slipping(mdp: Mdp, slip: f64) -> Mdp {
    let row = |i: usize| {
        let first = i / mdp.actions * mdp.actions;
        let mut ways: Vec<(usize, f64)> = vec![(mdp.outcomes[i][0].0, 1.0 - slip)];
        for j in first..first + mdp.actions {
            let (to, p) = (mdp.outcomes[j][0].0, slip / mdp.actions as f64);
            match ways.iter_mut().find(|way| way.0 == to) {
                Some(way) => way.1 += p,
                None => ways.push((to, p)),
            }
        }
        ways
    };
    let outcomes = if slip > 0.0 { (0..mdp.outcomes.len()).map(row).collect() } else { mdp.outcomes.clone() };
    Mdp { outcomes, ..mdp }
}

fn paid(mdp: &Mdp, at: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut rewards = vec![0.0; mdp.states * mdp.actions];
    at.iter().for_each(|&(state, action, reward)| rewards[state * mdp.actions + action] = reward);
    rewards
}

/// 7 × 7 cells in four rooms with two gates in each wall. A step to the right from the far corner pays 10 and ends the episode.
pub fn rooms(slip: f64) -> Sparse {
    const SIDE: usize = 7;
    const END: usize = SIDE * SIDE;
    let gate = |at: usize| at == 1 || at == 5;
    let to = |s: usize, a: usize| {
        let (row, col) = (s / SIDE, s % SIDE);
        match a {
            _ if s == END => END,
            3 if s == END - 1 => END,
            0 if row > 0 && (row != 4 || gate(col)) => s - SIDE,
            1 if col > 0 && (col != 4 || gate(row)) => s - 1,
            2 if row + 1 < SIDE && (row != 3 || gate(col)) => s + SIDE,
            3 if col + 1 < SIDE && (col != 3 || gate(row)) => s + 1,
            _ => s,
        }
    };
    let mut mdp = slipping(Mdp::sure(END + 1, 4, 0.95, to), slip);
    mdp.terminal[END] = true;
    let rewards = paid(&mdp, &[(END - 1, 3, 10.0)]);
    Sparse { mdp, rewards, start: SIDE + 1, goals: vec![END - 1], max_steps: 500 }
}

/// A line of 20 cells: the key is picked up in the first two; with it, a step to the right from the last two pays 10 and ends the
/// episode. Episodes start in the middle.
pub fn key_line(slip: f64) -> Sparse {
    const CELLS: usize = 20;
    const END: usize = 2 * CELLS;
    let to = |s: usize, a: usize| {
        let (cell, key) = (s % CELLS, s / CELLS);
        match a {
            _ if s == END => END,
            0 => key * CELLS + cell.saturating_sub(1),
            1 if key == 1 && cell >= CELLS - 2 => END,
            1 => key * CELLS + (cell + 1).min(CELLS - 1),
            _ if cell < 2 => CELLS + cell,
            _ => s,
        }
    };
    let mut mdp = slipping(Mdp::sure(END + 1, 3, 0.95, to), slip);
    mdp.terminal[END] = true;
    let goals = vec![END - 2, END - 1];
    let rewards = paid(&mdp, &[(END - 2, 1, 10.0), (END - 1, 1, 10.0)]);
    Sparse { mdp, rewards, start: CELLS / 2, goals, max_steps: 500 }
}

/// A chain: 20 steps to the right, every further step to the right pays 1; 15 steps to the left, a step to the left pays
/// `distractor`; the left end, 40 steps away, ends the episode. 40 moves, discount 0.99.
pub fn chain(distractor: f64, slip: f64) -> Sparse {
    const LONG: usize = 20;
    const START: usize = 40;
    const GOAL: usize = START + LONG;
    const END: usize = GOAL + 1;
    let to = |s: usize, a: usize| match (s, a) {
        (END, _) | (0, 0) => END,
        (GOAL, 1) => GOAL,
        (_, 0) => s - 1,
        _ => s + 1,
    };
    let mut mdp = slipping(Mdp::sure(END + 1, 2, 0.99, to), slip);
    mdp.terminal[END] = true;
    let rewards = paid(&mdp, &[(GOAL, 1, 1.0), (START - 15, 0, distractor)]);
    Sparse { mdp, rewards, start: START, goals: vec![GOAL], max_steps: 40 }
}

impl Sparse {
    /// The best return from the start within `max_steps`.
    pub fn optimum(&self) -> f64 {
        self.backwards(|q| q.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// The expected return of a policy from the start within `max_steps`.
    pub fn expected(&self, policy: &[f64]) -> f64 {
        let actions = self.mdp.actions;
        let mut values = vec![0.0; self.mdp.states];
        for _ in 0..self.max_steps {
            let q = self.mdp.backup(&self.rewards, &values);
            let mix = |s: usize| (s * actions..(s + 1) * actions).map(|i| policy[i] * q[i]).sum();
            values = (0..self.mdp.states).map(mix).collect();
        }
        values[self.start]
    }

    fn backwards(&self, choose: impl Fn(&[f64]) -> f64) -> f64 {
        let mut values = vec![0.0; self.mdp.states];
        for _ in 0..self.max_steps {
            let q = self.mdp.backup(&self.rewards, &values);
            values = q.chunks(self.mdp.actions).map(&choose).collect();
        }
        values[self.start]
    }
}
