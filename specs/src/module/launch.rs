//! What is known of a launch: the size of the group and values of parameters, as options give them by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::contents::{MEMORY, SizeFrom, WITHOUT_MEMORY};
use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::span::Span;
use crate::kernel::code::Said;

use super::entry::Entry;

/// The names under which the size of the group is given, in three directions.
const SIZE: [&str; 3] = ["cta.x", "cta.y", "cta.z"];
/// The same of the groups of a cluster.
const CLUSTER: [&str; 3] = ["cluster.x", "cluster.y", "cluster.z"];
/// The name under which it is said that each warp waits for its own part of what its warpgroup computes.
const APART: &str = "warpgroups.apart";
/// The name under which it is said that every arrival of a warp counts.
const REPEATED: &str = "repeated_arrivals.count";
/// The name under which the position of an entry among the entries is given.
pub(super) const ENTRY: &str = "entry.index";
/// What the names of parameters begin with; a number or the parameter's own name follows.
const PARAM: &str = "param.";
/// And what they end with where the value is the least that it may be.
const LEAST: &str = "..";
/// And where it is what they are multiples of.
const MULTIPLE: &str = "*";

/// What ends the name of a parameter of which something is said.
const SAID: [char; 2] = ['.', '*'];

/// Threads in three directions, as a module gives them, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) size: [u32; 3],
    pub(crate) span: Span,
}

/// What a module says of the size of a group, and what its notation calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// It is launched so and not otherwise.
    pub(crate) required: Option<Extent>,
    /// It is launched with no more.
    pub(crate) most: Option<Extent>,
    /// That is no bound, but what it is launched with if nothing else is said.
    pub(crate) is_default: bool,
    /// What requires, and what bounds it, in the words of the notation: `.reqntid`, `.maxntid`.
    pub(crate) words: [&'static str; 2],
    /// The group: `CTA`.
    pub(crate) group: &'static str,
    /// Its members: `threads`.
    pub(crate) unit: &'static str,
    /// The option that gives its size: `--cta`.
    pub(crate) option: &'static str,
    /// The most members that a group can have.
    pub(crate) largest: i64,
    /// What it says of clusters, where the notation has them.
    pub(crate) clusters: Option<Clusters>,
}

/// What a module says of the clusters with which an entry is launched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clusters {
    /// It is launched with clusters of this size and not otherwise.
    pub(crate) required: Option<Extent>,
    /// It is launched with clusters: where it says so.
    pub(crate) explicit: Option<Span>,
}

/// A launch.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The members of the group in three directions.
    pub(crate) size: [u32; 3],
    /// Who says so.
    pub(super) from: SizeFrom,
    /// The groups of a cluster in three directions.
    pub(crate) cluster: [u32; 3],
    /// Nobody has said so: a launch without a cluster.
    has_no_cluster: bool,
    /// What warps of a warpgroup compute collectively is complete for each by itself.
    pub(crate) is_apart: bool,
    /// Every arrival of a warp counts at a barrier with a count of its own.
    pub(super) repeats_count: bool,
    /// Accesses to memory of the group are followed.
    pub(crate) follows_memory: bool,
    params: BTreeMap<String, i64>,
}

impl Launch {
    /// The size is an upper bound that the kernel gives, and nobody has said that it is launched so.
    pub(super) fn is_bound(&self) -> bool {
        self.from == SizeFrom::Most
    }

    /// Nobody has said in which directions the members of the group lie: they are taken to lie in the first.
    pub(crate) fn is_flat(&self) -> bool {
        self.is_bound() && self.size[1..] == [1, 1]
    }

