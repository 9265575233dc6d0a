//! How the pieces of a template are found and proven.
//!
//! A probe is a conversation whose messages say words that no template contains; what lies between them is the template's.
//! The pairs that every chat needs come first (user, assistant, user). Others are added group by group, each kept only if
//! every short conversation that uses it, and some long ones, are rendered as they would be appended.

use super::content::{Content, escaped};
use super::{ChatFrames, Place, TemplateRole};
use crate::{ChatMessage, ChatTemplate, FramesError, TemplateContext};
use TemplateRole::{Assistant, System, Tool, User};

type Pair = (Place, TemplateRole);

/// Pairs without which there is no chat.
const CORE: [Pair; 3] =
    [(Place::Start, User), (Place::After(User), Assistant), (Place::After(Assistant), User)];

/// Pairs that a template may allow, in the order they are tried; those of one group only make sense together.
const OPTIONAL: &[&[Pair]] = &[
    &[(Place::Start, System), (Place::After(System), User)],
    &[(Place::After(System), Assistant)],
    &[(Place::After(Assistant), Tool), (Place::After(Tool), Assistant)],
    &[(Place::After(Tool), Tool)],
    &[(Place::After(Tool), User)],
    &[(Place::After(User), User)],
    &[(Place::After(User), Tool)],
    &[(Place::After(Assistant), Assistant)],
    &[(Place::After(Assistant), System)],
    &[(Place::After(User), System)],
    &[(Place::After(Tool), System)],
    &[(Place::After(System), System)],
    &[(Place::After(System), Tool)],
];

/// Every conversation of up to this many messages is compared.
const SHORT: usize = 4;
const LONG: [usize; 3] = [6, 7, 9];

/// Letters that a template could change on the way.
const ODD: &str = "Qa\"b'c\\d\n\n{e}<f>&[g] é 日本 {{h}} |i|Z";
const SPACED: &str = " \n Q Z\n ";

pub(super) fn frames(template: &ChatTemplate, setting: &TemplateContext) -> Result<ChatFrames, FramesError> {
    let prober = Prober { template, setting };
    let mut frames = ChatFrames {
        gaps: Default::default(),
        closes: Default::default(),
        contents: [Content::default(); 4],
    };
    for (place, role) in CORE {
        let gap = prober.gap(place, role).map_err(|why| unusable(&conversation(place, role), why))?;
        frames.gaps[place.index()][role as usize] = Some(gap);
    }
    prober.verify(&frames, &CORE)?;
    for role in [User, Assistant] {
        let content = prober.content(role).map_err(|why| unusable(&lead_in(role), why))?;
        frames.contents[role as usize] = content;
    }
    for group in OPTIONAL {
        prober.extend(&mut frames, group);
    }
    for role in TemplateRole::ALL {
        frames.closes[role as usize] = prober.close(role);
    }
    Ok(frames)
}

struct Prober<'a> {
    template: &'a ChatTemplate,
    setting: &'a TemplateContext,
}

