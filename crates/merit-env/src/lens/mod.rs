//! A lens to be designed in one line: glasses, curvatures and thicknesses for a focal length and an aperture.
//!
//! `focus 57 stop 4 glass 2` asks for two elements of 57 mm at f/4; `crown 12 -5 4 gap 2 flint -3 10 3` answers: for each element its
//! glass, two curvatures in steps of 0.0025 per mm and its thickness, with the gap between. Some tasks give a part of a prescription to
//! complete: `… given crown _ -5 _`. Rays are traced, never shown: tiers of the design, its error and its spot are told as info.

pub mod design;
pub mod optics;

use design::{
    Row, drawn, elements, made, read, refined_from_chance, refines_below, solved, textbook, written,
};
use merit_api::{Demonstration, Manner, NoState, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Seed, Split, Stream};
use optics::{STRONGEST, feasibility_if, focus, rays_pass, spot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A design meets its spec when its focal length is off by less than this share.
pub const TOLERANCE: f64 = 0.05;
/// Looks at rays that the optimiser has, from a prescription and from chance alike.
const LOOKS: usize = 51;
const STOPS: [u32; 4] = [4, 5, 6, 8];
const SHORTEST: u32 = 20;
const LONGEST: u32 = 120;
const MOST_ELEMENTS: usize = 3;
/// What chance makes of every spec, by focal length, stop and elements.
static BY_CHANCE: [OnceLock<f64>; SPECS] = [const { OnceLock::new() }; SPECS];
const SPECS: usize = (LONGEST - SHORTEST + 1) as usize * STOPS.len() * MOST_ELEMENTS;
const HINT: &str = "say GLASS CURVE CURVE THICKNESS for each element, with gap MM between";

/// The settings of `lens`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lens {
    /// Elements of the lens in training tasks, dealt in turn; 1 to 3.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Share of tasks that give a part of a prescription to complete.
    pub completion: f64,
    /// Share of the numbers and glasses that are left out of a prescription to complete.
    pub left_out: f64,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Lens {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2],
            held_out_sizes: Vec::new(),
            completion: 0.0,
            left_out: 0.3,
            instructions: false,
        }
    }
}

impl Component for Lens {
    const ABOUT: About = About {
        name: "lens",
        summary: "A lens to be designed for a focal length: glasses, curvatures and thicknesses, judged by tracing rays.",
        paper: "OPTIAGENT (2026)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many elements a lens has, as in [1, 2]"));
        }
        if let Some(size) =
            self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=3).contains(*size))
        {
            return Err(Refusal::new(format!("a size of {size}; give 1 to 3 elements")));
        }
        Refusal::unless(
            (0.0..=1.0).contains(&self.completion),
            "completion",
            self.completion,
            "a share between 0 and 1",
        )?;
        let part = self.left_out > 0.0 && self.left_out < 1.0;
        Refusal::unless(part, "left_out", self.left_out, "a share above 0 and below 1")
    }
}

/// What the lens has to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Focal length in mm.
    pub focal: u32,
    /// The f-number.
    pub stop: u32,
    pub elements: u32,
    /// A prescription in which `_` is to be filled in. Empty: all of it is.
    pub given: String,
}

impl Spec {
    fn focus(&self) -> f64 {
        f64::from(self.focal)
    }

    fn semi_aperture(&self) -> f64 {
        self.focus() / (2.0 * f64::from(self.stop))
    }

    /// How far a focal length is off, as a share of the wanted one.
    fn error(&self, efl: f64) -> f64 {
        (efl - self.focus()).abs() / self.focus()
    }

    /// What chance and the optimiser make of it. It begins from the spec alone, so that it is the same whoever asks, and is kept: there
    /// are few specs.
    fn by_chance(&self) -> f64 {
        let Self { focal, stop, elements, .. } = self;
        let work = || {
            let seed = Seed::root(u64::from(*focal)).child("chance", u64::from(stop * 10 + elements));
            refined_from_chance(self, LOOKS, &mut seed.stream())
        };
        let stops = STOPS.iter().position(|known| known == stop);
        let place = stops.zip(focal.checked_sub(SHORTEST)).map(|(stops, focal)| {
            (focal as usize * STOPS.len() + stops) * MOST_ELEMENTS + elements.saturating_sub(1) as usize
        });
        let kept =
            place.filter(|_| *elements as usize <= MOST_ELEMENTS).and_then(|place| BY_CHANCE.get(place));
        kept.map_or_else(work, |kept| *kept.get_or_init(work))
    }

