//! What a rule says of the credit that it writes, in properties that any rule may combine.
//!
//! `conformance` checks each of them by itself, and the checks of recipes ask for them; nobody asks which rule it is. A rule says the most
//! that holds for it: what it leaves out is not checked.

/// What holds for the credit of a rule. Begin with the grain ([`Properties::by_episode`], [`by_turn`](Self::by_turn),
/// [`by_token`](Self::by_token)) and say what differs.
///
/// ```
/// use merit_credit::{Differs, Properties, ZeroSum};
/// // What a turn earned and all that follows, against the same turn of the others: what is paid late reaches the turns before it.
/// let properties = Properties { pay_stays: false, ..Properties::by_turn() };
/// assert_eq!(properties.zero_sum, ZeroSum::SameTurn);
/// assert!(properties.learns_from(Differs::TurnRewards));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    pub grain: Grain,
    /// Which advantages sum to 0.
    pub zero_sum: ZeroSum,
    /// It holds members of a group against each other: a group in which nothing differs gets exactly 0, and so does a member alone.
    pub compares_members: bool,
    /// What a turn is paid reaches that turn alone: where members are paid the same at a turn, nothing that others of their turns are paid
    /// tells them apart there.
    pub pay_stays: bool,
    /// What it learns from: where only one of these differs it does not write 0 everywhere.
    pub learns_from: &'static [Differs],
}

/// What shares one advantage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// The trained tokens of an episode.
    Episode,
    /// The trained tokens of a turn.
    Turn,
    /// Nothing: every token may have its own.
    Token,
}

impl Grain {
    /// The word for one of what shares an advantage.
    pub fn word(self) -> &'static str {
        match self {
            Self::Episode => "episode",
            Self::Turn => "turn",
            Self::Token => "token",
        }
    }
}

/// Which advantages sum to 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroSum {
    /// None of them have to.
    Nothing,
    /// Those of the members of a group, one each.
    Members,
    /// Those of one turn of the members of a group, where all of them reach it.
    SameTurn,
    /// Those of all turns of a group whose members have as many. The turns of one episode are held against each other too.
    Turns,
    /// Those of all trained tokens of the batch.
    Batch,
}

/// Something in which what a rule is given may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differs {
    /// The rewards of the members of a group, all of it paid at the end.
    Rewards,
    /// What their turns are paid.
    TurnRewards,
    /// What terms of the reward say of their turns, though all are paid the same.
    TurnTerms,
    /// What annotations that the rule needs say of their turns.
    TurnAnnotations,
    /// The rewards of branches of one tree, turn by turn: branches are told apart where they part, and a turn that several share is judged
    /// by all of them.
    Branches,
    /// What a value head says of their tokens.
    Values,
    /// The rewards of continuations from their turns.
    Continuations,
}

impl Differs {
    /// Words for the findings of the conformance check: `where only … differ`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rewards => "rewards at the end",
            Self::TurnRewards => "what turns are paid",
            Self::TurnTerms => "what terms say of turns",
            Self::TurnAnnotations => "what annotations say of turns",
            Self::Branches => "what branches of a tree earn",
            Self::Values => "the values of a value head",
            Self::Continuations => "what continuations earn",
        }
    }
}

impl Properties {
    /// One advantage for an episode: its reward against the other members of its group.
    pub const fn by_episode() -> Self {
        Self {
            grain: Grain::Episode,
            zero_sum: ZeroSum::Members,
            compares_members: true,
            pay_stays: false,
            learns_from: &[Differs::Rewards],
        }
    }

    /// One advantage for a turn: what it is paid against the same turn of the other members.
    pub const fn by_turn() -> Self {
        Self {
            grain: Grain::Turn,
            zero_sum: ZeroSum::SameTurn,
            compares_members: true,
            pay_stays: true,
            learns_from: &[Differs::Rewards, Differs::TurnRewards],
        }
    }

    /// An advantage for every token, of the reward that is still to come; nobody is compared.
    pub const fn by_token() -> Self {
        Self {
            grain: Grain::Token,
            zero_sum: ZeroSum::Nothing,
            compares_members: false,
            pay_stays: false,
            learns_from: &[Differs::Rewards],
        }
    }

    /// Whether it learns where only this differs.
    pub fn learns_from(&self, differs: Differs) -> bool {
        self.learns_from.contains(&differs)
    }
}
