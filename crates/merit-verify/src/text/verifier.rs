//! A compiled text verifier: guards first, then the metric, then the best reference.

use super::bleu::bleu;
use super::contains::{self, Response};
use super::look_alike::look_alikes;
use super::rouge;
use super::words::{words, words_and_ideographs};
use super::{
    ContainsConfig, Metric, Normalise, Refusal, TextConfig, TextConfigError, TextDetail, TextEvidence,
    TextVerdict, Tokens, balance, length, overlap, repetition, string_match,
};
use merit_core::{Conclusion, Judgement};
use std::cell::RefCell;

/// The longest text of either side that is ever looked at, in bytes.
pub const MAX_TEXT_BYTES: usize = 4 << 20;

/// The most characters of a short answer; one more and DeepEyes' rule refuses it.
const SHORT_ANSWER_CHARS: usize = 999;
/// Scratch larger than this is given back after use.
const KEPT_SCRATCH_BYTES: usize = 1 << 16;

/// Measures responses. Cheap to share: `verify` takes `&self` and keeps no state between calls.
#[derive(Debug, Clone)]
pub struct TextVerifier {
    config: TextConfig,
    normalise: Normalise,
    max_chars: usize,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

#[derive(Default)]
struct Scratch {
    response: String,
    reference: String,
    composed: String,
}

impl TextVerifier {
    /// Checks the config and fills in what depends on the metric.
    pub fn compile(config: TextConfig) -> Result<Self, TextConfigError> {
        config.check()?;
        let (normalise, max_chars) = match config.metric {
            Metric::Exact(_) | Metric::String(_) | Metric::Contains(_) | Metric::F1(_) => {
                (Normalise::default(), SHORT_ANSWER_CHARS)
            }
            Metric::Bleu(_) => (Normalise::running_text(), SHORT_ANSWER_CHARS),
            Metric::Rouge(_) | Metric::Length(_) | Metric::Repetition(_) | Metric::Balance(_) => {
                (Normalise::running_text(), MAX_TEXT_BYTES)
            }
        };
        let max_chars = config.max_chars.unwrap_or(max_chars);
        Ok(Self { normalise: config.normalise.unwrap_or(normalise), max_chars, config })
    }

    /// The most characters a response may have.
    pub fn max_chars(&self) -> usize {
        self.max_chars
    }

    /// Whether the metric compares with references; the others ignore them.
    pub fn needs_references(&self) -> bool {
        !matches!(self.config.metric, Metric::Length(_) | Metric::Repetition(_) | Metric::Balance(_))
    }

    /// Measures one response.
    ///
    /// ```
    /// use merit_verify::text::{Metric, NoOptions, TextConfig, TextVerifier};
    /// let exact = TextVerifier::compile(TextConfig::new(Metric::Exact(NoOptions {}))).unwrap();
    /// assert_eq!(exact.verify("the Eiffel Tower.", &["Eiffel tower"]).passed(), Some(true));
    /// assert_eq!(exact.verify("London", &["Paris"]).passed(), Some(false));
    /// assert_eq!(exact.verify::<&str>("London", &[]).passed(), None);
    /// ```
    pub fn verify<S: AsRef<str>>(&self, response: &str, references: &[S]) -> TextVerdict {
        if let Some(verdict) = self.bad_reference(references) {
            return verdict;
        }
        if let Some(why) = self.refusal(response) {
            return refused(why, TextDetail::new(None, TextEvidence::None));
        }
        let mut verdict = match &self.config.metric {
            Metric::Length(config) => self.judged(None, length::length(*config, response)),
            Metric::Balance(config) => self.judged(None, balance::balance(config, response)),
            Metric::Repetition(config) => {
                let text = self.normalise.apply(response);
                self.judged(None, repetition::repetition(&split(config.tokens, &text), config.n))
            }
            Metric::String(config) => {
                self.first_match(references, |reference| string_match::matches(*config, response, reference))
            }
            Metric::Exact(_) => self.exact(response, references),
            Metric::Contains(config) => self.contains(config, response, references),
            Metric::F1(config) => self.best(response, references, config.tokens, |ours, theirs| {
                let (mut ours, mut theirs) = (ours.to_vec(), theirs.to_vec());
                ours.sort_unstable();
                theirs.sort_unstable();
                let evidence = overlap::evidence(overlap::common(&ours, &theirs), ours.len(), theirs.len());
                Some((rouge::score(super::RougeReport::F, &evidence), evidence))
            }),
            Metric::Bleu(config) => {
                self.best(response, references, config.tokens, |ours, theirs| Some(bleu(ours, theirs)))
            }
            Metric::Rouge(config) => self.best(response, references, config.tokens, |ours, theirs| {
                let evidence = rouge::rouge(config.variant, ours, theirs)?;
                Some((rouge::score(config.report, &evidence), evidence))
            }),
        };
        if verdict.score.is_some_and(|score| score < 1.0) && self.needs_references() {
            verdict.detail.suspicious = look_alikes(response, references);
        }
        verdict
    }

