//! The programs around a trial: the candidate's, the judge's, and the one that vets tests.
//!
//! They are Python text; parsing them would cost more than running most tests, so the sandbox's own interpreter compiles them
//! once and hands back the compiled form, which then begins every job.

use super::CodeError;
use merit_sandbox::{Job, Limits, PEER_FD, Sandbox, Verdict};

const CANDIDATE: &str = concat!(
    include_str!("python/wire.py"),
    include_str!("python/channel.py"),
    include_str!("python/candidate.py"),
);
const JUDGE: &str = concat!(
    include_str!("python/wire.py"),
    include_str!("python/channel.py"),
    include_str!("python/link.py"),
    include_str!("python/stubs.py"),
    include_str!("python/compare.py"),
    include_str!("python/suite.py"),
    include_str!("python/judge.py"),
);
const VETTING: &str = concat!(
    include_str!("python/wire.py"),
    include_str!("python/channel.py"),
    include_str!("python/candidate.py"),
    include_str!("python/link.py"),
    include_str!("python/stubs.py"),
    include_str!("python/compare.py"),
    include_str!("python/suite.py"),
    include_str!("python/judge.py"),
    include_str!("python/impostors.py"),
);

/// What begins a job: runs the compiled text on the first line of `__argument__`, and leaves the rest there.
const BEGIN: &str = "import marshal\n\
    __harness__, _, __argument__ = __argument__.partition(\"\\n\")\n\
    exec(marshal.loads(bytes.fromhex(__harness__)))\n";

/// The programs, compiled.
#[derive(Debug)]
pub(super) struct Harness {
    candidate: String,
    judge: String,
    vetting: String,
}

impl Harness {
    pub(super) fn new(sandbox: &Sandbox, limits: &Limits) -> Result<Self, CodeError> {
        Ok(Self {
            candidate: compiled(sandbox, limits, CANDIDATE, "candidate.py")?,
            judge: compiled(sandbox, limits, JUDGE, "judge.py")?,
            vetting: compiled(sandbox, limits, VETTING, "vetting.py")?,
        })
    }

    /// A job that serves `program`.
    pub(super) fn candidate(&self, program: &str, limits: Limits) -> Job {
        let code = format!("{BEGIN}run_candidate({PEER_FD}, __argument__)");
        job(code, "candidate", format!("{}\n{program}", self.candidate), limits)
    }

    /// A job that runs `plan` and leaves what came of it in `__result__`.
    pub(super) fn judge(&self, plan: &str, limits: Limits) -> Job {
        let code = format!("{BEGIN}__result__ = json.dumps(run_judge({PEER_FD}, json.loads(__argument__)))");
        job(code, "judge", format!("{}\n{plan}", self.judge), limits)
    }

    /// A job that vets the tests of `plan` and writes what it finds, line by line.
    pub(super) fn vetting(&self, plan: &str, limits: Limits) -> Job {
        let code = format!("{BEGIN}__result__ = run_vetting(json.loads(__argument__))");
        job(code, "vetting", format!("{}\n{plan}", self.vetting), limits)
    }
}

fn job(code: String, name: &str, argument: String, limits: Limits) -> Job {
    Job { argument: Some(argument), name: name.to_owned(), ..Job::new(code, limits) }
}

/// The compiled form of `text`, in hexadecimal.
fn compiled(sandbox: &Sandbox, limits: &Limits, text: &str, name: &str) -> Result<String, CodeError> {
    let code = format!(
        "import marshal\n\
         __result__ = marshal.dumps(compile(__argument__, \"{name}\", \"exec\", dont_inherit=True)).hex()"
    );
    let limits = Limits { seconds: 30.0, output_bytes: 4 << 20, ..*limits };
    let report = sandbox.run(job(code, name, text.to_owned(), limits), None)?;
    match (report.verdict, report.value) {
        (Verdict::Ok, Some(code)) => Ok(code),
        (verdict, _) => Err(CodeError::Judge(format!("`{name}` does not compile: {verdict}"))),
    }
}
