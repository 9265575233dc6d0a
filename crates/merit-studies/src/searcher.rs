//! A searcher: it asks, reads ten pages at a time, follows links, and answers with the page that meets the most of a question.
//!
//! In: an encyclopaedia, a question, a policy over moves, a number of queries. Out: what it answered, what it read and its
//! decisions. What it knows of an entity is what stands on pages that it has read.

use crate::StudyError;
use crate::chooser::{Choice, Chooser};
use crate::questions::{Cue, Question, Test};
use crate::worlds::encyclopaedia::{CLASSES, Encyclopaedia, OF_A_CLASS, VALUES, name, value};
use merit_core::Stream;

/// Links that one query follows.
const AT_ONCE: usize = 5;

/// A question as unknowns, what is said of each, and relations between them. Unknown 0 is the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inquiry {
    pub tests: Vec<Vec<Test>>,
    /// From, relation, to.
    pub links: Vec<(usize, usize, usize)>,
}

impl Inquiry {
    pub fn of(question: &Question) -> Self {
        let mut inquiry = Self { tests: vec![Vec::new()], links: Vec::new() };
        question.cues.iter().for_each(|cue| inquiry.add(cue));
        inquiry
    }

    fn unknown(&mut self) -> usize {
        self.tests.push(Vec::new());
        self.tests.len() - 1
    }

    fn add(&mut self, cue: &Cue) {
        match cue {
            Cue::Own(test) => self.tests[0].push(*test),
            Cue::Via(relation, test) => {
                let known =
                    self.links.iter().find(|link| link.0 == 0 && link.1 == *relation).map(|link| link.2);
                let to = known.unwrap_or_else(|| {
                    let to = self.unknown();
                    self.links.push((0, *relation, to));
                    to
                });
                self.tests[to].push(*test);
            }
            Cue::Path { start, relations } => {
                let mut to = 0;
                for relation in relations.iter().rev() {
                    let from = self.unknown();
                    self.links.push((from, *relation, to));
                    to = from;
                }
                self.tests[to].push(Test::Name(*start));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// Search the question as it stands.
    Literal,
    /// Search what is said of an unknown, class words replaced by their members.
    Seek(usize),
    /// Look up where candidates of a link's beginning lead.
    Follow(usize),
    /// Search for pages that name candidates of a link's end.
    Back(usize),
    Answer,
}

/// What came of one search.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    pub answer: Option<usize>,
    /// Pages in the order they were read.
    pub read: Vec<usize>,
    pub path: Vec<Choice>,
    pub queries: usize,
}

/// One search under way.
struct Search<'a> {
    book: &'a Encyclopaedia,
    question: &'a Question,
    inquiry: Inquiry,
    read: Vec<usize>,
    known: Vec<bool>,
    /// Searches so far: the literal one, then one for each unknown.
    times: Vec<usize>,
    /// Candidates already followed or searched for, by link.
    followed: Vec<Vec<usize>>,
    back: Vec<Vec<usize>>,
}

/// Plays a policy on a question with at most `most` queries.
pub fn search(
    policy: &Chooser,
    book: &Encyclopaedia,
    question: &Question,
    most: usize,
    greedy: bool,
    stream: &mut Stream,
) -> Result<Trail, StudyError> {
    let inquiry = Inquiry::of(question);
    let links = inquiry.links.len();
    let mut at = Search {
        book,
        question,
        times: vec![0; inquiry.tests.len() + 1],
        inquiry,
        read: Vec::new(),
        known: vec![false; book.entities()],
        followed: vec![Vec::new(); links],
        back: vec![Vec::new(); links],
    };
    let mut trail = Trail::default();
    while trail.queries < most {
        let moves = at.moves();
        let features = moves.iter().map(|chosen| at.features(*chosen)).collect();
        let choice = policy.choose(features, greedy, stream);
        let chosen = moves[choice.chosen];
        trail.path.push(choice);
        if chosen == Move::Answer {
            break;
        }
        at.make(chosen)?;
        trail.queries += 1;
    }
    trail.answer = at.best();
    trail.read = at.read;
    Ok(trail)
}

impl Search<'_> {
    fn moves(&self) -> Vec<Move> {
        let said = (0..self.inquiry.tests.len()).filter(|unknown| !self.inquiry.tests[*unknown].is_empty());
        let links = 0..self.inquiry.links.len();
        let follow = links.clone().filter(|at| !self.candidates(self.inquiry.links[*at].0).is_empty());
        let back = links.filter(|at| !self.candidates(self.inquiry.links[*at].2).is_empty());
        let moves = [Move::Literal].into_iter().chain(said.map(Move::Seek));
        moves.chain(follow.map(Move::Follow)).chain(back.map(Move::Back)).chain([Move::Answer]).collect()
    }

