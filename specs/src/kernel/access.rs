//! Accesses to memory of the group, as readers of compiled notations hand them over.

use super::argument::Argument;

/// An access to memory of the group by each lane that executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) touch: Touch,
    /// `None` if it is not followed.
    pub(crate) address: Option<Argument>,
    /// The address may be one of other memory as well.
    pub(crate) is_generic: bool,
    /// What a lane accesses from its address on.
    pub(crate) bytes: Bytes,
    /// What is written, if it is one value, and the bytes of each.
    pub(crate) value: Option<(Argument, u32)>,
    /// The lanes whose addresses count.
    pub(crate) lanes: u32,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Touch {
    Read,
    Write,
    /// A read that does not race with other accesses of its kind: volatile, relaxed, acquire.
    StrongRead,
    /// A write of this kind, or one that depends on what was there.
    StrongWrite,
    /// A write by a copy, some time before its thread has waited for it.
    Fill,
    /// A write by a copy, some time before its bytes are complete on an mbarrier object.
    Land,
    /// A read by a copy, some time before its thread has waited for it.
    Drain,
}

/// Who makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Threads,
    Fills,
    Landings,
    Drains,
}

impl Touch {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::StrongWrite | Self::Fill | Self::Land)
    }

    /// Who makes it: a copy races with its own thread, too.
    pub(crate) fn by(self) -> By {
        match self {
            Self::Read | Self::Write | Self::StrongRead | Self::StrongWrite => By::Threads,
            Self::Fill => By::Fills,
            Self::Land => By::Landings,
            Self::Drain => By::Drains,
        }
    }

    /// Whether its thread waits for it by the groups of copies that it has made.
    pub(crate) fn is_of_group(self) -> bool {
        matches!(self, Self::Fill | Self::Drain)
    }

    pub(crate) fn is_strong(self) -> bool {
        matches!(self, Self::StrongRead | Self::StrongWrite)
    }
}

/// How many bytes an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    These(u32),
    /// As many as this says.
    Said(Argument),
    /// These and perhaps more.
    AtLeast(u32),
}

impl Access {
    /// An access of which nothing is known but how.
    pub(crate) fn unknown(touch: Touch, is_generic: bool) -> Self {
        Self { touch, address: None, is_generic, bytes: Bytes::These(0), value: None, lanes: u32::MAX }
    }

    /// All that it is made of.
    pub(super) fn operands(&self) -> impl Iterator<Item = Argument> {
        let said = match self.bytes {
            Bytes::Said(bytes) => Some(bytes),
            Bytes::These(_) | Bytes::AtLeast(_) => None,
        };
        self.address.into_iter().chain(self.value.map(|(value, _)| value)).chain(said)
    }
}
