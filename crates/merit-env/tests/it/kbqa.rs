//! The knowledge base: what a search finds, what notes, thoughts and readers are worth, and what makes questions harder.

use crate::played::opens;
use merit_api::conformance::check_world;
use merit_api::{ExpertTurn, LiveTools, World};
use merit_core::{Action, Info, Seed, Split, Task};
use merit_env::read_world;
use serde_json::json;
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'kbqa'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// The home of the boss of bak is rin: `bak boss dov`, `dov home rin`.
///
/// Places among the names: bak 56, dov 24, rin 19, tel 42, kob 46. Relations: boss 0, home 1.
fn task(world: &dyn World) -> Arc<Task> {
    let drawn = world.task(Split::Train, 0, &Seed::root(1)).unwrap();
    let payload = json!({
        "entities": [56, 24, 19, 42, 46],
        "relations": [0, 1],
        // bak boss dov, bak home tel; dov boss kob, dov home rin; rin boss bak, rin home kob; tel boss rin, tel home bak; …
        "objects": [1, 3, 4, 2, 0, 4, 2, 0, 3, 1],
        "start": 0,
        "hops": [0, 1],
        "reworded": [false, true],
        "salt": 6,
    });
    Arc::new(Task { payload, size: 2, answer: drawn.answer.map(|_| "rin".to_owned()), ..drawn })
}

type Turn = (String, Info);

/// What is said to each line, and the infos of each turn.
fn play(settings: &str, lines: &[&str]) -> Vec<Turn> {
    let world = world(settings);
    let task = task(world.as_ref());
    let mut env = world.open(&task, &Seed::root(2), None).unwrap();
    assert_eq!(env.reset().unwrap().last().unwrap().text, "who bak boss base");
    let say = |said: &&str| {
        let action = env.parse(said);
        let result = env.step(&action, &[]).unwrap();
        let text = result.observations.first().map_or_else(String::new, |message| message.text.clone());
        (text, result.info)
    };
    lines.iter().map(say).collect()
}

fn of(turns: &[Turn], name: &str) -> Vec<f64> {
    turns.iter().map(|(_, info)| info[name]).collect()
}

/// The lines of a manner, the last observation's infos beside.
fn demonstrated(world: &dyn World, task: &Arc<Task>, manner: &str, seed: u64) -> (Vec<String>, Info) {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns = Vec::new();
    loop {
        let said = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(seed)).unwrap();
        let action = env.parse(&said);
        assert!(!matches!(action, Action::Malformed { .. }), "{said}");
        let result = env.step(&action, &[]).unwrap();
        let last = result.is_last();
        turns.push(ExpertTurn { said, observed: result.observations });
        if last {
            return (turns.into_iter().map(|turn| turn.said).collect(), result.info);
        }
    }
}

/// How often a manner is right on held-out tasks.
fn right(settings: &str, manner: &str) -> f64 {
    let world = world(settings);
    let seed = Seed::root(5);
    let one = |at: u64| {
        let task = Arc::new(world.task(Split::HeldOut, at, &seed).unwrap());
        let info = demonstrated(world.as_ref(), &task, manner, at).1;
        info.get("right").or(info.get("reader_right")).copied().unwrap()
    };
    (0..200).map(one).sum::<f64>() / 200.0
}

#[test]
fn every_mode_keeps_the_contract() {
    for settings in [
        "type = 'kbqa'\nsizes = [4]\nnoise = 0.9\npassages = 3\nentities = 12",
        "type = 'kbqa'\nsynonyms = 0.5\ninstructions = true\nheld_out_sizes = [3]",
        "type = 'kbqa'\nmode = 'notes'\nnote_cap = 3",
        "type = 'kbqa'\nmode = 'units'\nsizes = [2, 4]",
        "type = 'kbqa'\nmode = 'planner'\nreader = 'g2'\nknown = 0.5\nsizes = [1, 2, 3, 4]",
        "type = 'kbqa'\nmode = 'mask'\nsizes = [1, 2, 3, 4]\ninstructions = true",
        "type = 'kbqa'\nmasked = 0.5\nentities = 5",
        "type = 'kbqa'\nfixed = 0.5\nlabel = 'any'\nsizes = [1, 2, 3, 4]\ninstructions = true",
        "type = 'kbqa'\nfixed = 0.1\nlabel = 'rollouts'\nentities = 5\nsizes = [4]\nsynonyms = 0.5",
        "type = 'kbqa'\nfixed = 0.9\nnoise = 0.9\npassages = 3\nentities = 12",
    ] {
        let world = read_world(settings).unwrap().build(&LiveTools).unwrap();
        assert_eq!(check_world(world.as_ref(), &Seed::root(7), 12), Vec::<String>::new(), "{settings}");
    }
}

