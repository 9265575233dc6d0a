//! Pages of a shop on the web: the ground of `site`.
//!
//! Two mirrors lead to the same sections; a section lists its goods by hue, two on a page; each good has a form. Pages of a section
//! behind one mirror may be blocked: loading one ends the episode, and the page before does not tell. What is wanted: the right good, its
//! fields as told, sent. A page that is left forgets its form. Some sites have a number: a name, shelves that never change, and a last
//! page that repeats the order. On such a site a wish may name what is not there.

use super::ground::{AtFirst, Ground, Heard, Reply};
use super::tour::{Errands, Stop};
use merit_api::Derived;
use merit_core::{Seed, Stream};
use serde::{Deserialize, Serialize};

pub const MIRRORS: [&str; 2] = ["east", "west"];
pub const SECTIONS: [&str; 4] = ["shop", "club", "bank", "park"];
pub const HUES: [&str; 2] = ["red", "blue"];
pub const GOODS: [&str; 16] = [
    "cup", "hat", "pen", "ball", "book", "jar", "plate", "fork", "cloth", "lamp", "coat", "shoe", "ring",
    "drum", "kite", "sled",
];
pub const FIELDS: [(&str, [&str; 5]); 4] = [
    ("size", ["tiny", "small", "mid", "big", "huge"]),
    ("wood", ["oak", "pine", "elm", "ash", "fir"]),
    ("shape", ["round", "square", "flat", "long", "bent"]),
    ("trim", ["plain", "bold", "fine", "soft", "rough"]),
];
/// The names of the sites with a number.
pub const SITES: [&str; 12] =
    ["mill", "lake", "hill", "moor", "glen", "cove", "dune", "reef", "vale", "crag", "ford", "isle"];
/// Pages of goods of a hue, and goods of a page.
const PAGES: usize = 2;
const ON_PAGE: usize = 2;
const OF_SECTION: usize = HUES.len() * PAGES * ON_PAGE;

const RUNNING: u8 = 0;
const SENT: u8 = 1;
const BLOCKED: u8 = 2;

/// A site and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// For each section the names of its goods: by hue, by page, in order.
    pub goods: Vec<[u8; OF_SECTION]>,
    /// For each section whether its page is blocked behind each mirror.
    pub blocked: Vec<[bool; 2]>,
    /// The order in which pages show their links.
    pub turned: bool,
    /// The wanted good: its section, and its place there.
    pub section: u8,
    pub good: u8,
    /// The wanted value of each field, from 1 on. 0: it does not matter.
    pub fields: [u8; 4],
    /// The number of the site. Absent: it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u8>,
    /// A wish for what is not there: section, hue and good as they are told. Absent: what is wanted is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<[u8; 3]>,
    /// What is true before the first act.
    #[serde(skip)]
    pub at_first: Derived<AtFirst>,
}

/// A page: the start, a mirror, a section behind a mirror, a list of goods, or the form of a good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Home,
    Mirror(usize),
    Section(usize, usize),
    /// Section and page among all of the section: hue, then page.
    List(usize, usize),
    Form(usize, usize),
}

impl Site {
    pub fn draw(sections: usize, fields: usize, rng: &mut Stream) -> Self {
        let mut names: [u8; GOODS.len()] = std::array::from_fn(|at| at as u8);
        let mut shelf = |rng: &mut Stream| {
            rng.shuffle(&mut names);
            std::array::from_fn(|at| names[at])
        };
        let goods: Vec<[u8; OF_SECTION]> = (0..sections).map(|_| shelf(rng)).collect();
        let turned = |rng: &mut Stream| rng.chance(0.5);
        Self::wish(goods, fields, rng, turned)
    }

    /// A wish on the site with a number.
    pub fn numbered(number: u8, sections: usize, fields: usize, rng: &mut Stream) -> Self {
        let mut fixed = Seed::root(u64::from(number)).child("site", 0).stream();
        let site = Self::draw(sections, 1, &mut fixed);
        Self { number: Some(number), ..Self::wish(site.goods, fields, rng, |_| site.turned) }
    }

