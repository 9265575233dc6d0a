//! A tutor who answers a pupil's sum in one line: rightly, for this pupil, and by more than the usual way.
//!
//! `low likes cats missed carry 37 plus 8` is a pupil of a level with a liking and a last mistake, and a sum. The reply begins with the
//! number: `45 round cats`. It is helpful where the number is right, personal where it names the pupil's liking or mistake and nobody
//! else's, and creative where it names the rare way that fits this sum (or what fits the level) and none that does not. One turn.

use super::{flag, plain_number};
use merit_api::{Demonstration, Manner, NoState, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Seed, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const LEVELS: [&str; 3] = ["low", "mid", "high"];
const LIKINGS: [&str; 8] = ["cats", "cars", "birds", "ships", "stars", "drums", "trains", "apples"];
const MISTAKES: [&str; 4] = ["carry", "order", "sign", "zero"];
/// The way that fits every sum and is no news to anybody.
const USUAL: &str = "count";
/// The rare ways: of a sum without and with a carry, and of a difference without and with a borrow.
const WAYS: [&str; 4] = ["split", "round", "pairs", "line"];
/// What fits the lowest and the highest level, whatever the sum: a picture, and a question back.
const BY_LEVEL: [(&str, u8); 2] = [("draw", 0), ("why", 2)];
const FILLERS: [&str; 4] = ["well", "so", "then", "yes"];
/// The most words of a reply.
const MOST: usize = 12;
const HINT: &str = "say the number, then what you have to say about it";

/// The settings of `tutor`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tutor {
    /// How hard the sums of training tasks are, dealt in turn: 1 both numbers have one digit, 2 the first has two, 3 both have.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Tutor {
    fn default() -> Self {
        Self { sizes: vec![1, 2, 3], held_out_sizes: Vec::new(), instructions: false }
    }
}

impl Component for Tutor {
    const ABOUT: About = About {
        name: "tutor",
        summary: "A pupil's sum to be answered in one line: rightly, for this pupil, and by a rare way that fits.",
        paper: "Cultivating Helpful, Personalized, and Creative AI Tutors (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how hard sums are, as in [1, 2]"));
        }
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=3).contains(*size)) {
            Some(size) => Err(Refusal::new(format!("a size of {size}; sums have the sizes 1 to 3"))),
            None => Ok(()),
        }
    }
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pupil {
    /// The place of the level among low, mid and high.
    pub level: u8,
    /// The place of the liking.
    pub liking: u8,
    /// The place of the last mistake.
    pub mistake: u8,
    pub first: u32,
    pub second: u32,
    /// Whether the second number is taken away.
    pub minus: bool,
}

