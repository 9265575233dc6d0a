//! A patient who names two signs of a disease: ask for others until one disease is likely, then treat it.
//!
//! `have cough chill` is followed by `ask heat`, which is answered `yes`, `no` or `unsure`; `calm`, a kind word; and `treat flu balm`,
//! which names the disease and what is done, and ends the visit. The table of signs and treatments is the same for all patients and is
//! never told: it has to be learned. Two treatments of six are unsafe for each disease, one of them the cure of the disease that is
//! most like it. What a turn was worth (bits, safety, sense, kindness) is told as info, never in words.

use super::diagnosis::{DISEASES, MAX_QUESTIONS, Patient, SYMPTOMS, TREATMENTS, cure, is_unsafe};
use super::visit::{Command, Visit, Worth, command, named};
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const HINT: &str = "say ask SIGN, calm or treat ILL CURE";
/// One patient in 28 takes six questions; this many draws in vain do not happen.
const MAX_PATIENTS: usize = 1500;
/// Questions of the manner `rote`.
const ROTE: usize = 4;

/// The settings of `clinic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Clinic {
    /// Questions that the best doctor asks in training tasks, dealt in turn; 1 to 6.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// How often a patient does not know whether they have a symptom; 0 to 0.3.
    pub unsure: f64,
    /// Questions and kind words that a patient puts up with; the next one is answered `bye`. 2 to 20, more than the largest size.
    pub patience: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Clinic {
    fn default() -> Self {
        Self {
            sizes: vec![2, 3, 4, 5],
            held_out_sizes: Vec::new(),
            unsure: 0.1,
            patience: 8,
            instructions: false,
        }
    }
}

impl Component for Clinic {
    const ABOUT: About = About {
        name: "clinic",
        summary: "A patient to be asked for signs, and to be treated safely once one disease is likely.",
        paper: "Doctor-R1: Mastering Clinical Inquiry with Experiential Agentic Reinforcement Learning (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new(
                "`sizes` is empty; list how many questions the best doctor asks, as in [2, 3]",
            ));
        }
        let sizes = || self.sizes.iter().chain(&self.held_out_sizes);
        if let Some(size) = sizes().find(|size| !(1..=MAX_QUESTIONS).contains(size)) {
            return Err(Refusal::new(format!("a size of {size}; give 1 to {MAX_QUESTIONS} questions")));
        }
        Refusal::unless((0.0..=0.3).contains(&self.unsure), "unsure", self.unsure, "a share, 0 to 0.3")?;
        let least = sizes().max().copied().unwrap_or(1) + 1;
        let wanted = format!("{least} to 20, more than the largest size");
        Refusal::unless((least..=20).contains(&self.patience), "patience", self.patience, &wanted)
    }
}

impl Clinic {
    /// What the patient says to a question or a kind word.
    fn reply(&self, patient: &Patient, visit: &mut Visit, command: Command) -> StepResult {
        visit.lines = visit.lines.saturating_add(1);
        if visit.lines > self.patience {
            return StepResult::saying("bye").done();
        }
        let Command::Ask(symptom) = command else {
            visit.calmed = true;
            return StepResult::saying("thanks");
        };
        if !visit.asked.contains(&symptom) {
            visit.asked.push(symptom);
        }
        let unsure = patient.unsure.contains(&symptom) && !patient.told.contains(&symptom);
        let known = if patient.has.contains(&symptom) { "yes" } else { "no" };
        StepResult::saying(if unsure { "unsure" } else { known })
    }
}

