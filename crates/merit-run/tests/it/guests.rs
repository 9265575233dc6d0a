//! Demonstrations that join the groups of a learning step.

use crate::whole::{Making, small};
use merit_core::{Phase, Provenance, Role};
use merit_store::EpisodeFilter;

const RED: &str = "{ each = 1, weight = { type = 'entropy-ratio', most = 7.0 } }";
const MIXED: &str = "{ type = 'mixed-policy', shift = { type = 'accuracy' } }";

#[test]
fn one_member_of_every_group_is_the_teachers_and_says_nothing_of_the_policys_success() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[("guests", RED), ("learn.objective", MIXED), ("budget.steps", "4")]);
    let made = Making::at(dir.path().join("one")).train(&recipe);
    let episodes = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    let (mut own_solved, mut own) = (0.0, 0.0);
    for stored in &episodes {
        let episode = &stored.scored.episode;
        let spoken = episode.transcript.segments().iter().filter(|segment| segment.role == Role::Policy);
        let by_the_teacher = spoken.clone().all(|segment| segment.provenance == Provenance::Synthetic);
        assert_eq!(by_the_teacher, episode.id.member == 0, "{}", episode.id);
        if episode.id.member > 0 && episode.id.step == 0 {
            own += 1.0;
            own_solved += f64::from(u8::from(stored.scored.outcome() == merit_core::Outcome::Solved));
        }
    }
    assert_eq!(episodes.len(), 4 * (recipe.budget.groups * recipe.budget.group_size) as usize);
    let steps = |name: &str| made.folder.metric(Phase::train(), name).unwrap();
    assert_eq!(steps("success")[0], (0, own_solved / own));
    // Two updates must have been seen before entropies can be compared.
    let weights: Vec<f64> = steps("guest_weight").into_iter().map(|(_, weight)| weight).collect();
    assert!(weights.len() == 4 && weights[..2] == [1.0, 1.0], "{weights:?}");
    assert!(weights.iter().all(|weight| (1.0..=7.0).contains(weight)), "{weights:?}");
    assert_eq!(steps("entropy_guests").len(), 4);
}

#[test]
fn a_run_with_guests_that_is_killed_goes_on_to_the_same_end() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[
        ("guests", RED),
        ("learn.objective", MIXED),
        ("budget.steps", "4"),
        ("budget.checkpoint_every", "1"),
    ]);
    let whole = Making::at(dir.path().join("whole")).train(&recipe);
    let learning = whole.events.iter().position(|event| matches!(event, merit_run::Event::Step { .. }));
    let cut = Making::at(dir.path().join("cut"));
    // At the third step of learning.
    assert!(cut.kill(&recipe, learning.unwrap() + 3));
    cut.train(&recipe).must_be(&whole);
}

#[test]
fn a_guest_that_says_what_belongs_to_another_task_is_hardly_ever_right() {
    let dir = tempfile::tempdir().unwrap();
    let shuffled = small(&[
        ("guests", "{ shuffled = true }"),
        ("learn.objective", "{ type = 'mixed-policy' }"),
        ("budget.steps", "2"),
        ("budget.groups", "8"),
    ]);
    let right = small(&[
        ("guests", "{}"),
        ("learn.objective", "{ type = 'mixed-policy' }"),
        ("budget.steps", "2"),
        ("budget.groups", "8"),
    ]);
    let solved = |recipe, name: &str| {
        let made = Making::at(dir.path().join(name)).train(recipe);
        let episodes = made.folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
        let guests = episodes.iter().filter(|stored| stored.scored.episode.id.member == 0);
        guests.filter(|stored| stored.scored.outcome() == merit_core::Outcome::Solved).count()
    };
    assert_eq!(solved(&right, "right"), 16);
    let by_chance = solved(&shuffled, "shuffled");
    assert!(by_chance <= 4, "{by_chance} of 16 misplaced demonstrations are right");
}

#[test]
fn guests_that_cannot_join_are_refused_and_a_recipe_without_them_keeps_its_hash() {
    assert!(!small(&[]).to_toml().contains("guests"));
    let refused = |changes: &[(&str, &str)]| {
        let changes: Vec<(String, String)> =
            changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        small(&[]).with(&changes).unwrap_err().to_string()
    };
    let check = |changes: &[(&str, &str)], want: &str| {
        let got = refused(changes);
        assert!(got.contains(want), "{got}");
    };
    check(&[("guests", "{}")], "use `mixed-policy`");
    check(&[("learn.objective", "{ type = 'mixed-policy' }")], "there is no `[guests]` table");
    check(&[("guests", "{ each = 0 }"), ("learn.objective", MIXED)], "`guests.each` is 0");
    check(
        &[("guests", "{ each = 64 }"), ("learn.objective", MIXED)],
        "leave room for one of the policy's own",
    );
    check(
        &[("guests", "{ weight = { type = 'entropy-ratio', most = 0.5 } }"), ("learn.objective", MIXED)],
        "`guests.weight.most` is 0.5; it must be at least 1",
    );
    check(&[("guests", "{ manners = { tipsy = 1.0 } }"), ("learn.objective", MIXED)], "`guests.manners`");
}
