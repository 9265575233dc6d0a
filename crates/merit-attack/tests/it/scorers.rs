//! Scorers that are programs of their own: what they say, what they do wrong, and what becomes of them.

use merit_attack::targets::{CommandTarget, Limits};
use merit_attack::{AttackError, Attempt, Grade, Payment, Settings, Target, audit};
use std::time::{Duration, Instant};

const GREETING: &str = r#"echo '{"name": "sh", "full": 1.0, "tasks": [{"id": "a", "prompt": "6*7?", "answer": "42"}, {"id": "b", "prompt": "1+1?", "answer": "2"}]}'"#;

/// A scorer in shell: `body` sees the number of the question as `$id` and the line as `$line`.
fn scorer(body: &str) -> Vec<String> {
    let read = r#"while IFS= read -r line; do id=${line##*\"id\":}; id=${id%%,*}"#;
    vec!["sh".into(), "-c".into(), format!("{GREETING}\n{read}\n{body}\ndone")]
}

fn limits() -> Limits {
    Limits { answer: Duration::from_millis(400), ..Limits::default() }
}

fn start(body: &str) -> CommandTarget {
    CommandTarget::start(scorer(body), limits()).unwrap()
}

const SCORE: &str = r#"echo "{\"id\": $id, \"score\": $score}""#;

fn pay(target: &mut CommandTarget, text: &str) -> Payment {
    target.pay(&[Attempt::answer(0, text)]).unwrap().remove(0)
}

#[test]
fn a_program_that_pays_for_any_answer_is_found_out() {
    let body = format!(
        "case $line in *'\"answer\":null'*|*'\"answer\":\"\"'*) score=0;; *) score=1;; esac\n{SCORE}"
    );
    let audit = audit(&mut start(&body), &Settings::default()).unwrap();
    assert_eq!((audit.target.as_str(), audit.tasks, audit.grade), ("sh", 2, Grade::F));
    let wins = |name: &str| audit.probes.iter().find(|p| p.name == name).unwrap().wins;
    assert_eq!((wins("do-nothing"), wins("empty")), (0, 0));
    assert!(wins("junk") > 0 && wins("constant") > 0);
}

