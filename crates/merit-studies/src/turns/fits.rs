//! Lines and ranks through a handful of points.

/// The least-squares line through `points`: slope and coefficient of determination. A flat line explains nothing: 0, 0.
pub fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len().max(1) as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>();
    let (xx, yy) = (sum(&|p| (p.0 - mx).powi(2)), sum(&|p| (p.1 - my).powi(2)));
    let xy = sum(&|p| (p.0 - mx) * (p.1 - my));
    if xx == 0.0 || yy == 0.0 { (0.0, 0.0) } else { (xy / xx, xy * xy / (xx * yy)) }
}

/// The slope of `ln y` on `ln x`. Every number must be above 0.
pub fn log_log_slope(points: &[(f64, f64)]) -> f64 {
    line(&points.iter().map(|(x, y)| (x.ln(), y.ln())).collect::<Vec<_>>()).0
}

/// Spearman's rank correlation; 0 where either side is constant.
pub fn spearman(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    merit_core::stats::rank_correlation(&x, &y).unwrap_or(0.0)
}