    /// The same with a wish by somebody who knows no shelf: it names any section, hue and good.
    pub fn unknowing(mut self, rng: &mut Stream) -> Self {
        let [section, hue] = [SECTIONS.len(), HUES.len()].map(|count| rng.below(count as u64) as u8);
        let good = rng.below(GOODS.len() as u64) as u8;
        let of_hue = PAGES * ON_PAGE;
        let shelf = self.goods.get(usize::from(section));
        let there = shelf.and_then(|shelf| {
            shelf.iter().skip(usize::from(hue) * of_hue).take(of_hue).position(|name| *name == good)
        });
        match there {
            Some(place) => (self.section, self.good) = (section, hue * of_hue as u8 + place as u8),
            None => self.absent = Some([section, hue, good]),
        }
        self
    }

    fn wish(
        goods: Vec<[u8; OF_SECTION]>,
        fields: usize,
        rng: &mut Stream,
        turned: impl Fn(&mut Stream) -> bool,
    ) -> Self {
        let sections = goods.len();
        let section = rng.below(sections as u64) as u8;
        let mut order = [0, 1, 2, 3];
        rng.shuffle(&mut order);
        let asked = &order[..fields.min(FIELDS.len())];
        let fields = std::array::from_fn(|at| if asked.contains(&at) { 1 + rng.below(5) as u8 } else { 0 });
        let good = rng.below(OF_SECTION as u64) as u8;
        let (blocked, turned) = (vec![[false; 2]; sections], turned(rng));
        let (number, absent) = (None, None);
        Self { blocked, goods, turned, section, good, fields, number, absent, at_first: Derived::default() }
    }

    /// Blocks pages of sections behind mirrors, each with this chance.
    pub fn block(&mut self, chance: f64, rng: &mut Stream) {
        for (section, both) in self.blocked.iter_mut().enumerate() {
            *both = [rng.chance(chance), rng.chance(chance)];
            // One way to the wanted good stays open.
            if section == usize::from(self.section) && *both == [true, true] {
                both[rng.below(2) as usize] = false;
            }
        }
    }

    /// What is wrong with it; every number that is used as a place is checked here.
    pub fn check(&self) -> Result<(), String> {
        let sections = self.goods.len();
        let known = |wish: [u8; 3]| {
            let counts = [SECTIONS.len(), HUES.len(), GOODS.len()];
            wish.iter().zip(counts).all(|(place, count)| usize::from(*place) < count)
        };
        let sound = [
            ("goods", (1..=SECTIONS.len()).contains(&sections)),
            ("goods", self.goods.iter().flatten().all(|good| usize::from(*good) < GOODS.len())),
            ("blocked pages", self.blocked.len() == sections),
            ("wanted good", usize::from(self.section) < sections && usize::from(self.good) < OF_SECTION),
            ("number", self.number.is_none_or(|number| usize::from(number) < SITES.len())),
            ("absent wish", self.absent.is_none_or(|wish| self.number.is_some() && known(wish))),
            (
                "fields",
                self.fields.iter().all(|value| *value <= 5) && self.fields.iter().any(|value| *value > 0),
            ),
        ];
        match sound.iter().find(|(_, sound)| !sound) {
            Some((what, _)) => Err(format!("its {what} do not fit together")),
            None => Ok(()),
        }
    }

    fn page(&self, node: usize) -> Page {
        let sections = self.goods.len();
        let behind = 1 + MIRRORS.len();
        let lists = behind + MIRRORS.len() * sections;
        let forms = lists + sections * HUES.len() * PAGES;
        match node {
            0 => Page::Home,
            _ if node < behind => Page::Mirror(node - 1),
            _ if node < lists => Page::Section((node - behind) / sections, (node - behind) % sections),
            _ if node < forms => {
                let at = node - lists;
                Page::List(at / (HUES.len() * PAGES), at % (HUES.len() * PAGES))
            }
            _ => Page::Form((node - forms) / OF_SECTION, (node - forms) % OF_SECTION),
        }
    }

