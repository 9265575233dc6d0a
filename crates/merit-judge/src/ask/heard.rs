//! What a judge said, read into a typed verdict. Nothing is clamped and nothing is guessed.
//!
//! The last JSON object that has the demanded key counts; reasons, code fences and objects that are quoted before it do not. A judge
//! that refuses has refused; whatever else has no such object, or one that does not fit, is unreadable with the reason.

use super::Ask;
use crate::{Answer, Choice, Verdict};
use serde_json::{Map, Value};

/// Longer answers are read from their end.
const LONGEST: usize = 100_000;
/// How far into an answer without a verdict a refusal is looked for.
const REFUSAL_WITHIN: usize = 300;
/// How refusals begin, in small letters with plain apostrophes.
const REFUSALS: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i am not able",
    "i won't",
    "i will not",
    "i'm sorry",
    "i am sorry",
    "i must decline",
    "i decline",
    "as an ai",
];

impl Ask {
    /// The verdict on `candidates` candidates that `text` holds.
    pub fn read(&self, text: &str, candidates: usize) -> Answer {
        let said = match without_reasoning(text) {
            Ok(said) => said,
            Err(why) => return Answer::of(Verdict::Unreadable { why: why.to_owned() }),
        };
        let key = match self {
            Self::Score { .. } => "score",
            Self::Compare {} => "better",
            Self::Rank {} => "order",
            Self::Check { .. } => "items",
        };
        let objects = objects(said);
        if let Some(object) = objects.iter().rev().find(|object| object.contains_key(key)) {
            let verdict = self.verdict(&object[key], candidates);
            let verdict = verdict.unwrap_or_else(|why| Verdict::Unreadable { why: format!("`{key}` {why}") });
            let evidence = object.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
            return Answer { evidence, confidence: confidence(object), ..Answer::of(verdict) };
        }
        let refused = objects.iter().rev().find_map(|object| object.get("refused")?.as_str());
        Answer::of(match refused.map(str::to_owned).or_else(|| refusal(said)) {
            Some(why) => Verdict::Refused { why },
            None => Verdict::Unreadable { why: format!("no JSON object with `{key}`") },
        })
    }

    fn verdict(&self, value: &Value, candidates: usize) -> Result<Verdict, String> {
        match self {
            Self::Score { scale } => score(value, f64::from(*scale)),
            Self::Compare {} => choice(value),
            Self::Rank {} => order(value, candidates),
            Self::Check { items, weights } => met(value, items.len(), weights),
        }
    }
}

fn score(value: &Value, scale: f64) -> Result<Verdict, String> {
    let given = value.as_f64().ok_or_else(|| format!("is {value}, not a number"))?;
    match (0.0..=scale).contains(&given) {
        true => Ok(Verdict::Score { value: given / scale }),
        false => Err(format!("is {given}, outside 0 to {scale}")),
    }
}

fn choice(value: &Value) -> Result<Verdict, String> {
    let said = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_lowercase());
    let choice = match said.as_str() {
        "1" => Choice::First,
        "2" => Choice::Second,
        "tie" => Choice::Tie,
        _ => return Err(format!("is {value}, neither 1 nor 2 nor \"tie\"")),
    };
    Ok(Verdict::Prefers { choice })
}

fn order(value: &Value, candidates: usize) -> Result<Verdict, String> {
    let wrong = || format!("is {value}, not every number from 1 to {candidates} once");
    let numbers = value.as_array().ok_or_else(wrong)?;
    let places: Option<Vec<usize>> =
        numbers.iter().map(|one| usize::try_from(one.as_u64()?).ok()?.checked_sub(1)).collect();
    let order = places.ok_or_else(wrong)?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    match sorted.into_iter().eq(0..candidates) {
        true => Ok(Verdict::Ranks { order }),
        false => Err(wrong()),
    }
}

fn met(value: &Value, items: usize, weights: &[f64]) -> Result<Verdict, String> {
    let given = value.as_array().ok_or_else(|| format!("is {value}, not a list"))?;
    if given.len() != items {
        return Err(format!("has {} entries for {items} items", given.len()));
    }
    let one = |item: &Value| match item {
        Value::Bool(met) => Ok(Some(*met)),
        Value::Null => Ok(None),
        other => Err(format!("has {other}, which is neither true nor false nor null")),
    };
    Ok(Verdict::Items { met: given.iter().map(one).collect::<Result<_, _>>()?, weights: weights.to_vec() })
}

/// How sure the judge says it is; what is no share is not taken for one.
fn confidence(object: &Map<String, Value>) -> Option<f64> {
    object.get("confidence")?.as_f64().filter(|sure| (0.0..=1.0).contains(sure))
}

/// What was said after the reasoning, where it is marked as such.
fn without_reasoning(text: &str) -> Result<&str, &'static str> {
    let (_, text) = text.split_at(text.floor_char_boundary(text.len().saturating_sub(LONGEST)));
    match text.rsplit_once("</think>") {
        Some((_, said)) => Ok(said),
        None if text.contains("<think>") => Err("it broke off in its reasoning"),
        None => Ok(text),
    }
}

/// The last JSON object of a text that has this key.
pub(crate) fn last_object(text: &str, key: &str) -> Option<Map<String, Value>> {
    objects(text).into_iter().rev().find(|object| object.contains_key(key))
}

