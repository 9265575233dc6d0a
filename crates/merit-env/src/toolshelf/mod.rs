//! A shelf of hundreds of tools, always the same, which are never listed: name the one that is needed, read what it takes, and use it.
//!
//! The prompt is `need warm soup at home by cup for 3 big`: `warm` is another word for `heat`, and vague requests leave words out as long as one
//! tool remains. `use home heat soup cup` is answered by what is written about it, `doc to heat soup at home by cup takes size num`, or `no such tool`; `give
//! big 3` by what it gives, `got 47`; `answer 47` ends it. With more tools each is given what the one before gave. Which tools there are has
//! to be known by heart: other modes train that alone, from requests and from what is written about tools.

mod expert;
mod shelf;

pub use shelf::{Errand, MAX_TOOLS, Need, Shelf, Takes, Tool};

use merit_api::{Demonstration, Derived, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shelf::SIZES;

const HINT: &str = "say use TOOL, give ARGUMENTS or answer NUMBER";
/// Words of the name of a tool, at most.
const MAX_NAME: usize = 6;

/// What is asked of the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Use the tools and answer what the last one gives.
    #[default]
    Agent,
    /// Name the tools in one line, `use TOOL then TOOL`, and be done.
    Retrieve,
    /// The same for what is written about one tool instead of a request.
    Document,
}

/// How tools are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// By four words: domain, verb, object and unit.
    #[default]
    Words,
    /// By a number below 1000 that tells nothing about the tool.
    Numbers,
}

/// How requests are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Template {
    /// `need VERB OBJECT at DOMAIN by UNIT for NUMBER SIZE`.
    #[default]
    Plain,
    /// The same words in another order.
    Shifted,
}

/// The settings of `toolshelf`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Toolshelf {
    /// Tools that training tasks need, one after the other, dealt in turn; 1 to 3.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// What is asked: `agent`, `retrieve` or `document`. The last takes sizes of 1.
    pub mode: Mode,
    /// How tools are named: `words` or `numbers`.
    pub names: Names,
    /// How requests are worded: `plain` or `shifted`.
    pub template: Template,
    /// Tools on the shelf, 20 to 500.
    pub tools: u32,
    /// Which shelf: the same number gives the same tools.
    pub shelf: u64,
    /// Share of needs that leave out the unit and, where the rest still means one tool, another word.
    pub vague: f64,
    /// How often a word of a request is another word for the same.
    pub synonyms: f64,
    /// How unevenly tools are needed: the n-th tool as often as n to the power of minus this; 0 to 3.
    pub skew: f64,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
    /// The tools, made once.
    #[serde(skip)]
    pub made: Derived<Shelf>,
}

impl Default for Toolshelf {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2],
            held_out_sizes: Vec::new(),
            mode: Mode::Agent,
            names: Names::Words,
            template: Template::Plain,
            tools: 200,
            shelf: 0,
            vague: 0.3,
            synonyms: 0.3,
            skew: 0.0,
            instructions: false,
            made: Derived::default(),
        }
    }
}

impl Component for Toolshelf {
    const ABOUT: About = About {
        name: "toolshelf",
        summary: "Hundreds of tools that are never listed: name the one that is needed, read what it takes, use it.",
        paper: "ToolGen (2024)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many tools are needed, as in [1, 2]"));
        }
        let most = if self.mode == Mode::Document { 1 } else { 3 };
        let sizes = || self.sizes.iter().chain(&self.held_out_sizes);
        if let Some(size) = sizes().find(|size| !(1..=most).contains(*size)) {
            return Err(Refusal::new(format!("a size of {size}; give 1 to {most} tools in this mode")));
        }
        Refusal::unless((20..=MAX_TOOLS).contains(&self.tools), "tools", self.tools, "20 to 500")?;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        Refusal::unless(share(self.vague), "vague", self.vague, "a share between 0 and 1")?;
        Refusal::unless(share(self.synonyms), "synonyms", self.synonyms, "a share between 0 and 1")?;
        Refusal::unless((0.0..=3.0).contains(&self.skew), "skew", self.skew, "between 0 and 3")
    }
}

