//! What a model, a judge or a probe said of the episode: an annotation, by its name.
//!
//! The term itself asks nothing. It declares what it needs, and the annotations are handed in with the batch, so that scoring stays
//! pure and can be repeated. A missing annotation makes the term fail, or not apply where `optional` is set; it is never 0.

use crate::prelude::*;

/// What a model, a judge or a probe said of the episode.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotated {
    /// The name of the annotation.
    pub key: String,
    /// Where the annotation is missing, the term does not apply. Otherwise it fails.
    #[serde(default)]
    pub optional: bool,
}

impl Annotated {
    fn need(&self) -> AnnotationNeed {
        AnnotationNeed { name: self.key.clone(), required: !self.optional }
    }
}

impl Component for Annotated {
    const ABOUT: About = About {
        name: "annotation",
        summary: "What a model, a judge or a probe said of the episode, by name.",
        paper: "",
    };
    const EXAMPLE: &'static str = "key = \"helpfulness\"\noptional = true\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(!self.key.is_empty(), "key", "empty", "the name of an annotation")
    }
}

impl Term for Annotated {
    fn kind(&self) -> TermKind {
        TermKind { judges: true, ..TermKind::NUMBER }
    }

    fn needs(&self) -> Vec<AnnotationNeed> {
        vec![self.need()]
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let annotation = match context.annotation(&self.need()) {
            Ok(annotation) => annotation,
            Err(missing) => return missing,
        };
        let finding = format!("{} ({}) said {}", annotation.by, annotation.version, annotation.value);
        let result = TermResult::value(annotation.value, Evidence::new("asked", finding));
        let result = annotation.evidence.iter().cloned().fold(result, TermResult::with_evidence);
        result.with_turns(annotation.turns.clone())
    }
}
