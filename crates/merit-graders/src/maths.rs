//! Whether the answer is the same mathematics as the reference: 1 or 0, by exact comparison within hard limits.
//!
//! Where the response has nothing that could be an answer, that is a parse failure. A reference that cannot be read and a
//! comparison that no limit could decide are the grader's failures, never a 0. Of several references any one will do.
//!
//! Equal is not enough: the answer must have the form that the reference and the task's words ask for (`check.form`), and the
//! question's own formula given back, however it is turned, earns nothing.

use merit_core::Role;
use merit_maths::{Asked, Candidate, MathsConfig as Check, Side, Verdict};
use merit_maths_compat::verify_asked;
use merit_reward::prelude::*;
use merit_reward::terms::excerpt;
use schemars::JsonSchema;

/// 1 where the answer is the same mathematics as the reference; 0 where it is not.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Maths {
    /// Where the answer is looked for.
    #[serde(default)]
    pub reading: Reading,
    /// The right answer, or several of which any one will do.
    #[serde(default)]
    pub reference: Reference,
    /// What counts as the same answer.
    #[serde(default, alias = "policy")]
    #[schemars(extend("aliases" = ["policy"]))]
    pub check: Check,
    /// An answer of more characters is worth 0 unread. Absent: the check's limits decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<usize>,
    /// Pay an answer that is the question's own formula.
    #[serde(default)]
    pub allow_restated: bool,
}

impl Component for Maths {
    const ABOUT: About = About {
        name: "maths",
        summary: "1 where the answer is the same mathematics as the reference; 0 where it is not.",
        paper: "CoSineVerifier: Tool-Augmented Answer Verification for Computation-Oriented Scientific Questions (2025)",
    };
    const EXAMPLE: &'static str = r#"
reading = "answer"
reference = "answer"
check = { units = "required", accept_rounded = 3, extract = { boxed = true, latex = true, plain = true } }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        self.reference.check()?;
        self.check.check().map_err(|why| Refusal::new(format!("`check`: {why}")))?;
        Refusal::unless(self.max_chars != Some(0), "max_chars", 0, "above 0")
    }
}

impl Term for Maths {
    fn kind(&self) -> TermKind {
        TermKind::PARSED_VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        self.judge(context.episode).unwrap_or_else(|early| early)
    }
}

impl Maths {
    fn judge(&self, episode: &Episode) -> Result<TermResult, TermResult> {
        let Self { reading, reference, check, max_chars, .. } = self;
        let missing = || TermResult::not_applicable(reference.missing());
        let references = reference.texts(episode).filter(|texts| !texts.is_empty()).ok_or_else(missing)?;
        let text = reading.judged(episode)?;
        if let Some(most) = max_chars.filter(|most| text.chars().nth(*most).is_some()) {
            let finding = format!("the answer has more than {most} characters");
            return Ok(TermResult::value(0.0, Evidence::new("parsed", finding)));
        }
        let mut undecided = None;
        let mut last = None;
        let question = question(episode);
        let asked = Asked { question: &question, may_restate: self.allow_restated };
        for gold in &references {
            let verdict = verify_asked(gold, &text, Some(asked), check);
            match verdict.passed() {
                Some(true) => return Ok(result(&verdict)),
                Some(false) => last = last.or(Some(verdict)),
                None => undecided = undecided.or(Some(verdict)),
            }
        }
        undecided.or(last).as_ref().map(result).ok_or_else(missing)
    }
}

/// What was asked: what the user and the environment said before the policy did.
fn question(episode: &Episode) -> String {
    let opening = episode.transcript.segments().iter().take_while(|segment| !segment.role.trainable());
    let said = opening.filter(|segment| matches!(segment.role, Role::User | Role::Environment));
    said.map(|segment| segment.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn chosen(side: &Side) -> Option<&Candidate> {
    side.chosen.and_then(|at| side.candidates.get(at))
}

fn result(verdict: &Verdict) -> TermResult {
    let read = Evidence::new("parsed", format!("response: {}", shown(&verdict.response)));
    let compared = Evidence::new(
        "compared",
        format!("reference: {}; {} (rule `{}`)", shown(&verdict.gold), verdict.why, verdict.rule),
    );
    TermResult::judged(verdict, Pay::Score, read).with_evidence(compared)
}

/// Which of the candidates was taken, and how it was read.
fn shown(side: &Side) -> String {
    let Some(taken) = chosen(side) else {
        return format!("none of {} candidates can be read", side.candidates.len());
    };
    let parsed = taken.parsed.as_deref().unwrap_or_default();
    let kind = format!("{:?}", taken.kind).to_lowercase();
    format!(
        "{kind} `{}` read as `{}`, of {} candidates",
        excerpt(&taken.text),
        excerpt(parsed),
        side.candidates.len()
    )
}
