//! Nodes, containers and things, with acts that have preconditions, an exact oracle, and one ground under several skins.
//!
//! `house` and `quests` are rooms that are seen one at a time, a line per turn (`go den`, `open box`, `take cup`, `put cup bin`); in a
//! house things may have to be washed or heated first. `plan` shows all rooms and wants the whole plan in one line, every step with
//! its tag: `ok: n go den, m take cup, m put cup bin`; gold steps can be given as done. `site` is a shop on the web with mirrors, of
//! which pages may be blocked. What is drawn and what an act does is in `home` and `site`, behind [`ground::Ground`]; the shortest
//! play in `tour`; `expert` plays in four manners. The size of a task is the number of acts of a shortest play.
//!
//! The info of every turn: `read`, `executed` (in a plan the share of its steps), `refused`, `repeat` (the line before again, and nothing
//! changed), `progress` (1 - acts left / acts at first), `keypoint` (fewer acts left than ever before), `milestones` and `new_milestone`
//! (shares of the stops that a right play makes), `goal_share`, `solved`, `left` and `optimal`. A plan has `rule` (its form) and `hint`
//! (steps that were given), a site `blocked`, `bad_send` and `tree` (-1 unread, -0.5 refused or
//! sent in vain, 0.5 a key point, otherwise 0).

mod expert;
pub mod ground;
pub mod home;
pub mod site;
pub mod tour;

use ground::{Ground, Heard, gold, shortest};
use home::{Home, Shape, VERBS};
use merit_api::{Demonstration, Manner, StepResult, TextGame, line, sizes_of, split_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream, canonical};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use site::Site;

/// Acts of the longest shortest play.
pub const MAX_SIZE: u32 = 16;
/// Steps of a plan that are read.
pub const MAX_STEPS: usize = 40;
const MAX_LINE: usize = 1200;
const MAX_DRAWS: usize = 20_000;

/// What the ground looks like and how it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Skin {
    /// Rooms one at a time; things may have to be treated first.
    House,
    /// Rooms one at a time; things to carry.
    Quests,
    /// All rooms at once; the whole plan in one line.
    Plan,
    /// Pages of a shop on the web.
    Site,
}

/// Which rooms have doors between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Doors {
    /// All.
    Open,
    /// Just enough to reach every room.
    Tree,
}

/// Gold steps that are given as done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    /// Share of tasks with one; the others have none.
    pub share: f64,
    /// At most this share of a task's steps is given; how many is uniform from 0 on.
    pub depth: f64,
}

/// The settings of `places`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Places {
    /// What the ground looks like and how it is played.
    pub skin: Skin,
    /// Acts of a shortest play of training tasks, dealt in turn: 2 to 16; in a site 6 to 10.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Rooms, 2 to 8. Absent: 4. Not in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooms: Option<u32>,
    /// Things that lie around, 1 to 10. Absent: 4. Not in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<u32>,
    /// Which rooms have doors between them. Absent: `open` in a plan, otherwise `tree`. Not in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doors: Option<Doors>,
    /// Share of wishes that need a treatment. Absent: 0.5. Only in a house and in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub treated: Option<f64>,
    /// Gold steps that training tasks give. Absent: none. Only in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Hints>,
    /// Gold steps that held-out tasks give. Absent: none. Only in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_hints: Option<Hints>,
    /// Sections, 2 to 4: a site of 31, 45 or 59 pages. Absent: 3. Only in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections: Option<u32>,
    /// Chance that a section's page behind a mirror is blocked, in training tasks; never behind both where the way leads. Absent: 0.
    /// Only in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<f64>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            skin: Skin::House,
            sizes: vec![4, 6, 8],
            held_out_sizes: Vec::new(),
            rooms: None,
            objects: None,
            doors: None,
            treated: None,
            hints: None,
            held_out_hints: None,
            sections: None,
            blocked: None,
            instructions: false,
        }
    }
}

impl Places {
    fn shape(&self) -> Shape {
        let doors = self.doors.unwrap_or(if self.skin == Skin::Plan { Doors::Open } else { Doors::Tree });
        Shape {
            rooms: self.rooms.unwrap_or(4) as usize,
            things: self.objects.unwrap_or(4) as usize,
            tree: doors == Doors::Tree,
            treated: if self.skin == Skin::Quests { 0.0 } else { self.treated.unwrap_or(0.5) },
        }
    }

