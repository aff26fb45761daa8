//! Words of other languages, and what they are here.

pub(crate) mod hint;

use barcheck_model::program::Target;

use super::system;
use crate::common::diagnostic::WORDING;
use hint::Hint::{self, Write};
pub(crate) use hint::{Foreign, Kernel};

/// What the statement or instruction `text` is here, if it is known from elsewhere. Case does not count.
pub(crate) fn statement(text: &str, target: Target) -> Option<Hint> {
    if !WORDING {
        return None;
    }
    let text = text.to_ascii_lowercase();
    of_any_target(&text).or_else(|| (system::foreign(target).statement)(&text))
}

/// Whether a word is that of an access in plain words.
pub(crate) fn is_access(text: &str) -> bool {
    ["load", "store"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The language of a kernel, if `text` looks like one.
pub(crate) fn kernel(text: &str) -> Option<Kernel> {
    if !WORDING {
        return None;
    }
    // What is compiled may still have the words of its source in comments, so it is looked for first.
    let compiled = Target::ALL.map(|target| system::foreign(target).compiled);
    let written = Target::ALL.map(|target| system::foreign(target).written);
    let mut all = compiled.into_iter().chain(written).flatten();
    all.find(|kernel| text.contains(kernel.sign)).copied()
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

/// What to write where an instruction, `text`, stands as if it were a number.
pub(crate) fn instruction(text: &str, target: Target) -> Option<String> {
    match statement(text, target).filter(|_| text.contains('.'))? {
        Write(what) => Some(format!("an instruction is a statement of its own: {what}")),
        Hint::NotModelled(_) => None,
    }
}

/// What the name or call `text` of another language is here, in a sentence. Case, `_`, `%` and what follows a
/// dot do not count.
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
        | "gllocalinvocationindex" => {
            if target.has_lanes() {
                index("thread", "warp * 32 + lane")
            } else {
                index(own, own)
            }
        }
        "sgid" | "subgroupid" | "getsubgroupid" | "glsubgroupid" => {
            if system::notation(target).subgroups {
                index("subgroup", &format!("{own} / SIZE"))
            } else {
                index(own, own)
            }
        }
        "blockidx" | "ctaid" | "griddim" | "nctaid" | "clusterctaid" | "groupid" | "getgroupid" => {
            "a protocol is that of one group, which has no index".to_owned()
        }
        "blockdim" | "ntid" | "nwarpid" | "localsize" | "getlocalsize" => {
            "give the size a name before the blocks: `const SIZE = …;`".to_owned()
        }
        "dim3" => "one number says how many there are in all: `16 * 8`".to_owned(),
        "warpsize" => "a warp has 32 lanes".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::hint::{ACCESS, MBARRIER};
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
        assert_eq!(statement("SYNCS.arrive", Target::Bcu), Some(MBARRIER));
    }
}