#[test]
fn an_error_a_wrong_line_and_a_score_that_is_no_number_are_the_programs_failures() {
    let mut target = start(r#"echo "{\"id\": $id, \"error\": \"ValueError: bad\"}""#);
    assert_eq!(pay(&mut target, "x"), Payment::Broke { why: "ValueError: bad".into() });
    let mut target = start(r#"echo "{\"id\": $id, \"score\": NaN}""#);
    assert_eq!(pay(&mut target, "x"), Payment::Broke { why: "its score is not a finite number".into() });
    let mut target = start("echo hello");
    assert!(matches!(pay(&mut target, "x"), Payment::Broke { why } if why.contains("no JSON")));
    let mut target = start(r#"echo "{\"id\": 999, \"score\": 1}""#);
    assert!(matches!(pay(&mut target, "x"), Payment::Broke { why } if why.contains("asked 1")));
}

#[test]
fn a_program_that_hangs_is_ended_with_all_it_started_and_begun_anew() {
    let marker = tempfile::NamedTempFile::new().unwrap();
    let path = marker.path().display();
    let body =
        format!("case $line in *hang*) sleep 300 & echo $! > {path}; wait;; *) score=0\n{SCORE};; esac");
    let mut target = start(&body);
    let attempts = [Attempt::answer(0, "hang"), Attempt::answer(0, "fine")];
    let payments = target.pay(&attempts).unwrap();
    assert!(matches!(&payments[0], Payment::Hangs { why } if why == "no answer in 0.4 s"), "{payments:?}");
    assert_eq!(payments[1], Payment::Reward { value: 0.0, solved: None });
    let sleeper = std::fs::read_to_string(marker.path()).unwrap();
    let gone = || match std::fs::read_to_string(format!("/proc/{}/stat", sleeper.trim())) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    let waited = Instant::now();
    while !gone() && waited.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(gone(), "what the program had started is still running");
}

#[test]
fn a_program_that_dies_says_how_and_is_not_restarted_for_ever() {
    let mut target = start("echo 'out of luck' >&2; exit 3");
    let attempts: Vec<Attempt> = (0..6).map(|n| Attempt::answer(0, n.to_string())).collect();
    let payments = target.pay(&attempts).unwrap();
    let Payment::Broke { why } = &payments[0] else { panic!("{payments:?}") };
    assert!(why.contains("exit status: 3") && why.contains("out of luck"), "{why}");
    assert!(matches!(payments[2], Payment::Broke { .. }));
    assert!(matches!(&payments[3], Payment::Unscorable { why } if why.contains("3 times")), "{payments:?}");
}

#[test]
fn a_program_that_reads_nothing_or_writes_without_end_is_stopped() {
    let silent = vec!["sh".into(), "-c".into(), format!("{GREETING}\nexec sleep 300")];
    let mut target = CommandTarget::start(silent, limits()).unwrap();
    assert!(matches!(pay(&mut target, &"x".repeat(300_000)), Payment::Hangs { .. }));
    let endless = vec!["sh".into(), "-c".into(), "yes | tr -d '\\n'".into()];
    let failed = CommandTarget::start(endless, Limits { line_bytes: 1 << 16, ..limits() }).err().unwrap();
    assert!(failed.to_string().contains("a line of more than 65536 bytes"), "{failed}");
}

#[test]
fn a_program_that_does_not_greet_cannot_be_audited() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let refused = |command: Vec<String>| match CommandTarget::start(command, limits()) {
        Err(error @ AttackError::Greeting { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was accepted"),
    };
    assert!(refused(words("no-such-program-here")).contains("cannot be started"));
    assert!(refused(words("echo hello")).contains("no greeting"));
    assert!(refused(words("true")).contains("exit status: 0"));
    let unknown = r#"{"name": "x", "tasks": [], "extra": 1}"#;
    assert!(refused(vec!["echo".into(), unknown.into()]).contains("unknown field `extra`"));
}

/// A scorer in Python, since a shell takes its time for long lines: what it greets with, and what it pays.
fn quick(greeting: &str, score: &str) -> CommandTarget {
    let script = format!(
        "import json, sys\nprint('{greeting}', flush=True)\nfor line in sys.stdin:\n    asked = json.loads(line)\n    \
         right = (asked['answer'] or '').strip() == '42'\n    \
         print(json.dumps({{'id': asked['id'], 'score': {score}}}), flush=True)\n"
    );
    CommandTarget::start(vec!["python3".into(), "-c".into(), script], Limits::default()).unwrap()
}

/// The grade of a scorer that pays so much for 42 and nothing else, and what was found.
fn paying(full: &str, right: &str) -> (Grade, Vec<String>) {
    let greeting =
        format!(r#"{{"name": "py", {full}"tasks": [{{"id": "a", "prompt": "6*7?", "answer": "42"}}]}}"#);
    let mut target = quick(&greeting, &format!("{right} if right else 0"));
    let audit = audit(&mut target, &Settings::default()).unwrap();
    (audit.grade, audit.findings)
}

#[test]
fn a_scorer_is_held_to_what_it_calls_full() {
    assert_eq!(paying(r#""full": 1.0, "#, "1"), (Grade::A, vec![]));
    assert_eq!(paying(r#""full": 1.0, "#, "0.99999994"), (Grade::A, vec![]));
    assert_eq!(paying("", "0.5"), (Grade::A, vec![]));
    let (grade, findings) = paying(r#""full": 1.0, "#, "0.5");
    assert_eq!(grade, Grade::F);
    assert_eq!(findings[0], "`gold` should be paid in full and is not in 1 of 1 attempts");
    let (grade, findings) = paying(r#""full": 1.0, "#, "2");
    assert_eq!(grade, Grade::C);
    assert_eq!(findings[0], "`gold` earns more than what the target calls full in 1 of 1 attempts");
}

#[test]
fn a_scorer_of_which_nobody_knows_what_is_right_cannot_be_audited() {
    let mut target = quick(r#"{"name": "py", "tasks": [{"id": "a", "prompt": "6*7?"}]}"#, "1");
    let error = audit(&mut target, &Settings::default()).unwrap_err();
    assert!(matches!(error, AttackError::NothingKnown { tasks: 1, .. }), "{error}");
}

#[test]
fn a_program_without_tasks_has_nothing_to_be_tried_on() {
    let greeting = r#"{"name": "none", "tasks": []}"#;
    let mut target = CommandTarget::start(vec!["echo".into(), greeting.into()], limits()).unwrap();
    let error = audit(&mut target, &Settings::default()).unwrap_err();
    assert!(matches!(error, AttackError::NoTasks { .. }));
}
