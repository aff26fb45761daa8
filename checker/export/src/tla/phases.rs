//! `ptx`: barriers of phases, what is in flight, and clusters.

use crate::columns::{Barriers, Columns, Sort, identifier};
use crate::group::Group;
use crate::node::{Act, Step};
use crate::systems::{self, Operation};
use barcheck_model::rule::Rule;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What stands for what is in flight, and for phases, where there is nothing of the kind.
const NOTHING_IN_FLIGHT: &str = "\\* Nothing is ever in flight.\n\
    Copies(t) == {}\nRecord(t, copies) == t\nInFlight(t) == {}\nFliesTo(t, b) == FALSE\nKeepInFlight(t, Stays(_)) == t\n\n";

const NO_RELEASES: &str = "\\* What fences release is of no use to anybody.\n\
    ReleaseByFence(t, a, r) == t\nCarryReleased(t, a, carries, to) == t\n\n";

/// What a protocol has of barriers of phases, and of what is in flight on them.
pub(super) struct Phased {
    objects: Vec<usize>,
    has_cluster: bool,
    /// Several CTAs, or barriers of phases.
    used: bool,
    reaches: bool,
    /// What fences release may travel with later arrivals.
    releases: bool,
    slots: usize,
    rows: BTreeMap<Operation, usize>,
    /// The objects' states in the beginning, and their numbers.
    initial: Vec<String>,
}

impl Phased {
    pub(super) fn of(group: &Group, barriers: &Barriers) -> Self {
        let mut rows = BTreeMap::new();
        for (row, step) in group.steps().enumerate() {
            if let Some(operation) = systems::operation(step) {
                rows.entry(operation).or_insert(row + 1);
            }
        }
        let fresh = |number: usize, count: Option<u32>| match count {
            Some(count) => format!("b = {number} -> Fresh({count})"),
            None => format!("b = {number} -> Dead"),
        };
        let objects: Vec<_> = barriers.of_sort(Sort::Object).collect();
        let of = |id| fresh(barriers.number(id), systems::initial_count(&group.program, id));
        let has_cluster = barriers.of_sort(Sort::Cluster).next().is_some();
        Self {
            objects: objects.iter().map(|id| barriers.number(*id)).collect(),
            has_cluster,
            used: group.program.ctas > 1 || has_cluster || !objects.is_empty(),
            reaches: group.steps().any(|step| step.reaches > 0),
            releases: group.program.releases_by_fences(),
            slots: group.slots(),
            rows,
            initial: objects.iter().map(|id| of(*id)).collect(),
        }
    }

    /// What the text that all targets share refers to.
    pub(super) fn before(&self, out: &mut String) {
        out.push_str("VARIABLE s\n\n");
        out.push_str(if self.slots > 0 { include_str!("flight.tla") } else { NOTHING_IN_FLIGHT });
    }

    /// The texts.
    pub(super) fn texts(&self, out: &mut String) {
        out.push_str(if self.releases { include_str!("fences.tla") } else { NO_RELEASES });
        if self.used {
            out.push_str(include_str!("phases.tla"));
        }
        let record = if self.slots > 0 { " \\cup {TheRecord}" } else { "" };
        let released = if self.releases { " \\cup HoldersOfFences" } else { "" };
        let holders = match self.used {
            true => format!(
                "{{Gathering(b) : b \\in PhaseBarriers}} \\cup {{Phases(b) : b \\in PhaseBarriers}}{record}{released}"
            ),
            false => "{}".to_owned(),
        };
        let sharing = if self.used { "AgentsOf(HomeOf[b + 1])" } else { "Agents" };
        let _ = writeln!(
            out,
            "HoldersOfPhases == {holders}\n\\* Who shares a barrier of generations.\nSharing(b) == {sharing}\n"
        );
        if !self.objects.is_empty() {
            out.push_str(include_str!("objects.tla"));
        }
        if self.slots > 0 {
            out.push_str(include_str!("landing.tla"));
        } else {
            out.push_str("LandSome(t) == t\n\n");
        }
        if self.has_cluster {
            out.push_str(include_str!("cluster.tla"));
        }
    }

