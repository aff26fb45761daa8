//! The rules, their levels, and for which targets they hold.

use super::protocol::Target;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Error,
    Warning,
    Pedantic,
}

use Target::{Bcu, Nbarrier, Ptx, Split, Xegpu};

/// Every rule with the targets that it holds for, in the order of the table of rules.
pub const RULES: &[(&str, &[Target])] = &[
    ("deadlock", &Target::ALL),
    ("stuck-agent", &Target::ALL),
    ("count-mismatch", &[Ptx, Bcu, Nbarrier, Xegpu]),
    ("count-range", &[Ptx, Bcu, Nbarrier, Xegpu]),
    ("arrive-needs-count", &[Ptx]),
    ("barrier-id-range", &[Ptx, Bcu, Nbarrier, Xegpu]),
    ("barrier-not-allocated", &[Xegpu]),
    ("repeated-arrival", &Target::ALL),
    ("arrival-race", &[Ptx, Bcu, Nbarrier, Xegpu]),
    ("too-many-participants", &[Nbarrier, Xegpu]),
    ("mixed-red", &[Ptx, Bcu]),
    ("mixed-red-op", &[Ptx, Bcu]),
    ("undefined-result", &[Bcu]),
    ("result-overwritten", &[Bcu]),
    ("state-clobbered", &[Bcu]),
    ("register-truncated", &[Bcu]),
    ("type-range", &[Nbarrier]),
    ("wait-without-arrive", &[Nbarrier, Split, Xegpu]),
    ("producer-waits", &[Nbarrier]),
    ("missing-wait", &[Nbarrier, Split, Xegpu]),
    ("lost-notification", &[Nbarrier, Xegpu]),
    ("reuse-before-free", &[Nbarrier, Xegpu]),
    ("nonuniform-barrier", &[Split]),
    ("partial-warp", &[Ptx]),
    ("nobody-waits", &[Ptx, Bcu]),
    ("dangling-arrival", &[Ptx, Bcu, Nbarrier, Xegpu]),
    ("reserved-barrier", &[Ptx]),
    ("data-race", &Target::ALL),
    ("missing-fence", &Target::ALL),
    ("assertion", &Target::ALL),
];

/// The rules that only instructions on mbarrier objects and what they leave pending violate.
pub const MBARRIER_RULES: &[&str] = &[
    "mbarrier-not-live",
    "mbarrier-live",
    "over-arrival",
    "no-complete",
    "over-delivery",
    "stale-completion",
    "tx-range",
    "parity-range",
    "unobserved-phase",
    "in-flight-at-exit",
    "commit-at-exit",
];

/// The level of a rule for a target when the user asks for nothing else.
pub fn level(rule: &str, target: Target) -> Level {
    match (rule, target) {
        ("reuse-before-free" | "reserved-barrier" | "commit-at-exit", _) => Level::Pedantic,
        ("result-overwritten" | "register-truncated" | "nobody-waits" | "dangling-arrival", _) => {
            Level::Warning
        }
        ("repeated-arrival", Bcu) | ("missing-wait", Nbarrier | Xegpu) => Level::Warning,
        _ => Level::Error,
    }
}
