//! One minus the share of word n-grams that repeat an earlier one: 1 for text that never repeats itself.
//!
//! By turn: the same for what each turn wrote, repeats of earlier turns not counted. Text too short to repeat scores 1, so
//! this says nothing of being right: gate it on the outcome. Saying nothing at all is worth 0.

use super::reading::{Reading, policy_texts};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::text::{Metric, RepetitionConfig as Check, TextConfig, TextVerifier, Tokens, explain};

pub(crate) const REPETITION: Component = Component {
    about: About {
        name: "repetition",
        summary: "One minus the share of word n-grams that repeat an earlier one.",
        paper: "",
    },
    example: r#"
type = "gate"
when = { type = "exact-answer" }
at_least = 1
then = { type = "repetition", n = 3, reading = "all-turns" }
"#,
};

term_config! {
    /// `repetition`
    pub struct RepetitionConfig of REPETITION {
        /// Words per n-gram, 1 to 16.
        #[serde(default = "four")]
        pub n: usize,
        /// What is measured.
        #[serde(default = "Reading::all_turns")]
        pub reading: Reading,
        /// What a word is.
        #[serde(default)]
        pub tokens: Tokens,
    }
}

fn four() -> usize {
    4
}

impl TermConfig for RepetitionConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature { judges: false, ..Nature::VERDICT }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        let metric = Metric::Repetition(Check { n: self.n, tokens: self.tokens });
        let verifier = TextVerifier::compile(TextConfig::new(metric));
        let verifier = verifier.map_err(|why| Problem::Setting(why.to_string()))?;
        Ok(Box::new(Repetition { reading: self.reading.clone(), verifier }))
    }
}

struct Repetition {
    reading: Reading,
    verifier: TextVerifier,
}

impl Term for Repetition {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Repetition {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let text = self.reading.judged(episode)?;
        let verdict = self.verifier.verify::<&str>(&text, &[]);
        let score = verdict.score.ok_or_else(|| Finding::broken(explain(&verdict)))?;
        let finding = Finding::value(score, Evidence::new("counted", explain(&verdict)));
        if self.reading != Reading::AllTurns {
            return Ok(finding);
        }
        let turns: Vec<Option<f64>> =
            policy_texts(episode).map(|text| self.verifier.verify::<&str>(text, &[]).score).collect();
        Ok(if turns.len() == episode.turns.len() { finding.with_turns(turns) } else { finding })
    }
}
