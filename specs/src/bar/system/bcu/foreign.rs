//! What SASS has, and what it is here.

use crate::bar::foreign_syntax::hint::{ACCESS, CLUSTER, COPIES, Foreign, Hint, Kernel, LANES, MBARRIER, is};
use Hint::{NotModelled, Write};

pub(in crate::bar::system) const FOREIGN: Foreign =
    Foreign { compiled: &[SASS, Kernel { sign: ".headerflags", ..SASS }], written: &[], statement };

const SASS: Kernel = Kernel {
    sign: "/*0000*/",
    language: "SASS",
    how: "name the file `kernel.sass`, and say how many threads a CTA has: `barcheck verify --cta 128 kernel.sass`",
};

fn statement(text: &str) -> Option<Hint> {
    Some(match text {
        "__syncthreads" | "syncthreads" => Write("write `BAR.SYNC 0;`"),
        "bar" | "barrier" => Write("write `BAR.SYNC id, cnt;` or `BAR.ARV id, cnt;`"),
        _ if is(text, &["bar.sync"]) => Write("write `BAR.SYNC`, without what follows"),
        "bar.arrive" => Write("write `BAR.ARV id, cnt;`"),
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
