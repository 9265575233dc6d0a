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

#[test]
fn what_only_a_run_provides_is_refused_before_anything_is_made() {
    let refused = |key: &str, value: &str| {
        let recipe = Recipe::parse("small.toml", SMALL).unwrap();
        let recipe = recipe.with(&[(key.to_owned(), value.to_owned())]).unwrap();
        Session::new(&recipe, 1, 1).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (key, value, what) in [
        ("bank", "{}", "`[bank]`; leave it out"),
        ("memory", "{ show = 1, store = { kind = \"experiences\" } }", "`[memory]`; leave it out"),
        (
            "interleave",
            "{ when = { type = \"alternate\", reward = 1 }, learning_rate = 1e-3 }",
            "`[interleave]`; leave it out",
        ),
        ("stages", "[{ type = \"learn\", name = \"only\" }]", "`[[stages]]`; leave it out"),
        (
            "credit",
            "{ type = \"branch-monte-carlo\" }",
            "the continuations that credit rule `branch-monte-carlo` needs",
        ),
    ] {
        let said = refused(key, value);
        assert!(said.contains("a session does not provide") && said.contains(what), "{key}: {said}");
        assert!(said.contains("or use `train`"), "{key}: {said}");
    }
    assert!(refused("credit", "{ type = \"branch-monte-carlo\" }").contains("`grpo`"));
}
