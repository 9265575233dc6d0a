//! What stands, what dangles, and what is made up.

use merit_core::About;
use merit_verify::Conclusion;
use merit_verify::similarity::{Entailer, EntailerError};
use merit_verify::text::{CitationConfig, CitationVerdict, CitationVerifier, CitedStanding, Source};

fn sources() -> Vec<Source> {
    let source = |id: &str, text: &str| Source { id: id.to_owned(), text: text.to_owned() };
    vec![
        source(
            "1",
            "The Eiffel Tower opened in 1889. It is 330 metres tall.\nVisitors said it was a  bold new landmark.",
        ),
        source("2", "The Louvre is a museum in Paris. It is not open on Tuesdays."),
    ]
}

fn verify(response: &str) -> CitationVerdict {
    CitationVerifier::compile(CitationConfig::default()).unwrap().verify(response, &sources())
}

fn check(response: &str, want: &[CitedStanding]) {
    let verdict = verify(response);
    let got: Vec<CitedStanding> = verdict.sentences.iter().map(|s| s.standing).collect();
    assert_eq!(got, want, "{verdict:#?}");
}

#[test]
fn each_sentence_is_judged_by_what_it_cites() {
    use CitedStanding::*;
    check("The Eiffel Tower opened in 1889 [1].", &[Supported]);
    check("The Eiffel Tower opened in 1889.[1] The Louvre is a museum.[2]", &[Supported, Supported]);
    check("The Eiffel Tower opened in 1889 [2].", &[Unsupported]);
    check("The Eiffel Tower opened in 1899 [1].", &[Unsupported]);
    check("The Louvre is open on Tuesdays [2].", &[Unsupported]);
    check("The Eiffel Tower opened in 1889 [1, 2].", &[Supported]);
    check("The Eiffel Tower opened in 1889.", &[Uncited]);
    check("The Eiffel Tower opened in 1889 [7].", &[Dangling]);
    check("Sure! The Eiffel Tower opened in 1889 [1].", &[NoClaim, Supported]);
}

#[test]
fn quotes_must_stand_in_the_named_source() {
    use CitedStanding::*;
    check("Visitors said “it was a bold new landmark” [1].", &[Supported]);
    check("Visitors said “it was a bold old landmark” [1].", &[Misquoted]);
    check("Visitors said “it was a bold new landmark” [2].", &[Misquoted]);
}

#[test]
fn citing_everything_names_nothing() {
    let many: Vec<Source> =
        (1..=9).map(|i| Source { id: i.to_string(), text: "The tower opened in 1889.".to_owned() }).collect();
    let verifier = CitationVerifier::compile(CitationConfig::default()).unwrap();
    let verdict = verifier.verify("The tower opened in 1889 [1-9].", &many);
    assert_eq!(verdict.sentences[0].standing, CitedStanding::OverCited);
}

#[test]
fn shares_are_of_claims() {
    let verdict =
        verify("The Eiffel Tower opened in 1889 [1]. Paris has many cafes. The Louvre sells bread [2]. Yes!");
    assert_eq!((verdict.claims, verdict.passed()), (3, Some(false)));
    assert_eq!(verdict.score, Some(1.0 / 3.0));
    assert_eq!((verdict.uncited_share, verdict.unsupported_share), (1.0 / 3.0, 1.0 / 3.0));
}

#[test]
fn saying_nothing_does_not_pass() {
    for response in ["Yes.", "[1]", "[1] [2]", "It is. [1]"] {
        let verdict = verify(response);
        assert_eq!((verdict.conclusion, verdict.score), (Conclusion::Fail, Some(0.0)), "{response}");
    }
    assert!(matches!(verify("").conclusion, Conclusion::Refused { .. }));
}

#[test]
fn sources_that_cannot_be_used_are_the_tasks_fault() {
    let verifier = CitationVerifier::compile(CitationConfig::default()).unwrap();
    let none = verifier.verify("Anything at all [1].", &[]);
    assert_eq!((none.conclusion, none.score), (Conclusion::bad_reference("there is no source"), None));
    let twice: Vec<Source> = sources().into_iter().map(|s| Source { id: "1".to_owned(), ..s }).collect();
    assert_eq!(
        verifier.verify("x [1]", &twice).conclusion,
        Conclusion::bad_reference("two sources have the same id")
    );
}

/// Says the same of everything, or fails.
struct Fixed(Result<f64, ()>);

impl Entailer for Fixed {
    fn about(&self) -> About {
        About { name: "fixed", summary: "", paper: "" }
    }

    fn entail(&self, pairs: &[(&str, &str)]) -> Result<Vec<f64>, EntailerError> {
        let broken = EntailerError { name: "fixed".to_owned(), why: "no answer".to_owned() };
        self.0.map(|p| vec![p; pairs.len()]).map_err(|()| broken)
    }
}

#[test]
fn another_entailer_may_judge_and_its_failure_is_not_a_zero() {
    let verifier = CitationVerifier::compile(CitationConfig::default()).unwrap();
    let response = "Nothing of this is in any source [1].";
    assert_eq!(verifier.verify_with(response, &sources(), &Fixed(Ok(0.9))).score, Some(1.0));
    for broken in [Fixed(Err(())), Fixed(Ok(f64::NAN))] {
        let verdict = verifier.verify_with(response, &sources(), &broken);
        assert!(matches!(verdict.conclusion, Conclusion::GraderFailed { .. }) && verdict.score.is_none());
    }
}
