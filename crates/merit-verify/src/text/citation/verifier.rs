//! Judges every sentence of a response against the sources it cites.

use super::markers::{Marker, markers};
use super::{CitationConfig, CitationDetail, CitationVerdict, CitedSentence, CitedStanding};
use crate::similarity::{Entailer, Lexical};
use crate::text::quote::{Quote, collapse, quotes, stands_in};
use crate::text::sentence::sentences;
use crate::text::words::{is_stop_word, word_spans};
use crate::text::{MAX_TEXT_BYTES, Refusal, TextConfigError};
use merit_core::printable::beginning;
use merit_core::{Conclusion, Judgement};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A text that may be cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What a citation must say to name it.
    pub id: String,
    pub text: String,
}

/// Checks citations. `verify` takes `&self` and keeps no state between calls.
#[derive(Debug, Clone)]
pub struct CitationVerifier {
    config: CitationConfig,
}

impl CitationVerifier {
    pub fn compile(config: CitationConfig) -> Result<Self, TextConfigError> {
        config.check()?;
        Ok(Self { config })
    }

    /// Judges a response, with support measured by shared words.
    ///
    /// ```
    /// use merit_verify::text::{CitationConfig, CitationVerifier, Source};
    /// let verifier = CitationVerifier::compile(CitationConfig::default()).unwrap();
    /// let sources = [Source { id: "1".into(), text: "The Eiffel Tower is 330 metres tall.".into() }];
    /// assert_eq!(verifier.verify("The Eiffel Tower is 330 metres tall [1].", &sources).score, Some(1.0));
    /// assert_eq!(verifier.verify("The Eiffel Tower is 300 metres tall [1].", &sources).score, Some(0.0));
    /// ```
    pub fn verify(&self, response: &str, sources: &[Source]) -> CitationVerdict {
        self.verify_with(response, sources, &Lexical)
    }

    /// Judges a response, with support measured by `entailer`.
    pub fn verify_with(
        &self,
        response: &str,
        sources: &[Source],
        entailer: &dyn Entailer,
    ) -> CitationVerdict {
        if let Some(why) = source_fault(sources) {
            return Judgement::unmeasured(Conclusion::bad_reference(why), CitationDetail::default());
        }
        if let Some(why) = self.refusal(response) {
            return Judgement::unmeasured(Conclusion::refused(why), CitationDetail::default());
        }
        let mut read = self.read(response, sources);
        match self.supports(&mut read, sources, entailer) {
            Ok(()) => self.conclude(read),
            Err(why) => Judgement::unmeasured(Conclusion::grader_failed(why), CitationDetail::default()),
        }
    }

    fn refusal(&self, response: &str) -> Option<Refusal> {
        if response.len() > MAX_TEXT_BYTES || response.chars().nth(self.config.max_chars).is_some() {
            return Some(Refusal::TooLong);
        }
        response.trim().is_empty().then_some(Refusal::Empty)
    }

    /// The sentences with what they cite and quote, before support is known.
    fn read(&self, response: &str, sources: &[Source]) -> Vec<Read> {
        let marks = markers(&self.config.markers, response);
        let marker_end = |at: usize| {
            let found = marks.binary_search_by_key(&at, |mark| mark.range.start).ok()?;
            marks.get(found).map(|mark| mark.range.end)
        };
        let collapsed: Vec<String> = sources.iter().map(|source| collapse(&source.text)).collect();
        let mut next = 0;
        let mut read = Vec::new();
        for range in sentences(response, marker_end) {
            let from = next;
            while marks.get(next).is_some_and(|mark| mark.range.start < range.end) {
                next += 1;
            }
            let own = marks.get(from..next).unwrap_or_default();
            read.push(self.read_one(response, range, own, sources, &collapsed));
        }
        read
    }

    fn read_one(
        &self,
        response: &str,
        range: Range<usize>,
        marks: &[Marker],
        sources: &[Source],
        collapsed: &[String],
    ) -> Read {
        let text = response.get(range.clone()).unwrap_or_default();
        let claim = without_markers(response, range.clone(), marks);
        let content = word_spans(&claim).filter(|(_, word)| !is_stop_word(&word.to_lowercase())).count();
        let mut cites: Vec<String> = marks.iter().flat_map(|mark| mark.labels.clone()).collect();
        cites.sort();
        cites.dedup();
        let named: Vec<usize> =
            cites.iter().filter_map(|label| sources.iter().position(|source| source.id == *label)).collect();
        let dangling =
            cites.iter().filter(|label| !sources.iter().any(|s| s.id == **label)).cloned().collect();
        let look_up = |(at, quote): (usize, &str)| {
            let found = named.iter().find(|i| collapsed.get(**i).is_some_and(|s| stands_in(s, quote)));
            let found_in = found.and_then(|i| sources.get(*i)).map(|source| source.id.clone());
            Quote { text: quote.to_owned(), at: range.start + at, found_in }
        };
        let looked_up = match named.is_empty() {
            true => Vec::new(),
            false => quotes(text, self.config.min_quote_words).into_iter().map(look_up).collect(),
        };
        let sentence = CitedSentence {
            at: range.start,
            text: beginning(text.trim(), 160),
            cites,
            dangling,
            support: None,
            quotes: looked_up,
            standing: CitedStanding::NoClaim,
        };
        Read { sentence, claim, named, is_claim: content >= self.config.min_claim_words }
    }

