//! A judge that is asked in words: a model, wherever it is. Each question is paid for once.
//!
//! In: an [`Asker`] that takes questions to a model or a person, the wording, and limits. Out: a [`Judge`]. A question that was answered
//! before is not asked again; one that failed is, up to `tries` times; beyond the budget nothing is asked.

use crate::ask::{Ask, Question, Wording};
use crate::kept::{Kept, KeptError};
use crate::panel::{PanelRule, pooled};
use crate::{Answer, Choice, Judge, Verdict};
use merit_core::registry::Refusal;
use merit_core::{Cost, Episode};
use merit_evolve::Library;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What somebody said, and what that cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub text: String,
    /// Tokens and calls that the answer took.
    pub cost: Cost,
}

/// A question that is put, and the how-manieth time it is put to the same judge on purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Put {
    pub question: Question,
    /// The episodes that it is about, for an answerer that knows more of them than words; a model is never shown them.
    pub shown: Vec<Arc<Episode>>,
    /// From 0; each vote is drawn anew.
    pub vote: u32,
}

/// Takes questions to what answers them: a model in this process, a server, a script of a test.
pub trait Asker: Send {
    /// Name and version: two askers of the same id get the same answers.
    fn id(&self) -> String;

    /// Asks all of them and tells each answer as soon as it is there, with its place. The error is why there is none. What is never told
    /// was not answered.
    fn ask(&mut self, questions: &[Put], heard: &mut dyn FnMut(usize, Result<Said, String>));
}

/// How often somebody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking {
    /// How often each question is put; the votes are pooled.
    pub votes: u32,
    /// How often a question is put that fails for no fault of its own.
    pub tries: u32,
    /// Most answers that are paid for, those of former runs among them. Absent: no limit.
    pub budget: Option<u64>,
}

impl Default for Asking {
    fn default() -> Self {
        Self { votes: 1, tries: 3, budget: None }
    }
}

impl Asking {
    pub fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((1..=101).contains(&self.votes), "votes", self.votes, "from 1 to 101")?;
        Refusal::unless((1..=100).contains(&self.tries), "tries", self.tries, "from 1 to 100")?;
        Refusal::unless(self.budget != Some(0), "budget", 0, "above 0; leave it out for no limit")
    }
}

/// A judge that is asked in words.
pub struct AskedJudge {
    asker: Box<dyn Asker>,
    wording: Wording,
    asking: Asking,
    kept: Kept,
    /// Answers paid for, in this run and before.
    paid: u64,
    /// Why nothing more is asked: what is paid for could not be kept.
    broken: Option<String>,
}

impl AskedJudge {
    /// A judge that asks through `asker` and keeps what it is told.
    pub fn new(asker: Box<dyn Asker>, wording: Wording, asking: Asking, kept: Kept) -> Self {
        let paid = kept.paid_by(&asker.id());
        Self { asker, wording, asking, kept, paid, broken: None }
    }

    /// The same, which has paid so many answers before.
    #[must_use]
    pub fn having_paid(mut self, answers: u64) -> Self {
        self.paid = answers;
        self
    }

    /// Keeps none of the answers so far, for a model that has learned since; what they cost stays paid.
    pub fn forget(&mut self) {
        self.kept = Kept::in_memory();
    }

    /// Consults another library from now on.
    pub fn consult(&mut self, library: Library) {
        self.wording.library = library;
    }

    /// What the judge is told to go by.
    pub fn rubric(&self) -> &str {
        &self.wording.rubric
    }

    /// Answers paid for, in this run and before.
    pub fn paid(&self) -> u64 {
        self.paid
    }

    /// What it is asked for: a score, a comparison or a check.
    pub fn ask(&self) -> &Ask {
        &self.wording.ask
    }

    /// All of these at once, the best first. Only where that is what the judge is asked.
    pub fn rank(&mut self, group: &[Arc<Episode>]) -> Answer {
        match self.wording.ask {
            Ask::Rank {} => self.put(&[group]).pop().unwrap_or_else(|| failed("it was not asked")),
            _ => failed("this judge is not asked to rank; say `ask = { type = \"rank\" }`"),
        }
    }

    /// One answer for each list of candidates, in order.
    fn put(&mut self, shown: &[&[Arc<Episode>]]) -> Vec<Answer> {
        let questions: Vec<Question> =
            shown.iter().map(|candidates| self.wording.question(candidates)).collect();
        let votes = 0..self.asking.votes;
        let put = |(question, shown): (&Question, &&[Arc<Episode>])| {
            let one = |vote| self.keyed(Put { question: question.clone(), shown: shown.to_vec(), vote });
            votes.clone().map(one).collect()
        };
        let keyed: Vec<Vec<(String, Put)>> = questions.iter().zip(shown).map(put).collect();
        let mut fresh = self.answered(keyed.iter().flatten());
        let mut answers = Vec::with_capacity(shown.len());
        for (candidates, keys) in shown.iter().zip(&keyed) {
            let one = |(key, _): &(String, Put)| self.read(key, candidates.len(), &mut fresh);
            let votes: Vec<Answer> = keys.iter().map(one).collect();
            answers.push(pooled(votes, PanelRule::Majority));
        }
        answers
    }

