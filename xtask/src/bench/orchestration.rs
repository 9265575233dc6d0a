//! The cost of a turn beside verifiers' `ToolEnv`, and how close 512 waiting sessions come to the ideal.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject};
use anyhow::Result;
use serde_json::json;

pub(super) const SUBJECT: Subject = Subject {
    name: "orchestration",
    by_default: true,
    peers: &["verifiers"],
    examples: &[("merit-rollout", "orchestration")],
    measure,
};

/// Sessions in flight, and how many episodes per place on merit's side, so that a round takes long enough to time.
const SESSIONS: [(u32, u32); 2] = [(64, 400), (4096, 10)];
const ENTRIES: [&str; 2] = ["generate", "run_rollout"];

/// The sizes of a run.
struct Sizes {
    sessions: Vec<(u32, u32)>,
    waiting: u32,
    latency_ms: u32,
}

impl Sizes {
    fn of(asked: &Asked) -> Self {
        if asked.quick {
            Self { sessions: vec![(8, 4)], waiting: 8, latency_ms: 10 }
        } else {
            Self { sessions: SESSIONS.to_vec(), waiting: 512, latency_ms: 100 }
        }
    }
}

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let sizes = Sizes::of(asked);
    interleave(&jobs(&sizes, asked.quick), asked.rounds, record)?;
    Ok(beside_peers(&rows(&sizes, record)?))
}

fn jobs(sizes: &Sizes, quick: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    let peer = |arguments: String, case: &str| {
        Job::peer("verifiers", "verifiers_tool_env.py", &arguments, json!({ "case": case }))
    };
    for (sessions, per_place) in &sizes.sessions {
        let case = sessions.to_string();
        // The example always runs its waiting model too; here it is kept out of the way.
        let ours = format!(
            "--sessions {sessions} --rounds {per_place} --turns 5 --latency-sessions 1 --latency-ms 1"
        );
        jobs.push(Job::merit("orchestration", &ours, json!({ "case": case })));
        let fewer = if quick { " --episodes 16" } else { "" };
        jobs.push(peer(format!("--size {sessions}{fewer}"), &case));
    }
    let Sizes { waiting, latency_ms, .. } = sizes;
    let ours =
        format!("--sessions 1 --rounds 1 --turns 5 --latency-sessions {waiting} --latency-ms {latency_ms}");
    jobs.push(Job::merit("orchestration", &ours, json!({ "case": "waiting" })));
    jobs.push(peer(format!("--size {waiting} --latency-ms {latency_ms}"), "waiting"));
    jobs
}

fn rows(sizes: &Sizes, record: &Record) -> Result<Vec<Row>> {
    let lines = &record.lines;
    let mut rows = Vec::new();
    for (sessions, _) in &sizes.sessions {
        let case = sessions.to_string();
        for entry in ENTRIES {
            let ours = json!({"side": "merit", "case": case, "what": "orchestration"});
            let theirs = json!({"side": "verifiers", "case": case, "entry": entry});
            rows.push(Row {
                regime: format!("{sessions} sessions in flight, CPU µs per turn"),
                merit: per_round(lines, &ours, "cpu_us_per_turn")?,
                peer: format!("verifiers `{entry}`"),
                theirs: per_round(lines, &theirs, "cpu_us_per_turn")?,
                better: Better::Lower,
                bar: Bar::AtMost(20.0),
            });
        }
    }
    for entry in ENTRIES {
        let percent = |wanted| -> Result<Vec<f64>> {
            Ok(per_round(lines, &wanted, "share_of_ideal")?.iter().map(|share| share * 100.0).collect())
        };
        rows.push(Row {
            regime: format!(
                "{} sessions × {} ms per model call, % of ideal speed",
                sizes.waiting, sizes.latency_ms
            ),
            merit: percent(json!({"side": "merit", "case": "waiting", "what": "latency"}))?,
            peer: format!("verifiers `{entry}`"),
            theirs: percent(json!({"side": "verifiers", "case": "waiting", "entry": entry}))?,
            better: Better::Higher,
            bar: Bar::AtLeast(95.0),
        });
    }
    Ok(rows)
}