impl Toolshelf {
    /// The tools of these settings.
    pub fn shelf(&self) -> &Shelf {
        self.made.get_or(|| Shelf::new(self.shelf, self.tools, self.names == Names::Numbers))
    }
}

/// What has been done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    /// The tool that was named last, by its place on the shelf.
    pub open: Option<u32>,
    /// Needed tools that were named, in their order.
    pub chosen: u32,
    /// Names that no tool on the shelf has.
    pub invented: u32,
    /// Tools that were given what they take.
    pub runs: u32,
    /// Tools that were given what they do not take, or no tool was named.
    pub refused: u32,
}

/// A line of the agent.
enum Command<'a> {
    Use(Vec<String>),
    Give(&'a str),
    Answer(u32),
}

fn command(text: &str) -> Option<Command<'_>> {
    let (verb, rest) = text.split_once(' ')?;
    let plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let number = |word: &str| word.parse::<u32>().ok().filter(|number| number.to_string() == word);
    if !rest.split(' ').all(|word| !word.is_empty() && plain(word)) {
        return None;
    }
    match verb {
        "use" => {
            let names: Vec<String> = rest.split(" then ").map(str::to_owned).collect();
            let fits = |name: &String| name.split(' ').count() <= MAX_NAME;
            (names.len() <= 3 && names.iter().all(fits)).then_some(Command::Use(names))
        }
        "give" => {
            let known = |word: &str| SIZES.contains(&word) || number(word).is_some_and(|number| number < 100);
            (rest.split(' ').count() <= 2 && rest.split(' ').all(known)).then_some(Command::Give(rest))
        }
        "answer" => number(rest).map(Command::Answer),
        _ => None,
    }
}

impl Toolshelf {
    /// Names a tool: whether it is on the shelf, and whether it is the one that is needed next.
    fn name(&self, shelf: &Shelf, errand: &Errand, bench: &mut Bench, name: &str) -> (bool, bool) {
        bench.open = shelf.find(name);
        bench.invented = bench.invented.saturating_add(u32::from(bench.open.is_none()));
        let needed = errand.needs.get(bench.chosen as usize).map(|need| need.tool);
        let right = bench.open.is_some() && bench.open == needed;
        bench.chosen += u32::from(right);
        (bench.open.is_some(), right)
    }

    fn said(&self, errand: &Errand, bench: &Bench, result: StepResult, now: [bool; 4]) -> StepResult {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let [read, on_shelf, tool_right, right] = now;
        // The quarter of the tools that are needed least.
        let rare = |tool: u32| u64::from(tool) * 4 >= u64::from(self.tools) * 3;
        result.with_info([
            ("read", flag(read)),
            ("on_shelf", flag(on_shelf)),
            ("tool_right", flag(tool_right)),
            ("relevant", f64::from(bench.chosen) / errand.needs.len().max(1) as f64),
            ("invented", f64::from(bench.invented)),
            ("runs", f64::from(bench.runs)),
            ("refused", f64::from(bench.refused)),
            ("vague", flag(errand.needs.iter().any(|need| need.vague))),
            ("rare", flag(errand.needs.iter().any(|need| rare(need.tool)))),
            ("right", flag(right)),
        ])
    }
}

