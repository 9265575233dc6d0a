//! A command line as words, without a shell: nothing is expanded, substituted or run.

use crate::error::AttackError;

/// Splits at white space. Single quotes keep everything; double quotes keep all but a backslash before `"` or `\`; outside
/// quotes a backslash keeps the next character.
///
/// ```
/// use merit_attack::targets::split_words;
/// assert_eq!(split_words(r#"python3 'my script.py' --name "a \"b\"""#)?, ["python3", "my script.py", "--name", "a \"b\""]);
/// let error = split_words("python3 'oops").unwrap_err().to_string();
/// assert!(error.ends_with("cannot be split into words: a single quote is not closed"));
/// # Ok::<(), merit_attack::AttackError>(())
/// ```
pub fn split_words(command: &str) -> Result<Vec<String>, AttackError> {
    let bad = |why| AttackError::Words { command: command.to_owned(), why };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or_else(|| bad("a single quote is not closed"))? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or_else(|| bad("a double quote is not closed"))? {
                        '"' => break,
                        '\\' => match chars.next().ok_or_else(|| bad("it ends with a backslash"))? {
                            c @ ('"' | '\\') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => {
                let next = chars.next().ok_or_else(|| bad("it ends with a backslash"))?;
                word.get_or_insert_default().push(next);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(bad("it is empty")) } else { Ok(words) }
}
