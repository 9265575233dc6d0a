//! Inputs that begin with a minus: `merit tool run calc '-3+5' --json`.
//!
//! clap takes such a word for an option, or, when told not to, every option behind it for an input. Words that cannot be options
//! are therefore put behind `--` before clap sees them. What begins with two minus signs is an option, so that a misspelt one is
//! still refused.

use super::Cli;
use clap::CommandFactory as _;
use std::ffi::{OsStr, OsString};

/// The commands whose words may be anything.
const FREE: [[&str; 2]; 1] = [["tool", "run"]];

/// The words of a command line as clap reads them right.
pub(crate) fn arguments(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.into_iter().collect();
    let free = |path: &&[&str; 2]| {
        words.get(1..3).is_some_and(|given| given.iter().zip(path.iter()).all(|(a, b)| a == b))
    };
    let Some(path) = FREE.iter().find(free) else { return words };
    let command = Cli::command();
    let Some(command) = path.iter().try_fold(&command, |command, name| command.find_subcommand(name)) else {
        return words;
    };
    let mut rest = words.split_off(3).into_iter();
    let (mut options, mut inputs) = (Vec::new(), Vec::new());
    while let Some(word) = rest.next() {
        if word == "--" {
            inputs.extend(rest.by_ref());
        } else if word == "-h" || begins(&word, "--") {
            let valued = takes_value(command, &word);
            options.push(word);
            options.extend(rest.by_ref().take(usize::from(valued)));
        } else {
            inputs.push(word);
        }
    }
    let mark = (!inputs.is_empty()).then(|| OsString::from("--"));
    words.into_iter().chain(options).chain(mark).chain(inputs).collect()
}

fn begins(word: &OsStr, with: &str) -> bool {
    word.as_encoded_bytes().starts_with(with.as_bytes())
}

/// Whether the value of an option is the next word.
fn takes_value(command: &clap::Command, word: &OsStr) -> bool {
    let named =
        |option: &&clap::Arg| option.get_long().is_some_and(|long| word == format!("--{long}").as_str());
    command.get_arguments().find(named).is_some_and(|option| option.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, wanted: &str) {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(arguments(words(given)), words(wanted));
    }

    #[test]
    fn inputs_go_behind_the_options() {
        check("merit tool run calc -3+5 --json", "merit tool run --json -- calc -3+5");
        check("merit tool run calc --set a=-1 -3 - 4", "merit tool run --set a=-1 -- calc -3 - 4");
        check("merit tool run calc --set=a=-1 -3", "merit tool run --set=a=-1 -- calc -3");
        check("merit tool run calc -- --json -3", "merit tool run -- calc --json -3");
    }

    #[test]
    fn options_and_other_commands_are_left_alone() {
        for line in
            ["merit tool run --help", "merit tool run -h", "merit train --seed 3 -x", "merit tool show calc"]
        {
            check(line, line);
        }
        check("merit tool run calc --jsno", "merit tool run --jsno -- calc");
    }
}