    /// The fields of a step's row.
    pub(super) fn fields(&self, step: &Step) -> String {
        let mut text = String::new();
        if !self.used {
            return text;
        }
        if systems::sort(&step.act) != Sort::Generations {
            let mut columns = Columns::default();
            systems::fill_phased(step, &mut columns);
            let shown = columns.all().filter(|(name, _)| *name != "step_reaches");
            text.extend(
                shown.map(|(name, values)| format!(", {} |-> {}", &name["step_".len()..], values[0])),
            );
        }
        if let Act::Fence(_) = step.act {
            let _ = write!(text, ", far |-> {}", u8::from(systems::is_far_fence(&step.act)));
        }
        if let Some(operation) = systems::operation(step) {
            let locations = step.act.accesses().map(|(_, locations)| locations).unwrap_or_default();
            let locations: Vec<String> = locations.iter().map(|l| (l.index() + 1).to_string()).collect();
            let _ = write!(
                text,
                ", operation |-> {}, locations |-> {{{}}}",
                self.rows[&operation],
                locations.join(", ")
            );
        }
        let reached = (0..usize::BITS as usize).filter(|cta| step.reaches >> cta & 1 == 1);
        let reached: Vec<String> = reached.map(|cta| cta.to_string()).collect();
        let _ = write!(text, ", reaches |-> {{{}}}", reached.join(", "));
        text
    }

    /// The steps, those of an exited CTA's memory apart.
    pub(super) fn steps_that_reach(&self, steps: &str) -> String {
        match self.reaches {
            true => format!("IF ReachesExited(t, r) THEN End(t, \"remote_after_exit\") ELSE\n  {steps}"),
            false => steps.to_owned(),
        }
    }

    /// What an exit may complete besides.
    pub(super) fn exit(&self) -> &'static str {
        if self.has_cluster { "SettleCluster(Exit(t, a))" } else { "Exit(t, a)" }
    }

    /// The fields of the initial state.
    pub(super) fn state(&self) -> String {
        let mut text = String::new();
        if !self.objects.is_empty() {
            let initial = self.initial.join(" [] ");
            let _ = write!(
                text,
                ",\n  objects |-> [b \\in Objects |-> CASE {initial}], tokens |-> [a \\in Agents |-> [b \\in Objects |-> \"none\"]]"
            );
        }
        if self.slots > 0 {
            text.push_str(", flying |-> EmptyBag");
        }
        if self.has_cluster {
            text.push_str(", standing |-> [a \\in Agents |-> \"out\"]");
        }
        text
    }

    /// The successors by landings.
    pub(super) fn landings(&self) -> &'static str {
        if self.slots > 0 { " \\cup {Tidy(Land(t, flight)) : flight \\in InFlight(t)}" } else { "" }
    }

    /// Nothing is left in flight that a rule is about.
    pub(super) fn none_left(&self, rule: Rule) -> String {
        match self.slots {
            0 => format!("s.end # \"{}\"", identifier(rule)),
            _ => {
                let commits = if rule == Rule::at_exit(true) { "TRUE" } else { "FALSE" };
                format!("s.end = \"\" => ~LeftInFlight(s, {commits})")
            }
        }
    }

    /// No object holds arrivals either.
    pub(super) fn none_dangle(&self) -> &'static str {
        match self.objects.is_empty() {
            true => "",
            false => " /\\ \\A b \\in Objects : ~ObjectHoldsArrivals(s, b)",
        }
    }
}

/// Numbers that the text refers to.
pub(super) fn sizes(group: &Group, barriers: &Barriers, out: &mut String) {
    let phased = Phased::of(group, barriers);
    if !phased.used {
        return;
    }
    let mut all: Vec<String> = phased.objects.iter().map(usize::to_string).collect();
    let objects = all.join(", ");
    all.extend(barriers.of_sort(Sort::Cluster).map(|id| barriers.number(id).to_string()));
    let mut homes = vec!["0".to_owned(); barriers.len()];
    for (number, id) in barriers.numbers() {
        homes.resize(homes.len().max(number + 1), String::new());
        homes[number] = group.program.home(id).map_or(0, |home| home.cta).to_string();
    }
    let _ = write!(
        out,
        "\\* Objects, and with them the barrier of the cluster; the CTA of each barrier.\n\
         Objects == {{{objects}}}\nPhaseBarriers == {{{}}}\nHomeOf == <<{}>>\nCtaSize == {}\nMostInFlight == {}\n",
        all.join(", "),
        homes.join(", "),
        group.program.agents_per_cta(),
        phased.slots,
    );
}
