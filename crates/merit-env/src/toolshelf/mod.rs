//! A shelf of hundreds of tools, always the same, which are never listed: name the one that is needed, read what it takes, and use it.
//!
//! The prompt is `need wash soup at home by cup for 3 big`: `wash` is another word for `clean`, and vague requests leave words out as long
//! as one tool remains. `use home clean soup cup` is answered by what is written about it, `doc to clean soup at home by cup takes size num`,
//! or `no such tool`; `give big 3` by what it gives, `got 72`; `answer 72` ends it. With more tools each is given what the one before
//! gave. Which tools there are has to be known by heart: other modes train that alone, from requests and from what is written about tools.

mod errand;
mod expert;
mod settings;
mod shelf;

pub use errand::{Errand, Need};
pub use settings::{Mode, Names, Template, Toolshelf};
pub use shelf::{MAX_TOOLS, Shelf, Takes, Tool};

use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, Word, line, sizes_of};
use merit_core::{Action, CallRecord, Split, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shelf::SIZES;

/// Words of the name of a tool, at most.
const MAX_NAME: usize = 6;
/// Tools that a line can name.
const MAX_NAMES: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    /// The tool that was named last, by its place on the shelf.
    pub open: Option<u32>,
    /// Needed tools that were named, in their order.
    pub chosen: u32,
    /// Tools on the shelf that were named and not needed then.
    pub strays: u32,
    /// Names that no tool on the shelf has.
    pub invented: u32,
    /// Tools that were given what they take.
    pub runs: u32,
    /// Tools that were given what they do not take, or no tool was named.
    pub refused: u32,
}

/// A line of the agent.
enum Command<'a> {
    Use(Vec<&'a str>),
    Give(&'a str),
    Answer(u32),
}

fn command(text: &str, names: Names) -> Option<Command<'_>> {
    let (verb, rest) = text.split_once(' ')?;
    let bracket = |byte: u8| names == Names::Tokens && matches!(byte, b'<' | b'>');
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || bracket(byte);
    let plain = |word: &str| word.bytes().all(letter);
    let number = |word: &str| word.parse::<u32>().ok().filter(|number| number.to_string() == word);
    if !rest.split(' ').all(|word| !word.is_empty() && plain(word)) {
        return None;
    }
    match verb {
        "use" => {
            // One more than there can be is enough to see that there are too many.
            let names: Vec<&str> = rest.split(" then ").take(MAX_NAMES + 1).collect();
            let fits = |name: &&str| name.split(' ').take(MAX_NAME + 1).count() <= MAX_NAME;
            (names.len() <= MAX_NAMES && names.iter().all(fits)).then_some(Command::Use(names))
        }
        "give" => {
            let known = |word: &str| SIZES.contains(&word) || number(word).is_some_and(|number| number < 100);
            (rest.split(' ').count() <= 2 && rest.split(' ').all(known)).then_some(Command::Give(rest))
        }
        "answer" => number(rest).map(Command::Answer),
        _ => None,
    }
}

#[derive(Default)]
struct Turn {
    read: bool,
    on_shelf: bool,
    tool_right: bool,
    right: bool,
}

impl Bench {
    /// Opens the tool of this name and counts it as chosen, astray or invented.
    fn name(&mut self, shelf: &Shelf, errand: &Errand, name: &str) -> Turn {
        self.open = shelf.find(name);
        let on_shelf = self.open.is_some();
        let needed = errand.needs.get(self.chosen as usize).map(|need| need.tool);
        let tool_right = on_shelf && self.open == needed;
        self.chosen += u32::from(tool_right);
        self.strays = self.strays.saturating_add(u32::from(on_shelf && !tool_right));
        self.invented = self.invented.saturating_add(u32::from(!on_shelf));
        Turn { read: true, on_shelf, tool_right, right: false }
    }

    /// Gives the tool that was named last its arguments: what it says.
    fn give(&mut self, shelf: &Shelf, arguments: &str) -> String {
        let given = self.open.map(|place| shelf.run(place, arguments));
        self.runs = self.runs.saturating_add(u32::from(given.flatten().is_some()));
        self.refused = self.refused.saturating_add(u32::from(given.flatten().is_none()));
        match given {
            Some(Some(number)) => format!("got {number}"),
            Some(None) => "not what it takes".to_owned(),
            None => "no tool named".to_owned(),
        }
    }
}

impl Toolshelf {
    fn told(&self, errand: &Errand, bench: &Bench, turn: &Turn, result: StepResult) -> StepResult {
        let flag = |holds: bool| f64::from(u8::from(holds));
        // The quarter of the tools that are needed least.
        let rare = |tool: u32| u64::from(tool) * 4 >= u64::from(self.tools) * 3;
        result.with_info([
            ("read", flag(turn.read)),
            ("on_shelf", flag(turn.on_shelf)),
            ("tool_right", flag(turn.tool_right)),
            ("relevant", f64::from(bench.chosen) / errand.needs.len().max(1) as f64),
            ("strays", f64::from(bench.strays)),
            ("invented", f64::from(bench.invented)),
            ("runs", f64::from(bench.runs)),
            ("refused", f64::from(bench.refused)),
            ("vague", flag(errand.needs.iter().any(|need| need.vague))),
            ("rare", flag(errand.needs.iter().any(|need| rare(need.tool)))),
            ("right", flag(turn.right)),
        ])
    }

