//! Every mistake of a document at once.
//!
//! In: the text, and what it is read into. Out: what was read, or each mistake with its place. A reader stops at the first
//! mistake, so the document is mended there and read again. Where the mistake stands is found by trial: it is in the part without
//! which the reader complains of something else. A mend that itself makes the reader complain is not used, so that one mistake is
//! never told twice.

use crate::document::{self, Step, Value};
use crate::recipe_error::RecipeError;
use crate::toml_error::{Located, components_named, line_and_column, locate};
use merit_core::Components;
use merit_core::settings::{self, ReadError};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use toml::de::DeValue;

/// More than anybody mends at one sitting.
const MOST: usize = 20;

/// Reads `text`, or says all that is wrong with it, in the order of the text. `model` is a document without mistakes, from which
/// parts are taken that cannot be left out.
pub(crate) fn read<T: DeserializeOwned>(
    file: &str,
    text: &str,
    model: &str,
    components: &Components,
) -> Result<T, RecipeError> {
    let first = match components.reading(|| settings::from_toml::<T>(text)) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let (Ok(document), Ok(model)) = (document::parse(text), document::parse(model)) else {
        return Err(locate(file, text, &first).into());
    };
    let complaint =
        |document: &Value<'_>| components.reading(|| settings::from_document::<T>(document).err());
    let mut found = Mender { file, text, model, complaint: &complaint }.all(document);
    found.sort_by_key(|mistake| mistake.place);
    let all = RecipeError::all(file, found.into_iter().map(RecipeError::Parse));
    Err(all.unwrap_or_else(|| locate(file, text, &first).into()))
}

/// A complaint of the reader, and the smallest part of the document without which it would not be made.
struct Mistake {
    error: ReadError,
    path: Vec<Step>,
}

struct Mender<'a, 'f> {
    file: &'a str,
    text: &'a str,
    model: Value<'a>,
    complaint: &'f dyn Fn(&Value<'_>) -> Option<ReadError>,
}