    fn place(&self, page: Page) -> usize {
        let sections = self.goods.len();
        let behind = 1 + MIRRORS.len();
        let lists = behind + MIRRORS.len() * sections;
        let forms = lists + sections * HUES.len() * PAGES;
        match page {
            Page::Home => 0,
            Page::Mirror(mirror) => 1 + mirror,
            Page::Section(mirror, section) => behind + mirror * sections + section,
            Page::List(section, list) => lists + section * HUES.len() * PAGES + list,
            Page::Form(section, good) => forms + section * OF_SECTION + good,
        }
    }

    fn pages(&self) -> usize {
        let sections = self.goods.len();
        1 + MIRRORS.len() + sections * (MIRRORS.len() + HUES.len() * PAGES + OF_SECTION)
    }

    fn good_name(&self, section: usize, good: usize) -> &'static str {
        let name = self.goods.get(section).and_then(|shelf| shelf.get(good)).copied();
        name.and_then(|name| GOODS.get(usize::from(name))).copied().unwrap_or_default()
    }

    /// Where a page leads, each with the line that goes there.
    fn links(&self, page: Page) -> Vec<(String, Page)> {
        let click = |name: &str, to: Page| (format!("click {name}"), to);
        let mut links: Vec<(String, Page)> = match page {
            Page::Home => (0..MIRRORS.len()).map(|one| click(MIRRORS[one], Page::Mirror(one))).collect(),
            Page::Mirror(mirror) => {
                let section = |one: usize| click(SECTIONS[one], Page::Section(mirror, one));
                (0..self.goods.len()).map(section).collect()
            }
            Page::Section(_, section) => {
                let hue = |hue: usize| (format!("pick {}", HUES[hue]), Page::List(section, hue * PAGES));
                (0..HUES.len()).map(hue).collect()
            }
            Page::List(section, list) => {
                let goods = list * ON_PAGE..(list + 1) * ON_PAGE;
                goods.map(|good| click(self.good_name(section, good), Page::Form(section, good))).collect()
            }
            Page::Form(..) => Vec::new(),
        };
        if self.turned {
            links.reverse();
        }
        match page {
            Page::List(section, list) if list % PAGES + 1 < PAGES => {
                links.push(("next".to_owned(), Page::List(section, list + 1)));
            }
            Page::List(section, list) => links.push(("prev".to_owned(), Page::List(section, list - 1))),
            _ => {}
        }
        if page != Page::Home {
            links.push(("home".to_owned(), Page::Home));
        }
        links
    }

    /// What a page shows: its name and its links.
    fn view(&self, page: Page) -> String {
        let name = match page {
            Page::Home => "home".to_owned(),
            Page::Mirror(mirror) => MIRRORS[mirror].to_owned(),
            Page::Section(_, section) => SECTIONS[section].to_owned(),
            Page::List(section, list) => format!("{} {}", SECTIONS[section], HUES[list / PAGES]),
            Page::Form(section, good) => return format!("{} form", self.good_name(section, good)),
        };
        let links = self.links(page);
        let shown = links.iter().filter(|(said, _)| said != "home");
        let shown: Vec<&str> = shown.map(|(said, _)| said.rsplit(' ').next().unwrap_or_default()).collect();
        format!("{name}: {}", shown.join(" "))
    }

    fn is_blocked(&self, page: Page) -> bool {
        match page {
            Page::Section(mirror, section) => self.blocked.get(section).is_some_and(|both| both[mirror]),
            _ => false,
        }
    }

    /// The page of the wanted good; what is not there is on no page.
    fn target(&self) -> usize {
        if self.absent.is_some() {
            return self.pages();
        }
        self.place(Page::Form(usize::from(self.section), usize::from(self.good)))
    }

    /// The words of what is wanted: section, hue and good.
    fn wanted(&self) -> [&'static str; 3] {
        let (section, good) = (usize::from(self.section), usize::from(self.good));
        match self.absent.map(|wish| wish.map(usize::from)) {
            Some([section, hue, good]) => [SECTIONS[section], HUES[hue], GOODS[good]],
            None => [SECTIONS[section], HUES[good / (PAGES * ON_PAGE)], self.good_name(section, good)],
        }
    }

    /// The good of a form and its fields, as the page after sending shows them.
    fn order(&self, cells: &[u8]) -> Option<(&'static str, Vec<u8>)> {
        let Page::Form(section, good) = self.page(self.node(cells)) else { return None };
        Some((self.good_name(section, good), cells[2..].to_vec()))
    }

    /// Whether a judge that sees only the last pages takes the order for what is wanted: the good and its fields, not where it was found.
    pub fn looks_right(&self, cells: &[u8]) -> bool {
        let alike = |(good, fields): (&str, Vec<u8>)| {
            let wanted = self.fields.iter().zip(fields).all(|(wanted, set)| *wanted == 0 || *wanted == set);
            good == self.wanted()[2] && wanted
        };
        cells[1] == SENT && self.order(cells).is_some_and(alike)
    }

    /// Fields with their values.
    fn told(fields: &[u8]) -> String {
        let field = |(at, value): (usize, &u8)| {
            let (name, values) = FIELDS.get(at)?;
            Some(format!("{name} {}", values.get(usize::from(*value).wrapping_sub(1))?))
        };
        fields.iter().enumerate().filter_map(field).collect::<Vec<_>>().join(", ")
    }

    /// Whether the policy was shut out.
    pub fn shut_out(&self, cells: &[u8]) -> bool {
        cells[1] == BLOCKED
    }

    /// The wanted fields that are right: they are, on the right form.
    fn right(&self, cells: &[u8]) -> Vec<bool> {
        let there = self.node(cells) == self.target();
        let wanted = (0..FIELDS.len()).filter(|field| self.fields[*field] > 0);
        wanted.map(|field| there && cells[2 + field] == self.fields[field]).collect()
    }
}