impl TextGame for Toolshelf {
    type Puzzle = Errand;
    type State = Bench;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Names the tools, gives what they take and answers: right."),
        Manner::new(
            "eager",
            "Gives number and size before it reads, and again where that is refused: right.",
        ),
        Manner::new("sloppy", "Takes a tool like the one that is needed for it, four times in ten."),
        Manner::new("inventor", "Names one tool that is not on the shelf, and then guesses."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Errand {
        Errand::draw(size, self.shelf(), [self.vague, self.synonyms, self.skew], rng)
    }

    fn identity(&self, errand: &Errand) -> String {
        // Both splits have all tools, since those are learnt by heart; requests are of one split.
        errand.said(self.shelf(), false)
    }

    fn check_puzzle(&self, errand: &Errand, size: u32) -> Result<(), String> {
        errand.check(size, self.shelf())
    }

    fn check_state(&self, errand: &Errand, bench: &Bench) -> Result<(), String> {
        if bench.chosen as usize > errand.needs.len() {
            return Err("more tools were chosen than are needed".to_owned());
        }
        match bench.open.filter(|open| *open >= self.tools) {
            Some(open) => Err(format!("tool {open} was named, but the shelf has {}", self.tools)),
            None => Ok(()),
        }
    }

    fn prompt(&self, errand: &Errand) -> String {
        let shelf = self.shelf();
        match (self.mode, errand.needs.first()) {
            (Mode::Document, Some(need)) => shelf.doc(need.tool),
            _ => errand.said(shelf, self.template == Template::Shifted),
        }
    }

    fn answer(&self, errand: &Errand) -> Option<String> {
        let shelf = self.shelf();
        if self.mode == Mode::Agent {
            return errand.course(shelf).last().map(|(_, _, given)| given.to_string());
        }
        let names: Vec<String> = errand.needs.iter().map(|need| shelf.name(need.tool)).collect();
        Some(names.join(" then "))
    }

    fn instructions(&self) -> Option<String> {
        let text = match self.mode {
            Mode::Agent => {
                "Use the tools that are needed, one after the other. Say one line per turn: `use TOOL` names one and shows what it takes, `give ARGUMENTS` gives \
                 it the number and the size in that order, and later tools are given what the one before gave. `answer NUMBER` says what the last one gave."
            }
            Mode::Retrieve => {
                "Name the tools that are needed in one line: `use TOOL`, or `use TOOL then TOOL`."
            }
            Mode::Document => "Name the tool that this is written about in one line: `use TOOL`.",
        };
        self.instructions.then(|| text.to_owned())
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let one_line = !said.contains(['\n', '\r']);
        let said = said.split_whitespace().collect::<Vec<&str>>().join(" ");
        match (command(&said).filter(|_| one_line), self.mode) {
            (Some(Command::Answer(number)), Mode::Agent) => Action::Answer { text: number.to_string() },
            (Some(Command::Use(names)), Mode::Agent) if names.len() == 1 => Action::Say { text: said },
            (Some(Command::Give(_)), Mode::Agent) => Action::Say { text: said },
            (Some(Command::Use(names)), Mode::Retrieve | Mode::Document) => {
                Action::Answer { text: names.join(" then ") }
            }
            _ => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, errand: &Errand, bench: &mut Bench, action: &Action, _: &[CallRecord]) -> StepResult {
        let shelf = self.shelf();
        let text = match action {
            Action::Answer { text } => {
                let named: Vec<(bool, bool)> = match self.mode {
                    Mode::Agent => Vec::new(),
                    _ => text.split(" then ").map(|name| self.name(shelf, errand, bench, name)).collect(),
                };
                let all = |holds: fn(&(bool, bool)) -> bool| !named.is_empty() && named.iter().all(holds);
                let right = self.answer(errand).as_ref() == Some(text);
                let now = [true, all(|named| named.0), all(|named| named.1), right];
                return self.said(errand, bench, StepResult::default().answered(), now);
            }
            Action::Say { text } => text.as_str(),
            Action::Malformed { .. } | Action::Calls { .. } => "",
        };
        let (said, now) = match command(text) {
            Some(Command::Use(names)) => {
                let name = names.first().map_or("", String::as_str);
                let (on_shelf, right) = self.name(shelf, errand, bench, name);
                let doc = bench.open.map(|place| shelf.doc(place));
                (doc.unwrap_or_else(|| "no such tool".to_owned()), [true, on_shelf, right, false])
            }
            Some(Command::Give(arguments)) => {
                let given = bench.open.map(|place| shelf.run(place, arguments));
                bench.runs = bench.runs.saturating_add(u32::from(given.flatten().is_some()));
                bench.refused = bench.refused.saturating_add(u32::from(given.flatten().is_none()));
                let said = match given {
                    Some(Some(number)) => format!("got {number}"),
                    Some(None) => "not what it takes".to_owned(),
                    None => "no tool named".to_owned(),
                };
                (said, [true, false, false, false])
            }
            Some(Command::Answer(_)) | None => (HINT.to_owned(), [false; 4]),
        };
        self.said(errand, bench, StepResult::saying(said), now)
    }

    fn expert(&self, errand: &Errand, play: &Demonstration<'_>) -> Option<String> {
        expert::line(self, errand, play)
    }
}
