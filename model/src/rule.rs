//! The rules: what a violation is, how grave it is by default, and whether it ends a path.

use crate::program::Target;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Not reported.
    Allow,
    /// Reported only on request.
    Pedantic,
    /// Reported.
    Warning,
    /// Fails the run.
    Error,
}

impl Level {
    /// The level's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Pedantic => "pedantic",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A rule of the semantics.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $($(#[$doc])* $variant,)* }

        impl Rule {
            /// Every rule, in the order of their names.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that users type.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

// In the alphabetical order of the names, so that sorting by rule sorts by name.
rules! {
    /// More agents stand at an arrival than the generation has room for.
    ArrivalRace = "arrival-race",
    /// A PTX `arrive` without a positive thread count.
    ArriveNeedsCount = "arrive-needs-count",
    /// An `assert` fails.
    Assertion = "assertion",
    /// A barrier id that the hardware does not have.
    BarrierIdRange = "barrier-id-range",
    /// An XeGPU barrier initialised without having been allocated.
    BarrierNotAllocated = "barrier-not-allocated",
    /// Everybody has exited, and an arrival that a commit stands for has not landed.
    CommitAtExit = "commit-at-exit",
    /// Participants of one active barrier disagree on its counts.
    CountMismatch = "count-mismatch",
    /// A count that no execution could mean.
    CountRange = "count-range",
    /// Every agent has exited and a barrier still holds arrivals.
    DanglingArrival = "dangling-arrival",
    /// Two conflicting accesses that no barrier orders in time.
    DataRace = "data-race",
    /// No agent has a step and not all have exited.
    Deadlock = "deadlock",
    /// Everybody has exited, and a copy has not landed.
    InFlightAtExit = "in-flight-at-exit",
    /// A generation completes for a consumer that has not consumed the previous one.
    LostNotification = "lost-notification",
    /// An mbarrier object is initialised while it is in use, or invalidated while somebody waits.
    MbarrierLive = "mbarrier-live",
    /// An mbarrier object is used that is not initialised.
    MbarrierNotLive = "mbarrier-not-live",
    /// Ordered in time, but not in memory.
    MissingFence = "missing-fence",
    /// An agent exits between its arrival and its wait.
    MissingWait = "missing-wait",
    /// Reduction mixed with sync or arrive.
    MixedRed = "mixed-red",
    /// Two different reduction operators on one active barrier.
    MixedRedOp = "mixed-red-op",
    /// An arrival that must not complete its phase does.
    NoComplete = "no-complete",
    /// A generation completes with arrivals only.
    NobodyWaits = "nobody-waits",
    /// Agents meet in one generation from different dynamic instances.
    NonuniformBarrier = "nonuniform-barrier",
    /// More arrivals than a phase waits for.
    OverArrival = "over-arrival",
    /// More bytes than a phase waits for.
    OverDelivery = "over-delivery",
    /// A parity other than 0 and 1.
    ParityRange = "parity-range",
    /// An aligned barrier executed by part of a warp.
    PartialWarp = "partial-warp",
    /// A wait by a thread whose latest arrival was producer-only.
    ProducerWaits = "producer-waits",
    /// A register operand with bits that the hardware drops.
    RegisterTruncated = "register-truncated",
    /// What is aimed at another CTA comes there after that CTA has exited.
    RemoteAfterExit = "remote-after-exit",
    /// An agent arrives twice in one generation.
    RepeatedArrival = "repeated-arrival",
    /// Explicit-count use of PTX barrier 0.
    ReservedBarrier = "reserved-barrier",
    /// A reduction result is overwritten before it was fetched.
    ResultOverwritten = "result-overwritten",
    /// A signal before all consumers of the completed generation have finished waiting.
    ReuseBeforeFree = "reuse-before-free",
    /// An asynchronous operation lands in another phase than that of its issue.
    StaleCompletion = "stale-completion",
    /// A token of a phase that is neither the present one nor the one before.
    StaleToken = "stale-token",
    /// `R2B.BAR` writes over a barrier in use.
    StateClobbered = "state-clobbered",
    /// An agent that nothing can unblock while others run for ever.
    StuckAgent = "stuck-agent",
    /// More producers or consumers than announced.
    TooManyParticipants = "too-many-participants",
    /// A number of bytes that an mbarrier object cannot count.
    TxRange = "tx-range",
    /// An `NBARRIER` type outside 0..=2.
    TypeRange = "type-range",
    /// `B2R` reads what no completed reduction has defined.
    UndefinedResult = "undefined-result",
    /// An arrival in a phase before any wait has seen the one before it complete.
    UnobservedPhase = "unobserved-phase",
    /// A wait without an arrival outstanding.
    WaitWithoutArrive = "wait-without-arrive",
}

impl Rule {
    /// The rule of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|r| r.name() == name)
    }

