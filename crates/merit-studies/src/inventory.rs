//! An inventory of tools whose descriptions may lie, and tasks that need some skills.
//!
//! A description is a bag of words of the skills that a tool claims; retrieval sees words and nothing else. What a tool can do
//! is known to trials and to the outcome only.

use merit_core::Stream;

const WORDS_PER_SKILL: usize = 6;
const WORDS_TOLD: usize = 4;
const COMMON_WORDS: usize = 20;
const COMMON_TOLD: usize = 3;

/// How an inventory is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InventoryLaw {
    pub tools: usize,
    /// How many of the tools copy the description of another one, up to one word.
    pub duplicates: usize,
    pub skills: usize,
    /// The chance that a tool's skills are others than it claims.
    pub misdescribed: f64,
    /// The chance that a tool does nothing at all.
    pub broken: f64,
    /// Costs are log-uniform between these.
    pub costs: [f64; 2],
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub cost: f64,
    /// Skills it really has (bit j: skill j); none when broken.
    pub able: u32,
    pub broken: bool,
    words: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    pub tools: Vec<Tool>,
    /// For every skill the tools, best match of the words first.
    pub ranked: Vec<Vec<usize>>,
}

/// A task: the skills it needs, most important first, and how important each is.
#[derive(Debug, Clone, PartialEq)]
pub struct Needs {
    pub skills: Vec<usize>,
    pub weights: Vec<f64>,
}

impl Inventory {
    pub fn draw(law: &InventoryLaw, stream: &mut Stream) -> Self {
        let mut tools: Vec<Tool> = Vec::with_capacity(law.tools);
        let mut claims: Vec<u32> = Vec::with_capacity(law.tools);
        for at in 0..law.tools {
            let copied = at + law.duplicates >= law.tools && at > 0;
            let original = copied.then(|| stream.below((law.tools - law.duplicates).max(1) as u64) as usize);
            let claim =
                original.map_or_else(|| some_skills(law.skills, 0, stream), |original| claims[original]);
            let words = match original {
                Some(original) => one_word_changed(&tools[original].words, stream),
                None => description(claim, law.skills, stream),
            };
            let misdescribed = stream.chance(law.misdescribed);
            let able = if misdescribed { some_skills(law.skills, claim, stream) } else { claim };
            let broken = stream.chance(law.broken);
            let [low, high] = law.costs;
            let cost = low * (high / low).powf(stream.unit());
            claims.push(claim);
            tools.push(Tool { cost, able: if broken { 0 } else { able }, broken, words });
        }
        let ranked = (0..law.skills).map(|skill| rank(&tools, skill)).collect();
        Self { tools, ranked }
    }

    /// The tool whose words fit best, for every need.
    pub fn best_matches(&self, needs: &Needs) -> Vec<usize> {
        self.candidates(needs, 1).into_iter().map(|(tool, _)| tool).collect()
    }

    /// The `top_k` best matches of every need, in the order of needs and ranks, each with the needs it was found for (bit j:
    /// need j).
    pub fn candidates(&self, needs: &Needs, top_k: usize) -> Vec<(usize, u32)> {
        let mut found: Vec<(usize, u32)> = Vec::new();
        for (j, &skill) in needs.skills.iter().enumerate() {
            for &tool in self.ranked[skill].iter().take(top_k) {
                match found.iter_mut().find(|(known, _)| *known == tool) {
                    Some((_, set)) => *set |= 1 << j,
                    None => found.push((tool, 1 << j)),
                }
            }
        }
        found
    }

    /// Everything the chosen tools can do together.
    pub fn able(&self, chosen: &[usize]) -> u32 {
        chosen.iter().fold(0, |able, &tool| able | self.tools[tool].able)
    }

    pub fn cost(&self, chosen: &[usize]) -> f64 {
        chosen.iter().map(|&tool| self.tools[tool].cost).sum()
    }
}

impl Needs {
    /// Between two and five different skills with whole weights 1 to 3.
    pub fn draw(skills: usize, stream: &mut Stream) -> Self {
        let count = 2 + stream.below(4) as usize;
        let mut all: Vec<usize> = (0..skills).collect();
        stream.shuffle(&mut all);
        let mut needs: Vec<(usize, f64)> =
            all.into_iter().take(count).map(|skill| (skill, 1.0 + stream.below(3) as f64)).collect();
        needs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (skills, weights) = needs.into_iter().unzip();
        Self { skills, weights }
    }

    /// Which of the needs these skills cover (bit j: need j).
    pub fn covered(&self, able: u32) -> u32 {
        let needs = self.skills.iter().enumerate();
        needs.filter(|(_, skill)| able >> **skill & 1 == 1).fold(0, |set, (j, _)| set | 1 << j)
    }

    pub fn all(&self) -> u32 {
        (1 << self.skills.len()) - 1
    }

    /// The weight of a set of needs.
    pub fn weight(&self, set: u32) -> f64 {
        self.weights.iter().enumerate().filter(|(j, _)| set >> j & 1 == 1).map(|(_, w)| w).sum()
    }
}

/// One to three skills outside `except`.
fn some_skills(skills: usize, except: u32, stream: &mut Stream) -> u32 {
    let mut free: Vec<usize> = (0..skills).filter(|skill| except >> skill & 1 == 0).collect();
    stream.shuffle(&mut free);
    let count = 1 + stream.below(3) as usize;
    free.into_iter().take(count).fold(0, |set, skill| set | 1 << skill)
}

fn description(claim: u32, skills: usize, stream: &mut Stream) -> Vec<bool> {
    let mut words = vec![false; skills * WORDS_PER_SKILL + COMMON_WORDS];
    let mut tell = |from: usize, of: usize, count: usize| {
        let mut places: Vec<usize> = (from..from + of).collect();
        stream.shuffle(&mut places);
        places.into_iter().take(count).for_each(|place| words[place] = true);
    };
    for skill in (0..skills).filter(|skill| claim >> skill & 1 == 1) {
        tell(skill * WORDS_PER_SKILL, WORDS_PER_SKILL, WORDS_TOLD);
    }
    tell(skills * WORDS_PER_SKILL, COMMON_WORDS, COMMON_TOLD);
    words
}

fn one_word_changed(words: &[bool], stream: &mut Stream) -> Vec<bool> {
    let mut words = words.to_vec();
    let common = words.len() - COMMON_WORDS;
    let at = common + stream.below(COMMON_WORDS as u64) as usize;
    words[at] = !words[at];
    words
}

fn rank(tools: &[Tool], skill: usize) -> Vec<usize> {
    let query = skill * WORDS_PER_SKILL..(skill + 1) * WORDS_PER_SKILL;
    // The cosine of the two bags, up to the length of the query, which is the same for all.
    let similarity = |tool: &Tool| {
        let shared = tool.words[query.clone()].iter().filter(|told| **told).count() as f64;
        shared / (tool.words.iter().filter(|told| **told).count().max(1) as f64).sqrt()
    };
    let mut order: Vec<(usize, f64)> = tools.iter().map(similarity).enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.retain(|(_, similarity)| *similarity > 0.0);
    order.into_iter().map(|(tool, _)| tool).collect()
}
