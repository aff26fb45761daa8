//! Words of other languages, and what they are here.

use barcheck_model::program::Target;

use crate::common::diagnostic::WORDING;

/// What somebody who writes a foreign statement or instruction should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// It has a counterpart: what to write.
    Write(&'static str),
    /// It has none: why.
    NotModelled(&'static str),
}

use Hint::{NotModelled, Write};

const ACCESS: Hint =
    Write("an access is `read x;`, `write x;` or `atomic x;`, with `shared x;` before the blocks");
const LANES: Hint = NotModelled(
    "it joins the lanes of one warp; a warp is one agent here, whose lanes join at the end of each branch and loop",
);
const CLUSTER: Hint = NotModelled("a protocol is that of one CTA, and a cluster has several");
const GRID: Hint = NotModelled("a protocol is that of one CTA, and a grid has several");
const MBARRIER: Hint =
    NotModelled("an mbarrier is an object in memory; the barriers here are the sixteen of a CTA");
const COPIES: Hint = NotModelled(
    "asynchronous copies complete at no barrier of the CTA; the access may be written where its effect is awaited",
);
const PROXIES: Hint = NotModelled("memory has one path here, and no proxies");
const VISA_BARRIER: Hint = NotModelled(
    "only the named barriers are; with `nbarrier.signal id, threads;` and `nbarrier.wait id;` a whole group meets",
);
const SPIRV_BARRIER: Hint =
    Write("write `OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;`");

/// What the statement or instruction `text` is here, if it is known from elsewhere. Case does not count.
pub(crate) fn statement(text: &str, target: Target) -> Option<Hint> {
    if !WORDING {
        return None;
    }
    let text = text.to_ascii_lowercase();
    of_any_target(&text).or_else(|| match target {
        Target::Ptx => of_ptx(&text),
        Target::Bcu => of_bcu(&text),
        Target::Nbarrier => of_visa(&text),
        Target::SplitBarrier => of_spirv(&text),
        Target::Xegpu => of_mlir(&text),
    })
}

/// The language of a kernel, and the target whose barriers it has, if `text` looks like one. What every file of the language has comes first.
pub(crate) fn kernel(text: &str) -> Option<(&'static str, Target)> {
    const SIGNS: [(&str, &str, Target); 12] = [
        (".target sm_", "PTX", Target::Ptx),
        (".visible .entry", "PTX", Target::Ptx),
        ("/*0000*/", "SASS", Target::Bcu),
        (".headerflags", "SASS", Target::Bcu),
        (".decl ", "vISA", Target::Nbarrier),
        ("OpCapability", "SPIR-V", Target::SplitBarrier),
        ("OpEntryPoint", "SPIR-V", Target::SplitBarrier),
        ("gpu.func", "MLIR", Target::Xegpu),
        ("gpu.module", "MLIR", Target::Xegpu),
        ("func.func", "MLIR", Target::Xegpu),
        ("__global__", "CUDA C++", Target::Ptx),
        ("__kernel", "OpenCL C", Target::SplitBarrier),
    ];
    if !WORDING {
        return None;
    }
    let (_, language, target) = SIGNS.into_iter().find(|(sign, ..)| text.contains(sign))?;
    Some((language, target))
}

/// Whether `text` is one of `names`, or begins with one of them and a dot.
fn is(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn of_any_target(text: &str) -> Option<Hint> {
    Some(match text {
        "return" | "ret" | "end" => Write("write `exit;`"),
        "forever" => Write("write `loop { … }`"),
        "do" => Write("write `loop { … if … { break; } }`"),
        "switch" | "match" => Write("write `if … { … } else if … { … }`"),
        "elif" | "elsif" | "elseif" => Write("write `else if … { … }`"),
        "load" => Write("write `read x;`"),
        "store" => Write("write `write x;`"),
        "asm" => Write("write the instruction by itself: no `asm`, no quotes"),
        _ => return None,
    })
}

fn of_ptx(text: &str) -> Option<Hint> {
    Some(match text {
        "__syncthreads" | "syncthreads" => Write("write `bar.sync 0;`"),
        "__syncthreads_count" => Write("write `bar.red.popc.u32 d, 0, p;`"),
        "__syncthreads_and" => Write("write `bar.red.and.pred d, 0, p;`"),
        "__syncthreads_or" => Write("write `bar.red.or.pred d, 0, p;`"),
        "__threadfence" | "__threadfence_block" | "__threadfence_system" => Write("write `membar.cta;`"),
        "bar" | "barrier" => Write("write `bar.sync a, b;` or `bar.arrive a, b;`"),
        "namedbarrier" | "named_barrier" => {
            Write("write `bar.sync id, threads;` or `bar.arrive id, threads;`")
        }
        "cuda" => MBARRIER,
        _ if is(text, &["bar.warp", "barrier.warp", "__syncwarp"]) => LANES,
        _ if is(text, &["shfl", "vote", "match", "redux", "elect", "activemask"]) => LANES,
        _ if ["__shfl", "__ballot", "__any", "__all", "__match", "__reduce"]
            .iter()
            .any(|p| text.starts_with(p)) =>
        {
            LANES
        }
        _ if is(text, &["barrier.cluster", "cluster"]) => CLUSTER,
        _ if is(text, &["grid", "cg", "cooperative_groups", "this_grid"]) => GRID,
        _ if is(text, &["mbarrier"]) => MBARRIER,
        _ if is(text, &["fence.proxy"]) => PROXIES,
        _ if is(text, &["membar", "fence"]) => Write("within a CTA it is `membar.cta;`"),
        _ if is(text, &["cp.async", "cp.reduce", "wgmma", "tcgen05"]) => COPIES,
        _ if is(text, &["ld", "st", "atom", "red", "multimem"]) => ACCESS,
        _ => return None,
    })
}

fn of_bcu(text: &str) -> Option<Hint> {
    Some(match text {
        "__syncthreads" | "syncthreads" => Write("write `BAR.SYNC 0;`"),
        "bar" | "barrier" => Write("write `BAR.SYNC id, cnt;` or `BAR.ARV id, cnt;`"),
        _ if is(text, &["bar.sync"]) => Write("write `BAR.SYNC`, without what follows"),
        _ if is(text, &["bar.arv"]) => Write("write `BAR.ARV`, without what follows"),
        _ if is(text, &["warpsync", "bssy", "bsync", "vote", "shfl", "redux", "__syncwarp"]) => LANES,
        _ if is(text, &["ucgabar_arv", "ucgabar_wait"]) => CLUSTER,
        _ if is(text, &["syncs"]) => MBARRIER,
        _ if is(text, &["membar", "errbar", "fence"]) => {
            NotModelled("the memory barriers of this target are `BAR.SYNC` and `BAR.RED`")
        }
        _ if is(text, &["ldgsts", "depbar", "ldgdepbar"]) => COPIES,
        _ if is(text, &["lds", "sts", "ldg", "stg", "ld", "st", "atoms", "atomg", "red"]) => ACCESS,
        _ => return None,
    })
}

fn of_visa(text: &str) -> Option<Hint> {
    Some(match text {
        "nbarrier.arrive" => Write("write `nbarrier.signal id, type, num_producers, num_consumers;`"),
        "nbarrier" => Write("write `nbarrier.signal …;` or `nbarrier.wait id;`"),
        _ if is(text, &["barrier", "sbarrier"]) => VISA_BARRIER,
        _ if is(text, &["lsc_fence", "fence_sw", "fence.ugml", "fence.tgm"]) => {
            Write("write `fence;`, or `fence.slm;` or `fence.ugm;` for one kind of memory")
        }
        _ if text.starts_with("lsc_") => ACCESS,
        _ => return None,
    })
}

fn of_spirv(text: &str) -> Option<Hint> {
    Some(match text {
        "barrier" | "work_group_barrier" | "controlbarrier" | "groupmemorybarrierwithgroupsync" => {
            SPIRV_BARRIER
        }
        "sub_group_barrier" | "subgroupbarrier" => {
            Write("write `OpControlBarrier Subgroup, Subgroup, AcquireRelease|WorkgroupMemory;`")
        }
        "intel_work_group_barrier_arrive" | "work_group_barrier_arrive" => {
            Write("write `OpControlBarrierArriveINTEL Workgroup, Workgroup, Release|WorkgroupMemory;`")
        }
        "intel_work_group_barrier_wait" | "work_group_barrier_wait" => {
            Write("write `OpControlBarrierWaitINTEL Workgroup, Workgroup, Acquire|WorkgroupMemory;`")
        }
        "mem_fence" | "atomic_work_item_fence" | "memorybarrier" => {
            Write("write `OpMemoryBarrier Workgroup, AcquireRelease|WorkgroupMemory;`")
        }
        "opnamedbarrierinitialize" | "opmemorynamedbarrier" => {
            NotModelled("the barriers here are those of a scope: the workgroup, a subgroup, an invocation")
        }
        "opload" | "opstore" => ACCESS,
        _ if text.starts_with("opatomic") => ACCESS,
        _ if text.starts_with("opgroup") => NotModelled("only control barriers and memory barriers are"),
        _ => return None,
    })
}

fn of_mlir(text: &str) -> Option<Hint> {
    Some(match text {
        "gpu.barrier" => {
            NotModelled("only named barriers are; one that all subgroups initialise does the same")
        }
        _ if is(text, &["xegpu.load", "xegpu.load_nd", "xegpu.store", "xegpu.store_nd"]) => ACCESS,
        _ if is(text, &["xegpu.atomic_rmw", "memref.load", "memref.store"]) => ACCESS,
        _ => return None,
    })
}

/// What the name or call `text` of another language is here, in a sentence. Case, `_`, `%` and what follows a dot do
/// not count.
pub(crate) fn value(text: &str, target: Target) -> Option<String> {
    if !WORDING {
        return None;
    }
    let key: String = text
        .split('.')
        .next()?
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect::<String>()
        .to_ascii_lowercase();
    let own = target.agent_noun();
    let index = |noun: &str, here: &str| format!("the index of the {noun} is `{here}`");
    Some(match key.as_str() {
        "warpid" | "warpidx" | "warpindex" | "wid" if target.has_lanes() => index("warp", "warp"),
        "laneid" | "laneidx" | "laneindex" if target.has_lanes() => index("lane", "lane"),
        "tid"
        | "threadid"
        | "threadidx"
        | "localid"
        | "getlocalid"
        | "gllocalinvocationid"
        | "gllocalinvocationindex" => match target {
            Target::Ptx | Target::Bcu => index("thread", "warp * 32 + lane"),
            _ => index(own, own),
        },
        "sgid" | "subgroupid" | "getsubgroupid" | "glsubgroupid" => match target {
            Target::SplitBarrier => index("subgroup", "invocation / SIZE"),
            _ => index(own, own),
        },
        "blockidx" | "ctaid" | "griddim" | "nctaid" | "clusterctaid" | "groupid" | "getgroupid" => {
            "a protocol is that of one group, which has no index".to_owned()
        }
        "blockdim" | "ntid" | "nwarpid" | "localsize" | "getlocalsize" => {
            "give the size a name before the blocks: `const SIZE = …;`".to_owned()
        }
        "warpsize" => "a warp has 32 lanes".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counterparts_are_found_without_regard_to_case_and_underscores() {
        for name in ["threadIdx.x", "%tid.x", "tid", "thread_idx", "get_local_id"] {
            assert_eq!(
                value(name, Target::Ptx).as_deref(),
                Some("the index of the thread is `warp * 32 + lane`"),
                "{name}"
            );
        }
        assert_eq!(value("warp_id", Target::Nbarrier), None);
        assert_eq!(value("tid", Target::Nbarrier).as_deref(), Some("the index of the thread is `thread`"));
    }

    #[test]
    fn a_prefix_ends_at_a_dot() {
        assert_eq!(statement("ld.shared.u32", Target::Ptx), Some(ACCESS));
        assert_eq!(statement("ldmatrix", Target::Ptx), None);
        assert_eq!(statement("MBARRIER.init", Target::Ptx), Some(MBARRIER));
    }
}