    /// The launch of a kernel with these definitions.
    pub(super) fn of(
        entry: &Entry,
        sizes: &Sizes,
        defines: &BTreeMap<String, i64>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let given = extent(defines, SIZE);
        let params: BTreeMap<String, i64> = defines
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(PARAM)?.to_owned(), *value)))
            .collect();
        let error = |message: String, span: Span| vec![Diagnostic::error("group-size", message, span)];
        if let Some(message) = no_grid(&params) {
            return Err(error(message, entry.span));
        }
        let names = params
            .keys()
            .map(|name| [LEAST, MULTIPLE].iter().find_map(|of| name.strip_suffix(of)).unwrap_or(name));
        if let Some(name) = names.into_iter().find(|name| entry.is_real(name)) {
            let message =
                format!("parameter `{name}` is a floating-point number, and only integers can be given");
            return Err(error(message, entry.span));
        }
        let ([required_by, bounded_by], option, group) = (sizes.words, sizes.option, sizes.group);
        let (size, span, from) = match (sizes.required, given, sizes.most) {
            (Some(required), Some(given), _) if required.size.map(i64::from) != given => {
                let message = format!("{option} {} is not what `{required_by}` says", shown(&given));
                return Err(error(message, required.span));
            }
            (Some(required), ..) => (required.size.map(i64::from), required.span, SizeFrom::Kernel),
            (None, Some(given), Some(most))
                if !sizes.is_default && product(&given) > product(&most.size.map(i64::from)) =>
            {
                let message = format!("{option} {} is more than `{bounded_by}` allows", shown(&given));
                return Err(error(message, most.span));
            }
            (None, Some(given), _) => (given, entry.span, SizeFrom::Option),
            (None, None, Some(most)) => (most.size.map(i64::from), most.span, SizeFrom::Most),
            (None, None, None) => {
                let message = format!("the size of the {group} is not known: the kernel is launched with it");
                let help = format!("say it by {option} X, or {option} X,Y,Z");
                return Err(vec![Diagnostic::error("group-size", message, entry.span).help(help)]);
            }
        };
        let count = product(&size);
        if !(1..=sizes.largest).contains(&count) || size.iter().any(|length| *length < 1) {
            let (most, unit) = (sizes.largest, sizes.unit);
            let message =
                format!("a {group} has 1 to {most} {unit}, and this one would have {}", shown(&size));
            return Err(error(message, span));
        }
        let size = size.map(|length| u32::try_from(length).unwrap_or(1));
        let given = extent(defines, CLUSTER);
        let (cluster, span) = cluster(entry, sizes, given)?;
        let groups = product(&cluster);
        if !(1..=limits::CLUSTER_CTAS).contains(&groups) || cluster.iter().any(|length| *length < 1) {
            let most = limits::CLUSTER_CTAS;
            let message =
                format!("a cluster has 1 to {most} {group}s, and this one would have {}", shown(&cluster));
            return Err(error(message, span));
        }
        let has_no_cluster = given.is_none() && sizes.clusters.is_none_or(|of| of.required.is_none());
        let cluster = cluster.map(|length| u32::try_from(length).unwrap_or(1));
        let is_apart = defines.contains_key(APART);
        let repeats_count = defines.contains_key(REPEATED);
        let follows_memory = defines.contains_key(MEMORY);
        Ok(Self { size, from, cluster, has_no_cluster, is_apart, repeats_count, follows_memory, params })
    }

    /// The groups of a cluster.
    pub(crate) fn groups(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Says, once, what is taken for true by whoever meets an instruction that is about other groups of the
    /// cluster: which there are is said by the launch, and there are none unless somebody has said so.
    pub(crate) fn assume_no_cluster(&self, assumed: &mut Vec<(String, Span)>, span: Span) {
        let what = "it is launched without a cluster; say otherwise by --cluster";
        if self.has_no_cluster && !assumed.iter().any(|(known, _)| known == what) {
            assumed.push((what.to_owned(), span));
        }
    }

    /// The members of the whole group.
    pub(crate) fn count(&self) -> u32 {
        self.size.iter().fold(1, |product, length| product.saturating_mul(*length))
    }

    /// The value of a parameter, if it is given: by its name or position (that is the parameter from its
    /// beginning on), or as protocols call it or the part of it.
    pub(crate) fn param(&self, whole: Option<(usize, &str)>, shown: &str) -> Option<i64> {
        self.given(whole, shown, "")
    }

    /// What is said of a parameter, likewise.
    pub(crate) fn said(&self, whole: Option<(usize, &str)>, shown: &str) -> Option<Said> {
        let (least, multiple) = (self.given(whole, shown, LEAST), self.given(whole, shown, MULTIPLE));
        let is_said = least.is_some() || multiple.is_some();
        is_said.then_some(Said { least, multiple: multiple.filter(|multiple| *multiple > 0).unwrap_or(1) })
    }

    /// What a register is that says where in the grid the group is, or how large the grid is, if that is
    /// given: `%ctaid.x`, `%nctaid.x`; and of a cluster, if it is given of its groups.
    pub(crate) fn of_grid(&self, register: &str) -> Option<u64> {
        let of_groups = || {
            let direction = ['x', 'y', 'z'].iter().position(|letter| register.ends_with(*letter))?;
            let name = register.contains("clusterid").then(|| register.replace("clusterid", "ctaid"))?;
            Some(self.params.get(&name)? / i64::from(self.cluster[direction]))
        };
        u64::try_from(self.params.get(register).copied().or_else(of_groups)?).ok()
    }

    fn given(&self, whole: Option<(usize, &str)>, shown: &str, what: &str) -> Option<i64> {
        if self.params.is_empty() {
            return None;
        }
        let of = |name: &str| self.params.get(&format!("{name}{what}"));
        let whole = || {
            let (position, name) = whole?;
            of(name).or_else(|| of(&position.to_string()))
        };
        of(shown).or_else(whole).copied()
    }

    /// The names among the definitions that concern a launch of an entry.
    pub(super) fn used(entry: &Entry, defines: &BTreeMap<String, i64>) -> BTreeSet<String> {
        let concerns = |name: &&String| {
            let param = name.strip_prefix(PARAM);
            SIZE.contains(&name.as_str())
                || CLUSTER.contains(&name.as_str())
                || [ENTRY, APART, REPEATED, MEMORY, WITHOUT_MEMORY].contains(&name.as_str())
                || param.is_some_and(|given| entry.has_param(given.trim_end_matches(SAID)))
        };
        defines.keys().filter(concerns).cloned().collect()
    }
}

