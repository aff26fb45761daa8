//! Positions: in the tables of a program, and in the text that it was read from.

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this index belongs to.
            #[must_use]
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The index of position `index`.
            ///
            /// # Panics
            /// If `index` exceeds 32 bits; tables are bounded long before.
            #[must_use]
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("tables hold fewer than 2^32 entries"))
            }
        }
    };
}

index_type!(
    /// An agent of the group: a warp, a hardware thread, an invocation or a subgroup.
    AgentId
);
index_type!(
    /// A role: agents that run the same block of the protocol. Indexes
    /// [`Program::roles`](super::Program::roles).
    RoleId
);
index_type!(
    /// A memory location: one element of an [`Array`](super::Array), numbered over all arrays.
    LocationId
);
index_type!(
    /// An array of locations. Indexes [`Program::arrays`](super::Program::arrays).
    ArrayId
);
index_type!(
    /// An array of mbarrier objects, or a single one. Indexes [`Program::objects`](super::Program::objects).
    ObjectsId
);
index_type!(
    /// A local variable, register or handle of a role. Indexes [`Code::locals`](super::Code::locals).
    LocalId
);
index_type!(
    /// A branch or loop of a role. Indexes [`Code::constructs`](super::Code::constructs).
    ConstructId
);
index_type!(
    /// A position in a role's code. Indexes [`Code::ops`](super::Code::ops).
    Pc
);
index_type!(
    /// A sequence of decisions that all agents make alike. Indexes
    /// [`Program::sequences`](super::Program::sequences).
    SequenceId
);

/// A place in the text that a program was read from: line and column from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1; 0 where there is no text.
    pub line: u32,
    /// Column, from 1, in Unicode scalar values.
    pub column: u32,
    /// Length in characters of the marked text, up to the end of the line at most.
    pub length: u32,
}
