//! A visit to the clinic: what a line asks for, what has been asked, and what a turn was worth.

use super::diagnosis::{DISEASES, Patient, SURE, SYMPTOMS, TREATMENTS, cure, is_unsafe};
use merit_api::StepResult;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visit {
    /// The symptoms that were asked for, each once.
    pub asked: Vec<usize>,
    /// Questions and kind words so far.
    pub lines: u32,
    /// Whether a kind word was said.
    pub calmed: bool,
}

/// A line of the doctor.
#[derive(Clone, Copy)]
pub(super) enum Command {
    Ask(usize),
    Calm,
    /// A disease and a treatment.
    Treat(usize, usize),
}

pub(super) fn command(text: &str) -> Option<Command> {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let found = match (words.next()?, words.next(), words.next()) {
        ("ask", Some(symptom), None) => Command::Ask(SYMPTOMS.iter().position(|known| *known == symptom)?),
        ("calm", None, None) => Command::Calm,
        ("treat", Some(disease), Some(treatment)) => Command::Treat(
            DISEASES.iter().position(|(known, _)| *known == disease)?,
            TREATMENTS.iter().position(|known| *known == treatment)?,
        ),
        _ => return None,
    };
    words.next().is_none().then_some(found)
}

pub(super) fn named(disease: usize, treatment: usize) -> String {
    let disease = DISEASES.get(disease).map_or("", |(name, _)| *name);
    format!("{disease} {}", TREATMENTS.get(treatment).copied().unwrap_or_default())
}

/// What a turn was, as numbers.
#[derive(Default)]
pub(super) struct Worth {
    read: bool,
    asked: bool,
    soft: bool,
    bits: f64,
    bits_share: f64,
    consistent: bool,
    premature: bool,
    risk: f64,
    harmed: bool,
    diagnosed: bool,
    cured: bool,
}

impl Worth {
    /// Of a line that is read and worth nothing.
    pub(super) fn in_vain() -> Self {
        Self { read: true, ..Self::default() }
    }

    pub(super) fn of(patient: &Patient, visit: &Visit, command: Command) -> Self {
        let belief = patient.belief(&visit.asked);
        let read = Self::in_vain();
        match command {
            Command::Calm => Self { soft: !visit.calmed, consistent: !visit.calmed, ..read },
            Command::Ask(symptom) => {
                let known = patient.knows(&visit.asked, symptom);
                let most = belief.best_question(|other| patient.knows(&visit.asked, other));
                let most = most.map_or(0.0, |(_, bits)| bits);
                let bits = if known { 0.0 } else { belief.bits(symptom) };
                let bits_share = if most > 0.0 { (bits / most).min(1.0) } else { 0.0 };
                Self { asked: true, bits, bits_share, consistent: !known, ..read }
            }
            Command::Treat(disease, treatment) => Self {
                consistent: belief.favours(disease),
                premature: belief.likeliest().1 < SURE,
                risk: belief.risk(treatment),
                harmed: is_unsafe(patient.disease, treatment),
                diagnosed: disease == patient.disease,
                cured: treatment == cure(patient.disease),
                ..read
            },
        }
    }

    pub(super) fn told(&self, patient: &Patient, visit: &Visit, result: StepResult) -> StepResult {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let belief = patient.belief(&visit.asked).0.get(patient.disease).copied().unwrap_or_default();
        result.with_info([
            ("read", flag(self.read)),
            ("asked", flag(self.asked)),
            ("soft", flag(self.soft)),
            ("bits", self.bits),
            ("bits_share", self.bits_share),
            ("belief", belief),
            ("consistent", flag(self.consistent)),
            ("premature", flag(self.premature)),
            ("risk", self.risk),
            ("unsafe", flag(self.harmed)),
            ("diagnosed", flag(self.diagnosed)),
            ("cured", flag(self.cured)),
            ("solved", flag(self.diagnosed && self.cured)),
            ("lines", f64::from(visit.lines)),
        ])
    }
}