    /// The sizes that tasks can have.
    fn possible(&self) -> std::ops::RangeInclusive<u32> {
        let (wishes, rooms) =
            (self.objects.unwrap_or(4).min(home::MAX_GOALS as u32), self.rooms.unwrap_or(4));
        // Take, put and treat each thing, walk, open a box or two: longer plays exist, and are too rare to be drawn.
        let acts = wishes * if self.shape().treated > 0.0 { 3 } else { 2 };
        match self.skin {
            Skin::Site => 6..=10,
            _ => 2..=(acts + rooms.min(2 * wishes) + wishes.min(2)).min(MAX_SIZE),
        }
    }

    /// The settings that only some skins know: name, whether it is given, whether this skin knows it.
    fn particular(&self) -> [(&'static str, bool, bool); 8] {
        let site = self.skin == Skin::Site;
        let plan = self.skin == Skin::Plan;
        [
            ("rooms", self.rooms.is_some(), !site),
            ("objects", self.objects.is_some(), !site),
            ("doors", self.doors.is_some(), !site),
            ("treated", self.treated.is_some(), plan || self.skin == Skin::House),
            ("hints", self.hints.is_some(), plan),
            ("held_out_hints", self.held_out_hints.is_some(), plan),
            ("sections", self.sections.is_some(), site),
            ("blocked", self.blocked.is_some(), site),
        ]
    }
}

impl Component for Places {
    const ABOUT: About = About {
        name: "places",
        summary: "Rooms or pages, containers and things: a house, quests, whole plans, a site with blocked pages.",
        paper: "",
    };

    fn check(&self) -> Result<(), Refusal> {
        if let Some((name, ..)) = self.particular().into_iter().find(|(_, given, known)| *given && !known) {
            let skin = format!("{:?}", self.skin).to_lowercase();
            return Err(Refusal::new(format!("`{name}` means nothing to the skin `{skin}`; leave it out")));
        }
        let share = 0.0..=1.0;
        let rooms = self.rooms.unwrap_or(4);
        Refusal::unless((2..=8).contains(&rooms), "rooms", rooms, "2 to 8")?;
        let objects = self.objects.unwrap_or(4);
        Refusal::unless((1..=10).contains(&objects), "objects", objects, "1 to 10")?;
        let sections = self.sections.unwrap_or(3);
        Refusal::unless((2..=4).contains(&sections), "sections", sections, "2 to 4")?;
        for (name, value) in [("treated", self.treated), ("blocked", self.blocked)] {
            let value = value.unwrap_or_default();
            Refusal::unless(share.contains(&value), name, value, "a share, 0 to 1")?;
        }
        for (name, hints) in [("hints", self.hints), ("held_out_hints", self.held_out_hints)] {
            let sound =
                hints.is_none_or(|hints| share.contains(&hints.share) && (0.0..1.0).contains(&hints.depth));
            Refusal::unless(sound, name, "out of range", "a share of 0 to 1 and a depth of 0 to below 1")?;
        }
        if self.sizes.is_empty() {
            return Err(Refusal::new(
                "`sizes` is empty; list how many acts a shortest play has, as in [4, 6, 8]",
            ));
        }
        let possible = self.possible();
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !possible.contains(size)) {
            Some(size) => Err(Refusal::new(format!(
                "a size of {size}; with these settings a shortest play has {} to {} acts",
                possible.start(),
                possible.end()
            ))),
            None => Ok(()),
        }
    }
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Puzzle {
    Home(Home),
    Site(Site),
}

impl Puzzle {
    fn ground(&self) -> &dyn Ground {
        match self {
            Self::Home(home) => home,
            Self::Site(site) => site,
        }
    }

    /// Gold steps that are given.
    fn hint(&self) -> usize {
        match self {
            Self::Home(home) => home.hint as usize,
            Self::Site(_) => 0,
        }
    }

    /// The cells at the beginning, what was given done.
    fn first(&self) -> Vec<u8> {
        let mut cells = self.ground().start();
        gold(self.ground(), &mut cells, self.hint());
        cells
    }

    fn optimal(&self) -> Option<usize> {
        shortest(self.ground(), &self.ground().start()).map(|route| route.left)
    }
}

/// What happened so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// The state of the ground. Empty: as at the beginning.
    pub cells: Vec<u8>,
    /// The line before.
    pub last: String,
    /// Acts by which the distance was shortened at best.
    pub gained: u32,
    /// Stops that were made at best.
    pub made: u32,
}

