//! The training loop by hand: warm start, then sample, score, give credit and update, step by step.

use merit::prelude::*;

pub(crate) fn main() -> merit::Result<()> {
    let changes = [("world.sizes", "[1]"), ("warm_start.steps", "40"), ("warm_start.demonstrations", "120")];
    let model = [("model.width", "32"), ("model.feed_forward", "64"), ("model.layers", "1")];
    let budget = [("budget.groups", "4"), ("budget.group_size", "4"), ("budget.steps", "3")];
    let set = changes.into_iter().chain(model).chain(budget).map(|(key, value)| (key.into(), value.into()));
    let recipe = shipped::load("ledger-tools")?.with(&set.collect::<Vec<_>>())?;

    let mut session = Session::new(&recipe, 7, 2)?;
    let loss = session.warm_start()?;
    println!("warm start: loss {loss:.3}, held-out success {:.2}", session.evaluate(16)?.unwrap_or(f64::NAN));
    for step in 0..recipe.budget.steps {
        // Groups of scored episodes: look at them, drop some, add your own.
        let groups = session.sample(step)?;
        let solved =
            groups.iter().flat_map(Group::members).filter(|e| e.outcome() == Outcome::Solved).count();
        // Credit by the recipe's rule, or by any other.
        let credit = recipe.credit.assign(&CreditBatch::new(&groups))?;
        let report = session.update(&credit, step)?;
        println!(
            "step {step}: {solved} solved, {} of {} groups constant, loss {:.4}",
            credit.report.constant_groups,
            credit.report.groups,
            report.loss.total()
        );
    }
    println!("held-out success {:.2}", session.evaluate(16)?.unwrap_or(f64::NAN));
    Ok(())
}
