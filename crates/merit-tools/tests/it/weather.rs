//! Faults come as planned: seeded, independent of scheduling, and continued by snapshots.

use merit_core::Task;
use merit_tools::conformance::example_task;
use merit_tools::{
    Calculator, ExecKind, FaultPlan, Faulty, NoAnswer, Tool, ToolAnswer, ToolSession, call_blocking,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn open(plan: FaultPlan) -> Arc<dyn ToolSession> {
    faulty(plan).open(&example_task(), None).unwrap()
}

fn faulty(plan: FaultPlan) -> Faulty {
    Faulty::new(Arc::new(Calculator), plan).unwrap()
}

/// One letter per call: what became of it.
fn weather(session: &Arc<dyn ToolSession>, calls: usize) -> String {
    let letter = |_| match call_blocking(session, "1+1", Duration::from_millis(30)) {
        Ok(ToolAnswer::Ok(_)) => 'o',
        Ok(ToolAnswer::Refused(_)) => 'r',
        Ok(ToolAnswer::Broken(_)) => 'b',
        Ok(ToolAnswer::TimedOut(_)) | Err(NoAnswer::Late(_)) => 't',
        Err(other) => panic!("{other}"),
    };
    (0..calls).map(letter).collect()
}

const MIXED: FaultPlan =
    FaultPlan { seed: 5, latency_ms: 0.0, latency_spread: 0.0, timed_out: 0.2, broken: 0.2, refused: 0.2 };

#[test]
fn the_default_plan_is_calm() {
    assert_eq!(weather(&open(FaultPlan::default()), 20), "o".repeat(20));
}

#[test]
fn every_kind_of_fault_happens_about_as_often_as_planned() {
    let seen = weather(&open(MIXED), 200);
    for (kind, share) in [('t', 0.2), ('b', 0.2), ('r', 0.2), ('o', 0.4)] {
        let count = seen.chars().filter(|&c| c == kind).count() as f64 / 200.0;
        assert!((count - share).abs() < 0.1, "{kind}: {count} of {seen}");
    }
}

#[test]
fn the_weather_is_that_of_seed_task_and_call_number() {
    let seen = weather(&open(MIXED), 30);
    assert_eq!(weather(&open(MIXED), 30), seen);
    assert_ne!(weather(&open(FaultPlan { seed: 6, ..MIXED }), 30), seen);
    let other = Task { id: "example/train/00001".to_owned(), ..example_task() };
    assert_ne!(weather(&faulty(MIXED).open(&other, None).unwrap(), 30), seen);
}

#[test]
fn a_fork_meets_the_weather_that_the_trunk_would_have_met() {
    let whole = weather(&open(MIXED), 30);
    let trunk = open(MIXED);
    let before = weather(&trunk, 11);
    let fork = faulty(MIXED).open(&example_task(), Some(&trunk.snapshot())).unwrap();
    assert_eq!(before + &weather(&fork, 19), whole);
}

#[test]
fn a_timed_out_call_waits_for_its_deadline_and_a_late_one_for_its_latency() {
    let never = open(FaultPlan { timed_out: 1.0, ..FaultPlan::default() });
    let deadline = Duration::from_millis(50);
    assert_eq!(call_blocking(&never, "1+1", deadline), Err(NoAnswer::Late(deadline)));
    let slow = open(FaultPlan { latency_ms: 40.0, ..FaultPlan::default() });
    let started = Instant::now();
    assert_eq!(call_blocking(&slow, "1+1", Duration::from_secs(5)), Ok(ToolAnswer::Ok("2".to_owned())));
    assert!(started.elapsed() >= Duration::from_millis(40));
    assert_eq!(faulty(FaultPlan::default()).exec_kind(), ExecKind::Waiting);
}

#[test]
fn a_plan_that_cannot_be_is_refused_with_the_reason() {
    let check = |plan: FaultPlan, why: &str| assert_eq!(plan.check().unwrap_err().to_string(), why);
    let calm = FaultPlan::default();
    check(FaultPlan { broken: 1.5, ..calm }, "`broken` is 1.5; it must be a probability, 0 to 1");
    check(
        FaultPlan { broken: 0.75, refused: 0.5, ..calm },
        "`timed_out`, `broken` and `refused` add up to 1.25; at most 1 is possible",
    );
    check(FaultPlan { latency_ms: -1.0, ..calm }, "`latency_ms` is -1; it must be 0 to 60000");
    check(FaultPlan { latency_spread: f64::NAN, ..calm }, "`latency_spread` is NaN; it must be 0 to 3");
}