/// What an act is called, whatever the spaces.
fn act_of(text: &str) -> &str {
    line(text).trim()
}

/// The line that says a plan.
fn plan_line(acts: &[String]) -> String {
    let step = |act: &String| format!("{} {act}", if act.starts_with("go ") { "n" } else { "m" });
    format!("ok: {}", acts.iter().map(step).collect::<Vec<_>>().join(", "))
}

/// A plan as it was written, step by step, and how well it keeps the form.
struct Plan {
    acts: Vec<String>,
    /// 0.2 for the response, 0.3 for the share of steps with a tag, 0.5 for the share of acts with a known verb; the last two are halved
    /// where tags and acts differ in number.
    rule: f64,
}

impl Plan {
    fn read(text: &str) -> Self {
        let text = act_of(text);
        let (response, steps) = match text.split_once(':') {
            Some((said, steps)) if said.trim() == "ok" => (0.2, steps),
            _ => (0.0, text),
        };
        let (mut tags, mut verbs, mut acts) = (0.0, 0.0, Vec::new());
        let steps: Vec<&str> = steps.split(',').take(MAX_STEPS).collect();
        for step in &steps {
            let mut words: Vec<&str> = step.split_whitespace().collect();
            if let Some(&("n" | "m")) = words.first() {
                tags += 1.0;
                words.remove(0);
            }
            if let Some(verb) = words.first() {
                let known = VERBS.contains(verb);
                verbs += if !known {
                    0.0
                } else if words.len() > 1 {
                    1.0
                } else {
                    0.5
                };
                acts.push(words.join(" "));
            }
        }
        let same = if acts.len() as f64 == tags { 1.0 } else { 0.5 };
        let share = |sum: f64, of: usize| if of == 0 { 0.0 } else { sum / of as f64 };
        let rule = response + same * (0.3 * share(tags, steps.len()) + 0.5 * share(verbs, acts.len()));
        Self { acts, rule }
    }

    /// Whether it has a step at all.
    fn is_one(&self) -> bool {
        self.acts.iter().any(|act| act.split(' ').next().is_some_and(|verb| VERBS.contains(&verb)))
    }
}

/// What a turn was.
struct Turn {
    read: bool,
    executed: f64,
    refused: bool,
    repeat: bool,
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Places {
    fn hint_line(&self) -> &'static str {
        match self.skin {
            Skin::Plan => "say ok: n go ROOM, m VERB THING",
            Skin::Site => "say click, pick, set, next, home or send",
            Skin::House | Skin::Quests => "what",
        }
    }

    /// What is known after a turn, and what is told of it to nobody.
    fn told(&self, puzzle: &Puzzle, state: &mut Happened, turn: &Turn, result: StepResult) -> StepResult {
        let ground = puzzle.ground();
        let optimal = puzzle.optimal().unwrap_or(1);
        let left = shortest(ground, &state.cells).map_or(optimal, |route| route.left);
        let facts = ground.facts(&state.cells);
        let held = facts.iter().filter(|fact| **fact).count();
        let stops = ground.errands(&ground.start()).stops().max(1);
        let made = stops.saturating_sub(ground.errands(&state.cells).stops()) as u32;
        let gained = (optimal.saturating_sub(left)) as u32;
        let (best, made_before) = (state.gained, state.made);
        state.gained = best.max(gained);
        state.made = made_before.max(made);
        result.with_info([
            ("read", flag(turn.read)),
            ("executed", turn.executed),
            ("refused", flag(turn.refused)),
            ("repeat", flag(turn.repeat)),
            ("progress", 1.0 - left as f64 / optimal as f64),
            ("keypoint", flag(gained > best)),
            ("milestones", f64::from(made) / stops as f64),
            ("new_milestone", f64::from(made.saturating_sub(made_before)) / stops as f64),
            ("goal_share", held as f64 / facts.len().max(1) as f64),
            ("solved", flag(held == facts.len())),
            ("left", left as f64),
            ("optimal", optimal as f64),
        ])
    }

