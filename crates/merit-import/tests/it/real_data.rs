//! The recorded episodes of tau-bench's airline desk, where they are at hand: `MERIT_DATA` names their folder.

use merit_core::conformance::check_episode;
use merit_core::*;
use merit_import::{AUTO, ImportOptions, Imported, Layout, import_into, read_file};

const FILE: &str = "tau-bench-airline-gpt-4o.json";

fn imported() -> Option<Imported> {
    Some(read_file(&merit_testing::data(FILE)?, AUTO, &ImportOptions::default()).unwrap())
}

#[test]
fn all_two_hundred_episodes_come_in_whole() {
    let Some(imported) = imported() else { return };
    assert_eq!((imported.found.format, imported.found.layout), ("tau-bench", Layout::Array));
    assert_eq!((imported.episodes.len(), imported.skipped.len(), imported.remarks.len()), (200, 0, 0));
    for scored in &imported.episodes {
        assert_eq!(check_episode(&scored.episode), Vec::<String>::new());
        assert_eq!(scored.episode.task.world, "imported/tau-bench-airline");
    }
    let rewards = imported.episodes.iter().map(|s| s.episode.reported.as_ref().unwrap().reward);
    assert_eq!(rewards.filter(|&reward| reward == 1.0).count(), 84);
    let mut groups: Vec<u32> = imported.episodes.iter().map(|s| s.episode.id.group).collect();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups, (0..50).collect::<Vec<u32>>(), "fifty tasks, four trials each");
}

#[test]
fn every_message_has_its_role_and_every_call_its_answer() {
    let Some(imported) = imported() else { return };
    let episodes: Vec<&Episode> = imported.episodes.iter().map(|s| &*s.episode).collect();
    let said = |role| {
        let segments = episodes.iter().flat_map(|e| e.transcript.segments());
        segments.filter(|s| s.role == role).count()
    };
    // As counted in the file itself: 200 system, 1490 user, 1290 + 1074 + 90 assistant and 1164 tool messages.
    let counted = [Role::System, Role::User, Role::Policy, Role::Tool].map(said);
    assert_eq!(counted, [200, 1490, 2454, 1164]);
    let calls: Vec<&CallRecord> = episodes.iter().flat_map(|e| &e.turns).flat_map(|t| &t.calls).collect();
    assert_eq!(calls.len(), 1164);
    assert!(calls.iter().all(|call| matches!(call.end, CallEnd::Ok | CallEnd::Refused)));
    let refused = calls.iter().filter(|call| call.end == CallEnd::Refused);
    assert!(refused.clone().all(|call| call.output.starts_with("Error:")));
    assert_eq!(refused.count(), 73);
    for episode in &episodes {
        // The answers of the turns, in order, are what the tools said.
        let outputs: Vec<&str> =
            episode.turns.iter().flat_map(|t| &t.calls).map(|c| c.output.as_str()).collect();
        let segments = episode.transcript.segments().iter().filter(|s| s.role == Role::Tool);
        assert_eq!(outputs, segments.map(|s| s.text.as_str()).collect::<Vec<_>>());
    }
}

#[test]
fn five_episodes_ran_out_of_steps_and_the_others_were_ended_by_their_world() {
    let Some(imported) = imported() else { return };
    let count = |end: &End| imported.episodes.iter().filter(|s| s.episode.end == *end).count();
    assert_eq!(count(&End::EnvironmentDone), 195);
    assert_eq!(count(&End::Truncated { limit: Limit::Turns }), 5);
    let cut = imported.episodes.iter().filter(|s| s.episode.end != End::EnvironmentDone);
    assert!(cut.clone().all(|s| s.episode.turns.len() == 30), "thirty steps are that recorder's limit");
}

#[test]
fn a_folder_of_them_reads_back() {
    let Some(imported) = imported() else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("airline");
    let before: Vec<Episode> = imported.episodes.iter().map(|s| (*s.episode).clone()).collect();
    let written = import_into(&folder, imported, FILE, "0.0.0", 1).unwrap();
    assert_eq!((written.info.episodes, written.info.skipped), (200, 0));
    let run = merit_store::RunFolder::open_read_only(&folder).unwrap();
    let mut stored: Vec<Episode> = run
        .episodes(&merit_store::EpisodeFilter::default())
        .unwrap()
        .iter()
        .map(|s| (*s.scored.episode).clone())
        .collect();
    let mut before = before;
    before.sort_by(|a, b| a.id.cmp(&b.id));
    stored.sort_by(|a, b| a.id.cmp(&b.id));
    assert!(stored == before);
    let rows = run.episode_rows(&merit_store::EpisodeFilter::phase("import")).unwrap();
    let outcomes = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
    assert_eq!([Outcome::Solved, Outcome::PolicyWrong, Outcome::PolicyTimedOut].map(outcomes), [84, 111, 5]);
    assert!(rows.iter().all(|row| row.policy_tokens.is_none()));
}
