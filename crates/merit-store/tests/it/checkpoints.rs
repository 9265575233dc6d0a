//! A checkpoint is whole or absent, and the newest whole one is found.

use crate::episodes::new_run;
use merit_store::{RunFolder, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

fn save(run: &RunFolder, step: u64) {
    run.save_checkpoint(step, &[("weights.bin", &[step as u8; 1000]), ("state.json", b"{}")]).unwrap();
}

fn folders(run: &RunFolder) -> Vec<String> {
    let entries = fs::read_dir(run.path().join("checkpoints")).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_newest_two_are_kept_and_the_newest_is_loaded() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    assert_eq!(run.latest_checkpoint().unwrap(), None);
    (1..=4).for_each(|step| save(&run, step));
    assert_eq!(folders(&run), ["step-000003", "step-000004"]);
    let latest = run.latest_checkpoint().unwrap().unwrap();
    assert_eq!((latest.step, latest.damaged.len()), (4, 0));
    assert_eq!(latest.file("weights.bin").unwrap(), [4; 1000]);
    assert_eq!(latest.file("nothing"), None);
}

#[test]
fn a_step_can_be_saved_again() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    save(&run, 1);
    run.save_checkpoint(1, &[("weights.bin", b"new")]).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap().unwrap().file("weights.bin").unwrap(), b"new");
    assert_eq!(folders(&run), ["step-000001"]);
}

#[test]
fn names_that_could_leave_the_folder_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    for name in ["../out", "a/b", "", "manifest.json", ".hidden", "a b"] {
        let error = run.save_checkpoint(1, &[(name, b"x")]).unwrap_err();
        assert!(matches!(error, StoreError::CheckpointName { .. }), "{name}: {error}");
    }
    let error = run.save_checkpoint(1, &[("twice", b"x"), ("twice", b"y")]).unwrap_err();
    assert!(matches!(&error, StoreError::CheckpointName { name } if name == "twice"), "{error}");
}

type Damage<'a> = (&'static str, Box<dyn Fn() + 'a>);

fn damages(newest: &Path) -> Vec<Damage<'_>> {
    let at = |name: &str| -> PathBuf { newest.join(name) };
    vec![
        ("a file cut short", Box::new(move || fs::write(at("weights.bin"), [2; 999]).unwrap())),
        ("a flipped byte", {
            Box::new(move || {
                let mut bytes = fs::read(at("weights.bin")).unwrap();
                bytes[500] ^= 1;
                fs::write(at("weights.bin"), bytes).unwrap();
            })
        }),
        ("a missing file", Box::new(move || fs::remove_file(at("state.json")).unwrap())),
        ("no manifest", Box::new(move || fs::remove_file(at("manifest.json")).unwrap())),
        ("half a manifest", Box::new(move || fs::write(at("manifest.json"), "{\"step\": 2, \"fi").unwrap())),
        ("a manifest of another step", {
            Box::new(move || {
                let text = fs::read_to_string(at("manifest.json")).unwrap();
                fs::write(at("manifest.json"), text.replace("\"step\": 2", "\"step\": 9")).unwrap();
            })
        }),
    ]
}

#[test]
fn a_damaged_newest_falls_back_to_the_older_and_is_reported() {
    for which in 0..6 {
        let home = tempfile::tempdir().unwrap();
        let run = new_run(home.path());
        (1..=2).for_each(|step| save(&run, step));
        let newest = run.path().join("checkpoints/step-000002");
        let (what, damage) = damages(&newest).swap_remove(which);
        damage();
        let latest = run.latest_checkpoint().unwrap().unwrap();
        assert_eq!((latest.step, latest.damaged.len()), (1, 1), "{what}");
        assert!(latest.damaged[0].path.ends_with("step-000002"), "{what}");

        // Going on from the older one replaces the damaged one and leaves two good ones.
        save(&run, 2);
        let latest = run.latest_checkpoint().unwrap().unwrap();
        assert_eq!((latest.step, latest.damaged.len()), (2, 0), "{what}");
    }
}