    fn bad_reference<S: AsRef<str>>(&self, references: &[S]) -> Option<TextVerdict> {
        if !self.needs_references() {
            return None;
        }
        if references.is_empty() {
            return Some(bad_reference("there is no reference", None));
        }
        let fault = |text: &str| match text.len() {
            n if n > MAX_TEXT_BYTES => Some("a reference is longer than is looked at"),
            _ if is_blank(text) => Some("a reference is blank"),
            _ => None,
        };
        let faulty = |(at, reference): (usize, &S)| fault(reference.as_ref()).map(|why| (why, at));
        let (why, at) = references.iter().enumerate().find_map(faulty)?;
        Some(bad_reference(why, Some(at)))
    }

    fn refusal(&self, response: &str) -> Option<Refusal> {
        // Bytes are at least as many as characters, so most responses need not be counted.
        let too_long = response.len() > MAX_TEXT_BYTES
            || (response.len() > self.max_chars && response.chars().nth(self.max_chars).is_some());
        if too_long {
            return Some(Refusal::TooLong);
        }
        is_blank(response).then_some(Refusal::Empty)
    }

    fn judged(&self, reference: Option<usize>, (score, evidence): (f64, TextEvidence)) -> TextVerdict {
        Judgement::scored(score >= self.config.pass_at, score, TextDetail::new(reference, evidence))
    }

    fn first_match<S: AsRef<str>>(
        &self,
        references: &[S],
        mut matches: impl FnMut(&str) -> bool,
    ) -> TextVerdict {
        let reference = references.iter().position(|reference| matches(reference.as_ref()));
        let matched = reference.is_some();
        self.judged(reference, (f64::from(u8::from(matched)), TextEvidence::Match { matched }))
    }

    fn exact<S: AsRef<str>>(&self, response: &str, references: &[S]) -> TextVerdict {
        let same = self.first_match(references, |reference| reference == response);
        if same.reference.is_some() {
            return same;
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { response: ours, reference: theirs, composed } = scratch;
            self.normalise.apply_into(response, ours, composed);
            let verdict = self.first_match(references, |reference| {
                self.normalise.apply_into(reference, theirs, composed);
                ours == theirs
            });
            scratch.shrink();
            verdict
        })
    }

    fn contains<S: AsRef<str>>(
        &self,
        config: &ContainsConfig,
        response: &str,
        references: &[S],
    ) -> TextVerdict {
        let text = self.normalise.apply(response);
        let words = words(&text).collect();
        let ours = Response { raw: response, words };
        let wanted: Vec<String> = references.iter().map(|r| self.normalise.apply(r.as_ref())).collect();
        let found: Vec<_> = references
            .iter()
            .zip(&wanted)
            .map(|(raw, reference)| contains::look(config, &ours, raw.as_ref(), reference))
            .collect();
        let clean = found.iter().position(|f| f.matched && f.refusal.is_none());
        let shown = clean.or_else(|| found.iter().position(|f| f.matched));
        let evidence =
            shown.or(Some(0)).and_then(|at| found.get(at)).map_or(TextEvidence::None, |f| f.evidence);
        let mut refusal = if clean.is_some() { None } else { shown.and_then(|at| found.get(at)?.refusal) };
        if shown.is_some() && contains::holds_other_option(config, &self.normalise, &ours, &wanted) {
            refusal = Some(Refusal::SeveralAnswers);
        }
        match refusal {
            Some(why) => refused(why, TextDetail::new(shown, evidence)),
            None => self.judged(clean, (f64::from(u8::from(clean.is_some())), evidence)),
        }
    }

    /// The best score over the references, words against words. `measure` gives up with `None`.
    fn best<S: AsRef<str>>(
        &self,
        response: &str,
        references: &[S],
        tokens: Tokens,
        measure: impl Fn(&[&str], &[&str]) -> Option<(f64, TextEvidence)>,
    ) -> TextVerdict {
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { response: ours, reference: theirs, composed } = scratch;
            self.normalise.apply_into(response, ours, composed);
            let our_words = split(tokens, ours);
            let mut best: Option<(usize, f64, TextEvidence)> = None;
            let mut gave_up = false;
            for (at, reference) in references.iter().enumerate() {
                self.normalise.apply_into(reference.as_ref(), theirs, composed);
                let Some((score, evidence)) = measure(&our_words, &split(tokens, theirs)) else {
                    gave_up = true;
                    break;
                };
                if best.is_none_or(|(_, so_far, _)| score > so_far) {
                    best = Some((at, score, evidence));
                }
            }
            drop(our_words);
            scratch.shrink();
            match best {
                Some((at, score, evidence)) if !gave_up => self.judged(Some(at), (score, evidence)),
                _ => refused(Refusal::TooMuchWork, TextDetail::new(None, TextEvidence::None)),
            }
        })
    }
}

fn refused(why: Refusal, detail: TextDetail) -> TextVerdict {
    Judgement::unmeasured(Conclusion::refused(why), detail)
}

fn bad_reference(why: &'static str, at: Option<usize>) -> TextVerdict {
    Judgement::unmeasured(Conclusion::bad_reference(why), TextDetail::new(at, TextEvidence::None))
}

impl Scratch {
    fn shrink(&mut self) {
        for text in [&mut self.response, &mut self.reference, &mut self.composed] {
            if text.capacity() > KEPT_SCRATCH_BYTES {
                *text = String::new();
            }
        }
    }
}

fn split(tokens: Tokens, text: &str) -> Vec<&str> {
    match tokens {
        Tokens::Words => words(text).collect(),
        Tokens::WordsAndIdeographs => words_and_ideographs(text),
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}
