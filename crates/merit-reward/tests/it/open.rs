//! A term and a combinator that this crate does not know, written with the public seam alone.

use crate::episodes::{Did, episode};
use merit_reward::prelude::*;
use merit_reward::{WarningKind, check, conformance};

/// Pays for short answers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Brief {
    chars: usize,
}

impl Component for Brief {
    const ABOUT: About = About { name: "brief", summary: "1 where the answer is short.", paper: "" };
    const EXAMPLE: &'static str = "chars = 3";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.chars > 0, "chars", self.chars, "above 0")
    }
}

impl Term for Brief {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        match context.episode.answer() {
            Some(text) => {
                TermResult::verdict(text.len() <= self.chars, Evidence::new("counted", "characters"))
            }
            None => TermResult::not_applicable("there is no answer"),
        }
    }
}

/// The greater of two parts, where `of` must pass.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pass {
    of: Box<RewardConfig>,
    at_least: f64,
}

impl Component for Pass {
    const ABOUT: About = About { name: "pass", summary: "A part, or 0 below a mark.", paper: "" };
    const EXAMPLE: &'static str = "of = { type = 'exact-answer' }\nat_least = 1";
}

impl Combinator for Pass {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let at_least = compiler.finite("at_least", self.at_least)?;
        Ok(Arc::new(PassNode { of: compiler.part("of", &self.of)?, at_least }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        let Some(range) = advice.range("of") else { return };
        advice.threshold(Threshold::new("of", "the mark", range, Bound::AtLeast(self.at_least)));
    }
}

struct PassNode {
    of: Node,
    at_least: f64,
}

impl Expression for PassNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        evaluate(self.of.as_ref(), context, tracer)
            .map(|value| if value >= self.at_least { value } else { 0.0 })
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("pass (at least {})", self.at_least)
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.of.range(terms).hull(Range::only(0.0))
    }
}

fn components() -> Components {
    let own = merit_reward::register(Components::default());
    own.with(entry!(Brief as dyn Term)).with(entry!(Pass as dyn Combinator))
}

fn read(toml: &str) -> Result<RewardConfig, String> {
    components().reading(|| RewardConfig::from_toml(toml)).map_err(|error| error.message().to_owned())
}

#[test]
fn own_components_are_read_scored_and_saved_among_the_shipped_ones() {
    let toml =
        "type = 'pass'\nat_least = 0.5\nof = { type = 'brief', chars = 3, weight = 0.5, name = 'short' }";
    let config = read(toml).unwrap();
    let scorer = Scorer::compile(&config).unwrap();
    assert_eq!(scorer.term_names(), ["short"]);
    for (answer, want) in [("7", 0.5), ("seven", 0.0)] {
        let one = episode(Some("7"), 1, &[Did::Answers(answer)]);
        assert_eq!(scorer.score(&one, &ScoreContext::default()).reward.value(), Some(want));
    }
    let saved = toml::to_string(&config).unwrap();
    assert!(saved.starts_with("type = \"pass\"\n"), "{saved}");
    assert_eq!(read(&saved).unwrap(), config);
}

#[test]
fn own_components_conform_and_their_mistakes_are_named() {
    let episodes = [episode(Some("7"), 1, &[Did::Answers("7")]), episode(None, 1, &[Did::Babbles])];
    assert_eq!(conformance::check_examples(&components(), &episodes), Vec::<String>::new());
    let error = read("type = 'sum'\nof = [{ type = 'brief', chars = 0 }]").unwrap_err();
    assert_eq!(error, "`sum`: `brief`: `chars` is 0; it must be above 0");
    let error = read("type = 'breif'\nchars = 1").unwrap_err();
    assert!(
        error.starts_with("unknown reward term or combinator `breif` (did you mean `brief`?)"),
        "{error}"
    );
    // It is known where it was lent only.
    let error = RewardConfig::from_toml("type = 'brief'\nchars = 1").unwrap_err().to_string();
    assert!(error.contains("unknown reward term or combinator `brief`"), "{error}");
}

/// 1 where the answer is the task's, whatever its case.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SameWord {}

impl Component for SameWord {
    const ABOUT: About = About { name: "same-word", summary: "1 where the answer is right.", paper: "" };
}

impl Term for SameWord {
    fn kind(&self) -> TermKind {
        TermKind { solves: true, ..TermKind::VERDICT }
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let same = context.episode.answer().map(str::to_lowercase)
            == context.episode.task.answer.as_deref().map(str::to_lowercase);
        TermResult::verdict(same, Evidence::new("compared", "both in lower case"))
    }
}

#[test]
fn an_own_term_tells_when_a_task_is_solved() {
    let components = components().with(entry!(SameWord as dyn Term));
    let toml = "type = 'sum'\nof = [{ type = 'format' }, { type = 'same-word', weight = 0.0 }]";
    let config = components.reading(|| RewardConfig::from_toml(toml)).unwrap();
    let scorer = Scorer::compile(&config).unwrap();
    assert!(scorer.tells_solved());
    for (answer, solved) in [("YES", true), ("no", false)] {
        let one = episode(Some("yes"), 1, &[Did::Answers(answer)]);
        assert_eq!(scorer.score(&one, &ScoreContext::default()).solved, Some(solved));
    }
    // A term of weight 0 that tells is not idle.
    assert!(!check(&config).unwrap().iter().any(|warning| warning.kind == WarningKind::IdleTerm));
    assert!(!Scorer::compile(&read("type = 'brief'\nchars = 3").unwrap()).unwrap().tells_solved());
}

#[test]
fn the_checker_asks_an_own_combinator() {
    let config = read("type = 'pass'\nat_least = 2\nof = { type = 'exact-answer' }").unwrap();
    let kinds: Vec<WarningKind> = check(&config).unwrap().into_iter().map(|warning| warning.kind).collect();
    assert!(kinds.contains(&WarningKind::Unreachable), "{kinds:?}");
}

#[test]
fn a_reward_can_be_put_together_without_a_document() {
    let term = RewardConfig::term(Brief { chars: 3 }, |settings| settings);
    let common = CommonSettings { weight: 2.0, ..CommonSettings::default() };
    let config = RewardConfig::combinator(
        Pass { of: Box::new(term.with_common(common)), at_least: 1.0 },
        |settings| settings,
    );
    assert_eq!(config.term_names(), ["brief"]);
    assert_eq!(config.settings::<Pass>().map(|pass| pass.at_least), Some(1.0));
    let one = episode(Some("7"), 1, &[Did::Answers("7")]);
    let score = Scorer::compile(&config).unwrap().score(&one, &ScoreContext::default());
    assert_eq!(score.reward.value(), Some(2.0));
}