fn word<const N: usize>(words: [&'static str; N], at: u8) -> &'static str {
    words.get(usize::from(at)).copied().unwrap_or_default()
}

fn bounds(size: u32) -> [std::ops::RangeInclusive<u32>; 2] {
    let digits = |two: bool| if two { 10..=99 } else { 1..=9 };
    [digits(size > 1), digits(size > 2)]
}

impl Pupil {
    fn number(&self) -> u32 {
        if self.minus {
            self.first.saturating_sub(self.second)
        } else {
            self.first.saturating_add(self.second)
        }
    }

    /// The rare way that fits the sum.
    fn way(&self) -> &'static str {
        let (first, second) = (self.first % 10, self.second % 10);
        let crosses = if self.minus { first < second } else { first + second > 9 };
        WAYS[2 * usize::from(self.minus) + usize::from(crosses)]
    }

    fn by_level(&self) -> Option<&'static str> {
        BY_LEVEL.iter().find(|(_, level)| *level == self.level).map(|(word, _)| *word)
    }

    /// Whether words name something of this pupil, and nothing of another.
    fn is_personal(&self, words: &[&str]) -> bool {
        let own = [word(LIKINGS, self.liking), word(MISTAKES, self.mistake)];
        only(words, &own, |said| LIKINGS.contains(&said) || MISTAKES.contains(&said))
    }

    /// Whether words name a rare way that fits, and none that does not.
    fn is_creative(&self, words: &[&str]) -> bool {
        let fits: Vec<&str> = [self.way()].into_iter().chain(self.by_level()).collect();
        let is_way = |said: &str| WAYS.contains(&said) || BY_LEVEL.iter().any(|(word, _)| *word == said);
        only(words, &fits, is_way)
    }

    /// What a reply is worth.
    fn worth(&self, reply: &str) -> [(&'static str, f64); 5] {
        let words: Vec<&str> = reply.split_whitespace().collect();
        let helpful = words.first().and_then(|word| plain_number(word)) == Some(self.number());
        let (personal, creative) = (self.is_personal(&words), self.is_creative(&words));
        [
            ("helpful", flag(helpful)),
            ("personal", flag(personal)),
            ("creative", flag(creative)),
            ("words", words.len() as f64),
            ("solved", flag(helpful && personal && creative)),
        ]
    }

    /// A number that a pupil could say as well: one off, ten off, or with a carry forgotten.
    fn wrong(&self, seed: &Seed) -> u32 {
        let right = self.number();
        let near = [right + 1, right + 10, right.saturating_sub(1), right.saturating_sub(10)];
        let near: Vec<u32> = near.into_iter().filter(|number| *number != right).collect();
        seed.child("wrong", 0).stream().pick(&near).copied().unwrap_or(right + 1)
    }
}

/// Whether some word is among `own`, and every word of its kind is.
fn only(words: &[&str], own: &[&str], of_kind: impl Fn(&str) -> bool) -> bool {
    let mut named = words.iter().filter(|word| of_kind(word)).peekable();
    named.peek().is_some() && named.all(|word| own.contains(word))
}

impl TextGame for Tutor {
    type Puzzle = Pupil;
    type State = NoState;
    const MANNERS: &'static [Manner] = &[
        Manner::new("full", "The number, the rare way, and the pupil's liking or mistake."),
        Manner::new("bland", "The number and the usual way: right, and for anybody."),
        Manner::new("personal", "As bland, and the pupil's liking or mistake."),
        Manner::new("creative", "The number and a rare way that fits."),
        Manner::new("wrong", "As bland, with a number that is near."),
        Manner::new("wordy", "As full, and words that say nothing."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Pupil {
        let mut below = |count: usize| rng.below(count as u64) as u32;
        let (level, liking) = (below(LEVELS.len()) as u8, below(LIKINGS.len()) as u8);
        let (mistake, minus) = (below(MISTAKES.len()) as u8, below(2) == 1);
        let [first, second] = bounds(size).map(|of| of.start() + below((of.end() - of.start() + 1) as usize));
        let (first, second) = if minus { (first.max(second), first.min(second)) } else { (first, second) };
        Pupil { level, liking, mistake, first, second, minus }
    }

    fn check_puzzle(&self, pupil: &Pupil, size: u32) -> Result<(), String> {
        let places =
            [(pupil.level, LEVELS.len()), (pupil.liking, LIKINGS.len()), (pupil.mistake, MISTAKES.len())];
        if places.iter().any(|(at, of)| usize::from(*at) >= *of) {
            return Err("its level, liking or mistake is none that there is".to_owned());
        }
        let [first, second] = bounds(size);
        if !(1..=3).contains(&size) || !first.contains(&pupil.first) || !second.contains(&pupil.second) {
            return Err(format!("{} and {} are no numbers of size {size}", pupil.first, pupil.second));
        }
        match pupil.minus && pupil.first < pupil.second {
            true => Err(format!("{} cannot be taken from {}", pupil.second, pupil.first)),
            false => Ok(()),
        }
    }

    fn prompt(&self, pupil: &Pupil) -> String {
        let Pupil { level, liking, mistake, first, second, minus } = *pupil;
        let sign = if minus { "minus" } else { "plus" };
        let (level, liking, mistake) = (word(LEVELS, level), word(LIKINGS, liking), word(MISTAKES, mistake));
        format!("{level} likes {liking} missed {mistake} {first} {sign} {second}")
    }

    fn instructions(&self) -> Option<String> {
        let text = "A pupil asks a sum: `low likes cats missed carry 37 plus 8` has the level low, likes cats, and last missed a carry. Reply with one \
                    line: the number first, then at most eleven words, for example `45 round cats`. Name what the pupil likes or missed, and a way \
                    beside the usual `count`: `split` for a sum without a carry, `round` with one, `pairs` for a difference without a borrow, `line` \
                    with one; `draw` is for the level low, and `why` for high.";
        self.instructions.then(|| text.to_owned())
    }

    fn parse(&self, text: &str) -> Action {
        let reply = line(text).trim();
        let words: Vec<&str> = reply.split(' ').take(MOST + 1).collect();
        let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let read = words.len() <= MOST
            && words
                .split_first()
                .is_some_and(|(first, rest)| plain_number(first).is_some() && rest.iter().all(is_word));
        match read {
            true => Action::Answer { text: reply.to_owned() },
            false => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, pupil: &Pupil, _: &mut NoState, action: &Action, _: &[CallRecord]) -> StepResult {
        match action {
            Action::Answer { text } => StepResult::default().answered().with_info(pupil.worth(text)),
            _ => StepResult::saying(HINT).with_info(pupil.worth("")),
        }
    }

    fn expert(&self, pupil: &Pupil, play: &Demonstration<'_>) -> Option<String> {
        let manner = play.manner.unwrap_or(if play.is_correct() { "full" } else { "wrong" });
        let mut rng = play.seed.child("said", 0).stream();
        let own = if rng.chance(0.5) { word(LIKINGS, pupil.liking) } else { word(MISTAKES, pupil.mistake) };
        let way = pupil.by_level().filter(|_| rng.chance(0.5)).unwrap_or(pupil.way());
        let number = if manner == "wrong" { pupil.wrong(play.seed) } else { pupil.number() }.to_string();
        let mut words = match manner {
            "personal" => vec![number.as_str(), USUAL, own],
            "creative" => vec![number.as_str(), way],
            "bland" | "wrong" => vec![number.as_str(), USUAL],
            _ => vec![number.as_str(), way, own],
        };
        if manner == "wordy" {
            words.extend(FILLERS);
        }
        Some(words.join(" "))
    }
}
