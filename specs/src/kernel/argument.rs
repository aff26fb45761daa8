//! What instructions of a kernel take.

/// A register: a position in `Code::registers`.
pub(crate) type Register = u32;

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Argument {
    Register(Register),
    /// A known number, the same for all.
    Number(u64),
    /// The index of a thread or the like: known for each lane of each warp.
    Index(Index),
    /// Unknown, and the same for the whole group: a position in `Code::names`.
    Same(u32),
}

/// What is known of a thread when the size of the group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Index {
    /// In direction 0, 1 or 2.
    Thread(u8),
    Lane,
    /// The position of its group in the cluster, in direction 0, 1 or 2.
    Group(u8),
    /// The same as one number, along the first direction first.
    Rank,
    /// The bits of the lanes that compare so with this one.
    Mask(Comparison),
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// What holds when this does not.
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// What holds of two numbers that have changed places when this holds.
    pub(crate) fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }

    /// As programs write it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}
