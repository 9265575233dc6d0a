//! Roles by name, likeness and entailment with their guards.

use merit_core::embedder::Embedder;
use merit_verify::Conclusion;
use merit_verify::similarity::{
    ENTAILERS, EntailmentConfig, EntailmentVerdict, EntailmentVerifier, LikenessConfig, LikenessVerifier,
    entailer,
};
use std::sync::Arc;

#[test]
fn every_listed_entailer_keeps_its_contract() {
    for entry in ENTAILERS {
        let role = entailer(entry.about.name).unwrap();
        assert_eq!(role.about(), entry.about);
        let pairs = [("a red door", "a red door"), ("", ""), ("a red door", "a blue car")];
        let judged = role.entail(&pairs).unwrap();
        assert!(judged.len() == 3 && judged.iter().all(|p| (0.0..=1.0).contains(p)) && judged[0] > judged[2]);
    }
    assert!(entailer("lexcal").err().unwrap().to_string().contains("did you mean `lexical`?"));
}

fn likeness(pass_at: f64) -> LikenessVerifier {
    let config = LikenessConfig { embedder: "hashed-ngrams".to_owned(), pass_at, max_chars: 100 };
    LikenessVerifier::compile(config).unwrap()
}

#[test]
fn the_most_alike_reference_counts() {
    let verdict = likeness(0.9).verify("the red door is open", &["a quiet sea", "The red door is open."]);
    assert_eq!((verdict.passed(), verdict.reference), (Some(true), Some(1)));
    assert_eq!(verdict.excerpts.1, "The red door is open.");
    let verdict = likeness(0.9).verify("nothing of the sort", &["a quiet sea"]);
    assert_eq!(verdict.conclusion, Conclusion::Fail);
}

#[test]
fn likeness_tells_whose_fault_it_is() {
    let none: [&str; 0] = [];
    assert!(matches!(likeness(0.5).verify("x", &none).conclusion, Conclusion::BadReference { .. }));
    assert!(matches!(likeness(0.5).verify("x", &[" "]).conclusion, Conclusion::BadReference { .. }));
    for response in ["", &"x".repeat(101)] {
        let verdict = likeness(0.5).verify(response, &["y"]);
        assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }) && verdict.score == Some(0.0));
    }
}

#[test]
fn the_cosine_of_counted_letters_stays_what_it_was() {
    let score = |ours, theirs| likeness(0.5).verify(ours, &[theirs]).score.unwrap();
    for (ours, theirs, want) in [
        ("the quick brown fox", "the quick brown dog", 0.8249999889090402),
        ("Don't panic: 1,234.5 km!", "do not panic at 1234.5 kilometres", 0.5211917485512212),
        ("Čapek wrote R.U.R.", "Capek wrote RUR", 0.7878788230880875),
    ] {
        let got = score(ours, theirs);
        assert!((got - want).abs() < 1e-7, "{ours} {theirs}: {got}");
    }
    let long = likeness(0.5).verify("x", &["y".repeat((1 << 20) + 1)]).conclusion;
    assert!(matches!(long, Conclusion::GraderFailed { .. }), "{long:?}");
}

/// Gives these vectors whatever the texts.
struct Broken(Vec<Vec<f32>>);

impl Embedder for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        1
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        Ok(self.0.clone())
    }
}

#[test]
fn a_broken_embedder_is_not_a_zero() {
    for vectors in [vec![], vec![vec![1.0], vec![f32::NAN]], vec![vec![1.0], vec![0.6, 0.8]]] {
        let config = LikenessConfig { embedder: "broken".to_owned(), pass_at: 0.5, max_chars: 100 };
        let verdict = LikenessVerifier::with(config, Arc::new(Broken(vectors))).unwrap().verify("x", &["y"]);
        assert!(matches!(verdict.conclusion, Conclusion::GraderFailed { .. }) && verdict.score.is_none());
    }
}

fn entail(note: &str, hypotheses: &[&str], grounds: &[&str]) -> EntailmentVerdict {
    let config: EntailmentConfig = toml::from_str("entailer = 'lexical'").unwrap();
    EntailmentVerifier::compile(config).unwrap().verify(note, hypotheses, grounds)
}

const GOLD: &str = "1889 is the answer to the question: \"When did the Eiffel Tower open?\"";

#[test]
fn a_note_that_repeats_the_hypothesis_is_an_echo() {
    let none: [&str; 0] = [];
    let verdict = entail("1889 is the answer to the question", &[GOLD], &none);
    assert!(verdict.echo && verdict.score == Some(0.0), "{verdict:?}");
    assert!(matches!(verdict.conclusion, Conclusion::Refused { .. }));
    // The same few words taken from a passage are a note.
    let verdict =
        entail("Eiffel Tower: open 1889", &[GOLD], &["The Eiffel Tower in Paris was open from 1889 on."]);
    assert!(!verdict.echo && verdict.ungrounded_share == Some(0.0), "{verdict:?}");
    assert_eq!(verdict.conclusion, Conclusion::Pass);
}

#[test]
fn the_best_alias_counts_and_made_up_words_are_told() {
    let aliases = ["The tower stands in Lutetia", "The tower stands in Paris"];
    let verdict =
        entail("The tower stands in Paris near the river", &aliases, &["In Paris the tower stands"]);
    assert_eq!((verdict.hypothesis, verdict.score), (Some(1), Some(1.0)));
    // tower, stands, paris, near, river: two of five are in no ground.
    assert!((verdict.ungrounded_share.unwrap() - 0.4).abs() < 1e-12);
}

#[test]
fn long_and_empty_notes_and_missing_hypotheses_are_told_apart() {
    let none: [&str; 0] = [];
    for note in ["", "the of", &"word ".repeat(200)] {
        assert!(matches!(entail(note, &[GOLD], &none).conclusion, Conclusion::Refused { .. }));
    }
    assert!(matches!(entail("x y", &none, &none).conclusion, Conclusion::BadReference { .. }));
    let unknown =
        toml::from_str::<EntailmentConfig>("entailer = 'lexical'\necho = 1").unwrap_err().to_string();
    assert!(unknown.contains("unknown field `echo`"), "{unknown}");
}
