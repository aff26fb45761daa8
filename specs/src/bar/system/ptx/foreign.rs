//! What PTX and CUDA C++ have, and what it is here.

use crate::bar::foreign_syntax::hint::{ACCESS, COPIES, Foreign, Hint, Kernel, LANES, is};
use Hint::{NotModelled, Write};

pub(in crate::bar::system) const FOREIGN: Foreign =
    Foreign { compiled: &[Kernel { sign: ".target sm_", ..PTX }, PTX], written: &[CUDA], statement };

const PTX: Kernel = Kernel {
    sign: ".visible .entry",
    language: "PTX",
    how: "name the file `kernel.ptx`, and say how many threads a CTA has: `barcheck verify --cta 128 kernel.ptx`",
};
const CUDA: Kernel = Kernel {
    sign: "__global__",
    language: "CUDA C++",
    how: "compile it, `nvcc -ptx -lineinfo kernel.cu`, and hand over what comes of it: `barcheck verify --cta 128 \
          kernel.ptx`",
};

const CLUSTERS: Hint = Write(
    "declare the cluster before the blocks, `cluster 2;`, then `barrier.cluster.arrive;`, `barrier.cluster.wait;`, \
     and `@ cta 1` behind what belongs to another CTA",
);
const GRID: Hint = NotModelled("a protocol is that of one cluster, and a grid has several");
const MBARRIERS: Hint = Write(
    "declare the object before the blocks, `mbarrier full[4] count 1;`, then `mbarrier.arrive full[0];`, \
     `mbarrier.wait.parity full[0], 0;`",
);
const PROXIES: Hint = NotModelled("of the proxies only the asynchronous one is: `fence.proxy.async;`");
const BULK: Hint = Write(
    "say the location that it writes, its bytes, and the object on which they complete: `cp.async.bulk.tensor buf[s], \
     4096, full[s];`",
);
const PRODUCTS: Hint = Write(
    "what an asynchronous product reads is written where the product is waited for, `read buf[s];`; of `tcgen05` there \
     is `tcgen05.commit full[s];`",
);
const LAUNCHES: Hint = Write(
    "ask by `clusterlaunchcontrol.try_cancel answer, full;` with `shared answer;` and an mbarrier object `full`, and \
     write `read answer;` where the answer is looked at",
);

fn statement(text: &str) -> Option<Hint> {
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
        "cuda" => MBARRIERS,
        _ if is(text, &["bar.warp", "barrier.warp", "__syncwarp"]) => LANES,
        _ if is(text, &["elect"]) => Write(
            "one lane is elected: write `elect.sync _|p, 0xffffffff;`, or `if elect { mbarrier.arrive full[0]; }`",
        ),
        _ if is(text, &["shfl", "vote", "match", "redux", "activemask"]) => LANES,
        _ if ["__shfl", "__ballot", "__any", "__all", "__match", "__reduce"]
            .iter()
            .any(|p| text.starts_with(p)) =>
        {
            LANES
        }
        _ if is(text, &["barrier.cluster", "cluster", "mapa"]) => CLUSTERS,
        _ if is(text, &["grid", "cg", "cooperative_groups", "this_grid"]) => GRID,
        _ if is(text, &["mbarrier"]) => MBARRIERS,
        _ if is(text, &["fence.proxy"]) => PROXIES,
        _ if is(text, &["clusterlaunchcontrol"]) => LAUNCHES,
        _ if is(text, &["membar", "fence"]) => Write("within a CTA it is `membar.cta;`"),
        _ if is(text, &["bar.arv"]) => Write("write `bar.arrive a, b;`"),
        "bar.red.popc" => Write("write `bar.red.popc.u32 d, a, p;`"),
        "bar.red.and" | "bar.red.or" => Write("write its type as well: `bar.red.and.pred d, a, p;`"),
        _ if is(text, &["cp.async.bulk.tensor", "cp.async.bulk"]) => BULK,
        _ if is(text, &["wgmma", "tcgen05"]) => PRODUCTS,
        _ if is(text, &["cp.async", "cp.reduce"]) => COPIES,
        _ if is(text, &["ld", "st", "atom", "red", "multimem"]) => ACCESS,
        _ => return None,
    })
}
