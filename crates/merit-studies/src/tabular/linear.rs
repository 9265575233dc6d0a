//! Dense linear systems.

/// `x` with `a · x = b` by Gaussian elimination with partial pivoting; `None` where `a` is singular. `a` is row-major, `n × n`.
pub fn solve(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let (mut a, mut x) = (a.to_vec(), b.to_vec());
    for col in 0..n {
        let pivot = (col..n).max_by(|&i, &j| a[i * n + col].abs().total_cmp(&a[j * n + col].abs()))?;
        if a[pivot * n + col].abs() < 1e-13 {
            return None;
        }
        if pivot != col {
            (0..n).for_each(|k| a.swap(col * n + k, pivot * n + k));
            x.swap(col, pivot);
        }
        for row in col + 1..n {
            let factor = a[row * n + col] / a[col * n + col];
            if factor != 0.0 {
                (col..n).for_each(|k| a[row * n + k] -= factor * a[col * n + k]);
                x[row] -= factor * x[col];
            }
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|k| a[row * n + k] * x[k]).sum();
        x[row] = (x[row] - known) / a[row * n + row];
    }
    Some(x)
}