    /// Whether a prescription keeps what was given.
    fn kept(&self, rows: &[Row]) -> bool {
        if self.given.is_empty() {
            return true;
        }
        let words = written(rows);
        let given = self.given.split(' ').filter(|word| !word.is_empty());
        given.clone().count() == 0
            || given.clone().count() == words.split(' ').count()
                && given.zip(words.split(' ')).all(|(given, word)| given == "_" || given == word)
    }
}

/// What a line is worth, tier by tier.
struct Judged {
    tiers: [f64; 4],
    error: f64,
    /// The spot in thousandths of the focal length.
    spot: f64,
}

impl Judged {
    const NOTHING: Self = Self { tiers: [0.0; 4], error: 1.0, spot: 10.0 };

    fn of(spec: &Spec, rows: &[Row]) -> Self {
        if rows.len() != spec.elements as usize || !spec.kept(rows) {
            return Self::NOTHING;
        }
        let design = elements(rows);
        let error = focus(&design).map_or(1.0, |(efl, _)| spec.error(efl).min(1.0));
        let spot = spot(&design, spec.semi_aperture());
        // Where there is a spot no ray is lost.
        let rays = spot.is_some() || rays_pass(&design, spec.semi_aperture());
        let spot = spot.map_or(10.0, |mm| (1e3 * mm / spec.focus()).min(10.0));
        let curved = rows.iter().flat_map(|row| [row.front, row.back]);
        let mild =
            curved.filter(|steps| steps.abs() <= STRONGEST / 2).count() as f64 / (2 * rows.len()) as f64;
        let tiers = [
            1.0,
            feasibility_if(&design, spec.semi_aperture(), rays),
            0.8 * (-error / 0.1).exp() + 0.2 * (-spot).exp(),
            mild,
        ];
        Self { tiers, error, spot }
    }

    fn solved(&self) -> bool {
        self.tiers[0] >= 1.0 && self.tiers[1] >= 1.0 && self.error < TOLERANCE
    }
}

impl Lens {
    fn said(&self, spec: &Spec, rows: Option<&[Row]>, result: StepResult) -> StepResult {
        let judged = rows.map_or(Judged::NOTHING, |rows| Judged::of(spec, rows));
        let fits = rows.filter(|_| judged.tiers[0] >= 1.0);
        let better = fits.is_some_and(|rows| refines_below(rows, spec, LOOKS, spec.by_chance()));
        result.with_info([
            ("tier_1", judged.tiers[0]),
            ("tier_2", judged.tiers[1]),
            ("tier_3", judged.tiers[2]),
            ("tier_4", judged.tiers[3]),
            ("error", judged.error),
            ("spot", judged.spot),
            ("sharp", (-judged.spot).exp()),
            ("solved", f64::from(u8::from(judged.solved()))),
            ("refined_beats_chance", f64::from(u8::from(better))),
        ])
    }
}