/// The JSON objects of a text, in order, those inside others left out.
fn objects(text: &str) -> Vec<Map<String, Value>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(begin) = text[at..].find('{') {
        at += begin;
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(Value::Object(object))) => {
                found.push(object);
                at += stream.byte_offset();
            }
            _ => at += 1,
        }
    }
    found
}

fn refusal(said: &str) -> Option<String> {
    let head: String = said.trim().chars().take(REFUSAL_WITHIN).collect();
    let plain = head.to_lowercase().replace('\u{2019}', "'");
    REFUSALS.iter().any(|phrase| plain.contains(phrase)).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORE: Ask = Ask::Score { scale: 10 };

    fn verdict(ask: &Ask, text: &str) -> Verdict {
        ask.read(text, 3).verdict
    }

    fn unreadable(ask: &Ask, text: &str) -> String {
        match verdict(ask, text) {
            Verdict::Unreadable { why } => why,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn an_answer_is_read_whatever_stands_around_it() {
        let seven = Verdict::Score { value: 0.7 };
        for text in [
            r#"{"score": 7}"#,
            "It is fine.\n```json\n{\"reason\": \"fine\", \"score\": 7.0}\n```\nThat is all.",
            r#"<think>It says {"score": 10} of itself.</think>{"score": 7}"#,
            r#"The candidate wrote {"score": 10}, so {"score": 7, "detail": {"score": 1}}"#,
            r#"{broken {"score": 7}"#,
        ] {
            assert_eq!(verdict(&SCORE, text), seven, "{text}");
        }
        let answer = SCORE.read(r#"{"reason": "brief", "score": 7, "confidence": 0.9}"#, 1);
        assert_eq!((answer.evidence.as_str(), answer.confidence), ("brief", Some(0.9)));
        assert_eq!(SCORE.read(r#"{"score": 7, "confidence": 90}"#, 1).confidence, None);
    }

    #[test]
    fn what_is_out_of_range_or_of_another_form_is_unreadable_and_never_a_number_or_a_tie() {
        assert_eq!(unreadable(&SCORE, r#"{"score": 11}"#), "`score` is 11, outside 0 to 10");
        assert_eq!(unreadable(&SCORE, r#"{"score": -1}"#), "`score` is -1, outside 0 to 10");
        assert_eq!(unreadable(&SCORE, r#"{"score": "high"}"#), "`score` is \"high\", not a number");
        assert_eq!(unreadable(&SCORE, "7"), "no JSON object with `score`");
        assert_eq!(unreadable(&SCORE, ""), "no JSON object with `score`");
        assert_eq!(unreadable(&SCORE, "<think>{\"score\": 3}"), "it broke off in its reasoning");
        let compare = Ask::Compare {};
        assert!(unreadable(&compare, r#"{"better": 3}"#).contains("neither 1 nor 2"));
        assert!(unreadable(&compare, r#"{"better": null}"#).contains("neither 1 nor 2"));
        assert!(unreadable(&Ask::Rank {}, r#"{"order": [1, 2]}"#).contains("every number from 1 to 3"));
        assert!(unreadable(&Ask::Rank {}, r#"{"order": [1, 2, 2]}"#).contains("every number from 1 to 3"));
        assert!(unreadable(&Ask::Rank {}, r#"{"order": [0, 1, 2]}"#).contains("every number from 1 to 3"));
        let check = Ask::Check { items: vec!["a".into(), "b".into()], weights: Vec::new() };
        assert_eq!(unreadable(&check, r#"{"items": [true]}"#), "`items` has 1 entries for 2 items");
        assert!(
            unreadable(&check, r#"{"items": [true, "yes"]}"#).contains("neither true nor false nor null")
        );
    }

    #[test]
    fn each_ask_has_its_verdict() {
        let prefers = |choice| Verdict::Prefers { choice };
        assert_eq!(verdict(&Ask::Compare {}, r#"{"better": 2}"#), prefers(Choice::Second));
        assert_eq!(verdict(&Ask::Compare {}, r#"{"better": "1"}"#), prefers(Choice::First));
        assert_eq!(verdict(&Ask::Compare {}, r#"{"better": "Tie"}"#), prefers(Choice::Tie));
        assert_eq!(
            verdict(&Ask::Rank {}, r#"{"order": [3, 1, 2]}"#),
            Verdict::Ranks { order: vec![2, 0, 1] }
        );
        let check = Ask::Check { items: vec!["a".into(), "b".into()], weights: Vec::new() };
        assert_eq!(
            verdict(&check, r#"{"items": [true, null]}"#),
            Verdict::Items { met: vec![Some(true), None], weights: Vec::new() }
        );
    }

    #[test]
    fn a_refusal_is_a_refusal() {
        for text in [
            "I can't judge this.",
            "I\u{2019}m sorry, but this is private.",
            r#"{"refused": "it is private"}"#,
            "As an AI model I have no view.",
        ] {
            assert!(matches!(verdict(&SCORE, text), Verdict::Refused { .. }), "{text}");
        }
        // Who gives a verdict has not refused, whatever else is said.
        assert_eq!(
            verdict(&SCORE, r#"I'm sorry to say it is bad. {"score": 0}"#),
            Verdict::Score { value: 0.0 }
        );
    }

    #[test]
    fn hostile_answers_are_read_in_time() {
        for text in ["{".repeat(200_000), "{\"a\":".repeat(40_000), "{\"".repeat(100_000)] {
            unreadable(&SCORE, &text);
        }
    }
}
