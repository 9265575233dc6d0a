//! A sale: a customer with a need, a purse, doubts and patience, and a seller with eight kinds of acts. The law of the world
//! `sale`, as a simulation.

use merit_core::Stream;

const NEEDS: [&str; 5] = ["speed", "room", "looks", "ease", "heat"];
/// What a customer may doubt, each with the act that settles it.
const DOUBTS: [(&str, &str); 4] =
    [("who-says", "prove"), ("not-now", "wait"), ("too-big", "swap"), ("too-dear", "cut")];
const MAX_CASH: u32 = 6;

/// What a seller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// For the need (0) or the cash (1).
    Ask(usize),
    /// A need by its place.
    Show(usize),
    Bid(u32),
    /// A doubt by its place.
    Settle(usize),
    Close,
}

impl Act {
    pub fn all() -> Vec<Self> {
        let ask = (0..2).map(Self::Ask);
        let show = (0..NEEDS.len()).map(Self::Show);
        let settle = (0..DOUBTS.len()).map(Self::Settle);
        ask.chain(show).chain((1..=MAX_CASH).map(Self::Bid)).chain(settle).chain([Self::Close]).collect()
    }

    pub fn word(self) -> String {
        match self {
            Self::Ask(0) => "ask-need".into(),
            Self::Ask(_) => "ask-cash".into(),
            Self::Show(need) => format!("show-{}", NEEDS.get(need).copied().unwrap_or_default()),
            Self::Bid(price) => format!("bid-{price}"),
            Self::Settle(doubt) => DOUBTS.get(doubt).map_or("", |(_, act)| *act).into(),
            Self::Close => "close".into(),
        }
    }

    /// One of the eight kinds, and one of that kind.
    fn any(stream: &mut Stream) -> Self {
        match stream.below(8) {
            0 => Self::Ask(stream.below(2) as usize),
            1 => Self::Show(stream.below(NEEDS.len() as u64) as usize),
            2 => Self::Bid(1 + stream.below(u64::from(MAX_CASH)) as u32),
            3 => Self::Close,
            doubt => Self::Settle(doubt as usize - 4),
        }
    }
}

/// A customer, hidden from the seller, and how far the talk has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talk {
    /// The place of the need.
    pub need: usize,
    /// What the customer can pay.
    pub cash: u32,
    /// Places in `DOUBTS`, in the order in which they come up.
    pub doubts: Vec<usize>,
    /// Acts after which the customer leaves.
    pub patience: u32,
    /// Whether need and cash are known to the seller.
    pub known: [bool; 2],
    shown: bool,
    bid: u32,
    settled: usize,
    slips: u32,
    acts: u32,
    /// Every word so far, acts and answers.
    pub said: Vec<String>,
    /// How many of them are the last answer.
    pub answer: usize,
}

impl Talk {
    /// A customer with up to three doubts, who may tell need and cash at once, and who has two to six acts to spare.
    pub fn new(stream: &mut Stream) -> Self {
        let mut doubts: Vec<usize> = (0..DOUBTS.len()).collect();
        stream.shuffle(&mut doubts);
        doubts.truncate(stream.below(4) as usize);
        let known = [stream.chance(0.5), stream.chance(0.5)];
        let least = 3 + doubts.len() as u32 + known.iter().map(|known| u32::from(!known)).sum::<u32>();
        let mut talk = Self {
            need: stream.below(NEEDS.len() as u64) as usize,
            cash: stream.between(2, i64::from(MAX_CASH)) as u32,
            patience: least + stream.between(2, 6) as u32,
            doubts,
            known,
            shown: false,
            bid: 0,
            settled: 0,
            slips: 0,
            acts: 0,
            said: Vec::new(),
            answer: 0,
        };
        talk.said = (0..2).filter(|fact| known[*fact]).map(|fact| talk.fact(fact)).collect();
        talk.answer = talk.said.len();
        talk
    }

    fn fact(&self, fact: usize) -> String {
        if fact == 0 { format!("need-{}", NEEDS[self.need]) } else { format!("cash-{}", self.cash) }
    }

    /// A bid that is neither more than they have nor suspiciously low.
    fn takes(&self, bid: u32) -> bool {
        bid == self.cash || bid + 1 == self.cash
    }

    /// The doubt on the customer's mind; they have none before something was shown.
    fn doubt(&self) -> Option<usize> {
        self.doubts.get(self.settled).copied().filter(|_| self.shown)
    }

    /// The chance of a deal if it is closed now: a logistic function of
    ///   -1.5 + 2 where the need was shown + 3.5 where the bid is fair - 2.5 for each open doubt - 0.4 for each slip
    pub fn chance(&self) -> f64 {
        let open = (self.doubts.len() - self.settled) as f64;
        let x = -1.5 + 2.0 * f64::from(self.shown) + 3.5 * f64::from(self.takes(self.bid))
            - 2.5 * open
            - 0.4 * f64::from(self.slips);
        1.0 / (1.0 + (-x).exp())
    }

    /// Takes an act. The chance of a deal where the talk is over: closed, or out of patience, which is no deal.
    pub fn take(&mut self, act: Act) -> Option<f64> {
        if act == Act::Close {
            return Some(self.chance());
        }
        let (word, slip) = match act {
            Act::Ask(fact) => (self.fact(fact), std::mem::replace(&mut self.known[fact.min(1)], true)),
            Act::Show(need) if need == self.need => ("nice".into(), std::mem::replace(&mut self.shown, true)),
            Act::Bid(bid) => {
                let slip = self.takes(self.bid) || !self.takes(bid);
                self.bid = bid;
                let word = if bid > self.cash { "too-much" } else { "odd" };
                (if self.takes(bid) { "fine" } else { word }.into(), slip)
            }
            Act::Settle(doubt) if self.doubt() == Some(doubt) => {
                self.settled += 1;
                ("ok".into(), false)
            }
            Act::Show(_) | Act::Settle(_) | Act::Close => ("so-what".into(), true),
        };
        self.slips += u32::from(slip);
        self.acts += 1;
        let doubt = self.doubt().map(|doubt| DOUBTS[doubt].0.to_owned());
        self.answer = 1 + usize::from(doubt.is_some());
        self.said.extend([act.word(), word].into_iter().chain(doubt));
        (self.acts >= self.patience).then_some(0.0)
    }

    /// What a seller does: with chance `skill` the next act of a right talk, as far as it can be known; otherwise any act.
    pub fn usual(&self, skill: f64, stream: &mut Stream) -> Act {
        if !stream.chance(skill) {
            return Act::any(stream);
        }
        match self.doubt() {
            _ if !self.known[0] => Act::Ask(0),
            _ if !self.known[1] => Act::Ask(1),
            _ if !self.shown => Act::Show(self.need),
            _ if !self.takes(self.bid) => Act::Bid(self.cash),
            Some(doubt) => Act::Settle(doubt),
            None => Act::Close,
        }
    }

    /// The fixed script: asks for both, shows, bids, closes, whatever is said.
    pub fn script(&self) -> Act {
        match self.acts {
            0 => Act::Ask(0),
            1 => Act::Ask(1),
            2 => Act::Show(self.need),
            3 => Act::Bid(self.cash),
            _ => Act::Close,
        }
    }
}