#[test]
fn when_no_checkpoint_loads_the_error_names_them_all() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    (1..=2).for_each(|step| save(&run, step));
    for step in 1..=2 {
        fs::write(run.path().join(format!("checkpoints/step-00000{step}/weights.bin")), "x").unwrap();
    }
    let error = run.latest_checkpoint().unwrap_err().to_string();
    assert!(error.contains("step-000001") && error.contains("step-000002"), "{error}");
}

/// Saving is: fill `.tmp`; rename an older one of the step to `.old`; rename `.tmp` into place; remove `.old`; remove what
/// is too old, by way of `.tmp`. Each case is the folder as a kill between two of these would leave it.
#[test]
fn every_point_at_which_saving_can_be_cut_leaves_a_loadable_checkpoint() {
    type Cut = fn(&Path);
    let cuts: [(&str, u64, Cut); 6] = [
        ("an empty new folder", 2, |dir| fs::create_dir(dir.join("step-000003.tmp")).unwrap()),
        ("a new folder without manifest", 2, |dir| {
            fs::create_dir(dir.join("step-000003.tmp")).unwrap();
            fs::write(dir.join("step-000003.tmp/weights.bin"), "half").unwrap();
        }),
        ("a whole new folder not yet in place", 2, |dir| copy(dir, "step-000002", "step-000003.tmp")),
        ("the old one moved away", 2, |dir| {
            copy(dir, "step-000002", "step-000002.tmp");
            fs::rename(dir.join("step-000002"), dir.join("step-000002.old")).unwrap();
        }),
        ("the old one not yet removed", 2, |dir| copy(dir, "step-000002", "step-000002.old")),
        ("half of a removal", 2, |dir| {
            fs::rename(dir.join("step-000001"), dir.join("step-000001.tmp")).unwrap();
            fs::remove_file(dir.join("step-000001.tmp/weights.bin")).unwrap();
        }),
    ];
    for (what, step, cut) in cuts {
        let home = tempfile::tempdir().unwrap();
        let run = new_run(home.path());
        (1..=2).for_each(|step| save(&run, step));
        let path = run.path().to_owned();
        drop(run);
        cut(&path.join("checkpoints"));

        let reader = RunFolder::open_read_only(&path).unwrap();
        assert_eq!(reader.latest_checkpoint().unwrap().unwrap().step, step, "{what}, seen by a reader");
        let run = RunFolder::open(&path).unwrap();
        let latest = run.latest_checkpoint().unwrap().unwrap();
        assert_eq!((latest.step, latest.damaged.len()), (step, 0), "{what}");
        assert!(folders(&run).iter().all(|name| !name.contains('.')), "{what}: {:?}", folders(&run));
        save(&run, 3);
        assert_eq!(run.latest_checkpoint().unwrap().unwrap().step, 3, "{what}");
    }
}

fn copy(dir: &Path, from: &str, to: &str) {
    fs::create_dir(dir.join(to)).unwrap();
    for entry in fs::read_dir(dir.join(from)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), dir.join(to).join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_file_that_did_not_change_is_linked_and_made_only_once() {
    use merit_store::Content;
    use std::cell::Cell;
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    let made = Cell::new(0);
    let make = || {
        made.set(made.get() + 1);
        b"frozen".to_vec()
    };
    // sha256 of `frozen`
    let sha256 = merit_core::hex(&<sha2::Sha256 as sha2::Digest>::digest(b"frozen"));
    for step in 1..=3 {
        let kept = Content::Kept { sha256: &sha256, make: &make };
        run.save_checkpoint_with(step, &[("step.txt", Content::Bytes(b"new")), ("frozen.bin", kept)])
            .unwrap();
    }
    assert_eq!(made.get(), 1);
    let checkpoint = run.latest_checkpoint().unwrap().unwrap();
    assert_eq!((checkpoint.step, checkpoint.file("frozen.bin")), (3, Some(&b"frozen"[..])));
    // Another content under the same name is written, whatever the checkpoint before holds.
    let other = merit_core::hex(&<sha2::Sha256 as sha2::Digest>::digest(b"thawed"));
    let thaw = || b"thawed".to_vec();
    run.save_checkpoint_with(4, &[("frozen.bin", Content::Kept { sha256: &other, make: &thaw })]).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap().unwrap().file("frozen.bin"), Some(&b"thawed"[..]));
}