    fn play_plan(&self, puzzle: &Puzzle, state: &mut Happened, text: &str) -> StepResult {
        let plan = Plan::read(text);
        let done =
            plan.acts.iter().filter(|act| puzzle.ground().act(&mut state.cells, act) == Heard::Done).count();
        let executed = done as f64 / plan.acts.len().max(1) as f64;
        let turn = Turn { read: true, executed, refused: done < plan.acts.len(), repeat: false };
        let result = self.told(puzzle, state, &turn, StepResult::default().done());
        result.with_info([("rule", plan.rule), ("hint", puzzle.hint() as f64)])
    }

    fn play_line(&self, puzzle: &Puzzle, state: &mut Happened, text: &str) -> StepResult {
        let ground = puzzle.ground();
        let heard = ground.act(&mut state.cells, text);
        let repeat = heard != Heard::Done && state.last == text;
        let reply = ground.reply(&state.cells, text);
        let result = match heard {
            Heard::Unread => StepResult::saying(self.hint_line()),
            Heard::Refused => StepResult::saying("no"),
            Heard::Done if reply.over => StepResult::saying(reply.text).done(),
            Heard::Done => StepResult::saying(reply.text),
        };
        let turn = Turn {
            read: heard != Heard::Unread,
            executed: flag(heard == Heard::Done),
            refused: heard == Heard::Refused,
            repeat,
        };
        state.last = text.chars().take(80).collect();
        let result = self.told(puzzle, state, &turn, result);
        self.of_site(puzzle, state, text == "send" && heard == Heard::Done, result)
    }

    fn of_site(&self, puzzle: &Puzzle, state: &Happened, sent: bool, result: StepResult) -> StepResult {
        let Puzzle::Site(site) = puzzle else { return result };
        let bad = sent && site.facts(&state.cells).contains(&false);
        let is = |name: &str| result.info.get(name).is_some_and(|number| *number > 0.0);
        // OpAgent's tree: the first line that fits.
        let tree = match () {
            () if !is("read") => -1.0,
            () if is("refused") || is("repeat") || bad => -0.5,
            () if is("keypoint") => 0.5,
            () => 0.0,
        };
        let blocked = flag(site.shut_out(&state.cells));
        result.with_info([("blocked", blocked), ("bad_send", flag(bad)), ("tree", tree)])
    }
}

impl TextGame for Places {
    type Puzzle = Puzzle;
    type State = Happened;

    const MANNERS: &'static [Manner] = expert::MANNERS;

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Puzzle {
        let shape = self.shape();
        let draw = |rng: &mut Stream| match self.skin {
            Skin::Site => {
                let fields = size.saturating_sub(5 + rng.below(2) as u32).clamp(1, 4);
                Puzzle::Site(Site::draw(self.sections.unwrap_or(3) as usize, fields as usize, rng))
            }
            _ => {
                let most = shape.things.min(home::MAX_GOALS).min(size as usize / 2).max(1);
                let least = (size as usize).div_ceil(6).min(most);
                let goals = least + rng.below((most - least + 1) as u64) as usize;
                Puzzle::Home(Home::draw(&shape, goals, rng))
            }
        };
        let mut puzzle = draw(rng);
        let mut tries = 0;
        while puzzle.optimal() != Some(size as usize) && tries < MAX_DRAWS {
            puzzle = draw(rng);
            tries += 1;
        }
        let split = split_of(&self.identity(&puzzle));
        match &mut puzzle {
            Puzzle::Home(home) => {
                let hints = if split == Split::Train { self.hints } else { self.held_out_hints };
                if let Some(hints) = hints.filter(|hints| rng.chance(hints.share)) {
                    home.hint = rng.below((hints.depth * f64::from(size)) as u64 + 1) as u32;
                }
            }
            Puzzle::Site(site) if split == Split::Train => site.block(self.blocked.unwrap_or_default(), rng),
            Puzzle::Site(_) => {}
        }
        puzzle
    }

    /// The ground and what is wanted; what is given or blocked does not make it another.
    fn identity(&self, puzzle: &Puzzle) -> String {
        match puzzle {
            Puzzle::Home(home) => canonical(&json!(Home { hint: 0, ..home.clone() })),
            Puzzle::Site(site) => canonical(&json!(Site { blocked: Vec::new(), ..site.clone() })),
        }
    }