impl Ground for Site {
    /// The page, how it ended, and the value of each field of the form on that page.
    fn start(&self) -> Vec<u8> {
        vec![0; 2 + FIELDS.len()]
    }

    fn fits(&self, cells: &[u8]) -> bool {
        cells.len() == 2 + FIELDS.len()
            && usize::from(cells[0]) < self.pages()
            && cells[1] <= BLOCKED
            && cells[2..].iter().all(|value| *value <= 5)
    }

    fn act(&self, cells: &mut Vec<u8>, said: &str) -> Heard {
        let words: Vec<&str> = said.split_whitespace().collect();
        let page = self.page(self.node(cells));
        let on_form = matches!(page, Page::Form(..));
        let names = |name: &&str| [&MIRRORS[..], &SECTIONS, &GOODS].concat().contains(name);
        match words[..] {
            ["set", field, value] => {
                let Some(at) = FIELDS.iter().position(|(name, _)| *name == field) else {
                    return Heard::Unread;
                };
                let Some(value) = FIELDS[at].1.iter().position(|known| *known == value) else {
                    return Heard::Unread;
                };
                if !on_form || cells[2 + at] == 1 + value as u8 {
                    return Heard::Refused;
                }
                cells[2 + at] = 1 + value as u8;
            }
            ["send"] if on_form => cells[1] = SENT,
            ["send"] => return Heard::Refused,
            ["next" | "prev" | "home"] | ["click", _] | ["pick", _] => {
                let known = match words[..] {
                    ["click", name] => names(&name),
                    ["pick", hue] => HUES.contains(&hue),
                    _ => true,
                };
                let line = words.join(" ");
                let Some((_, to)) = self.links(page).into_iter().find(|(link, _)| *link == line) else {
                    return if known { Heard::Refused } else { Heard::Unread };
                };
                cells.fill(RUNNING);
                cells[0] = self.place(to) as u8;
                cells[1] = if self.is_blocked(to) { BLOCKED } else { RUNNING };
            }
            _ => return Heard::Unread,
        }
        Heard::Done
    }

