//! A shelf of tools: which there are, what requests mean, what is answered, and what the manners get wrong.

use crate::played::{
    built, by_hand, demonstrated, last, longest, mean, of, opens, play, plays_as_documented, prompt, refuses,
    restores, said, tells_the_same_names, with,
};
use merit_api::conformance::check_world;
use merit_core::{Action, Seed, Split, Task};
use merit_env::toolshelf::{Names, Shelf, Takes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The first tools of the shelf that take what is said here.
fn place(shelf: &Shelf, takes: Takes) -> u32 {
    shelf.tools.iter().position(|tool| tool.takes == takes).unwrap() as u32
}

fn errand(tools: &[u32], more: Value) -> Arc<Task> {
    let plain = json!({ "other_words": [false, false, false], "vague": false, "left_out": null });
    let need = |tool: &u32| with(with(plain.clone(), &json!({ "tool": tool })), &more);
    let needs: Vec<Value> = tools.iter().map(need).collect();
    by_hand("toolshelf", tools.len() as u32, json!({ "needs": needs, "number": 3, "size": 2 }))
}

#[test]
fn a_shelf_is_always_the_same_and_has_no_tool_twice() {
    let shelf = Shelf::new(0, 500, Names::Words);
    // Golden: another shelf would make everything that was learnt by heart wrong.
    assert_eq!(
        [0, 1, 2].map(|at| shelf.name(at)),
        ["lab cool soup crate", "farm price bread crate", "bank count grain crate"]
    );
    let triples: BTreeSet<[u8; 3]> = shelf.tools.iter().map(|tool| tool.parts).collect();
    assert_eq!(triples.len(), 500);
    let numbered = Shelf::new(0, 500, Names::Numbers);
    assert_eq!([0, 1, 200].map(|at| numbered.name(at)), ["3", "10", "403"]);
    let tokens = Shelf::new(0, 500, Names::Tokens);
    assert_eq!(tokens.name(0), "<lab cool soup crate>");
    assert_eq!((tokens.find("lab cool soup crate"), shelf.find("<lab cool soup crate>")), (None, None));
    for shelf in [&shelf, &numbered, &tokens] {
        assert!((0..500).all(|at| shelf.find(&shelf.name(at)) == Some(at)));
        assert_eq!(shelf.find("home home home home"), None);
    }
    assert_ne!(Shelf::new(1, 500, Names::Words).name(0), shelf.name(0));
    assert_eq!(Shelf::new(0, 20, Names::Words).tools, shelf.tools[..20]);
}

#[test]
fn a_tool_is_named_read_and_given_what_it_takes() {
    let (world, shelf) = (built("toolshelf", ""), Shelf::new(0, 200, Names::Words));
    let first = place(&shelf, Takes::SizeNum);
    let name = shelf.name(first);
    let words: Vec<&str> = name.split(' ').collect();
    let [domain, verb, object, unit] = words[..] else { panic!("{name}") };
    let task = errand(&[first], json!({}));
    assert_eq!(
        prompt(world.as_ref(), &task),
        format!("need {verb} {object} at {domain} by {unit} for 3 big")
    );
    let given = shelf.run(first, "big 3").unwrap();
    assert!(
        (10..100).contains(&given) && shelf.run(first, "3 big").is_none() && shelf.run(first, "3").is_none()
    );
    let named = format!("use {name}");
    let lines = [
        "give big 3",
        "use home home home home",
        &named,
        "give 3 big",
        "give big 3",
        "use it!",
        &format!("answer {given}"),
    ];
    let turns = play(world.as_ref(), &task, &lines);
    assert_eq!(
        turns.iter().take(6).map(|(said, _)| said.clone()).collect::<Vec<String>>(),
        [
            "no tool named".to_owned(),
            "no such tool".to_owned(),
            format!("doc to {verb} {object} at {domain} by {unit} takes size num"),
            "not what it takes".to_owned(),
            format!("got {given}"),
            "say use TOOL, give ARGUMENTS or answer NUMBER".to_owned(),
        ]
    );
    let of = |name: &str| of(&turns, name);
    assert_eq!(of("invented"), [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(of("tool_right"), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("relevant"), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(of("refused"), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(of("runs"), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(of("read"), [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0]);
    assert_eq!(of("right"), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    tells_the_same_names(&turns);
}

#[test]
fn the_sample_in_the_documents_is_what_is_said() {
    // The shelf is the usual one: what stands there is true of it.
    let shelf = Shelf::new(0, 200, Names::Words);
    let tool = shelf.find("home clean soup cup").unwrap();
    let task = errand(&[tool], json!({ "other_words": [false, true, false] }));
    plays_as_documented(built("toolshelf", "").as_ref(), &task);
}

#[test]
fn the_second_tool_is_given_what_the_first_gave() {
    let (world, shelf) = (built("toolshelf", ""), Shelf::new(0, 200, Names::Words));
    let (first, second) = (place(&shelf, Takes::Num), place(&shelf, Takes::NumSize));
    let task = errand(&[first, second], json!({}));
    let between = shelf.run(first, "3").unwrap();
    let end = shelf.run(second, &format!("{between} big")).unwrap();
    let (lines, info) = demonstrated(world.as_ref(), &task, "exact", 3);
    assert_eq!(
        lines,
        [
            format!("use {}", shelf.name(first)),
            "give 3".to_owned(),
            format!("use {}", shelf.name(second)),
            format!("give {between} big"),
            format!("answer {end}"),
        ]
    );
    assert_eq!((info["right"], info["relevant"], info["runs"]), (1.0, 1.0, 2.0));
    // The other way round, only the first is named in its order.
    let turned = [format!("use {}", shelf.name(second)), format!("use {}", shelf.name(first))];
    let turned = play(world.as_ref(), &task, &[&turned[0], &turned[1]]);
    assert_eq!((of(&turned, "relevant"), of(&turned, "strays")), (vec![0.0, 0.5], vec![1.0, 1.0]));
}

#[test]
fn requests_have_other_words_leave_words_out_and_still_mean_one_tool() {
    let shelf = Shelf::new(0, 200, Names::Words);
    let world = built("toolshelf", "");
    let name = shelf.name(0);
    let [domain, verb, object, unit] = name.split(' ').collect::<Vec<&str>>()[..] else { panic!("{name}") };
    let said = |more: Value| prompt(world.as_ref(), &errand(&[0], more));
    let others = said(json!({ "other_words": [true, true, true] }));
    assert!(
        [domain, verb, object].iter().all(|word| !others.contains(word)) && others.contains(unit),
        "{others}"
    );
    assert_eq!(said(json!({ "vague": true })), format!("need {verb} {object} at {domain} for 3 big"));
    let shifted = built("toolshelf", "template = 'shifted'");
    let shifted = prompt(shifted.as_ref(), &errand(&[0], json!({})));
    assert_eq!(shifted, format!("for 3 big need by {unit} at {domain} {verb} {object}"));
    // Whatever is left out of a drawn request, one tool fits.
    let vague = built("toolshelf", "vague = 1.0\nsynonyms = 0.0\nsizes = [1]");
    let mut shorter = 0;
    for at in 0..100 {
        let task = Arc::new(vague.task(Split::Train, at, &Seed::root(1)).unwrap());
        let prompt = prompt(vague.as_ref(), &task);
        let words: Vec<&str> =
            prompt.split(' ').filter(|word| !["need", "at", "by", "for", "then"].contains(word)).collect();
        let told = &words[..words.len() - 2];
        let fits =
            |place: &u32| told.iter().all(|word| shelf.name(*place).split(' ').any(|part| part == *word));
        assert_eq!((0..200).filter(fits).count(), 1, "{prompt}");
        shorter += usize::from(told.len() == 2);
    }
    assert!(shorter > 20, "{shorter}");
}

#[test]
fn other_modes_ask_for_names_alone() {
    let shelf = Shelf::new(0, 200, Names::Numbers);
    let retrieve = built("toolshelf", "mode = 'retrieve'\nnames = 'numbers'");
    let task = errand(&[0, 1], json!({}));
    let end = |line: &str| last(retrieve.as_ref(), &task, &[line]);
    let right = end("use 3 then 10");
    assert_eq!(
        (right["right"], right["relevant"], right["invented"], right["on_shelf"]),
        (1.0, 1.0, 0.0, 1.0)
    );
    // 5 is the number of the 287th tool.
    let half = end("use 3 then 5");
    assert_eq!((half["right"], half["relevant"], half["invented"], half["on_shelf"]), (0.0, 0.5, 1.0, 0.0));
    assert_eq!(end("use 10 then 3")["right"], 0.0);
    // Whoever lists more tools than are needed has named them all, and one too many.
    let more = end("use 17 then 3 then 10");
    assert_eq!((more["right"], more["relevant"], more["strays"], more["tool_right"]), (0.0, 1.0, 1.0, 0.0));
    assert_eq!(said(retrieve.as_ref(), &task, &["answer 3"]), ["say use TOOL or use TOOL then TOOL"]);
    let document = built("toolshelf", "mode = 'document'\nsizes = [1]");
    let one = errand(&[0], json!({}));
    assert_eq!(prompt(document.as_ref(), &one), shelf.doc(0));
    let named = format!("use {}", Shelf::new(0, 200, Names::Words).name(0));
    assert_eq!(demonstrated(document.as_ref(), &one, "exact", 3).0, std::slice::from_ref(&named));
    assert_eq!(said(document.as_ref(), &one, &["give 3"]), ["say use TOOL"]);
    let env = document.open(&one, &Seed::root(2), None).unwrap();
    assert_eq!(env.parse(&named), Action::Answer { text: named[4..].to_owned() });
}

#[test]
fn names_that_are_tokens_are_words_of_the_world_and_stand_for_their_four_words() {
    let tokens = built("toolshelf", "mode = 'retrieve'\nnames = 'tokens'");
    let words = tokens.words();
    assert_eq!((words.len(), words[0].text.as_str()), (200, "<lab cool soup crate>"));
    assert_eq!(words[0].of, " lab cool soup crate");
    assert!(built("toolshelf", "names = 'words'").words().is_empty());
    let task = errand(&[0], json!({}));
    let end = |line: &str| last(tokens.as_ref(), &task, &[line]);
    assert_eq!(end("use <lab cool soup crate>")["right"], 1.0);
    for invented in ["use lab cool soup crate", "use <lab cool soup cup>", "use <<lab cool soup crate>>"] {
        assert_eq!((end(invented)["right"], end(invented)["invented"]), (0.0, 1.0), "{invented}");
    }
    // A mixture has the words of its worlds, each once.
    let world = "{ type = 'toolshelf', names = 'tokens', tools = 20 }";
    let mixed =
        built("mix", &format!("of = [{{ name = 'a', world = {world} }}, {{ name = 'b', world = {world} }}]"));
    assert_eq!(mixed.words(), words[..20]);
}

#[test]
fn names_alone_can_be_held_to_the_shelf() {
    let schema = |settings: &str, tools: &[u32]| {
        let world = built("toolshelf", &format!("tools = 20\n{settings}"));
        world.open(&errand(tools, json!({})), &Seed::root(1), None).unwrap().schema()
    };
    let regex = schema("mode = 'retrieve'\nnames = 'numbers'", &[0]).unwrap();
    let names = "3|10|17|24|31|38|45|52|59|66|73|80|87|94|101|108|115|122|129|136";
    assert_eq!(regex, json!({ "regex": format!("use ({names})( then ({names})){{0,2}}") }));
    // It tells nothing of the task.
    assert_eq!(schema("mode = 'retrieve'\nnames = 'numbers'", &[3, 7]).unwrap(), regex);
    assert_eq!(schema("", &[0]), None);
}

#[test]
fn manners_are_what_they_say_and_more_tools_are_harder() {
    for settings in [
        "",
        "mode = 'retrieve'",
        "mode = 'retrieve'\nnames = 'numbers'\ntools = 500",
        "mode = 'retrieve'\nnames = 'tokens'",
        "names = 'tokens'",
        "tools = 20\nsizes = [3]",
    ] {
        let world = built("toolshelf", settings);
        let of = |manner: &str, name: &str| mean(world.as_ref(), manner, name);
        assert_eq!(
            (of("exact", "right"), of("exact", "invented"), of("exact", "refused")),
            (1.0, 0.0, 0.0),
            "{settings}"
        );
        assert_eq!(of("eager", "right"), 1.0, "{settings}");
        assert!(of("inventor", "right") < 0.05 && of("inventor", "invented") == 1.0, "{settings}");
        let sloppy = of("sloppy", "right");
        assert!(sloppy > 0.1 && sloppy < 0.7 && of("sloppy", "invented") == 0.0, "{settings}: {sloppy}");
    }
    let all = built("toolshelf", "");
    assert!(mean(all.as_ref(), "eager", "refused") > 0.5);
    let solved =
        |size: u32| mean(built("toolshelf", &format!("sizes = [{size}]")).as_ref(), "sloppy", "right");
    let by_size: Vec<f64> = (1..=3).map(solved).collect();
    assert!(by_size.is_sorted_by(|a, b| *a > b + 0.05), "{by_size:?}");
    assert!(longest(all.as_ref(), "exact") < 75, "{}", longest(all.as_ref(), "exact"));
    // A quarter of the tools is rare; where the first tools are needed most, rarely so.
    let rare = |settings: &str| mean(built("toolshelf", settings).as_ref(), "exact", "rare");
    let (even, skewed) = (rare("sizes = [1]"), rare("sizes = [1]\nskew = 1.0"));
    assert!((even - 0.25).abs() < 0.1 && skewed < 0.12, "{even} {skewed}");
}

#[test]
fn damage_and_nonsense_are_refused() {
    let world = built("toolshelf", "");
    for damage in [
        json!({ "tool": 200 }),
        json!({ "left_out": 0 }),
        json!({ "vague": true, "left_out": 3 }),
        json!({ "other_words": [true] }),
    ] {
        assert!(!opens(world.as_ref(), &errand(&[0], damage.clone())), "{damage}");
    }
    let good = errand(&[0], json!({}));
    for damage in
        [json!({ "number": 0 }), json!({ "number": 10 }), json!({ "size": 3 }), json!({ "needs": [] })]
    {
        let task = by_hand("toolshelf", 1, with(good.payload.clone(), &damage));
        assert!(!opens(world.as_ref(), &task), "{damage}");
    }
    let restores = |state: Value| restores(world.as_ref(), &good, &state);
    assert!(restores(json!({ "open": 199, "chosen": 1 })));
    assert!(!restores(json!({ "open": 200 })) && !restores(json!({ "chosen": 2 })));
    let cases = [
        ("sizes = []", "`sizes` is empty"),
        ("sizes = [4]", "1 to 3 tools"),
        ("mode = 'document'", "1 to 1 tools"),
        ("tools = 19", "20 to 500"),
        ("vague = 2.0", "between 0 and 1"),
        ("synonyms = -0.5", "between 0 and 1"),
        ("skew = 4.0", "between 0 and 3"),
        ("mode = 'document'\nsizes = [1]\ntemplate = 'shifted'", "`template` is about requests"),
        ("mode = 'document'\nsizes = [1]\nvague = 0.0", "`vague` is about requests"),
        ("mode = 'document'\nsizes = [1]\nsynonyms = 1.0", "`synonyms` is about requests"),
    ];
    refuses("toolshelf", &cases);
    for settings in [
        "mode = 'retrieve'\nsizes = [1, 2, 3]",
        "mode = 'document'\nsizes = [1]\nnames = 'numbers'",
        "mode = 'retrieve'\nnames = 'tokens'",
        "tools = 20\ntemplate = 'shifted'\nsizes = [3]",
        "tools = 500\nvague = 1.0\nsynonyms = 1.0\nskew = 2.0\ninstructions = true",
    ] {
        let found = check_world(built("toolshelf", settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
}
