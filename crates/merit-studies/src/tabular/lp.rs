//! Dense linear programs with non-negative costs.

/// One condition: `coefficients · x >= at_least`.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub coefficients: Vec<f64>,
    pub at_least: f64,
}

/// Smaller numbers count as zero.
const EPSILON: f64 = 1e-9;
/// So many pivots without progress in a row, and the least index is chosen until there is some: no cycles.
const STALLED: usize = 40;

/// `x >= 0` that minimises `cost · x` under `rows`; `None` where no `x` meets them. Costs must not be negative: then the dual
/// program starts feasible, and the simplex method on it needs no first phase.
pub fn minimise(cost: &[f64], rows: &[Row]) -> Option<Vec<f64>> {
    // The dual: maximise b·y under Aᵀ y <= cost, y >= 0. The table holds one line per x, one column per row, and the right side;
    // its last line is the objective. Entering a basis swaps the label of a column with that of a line.
    let (n, m) = (cost.len(), rows.len());
    let width = m + 1;
    let mut table = vec![0.0; (n + 1) * width];
    for (j, row) in rows.iter().enumerate() {
        (0..n).for_each(|i| table[i * width + j] = row.coefficients[i]);
        table[n * width + j] = -row.at_least;
    }
    (0..n).for_each(|i| table[i * width + m] = cost[i]);
    // Labels: 0..m are the y, m.. the slack of each line.
    let mut columns: Vec<usize> = (0..m).collect();
    let mut lines: Vec<usize> = (m..m + n).collect();
    let mut stalled = 0;
    loop {
        let bland = stalled > STALLED;
        let Some(enter) = entering(&table[n * width..n * width + m], &columns, bland) else { break };
        let leave = leaving(&table, width, n, enter, &lines)?;
        stalled = if table[leave * width + m] > EPSILON { 0 } else { stalled + 1 };
        pivot(&mut table, width, leave, enter);
        std::mem::swap(&mut columns[enter], &mut lines[leave]);
    }
    // The x are the prices of the slacks.
    let mut x = vec![0.0; n];
    for (j, label) in columns.iter().enumerate().filter(|(_, label)| **label >= m) {
        x[label - m] = table[n * width + j];
    }
    Some(x)
}

fn entering(objective: &[f64], columns: &[usize], bland: bool) -> Option<usize> {
    let gains = (0..objective.len()).filter(|&j| objective[j] < -EPSILON);
    if bland {
        gains.min_by_key(|&j| columns[j])
    } else {
        gains.min_by(|&a, &b| objective[a].total_cmp(&objective[b]).then(columns[a].cmp(&columns[b])))
    }
}

fn leaving(table: &[f64], width: usize, n: usize, enter: usize, lines: &[usize]) -> Option<usize> {
    let ratio = |i: usize| table[i * width + width - 1] / table[i * width + enter];
    let bounded = (0..n).filter(|&i| table[i * width + enter] > EPSILON);
    bounded.min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(lines[a].cmp(&lines[b])))
}

fn pivot(table: &mut [f64], width: usize, line: usize, column: usize) {
    let inverse = 1.0 / table[line * width + column];
    let mut own: Vec<f64> = table[line * width..(line + 1) * width].iter().map(|v| v * inverse).collect();
    own[column] = inverse;
    for (i, other) in table.chunks_mut(width).enumerate() {
        let factor = other[column];
        if i == line {
            other.copy_from_slice(&own);
        } else if factor != 0.0 {
            other.iter_mut().zip(&own).for_each(|(v, o)| *v -= factor * o);
            other[column] = -factor * inverse;
        }
    }
}
