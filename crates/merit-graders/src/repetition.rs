//! One minus the share of word n-grams that repeat an earlier one: 1 for text that never repeats itself.
//!
//! By turn: the same for what each turn wrote, repeats of earlier turns not counted. Text too short to repeat scores 1, so
//! this says nothing of being right: gate it on the outcome. Saying nothing at all is worth 0.

use merit_reward::prelude::*;
use merit_reward::terms::policy_texts;
use merit_verify::text::{Metric, RepetitionConfig as Check, TextConfig, TextVerifier, Tokens, explain};
use schemars::JsonSchema;

/// One minus the share of word n-grams that repeat an earlier one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repetition {
    /// Words per n-gram, 1 to 16.
    #[serde(default = "four")]
    pub n: usize,
    /// The text whose repetitions are counted.
    #[serde(default = "Reading::all_turns")]
    pub reading: Reading,
    /// How the text is cut into words.
    #[serde(default)]
    pub tokens: Tokens,
}

impl Component for Repetition {
    const ABOUT: About = About {
        name: "repetition",
        summary: "One minus the share of word n-grams that repeat an earlier one.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
n = 3
reading = "all-turns"
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()
    }
}

impl PreparedTerm for Repetition {
    type Prepared = TextVerifier;

    fn kind(&self) -> TermKind {
        TermKind::MEASURE
    }

    fn prepare(&self) -> Result<TextVerifier, Refusal> {
        let metric = Metric::Repetition(Check { n: self.n, tokens: self.tokens });
        TextVerifier::compile(TextConfig::new(metric)).map_err(|why| Refusal::new(why.to_string()))
    }

    fn evaluate(&self, verifier: &TextVerifier, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let text = self.reading.judged(episode)?;
        let verdict = verifier.verify::<&str>(&text, &[]);
        let score = verdict.score.ok_or_else(|| TermResult::broken(explain(&verdict)))?;
        let finding = TermResult::value(score, Evidence::new("counted", explain(&verdict)));
        if self.reading != Reading::AllTurns {
            return Ok(finding);
        }
        let turns: Vec<Option<f64>> =
            policy_texts(episode).map(|text| verifier.verify::<&str>(text, &[]).score).collect();
        Ok(if turns.len() == episode.turns.len() { finding.with_turns(turns) } else { finding })
    }
}

fn four() -> usize {
    4
}
