//! The lines that a scorer and the audit exchange.

use crate::subject::{Move, Subject};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where the answer stands in a format.
const HOLE: &str = "{answer}";

/// The first line of a scorer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Greeting {
    pub(super) name: String,
    /// What a right answer earns, on tasks with an answer and without. Absent: it is unknown.
    #[serde(default)]
    pub(super) full: Option<f64>,
    /// How an agent writes its final answer, with `{answer}` where it stands. Absent: the answer alone.
    #[serde(default)]
    format: Option<String>,
    tasks: Vec<GreetedTask>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct GreetedTask {
    id: String,
    prompt: String,
    #[serde(default)]
    answer: Option<String>,
    /// A right response as an agent would write it, word for word. Absent: the answer in the format.
    #[serde(default)]
    gold: Option<String>,
    #[serde(default)]
    others: Vec<String>,
}

impl Greeting {
    /// An answer as an agent writes it.
    pub(super) fn written(&self, answer: &str) -> String {
        self.format.as_deref().unwrap_or(HOLE).replace(HOLE, answer)
    }

    /// The tasks as an attacker sees them; the answers of the other tasks stand in where a task names no wrong ones.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let answers: Vec<&String> = self.tasks.iter().filter_map(|task| task.answer.as_ref()).collect();
        let subject = |task: &GreetedTask| {
            let mut subject = Subject {
                id: task.id.clone(),
                prompt: task.prompt.clone(),
                gold: task.answer.clone(),
                gold_moves: task.gold.iter().map(|text| Move::Raw { text: text.clone() }).collect(),
                others: task.others.clone(),
                ..Subject::default()
            };
            if subject.others.is_empty() {
                let wrong = answers.iter().filter(|answer| !subject.is_right(answer)).take(30);
                subject.others = wrong.map(|answer| (*answer).clone()).collect();
            }
            subject
        };
        self.tasks.iter().map(subject).collect()
    }
}

pub(super) fn greeting(line: &str) -> Result<Greeting, String> {
    let greeting: Greeting = serde_json::from_str(line)
        .map_err(|error| format!("its first line is no greeting ({error}): {}", excerpt(line)))?;
    match (greeting.full, &greeting.format) {
        (Some(full), _) if !(full.is_finite() && full > 0.0) => {
            Err(format!("`full` is {full}; it is what a right answer earns, a number above 0"))
        }
        (_, Some(format)) if !format.contains(HOLE) => {
            Err(format!("`format` is {format:?}; it must hold `{HOLE}` where the answer stands"))
        }
        _ => Ok(greeting),
    }
}

pub(super) fn question(id: u64, task: usize, answer: Option<&str>) -> String {
    format!("{}\n", json!({ "id": id, "task": task, "answer": answer }))
}

/// What a scorer says to a question.
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    Score(f64),
    /// It has a score that is infinite or no number, which JSON writes as null if at all.
    NotFinite,
    Error(String),
}

pub(super) fn reply(id: u64, line: &str) -> Result<Reply, String> {
    let odd = |what: &str| format!("{what}: {}", excerpt(line));
    // Python writes what is not finite in ways that JSON does not know.
    let known = line.replace("NaN", "null").replace("-Infinity", "null").replace("Infinity", "null");
    let parsed: Value = match serde_json::from_str(line) {
        Ok(parsed) => parsed,
        Err(error) => {
            serde_json::from_str(&known).map_err(|_| odd(&format!("its answer is no JSON ({error})")))?
        }
    };
    if parsed.get("id").and_then(Value::as_u64) != Some(id) {
        return Err(odd(&format!("it was asked {id} and answers something else")));
    }
    match (parsed.get("score"), parsed.get("error")) {
        (Some(score), None) => match score.as_f64() {
            Some(value) if value.is_finite() => Ok(Reply::Score(value)),
            _ if score.is_null() || score.is_number() => Ok(Reply::NotFinite),
            _ => Err(odd("its score is no number")),
        },
        (None, Some(error)) => {
            Ok(Reply::Error(error.as_str().map_or_else(|| error.to_string(), str::to_owned)))
        }
        _ => Err(odd("its answer needs either `score` or `error`")),
    }
}

fn excerpt(line: &str) -> String {
    merit_core::printable::beginning(line.trim_end(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_says_how_answers_are_written_and_what_they_earn() {
        let read = |more: &str| greeting(&format!(r#"{{"name": "mine", "tasks": []{more}}}"#));
        let tagged = read(r#", "format": "<answer>{answer}</answer>""#).unwrap();
        assert_eq!(
            (tagged.written("4").as_str(), read("").unwrap().written("4").as_str()),
            ("<answer>4</answer>", "4")
        );
        for (wrong, says) in [
            (r#", "full": 0"#, "above 0"),
            (r#", "full": -1"#, "above 0"),
            (r#", "format": "x""#, "{answer}"),
        ] {
            assert!(read(wrong).unwrap_err().contains(says), "{wrong}");
        }
    }

    #[test]
    fn a_score_that_is_no_number_is_never_taken_for_one() {
        assert_eq!(reply(1, r#"{"id": 1, "score": 0.5}"#), Ok(Reply::Score(0.5)));
        assert_eq!(reply(1, r#"{"id": 1, "score": NaN}"#), Ok(Reply::NotFinite));
        assert_eq!(reply(1, r#"{"id": 1, "error": "ValueError"}"#), Ok(Reply::Error("ValueError".into())));
        for (wrong, why) in [
            (r#"{"id": 2, "score": 1}"#, "it was asked 1 and answers something else"),
            (r#"{"id": 1, "score": "1"}"#, "its score is no number"),
            (r#"{"id": 1}"#, "its answer needs either `score` or `error`"),
            ("1.0", "it was asked 1 and answers something else"),
        ] {
            assert_eq!(reply(1, wrong), Err(format!("{why}: {wrong}")));
        }
    }
}
