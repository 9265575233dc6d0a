//! `merit judge`: what does a judge say?

use super::{WrongInput, judge_test, load_episodes};
use crate::cli::judges::{Judge, JudgeAsk};
use crate::out;
use anyhow::{Result, bail};
use merit_core::printable::piece;
use merit_core::{Components, Episode};
use merit_import::{AUTO, ImportOptions};
use merit_judge::{Answer, Choice, Label, Pair, Verdict, both_orders};
use merit_run::OpenJudge;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn run(command: &Judge, components: &Components) -> Result<()> {
    match command {
        Judge::Ask(arguments) => ask(arguments, components),
        Judge::Test(arguments) => judge_test::run(arguments, components),
    }
}

fn ask(arguments: &JudgeAsk, components: &Components) -> Result<()> {
    let library = judge_test::library(&arguments.judge)?;
    let path = &arguments.judge;
    let (mut judge, record) = judge_test::opened_for(arguments.record.as_deref(), path, |record| {
        Ok(match record {
            Some(record) => OpenJudge::recorded(path, &library, components, record)?,
            None => OpenJudge::open(path, &library, components, None)?,
        })
    })?;
    let done = put(&mut judge, arguments);
    let finished = judge_test::finish(record, done.is_err());
    done.and(finished)
}

/// Puts the questions and tells what is answered.
fn put(judge: &mut OpenJudge, arguments: &JudgeAsk) -> Result<()> {
    let answers = match (&arguments.prompt, &arguments.a, &arguments.b) {
        (Some(prompt), Some(a), Some(b)) => {
            compare(judge, &episode(prompt, a)?, &episode(prompt, b)?, arguments.json)?
        }
        (Some(prompt), Some(a), None) => score(judge, &[episode(prompt, a)?], arguments.json)?,
        _ => of_episodes(judge, arguments)?,
    };
    if let OpenJudge::Panel { panel, .. } = judge
        && !arguments.json
    {
        let (choices, numbers) = panel.agreement();
        for (of, alpha) in [("choices", choices), ("numbers", numbers)] {
            if let Some(alpha) = alpha {
                out::line(format_args!("the judges' agreement on {of}: Krippendorff's alpha {alpha:.3}"))?;
            }
        }
    }
    if !answers.is_empty() && answers.iter().all(|answer| matches!(answer.verdict, Verdict::Failed { .. })) {
        bail!("no question was answered: {}", why(&answers[0].verdict));
    }
    Ok(())
}

fn of_episodes(judge: &mut OpenJudge, arguments: &JudgeAsk) -> Result<Vec<Answer>> {
    let mut episodes = Vec::new();
    for path in &arguments.episodes {
        episodes.extend(load_episodes(path)?.episodes);
    }
    if judge.gives_numbers() {
        return score(judge, &episodes, arguments.json);
    }
    let mut tasks: BTreeMap<String, Vec<Arc<Episode>>> = BTreeMap::new();
    episodes.into_iter().for_each(|one| tasks.entry(one.task.id.clone()).or_default().push(one));
    let mut answers = Vec::new();
    for (task, group) in tasks.iter().filter(|(_, group)| group.len() > 1) {
        let answer = judge.rank(group);
        let order = match &answer.verdict {
            Verdict::Ranks { order } => {
                order.iter().filter_map(|at| group.get(*at)).map(|one| one.id.to_string()).collect()
            }
            _ => Vec::<String>::new(),
        };
        match arguments.json {
            true => out::line(json!({ "task": task, "order": order, "answer": answer }))?,
            false if order.is_empty() => {
                out::line(format_args!("{}  {}", piece(task), piece(&why(&answer.verdict))))?
            }
            false => out::line(format_args!("{}  {}", piece(task), piece(&order.join(" > "))))?,
        }
        answers.push(answer);
    }
    if answers.is_empty() {
        return Err(WrongInput("no task has two episodes to compare".to_owned()).into());
    }
    Ok(answers)
}

fn score(judge: &mut OpenJudge, episodes: &[Arc<Episode>], as_json: bool) -> Result<Vec<Answer>> {
    if !judge.gives_numbers() {
        return Err(
            WrongInput("this judge compares; give `--b` too, or episodes of one task".to_owned()).into()
        );
    }
    let answers = judge.judge().score(episodes);
    for (episode, answer) in episodes.iter().zip(&answers) {
        let id = episode.id.to_string();
        match answer.verdict.value() {
            _ if as_json => out::line(json!({ "episode": id, "task": episode.task.id, "answer": answer }))?,
            Some(value) => {
                out::line(format_args!("{}  {value:.3}  {}", piece(&id), piece(&answer.evidence)))?
            }
            None => out::line(format_args!("{}  {}", piece(&id), piece(&why(&answer.verdict))))?,
        }
    }
    Ok(answers)
}

fn compare(judge: &mut OpenJudge, a: &Arc<Episode>, b: &Arc<Episode>, as_json: bool) -> Result<Vec<Answer>> {
    let (a, b) = (Arc::clone(a), Arc::clone(b));
    let pair = Pair { id: "a b".into(), group: String::new(), a, b, label: Label::Tie };
    let Some(both) = both_orders(judge.judge(), &[pair]).pop() else { bail!("the judge said nothing") };
    let word = match both.choice() {
        Some(Choice::First) => "a is better",
        Some(Choice::Second) => "b is better",
        Some(Choice::Tie) if both.flipped() == Some(true) => "no choice: it depends on which is shown first",
        Some(Choice::Tie) => "neither is better",
        None => "no verdict",
    };
    let answers = vec![both.straight.clone(), both.swapped.clone()];
    if as_json {
        out::line(
            json!({ "choice": both.choice(), "flipped": both.flipped(), "a_first": both.straight, "b_first": both.swapped }),
        )?;
        return Ok(answers);
    }
    out::line(word)?;
    for (shown, answer) in [("a first", &both.straight), ("b first", &both.swapped)] {
        let said =
            if answer.verdict.choice().is_some() { answer.evidence.clone() } else { why(&answer.verdict) };
        out::line(format_args!("  {shown}: {}", piece(&said)))?;
    }
    Ok(answers)
}

/// A verdict that is none, in words.
fn why(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Refused { why } | Verdict::Unreadable { why } | Verdict::Failed { why } => {
            format!("{}: {why}", verdict.word())
        }
        other => other.word().to_owned(),
    }
}

/// An answer as an episode.
fn episode(prompt: &str, response: &str) -> Result<Arc<Episode>> {
    let line = json!({ "prompt": prompt, "response": response }).to_string();
    let imported = merit_import::read(line.as_bytes(), AUTO, &ImportOptions::default())?;
    let first = imported.episodes.into_iter().next();
    Ok(first.ok_or_else(|| WrongInput("the answer cannot be read".to_owned()))?.episode)
}
