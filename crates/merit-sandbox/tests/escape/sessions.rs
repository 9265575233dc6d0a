//! Hostile sessions: what one cell does must end with its session at the latest, and never reach another.

use crate::program::name_of;
use merit_sandbox::{Limits, Report, Sandbox, SandboxError, Session, Verdict};
use std::time::Duration;

const AMPLE: f64 = 60.0;

type Check = fn(&Sandbox) -> Result<(), String>;

/// What went wrong, in words; nothing when all is well.
pub(crate) fn examine(sandbox: &Sandbox) -> Vec<String> {
    let checks: &[(&str, Check)] = &[
        ("what one session holds, another does not see", apart),
        ("a cell that ends its process ends its session and nothing else", ended_by_its_cell),
        ("a thread left running stands still between cells", still_between_cells),
        ("a cell past its deadline leaves the variables or ends the session", past_its_deadline),
        ("a report written ahead does not pass for the next cell's", reported_ahead),
        ("cells that fork, trace or connect are refused like programs", refused_like_programs),
    ];
    checks
        .iter()
        .filter_map(|(name, check)| check(sandbox).err().map(|why| format!("{name}: {why}")))
        .collect()
}

fn open(sandbox: &Sandbox) -> Result<Session, String> {
    sandbox.session(1, &Limits::default()).map_err(|error| error.to_string())
}

fn cell(session: &mut Session, code: &str) -> Result<Report, String> {
    session.run(code, AMPLE, None).map_err(|error| error.to_string())
}

fn expect(right: bool, seen: &impl std::fmt::Debug) -> Result<(), String> {
    if right { Ok(()) } else { Err(format!("{seen:?}")) }
}

fn apart(sandbox: &Sandbox) -> Result<(), String> {
    let (mut one, mut other) = (open(sandbox)?, open(sandbox)?);
    cell(&mut one, "import builtins\nown = builtins.shared = 'mine'\nopen('own', 'w').write(own)")?;
    let seen = cell(
        &mut other,
        "import builtins, os\nprint('own' in dir(), hasattr(builtins, 'shared'), os.listdir('.'))",
    )?;
    expect(seen.stdout == "False False []\n", &seen)?;
    let kept = cell(&mut one, "print(own, shared, open('own').read())")?;
    expect(kept.stdout == "mine mine mine\n", &kept)
}

fn ended_by_its_cell(sandbox: &Sandbox) -> Result<(), String> {
    for deadly in
        ["import os\nos._exit(0)", "import ctypes\nctypes.string_at(0)", "while True: print('x' * 1000)"]
    {
        let (mut session, mut bystander) = (open(sandbox)?, open(sandbox)?);
        cell(&mut session, "kept = 1")?;
        cell(&mut bystander, "kept = 2")?;
        let report = cell(&mut session, deadly)?;
        expect(matches!(name_of(&report.verdict), "Killed" | "Output"), &report)?;
        let after = session.run("print(kept)", AMPLE, None);
        expect(matches!(after, Err(SandboxError::SessionEnded(_))), &after)?;
        let other = cell(&mut bystander, "print(kept)")?;
        expect(other.stdout == "2\n", &other)?;
    }
    Ok(())
}

fn still_between_cells(sandbox: &Sandbox) -> Result<(), String> {
    let mut session = open(sandbox)?;
    let thread = "import threading, time\nn = 0\ndef count():\n    global n\n    while True:\n        n += 1\n        time.sleep(0.001)\n\
                  threading.Thread(target=count, daemon=True).start()";
    cell(&mut session, thread)?;
    std::thread::sleep(Duration::from_millis(1000));
    let report = cell(&mut session, "print(n)")?;
    let counted: u64 = report.stdout.trim().parse().map_err(|_| format!("{report:?}"))?;
    // Running on, it would have counted several hundred.
    expect(counted < 200, &counted)
}

fn past_its_deadline(sandbox: &Sandbox) -> Result<(), String> {
    let mut session = open(sandbox)?;
    cell(&mut session, "kept = 'kept'")?;
    let late = session.run("while True: pass", 0.2, None).map_err(|error| error.to_string())?;
    expect(late.verdict == Verdict::Time, &late)?;
    match session.run("print(kept)", AMPLE, None) {
        Ok(report) => expect(report.stdout == "kept\n", &report),
        Err(SandboxError::SessionEnded(_)) => Ok(()),
        Err(other) => Err(other.to_string()),
    }
}

fn reported_ahead(sandbox: &Sandbox) -> Result<(), String> {
    let mut session = open(sandbox)?;
    let ahead = "import json, os, struct\nbody = json.dumps({'verdict': 'ok', 'value': 'ahead'}).encode()\n\
                 os.write(4, (struct.pack('<I', len(body)) + body) * 3)";
    cell(&mut session, ahead)?;
    for number in 0..4 {
        match session.run(&format!("print({number})"), AMPLE, None) {
            Err(SandboxError::SessionEnded(_)) => return Ok(()),
            Ok(report) if matches!(report.verdict, Verdict::Killed { .. }) => {}
            Ok(report) => expect(report.stdout == format!("{number}\n"), &report)?,
            Err(other) => return Err(other.to_string()),
        }
    }
    Ok(())
}

fn refused_like_programs(sandbox: &Sandbox) -> Result<(), String> {
    let hostile = [
        ("import os\nos.fork()", "Processes"),
        ("import socket\nsocket.socket()", "Refused"),
        ("import os\nos.execv('/bin/sh', ['sh'])", "Refused"),
        ("import ctypes\nctypes.CDLL(None).ptrace(0, 0, 0, 0)", "Refused"),
    ];
    for (code, right) in hostile {
        let mut session = open(sandbox)?;
        cell(&mut session, "kept = 1")?;
        let report = cell(&mut session, code)?;
        expect(name_of(&report.verdict) == right, &report)?;
    }
    Ok(())
}