    fn keyed(&self, put: Put) -> (String, Put) {
        let mut hash = Sha256::new();
        for part in [&self.asker.id(), &put.question.system, &put.question.user] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(put.vote.to_le_bytes());
        (merit_core::hex(&hash.finalize()), put)
    }

    /// Sees to it that what can be answered is: asks what is not kept. Out: what each answer of now cost, and why others are not there.
    fn answered<'a>(&mut self, wanted: impl Iterator<Item = &'a (String, Put)>) -> Fresh {
        let mut fresh = Fresh::default();
        let mut seen = HashSet::new();
        let mut open: Vec<&(String, Put)> =
            wanted.filter(|(key, _)| self.kept.get(key).is_none() && seen.insert(key.as_str())).collect();
        for _ in 0..self.asking.tries {
            let left = self.asking.budget.map_or(u64::MAX, |budget| budget.saturating_sub(self.paid));
            let room = open.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            for (key, _) in &open[room..] {
                let why =
                    format!("the budget of {} answers is spent", self.asking.budget.unwrap_or_default());
                fresh.why.insert(key.clone(), why);
            }
            open.truncate(room);
            if open.is_empty() || self.broken.is_some() {
                break;
            }
            self.ask_once(&open, &mut fresh);
            open.retain(|(key, _)| self.kept.get(key).is_none());
        }
        fresh
    }

    fn ask_once(&mut self, open: &[&(String, Put)], fresh: &mut Fresh) {
        let puts: Vec<Put> = open.iter().map(|(_, put)| put.clone()).collect();
        let by = self.asker.id();
        let Self { asker, kept, paid, broken, .. } = self;
        asker.ask(&puts, &mut |at, result| {
            let Some((key, _)) = open.get(at) else { return };
            match result {
                Ok(said) => {
                    *paid += 1;
                    fresh.cost.insert(key.clone(), said.cost);
                    let unkept = |error: KeptError| format!("what is paid for cannot be kept: {error}");
                    *broken = kept.keep(key.clone(), &by, said).err().map(unkept).or(broken.take());
                }
                Err(why) => drop(fresh.why.insert(key.clone(), why)),
            }
        });
    }

    fn read(&self, key: &str, candidates: usize, fresh: &mut Fresh) -> Answer {
        let Some(said) = self.kept.get(key) else {
            let why = fresh.why.get(key).or(self.broken.as_ref());
            return failed(why.map_or("nothing came of it", String::as_str));
        };
        let cost = fresh.cost.remove(key).unwrap_or_default();
        Answer { cost, ..self.wording.ask.read(&said.text, candidates) }
    }
}

/// What came of asking just now, by key.
#[derive(Default)]
struct Fresh {
    cost: HashMap<String, Cost>,
    why: HashMap<String, String>,
}

fn failed(why: &str) -> Answer {
    Answer::of(Verdict::Failed { why: why.to_owned() })
}

impl Judge for AskedJudge {
    fn id(&self) -> String {
        format!("{} {}", self.asker.id(), self.wording.id())
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        let pairs: Vec<[Arc<Episode>; 2]> =
            asked.iter().map(|(a, b)| [Arc::clone(a), Arc::clone(b)]).collect();
        if self.wording.ask.is_of_one() {
            let singles: Vec<&[Arc<Episode>]> = pairs.iter().flat_map(|pair| pair.chunks(1)).collect();
            return self.put(&singles).chunks(2).map(|two| by_number(&two[0], &two[1])).collect();
        }
        let shown: Vec<&[Arc<Episode>]> = pairs.iter().map(|pair| pair.as_slice()).collect();
        self.put(&shown).into_iter().map(as_choice).collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        if !self.wording.ask.is_of_one() {
            let why = format!("this judge is asked to {} and gives no numbers", self.wording.ask.name());
            return episodes.iter().map(|_| failed(&why)).collect();
        }
        let shown: Vec<&[Arc<Episode>]> = episodes.chunks(1).collect();
        self.put(&shown)
    }
}

/// The better of two by their numbers; no verdict where one of them has none.
pub(crate) fn by_number(first: &Answer, second: &Answer) -> Answer {
    let cost = [first.cost, second.cost].into_iter().sum();
    let choice = match (first.verdict.value(), second.verdict.value()) {
        (Some(one), Some(other)) if one > other => Choice::First,
        (Some(one), Some(other)) if one < other => Choice::Second,
        (Some(_), Some(_)) => Choice::Tie,
        (None, _) => return Answer { cost, ..first.clone() },
        (_, None) => return Answer { cost, ..second.clone() },
    };
    let evidence = format!("first: {}\nsecond: {}", first.evidence, second.evidence);
    Answer { evidence, cost, ..Answer::of(Verdict::Prefers { choice }) }
}

/// A list of two is a choice.
fn as_choice(answer: Answer) -> Answer {
    match &answer.verdict {
        Verdict::Ranks { order } => {
            let choice = if order.first() == Some(&0) { Choice::First } else { Choice::Second };
            Answer { verdict: Verdict::Prefers { choice }, ..answer }
        }
        _ => answer,
    }
}
