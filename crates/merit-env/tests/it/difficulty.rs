//! Each knob of difficulty moves the success of a fixed policy one way, from its easy end to its hard end.
//!
//! A table: the world, what else is set, the knob with values from easy to hard, who plays, and by what success is told. Success falls
//! from the first value to the last, and rises nowhere between by more than 400 tasks leave to chance. What is no such knob says in
//! its documentation what it is for; a second table holds that a fixed policy does not care.

use crate::played::{Numbers, built, prompt, say, tasks};
use merit_api::{Expert, ExpertTurn, World};
use merit_core::{Seed, Stream, Task};
use merit_env::inquiry::{DISEASES, SYMPTOMS};
use merit_env::programs::language::{ALONE, Machine, NUMBERED, Words};
use merit_env::toolshelf::{Names, Shelf};
use std::sync::Arc;

const TASKS: u64 = 400;
/// How often the impatient give up before a turn.
const GIVES_UP: f64 = 0.2;
/// How often a typist gets a digit wrong.
const TYPOS: f64 = 0.05;
const MOST_TURNS: usize = 40;
/// About one and a half standard errors of a share of 400.
const NOISE: f64 = 0.04;

/// Who plays.
#[derive(Clone, Copy)]
enum Player {
    /// A manner of the expert's.
    Manner(&'static str),
    /// The same, who has so many turns.
    Within(&'static str, usize),
    /// Plays right, and before every turn gives up with a chance of one in five; from then on it plays this manner.
    Impatient(&'static str),
    /// Plays right, and before every turn leaves for good with a chance of one in five.
    Quitter,
    /// Plays right, and writes one digit of twenty wrong.
    Typist,
    /// Says what this makes of what is right.
    Own(fn(&mut Seat<'_>) -> String),
}
use Player::{Impatient, Manner, Own, Quitter, Typist, Within};

/// What a player of its own sees.
struct Seat<'a> {
    world: &'a dyn World,
    task: &'a Arc<Task>,
    turns: &'a [ExpertTurn],
    seed: Seed,
    chance: &'a mut Stream,
    /// The knob that is moved, and where it stands.
    knob: (&'a str, &'a str),
}

impl Seat<'_> {
    fn expert(&self) -> &dyn Expert {
        self.world.expert().unwrap()
    }

    fn in_manner(&self, manner: &str) -> String {
        self.expert().say_in(manner, self.task, self.turns, &self.seed).unwrap()
    }

    /// Where a knob stands, which is at `usual` unless it is the one that is moved.
    fn setting(&self, knob: &str, usual: u32) -> u32 {
        if self.knob.0 == knob { self.knob.1.parse().unwrap() } else { usual }
    }
}

/// One knob: its world and what else is set there, its values from easy to hard, who plays, and the info that tells success.
struct Knob(&'static str, &'static str, &'static str, &'static [&'static str], Player, &'static str);

const SHARES: &[&str] = &["0.0", "0.5", "1.0"];
const SHARES_DOWN: &[&str] = &["1.0", "0.5", "0.0"];

const KNOBS: &[Knob] = &[
    Knob("sums", "sizes = [1]", "digits", &["2", "3", "4", "5"], Typist, "right"),
    Knob("sums", "", "trivial", SHARES_DOWN, Manner("hasty"), "right"),
    Knob("sums", "kinds = { countdown = 1.0 }", "sizes", &["[1]", "[2]", "[3]"], Impatient("hasty"), "right"),
    Knob("rows", "sizes = [2]", "rows", &["4", "12", "32"], Manner("careless"), "right"),
    Knob("vault", "", "sizes", &["[2]", "[4]", "[6]"], Quitter, "out"),
    Knob("vault", "sizes = [4]", "boxes", &["4", "6", "9"], Within("wander", 8), "out"),
    Knob("service", "", "sizes", &["[1]", "[2]", "[3]", "[4]"], Impatient("hasty"), "solved"),
    Knob("service", "sizes = [3]", "slips", SHARES, Own(first_order), "solved"),
    Knob("service", "sizes = [3]", "wary", SHARES, Impatient("hasty"), "solved"),
    Knob("service", "sizes = [3]", "all_told", &["true", "false"], Impatient("hasty"), "solved"),
    Knob("clinic", "sizes = [4]", "unsure", &["0.0", "0.15", "0.3"], Own(counting), "solved"),
    Knob("clinic", "sizes = [5]", "patience", &["20", "10", "6"], Own(chatty), "solved"),
    Knob("sale", "", "sizes", &["[1]", "[3]", "[5]"], Impatient("hasty"), "converted"),
    Knob("sale", "", "told", SHARES_DOWN, Impatient("hasty"), "converted"),
    Knob("sale", "", "slack", &["8", "4", "2", "0"], Manner("script"), "converted"),
    Knob("shop", "sizes = [4]", "items", &["8", "24", "60"], Manner("first"), "solved"),
    Knob("shop", "sizes = [4]", "infeasible", SHARES, Manner("first"), "solved"),
    Knob("travel", "sizes = [2]\napi = 'live'", "drop", SHARES, Manner("careless"), "solved"),
    Knob("travel", "sizes = [2]", "options", &["2", "3", "4"], Manner("careless"), "solved"),
    Knob("travel", "sizes = [2]", "slack", &["9", "4", "0"], Manner("careless"), "solved"),
    Knob("tables", "", "sizes", &["[1]", "[2]", "[3]", "[4]", "[5]"], Quitter, "right"),
    Knob("tables", "sizes = [2]", "columns", &["4", "6", "8"], Own(any_column), "right"),
    Knob(
        "toolshelf",
        "mode = 'retrieve'\nsizes = [1]",
        "tools",
        &["20", "200", "500"],
        Own(literal),
        "right",
    ),
    Knob("toolshelf", "mode = 'retrieve'\nsizes = [1]", "vague", SHARES, Own(literal), "right"),
    Knob("toolshelf", "mode = 'retrieve'\nsizes = [1]", "synonyms", SHARES, Own(literal), "right"),
    Knob("synth", "sizes = [1]", "shown", &["5", "3", "1"], Own(fitting), "solved"),
    Knob("repair", "", "bugs", &["1", "2", "3"], Impatient("hasty"), "solved"),
    Knob("repair", "window = 1", "lines", &["2", "4", "6"], Own(from_the_top), "solved"),
    Knob("repair", "lines = 6", "window", &["6", "2", "1"], Own(from_the_top), "solved"),
    Knob("kbqa", "sizes = [3]", "entities", &["5", "8", "16"], Manner("vague"), "right"),
    Knob("kbqa", "sizes = [1]", "passages", &["1", "2", "3"], Manner("vague"), "right"),
    Knob("kbqa", "sizes = [1]", "noise", &["0.0", "0.5", "0.8"], Manner("vague"), "right"),
    Knob("places", "skin = 'site'", "sizes", &["[6]", "[8]", "[10]"], Within("wander", 12), "solved"),
    Knob("places", "skin = 'site'", "sections", &["2", "3", "4"], Within("explore", 14), "solved"),
    Knob("places", "skin = 'site'", "blocked", SHARES, Own(any_mirror), "solved"),
    Knob("places", "sizes = [6]", "rooms", &["2", "4", "8"], Within("explore", 9), "solved"),
    Knob("places", "sizes = [6]", "treated", SHARES, Own(untreated), "solved"),
    Knob("lens", "", "sizes", &["[1]", "[2]", "[3]"], Typist, "solved"),
];

/// How often a player succeeds.
fn success(world: &dyn World, player: Player, info: &str, knob: (&str, &str)) -> f64 {
    let one = |(at, task): &(u64, Arc<Task>)| solved(world, task, (player, info, knob), *at);
    let tasks: Vec<(u64, Arc<Task>)> = (0..).zip(tasks(world, TASKS)).collect();
    tasks.iter().filter(|one_task| one(one_task)).count() as f64 / TASKS as f64
}

fn solved(
    world: &dyn World,
    task: &Arc<Task>,
    (player, info, knob): (Player, &str, (&str, &str)),
    at: u64,
) -> bool {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut chance = Seed::root(9).child("player", at).stream();
    let (mut turns, mut given_up): (Vec<ExpertTurn>, bool) = (Vec::new(), false);
    let most = if let Within(_, most) = player { most } else { MOST_TURNS };
    while turns.len() < most {
        let seat = Seat { world, task, turns: &turns, seed: Seed::root(at), chance: &mut chance, knob };
        let said = next(seat, player, &mut given_up);
        if given_up && matches!(player, Quitter) {
            return false;
        }
        let result = say(env.as_mut(), task, &said);
        if result.is_last() {
            return right(task, info, &said, &result.info);
        }
        turns.push(ExpertTurn { said, observed: result.observations });
    }
    false
}

fn next(mut seat: Seat<'_>, player: Player, given_up: &mut bool) -> String {
    match player {
        Manner(manner) | Within(manner, _) => seat.in_manner(manner),
        Impatient(erring) => {
            *given_up |= seat.chance.chance(GIVES_UP);
            seat.in_manner(if *given_up { erring } else { "exact" })
        }
        Quitter => {
            *given_up = seat.chance.chance(GIVES_UP);
            seat.in_manner("exact")
        }
        Typist => {
            let line = seat.in_manner("exact");
            line.chars().map(|letter| typed(letter, seat.chance)).collect()
        }
        Own(line) => line(&mut seat),
    }
}

/// A letter as a typist writes it: one digit of twenty is another.
fn typed(letter: char, chance: &mut Stream) -> char {
    match letter.to_digit(10) {
        Some(digit) if chance.chance(TYPOS) => {
            char::from_digit((digit + 1 + chance.below(9) as u32) % 10, 10).unwrap()
        }
        _ => letter,
    }
}

/// Whether the end is right, by the answer or by an info; `out` is an end that is reached only by what is right.
fn right(task: &Task, info: &str, said: &str, told: &Numbers) -> bool {
    match (&task.answer, told.get(info)) {
        _ if info == "out" => true,
        (_, Some(told)) => *told == 1.0,
        (Some(answer), None) => said.split_once(' ').is_some_and(|(_, said)| said == answer),
        (None, None) => panic!("`{info}` is not told at the end: {told:?}"),
    }
}

/// Works at the desk, and keeps to the first order that was named, whatever the person says later.
fn first_order(seat: &mut Seat<'_>) -> String {
    let line = seat.in_manner("exact");
    let observed = seat.turns.iter().flat_map(|turn| &turn.observed);
    let named = observed.filter_map(|message| message.text.strip_prefix("order ")).next();
    let words: Vec<&str> = line.split(' ').collect();
    match (words.as_slice(), named) {
        ([verb @ ("order" | "cancel" | "refund"), _], Some(first)) => format!("{verb} {first}"),
        (["move", _, town], Some(first)) => format!("move {first} {town}"),
        _ => line,
    }
}

/// Treats a patient rightly, and every other line is a kind word.
fn chatty(seat: &mut Seat<'_>) -> String {
    if seat.chance.chance(0.5) { "calm".to_owned() } else { seat.in_manner("exact") }
}

/// Asks what the best doctor asks, takes who is unsure for somebody without the sign, and treats the disease of which most fits.
fn counting(seat: &mut Seat<'_>) -> String {
    let line = seat.in_manner("exact");
    if !line.starts_with("treat ") {
        return line;
    }
    let sign = |name: &str| SYMPTOMS.iter().position(|known| *known == name).unwrap();
    let asked = prompt(seat.world, seat.task);
    let mut has: Vec<usize> = asked.split(' ').skip(1).map(sign).collect();
    let mut lacks = Vec::new();
    for turn in seat.turns {
        let Some(name) = turn.said.strip_prefix("ask ") else { continue };
        if turn.observed[0].text == "yes" { &mut has } else { &mut lacks }.push(sign(name));
    }
    let fits = |signs: &[usize]| {
        let count = |among: &[usize]| among.iter().filter(|sign| signs.contains(sign)).count() as i64;
        count(&has) - count(&lacks)
    };
    let best = (0..DISEASES.len()).max_by_key(|at| fits(&DISEASES[*at].1)).unwrap();
    let right = seat.task.answer.clone().unwrap();
    // The cure of another disease would be wrong, whatever it is.
    let treatment =
        if right.starts_with(DISEASES[best].0) { right } else { format!("{} cut", DISEASES[best].0) };
    format!("treat {treatment}")
}

/// Goes into a shop by either of its two mirrors, and has no more turns than the shortest way takes.
fn any_mirror(seat: &mut Seat<'_>) -> String {
    let line = seat.in_manner("exact");
    let mirrors = ["click east", "click west"];
    match (seat.turns.len() < seat.task.size as usize, mirrors.contains(&line.as_str())) {
        (false, _) => "late".to_owned(),
        (true, true) if seat.turns.is_empty() => mirrors[seat.chance.below(2) as usize].to_owned(),
        (true, _) => line,
    }
}

/// Carries things as they are wished, and washes none, heats none, and so on.
fn untreated(seat: &mut Seat<'_>) -> String {
    let line = seat.in_manner("exact");
    let verbs = ["wash ", "heat ", "cool ", "chop ", "fill ", "dry "];
    let treats = verbs.iter().any(|verb| line.starts_with(verb));
    if treats { "late".to_owned() } else { line }
}

/// Asks a table, and looks for a word in any of its columns of words once; after that it answers what it is told.
fn any_column(seat: &mut Seat<'_>) -> String {
    let asked = prompt(seat.world, seat.task);
    let columns: Vec<&str> = asked.split(' ').take_while(|word| *word != "ask").collect();
    let of_words = columns.len() / 2 + 1;
    match (seat.turns, seat.in_manner("exact").split(' ').collect::<Vec<&str>>().as_slice()) {
        ([], ["keep", _, word]) => {
            format!("keep {} {word}", columns[seat.chance.below(of_words as u64) as usize])
        }
        ([_], ["keep", ..]) => "answer 0".to_owned(),
        (_, words) => words.join(" "),
    }
}

/// Takes any of the tools whose names have the most of the words that are said, and knows no other words for them.
fn literal(seat: &mut Seat<'_>) -> String {
    let asked = prompt(seat.world, seat.task);
    let words: Vec<&str> = asked.split(' ').collect();
    let count = seat.setting("tools", 200);
    let shelf = Shelf::new(0, count, Names::Words);
    let alike = |at: u32| shelf.name(at).split(' ').filter(|word| words.contains(word)).count();
    let most = (0..count).map(alike).max().unwrap();
    let near: Vec<u32> = (0..count).filter(|at| alike(*at) == most).collect();
    format!("use {}", shelf.name(*seat.chance.pick(&near).unwrap()))
}

/// Gives any program of one step that makes what is shown.
fn fitting(seat: &mut Seat<'_>) -> String {
    let numbered = NUMBERED.iter().flat_map(|word| (1..=9).map(move |number| format!("{word} {number}")));
    let programs: Vec<String> = ALONE.iter().map(|word| (*word).to_owned()).chain(numbered).collect();
    let lists =
        |key: &str| -> Vec<Vec<i64>> { serde_json::from_value(seat.task.payload[key].clone()).unwrap() };
    let ran = |text: &str, list: &[i64]| {
        let program = Words::default().read(text).unwrap();
        Machine { limit: 300, known: &[] }.run(&program, list).ok().map(|ran| ran.list)
    };
    let wanted = seat.task.payload["program"].as_str().unwrap().to_owned();
    let shown = lists("shown");
    let fits = |text: &&String| shown.iter().all(|list| ran(text, list) == ran(&wanted, list));
    let fitting: Vec<&String> = programs.iter().filter(fits).collect();
    format!("give {}", seat.chance.pick(&fitting).unwrap())
}

/// Mends a repository, and reads each file window by window from its first line on until it has seen the line of the bug; leaves before
/// a turn as often as the impatient give up.
fn from_the_top(seat: &mut Seat<'_>) -> String {
    let window = seat.setting("window", 1) as usize;
    let nothing = ExpertTurn { said: String::new(), observed: Vec::new() };
    // What is right follows from how many lines were said.
    let right = |at: usize| {
        let turns = vec![nothing.clone(); at];
        seat.expert().say_in("exact", seat.task, &turns, &seat.seed).unwrap()
    };
    let mut script = Vec::new();
    for at in 0..seat.turns.len() + 1 {
        let line = right(at);
        let words: Vec<String> = right(at + 1).split(' ').map(str::to_owned).collect();
        match (line.split_once(' '), words.as_slice()) {
            (Some(("read", _)), [_, file, bug, ..]) => {
                let last: usize = bug.parse().unwrap();
                script.extend((1..=last).step_by(window).map(|from| format!("read {file} {from}")));
            }
            _ => script.push(line),
        }
    }
    let mut patience = seat.seed.child("patience", 0).stream();
    let leaves = (0..=seat.turns.len()).any(|_| patience.chance(GIVES_UP));
    if leaves { "done".to_owned() } else { script[seat.turns.len()].clone() }
}

/// What is no matter of difficulty: success stays where it is.
const NO_MATTER: &[Knob] = &[
    Knob("tables", "sizes = [2]", "rows", &["10", "24", "40"], Typist, "right"),
    Knob("places", "sizes = [6]", "objects", &["2", "4", "8"], Within("explore", 7), "solved"),
    Knob(
        "places",
        "sizes = [6]\nskin = 'quests'",
        "objects",
        &["2", "4", "8"],
        Within("explore", 7),
        "solved",
    ),
];

fn found(Knob(world, settings, knob, values, player, info): &Knob) -> Vec<f64> {
    let one = |value: &&str| {
        let world = built(world, &format!("{settings}\n{knob} = {value}"));
        success(world.as_ref(), *player, info, (knob, value))
    };
    values.iter().map(one).collect()
}

#[test]
fn what_is_said_to_be_no_matter_of_difficulty_is_none() {
    for knob in NO_MATTER {
        let found = found(knob);
        let (least, most) =
            found.iter().fold((1.0_f64, 0.0_f64), |(least, most), one| (least.min(*one), most.max(*one)));
        assert!(most - least < NOISE, "{}, {}: {found:?}", knob.0, knob.2);
    }
}

#[test]
fn every_knob_makes_a_fixed_policy_fail_more_often() {
    let mut wrong = Vec::new();
    for one in KNOBS {
        let Knob(world, settings, knob, values, ..) = one;
        let found = found(one);
        let falls = found[0] > found[found.len() - 1] + NOISE;
        let rises = found.windows(2).any(|pair| pair[1] > pair[0] + NOISE);
        // What the table gives, for whoever moves a knob: `cargo test -p merit-env --test it difficulty -- --nocapture`.
        println!("{world}, {knob}: {found:?}");
        if !falls || rises {
            wrong.push(format!("{world}, {settings}: {knob} = {values:?} gives {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
