//! Tasks that come along: some for every shipped reward, and some plain questions for rewards that read an answer.

use super::{Given, parse};
use crate::error::AttackError;
use std::sync::Arc;

/// The sample tasks of a shipped reward.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub reward: &'static str,
    /// The text of its task file.
    pub text: &'static str,
}

macro_rules! samples {
    ( $( $name:literal, )* ) => {
        /// The sample tasks of every shipped reward, in `rewards/tasks/`.
        pub const SAMPLES: &[Sample] = &[$( Sample {
            reward: $name,
            text: include_str!(concat!("../../../../rewards/tasks/", $name, ".jsonl")),
        }, )*];
    };
}

samples! {
    "airline",
    "code",
    "dialogue-checklist",
    "final-answer",
    "json-object",
    "maths",
    "search-qa",
    "sql",
}

/// The sample tasks of the shipped reward called `name`. Absent: it has none.
pub fn sample_of(name: &str) -> Option<Result<Vec<Given>, AttackError>> {
    let sample = SAMPLES.iter().find(|sample| sample.reward == name)?;
    Some(parse(&format!("rewards/tasks/{name}.jsonl"), sample.text))
}

/// Questions with one right number or word, for rewards that read an answer and need nothing else.
pub fn general() -> Vec<Given> {
    let questions = [
        ("A box holds 6 rows of 7 cups. How many cups?", "42"),
        ("Anna has 15 pens and gives away 4. How many are left?", "11"),
        ("What is 3/4 as a decimal?", "0.75"),
        (
            "A train takes 95 minutes and leaves 10 minutes late. After how many minutes does it arrive?",
            "105",
        ),
        ("What is the capital of Norway?", "Oslo"),
        ("Which planet is nearest to the sun?", "Mercury"),
    ];
    let line = |(at, (prompt, answer)): (usize, (&str, &str))| {
        let task = merit_core::Task {
            id: format!("general/{at}"),
            world: "tasks".to_owned(),
            version: 1,
            split: merit_core::Split::Train,
            size: 1,
            payload: serde_json::Value::Null,
            answer: Some(answer.to_owned()),
        };
        let subject = crate::Subject {
            id: task.id.clone(),
            prompt: prompt.to_owned(),
            gold: Some(answer.to_owned()),
            tools: vec!["search".to_owned()],
            ..crate::Subject::default()
        };
        (Arc::new(task), subject)
    };
    super::with_others(questions.into_iter().enumerate().map(line).collect())
}
