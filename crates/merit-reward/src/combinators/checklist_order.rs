//! The order in which the items of a checklist can be judged: each after those it needs and after every required item before
//! it in the list. Unknown names, names given twice, turns that go back and items that wait for each other are refused.

use super::checklist::ItemConfig;
use crate::prelude::*;

/// Positions of `items`, each after those it waits for.
pub(crate) fn order(items: &[ItemConfig]) -> Result<Vec<usize>, Problem> {
    check_names(items)?;
    check_turns(items)?;
    let waits: Vec<Vec<usize>> =
        items.iter().enumerate().map(|(i, item)| waits_for(i, item, items)).collect::<Result<_, _>>()?;
    let mut order = Vec::with_capacity(items.len());
    let mut judged = vec![false; items.len()];
    while order.len() < items.len() {
        let ready = |&i: &usize| !judged[i] && waits[i].iter().all(|&other| judged[other]);
        let Some(next) = (0..items.len()).find(ready) else {
            return Err(cycle(items, &waits, &judged));
        };
        judged[next] = true;
        order.push(next);
    }
    Ok(order)
}

fn check_names(items: &[ItemConfig]) -> Result<(), Problem> {
    for (i, item) in items.iter().enumerate() {
        if item.name.trim().is_empty() {
            return Err(Problem::Setting(format!("`items[{i}]` has an empty `name`; say what it asks")));
        }
        if items[..i].iter().any(|other| other.name == item.name) {
            return Err(Problem::Setting(format!("there are two items called `{}`; rename one", item.name)));
        }
    }
    Ok(())
}

/// Items tied to turns stand in the order of their turns, or "after" would mean two things.
fn check_turns(items: &[ItemConfig]) -> Result<(), Problem> {
    let tied: Vec<(&str, usize)> = items.iter().filter_map(|i| Some((i.name.as_str(), i.turn?))).collect();
    match tied.windows(2).find(|pair| pair[0].1 > pair[1].1) {
        None => Ok(()),
        Some(pair) => Err(Problem::Setting(format!(
            "`{}` at turn {} stands before `{}` at turn {}; list items in the order of their turns",
            pair[0].0, pair[0].1, pair[1].0, pair[1].1
        ))),
    }
}

fn waits_for(i: usize, item: &ItemConfig, items: &[ItemConfig]) -> Result<Vec<usize>, Problem> {
    let mut waits: Vec<usize> = (0..i).filter(|&before| items[before].required).collect();
    for need in &item.needs {
        let at = items.iter().position(|other| &other.name == need).ok_or_else(|| unknown(need, items))?;
        if let (Some(turn), Some(later)) = (item.turn, items[at].turn)
            && later > turn
        {
            return Err(Problem::Setting(format!(
                "`{}` at turn {turn} needs `{need}`, which is only judged at turn {later}",
                item.name
            )));
        }
        waits.push(at);
    }
    Ok(waits)
}

fn unknown(need: &str, items: &[ItemConfig]) -> Problem {
    Problem::no_such("item", need, items.iter().map(|item| item.name.as_str()))
}

/// Follows what unjudged items wait for until one comes up again.
fn cycle(items: &[ItemConfig], waits: &[Vec<usize>], judged: &[bool]) -> Problem {
    let mut path: Vec<usize> = judged.iter().position(|judged| !judged).into_iter().collect();
    while let Some(next) = path.last().and_then(|&at| waits[at].iter().copied().find(|&other| !judged[other]))
    {
        let seen = path.iter().position(|&at| at == next);
        path.push(next);
        if let Some(from) = seen {
            path.drain(..from);
            break;
        }
    }
    let names: Vec<String> = path.iter().map(|&at| format!("`{}`", items[at].name)).collect();
    Problem::Setting(format!(
        "items wait for each other: {}; an item waits for those it `needs` and for every required item before it",
        names.join(" → ")
    ))
}
