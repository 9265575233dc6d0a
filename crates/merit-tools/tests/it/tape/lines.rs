//! A tape as JSON lines.

use crate::tape::bench_tools::{Bench, Shelf, ask, ok, task};
use merit_tools::{Tape, TapeError, read_tool};
use std::io::BufReader;

fn exported() -> (Shelf, String) {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    toolbox.build(&read_tool("type = \"calc\"").unwrap()).unwrap();
    let tool = toolbox.wrap(Bench::adder());
    let session = tool.open(&task("t"), None).unwrap();
    for input in ["1", "x\u{0}\n\"é", "2"] {
        ask(&session, input);
    }
    let closed = tool.open(&task("closed"), None).err().unwrap().to_string();
    assert!(closed.contains("it is closed"), "{closed}");
    let mut lines = Vec::new();
    toolbox.tape().unwrap().export(&mut lines).unwrap();
    (shelf, String::from_utf8(lines).unwrap())
}

fn imported(text: &str) -> (Shelf, Result<std::sync::Arc<Tape>, TapeError>) {
    let shelf = Shelf::new();
    let tape = Tape::import(&shelf.path, &mut BufReader::new(text.as_bytes()));
    (shelf, tape)
}

#[test]
fn an_exported_tape_reads_back_and_replays() {
    let (_, text) = exported();
    assert_eq!(text.lines().count(), 1 + 2 + 2 + 3, "{text}");
    let (shelf, tape) = imported(&text);
    let mut again = Vec::new();
    tape.as_ref().unwrap().export(&mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), text);
    drop(tape);
    let replay = shelf.replay();
    let tool = replay.wrap(Bench::stuck());
    let session = tool.open(&task("t"), None).unwrap();
    assert_eq!(ask(&session, "1"), ok("1"));
    let closed = tool.open(&task("closed"), None).err().unwrap().to_string();
    assert!(closed.contains("it is closed"), "{closed}");
    replay.check().unwrap();
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    let (_, text) = exported();
    let last = text.lines().count();
    let broken = |from: &str, to: &str| imported(&text.replacen(from, to, 1)).1.err().unwrap().to_string();
    assert!(broken("{\"tape\"", "{\"reel\"").starts_with("line 1 of an exported tape"));
    assert!(broken("\"format\":1", "\"format\":9").contains("format 9"));
    assert!(broken("\"pace\":\"", "\"pace\":\"brisk").contains("no pace `brisk"));
    assert!(broken("\"answer\":\"ok\"", "\"answer\":\"maybe\"").contains("no kind of answer `maybe`"));
    assert!(broken("\"strict\":\"", "\"strict\":\"z").contains("is no hash"));
    let (shelf, cut) = imported(&text[..text.len() - 10]);
    let cut = cut.err().unwrap().to_string();
    assert!(!shelf.path.exists(), "half a tape is none");
    assert!(cut.starts_with(&format!("line {last} of an exported tape")), "{cut}");
    assert!(imported("").1.err().unwrap().to_string().contains("must say what the tape is"));
}