/// Why there is no grid of which this is said.
fn no_grid(params: &BTreeMap<String, i64>) -> Option<String> {
    let registers = || params.iter().filter(|(name, _)| name.starts_with('%'));
    let is_said = |name: &str| name.ends_with(LEAST) || name.ends_with(MULTIPLE);
    if let Some((name, _)) = registers().find(|(name, _)| is_said(name)) {
        return Some(format!("`{}` has one value, and no least one", name.trim_end_matches(SAID)));
    }
    if let Some((name, value)) = registers().find(|(_, value)| !(0..1 << 31).contains(*value)) {
        return Some(format!("`{name}` is not {value}"));
    }
    let beyond = registers().find_map(|(name, value)| {
        let many = name.strip_prefix('%').and_then(|name| params.get_key_value(&format!("%n{name}")))?;
        (value >= many.1).then(|| format!("`{name}` is less than `{}`, which is {}", many.0, many.1))
    });
    beyond.or_else(|| {
        let none = registers().find(|(name, value)| name.starts_with("%n") && **value == 0)?;
        Some(format!("`{}` is at least 1", none.0))
    })
}

/// A size in three directions, as definitions of these names give it.
fn extent(defines: &BTreeMap<String, i64>, names: [&str; 3]) -> Option<[i64; 3]> {
    let x = *defines.get(names[0])?;
    let of = |name: &str| defines.get(name).copied().unwrap_or(1);
    Some([x, of(names[1]), of(names[2])])
}

/// The groups of a cluster in three directions, and what says so.
fn cluster(
    entry: &Entry,
    sizes: &Sizes,
    given: Option<[i64; 3]>,
) -> Result<([i64; 3], Span), Vec<Diagnostic>> {
    let error = |message: String, span: Span| Diagnostic::error("group-size", message, span);
    let clusters = sizes.clusters.unwrap_or_default();
    match (clusters.required, given) {
        (None, Some(_)) if sizes.clusters.is_none() => {
            let message =
                format!("kernels in this notation are not launched with clusters of {}s", sizes.group);
            Err(vec![error(message, entry.span)])
        }
        (Some(required), Some(given)) if required.size.map(i64::from) != given => {
            let message = format!("--cluster {} is not what the kernel says", shown(&given));
            Err(vec![error(message, required.span)])
        }
        (Some(required), _) => Ok((required.size.map(i64::from), required.span)),
        (None, Some(given)) => Ok((given, entry.span)),
        (None, None) => match clusters.explicit {
            Some(span) => {
                let message =
                    "the size of the cluster is not known: the kernel is launched with it".to_owned();
                Err(vec![error(message, span).help("say it by --cluster X, or --cluster X,Y,Z".to_owned())])
            }
            None => Ok(([1; 3], entry.span)),
        },
    }
}

fn product(size: &[i64; 3]) -> i64 {
    size.iter().fold(1, |product: i64, length| product.saturating_mul(*length))
}

fn shown(size: &[i64; 3]) -> String {
    match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x},{y}"),
        [x, y, z] => format!("{x},{y},{z}"),
    }
}
