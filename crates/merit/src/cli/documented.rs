//! Every command in the documents is one that merit understands.

use super::Cli;
use super::free_text::arguments;
use clap::Parser as _;
use std::path::Path;

/// The commands in the fenced blocks of a document, with the number of their line.
fn commands(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let line = line.trim_start_matches("$ ");
        // What stands behind two spaces is a remark.
        let command = line.split("  ").next().unwrap_or(line).trim();
        for command in command.split(" && ").filter(|command| fenced && command.starts_with("merit ")) {
            found.push((number, command.to_owned()));
        }
    }
    found
}

/// The words of a command as a shell reads them, up to a pipe, a redirection or a remark.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    for c in command.chars() {
        match (quote, c) {
            (Some(mark), _) if c == mark => quote = None,
            (None, '\'' | '"') => (quote, open) = (Some(c), true),
            (None, '|' | '<' | '>') => break,
            (None, '#') if word.is_empty() && !open => break,
            (None, ' ') => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            _ => {
                word.push(c);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files = vec![root.join("README.md")];
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    files.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    files.sort();
    let (mut count, mut wrong) = (0, Vec::new());
    for file in files {
        for (line, command) in commands(&std::fs::read_to_string(&file).unwrap()) {
            count += 1;
            if let Err(error) = Cli::try_parse_from(arguments(words(&command).into_iter().map(Into::into))) {
                let why = error.to_string();
                let why = why.lines().next().unwrap_or_default();
                wrong.push(format!("{}:{line}: {command}\n    {why}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 50, "only {count} commands were found");
}

#[test]
fn words_are_those_of_a_shell() {
    assert_eq!(
        words("merit tool run python 'print(6 * 7)' | head"),
        ["merit", "tool", "run", "python", "print(6 * 7)"]
    );
    assert_eq!(
        words("merit eval http://127.0.0.1/v1#M --set a=\"b c\" # so"),
        ["merit", "eval", "http://127.0.0.1/v1#M", "--set", "a=b c"]
    );
}
