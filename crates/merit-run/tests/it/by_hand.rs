//! The loop by hand: a session does what a run of the same recipe does.

use merit_core::{Group, Provenance};
use merit_run::{Recipe, Session};

const SMALL: &str = include_str!("staged/small.toml");

#[test]
fn a_session_grows_its_groups_as_trees_where_the_recipe_says_so() {
    let set = [("rollout.tree".to_owned(), "{ roots = 1, rounds = 2 }".to_owned())];
    let recipe = Recipe::parse("small.toml", SMALL).unwrap().with(&set).unwrap();
    let mut session = Session::new(&recipe, 1, 1).unwrap();
    session.warm_start().unwrap();
    let groups = session.sample(0).unwrap();
    assert_eq!(groups.iter().map(|group| group.members().len()).collect::<Vec<_>>(), [4; 4]);
    let members = || groups.iter().flat_map(Group::members).map(|scored| &scored.episode);
    let (forks, roots): (Vec<_>, Vec<_>) = members().partition(|episode| episode.id.branch > 0);
    assert_eq!((roots.len(), forks.len()), (4, 12), "one root in each group, the others fork");
    let mut shared = 0;
    for fork in forks {
        let root = roots.iter().find(|root| root.id.group == fork.id.group).unwrap();
        assert_eq!(root.task, fork.task);
        // What a fork keeps is marked, so that it is trained once, with its trunk.
        let kept = fork.transcript.segments().iter().filter(|s| s.provenance == Provenance::Replayed);
        shared += kept.map(|segment| segment.tokens.len()).sum::<usize>();
    }
    assert!(shared > 0, "no fork keeps a turn of its trunk");
}