impl Prober<'_> {
    /// Adds the pairs of a group if the template allows them and stays append-only with them.
    fn extend(&self, frames: &mut ChatFrames, group: &[Pair]) {
        let spoken = |frames: &ChatFrames, role: TemplateRole| {
            frames.gaps.iter().any(|row| row[role as usize].is_some())
        };
        let mut wider = frames.clone();
        for &(place, role) in group {
            if matches!(place, Place::After(before) if !spoken(&wider, before)) {
                return;
            }
            let Ok(gap) = self.gap(place, role) else { return };
            wider.gaps[place.index()][role as usize] = Some(gap);
            if !spoken(frames, role) {
                let Ok(content) = self.content(role) else { return };
                wider.contents[role as usize] = content;
            }
        }
        if self.verify(&wider, group).is_ok() {
            *frames = wider;
        }
    }

    fn render(&self, roles: &[TemplateRole], says: &[String], generate: bool) -> Result<String, String> {
        let messages: Vec<ChatMessage> =
            roles.iter().zip(says).map(|(role, text)| ChatMessage::new(role.name(), text.clone())).collect();
        self.template.render(&messages, self.setting, generate).map_err(|error| error.to_string())
    }

    /// What lies before, between and behind the words of a probe.
    fn gaps(&self, roles: &[TemplateRole], generate: bool) -> Result<Vec<String>, String> {
        let says = words(roles.len());
        let text = self.render(roles, &says, generate)?;
        let mut gaps = Vec::with_capacity(says.len() + 1);
        let mut rest = text.as_str();
        for (index, word) in says.iter().enumerate() {
            let Some((before, after)) = rest.split_once(word.as_str()) else {
                return Err(format!("message {} is left out or out of order", index + 1));
            };
            if after.contains(word.as_str()) {
                return Err(format!("message {} appears twice", index + 1));
            }
            gaps.push(before.to_owned());
            rest = after;
        }
        gaps.push(rest.to_owned());
        Ok(gaps)
    }

    fn gap(&self, place: Place, role: TemplateRole) -> Result<String, String> {
        let before = before(place).len();
        let gaps = self.gaps(&conversation(place, role), true)?;
        gaps.into_iter().nth(before).ok_or_else(|| "nothing was rendered".to_owned())
    }

    fn close(&self, role: TemplateRole) -> Option<String> {
        self.gaps(&lead_in(role), false).ok()?.pop()
    }

    /// What happens to the text of a message of `role`.
    fn content(&self, role: TemplateRole) -> Result<Content, String> {
        let shown = self.shown(role, ODD)?;
        let json = shown != ODD;
        if json && shown != escaped(ODD) {
            return Err(format!("it shows {ODD:?} as {shown:?}"));
        }
        let shown = self.shown(role, SPACED)?;
        let (trims_start, trims_end) = (!json && shown.starts_with('Q'), !json && shown.ends_with('Z'));
        let rule = Content { json, trims_start, trims_end };
        if rule.shown(SPACED) != shown {
            return Err(format!("it shows {SPACED:?} as {shown:?}"));
        }
        Ok(rule)
    }

    /// How a text shows up in a message of `role`.
    fn shown(&self, role: TemplateRole, text: &str) -> Result<String, String> {
        let mut roles = lead_in(role);
        let at = roles.len() - 1;
        if matches!(role, System | Assistant) {
            roles.push(User);
        }
        let gaps = self.gaps(&roles, true)?;
        let mut says = words(roles.len());
        says[at] = text.to_owned();
        let rendered = self.render(&roles, &says, true)?;
        let before: String =
            (0..at).flat_map(|i| [gaps[i].as_str(), &says[i]]).chain([gaps[at].as_str()]).collect();
        let last = [gaps[roles.len()].as_str()];
        let after: String =
            (at + 1..roles.len()).flat_map(|i| [gaps[i].as_str(), &says[i]]).chain(last).collect();
        let shown = rendered.strip_prefix(&before).and_then(|rest| rest.strip_suffix(&after));
        shown.map(str::to_owned).ok_or_else(|| format!("the text around {text:?} depends on what it says"))
    }

    /// Compares appended with rendered conversations that use one of `pairs`.
    fn verify(&self, frames: &ChatFrames, pairs: &[Pair]) -> Result<(), FramesError> {
        let mut walks = Vec::new();
        walk(frames, &mut Vec::new(), SHORT, &mut walks);
        walks.extend(
            LONG.iter()
                .flat_map(|&len| (0..4).map(move |turn| (len, turn)))
                .map(|(len, turn)| long_walk(frames, len, turn)),
        );
        let uses = |roles: &Vec<TemplateRole>| steps(roles).any(|pair| pairs.contains(&pair));
        for roles in walks.iter().filter(|roles| uses(roles)) {
            self.compare(frames, roles)?;
        }
        Ok(())
    }

    fn compare(&self, frames: &ChatFrames, roles: &[TemplateRole]) -> Result<(), FramesError> {
        let Some(tail) = roles.last().and_then(|&last| frames.gap(Place::After(last), Assistant)) else {
            return Ok(());
        };
        let says = words(roles.len());
        let mut appended = String::new();
        for ((place, role), word) in steps(roles).zip(&says) {
            appended.push_str(frames.gap(place, role).unwrap_or_default());
            appended.push_str(word);
        }
        appended.push_str(tail);
        let rendered = self.render(roles, &says, true).map_err(|why| unusable(roles, why))?;
        if rendered == appended {
            return Ok(());
        }
        let same = appended.chars().zip(rendered.chars()).take_while(|(a, b)| a == b).count();
        let part = |text: &str| text.chars().skip(same.saturating_sub(12)).take(80).collect();
        Err(FramesError::NotAppendOnly {
            conversation: named(roles),
            appended: part(&appended),
            rendered: part(&rendered),
        })
    }
}