impl TextGame for Clinic {
    type Puzzle = Patient;
    type State = Visit;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Asks what tells most until one disease is likely, and cures it: right."),
        Manner::new("warm", "As `exact`, after a kind word: right, and a turn longer."),
        Manner::new("rote", "Asks for four symptoms, whatever they are, and treats what is likely."),
        Manner::new(
            "rash",
            "Asks as `exact` does, and does anything: the disease is right, the treatment seldom.",
        ),
        Manner::new("hasty", "Asks nothing and treats what is likely: often wrong, and often unsafe."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Patient {
        let mut last = Patient { disease: 0, has: vec![5, 9], unsure: Vec::new(), told: [5, 9] };
        for _ in 0..MAX_PATIENTS {
            if let Some(patient) = Patient::draw(self.unsure, rng) {
                last = patient;
                if last.questions() == Some(size as usize) {
                    break;
                }
            }
        }
        last
    }

    fn check_puzzle(&self, patient: &Patient, size: u32) -> Result<(), String> {
        patient.check()?;
        match patient.questions() {
            Some(questions) if questions == size as usize => Ok(()),
            Some(questions) => Err(format!("the best doctor asks {questions} questions, its size is {size}")),
            None => Err("the best doctor does not find the disease".to_owned()),
        }
    }

    fn check_state(&self, _: &Patient, visit: &Visit) -> Result<(), String> {
        let mut asked = visit.asked.clone();
        asked.sort_unstable();
        let places =
            asked.is_sorted_by(|a, b| a < b) && asked.iter().all(|symptom| *symptom < SYMPTOMS.len());
        let lines = asked.len() + usize::from(visit.calmed);
        if places && lines <= visit.lines as usize {
            Ok(())
        } else {
            Err("its questions are not possible".to_owned())
        }
    }

    fn prompt(&self, patient: &Patient) -> String {
        let told = patient.told.map(|symptom| SYMPTOMS.get(symptom).copied().unwrap_or_default());
        format!("have {}", told.join(" "))
    }

    fn answer(&self, patient: &Patient) -> Option<String> {
        Some(named(patient.disease, cure(patient.disease)))
    }

    fn instructions(&self) -> Option<String> {
        let diseases = DISEASES.iter().enumerate().map(|(at, (name, signs))| {
            let signs: Vec<&str> = signs.iter().filter_map(|sign| SYMPTOMS.get(*sign).copied()).collect();
            let harms: Vec<&str> =
                (0..TREATMENTS.len()).filter(|t| is_unsafe(at, *t)).map(|t| TREATMENTS[t]).collect();
            format!(
                "{name} ({}; cure {}; unsafe {})",
                signs.join(", "),
                TREATMENTS[cure(at)],
                harms.join(", ")
            )
        });
        let text = format!(
            "Find out which disease a patient of an invented clinic has, and treat it. Diseases: {}. Most patients have most signs of \
             their disease and little else. Say one line per turn: `ask SIGN` (answered yes, no or unsure), `calm` for a kind word, or \
             `treat DISEASE TREATMENT`, which ends it. The patient leaves after {} lines.",
            diseases.collect::<Vec<String>>().join("; "),
            self.patience
        );
        self.instructions.then_some(text)
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![
            CommandCard::new("ask", "Ask whether the patient has a sign.")
                .one_of("sign", "which sign", SYMPTOMS)
                .example("ask cough"),
            CommandCard::new("calm", "Say a kind word.").example("calm"),
            CommandCard::new("treat", "Treat a disease, which ends it.")
                .one_of("disease", "what the patient has", DISEASES.iter().map(|(name, _)| *name))
                .one_of("treatment", "what to do", TREATMENTS)
                .example("treat flu pill"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        match command(line(text)) {
            Some(Command::Treat(disease, treatment)) => Action::Answer { text: named(disease, treatment) },
            Some(_) => Action::Say { text: line(text).to_owned() },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, patient: &Patient, visit: &mut Visit, action: &Action, _: &[CallRecord]) -> StepResult {
        let said = match action {
            Action::Answer { text } => command(&format!("treat {text}")),
            Action::Say { text } => command(text).filter(|said| !matches!(said, Command::Treat(..))),
            Action::Malformed { .. } | Action::Calls { .. } => None,
        };
        let worth = match said {
            // Who has lost patience is asked in vain.
            Some(Command::Ask(_) | Command::Calm) if visit.lines >= self.patience => Worth::in_vain(),
            Some(said) => Worth::of(patient, visit, said),
            None => Worth::default(),
        };
        let result = match (said, action) {
            (Some(Command::Treat(..)), _) | (None, Action::Answer { .. }) => StepResult::default().answered(),
            (Some(said), _) => self.reply(patient, visit, said),
            (None, _) => StepResult::saying(HINT),
        };
        worth.told(patient, visit, result)
    }

    fn expert(&self, patient: &Patient, play: &Demonstration<'_>) -> Option<String> {
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" });
        let said = || play.turns.iter().filter_map(|turn| command(line(&turn.said)));
        if manner == "warm" && !said().any(|said| matches!(said, Command::Calm)) {
            return Some("calm".to_owned());
        }
        let symptom = |said: Command| if let Command::Ask(symptom) = said { Some(symptom) } else { None };
        let asked: Vec<usize> = said().filter_map(symptom).collect();
        let mut rng = play.seed.child("any", 0).stream();
        let next = match manner {
            "hasty" => None,
            "rote" => {
                let mut order: Vec<usize> =
                    (0..SYMPTOMS.len()).filter(|symptom| !patient.told.contains(symptom)).collect();
                rng.shuffle(&mut order);
                let most = ROTE.min(self.patience as usize);
                order.into_iter().take(most).find(|symptom| !asked.contains(symptom))
            }
            _ => patient.due(&asked),
        };
        if let Some(symptom) = next {
            return SYMPTOMS.get(symptom).map(|name| format!("ask {name}"));
        }
        let disease = patient.belief(&asked).likeliest().0;
        let any = rng.below(TREATMENTS.len() as u64) as usize;
        let treatment = if manner == "rash" { any } else { cure(disease) };
        Some(format!("treat {}", named(disease, treatment)))
    }
}