impl<'a> Mender<'a, '_> {
    fn all(&self, mut document: Value<'a>) -> Vec<Located> {
        let mut found = Vec::new();
        let mut next = self.mistake(&document);
        while let Some(mistake) = next.take().filter(|_| found.len() < MOST) {
            found.push(self.place(&document, &mistake));
            if let Some((mended, other)) = self.mend(&document, &mistake) {
                (document, next) = (mended, other);
            }
        }
        found
    }

    fn mistake(&self, document: &Value<'a>) -> Option<Mistake> {
        let error = (self.complaint)(document)?;
        let mut path = Vec::new();
        while let Some(step) = self.inside(document, &error, &path) {
            path.push(step);
        }
        Some(Mistake { error, path })
    }

    /// The part of what stands at `path` to which the complaint belongs. `None`: it belongs to the whole.
    fn inside(&self, document: &Value<'a>, error: &ReadError, path: &[Step]) -> Option<Step> {
        let same = |changed: Option<Value<'a>>| {
            changed.is_none_or(|changed| (self.complaint)(&changed).as_ref() == Some(error))
        };
        let below = |step: Step| [path, &[step]].concat();
        match document::at(document, path)?.get_ref() {
            DeValue::Table(table) => {
                let missing = missing(error).is_some();
                let part = |value: &DeValue<'_>| matches!(value, DeValue::Table(_) | DeValue::Array(_));
                let keys = table.iter().filter(|(_, value)| !missing || part(value.get_ref()));
                let mut keys: Vec<&str> = keys.map(|(key, _)| &**key.get_ref()).collect();
                // Without its name a component is another mistake, whatever the first one was.
                keys.sort_by_key(|key| *key == "type");
                let alone = keys.iter().find(|key| {
                    let changed = document::without(document, &below(Step::Key((**key).to_owned())));
                    let after = changed.as_ref().and_then(|changed| (self.complaint)(changed));
                    let needed = missing && after.as_ref().and_then(self::missing) == Some(**key);
                    after.as_ref() != Some(error) && !needed
                });
                // The same mistake twice in one component is still there when one of both is gone.
                let mut rest = Some(document.clone());
                let mut together = keys.iter().filter(|key| !missing && **key != "type").find(|key| {
                    rest = rest
                        .take()
                        .and_then(|rest| document::without(&rest, &below(Step::Key((**key).to_owned()))));
                    !same(rest.clone())
                });
                alone.or_else(|| together.take()).map(|key| Step::Key((*key).to_owned()))
            }
            DeValue::Array(items) => {
                let upto = |index: &usize| document::shortened(document, path, index + 1);
                (0..items.len()).find(|index| same(upto(index))).map(Step::Item)
            }
            _ => None,
        }
    }

    /// The document without the mistake, and the next one. `None`: it cannot be mended.
    fn mend(&self, document: &Value<'a>, mistake: &Mistake) -> Option<(Value<'a>, Option<Mistake>)> {
        let Mistake { error, path } = mistake;
        // The name of a component is not guessed: with another one, its keys would be wrong.
        if let Some(key) = missing(error).filter(|key| *key != "type") {
            let known = document::at(&self.model, &[&named(path)[..], &[Step::Key(key.to_owned())]].concat());
            let added = known.and_then(|value| document::with_key(document, path, key, value.clone()));
            if let Some(added) = added {
                let next = self.mistake(&added);
                if next.as_ref().is_none_or(|next| next.error != *error) {
                    return Some((added, next));
                }
            }
        }
        // From the part itself up to the section it stands in.
        let mut last = None;
        for depth in (1..=path.len()).rev() {
            let part = &path[..depth];
            let hint = || locate(self.file, self.text, error).hint.or_else(|| named_in(error));
            let own = depth == path.len();
            let hint = own.then(hint).flatten();
            let guess = own.then(|| plausible(error)).flatten();
            let mut second = None;
            for (changed, part) in self.mends(document, part, hint, guess) {
                let next = self.mistake(&changed);
                let within = |part: &[Step]| next.as_ref().is_some_and(|next| next.path.starts_with(part));
                if next.as_ref().is_some_and(|next| part.starts_with(&next.path)) {
                    continue;
                }
                // A mistake in the same component may be there only because of the fix.
                if !within(&part[..depth - 1]) {
                    return Some((changed, next));
                }
                // If fixing this makes the component refused, the other wrong key is probably a result of it.
                let refused = next.as_ref().is_some_and(|next| is_refusal(&next.error));
                let place = if refused { &mut last } else { &mut second };
                *place = place.take().or(Some((changed, next)));
            }
            if second.is_some() {
                return second;
            }
        }
        last
    }

    /// What the document could have been, the likeliest first, each with the part that was changed.
    fn mends(
        &self,
        document: &Value<'a>,
        part: &[Step],
        hint: Option<String>,
        guess: Option<DeValue<'a>>,
    ) -> Vec<(Value<'a>, Vec<Step>)> {
        let Some(value) = document::at(document, part) else { return Vec::new() };
        let other_name = hint.as_deref().and_then(|hint| {
            let mut path = part.to_vec();
            let changed = document::renamed(document, part, hint)?;
            *path.last_mut()? = Step::Key(hint.to_owned());
            Some((changed, path))
        });
        let other_text = hint.as_deref().filter(|_| matches!(value.get_ref(), DeValue::String(_)));
        let other_text = other_text
            .and_then(|hint| document::with(document, part, DeValue::String(Cow::Owned(hint.to_owned()))));
        // Changing `type` would choose a component with other keys.
        let free = part.last() != Some(&Step::Key("type".to_owned()));
        let gone = document::without(document, part).filter(|_| free);
        let model = document::at(&self.model, &named(part));
        // A section in the place of a list, or the other way round, would be a mistake of its own.
        let list = |value: &DeValue<'_>| matches!(value, DeValue::Array(_));
        let alike = |other: &&Value<'a>| list(other.get_ref()) == list(value.get_ref());
        let model = model.filter(alike).filter(|_| free && matches!(part.last(), Some(Step::Key(_))));
        let model = model.and_then(|value| document::with(document, part, value.get_ref().clone()));
        let same_part = |changed: Option<Value<'a>>| changed.map(|changed| (changed, part.to_vec()));
        let (gone, model) = (same_part(gone), same_part(model));
        // The contents of a section belong to the name it was meant to have; a single value may be of another kind.
        let section = matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_));
        let likely = if section { [other_name, gone] } else { [gone, other_name] };
        let guess = same_part(guess.filter(|_| free).and_then(|value| document::with(document, part, value)));
        let first = [same_part(other_text), guess];
        first.into_iter().chain(likely).flatten().chain(model).collect()
    }

    /// The complaint in words, at its place in the text.
    fn place(&self, document: &Value<'a>, mistake: &Mistake) -> Located {
        let located = locate(self.file, self.text, &mistake.error);
        let Mistake { error, path } = mistake;
        let (components, complaint) = components_named(error.message());
        let quoted = complaint.split('`').nth(1);
        let text_is = |path: &[Step], wanted: Option<&str>| {
            document::text_at(document, path).filter(|(text, _)| Some(*text) == wanted).map(|(_, span)| span)
        };
        let span = if complaint.starts_with("unknown field") {
            let last = path
                .last()
                .filter(|last| Some(*last) == quoted.map(|key| Step::Key(key.to_owned())).as_ref());
            last.and_then(|_| document::key_span(document, path))
        } else if complaint.starts_with("unknown ") {
            text_is(path, quoted)
        } else if complaint.starts_with("invalid ") {
            document::at(document, path).filter(|_| !path.is_empty()).map(toml::Spanned::span)
        } else {
            let above =
                (0..=path.len()).rev().map(|depth| [&path[..depth], &[Step::Key("type".into())]].concat());
            components.last().and_then(|name| above.into_iter().find_map(|path| text_is(&path, Some(name))))
        };
        let place = span.map(|span| line_and_column(self.text, span.start));
        Located { place: place.or(located.place), ..located }
    }
}

