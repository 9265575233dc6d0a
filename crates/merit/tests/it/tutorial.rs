//! The tutorial does what it says: its commands, word for word; the training with one update, for time.

use crate::tiny::say;
use merit_testing::{root, weights};
use serde_json::Value;

/// The lines of the fenced block that begins with `first`.
fn block(text: &str, first: &str) -> Vec<String> {
    let start = text.find(&format!("```\n{first}")).expect("the tutorial has the block") + 4;
    let block = text[start..].split("```").next().unwrap();
    block.lines().map(str::to_owned).collect()
}

#[test]
fn from_forty_questions_to_an_adapter_a_measurement_and_a_dataset() {
    let Some(model) = weights("smollm2-135m-instruct-q4_1.gguf") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(root().join("docs/questions.jsonl"), folder.path().join("questions.jsonl")).unwrap();
    std::os::unix::fs::symlink(model.canonicalize().unwrap(), folder.path().join("model.gguf")).unwrap();
    let text = std::fs::read_to_string(root().join("docs/your-own-tasks.md")).unwrap();
    let (mut place, mut said) = (folder.path().to_owned(), Vec::new());
    for line in block(&text, "merit init quiz") {
        match line.split_once(' ') {
            Some(("cd", to)) => place = place.join(to),
            Some(("merit", words)) => {
                let fewer = ["--set", "budget.steps=1"].into_iter().filter(|_| words.starts_with("train "));
                said.push(say(&place, words.split_whitespace().chain(fewer)).well());
            }
            _ => panic!("not a command: {line}"),
        }
    }
    for left in
        ["runs/quiz-1/adapter/adapter_model.safetensors", "runs/quiz-1/policy", "runs/quiz-1/report.html"]
    {
        assert!(place.join(left).exists(), "{left} is not there");
    }
    let measured = &said[2].out;
    for words in ["95 % interval", "pass@4", "pass^4", "is better than"] {
        assert!(measured.contains(words), "{measured}");
    }
    let solved = std::fs::read_to_string(place.join("solved.jsonl")).unwrap();
    assert!(solved.lines().count() > 20, "{}", solved.lines().count());
    for line in solved.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let last = line["messages"].as_array().unwrap().last().unwrap().clone();
        assert!(
            last["role"] == "assistant" && last["content"].as_str().unwrap().contains("Answer:"),
            "{last}"
        );
    }
}

#[test]
fn what_cannot_be_begun_with_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("odd.jsonl"),
        "{\"prompt\": \"a\", \"answer\": \"b\"}\n{\"prompt\": \"c\"}\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("fine.jsonl"), "{\"prompt\": \"a\", \"answer\": \"b\"}\n").unwrap();
    for (words, why) in [
        (&["init", "x", "--tasks", "odd.jsonl", "--model", "odd.jsonl"][..], "line 2 has no `answer`"),
        (&["init", "x", "--tasks", "gone.jsonl", "--model", "m"], "gone.jsonl"),
        (&["init", "x", "--tasks", "fine.jsonl", "--model", "no-model"], "no-model"),
        (&["init", "x", "--tasks", "fine.jsonl", "--model", "fine.jsonl"], "fine.jsonl"),
        (&["init", "x", "--tasks", "fine.jsonl"], "--model"),
    ] {
        let said = say(folder.path(), words);
        assert!(said.code == Some(2) && said.err.contains(why), "{words:?}: {}", said.err);
    }
    assert!(!folder.path().join("x").exists());
}