#[test]
fn a_search_finds_what_was_looked_for_among_other_facts() {
    let turns =
        play("noise = 0.75", &["find bak boss", " find  bak boss ", "find bak base", "find jeb boss"]);
    let facts: Vec<&str> = turns[0].0[4..].split(" | ").flat_map(|passage| passage.split(", ")).collect();
    assert_eq!(facts.len(), 4, "a passage of four");
    assert_eq!(facts.iter().filter(|fact| **fact == "bak boss dov").count(), 1);
    assert_eq!(turns[0].0, turns[1].0, "the same search finds the same");
    assert_eq!(
        (turns[2].0.as_str(), turns[3].0.as_str()),
        ("nothing", "nothing"),
        "another word, and nobody there"
    );
    assert_eq!(of(&turns, "queries"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(of(&turns, "idle_queries"), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn without_noise_a_search_finds_one_fact_and_evidence_is_counted() {
    let turns = play("noise = 0.0", &["find bak boss", "find dov home", "answer rin"]);
    assert_eq!((turns[0].0.as_str(), turns[1].0.as_str()), ("got bak boss dov", "got dov home rin"));
    assert_eq!(of(&turns, "evidence_share"), [0.5, 1.0, 1.0]);
    assert_eq!(turns[2].1["right"], 1.0);
}

#[test]
fn a_note_is_due_after_every_search_and_only_the_last_one_counts() {
    let lines = [
        "find bak boss",
        "answer rin",
        "note bak boss dov",
        "find dov home",
        "note dov home rin",
        "answer rin",
    ];
    let turns = play("mode = 'notes'", &lines);
    assert_eq!(turns[1].0, "note first");
    assert_eq!((turns[2].0.as_str(), turns[4].0.as_str()), ("ok", "ok"));
    let last = &turns[5].1;
    // The last note alone does not lead from bak to rin: the first hop was not carried on.
    assert_eq!((last["note_supports_gold"], last["note_supports_pred"], last["right"]), (0.0, 0.0, 1.0));
    assert_eq!((last["note_precision"], last["note_recall"], last["note_facts"]), (1.0, 0.5, 1.0));
}

#[test]
fn notes_are_held_against_the_right_answer_and_against_the_given_one() {
    let last = |note: &str, answer: &str| {
        play("mode = 'notes'\nnote_cap = 3", &["find bak boss", note, answer]).pop().unwrap().1
    };
    let told = |info: &Info| {
        ["note_supports_gold", "note_supports_pred", "note_precision", "note_short"].map(|name| info[name])
    };
    assert_eq!(told(&last("note bak boss dov dov home rin", "answer rin")), [1.0, 1.0, 1.0, 1.0]);
    // Invented, and in accord with itself: half of it is even true.
    assert_eq!(told(&last("note bak boss dov dov home tel", "answer tel")), [0.0, 1.0, 0.5, 1.0]);
    // An answer that its own note does not lead to.
    assert_eq!(told(&last("note bak boss dov dov home rin", "answer tel")), [1.0, 0.0, 1.0, 1.0]);
    // Four facts are more than three.
    let long = "note bak boss dov dov home rin tel boss rin kob home dov";
    assert_eq!(told(&last(long, "answer rin")), [1.0, 1.0, 0.5, 0.0]);
    assert_eq!(told(&last("note none", "answer rin")), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn thoughts_are_checked_one_by_one_and_a_search_closes_them() {
    let lines = [
        "next boss",
        "find bak boss",
        "obs bak boss dov",
        "obs dov home rin",
        "hyp dov",
        "next boss",
        "find dov home",
    ];
    let turns = play("mode = 'units'\nnoise = 0.0", &lines);
    let units: Vec<Option<f64>> = turns.iter().map(|(_, info)| info.get("unit_ok").copied()).collect();
    // `dov home rin` is true and was not found yet; after dov the home is due, not the boss.
    assert_eq!(units, [Some(1.0), None, Some(1.0), Some(0.0), Some(1.0), Some(0.0), None]);
    assert_eq!((turns[1].1["thought_ok"], turns[6].1["thought_ok"]), (1.0, 0.0));
    assert_eq!(turns[6].1["units"], 5.0);
}

#[test]
fn an_unreadable_line_ends_an_episode_of_thoughts_and_no_other() {
    for (mode, ends) in [("units", true), ("notes", false), ("answer", false), ("planner", false)] {
        let world = world(&format!("mode = '{mode}'"));
        let mut env = world.open(&task(world.as_ref()), &Seed::root(2), None).unwrap();
        env.reset().unwrap();
        let action = env.parse("find the boss");
        let result = env.step(&action, &[]).unwrap();
        assert_eq!(result.is_last(), ends, "{mode}");
    }
}

#[test]
fn a_reader_answers_from_what_it_knows_and_what_was_found() {
    // Of sixty names g1 knows the first thirty and g2 the last thirty: dov (24) and bak (56).
    let last = |reader: &str, lines: &[&str]| {
        play(&format!("mode = 'planner'\nknown = 0.5\nnoise = 0.0\nreader = '{reader}'"), lines)
            .pop()
            .unwrap()
            .1
    };
    let told = |info: &Info| ["reader_right", "gain", "process"].map(|name| info[name]);
    // g1 misses the boss of bak alone, which one search finds: that is no gain over one search.
    assert_eq!(told(&last("g1", &["stop"])), [0.0, -1.0, 0.0]);
    assert_eq!(told(&last("g1", &["find bak boss", "stop"])), [1.0, 0.0, 1.0]);
    assert_eq!(told(&last("g1", &["find bak boss", "find bak boss", "stop"])), [1.0, 0.0, 0.5]);
    // g2 misses the home of dov; who that is has to be found first.
    assert_eq!(told(&last("g2", &["find bak boss", "stop"])), [0.0, 0.0, 0.5]);
    assert_eq!(told(&last("g2", &["find bak boss dov home", "stop"])), [1.0, 1.0, 1.0]);
    assert!(!last("g2", &["stop"]).contains_key("queries_known"));
}

#[test]
fn a_reader_that_knows_everything_needs_no_search() {
    let turns = play("mode = 'planner'\nknown = 1.0", &["find bak boss", "stop"]);
    assert_eq!(of(&turns, "reader_right"), [1.0, 1.0]);
    assert_eq!(of(&turns, "queries_known"), [1.0, 1.0]);
    assert_eq!(of(&turns, "process"), [0.0, 0.0]);
}

#[test]
fn a_planner_who_never_stops_is_stopped_after_ten_turns() {
    let world = world("mode = 'planner'");
    let mut env = world.open(&task(world.as_ref()), &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let action = env.parse("find bak boss");
    let ends: Vec<bool> = (0..10).map(|_| env.step(&action, &[]).unwrap().is_last()).collect();
    assert_eq!(ends.iter().position(|last| *last), Some(9));
}

#[test]
fn manners_are_what_they_say() {
    let lines = |settings: &str, manner: &str| {
        let world = world(settings);
        let task = task(world.as_ref());
        demonstrated(world.as_ref(), &task, manner, 3).0
    };
    assert_eq!(lines("", "exact"), ["find bak boss", "find dov home", "answer rin"]);
    assert_eq!(lines("", "hasty"), ["find bak boss", "answer dov"]);
    assert_eq!(
        lines("mode = 'notes'", "exact"),
        [
            "find bak boss",
            "note bak boss dov",
            "find dov home",
            "note bak boss dov dov home rin",
            "answer rin"
        ]
    );
    assert_eq!(
        lines("mode = 'units'", "exact"),
        [
            "next boss",
            "find bak boss",
            "obs bak boss dov",
            "hyp dov",
            "next home",
            "find dov home",
            "obs dov home rin",
            "hyp rin",
            "answer rin"
        ]
    );
    assert_eq!(lines("mode = 'planner'\nknown = 0.0", "exact"), ["find bak boss", "find dov home", "stop"]);
    assert_eq!(lines("mode = 'planner'\nknown = 1.0", "exact"), ["stop"]);
    assert_eq!(lines("mode = 'planner'\nknown = 1.0", "twice").len(), 3);
    let wordy = lines("mode = 'notes'", "wordy");
    assert_eq!(wordy[3].split_whitespace().count(), 1 + 3 * 4, "all four facts that two searches found");
}

#[test]
fn more_hops_noise_and_other_words_make_questions_harder() {
    let hasty: Vec<f64> = (1..=4).map(|hops| right(&format!("sizes = [{hops}]"), "hasty")).collect();
    assert_eq!(hasty, [1.0, 0.0, 0.0, 0.0]);
    let twice: Vec<f64> = (1..=4).map(|hops| right(&format!("sizes = [{hops}]"), "twice")).collect();
    assert_eq!(twice, [1.0, 1.0, 0.0, 0.0]);
    let vague: Vec<f64> =
        [0.0, 0.5, 0.75, 0.9].map(|noise| right(&format!("sizes = [2]\nnoise = {noise}"), "vague")).to_vec();
    assert!(vague[0] == 1.0 && vague.windows(2).all(|pair| pair[0] > pair[1]), "{vague:?}");
    assert!(vague[3] < 0.25, "{vague:?}");
    assert_eq!(right("sizes = [1, 2, 3, 4]\nsynonyms = 0.5\nnoise = 0.8", "exact"), 1.0);
    let alone: Vec<f64> = [1.0, 0.5, 0.0]
        .map(|known| right(&format!("mode = 'planner'\nsizes = [3]\nknown = {known}"), "hasty"))
        .to_vec();
    assert!(alone.windows(2).all(|pair| pair[0] > pair[1]), "{alone:?}");
}

#[test]
fn whoever_searches_by_the_words_of_the_question_finds_less_with_other_words() {
    let share = |synonyms: f64| {
        let world = world(&format!("sizes = [1]\nsynonyms = {synonyms}"));
        let one = |at: u64| {
            let task = Arc::new(world.task(Split::HeldOut, at, &Seed::root(5)).unwrap());
            let mut env = world.open(&task, &Seed::root(2), None).unwrap();
            let asked = env.reset().unwrap().last().unwrap().text.replace("who", "find");
            let action = env.parse(&asked);
            env.step(&action, &[]).unwrap().info["evidence_share"]
        };
        (0..200).map(one).sum::<f64>() / 200.0
    };
    let shares = [0.0, 0.3, 0.7, 1.0].map(share);
    assert!(
        shares[0] == 1.0 && shares[3] == 0.0 && shares.windows(2).all(|pair| pair[0] > pair[1]),
        "{shares:?}"
    );
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (settings, word) in [
        ("sizes = []", "hops"),
        ("sizes = [5]", "1 to 4"),
        ("noise = 0.95", "noise"),
        // 1 / (1 - 0.3) is 1.4, and 1 / (1 - 0.34) is 1.5.
        ("noise = 0.3", "would change nothing"),
        ("entities = 5\nrelations = 2\npassages = 3\nnoise = 0.75", "less `noise`"),
        ("note_cap = 3", "mode `notes` alone"),
        ("mode = 'notes'\nreader = 'g1'", "mode `planner` alone"),
        ("mode = 'units'\nknown = 0.1", "mode `planner` alone"),
        ("mode = 'notes'\nnote_cap = 0", "note_cap"),
        ("mode = 'mask'\nmasked = 0.5", "mode `answer` alone"),
        ("mode = 'mask'\nrelations = 2", "2 facts to hide"),
        ("masked = 0.5\nentities = 5\nrelations = 5", "more `entities`"),
        ("masked = 1.5", "masked"),
        ("fixed = 0.95", "fixed"),
        ("mode = 'notes'\nfixed = 0.5", "mode `answer` alone"),
        ("label = 'search'", "give `fixed`"),
        ("fixed = 0.5\nmasked = 0.5", "leave `masked` or `fixed` out"),
    ] {
        let read = read_world(&format!("type = 'kbqa'\n{settings}")).map_err(|error| error.to_string());
        let said = read.and_then(|read| read.build(&LiveTools).map_err(|error| error.to_string())).err();
        assert!(said.as_ref().is_some_and(|said| said.contains(word)), "{settings}: {said:?}");
    }
}

#[test]
fn damaged_questions_are_refused() {
    let world = world("");
    let whole = task(world.as_ref());
    for (key, value) in [
        ("entities", json!([56, 24, 19, 42, 200])),
        ("relations", json!([0, 0])),
        ("objects", json!([1, 3, 4, 2, 0, 4, 2, 0, 3])),
        ("objects", json!([9, 3, 4, 2, 0, 4, 2, 0, 3, 1])),
        ("start", json!(9)),
        ("hops", json!([0, 7])),
        ("reworded", json!([true])),
    ] {
        let mut task = Task::clone(&whole);
        task.payload[key] = value;
        assert!(!opens(world.as_ref(), &Arc::new(task)), "{key}");
    }
}

/// The boss and the heir of bak are hidden: dov and tel. Her home is rin, and her mate kob.
fn paragraph(world: &dyn World) -> Arc<Task> {
    let drawn = world.task(Split::Train, 0, &Seed::root(1)).unwrap();
    let payload = json!({
        "entities": [56, 24, 19, 42, 46],
        "relations": [0, 1, 2, 3],
        "objects": [1, 2, 4, 3, 0, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3],
        "start": 0,
        "hops": [],
        "reworded": [],
        "salt": 6,
        "masks": [0, 3],
    });
    Arc::new(Task { payload, size: 2, answer: Some("dov tel".to_owned()), ..drawn })
}

/// What a filling is worth: filled, recall, penalised, spans, and whether it was the end.
fn filling(line: &str) -> ([f64; 4], bool) {
    let world = world("mode = 'mask'");
    let mut env = world.open(&paragraph(world.as_ref()), &Seed::root(2), None).unwrap();
    assert_eq!(env.reset().unwrap().last().unwrap().text, "fill bak boss _ home rin mate kob heir _");
    let action = env.parse(line);
    let result = env.step(&action, &[]).unwrap();
    (["filled", "recall", "penalised", "spans"].map(|name| result.info[name]), result.is_last())
}

#[test]
fn masks_are_filled_in_their_order_and_with_nothing_more() {
    assert_eq!(filling("fill dov tel"), ([1.0, 1.0, 1.0, 2.0], true));
    assert_eq!(filling("fill tel dov"), ([0.0, 1.0, 1.0, 2.0], true));
    assert_eq!(filling("fill dov"), ([0.0, 0.5, 1.0, 1.0], true));
    assert_eq!(filling("fill dov tel rin kob"), ([0.0, 1.0, 0.5, 4.0], true));
    for unread in ["fill", "fill who", "answer dov", "find bak boss"] {
        assert_eq!(filling(unread), ([0.0; 4], false), "{unread}");
    }
    let more = vec!["dov"; 61].join(" ");
    assert_eq!(filling(&format!("fill {more}")), ([0.0; 4], false), "more words than there are names");
}

#[test]
fn plain_recall_is_gamed_by_listing() {
    let all = merit_env::kbqa::NAMES.join(" ");
    assert_eq!(filling(&format!("fill {all}")), ([0.0, 1.0, 2.0 / 60.0, 60.0], true));
}

#[test]
fn masks_are_drawn_without_replacement() {
    let world = world("mode = 'mask'\nsizes = [1, 2, 3, 4]");
    for at in 0..200 {
        let task = world.task(Split::Train, at, &Seed::root(1)).unwrap();
        let masks: std::collections::BTreeSet<u64> =
            task.payload["masks"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect();
        assert_eq!(masks.len(), task.size as usize, "the label is the number of masks");
        let task = Arc::new(task);
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        let shown = env.reset().unwrap().last().unwrap().text.clone();
        assert_eq!(shown.split_whitespace().filter(|word| *word == "_").count(), masks.len(), "{shown}");
    }
}

#[test]
fn removing_while_iterating_skips_duplicates() {
    // A generator that removes duplicates while it iterates keeps some; this one keeps nobody twice, shown or hidden.
    let world = world("mode = 'mask'\nsizes = [1, 2, 3, 4]\nentities = 5");
    for at in 0..200 {
        let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        let shown = env.reset().unwrap().last().unwrap().text.clone();
        let hidden = task.answer.clone().unwrap();
        let mut met: Vec<&str> = shown.split_whitespace().chain(hidden.split_whitespace()).collect();
        met.retain(|word| merit_env::kbqa::NAMES.contains(word));
        let count = met.len();
        met.sort_unstable();
        met.dedup();
        assert_eq!((met.len(), count), (5, 5), "{shown} | {hidden}");
    }
    let task = paragraph(world.as_ref());
    for (key, value) in [
        ("masks", json!([0, 0])),
        ("masks", json!([0, 7])),
        ("masks", json!([3])),
        ("hops", json!([0, 1])),
        ("start", json!(9)),
        ("objects", json!([1, 1, 4, 3, 0, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3])),
    ] {
        let mut task = Task::clone(&task);
        task.payload[key] = value;
        assert!(!opens(world.as_ref(), &Arc::new(task)), "{key}");
    }
}

#[test]
fn manners_fill_masks_as_they_answer_questions() {
    let world = world("mode = 'mask'\nnoise = 0.0");
    let task = paragraph(world.as_ref());
    let shown = |manner: &str| demonstrated(world.as_ref(), &task, manner, 3);
    assert_eq!(shown("exact").0, ["find bak boss", "find bak heir", "fill dov tel"]);
    assert_eq!(shown("hasty").0, ["find bak boss", "fill dov"]);
    let (lines, info) = shown("wordy");
    assert_eq!(lines, ["find bak boss", "find bak heir", "fill dov tel rin kob bak"]);
    assert_eq!((info["recall"], info["penalised"], info["right"]), (1.0, 0.4, 0.0));
}

#[test]
fn questions_and_masks_can_be_drawn_together() {
    let world = world("masked = 0.5");
    let masked = |at: &u64| {
        let task = Arc::new(world.task(Split::Train, *at, &Seed::root(1)).unwrap());
        let (lines, info) = demonstrated(world.as_ref(), &task, "exact", *at);
        assert_eq!(info["right"], 1.0, "{lines:?}");
        lines.last().unwrap().starts_with("fill")
    };
    let count = (0..200).filter(masked).count();
    assert!((70..130).contains(&count), "{count}");
    // A question is not filled in, and a paragraph is not answered but by its one word.
    assert_eq!(
        play("masked = 0.5", &["fill rin tel"])[0].0,
        "say find NAME RELATION, answer NAME or fill NAMES"
    );
}

/// Tasks for training with their prompts.
fn prompts(world: &dyn World, count: u64) -> Vec<(Arc<Task>, String)> {
    let one = |at: u64| {
        let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
        let shown = world.open(&task, &Seed::root(2), None).unwrap().reset().unwrap();
        let shown = shown.last().unwrap().text.clone();
        (task, shown)
    };
    (0..count).map(one).collect()
}

/// What is said to lines in a task, as the infos of each turn.
fn infos(world: &dyn World, task: &Arc<Task>, lines: &[&str]) -> Vec<Info> {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let say = |line: &&str| {
        let action = env.parse(line);
        env.step(&action, &[]).unwrap().info
    };
    lines.iter().map(say).collect()
}

#[test]
fn fixed_facts_are_the_same_in_every_task_and_others_are_not() {
    let world = world("fixed = 0.5\nnoise = 0.0\nsizes = [1]");
    let mut known = std::collections::BTreeMap::<String, std::collections::BTreeSet<String>>::new();
    let half = 30;
    for (task, shown) in prompts(world.as_ref(), 2000) {
        known.entry(shown).or_default().insert(task.answer.clone().unwrap());
    }
    let is_fixed = |shown: &str| {
        let name = shown.split(' ').nth(1).unwrap();
        merit_env::kbqa::NAMES.iter().position(|known| *known == name).unwrap() < half
    };
    let (fixed, drawn): (Vec<_>, Vec<_>) = known.iter().partition(|(shown, _)| is_fixed(shown));
    assert_eq!(fixed.len(), 30 * 4, "every fixed fact is asked for");
    assert!(fixed.iter().all(|(_, answers)| answers.len() == 1), "{fixed:?}");
    assert!(drawn.iter().filter(|(_, answers)| answers.len() > 1).count() * 10 > drawn.len() * 9);
}

#[test]
fn whoever_answers_without_a_search_is_right_about_what_is_fixed() {
    let world = world("fixed = 0.5\nnoise = 0.0\nsizes = [1, 2]");
    let mut stored = [0, 0];
    for (task, shown) in prompts(world.as_ref(), 200) {
        let (lines, info) = demonstrated(world.as_ref(), &task, "hasty", 3);
        let needs = info["stored"] == 1.0;
        stored[usize::from(needs)] += 1;
        assert_eq!(lines.len(), if needs { 2 } else { 1 }, "{shown}: {lines:?}");
        let right = !needs || task.size == 1;
        assert_eq!(info["right"], f64::from(u8::from(right)), "{shown}: {lines:?}");
        // Whoever searches finds it as well.
        let (lines, info) = demonstrated(world.as_ref(), &task, "exact", 3);
        assert_eq!((lines.len() as u32, info["right"]), (task.size + 1, 1.0), "{shown}");
    }
    assert!(stored.iter().all(|count| (70..130).contains(count)), "{stored:?}");
}

#[test]
fn labels_say_what_they_are_made_from() {
    let agree = |label: &str| {
        let world = world(&format!("fixed = 0.5\nlabel = '{label}'\nsizes = [1, 2]"));
        let fits = |(task, shown): &(Arc<Task>, String)| {
            let stored = infos(world.as_ref(), task, &["find jeb boss"])[0]["stored"] == 1.0;
            shown.starts_with(if stored { "look who" } else { "tell who" })
        };
        prompts(world.as_ref(), 400).iter().filter(|one| fits(one)).count()
    };
    assert!((340..380).contains(&agree("rollouts")), "nine in ten: {}", agree("rollouts"));
    assert!((160..240).contains(&agree("random")), "{}", agree("random"));
    let begins = |label: &str, word: &str| {
        let world = world(&format!("fixed = 0.5\nlabel = '{label}'"));
        prompts(world.as_ref(), 300).iter().filter(|(_, shown)| shown.starts_with(word)).count()
    };
    assert_eq!(begins("search", "look who"), 300);
    for word in ["look who", "tell who", "who"] {
        assert!((70..130).contains(&begins("any", word)), "{word}");
    }
}

#[test]
fn test_prompts_carry_no_label() {
    // Labels are not there when a policy is tested: no evaluation of the system has one, whatever its arms learn from.
    let system: toml::Table = include_str!("../../../../systems/ur2.toml").parse().unwrap();
    let label = |table: &toml::Value| table.get("world").and_then(|world| world.get("label")).cloned();
    assert_eq!(label(&system["experiment"]), Some("none".into()));
    for arm in system["arms"].as_array().unwrap() {
        let Some(set) = arm.get("set") else { continue };
        assert_eq!(label(set), None, "{arm}");
        let stages = set.get("stages").and_then(toml::Value::as_array).into_iter().flatten();
        for stage in stages.filter(|stage| stage["type"].as_str() != Some("learn")) {
            assert_eq!(stage.get("set").and_then(label), None, "{stage}");
        }
    }
    let world = world("fixed = 0.5\nlabel = 'none'");
    assert!(prompts(world.as_ref(), 50).iter().all(|(_, shown)| shown.starts_with("who ")));
    let labelled = Arc::new({
        let mut task = Task::clone(&prompts(world.as_ref(), 1)[0].0);
        task.payload["label"] = json!("look");
        task
    });
    assert!(!opens(world.as_ref(), &labelled), "a label where there is none");
}

/// A question of one hop with this label, and its answer.
fn labelled(world: &dyn World, label: bool) -> (Arc<Task>, String) {
    let (task, _) = prompts(world, 1).remove(0);
    let mut task = Task::clone(&task);
    task.payload["label"] = json!(if label { "look" } else { "tell" });
    let answer = format!("answer {}", task.answer.clone().unwrap());
    (Arc::new(task), answer)
}

#[test]
fn a_query_under_the_no_search_prompt_is_a_violation() {
    let world = world("fixed = 0.5\nlabel = 'random'\nsizes = [1]");
    let told = |label: bool, search: bool| {
        let (task, answer) = labelled(world.as_ref(), label);
        let lines = if search { vec!["find jeb boss", &answer] } else { vec![answer.as_str()] };
        let end = infos(world.as_ref(), &task, &lines).pop().unwrap();
        ["search_fit", "violations", "right"].map(|name| end[name])
    };
    assert_eq!(told(false, false), [1.0, 0.0, 1.0]);
    assert_eq!(told(false, true), [0.0, 1.0, 1.0]);
    assert_eq!(told(true, true), [1.0, 0.0, 1.0]);
    assert_eq!(told(true, false), [0.0, 1.0, 1.0], "where searching is prompted, none is a violation");
}

#[test]
fn violations_are_counted_not_flagged() {
    let world = world("fixed = 0.5\nlabel = 'random'\nsizes = [1]");
    let (task, answer) = labelled(world.as_ref(), false);
    let lines = ["find jeb boss", "find jeb boss", "well", "find", &answer];
    let counts: Vec<f64> =
        infos(world.as_ref(), &task, &lines).iter().map(|info| info["violations"]).collect();
    assert_eq!(counts, [1.0, 2.0, 3.0, 4.0, 4.0]);
}