    fn check_puzzle(&self, puzzle: &Puzzle, size: u32) -> Result<(), String> {
        match puzzle {
            Puzzle::Home(home) if self.skin != Skin::Site => home.check()?,
            Puzzle::Site(site) if self.skin == Skin::Site => site.check()?,
            _ => return Err("it is of another skin".to_owned()),
        }
        if puzzle.hint() > 0 && (self.skin != Skin::Plan || puzzle.hint() >= size as usize) {
            return Err(format!("{} of its {size} steps are given", puzzle.hint()));
        }
        match puzzle.optimal() {
            Some(optimal) if optimal == size as usize => Ok(()),
            Some(optimal) => Err(format!("a shortest play has {optimal} acts, its size is {size}")),
            None => Err("what is wanted is out of reach".to_owned()),
        }
    }

    fn check_state(&self, puzzle: &Puzzle, state: &Happened) -> Result<(), String> {
        if state.cells.is_empty() || puzzle.ground().fits(&state.cells) {
            Ok(())
        } else {
            Err("its cells do not fit the puzzle".to_owned())
        }
    }

    fn prompt(&self, puzzle: &Puzzle) -> String {
        let (Puzzle::Home(home), Skin::Plan) = (puzzle, self.skin) else {
            return puzzle.ground().prompt(&puzzle.first());
        };
        let mut cells = home.start();
        let seen = home.overview(&cells);
        let given = gold(home, &mut cells, home.hint as usize);
        let given = if given.is_empty() { String::new() } else { format!(". done {}", given.join(", ")) };
        format!("{seen}{given}")
    }

    fn instructions(&self) -> Option<String> {
        let text = match self.skin {
            Skin::Plan => {
                "Plan how to bring things where they are wanted, treated first where a treatment is named. Say the whole plan in one \
                 line, `n` before walking and `m` before any other act: `ok: n go ROOM, m open BOX, m take THING, m wash THING, m put \
                 THING BOX`. What is done already is not repeated. A shut box must be opened; what is carried is treated where its \
                 fixture is (sink wash, stove heat, frost cool, board chop, tap fill, line dry)."
            }
            Skin::Site => {
                "Order what is wanted on a site. Say one line per turn: `click LINK`, `pick HUE`, `next`, `prev`, `home`, `set FIELD VALUE` \
                 on a form, and `send` when its fields are as wanted, which ends it."
            }
            Skin::House | Skin::Quests => {
                "Bring things where they are wanted, treated first where a treatment is named. Say one line per turn: `go ROOM`, `open BOX`, \
                 `take THING`, `put THING BOX`, `drop THING`, or a treatment as in `wash THING`, where its fixture is (sink wash, stove heat, \
                 frost cool, board chop, tap fill, line dry)."
            }
        };
        self.instructions.then(|| text.to_owned())
    }

    fn parse(&self, text: &str) -> Action {
        let said = act_of(text);
        let malformed = || Action::Malformed { why: self.hint_line().to_owned() };
        if said.is_empty() || said.contains(['\n', '\r']) || said.len() > MAX_LINE {
            return malformed();
        }
        match self.skin {
            Skin::Plan if !Plan::read(said).is_one() => malformed(),
            Skin::Plan => Action::Say { text: said.to_owned() },
            _ => Action::Say { text: said.split_whitespace().collect::<Vec<_>>().join(" ") },
        }
    }

    fn step(&self, puzzle: &Puzzle, state: &mut Happened, action: &Action, _: &[CallRecord]) -> StepResult {
        if state.cells.is_empty() {
            state.cells = puzzle.first();
        }
        match action {
            Action::Say { text } if self.skin == Skin::Plan => self.play_plan(puzzle, state, text),
            Action::Say { text } => self.play_line(puzzle, state, text),
            Action::Answer { .. } | Action::Calls { .. } | Action::Malformed { .. } => {
                let turn = Turn { read: false, executed: 0.0, refused: false, repeat: false };
                let result = self.told(puzzle, state, &turn, StepResult::saying(self.hint_line()));
                match self.skin {
                    Skin::Plan => result.with_info([("rule", 0.0), ("hint", puzzle.hint() as f64)]),
                    _ => self.of_site(puzzle, state, false, result),
                }
            }
        }
    }

    fn expert(&self, puzzle: &Puzzle, play: &Demonstration<'_>) -> Option<String> {
        expert::next_line(self, puzzle.ground(), puzzle.hint(), play)
    }
}
