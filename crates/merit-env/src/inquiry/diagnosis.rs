//! What there is to know in the clinic, and how likely each disease is after what has been heard.
//!
//! The names are ordinary words and the table is invented: nothing here is medicine. Diseases come in pairs (0 and 1, 2 and 3, …) that
//! share three of their six signs, and what cures one of a pair is unsafe for the other.

use merit_core::Stream;
use serde::{Deserialize, Serialize};

/// The diseases, pair by pair, each with its six signs: places in `SYMPTOMS`.
pub const DISEASES: [(&str, [usize; 6]); 12] = [
    ("gout", [5, 9, 10, 11, 16, 17]),
    ("cramp", [6, 9, 11, 12, 15, 17]),
    ("flu", [0, 1, 2, 8, 14, 19]),
    ("mumps", [0, 2, 4, 7, 8, 13]),
    ("croup", [1, 5, 13, 14, 15, 16]),
    ("shock", [3, 4, 5, 13, 16, 18]),
    ("stone", [0, 7, 9, 12, 18, 19]),
    ("hives", [3, 6, 7, 10, 12, 19]),
    ("burn", [2, 4, 10, 14, 15, 17]),
    ("stroke", [2, 8, 10, 11, 15, 18]),
    ("cold", [0, 1, 3, 4, 9, 17]),
    ("stye", [0, 1, 3, 6, 11, 13]),
];
/// What a patient may have and be asked for.
pub const SYMPTOMS: [&str; 20] = [
    "cough", "sneeze", "heat", "chill", "ache", "rash", "itch", "swell", "sweat", "limp", "faint", "thirst",
    "sick", "pale", "wheeze", "spots", "stiff", "numb", "blur", "weak",
];
/// What may be done. A disease has one that cures it, two that are unsafe and three that do nothing.
pub const TREATMENTS: [&str; 6] = ["rest", "pill", "balm", "drip", "wrap", "cut"];

/// The most questions of the best doctor.
pub(super) const MAX_QUESTIONS: u32 = 6;
/// How often a patient has a sign of their disease, and anything else.
const SIGN: f64 = 0.9;
const OTHER: f64 = 0.05;
/// A disease that is this likely is treated.
pub(super) const SURE: f64 = 0.9;
/// Numbers that are nearer than this are the same, on every machine.
const NEAR: f64 = 1e-9;

/// The signs of each disease, one bit each.
const SIGNS: [u32; 12] = {
    let mut signs = [0; 12];
    let mut at = 0;
    while at < 12 * 6 {
        signs[at / 6] |= 1 << DISEASES[at / 6].1[at % 6];
        at += 1;
    }
    signs
};

/// Number of the treatment that cures a disease.
pub(super) fn cure(disease: usize) -> usize {
    (disease / 2 + disease % 2) % TREATMENTS.len()
}

/// Whether a treatment is unsafe for a disease: the cure of the other one of its pair, and one more.
pub(super) fn is_unsafe(disease: usize, treatment: usize) -> bool {
    treatment == cure(disease ^ 1) || treatment == (disease / 2 + 3) % TREATMENTS.len()
}

/// How often a patient with this disease has this symptom.
pub(super) fn frequency(disease: usize, symptom: usize) -> f64 {
    let is_sign =
        SIGNS.get(disease).is_some_and(|signs| symptom < SYMPTOMS.len() && signs >> symptom & 1 == 1);
    if is_sign { SIGN } else { OTHER }
}

/// How likely each disease is: all alike at first, then by Bayes' rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Belief(pub(super) [f64; 12]);

impl Belief {
    pub(super) fn at_first() -> Self {
        Self([1.0 / 12.0; 12])
    }

    /// The belief after it is known whether a symptom is there.
    pub(super) fn after(&self, symptom: usize, there: bool) -> Self {
        let likely = |disease: usize| {
            let often = frequency(disease, symptom);
            if there { often } else { 1.0 - often }
        };
        let mut next = self.0;
        next.iter_mut().enumerate().for_each(|(disease, p)| *p *= likely(disease));
        let sum: f64 = next.iter().sum();
        Self(next.map(|p| p / sum))
    }

