//! The share of a task's unit tests that the answer's program passes, in a sandbox.
//!
//! This is the seam: whoever can run a program within limits fits [`CodeRunner`], and one line in [`CODE_RUNNERS`] makes it
//! known. The list is empty: no sandbox is part of merit yet, so a reward with this term is refused when it is compiled, and
//! nothing is ever run unfenced. A program that fails to build or exceeds its limits is the policy's doing and worth 0; a
//! sandbox that breaks, or tests that cannot be run, are the grader's failures.

use super::reading::{Reading, Reference};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};

pub(crate) const CODE: Component = Component {
    about: About {
        name: "code",
        summary: "The share of the task's unit tests that the program passes; refused while there is no sandbox to run it in.",
        paper: "B-Coder: Value-Based Deep Reinforcement Learning for Program Synthesis (2023)",
    },
    example: r#"
type = "code"
runner = "python"
tests = { pointer = "/tests" }
seconds = 5.0
"#,
};

/// Runs programs against unit tests, fenced off.
///
/// Called by the `code` term once per episode, from any thread. The same job must give the same report.
pub trait CodeRunner: Send + Sync {
    /// Runs every test of a job. An error says that the sandbox or the tests broke, never that the program did.
    fn run(&self, job: &CodeJob<'_>) -> Result<CodeReport, String>;
}

/// A program and what it is tried on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeJob<'a> {
    /// The program's text.
    pub program: &'a str,
    /// The tests, one text each.
    pub tests: &'a [String],
    /// Longest time for all tests together.
    pub seconds: f64,
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeReport {
    /// Tests that passed.
    pub passed: usize,
    /// Why the first that did not pass failed. Absent: all passed.
    pub first_failure: Option<String>,
}

/// A registered runner.
#[derive(Debug, Clone, Copy)]
pub struct CodeRunnerEntry {
    /// Name and one line.
    pub about: About,
    /// Makes it.
    pub build: fn() -> Box<dyn CodeRunner>,
}

/// Every runner of this build.
pub const CODE_RUNNERS: &[CodeRunnerEntry] = &[];

term_config! {
    /// `code`
    pub struct CodeConfig of CODE {
        /// Where the program is looked for.
        #[serde(default)]
        pub reading: Reading,
        /// The tests: one text, or a list.
        pub tests: Reference,
        /// Who runs it.
        pub runner: String,
        /// Longest time for all tests together.
        pub seconds: f64,
    }
}

impl TermConfig for CodeConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.tests.check()?;
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            return Err(Problem::NotPositive { field: "seconds", value: self.seconds });
        }
        let Some(entry) = CODE_RUNNERS.iter().find(|entry| entry.about.name == self.runner) else {
            let text = format!(
                "`code` would run programs, and this build has no sandbox called `{}` to run them in; judge the output \
                 they describe with `text`, `json` or `state` until there is one",
                self.runner
            );
            return Err(Problem::Setting(text));
        };
        Ok(Box::new(Code { config: self.clone(), runner: (entry.build)() }))
    }
}

struct Code {
    config: CodeConfig,
    runner: Box<dyn CodeRunner>,
}

impl Term for Code {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Code {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let from = &self.config.tests;
        let tests = from.texts(episode).filter(|tests| !tests.is_empty());
        let tests = tests.ok_or_else(|| Finding::not_applicable(from.missing()))?;
        let program = self.config.reading.judged(episode)?;
        let job = CodeJob { program: &program, tests: &tests, seconds: self.config.seconds };
        let report = self.runner.run(&job).map_err(Finding::broken)?;
        if report.passed > tests.len() {
            return Err(Finding::broken(format!("{} tests passed of {}", report.passed, tests.len())));
        }
        let first =
            report.first_failure.map_or_else(String::new, |why| format!("; the first that failed: {why}"));
        let finding = format!("{} of {} tests passed{first}", report.passed, tests.len());
        Ok(Finding::value(report.passed as f64 / tests.len() as f64, Evidence::new("executed", finding)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScoreContext;
    use crate::term::Survey;
    use merit_core::*;
    use std::sync::Arc;

    /// Passes tests that the program contains, and breaks where it is told to.
    struct Fake;

    impl CodeRunner for Fake {
        fn run(&self, job: &CodeJob<'_>) -> Result<CodeReport, String> {
            if job.tests.iter().any(|test| test == "break") {
                return Err("the sandbox is gone".to_owned());
            }
            let passed = job.tests.iter().filter(|test| job.program.contains(test.as_str())).count();
            let first = job.tests.iter().find(|test| !job.program.contains(test.as_str()));
            Ok(CodeReport { passed, first_failure: first.cloned() })
        }
    }

    fn look(tests: serde_json::Value, program: &str) -> Finding {
        let task = Task {
            id: "t".into(),
            world: "w".into(),
            version: 1,
            split: Split::Train,
            size: 1,
            payload: serde_json::json!({ "tests": tests }),
            answer: None,
        };
        let action = Action::Answer { text: program.to_owned() };
        let episode = Episode {
            id: EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 },
            task: Arc::new(task),
            policy_version: PolicyVersion(0),
            setting: Setting::default(),
            transcript: Transcript::default(),
            turns: vec![Turn { index: 0, action, calls: Vec::new(), stop: TurnStop::EndToken }],
            end: End::Answered,
            cost: Cost::default(),
            bootstrap: None,
            reported: None,
        };
        let config = CodeConfig {
            name: None,
            weight: 1.0,
            on_parse_failure: None,
            errors: None,
            reading: Reading::Answer,
            tests: Reference::Pointer("/tests".to_owned()),
            runner: "fake".to_owned(),
            seconds: 1.0,
        };
        let (group, context, survey) = ([&episode], ScoreContext::default(), Survey::new());
        let view = View {
            episode: &episode,
            group: &group,
            place: 0,
            batch: &group,
            context: &context,
            survey: &survey,
        };
        Code { config, runner: Box::new(Fake) }.look(&view)
    }

    #[test]
    fn a_runner_that_fits_the_seam_decides_the_share_of_tests() {
        assert_eq!(look(serde_json::json!(["a", "b"]), "a").outcome, TermOutcome::Value { value: 0.5 });
        assert_eq!(look(serde_json::json!(["a", "b"]), "ab").outcome, TermOutcome::Value { value: 1.0 });
        assert!(matches!(look(serde_json::json!([]), "a").outcome, TermOutcome::NotApplicable { .. }));
        assert!(matches!(look(serde_json::json!(["break"]), "a").outcome, TermOutcome::GraderFailed { .. }));
    }
}
