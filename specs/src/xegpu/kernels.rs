//! Kernels: their groups, and the form in which their barriers are written down.

use crate::common::span::Span;
use crate::module::{Extent, Launch};

use super::lexer::Kind;
use super::syntax::{Operation, integer};
use super::tree::{Tree, inside};

/// The name by which the threads of a subgroup are given.
pub(super) const SUBGROUP_SIZE: &str = "subgroup_size";
/// The most named barriers.
const BARRIERS: i64 = 32;
/// Threads of a subgroup where nobody says how many: those of most devices.
const USUAL: u32 = 16;

/// In which form barriers are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As those of XeGPU. `own` are the named barriers that the kernel allocates, `whole` those behind them
    /// that stand for barriers of the whole group.
    Handles { own: i64, whole: u32 },
    /// As those of vISA, where subgroups produce or consume.
    Roles { allocated: i64, whole: u32 },
}

/// The agents of a kernel: its subgroups.
#[derive(Clone, Debug)]
pub(super) struct Agents {
    /// In three directions.
    pub(super) size: [u32; 3],
    /// Threads of one of them.
    pub(super) threads: u32,
    pub(super) form: Form,
    /// What is taken for true of them.
    pub(super) assumed: Option<(String, Span)>,
}

impl Agents {
    pub(super) fn count(&self) -> u32 {
        self.size.iter().fold(1, |product, length| product.saturating_mul(*length))
    }

    pub(super) fn of<'s>(
        tree: &Tree<'_, 's>,
        kernel: &Operation<'s>,
        source: &'s str,
        launch: &Launch,
    ) -> Self {
        let said = ["intel_reqd_sub_group_size", "subgroup_size", "sub_group_size"]
            .iter()
            .find_map(|name| kernel.number(source, name));
        let given = launch.param(None, SUBGROUP_SIZE).or(said).and_then(|size| u32::try_from(size).ok());
        let is_vector = kernel.has(source, "VectorComputeFunctionINTEL");
        let by_lane = inside(&kernel.regions, &mut |operation| {
            matches!(operation.name, "gpu.lane_id" | "gpu.subgroup_size")
        });
        let (threads, assumed) = match given.filter(|size| *size > 0) {
            Some(size) => (size, None),
            None if is_vector => (1, None),
            None if by_lane => (USUAL, Some(format!("a subgroup has {USUAL} threads"))),
            None => (1, Some("each thread that is launched is a subgroup".to_owned())),
        };
        let size = if threads == 1 { launch.size } else { [launch.count().div_ceil(threads), 1, 1] };
        let assumed = assumed.map(|message| (message, kernel.span));
        Self { size, threads, form: form(tree, kernel, source), assumed }
    }
}

/// The form for a kernel and what it calls.
fn form<'s>(tree: &Tree<'_, 's>, kernel: &Operation<'s>, source: &'s str) -> Form {
    let (mut most, mut whole, mut has_roles, mut has_named) = (0, 0_u32, false, false);
    let mut zeros: Vec<&str> = Vec::new();
    let mut look = |operation: &Operation<'s>| {
        match operation.name {
            "xegpu.alloc_nbarrier" => most = most.max(allocated(operation, source).unwrap_or(0)),
            "gpu.barrier" => whole += 1,
            "xegpu.init_nbarrier" => has_named = true,
            "arith.constant" => {
                let is_zero = integer(operation.text(source, 0)) == Some(0)
                    || operation.number(source, "value") == Some(0);
                zeros.extend(operation.results.iter().filter(|_| is_zero).map(|(name, _)| *name));
            }
            "xegpu.create_nbarrier" => {
                has_named = true;
                let is_both = operation.values(source).get(1).is_some_and(|role| zeros.contains(role));
                let count = |name: &str| operation.number(source, name);
                has_roles |= !is_both || count("num_producers") != count("num_consumers");
            }
            _ => {}
        }
        false
    };
    inside(&kernel.regions, &mut look);
    for function in called(tree, kernel, source) {
        inside(&function.regions, &mut look);
    }
    // What is allocated for this reader may not hide that the kernel allocates too late.
    let fits = i64::from(whole) + most <= BARRIERS && (!has_named || begins_with_alloc(kernel));
    let whole = if fits { whole } else { 0 };
    if has_roles { Form::Roles { allocated: most, whole } } else { Form::Handles { own: most, whole } }
}

/// The functions that a kernel may call.
fn called<'m, 's>(tree: &Tree<'m, 's>, kernel: &Operation<'s>, source: &'s str) -> Vec<&'m Operation<'s>> {
    let mut found: Vec<&'m Operation<'s>> = Vec::new();
    let symbols = |function: &Operation<'s>| {
        let mut symbols = Vec::new();
        inside(&function.regions, &mut |operation| {
            let is_symbol = |word: &&super::lexer::Token| word.kind == Kind::Symbol;
            symbols.extend(operation.words.iter().filter(is_symbol).map(|word| word.span.text(source)));
            false
        });
        symbols
    };
    let mut work: Vec<&str> = symbols(kernel);
    while let Some(symbol) = work.pop() {
        if let Some(function) = tree.function(symbol)
            && !found.iter().any(|known| std::ptr::eq(*known, function))
        {
            work.extend(symbols(function));
            found.push(function);
        }
    }
    found
}

/// Whether the kernel allocates before it does anything else with named barriers, in any case.
fn begins_with_alloc(kernel: &Operation<'_>) -> bool {
    let first = kernel.regions.first().and_then(|region| region.first());
    let operations = first.map(|block| block.operations.as_slice()).unwrap_or_default();
    let concerns = |operation: &&Operation<'_>| {
        operation.name.contains("nbarrier")
            || operation.name.ends_with("call")
            || inside(&operation.regions, &mut |inner| inner.name.contains("nbarrier"))
    };
    operations.iter().find(concerns).is_none_or(|first| first.name == "xegpu.alloc_nbarrier")
}

/// The size that a kernel says it is launched with: `known_block_size = array<i32: 4, 8, 1>`.
pub(super) fn required<'s>(kernel: &Operation<'s>, source: &'s str) -> Option<Extent> {
    let words =
        ["known_block_size", "gpu.known_block_size"].iter().find_map(|n| kernel.attribute(source, n))?;
    let first = words.iter().position(|word| word.is(b':'))?;
    let numbers = words[first..].iter().take(6).filter_map(|word| word.span.text(source).parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    let size = <[u32; 3]>::try_from(numbers.get(..3)?).ok()?;
    let span = words.first()?.span;
    Some(Extent { size, span })
}

/// The number of barriers that `alloc_nbarrier` allocates.
pub(super) fn allocated<'s>(operation: &Operation<'s>, source: &'s str) -> Option<i64> {
    let named =
        ["nbarrier_num", "num_nbarriers", "value"].iter().find_map(|name| operation.number(source, name));
    named.or_else(|| operation.words.iter().find_map(|word| integer(word.span.text(source))))
}
