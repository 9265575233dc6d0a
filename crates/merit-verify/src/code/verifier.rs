//! Tries a program on its tests, in as few runs as its ends allow.

use super::ending::{not_loaded, outcome, script};
use super::extract::extract;
use super::pair::{self, Stage, Trial};
use super::plan::{Death, Plan, Planned};
use super::vetting::{Vetted, Vetting};
use super::{CodeConfig, CodeError, CodeVerdict, StdinTest, Test, TestOutcome, WeakTest, output, vetting};
use merit_sandbox::Job;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tries programs on tests. Made once and shared by threads; the sandbox is started by the first program.
///
/// ```
/// use merit_verify::code::{CodeConfig, CodeVerifier, Test};
/// let verifier = CodeVerifier::compile(CodeConfig::default())?;
/// let visible: Vec<Test> = serde_json::from_str(r#"["assert double(2) == 4"]"#)?;
/// let hidden: Vec<Test> = serde_json::from_str(r#"[{"type": "call", "function": "double", "args": [-1], "result": -2}]"#)?;
/// let verdict = verifier.verify("def double(x):\n    return x + x", &visible, &hidden)?;
/// assert!(verdict.all_passed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CodeVerifier {
    config: CodeConfig,
    stage: Mutex<Option<Arc<Stage>>>,
    vetting: Vetting,
}

impl CodeVerifier {
    /// Checks the settings; starts nothing.
    pub fn compile(config: CodeConfig) -> Result<Self, CodeError> {
        config.check()?;
        Ok(Self { config, stage: Mutex::new(None), vetting: Vetting::default() })
    }

    /// Tries the program in `response` on every test. The same response and tests give the same verdict, except where the
    /// program's own time is what decides.
    pub fn verify(&self, response: &str, tests: &[Test], hidden: &[Test]) -> Result<CodeVerdict, CodeError> {
        let all: Vec<&Test> = tests.iter().chain(hidden).collect();
        for (at, test) in all.iter().enumerate() {
            test.check().map_err(|why| bad_test(at, tests.len(), why))?;
        }
        let program = match extract(self.config.extract, response) {
            Ok(program) => format!("{}{program}", prelude(&self.config.prelude)),
            Err(why) => {
                let outcomes = vec![TestOutcome::Failed { why: why.to_owned() }; all.len()];
                return Ok(CodeVerdict::new(outcomes, tests.len(), Some(why.to_owned())));
            }
        };
        let stage = self.stage()?;
        let vetted = self.vetting.vet(&stage, &self.config, &all)?;
        if let Some((at, why)) = vetted.iter().enumerate().find_map(|(at, one)| Some((at, one.bad.clone()?)))
        {
            return Err(bad_test(at, tests.len(), why));
        }
        if let Some(impostor) = vetting::passing(vetted.iter().map(|one| (&**one, true))) {
            return Err(CodeError::Weak { impostor, visible: tests.len(), hidden: hidden.len() });
        }
        let session = Session {
            config: &self.config,
            stage,
            vetted,
            program: &program,
            tests: &all,
            visible: tests.len(),
            until: Instant::now() + Duration::from_secs_f64(self.config.total_seconds),
            outcomes: vec![None; all.len()],
            leaned: vec![false; all.len()],
            unusable: None,
        };
        session.run()
    }

    fn stage(&self) -> Result<Arc<Stage>, CodeError> {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stage) = &*stage {
            return Ok(Arc::clone(stage));
        }
        let made = Arc::new(Stage::new(&self.config)?);
        *stage = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// What stands before a program, closed by an end of line.
fn prelude(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

fn bad_test(at: usize, visible: usize, why: String) -> CodeError {
    let hidden = at >= visible;
    CodeError::Test { hidden, number: if hidden { at - visible } else { at } + 1, why }
}

/// One program on its way through its tests.
struct Session<'a> {
    config: &'a CodeConfig,
    stage: Arc<Stage>,
    program: &'a str,
    tests: &'a [&'a Test],
    visible: usize,
    until: Instant,
    /// What is known of each test without the program.
    vetted: Vec<Arc<Vetted>>,
    /// Absent: not tried yet.
    outcomes: Vec<Option<TestOutcome>>,
    /// Whether a test's outcome rests on the program's own word.
    leaned: Vec<bool>,
    unusable: Option<String>,
}