/// The pairs that a conversation consists of.
fn steps(roles: &[TemplateRole]) -> impl Iterator<Item = Pair> + '_ {
    let places = std::iter::once(Place::Start).chain(roles.iter().map(|&role| Place::After(role)));
    places.zip(roles.iter().copied())
}

/// Every conversation of up to `left` more messages that the pieces allow and that does not end with the assistant, whose
/// last word is the policy's and is never rendered.
fn walk(frames: &ChatFrames, so_far: &mut Vec<TemplateRole>, left: usize, out: &mut Vec<Vec<TemplateRole>>) {
    if so_far.last().is_some_and(|&last| last != Assistant) {
        out.push(so_far.clone());
    }
    if left == 0 {
        return;
    }
    let place = so_far.last().map_or(Place::Start, |&last| Place::After(last));
    for role in TemplateRole::ALL.into_iter().filter(|&role| frames.gap(place, role).is_some()) {
        so_far.push(role);
        walk(frames, so_far, left - 1, out);
        so_far.pop();
    }
}

/// One long conversation: at each step the next of the allowed roles, in turn, and then on to a role that may hand over.
fn long_walk(frames: &ChatFrames, len: usize, turn: usize) -> Vec<TemplateRole> {
    let mut roles: Vec<TemplateRole> = Vec::new();
    while roles.len() < len || roles.last() == Some(&Assistant) {
        let place = roles.last().map_or(Place::Start, |&last| Place::After(last));
        let open: Vec<TemplateRole> =
            TemplateRole::ALL.into_iter().filter(|&role| frames.gap(place, role).is_some()).collect();
        let choices: Vec<TemplateRole> = if roles.len() + 1 < len {
            open
        } else {
            open.into_iter().filter(|&role| role != Assistant).collect()
        };
        match choices.get((roles.len() * 7 + turn * 3) % choices.len().max(1)) {
            Some(&role) => roles.push(role),
            None => break,
        }
    }
    roles
}

/// A conversation that makes `place` possible.
fn before(place: Place) -> Vec<TemplateRole> {
    match place {
        Place::Start => Vec::new(),
        Place::After(role) => lead_in(role),
    }
}

/// A conversation that ends with `role`.
fn lead_in(role: TemplateRole) -> Vec<TemplateRole> {
    match role {
        System => vec![System],
        User => vec![User],
        Assistant => vec![User, Assistant],
        Tool => vec![User, Assistant, Tool],
    }
}

/// A conversation that goes from `place` to `role` and does not end with the assistant.
fn conversation(place: Place, role: TemplateRole) -> Vec<TemplateRole> {
    let mut roles = before(place);
    roles.push(role);
    if role == Assistant || (place, role) == (Place::Start, System) {
        roles.push(User);
    }
    roles
}

/// Words that no template contains, one for each message.
fn words(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("Wq{index}zxj{}vW", "k".repeat(index % 3))).collect()
}

fn named(roles: &[TemplateRole]) -> String {
    let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    format!("[{}]", names.join(", "))
}

fn unusable(roles: &[TemplateRole], why: String) -> FramesError {
    FramesError::Unusable { conversation: named(roles), why }
}
