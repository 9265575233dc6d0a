//! A world and a reward term of one's own, trained from a recipe.
use merit::prelude::*;

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "merit::serde", deny_unknown_fields)]
#[schemars(crate = "merit::schemars")]
pub(crate) struct Larger {}
impl Component for Larger {
    const ABOUT: About = About { name: "larger", summary: "Say the larger of two digits.", paper: "" };
}
impl TextGame for Larger {
    type Puzzle = (u64, u64);
    type State = NoState;
    fn draw(&self, _size: u32, rng: &mut Stream) -> (u64, u64) {
        (rng.below(10), rng.below(10))
    }
    fn prompt(&self, (a, b): &(u64, u64)) -> String {
        format!("{a} {b}")
    }
    fn answer(&self, (a, b): &(u64, u64)) -> Option<String> {
        Some(a.max(b).to_string())
    }
    fn parse(&self, text: &str) -> Action {
        let (text, why) = (text.trim().to_owned(), "say a digit".to_owned());
        if text.parse::<u64>().is_ok() { Action::Answer { text } } else { Action::Malformed { why } }
    }
    fn step(&self, _: &(u64, u64), _: &mut NoState, action: &Action, _: &[CallRecord]) -> StepResult {
        let answered = matches!(action, Action::Answer { .. });
        if answered { StepResult::default().answered() } else { StepResult::saying("say a digit") }
    }
    fn expert(&self, (a, b): &(u64, u64), play: &Demonstration<'_>) -> Option<String> {
        Some(if play.is_correct() { a.max(b).to_string() } else { a.min(b).to_string() })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(crate = "merit::serde", deny_unknown_fields)]
#[schemars(crate = "merit::schemars")]
pub(crate) struct Brief {}
impl Component for Brief {
    const ABOUT: About = About { name: "brief", summary: "1 where the answer has one character.", paper: "" };
}
impl Term for Brief {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }
    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let length = context.episode.answer().map_or(0, str::len);
        TermResult::verdict(length == 1, Evidence::new("counted", format!("{length} bytes")))
    }
}

pub(crate) fn main() -> merit::Result<()> {
    let own = merit::built_in().with(entry!(Larger as dyn WorldSettings)).with(entry!(Brief as dyn Term));
    let recipe = Recipe::read("larger.toml", include_str!("larger.toml"), &own)?;
    let folder = std::env::temp_dir().join(format!("larger-{}", std::process::id()));
    let finished = Run::create(&folder, recipe, 1)?.train(&mut |_| {})?;
    println!("held-out success {:.2} -> {:.2}", finished.held_out_before, finished.held_out_after);
    Ok(())
}