/// A path as it is in every document of the kind: without the places in lists.
fn named(path: &[Step]) -> Vec<Step> {
    path.iter().filter(|step| matches!(step, Step::Key(_))).cloned().collect()
}

/// Whether a component refuses its settings as a whole: no single key is unknown, missing or of another type.
fn is_refusal(error: &ReadError) -> bool {
    let (components, complaint) = components_named(error.message());
    let of_a_key = ["unknown ", "invalid ", "missing "].iter().any(|head| complaint.starts_with(head));
    !components.is_empty() && !of_a_key
}

/// The key that is missing, where that is the complaint.
fn missing(error: &ReadError) -> Option<&str> {
    components_named(error.message()).1.strip_prefix("missing field `")?.split('`').next()
}

/// A value of the kind that was expected.
fn plausible(error: &ReadError) -> Option<DeValue<'static>> {
    let (head, expected) = error.message().rsplit_once(", expected ")?;
    let expected = expected.strip_prefix("a ").unwrap_or(expected);
    match expected {
        _ if !head.contains("invalid ") => None,
        "string" => Some(DeValue::String("a".into())),
        "boolean" => Some(DeValue::Boolean(true)),
        "u16" | "u32" | "u64" | "usize" | "f32" | "f64" => document::parse("a = 1")
            .ok()
            .and_then(|one| Some(document::at(&one, &[Step::Key("a".into())])?.get_ref().clone())),
        _ => None,
    }
}

/// The name that the complaint itself proposes.
fn named_in(error: &ReadError) -> Option<String> {
    let (_, behind) = error.message().split_once("(did you mean `")?;
    behind.split('`').next().map(str::to_owned)
}