    /// Asks the entailer for every claim and each source it names, source by source, and keeps the best.
    fn supports(&self, read: &mut [Read], sources: &[Source], entailer: &dyn Entailer) -> Result<(), String> {
        let mut asked: Vec<(usize, usize)> = Vec::new();
        for (at, item) in read.iter().enumerate() {
            if item.is_claim && item.sentence.cites.len() <= self.config.max_cites {
                asked.extend(item.named.iter().map(|source| (*source, at)));
            }
        }
        asked.sort_unstable();
        let text = |source: usize| sources.get(source).map_or("", |s| s.text.as_str());
        let pairs: Vec<(&str, &str)> = asked
            .iter()
            .map(|(source, at)| (text(*source), read.get(*at).map_or("", |r| r.claim.as_str())))
            .collect();
        let support = entailer.entail(&pairs).map_err(|error| error.to_string())?;
        if support.len() != asked.len() || support.iter().any(|p| !(0.0..=1.0).contains(p)) {
            return Err(format!(
                "the entailer gave {} values for {} pairs, or not all are from 0 to 1",
                support.len(),
                asked.len()
            ));
        }
        for ((_, at), p) in asked.iter().zip(support) {
            if let Some(item) = read.get_mut(*at) {
                item.sentence.support = Some(item.sentence.support.map_or(p, |best| best.max(p)));
            }
        }
        Ok(())
    }

    fn standing(&self, item: &Read) -> CitedStanding {
        let sentence = &item.sentence;
        if !sentence.dangling.is_empty() {
            CitedStanding::Dangling
        } else if sentence.quotes.iter().any(|quote| quote.found_in.is_none()) {
            CitedStanding::Misquoted
        } else if !item.is_claim {
            CitedStanding::NoClaim
        } else if sentence.cites.is_empty() {
            CitedStanding::Uncited
        } else if sentence.cites.len() > self.config.max_cites {
            CitedStanding::OverCited
        } else if sentence.support.is_some_and(|support| support >= self.config.support_at) {
            CitedStanding::Supported
        } else {
            CitedStanding::Unsupported
        }
    }

    fn conclude(&self, read: Vec<Read>) -> CitationVerdict {
        let mut sentences = Vec::new();
        for mut item in read {
            item.sentence.standing = self.standing(&item);
            sentences.push(item.sentence);
        }
        let count = |wanted: CitedStanding| sentences.iter().filter(|s| s.standing == wanted).count();
        let claims = sentences.len() - count(CitedStanding::NoClaim);
        let share = |n: usize| if claims == 0 { 0.0 } else { n as f64 / claims as f64 };
        let (stand, uncited) = (count(CitedStanding::Supported), count(CitedStanding::Uncited));
        let wrong = count(CitedStanding::Dangling) + count(CitedStanding::Misquoted);
        let passed = claims > 0 && wrong == 0 && share(stand) >= self.config.pass_at;
        let (score, uncited_share) = (share(stand), share(uncited));
        let unsupported_share = share(claims - stand - uncited);
        let detail = CitationDetail { claims, uncited_share, unsupported_share, sentences };
        Judgement::scored(passed, score, detail)
    }
}

/// A sentence as it was read.
struct Read {
    sentence: CitedSentence,
    claim: String,
    named: Vec<usize>,
    is_claim: bool,
}

fn source_fault(sources: &[Source]) -> Option<&'static str> {
    let mut ids: Vec<&str> = sources.iter().map(|source| source.id.as_str()).collect();
    ids.sort_unstable();
    if ids.is_empty() {
        return Some("there is no source");
    }
    if ids.windows(2).any(|pair| pair.first() == pair.last()) {
        return Some("two sources have the same id");
    }
    let bytes = sources.iter().fold(0_usize, |sum, source| sum.saturating_add(source.text.len()));
    (bytes > MAX_TEXT_BYTES).then_some("the sources are longer than is looked at")
}

fn without_markers(response: &str, range: Range<usize>, marks: &[Marker]) -> String {
    let mut claim = String::new();
    let mut from = range.start;
    for mark in marks {
        claim.push_str(response.get(from..mark.range.start).unwrap_or_default());
        claim.push(' ');
        from = mark.range.end;
    }
    claim.push_str(response.get(from..range.end.max(from)).unwrap_or_default());
    claim
}
