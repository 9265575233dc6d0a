//! Real processes that are killed, or that run into a limit on file size or a full disk. Nothing recorded is lost.
//!
//! The child processes are this test program again, asked for one of the `child_` tests below; without their
//! environment variable those do nothing.

use crate::episodes::{batch, new_run};
use merit_store::{EpisodeFilter, RunFolder, StoreError};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const RUN: &str = "MERIT_TEST_RUN";

fn given_run() -> Option<PathBuf> {
    std::env::var_os(RUN).map(PathBuf::from)
}

fn weights(step: u64) -> Vec<u8> {
    (0..100_000_u64).map(|i| (i.wrapping_mul(step + 7) >> 3) as u8).collect()
}

#[test]
#[ignore = "a child process of the tests below"]
fn child_trains_until_killed() {
    let Some(path) = given_run() else { return };
    let run = RunFolder::open(&path).unwrap();
    let start = run.latest_checkpoint().unwrap().map_or(0, |c| c.step);
    for step in start + 1.. {
        run.record_episodes(&batch(step, 2, 40)).unwrap();
        run.record_metrics("train", step, &[("success", 0.5)]).unwrap();
        run.save_checkpoint(
            step,
            &[("weights.bin", &weights(step)), ("step.txt", step.to_string().as_bytes())],
        )
        .unwrap();
        println!("saved {step}");
    }
}

#[test]
#[ignore = "a child process of the tests below"]
fn child_records_until_refused() {
    let Some(path) = given_run() else { return };
    let run = if path.exists() { RunFolder::open(&path).unwrap() } else { new_run(path.parent().unwrap()) };
    for step in 1..10_000 {
        if let Err(error) = run.record_episodes(&batch(step, 4, 150)) {
            println!("after {} refused {error:?}", step - 1);
            assert!(error.to_string().contains("merit.db"), "{error}");
            let read = run.episode_rows(&EpisodeFilter::default()).unwrap().len() as u64;
            println!("read {read}");
            let saved = run.save_checkpoint(1, &[("weights.bin", &vec![1; 64 << 20])]).unwrap_err();
            println!("checkpoint {saved:?}");
            return;
        }
    }
    panic!("the disk never ran full");
}

#[test]
#[ignore = "a child process of the tests below"]
fn child_reads_where_nothing_can_be_written() {
    let Some(path) = given_run() else { return };
    let refused = RunFolder::open(&path).unwrap_err();
    assert!(matches!(refused, StoreError::Unwritable { .. }), "{refused}");
    let run = RunFolder::open_read_only(&path).unwrap();
    let refused = run.write_report("<p>").unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    println!("read {}", run.episodes(&EpisodeFilter::default()).unwrap().len());
}

fn child(name: &str, run: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", &format!("hard_ends::{name}")])
        .env(RUN, run);
    command
}

#[test]
fn a_process_killed_at_any_instant_leaves_its_record_and_its_newest_checkpoint() {
    let home = tempfile::tempdir().unwrap();
    drop(new_run(home.path()));
    let path = home.path().join("run");
    let mut promised = 0;
    for round in 0..25_u64 {
        let mut process = child("child_trains_until_killed", &path).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Wait for one sign of life, then strike at a moment that differs from round to round.
        let first = lines.by_ref().find_map(saved_step).expect("the child saves at least once");
        std::thread::sleep(Duration::from_micros(round * 1_700));
        process.kill().unwrap();
        process.wait().unwrap();
        promised = lines.filter_map(saved_step).chain([first]).max().unwrap().max(promised);

        let run = RunFolder::open(&path).expect("the lock died with the process");
        let latest = run.latest_checkpoint().unwrap().unwrap();
        assert!(latest.damaged.is_empty(), "{:?}", latest.damaged);
        assert!(latest.step >= promised, "step {} was saved, {} is there", promised, latest.step);
        assert_eq!(latest.file("weights.bin").unwrap(), weights(latest.step));
        for step in [1, latest.step] {
            assert_eq!(run.episodes(&EpisodeFilter::step("train", step)).unwrap().len(), 16);
        }
        assert!(run.metric("train", "success").unwrap().len() as u64 >= latest.step);
    }
}