impl Session<'_> {
    fn run(mut self) -> Result<CodeVerdict, CodeError> {
        self.try_functions()?;
        for (at, test) in self.tests.iter().enumerate() {
            if let Test::Stdin(test) = test {
                self.outcomes[at] = Some(self.run_script(test)?);
            }
        }
        let passed = |at: &usize| self.outcomes[*at] == Some(TestOutcome::Passed);
        let passes = (0..self.tests.len()).filter(passed).map(|at| (&*self.vetted[at], self.leaned[at]));
        let unearned = vetting::passing(passes);
        let outcomes = self.outcomes.into_iter().map(|outcome| outcome.unwrap_or(TestOutcome::Time));
        let verdict = CodeVerdict::new(outcomes.collect(), self.visible, self.unusable);
        let weak = self.vetted.iter().enumerate().filter_map(|(at, one)| {
            let hidden = at >= self.visible;
            let number = if hidden { at - self.visible } else { at } + 1;
            Some(WeakTest { hidden, number, impostor: one.passed_by.first()?.0.clone() })
        });
        Ok(CodeVerdict { weak: weak.collect(), unearned, ..verdict })
    }

    fn seconds_left(&self) -> f64 {
        self.until.saturating_duration_since(Instant::now()).as_secs_f64()
    }

    /// The tests that need a judge and have no outcome.
    fn open(&self) -> Vec<usize> {
        let open = |&at: &usize| self.outcomes[at].is_none() && !matches!(self.tests[at], Test::Stdin(_));
        (0..self.tests.len()).filter(open).collect()
    }

    /// Pair after pair, until every test with a judge has its outcome or time is up.
    fn try_functions(&mut self) -> Result<(), CodeError> {
        for start in 0.. {
            let open = self.open();
            let seconds = self.seconds_left();
            if open.is_empty() || seconds < 0.001 {
                break;
            }
            if start > self.config.restarts {
                let why = format!("not tried: the program had ended or hung {start} times");
                self.settle(&open, &TestOutcome::Failed { why });
                break;
            }
            let trial = self.try_pair(&open, seconds)?;
            self.take(&open, &trial)?;
            if self.open().len() == open.len() {
                let why = "the judge ended without a word on the program".to_owned();
                self.settle(&open[..1], &TestOutcome::Failed { why });
            }
        }
        Ok(())
    }

    fn try_pair(&self, open: &[usize], seconds: f64) -> Result<Trial, CodeError> {
        let entry_point = self.config.entry_point.as_deref();
        let planned = |&at: &usize| {
            let planned = Planned::new(at, self.tests[at], entry_point)?;
            Some(planned.writing_back(self.vetted[at].write_back))
        };
        let tests = open.iter().filter_map(planned).collect();
        let plan =
            Plan { tests, seconds: self.config.limits.seconds, total: seconds, seed: self.config.seed };
        pair::run(&self.stage, self.config, self.program, &plan)
    }

    /// Takes over what a pair found.
    fn take(&mut self, open: &[usize], trial: &Trial) -> Result<(), CodeError> {
        let nonsense = |word: &str| CodeError::Judge(format!("it said `{word}`"));
        let candidate = trial.candidate.as_ref();
        for (at, kind, why, leaned) in &trial.said.outcomes {
            let found = outcome(kind, why, candidate).ok_or_else(|| nonsense(kind))?;
            let place = self.outcomes.get_mut(*at).filter(|_| open.contains(at));
            *place.ok_or_else(|| nonsense(&at.to_string()))? = Some(found);
            self.leaned[*at] = *leaned;
        }
        if let Some((kind, class, text)) = &trial.said.load {
            let late = || {
                CodeError::Judge("the program was not started in time; the machine is too busy".to_owned())
            };
            let found = not_loaded(kind, class, text, candidate).ok_or_else(late)?;
            if kind == "syntax" {
                self.unusable = Some(found.to_string());
            }
            self.settle(open, &found);
        }
        if let Some(death) = &trial.said.died {
            self.bury(death);
        }
        Ok(())
    }

    /// A judge that died after the program's first word died of something that the program said.
    fn bury(&mut self, death: &Death) {
        let broke = || TestOutcome::Failed { why: "the judge broke on what the program said".to_owned() };
        let found = script(&death.verdict).unwrap_or_else(broke);
        let open = self.open();
        let at = death.number.filter(|number| open.contains(number)).or(open.first().copied());
        self.settle(at.as_slice(), &found);
    }

    fn settle(&mut self, open: &[usize], found: &TestOutcome) {
        for &at in open {
            self.outcomes[at].get_or_insert_with(|| found.clone());
        }
    }

    /// The program as a script.
    fn run_script(&self, test: &StdinTest) -> Result<TestOutcome, CodeError> {
        let seconds = self.seconds_left().min(self.config.limits.seconds);
        if seconds < 0.001 {
            return Ok(TestOutcome::Time);
        }
        let limits = merit_sandbox::Limits { seconds, ..self.config.limits };
        let job = Job {
            stdin: test.stdin.clone().into_bytes(),
            name: "solution.py".to_owned(),
            seed: self.config.seed,
            ..Job::new(self.program, limits)
        };
        let report = self.stage.sandbox.run(job, None)?;
        // Who leaves with status 0 has said all he wants to say; what he printed decides.
        let ended = if report.exit_code == Some(0) { None } else { script(&report.verdict) };
        Ok(ended.unwrap_or_else(|| {
            if output::same(test.compare, &report.stdout, &test.stdout) {
                TestOutcome::Passed
            } else {
                TestOutcome::Failed { why: format!("it printed {}", shown(&report.stdout)) }
            }
        }))
    }
}

/// Enough of an output to recognise it.
fn shown(text: &str) -> String {
    const CHARS: usize = 120;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}