    fn make(&mut self, chosen: Move) -> Result<(), StudyError> {
        let found = match chosen {
            Move::Answer => return Ok(()),
            Move::Literal => {
                self.times[0] += 1;
                self.book.search(&self.question.text(), self.times[0] - 1)?
            }
            Move::Seek(unknown) => {
                self.times[unknown + 1] += 1;
                let words: Vec<String> = self.inquiry.tests[unknown].iter().map(members).collect();
                self.book.search(&words.join(" "), self.times[unknown + 1] - 1)?
            }
            Move::Follow(link) => {
                let open = self.to_follow(link);
                let (_, relation, _) = self.inquiry.links[link];
                let names = open.iter().map(|page| name(self.book.links[*page][relation])).collect();
                self.followed[link].extend(&open);
                self.look_up(names)?
            }
            Move::Back(link) => {
                let open = self.to_search_back(link);
                let names = open.iter().map(|page| name(*page)).collect();
                self.back[link].extend(&open);
                self.look_up(names)?
            }
        };
        for page in found {
            if !std::mem::replace(&mut self.known[page], true) {
                self.read.push(page);
            }
        }
        Ok(())
    }

    fn look_up(&self, names: Vec<String>) -> Result<Vec<usize>, StudyError> {
        if names.is_empty() { Ok(Vec::new()) } else { self.book.search(&names.join(" "), 0) }
    }

    /// Candidates whose link leads to a page that has not been read, a handful.
    fn to_follow(&self, link: usize) -> Vec<usize> {
        let (from, relation, _) = self.inquiry.links[link];
        let unread = |page: &usize| !self.known[self.book.links[*page][relation]];
        let open = self.candidates(from).into_iter().filter(unread);
        open.filter(|page| !self.followed[link].contains(page)).take(AT_ONCE).collect()
    }

    fn to_search_back(&self, link: usize) -> Vec<usize> {
        let open = self.candidates(self.inquiry.links[link].2).into_iter();
        open.filter(|page| !self.back[link].contains(page)).take(AT_ONCE).collect()
    }

    /// Pages read that may be an unknown: what is said of it holds, no link that can be checked refutes it, and where nothing is
    /// said a candidate leads to it.
    fn candidates(&self, unknown: usize) -> Vec<usize> {
        let led_to = || {
            let into = self.inquiry.links.iter().filter(|link| link.2 == unknown);
            into.flat_map(|(from, relation, _)| {
                self.candidates(*from).into_iter().map(|page| self.book.links[page][*relation])
            })
        };
        let said = !self.inquiry.tests[unknown].is_empty();
        let led: Vec<usize> = if said { Vec::new() } else { led_to().collect() };
        // Where no link leads to an answer, it may be anybody whose own links hold.
        let free = !said && self.inquiry.links.iter().all(|link| link.2 != unknown);
        let may_be = |page: &usize| {
            let supported = said || free || led.contains(page);
            supported
                && self.fits(unknown, *page)
                && self.checked(unknown, *page).iter().all(|held| *held != Some(false))
        };
        self.read.iter().copied().filter(may_be).collect()
    }

    fn fits(&self, unknown: usize, page: usize) -> bool {
        self.inquiry.tests[unknown].iter().all(|test| test.holds(self.book, page))
    }

    /// Whether each link from an unknown holds for a page, where that can be told from pages that were read.
    fn checked(&self, unknown: usize, page: usize) -> Vec<Option<bool>> {
        let from = self.inquiry.links.iter().filter(|link| link.0 == unknown);
        let held = |(_, relation, to): &(usize, usize, usize)| {
            let tests = &self.inquiry.tests[*to];
            let end = self.book.links[page][*relation];
            // A person who is named is named on the page itself.
            let by_name = tests.iter().all(|test| matches!(test, Test::Name(_)));
            (!tests.is_empty() && (by_name || self.known[end])).then(|| self.fits(*to, end))
        };
        from.map(held).collect()
    }