    fn entropy(&self) -> f64 {
        self.0.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2()).sum()
    }

    /// The bits that knowing about a symptom is expected to bring.
    pub(super) fn bits(&self, symptom: usize) -> f64 {
        self.bits_from(self.entropy(), symptom)
    }

    /// The same where the entropy is known.
    fn bits_from(&self, entropy: f64, symptom: usize) -> f64 {
        let there: f64 = self.0.iter().enumerate().map(|(at, p)| p * frequency(at, symptom)).sum();
        let rest = there * self.after(symptom, true).entropy()
            + (1.0 - there) * self.after(symptom, false).entropy();
        (entropy - rest).max(0.0)
    }

    /// The most likely disease, and how likely it is.
    pub(super) fn likeliest(&self) -> (usize, f64) {
        let mut best = (0, self.0[0]);
        for (disease, p) in self.0.iter().enumerate().skip(1) {
            if *p > best.1 + NEAR {
                best = (disease, *p);
            }
        }
        best
    }

    /// Whether no disease is likelier than this one.
    pub(super) fn favours(&self, disease: usize) -> bool {
        self.0.get(disease).is_some_and(|p| *p + NEAR >= self.likeliest().1)
    }

    /// How likely it is that a treatment is unsafe.
    pub(super) fn risk(&self, treatment: usize) -> f64 {
        self.0.iter().enumerate().filter(|(disease, _)| is_unsafe(*disease, treatment)).map(|(_, p)| p).sum()
    }

    /// The question that is expected to bring most, of those for symptoms that are not `known`, and its bits.
    pub(super) fn best_question(&self, known: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        let entropy = self.entropy();
        for symptom in (0..SYMPTOMS.len()).filter(|symptom| !known(*symptom)) {
            let bits = self.bits_from(entropy, symptom);
            if best.is_none_or(|(_, most)| bits > most + NEAR) {
                best = Some((symptom, bits));
            }
        }
        best
    }
}

/// The puzzle of a task: a patient. Symptoms are places in [`SYMPTOMS`], in rising order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patient {
    /// The place of the disease in [`DISEASES`].
    pub disease: usize,
    /// The symptoms that the patient has.
    pub has: Vec<usize>,
    /// Those of which the patient does not know.
    pub unsure: Vec<usize>,
    /// The two that are told at first.
    pub told: [usize; 2],
}

impl Patient {
    pub(super) fn draw(unsure: f64, rng: &mut Stream) -> Option<Self> {
        let disease = rng.below(DISEASES.len() as u64) as usize;
        let mut some = |share: &dyn Fn(usize) -> f64| -> Vec<usize> {
            (0..SYMPTOMS.len()).filter(|symptom| rng.chance(share(*symptom))).collect()
        };
        let has = some(&|symptom| frequency(disease, symptom));
        let unsure = some(&|_| unsure);
        let mut order = has.clone();
        rng.shuffle(&mut order);
        let &[first, second, ..] = order.as_slice() else { return None };
        Some(Self { disease, has, unsure, told: [first.min(second), first.max(second)] })
    }

    pub(super) fn knows(&self, asked: &[usize], symptom: usize) -> bool {
        self.told.contains(&symptom) || asked.contains(&symptom)
    }

    /// What to believe after the patient was asked for these symptoms.
    pub(super) fn belief(&self, asked: &[usize]) -> Belief {
        let told = self.told.iter().fold(Belief::at_first(), |belief, symptom| belief.after(*symptom, true));
        let news =
            asked.iter().filter(|symptom| !self.unsure.contains(symptom) && !self.told.contains(symptom));
        news.fold(told, |belief, symptom| belief.after(*symptom, self.has.contains(symptom)))
    }

    /// What the best doctor asks next. Absent: one disease is likely enough.
    pub(super) fn due(&self, asked: &[usize]) -> Option<usize> {
        let belief = self.belief(asked);
        if belief.likeliest().1 >= SURE {
            return None;
        }
        belief.best_question(|symptom| self.knows(asked, symptom)).map(|(symptom, _)| symptom)
    }

    /// The questions of the best doctor. Absent: they end with another disease, or are too many.
    pub(super) fn questions(&self) -> Option<usize> {
        let mut asked = Vec::new();
        while let Some(symptom) = self.due(&asked) {
            asked.push(symptom);
            if asked.len() > MAX_QUESTIONS as usize {
                return None;
            }
        }
        (self.belief(&asked).likeliest().0 == self.disease).then_some(asked.len())
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let rising = |list: &[usize]| {
            list.is_sorted_by(|a, b| a < b) && list.iter().all(|symptom| *symptom < SYMPTOMS.len())
        };
        if self.disease >= DISEASES.len() {
            return Err(format!("there is no disease {}", self.disease));
        }
        if !rising(&self.has) || !rising(&self.unsure) || !rising(&self.told) {
            return Err("symptoms have to be places below 20 in rising order".to_owned());
        }
        match self.told.iter().find(|symptom| !self.has.contains(symptom)) {
            Some(symptom) => Err(format!("symptom {symptom} is told, but the patient does not have it")),
            None => Ok(()),
        }
    }
}
