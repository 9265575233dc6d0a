//! Roles by name, likeness and entailment with their guards.

use merit_core::About;
use merit_verify::Conclusion;
use merit_verify::similarity::{
    EMBEDDERS, ENTAILERS, Embedder, EntailmentConfig, EntailmentVerdict, EntailmentVerifier, LikenessConfig,
    LikenessVerifier, RoleError, embedder, entailer,
};
use std::sync::Arc;

#[test]
fn every_listed_role_keeps_its_contract() {
    for entry in EMBEDDERS {
        let role = embedder(entry.about.name).unwrap();
        assert_eq!(role.about(), entry.about);
        let texts = ["a red door", "", "a red door", "北京", "x"];
        let vectors = role.embed(&texts).unwrap();
        assert_eq!(vectors.len(), texts.len());
        assert_eq!(vectors[0], vectors[2]);
        for vector in &vectors {
            let norm: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!(vector.len() == vectors[0].len() && ((norm - 1.0).abs() < 1e-4 || norm == 0.0), "{norm}");
        }
    }
    for entry in ENTAILERS {
        let role = entailer(entry.about.name).unwrap();
        assert_eq!(role.about(), entry.about);
        let pairs = [("a red door", "a red door"), ("", ""), ("a red door", "a blue car")];
        let judged = role.entail(&pairs).unwrap();
        assert!(judged.len() == 3 && judged.iter().all(|p| (0.0..=1.0).contains(p)) && judged[0] > judged[2]);
    }
    assert!(embedder("hashed-ngram").err().unwrap().to_string().contains("did you mean `hashed-ngrams`?"));
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

/// Gives these vectors whatever the texts.
struct Broken(Vec<Vec<f32>>);

impl Embedder for Broken {
    fn about(&self) -> About {
        About { name: "broken", summary: "", paper: "" }
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, RoleError> {
        Ok(self.0.clone())
    }
}

#[test]
fn a_broken_embedder_is_not_a_zero() {
    for vectors in
        [vec![], vec![vec![1.0], vec![f32::NAN]], vec![vec![1.0], vec![0.6, 0.8]], vec![vec![5.0], vec![5.0]]]
    {
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
    assert!(toml::from_str::<EntailmentConfig>("entailer = 'lexical'\necho = 1").is_err());
}