fn saved_step(line: String) -> Option<u64> {
    // The harness writes its own words before the first line.
    line.rsplit_once("saved ")?.1.trim().parse().ok()
}

#[test]
fn a_limit_on_file_size_is_an_error_and_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    drop(new_run(home.path()));
    let path = home.path().join("run");
    // The signal is ignored, so that the write fails instead of the process; the limit is 2 MiB.
    let inner = child("child_records_until_refused", &path);
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\""]).arg(inner.get_program());
    let output = command.args(inner.get_args()).env(RUN, &path).output().unwrap();
    let steps = check_refusal(&output);

    let run = RunFolder::open(&path).unwrap();
    assert_eq!(run.episodes(&EpisodeFilter::default()).unwrap().len() as u64, steps * 32);
    assert!(run.latest_checkpoint().unwrap().is_none());
    run.record_episodes(&batch(steps + 1, 4, 150)).expect("with the limit gone the run goes on");
}

/// Where the system lets us mount, a disk that is really full.
#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=3m none \"$DISK\"";
    if !isolated(mount, home.path()).output().is_ok_and(|output| output.status.success()) {
        merit_testing::skip(merit_testing::MOUNTS, "mounting is not allowed here");
        return;
    }
    let inner = child("child_records_until_refused", &home.path().join("run"));
    let mut command = isolated(&format!("{mount} && exec \"$@\""), home.path());
    let output = command
        .arg(inner.get_program())
        .args(inner.get_args())
        .env(RUN, home.path().join("run"))
        .output()
        .unwrap();
    check_refusal(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("refused DiskFull") && text.contains("checkpoint DiskFull"), "{text}");
}

/// Where the system lets us mount, a run on a disk that cannot be written.
#[test]
fn a_run_on_a_read_only_disk_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    run.record_episodes(&batch(1, 1, 5)).unwrap();
    drop(run);
    let mount = "mount --bind \"$DISK\" \"$DISK\" && mount -o remount,ro,bind \"$DISK\"";
    if !isolated(mount, home.path()).output().is_ok_and(|output| output.status.success()) {
        merit_testing::skip(merit_testing::MOUNTS, "mounting is not allowed here");
        return;
    }
    let path = home.path().join("run");
    let inner = child("child_reads_where_nothing_can_be_written", &path);
    let mut command = isolated(&format!("{mount} && exec \"$@\""), home.path());
    let output = command.arg(inner.get_program()).args(inner.get_args()).env(RUN, path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("read 8"), "{text}");
}

/// A command in a mount namespace of its own.
fn isolated(script: &str, disk: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", script, "bash"]).env("DISK", disk);
    command
}

/// Checks what the child says of its refusal; gives the number of steps it recorded.
fn check_refusal(output: &std::process::Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let after = |word: &str| {
        text.rsplit_once(word).and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok())
    };
    let steps: u64 = after("after ").expect("the child was refused");
    assert!(steps > 0, "{text}");
    assert_eq!(after("read "), Some(steps * 32), "all that was committed can be read: {text}");
    assert!(
        ["DiskFull", "FileTooLarge", "Device"].iter().any(|kind| text.contains(&format!("refused {kind}"))),
        "{text}"
    );
    assert!(
        ["DiskFull", "FileTooLarge"].iter().any(|kind| text.contains(&format!("checkpoint {kind}"))),
        "{text}"
    );
    steps
}

#[test]
fn the_message_of_a_full_disk_says_where_and_what_to_do() {
    let error = StoreError::DiskFull { path: "/runs/a/merit.db".into() };
    assert_eq!(
        error.to_string(),
        "no space left for /runs/a/merit.db; free some space and resume: everything recorded so far is intact"
    );
}
