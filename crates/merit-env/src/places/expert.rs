//! How a demonstrator plays: it does again what was said so far, and goes on in its manner.

use super::ground::{Ground, gold, shortest, spoken};
use super::plan::{MAX_STEPS, plan_line};
use super::tour::{Errands, Next, route};
use super::{Places, Skin, act_of};
use merit_api::{Demonstration, Manner};

pub(super) const MANNERS: &[Manner] = &[
    Manner::new("exact", "Knows everything and takes a shortest way: right."),
    Manner::new(
        "orderly",
        "One wish after the other, in the order in which they are told: right, and not always the shortest.",
    ),
    Manner::new("explore", "Acts on what it has seen, and looks where it has not been: right, and slow."),
    Manner::new("wander", "Half of its first eight acts are any that can be done then."),
];

/// Acts after which a wanderer comes to its senses.
const WANDERING: usize = 8;

/// The next line, or the whole plan.
pub(super) fn next_line(
    game: &Places,
    ground: &dyn Ground,
    hint: usize,
    play: &Demonstration<'_>,
) -> Option<String> {
    let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "wander" });
    let mut cells = ground.start();
    gold(ground, &mut cells, hint);
    if game.skin == Skin::Plan {
        // A plan that was said before has ended the episode: whatever came before could not be read.
        let mut lines = Vec::new();
        let mut visited = vec![true; ground.roads().len()];
        while lines.len() < MAX_STEPS
            && let Some(line) = line_in(manner, ground, &cells, &mut visited, lines.len(), play)
        {
            ground.act(&mut cells, &line);
            lines.push(line);
        }
        return Some(plan_line(&lines));
    }
    let mut visited = vec![false; ground.roads().len()];
    visited[ground.node(&cells)] = true;
    for turn in play.turns {
        ground.act(&mut cells, act_of(&turn.said));
        visited[ground.node(&cells)] = true;
    }
    // Where nothing is left the episode is over, and whatever is said is not heard.
    Some(
        line_in(manner, ground, &cells, &mut visited, play.turns.len(), play)
            .unwrap_or_else(|| ground.road(0, 0)),
    )
}

fn line_in(
    manner: &str,
    ground: &dyn Ground,
    cells: &[u8],
    visited: &mut [bool],
    turn: usize,
    play: &Demonstration<'_>,
) -> Option<String> {
    let left = ground.errands(cells);
    if left.stops() == 0 {
        return None;
    }
    let next = match manner {
        "orderly" => ground.in_order(cells)?,
        "explore" => by_sight(ground, cells, left, visited)?,
        "wander" => {
            let mut rng = play.seed.child("wander", turn as u64).stream();
            if turn < WANDERING
                && rng.chance(0.5)
                && let Some(act) = rng.pick(&ground.acts(cells))
            {
                return Some(act.clone());
            }
            shortest(ground, cells)?.next
        }
        _ => shortest(ground, cells)?.next,
    };
    spoken(ground, cells, next)
}

/// What is known to be left; where that is nothing, the nearest node that was not visited yet.
fn by_sight(ground: &dyn Ground, cells: &[u8], left: Errands, visited: &[bool]) -> Option<Next> {
    let mut known = left;
    for chain in &mut known.chains {
        let end = chain.iter().position(|stop| !ground.knows(visited, stop.node)).unwrap_or(chain.len());
        chain.truncate(end);
    }
    known.last = known.last.filter(|stop| ground.knows(visited, stop.node));
    let at = ground.node(cells);
    let (mut roads, mut news) = (ground.roads(), None);
    for (from, to) in roads.iter_mut().enumerate() {
        if !visited[from] {
            to.clear();
        }
    }
    if known.stops() > 0 {
        return route(&roads, at, &known).map(|route| route.next);
    }
    // Nearest first: a search that stops at the first node that is new.
    let mut queue = std::collections::VecDeque::from([(at, None)]);
    let mut met = vec![false; visited.len()];
    while let Some((node, by)) = queue.pop_front() {
        if !visited[node] {
            news = by;
            break;
        }
        for &to in &roads[node] {
            if !std::mem::replace(&mut met[to], true) {
                queue.push_back((to, by.or(Some(to))));
            }
        }
    }
    news.map(Next::Go)
}