impl TextGame for Lens {
    type Puzzle = Spec;
    type State = NoState;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "A design that can be made, of the wanted focal length: right."),
        Manner::new(
            "textbook",
            "A design out of a textbook: elements alike, the first glass that will do: right.",
        ),
        Manner::new("made", "A design that can be made, of any focal length."),
        Manner::new("random", "Glasses, curvatures and thicknesses by chance."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Spec {
        let focal = SHORTEST + rng.below(u64::from(LONGEST - SHORTEST) + 1) as u32;
        let stop = rng.pick(&STOPS).copied().unwrap_or(4);
        let mut spec = Spec { focal, stop, elements: size, given: String::new() };
        if rng.unit() < self.completion
            && let Some(rows) = solved(&spec, rng)
        {
            let words = written(&rows);
            let mut given: Vec<&str> = words.split(' ').collect();
            let places: Vec<usize> = (0..given.len()).filter(|place| given[*place] != "gap").collect();
            let first = rng.pick(&places).copied().unwrap_or_default();
            for place in places {
                if place == first || rng.unit() < self.left_out {
                    given[place] = "_";
                }
            }
            spec.given = given.join(" ");
        }
        spec
    }

    fn check_puzzle(&self, spec: &Spec, size: u32) -> Result<(), String> {
        if !(SHORTEST..=LONGEST).contains(&spec.focal) || !STOPS.contains(&spec.stop) {
            return Err(format!("{} mm at f/{} is outside the world's range", spec.focal, spec.stop));
        }
        if spec.elements != size || !(1..=3).contains(&size) {
            return Err(format!("{} elements, its size is {size}", spec.elements));
        }
        // A blank may be anything, so a glass and a number that can stand there must make a prescription.
        let words = spec.given.split(' ').filter(|word| !word.is_empty()).enumerate();
        let glass = |place: usize| place.is_multiple_of(6);
        let filled: Vec<&str> = words
            .map(|(place, word)| {
                if word != "_" {
                    word
                } else if glass(place) {
                    "crown"
                } else {
                    "1"
                }
            })
            .collect();
        match read(&filled.join(" ")) {
            None if spec.given.is_empty() => Ok(()),
            Some(rows) if rows.len() == size as usize => Ok(()),
            _ => Err("what is given is no part of a prescription of its size".to_owned()),
        }
    }

    fn prompt(&self, spec: &Spec) -> String {
        let Spec { focal, stop, elements, given, .. } = spec;
        let given = if given.is_empty() { String::new() } else { format!(" given {given}") };
        format!("focus {focal} stop {stop} glass {elements}{given}")
    }

    fn instructions(&self) -> Option<String> {
        let text = "Design a lens. You are told its focal length in mm, its f-number and how many glass elements it has. Reply with one line: for \
                    each element its glass (fused 1.46, crown 1.52, bar 1.57, flint 1.62, lan 1.70 or dense 1.80), its front and back curvature in \
                    steps of 0.0025 per mm from -20 to 20 and its thickness in mm from 1 to 12; between elements `gap MM`, 0 to 12. For example \
                    `crown 12 -5 4 gap 2 flint -3 10 3`. Fill in `_` where a prescription is given.";
        self.instructions.then(|| text.to_owned())
    }

    fn parse(&self, text: &str) -> Action {
        match read(line(text)) {
            Some(rows) => Action::Answer { text: written(&rows) },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, spec: &Spec, _: &mut NoState, action: &Action, _: &[CallRecord]) -> StepResult {
        match action {
            Action::Answer { text } => {
                self.said(spec, read(text).as_deref(), StepResult::default().answered())
            }
            _ => self.said(spec, None, StepResult::saying(HINT)),
        }
    }

    fn expert(&self, spec: &Spec, play: &Demonstration<'_>) -> Option<String> {
        let mut rng = play.seed.child("design", 0).stream();
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "random" });
        let rows = match manner {
            "exact" | "textbook" if !spec.given.is_empty() => completed(spec),
            "textbook" => textbook(spec).or_else(|| solved(spec, &mut rng)),
            "exact" => solved(spec, &mut rng),
            "made" => made(spec, &mut rng),
            _ => Some(drawn(spec, &mut rng)),
        };
        rows.map(|rows| written(&rows))
    }
}

/// A right completion of what is given: the first that the blanks, tried in order from the middle of their ranges, lead to.
fn completed(spec: &Spec) -> Option<Vec<Row>> {
    let words: Vec<&str> = spec.given.split(' ').collect();
    let blanks: Vec<usize> = (0..words.len()).filter(|place| words[*place] == "_").collect();
    let mut rng = Seed::root(u64::from(spec.focal)).child(&spec.given, 0).stream();
    let fits = |rows: &Vec<Row>| spec.kept(rows) && Judged::of(spec, rows).solved();
    (0..200_000).find_map(|_| {
        let any = written(&drawn(spec, &mut rng));
        let mut filled = words.clone();
        let any: Vec<&str> = any.split(' ').collect();
        for place in &blanks {
            filled[*place] = any.get(*place)?;
        }
        read(&filled.join(" ")).filter(fits)
    })
}