    fn reply(&self, cells: &[u8], said: &str) -> Reply {
        let text = match cells[1] {
            BLOCKED => "blocked".to_owned(),
            SENT => match self.order(cells).filter(|_| self.number.is_some()) {
                Some((good, fields)) => format!("sent {good}: {}", Self::told(&fields)),
                None => "sent".to_owned(),
            },
            _ if said.trim_start().starts_with("set") => "ok".to_owned(),
            _ => self.view(self.page(self.node(cells))),
        };
        Reply { text, over: cells[1] != RUNNING }
    }

    fn prompt(&self, cells: &[u8]) -> String {
        let wanted = self.wanted().join(" ");
        let site = self.number.and_then(|number| SITES.get(usize::from(number)));
        let site = site.map_or_else(String::new, |name| format!("{name}. "));
        format!(
            "{site}want {wanted}: {}. {}",
            Self::told(&self.fields),
            self.view(self.page(self.node(cells)))
        )
    }

    fn roads(&self) -> Vec<Vec<usize>> {
        let open = |page: &Page| !self.is_blocked(*page);
        // Nothing leads out of a blocked page.
        let from = |node: usize| {
            let page = self.page(node);
            let links = if self.is_blocked(page) { Vec::new() } else { self.links(page) };
            links.into_iter().map(|(_, to)| to)
        };
        (0..self.pages()).map(|node| from(node).filter(open).map(|to| self.place(to)).collect()).collect()
    }

    fn road(&self, from: usize, to: usize) -> String {
        let mut links = self.links(self.page(from)).into_iter();
        links.find(|(_, page)| self.place(*page) == to).map_or_else(|| "home".to_owned(), |(said, _)| said)
    }

    fn node(&self, cells: &[u8]) -> usize {
        usize::from(cells[0])
    }

    fn errands(&self, cells: &[u8]) -> Errands {
        let node = self.target();
        let there = self.node(cells) == node;
        let wanted = (0..FIELDS.len()).filter(|at| self.fields[*at] > 0);
        let left = wanted.filter(|at| !there || cells[2 + *at] != self.fields[*at]);
        let chain = |at: usize| {
            let (name, values) = FIELDS[at];
            let value = values.get(usize::from(self.fields[at]).wrapping_sub(1)).copied().unwrap_or_default();
            vec![Stop { node, acts: vec![format!("set {name} {value}")] }]
        };
        let send = Stop { node, acts: vec!["send".to_owned()] };
        Errands { chains: left.map(chain).collect(), last: (cells[1] != SENT).then_some(send) }
    }

    fn facts(&self, cells: &[u8]) -> Vec<bool> {
        let right = self.right(cells);
        let sent = cells[1] == SENT && self.node(cells) == self.target();
        right.into_iter().chain([sent]).collect()
    }

    fn knows(&self, visited: &[bool], node: usize) -> bool {
        let was = |at: usize| visited.get(at).copied().unwrap_or_default();
        was(node)
            || (0..self.pages())
                .any(|at| was(at) && self.links(self.page(at)).iter().any(|(_, to)| self.place(*to) == node))
    }

    fn acts(&self, cells: &[u8]) -> Vec<String> {
        let page = self.page(self.node(cells));
        let mut acts: Vec<String> = self.links(page).into_iter().map(|(said, _)| said).collect();
        if matches!(page, Page::Form(..)) {
            acts.push("send".to_owned());
            acts.extend(
                FIELDS.iter().flat_map(|(name, values)| values.map(|value| format!("set {name} {value}"))),
            );
        }
        acts.retain(|act| self.act(&mut cells.to_vec(), act) == Heard::Done);
        acts
    }
}