    /// How many links hold for a page for certain, and whether all do.
    fn certain(&self, page: usize) -> (usize, bool) {
        let links = self.checked(0, page);
        let held = links.iter().filter(|held| **held == Some(true)).count();
        (held, held == links.len())
    }

    /// The candidate with the most links that hold, the first of these that was read.
    fn best(&self) -> Option<usize> {
        let certain = self.candidates(0).into_iter().map(|page| (page, self.certain(page).0));
        certain.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(page, _)| page)
    }

    fn features(&self, chosen: Move) -> Vec<usize> {
        match chosen {
            Move::Literal => vec![LITERAL + self.times[0].min(1)],
            Move::Seek(unknown) => {
                let expected = self.book.entities() as f64
                    * self.inquiry.tests[unknown].iter().map(|test| share(test, self.book)).product::<f64>();
                let often = match self.times[unknown + 1] {
                    0 => 0,
                    1 => 1,
                    2 | 3 => 2,
                    _ => 3,
                };
                let rare = [1.5, 20.0, 200.0].iter().filter(|bound| expected > **bound).count();
                vec![SEEK + usize::from(unknown == 0), SEEK + 2 + rare, SEEK + 6 + often]
            }
            Move::Follow(link) => self.link_features(FOLLOW, link, self.to_follow(link).len()),
            Move::Back(link) => self.link_features(BACK, link, self.to_search_back(link).len()),
            Move::Answer => {
                let candidates = self.candidates(0);
                let sure = self.best().is_some_and(|page| self.certain(page).1);
                let many = match candidates.len() {
                    0 => 0,
                    1 => 1,
                    2..=5 => 2,
                    _ => 3,
                };
                vec![ANSWER + 4 * usize::from(sure) + many]
            }
        }
    }

    fn link_features(&self, base: usize, link: usize, open: usize) -> Vec<usize> {
        let (from, _, to) = self.inquiry.links[link];
        let open = if open == 0 { 0 } else { 1 + usize::from(open == AT_ONCE) };
        let end = if from == 0 { 0 } else { 1 + usize::from(to == 0) };
        vec![base + open, base + 3 + end]
    }
}

const LITERAL: usize = 0;
const SEEK: usize = 2;
const FOLLOW: usize = SEEK + 10;
const BACK: usize = FOLLOW + 6;
const ANSWER: usize = BACK + 6;
/// Features of a move.
pub const FEATURES: usize = ANSWER + 8;

/// The words to search for: a class by its members.
fn members(test: &Test) -> String {
    match *test {
        Test::Value { attribute, value: v } => value(attribute, v),
        Test::Class { attribute, class } => {
            let words = (0..OF_A_CLASS).map(|at| value(attribute, class * OF_A_CLASS + at));
            words.collect::<Vec<_>>().join(" ")
        }
        Test::Name(entity) => name(entity),
    }
}

/// The share of entities that a test is expected to leave.
fn share(test: &Test, book: &Encyclopaedia) -> f64 {
    match test {
        Test::Value { .. } => 1.0 / VALUES as f64,
        Test::Class { .. } => 1.0 / CLASSES as f64,
        Test::Name(_) => 1.0 / book.entities() as f64,
    }
}

/// A searcher by rule: it seeks what is rare, follows every link that is open, goes on to further pages, and answers when it is
/// sure. At `skill` 1 it rarely strays, at 0 it moves at random.
pub fn scripted(skill: f64) -> Chooser {
    let mut policy = Chooser::new(FEATURES);
    let mut set = |feature: usize, weight: f64| policy.weights[feature] = skill * weight;
    set(LITERAL, -8.0);
    set(LITERAL + 1, -8.0);
    [(1, 4.0), (2, 4.0), (3, 2.0), (5, -4.0), (6, 4.0), (7, 0.0), (8, 0.0), (9, -1.0)]
        .iter()
        .for_each(|(at, weight)| set(SEEK + at, *weight));
    [(0, -20.0), (1, 8.0), (2, 9.0)].iter().for_each(|(at, weight)| set(FOLLOW + at, *weight));
    set(FOLLOW + 5, 4.0);
    (0..6).for_each(|at| set(BACK + at, -8.0));
    [-20.0, -4.0, -6.0, -8.0, -20.0, 20.0, 16.0, 16.0]
        .iter()
        .enumerate()
        .for_each(|(at, weight)| set(ANSWER + at, *weight));
    policy
}