    /// Whether the rule exists for `target`.
    #[must_use]
    pub fn holds_for(self, target: Target) -> bool {
        match self {
            Self::Deadlock
            | Self::StuckAgent
            | Self::RepeatedArrival
            | Self::DataRace
            | Self::MissingFence
            | Self::Assertion => true,
            _ => target.facts().rules.contains(&self),
        }
    }

    /// The level in force unless the user changes it.
    #[must_use]
    pub fn default_level(self, target: Target) -> Level {
        let of_target = target.facts().levels.iter().find(|(rule, _)| *rule == self);
        of_target.map_or_else(|| self.usual_level(), |(_, level)| *level)
    }

    /// The level where a system has no other.
    fn usual_level(self) -> Level {
        match self {
            Self::ResultOverwritten
            | Self::RegisterTruncated
            | Self::NobodyWaits
            | Self::DanglingArrival
            | Self::MissingWait => Level::Warning,
            Self::ReuseBeforeFree | Self::CommitAtExit | Self::ReservedBarrier => Level::Pedantic,
            _ => Level::Error,
        }
    }

    /// The rule about what has not landed when everybody has exited: a commit, or a copy.
    #[must_use]
    pub fn at_exit(is_commit: bool) -> Self {
        if is_commit { Self::CommitAtExit } else { Self::InFlightAtExit }
    }

    /// Whether a violation ends its path: nothing is claimed about what follows undefined behaviour.
    #[must_use]
    // clause: barcheck.levels, barcheck.path
    pub fn ends_path(self, target: Target) -> bool {
        match self {
            // Where it is only warned of, the path goes on.
            Self::RepeatedArrival => self.default_level(target) == Level::Error,
            Self::StuckAgent
            | Self::ArrivalRace
            | Self::ResultOverwritten
            | Self::RegisterTruncated
            | Self::MissingWait
            | Self::ReuseBeforeFree
            | Self::NobodyWaits
            | Self::DanglingArrival
            | Self::InFlightAtExit
            | Self::CommitAtExit
            | Self::ReservedBarrier
            | Self::DataRace
            | Self::MissingFence => false,
            _ => true,
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_listed_by_name_and_found_by_it() {
        let names: Vec<_> = Rule::ALL.iter().map(|r| r.name()).collect();
        assert!(names.is_sorted());
        assert!(Rule::ALL.iter().is_sorted());
        for rule in Rule::ALL {
            assert_eq!(Rule::from_name(rule.name()), Some(*rule));
            assert!(Target::ALL.iter().any(|t| rule.holds_for(*t)));
        }
        assert_eq!(Rule::from_name("Deadlock"), None);
    }

    #[test]
    fn levels_and_endings_depend_on_the_target_where_the_table_says_so() {
        assert_eq!(Rule::RepeatedArrival.default_level(Target::Bcu), Level::Warning);
        assert_eq!(Rule::RepeatedArrival.default_level(Target::Ptx), Level::Error);
        assert!(!Rule::RepeatedArrival.ends_path(Target::Bcu));
        assert!(Rule::RepeatedArrival.ends_path(Target::Xegpu));
        assert_eq!(Rule::MissingWait.default_level(Target::SplitBarrier), Level::Error);
        assert_eq!(Rule::MissingWait.default_level(Target::Xegpu), Level::Warning);
        assert!(!Rule::DataRace.ends_path(Target::Ptx) && Rule::Deadlock.ends_path(Target::Ptx));
    }
}
