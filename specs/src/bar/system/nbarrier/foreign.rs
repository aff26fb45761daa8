//! What vISA has, and what it is here.

use crate::bar::foreign_syntax::hint::{ACCESS, Foreign, Hint, Kernel, is};
use Hint::{NotModelled, Write};

pub(in crate::bar::system) const FOREIGN: Foreign = Foreign { compiled: &[VISA], written: &[], statement };

const VISA: Kernel = Kernel {
    sign: ".decl ",
    language: "vISA",
    how: "name the file `kernel.visaasm`: `barcheck verify kernel.visaasm`",
};

const VISA_BARRIER: Hint = NotModelled(
    "only the named barriers are; with `nbarrier.signal id, threads;` and `nbarrier.wait id;` a whole group \
     meets",
);

fn statement(text: &str) -> Option<Hint> {
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