    /// What an answer is worth: a number, or where names alone are asked for, all names of a line.
    fn answered(&self, errand: &Errand, bench: &mut Bench, text: &str) -> Turn {
        let right = self.answer(errand).as_deref() == Some(text);
        if self.mode == Mode::Agent {
            return Turn { read: true, right, ..Turn::default() };
        }
        let named: Vec<Turn> =
            text.split(" then ").map(|name| bench.name(self.shelf(), errand, name)).collect();
        Turn {
            read: true,
            on_shelf: named.iter().all(|turn| turn.on_shelf),
            tool_right: named.iter().all(|turn| turn.tool_right),
            right,
        }
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
        Errand::draw(size, self.shelf(), self.shares(), rng)
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
        match (self.mode, errand.needs.first()) {
            (Mode::Document, Some(need)) => self.shelf().doc(need.tool),
            _ => errand.said(self.shelf(), self.template == Template::Shifted),
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

    /// Where names alone are asked for, lines of names on the shelf.
    fn schema(&self, _: &Errand) -> Option<Value> {
        let shelf = self.shelf();
        // Letters, digits and angle brackets: nothing to be escaped.
        let names: Vec<String> = (0..shelf.tools.len() as u32).map(|place| shelf.name(place)).collect();
        let name = format!("({})", names.join("|"));
        let regex = match self.mode {
            Mode::Agent => return None,
            Mode::Retrieve => format!("use {name}( then {name}){{0,{}}}", MAX_NAMES - 1),
            Mode::Document => format!("use {name}"),
        };
        Some(json!({ "regex": regex }))
    }

    fn words(&self) -> Vec<Word> {
        self.shelf().words()
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

    fn commands(&self) -> Vec<CommandCard> {
        let name = self.shelf().name(0);
        let uses = |summary: &str, about: &str| {
            CommandCard::new("use", summary).text("tool", about).example(&format!("use {name}"))
        };
        match self.mode {
            Mode::Agent => vec![
                uses("Name a tool and read what it takes.", "its name"),
                CommandCard::new("give", "Give the named tool what it takes.")
                    .text("arguments", "a number, a size, or both in its order")
                    .example("give big 3"),
                CommandCard::new("answer", "Say what the last tool gave, which ends it.")
                    .number("number", "the number")
                    .example("answer 72"),
            ],
            Mode::Retrieve => {
                vec![uses(
                    "Name the tools that are needed, which ends it.",
                    "their names, `then` between two",
                )]
            }
            Mode::Document => vec![uses("Name the tool, which ends it.", "its name")],
        }
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let one_line = !said.contains(['\n', '\r']);
        let said = said.split_whitespace().collect::<Vec<&str>>().join(" ");
        match (command(&said, self.names).filter(|_| one_line), self.mode) {
            (Some(Command::Answer(number)), Mode::Agent) => Action::Answer { text: number.to_string() },
            (Some(Command::Use(names)), Mode::Agent) if names.len() == 1 => Action::Say { text: said },
            (Some(Command::Give(_)), Mode::Agent) => Action::Say { text: said },
            (Some(Command::Use(names)), Mode::Retrieve | Mode::Document) => {
                Action::Answer { text: names.join(" then ") }
            }
            _ => Action::Malformed { why: self.hint().to_owned() },
        }
    }

    fn step(&self, errand: &Errand, bench: &mut Bench, action: &Action, _: &[CallRecord]) -> StepResult {
        let text = match action {
            Action::Answer { text } => {
                let turn = self.answered(errand, bench, text);
                return self.told(errand, bench, &turn, StepResult::default().answered());
            }
            Action::Say { text } => text.as_str(),
            Action::Malformed { .. } | Action::Calls { .. } => "",
        };
        let (said, turn) = match command(text, self.names) {
            Some(Command::Use(names)) => {
                let turn = bench.name(self.shelf(), errand, names.first().copied().unwrap_or_default());
                let doc = bench.open.map(|place| self.shelf().doc(place));
                (doc.unwrap_or_else(|| "no such tool".to_owned()), turn)
            }
            Some(Command::Give(arguments)) => {
                (bench.give(self.shelf(), arguments), Turn { read: true, ..Turn::default() })
            }
            Some(Command::Answer(_)) | None => (self.hint().to_owned(), Turn::default()),
        };
        self.told(errand, bench, &turn, StepResult::saying(said))
    }

    fn expert(&self, errand: &Errand, play: &Demonstration<'_>) -> Option<String> {
        expert::line(self, errand, play)
    }
}
