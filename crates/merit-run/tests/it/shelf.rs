//! Tools that are named by tokens of their own, and names that are held to the shelf.

use crate::whole::Making;
use merit_core::{Phase, When};
use merit_run::{Recipe, shipped};
use merit_store::EpisodeFilter;

/// The shipped recipe, hardly trained, which names tools alone.
fn barely(changes: &[(&str, &str)]) -> Recipe {
    let few = [
        ("world.mode", "'retrieve'"),
        ("world.tools", "30"),
        ("model.width", "24"),
        ("model.heads", "2"),
        ("model.kv_heads", "1"),
        ("model.feed_forward", "32"),
        ("warm_start.demonstrations", "40"),
        ("warm_start.steps", "3"),
        ("warm_start.batch", "4"),
        ("warm_start.world", "{ mode = 'document', sizes = [1] }"),
        // Room for three names by single letters.
        ("rollout.max_turn_tokens", "100"),
        ("rollout.max_episode_tokens", "100"),
        ("budget.steps", "0"),
        ("evaluation.tasks", "20"),
    ];
    let all: Vec<(String, String)> =
        few.iter().chain(changes).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    shipped::load("toolshelf-use").unwrap().with(&all).unwrap()
}

/// For each held-out task, whether a name was invented and the tokens that were said.
fn named(recipe: &Recipe, name: &str) -> Vec<(bool, Vec<u32>)> {
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join(name)).train(recipe);
    let episodes = made.folder.episodes(&EpisodeFilter::phase(Phase::eval(When::After))).unwrap();
    let one = |stored: merit_store::StoredEpisode| {
        let episode = stored.scored.episode;
        let read =
            |turn: &merit_core::Turn| turn.info.get("on_shelf").is_some_and(|on_shelf| *on_shelf == 1.0);
        let spoken = episode.transcript.segments().iter().filter(|s| s.role == merit_core::Role::Policy);
        (!episode.turns.iter().all(read), spoken.flat_map(|s| s.tokens.iter().map(|token| token.0)).collect())
    };
    episodes.into_iter().map(one).collect()
}

#[test]
fn whoever_is_held_to_the_shelf_invents_no_name_however_little_it_has_learned() {
    let free = named(&barely(&[]), "free");
    assert!(free.iter().all(|(invented, _)| *invented), "three updates teach no name");
    let held = named(&barely(&[("rollout.grammar", "true")]), "held");
    assert_eq!((held.len(), held.iter().filter(|(invented, _)| *invented).count()), (20, 0));
}

#[test]
fn a_policy_with_names_of_one_token_is_made_trained_and_held_to_the_shelf() {
    let held = named(&barely(&[("rollout.grammar", "true"), ("world.names", "'tokens'")]), "tokens");
    assert!(held.iter().all(|(invented, _)| !invented));
    // The words of thirty tools come behind a vocabulary of at most 448.
    let largest = held.iter().flat_map(|(_, tokens)| tokens).max();
    assert!(largest.is_some_and(|token| *token < 448 + 30), "{largest:?}");
}
