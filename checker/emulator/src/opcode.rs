//! What an opcode does, by its words.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
}

/// A type of numbers. A predicate has one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub kind: Kind,
    pub bits: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Param,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    Sync,
    Arrive,
    And,
    Or,
    Popc,
}

/// What all lanes of a mask do together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Together {
    Shuffle(String),
    Vote(String),
    Match,
    Reduce(String, Type),
    Elect,
    Meet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// `d = f(…)`
    Alu(String, Type),
    /// A product of the low half, the high half or the whole, perhaps with something added.
    Product {
        half: char,
        adds: bool,
        of: Type,
    },
    Move(Type),
    /// To, from, how it is rounded.
    Convert(Type, Type, String),
    /// The comparison, how it is combined with another predicate, the type, whether the result is a mask.
    Compare {
        by: String,
        with: Option<String>,
        of: Type,
        masks: Option<Type>,
    },
    Load {
        space: Space,
        of: Type,
        is_fresh: bool,
    },
    Store {
        space: Space,
        of: Type,
    },
    Atomic {
        space: Space,
        of: Type,
        by: String,
        returns: bool,
    },
    /// An address of a window becomes generic (`true`), or the other way round.
    ToGeneric(Space, bool),
    IsIn(Space),
    Copy,
    Branch,
    Jump,
    Exit,
    Trap,
    Together {
        what: Together,
        has_mask: bool,
    },
    /// `wgmma`: commits a group of what a warpgroup computes, or waits for groups.
    Groups {
        waits: bool,
    },
    /// `setmaxnreg`: takes registers, or gives them.
    Registers {
        takes: bool,
    },
    Barrier {
        what: Arrival,
        is_aligned: bool,
    },
    ActiveMask,
    Memory(Memory),
    Nothing,
    /// Results that are a function of the operands; which one is of no interest.
    Opaque,
    Beyond,
}

/// What is done to an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    Initialise,
    Invalidate,
    /// Bytes are announced first; arrives afterwards; drops out.
    Arrive {
        expects: bool,
        drops: bool,
        /// It is not the last of a phase.
        no_complete: bool,
    },
    Expect,
    Test {
        by_parity: bool,
    },
    /// Bytes are copied, and reported to the mbarrier.
    Filled,
    /// What this thread has begun, arrives.
    Committed,
}

fn type_of(word: &str) -> Option<Type> {
    let (kind, bits) = word.split_at_checked(1)?;
    let kind = match kind {
        "b" => Kind::Bits,
        "u" => Kind::Unsigned,
        "s" => Kind::Signed,
        "f" => Kind::Float,
        _ if word == "pred" => return Some(Type { kind: Kind::Bits, bits: 1 }),
        _ => return None,
    };
    let bits = bits.parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))?;
    Some(Type { kind, bits })
}

const NONE: Type = Type { kind: Kind::Bits, bits: 64 };

/// Types of numbers that nobody computes with here.
const NARROW: [&str; 14] = [
    "f16", "f16x2", "bf16", "bf16x2", "tf32", "e4m3x2", "e5m2x2", "e2m1x2", "ue8m0x2", "e2m1x4", "e4m3x4",
    "f32x2", "u16x2", "s16x2",
];
const OPAQUE: [&str; 34] = [
    "mma",
    "wmma",
    "ldmatrix",
    "movmatrix",
    "tex",
    "tld4",
    "txq",
    "suld",
    "wgmma",
    "tcgen05",
    "ex2",
    "lg2",
    "sin",
    "cos",
    "tanh",
    "rcp",
    "rsqrt",
    "sqrt",
    "createpolicy",
    "testp",
    "copysign",
    "dp4a",
    "dp2a",
    "cvt",
    "add",
    "sub",
    "mul",
    "fma",
    "min",
    "max",
    "neg",
    "abs",
    "setp",
    "set",
];
const NOTHING: [&str; 23] = [
    "fence",
    "membar",
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "griddepcontrol",
    "nanosleep",
    "pmevent",
    "brkpt",
    "stmatrix",
    "sust",
    "tensormap",
    "cp.async.commit_group",
    "cp.async.wait_group",
    "cp.async.wait_all",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
    "cp.async.bulk.prefetch",
    "cp.reduce.async.bulk",
    "cp.async.bulk.tensor",
    "cp.async.bulk",
    "sured",
];

/// What an opcode does.
pub fn decode(opcode: &str) -> Op {
    let words: Vec<&str> = opcode.split('.').collect();
    let types: Vec<Type> = words.iter().filter_map(|word| type_of(word)).collect();
    let of = types.last().copied().unwrap_or(NONE);
    let is_narrow = words.iter().any(|word| NARROW.contains(word)) || of.bits == 128;
    let known = match words[0] {
        _ if words[0] == "tcgen05" && words.contains(&"commit") => Some(Op::Memory(Memory::Committed)),
        "mov" if is_narrow => None,
        "ld" | "ldu" | "st" | "atom" | "red" | "cp" => memory(&words, of, is_narrow),
        "mbarrier" => mbarrier(&words),
        "shfl" | "vote" | "match" | "redux" | "elect" => together(&words, of),
        "bar" | "barrier" => barrier(&words),
        "wgmma" if words.contains(&"commit_group") => Some(Op::Groups { waits: false }),
        "wgmma" if words.contains(&"wait_group") => Some(Op::Groups { waits: true }),
        "setmaxnreg" => Some(Op::Registers { takes: words.contains(&"inc") }),
        _ if is_narrow => None,
        "cvt" => convert(&words, &types),
        "setp" | "set" => compare(&words, &types),
        _ => arithmetic(&words, of).or_else(|| control(&words)),
    };
    let begins = |listed: &str| opcode == listed || opcode.starts_with(&format!("{listed}."));
    known.unwrap_or_else(|| {
        if NOTHING.iter().any(|listed| begins(listed)) {
            Op::Nothing
        } else if OPAQUE.contains(&words[0]) {
            Op::Opaque
        } else {
            Op::Beyond
        }
    })
}

fn space(words: &[&str]) -> Space {
    let of = |word: &&str| match word.split("::").next() {
        Some("global" | "const") => Some(Space::Global),
        Some("shared") => Some(Space::Shared),
        Some("local") => Some(Space::Local),
        Some("param") => Some(Space::Param),
        _ => None,
    };
    words.iter().find_map(of).unwrap_or(Space::Generic)
}

fn memory(words: &[&str], of: Type, is_narrow: bool) -> Option<Op> {
    let space = space(words);
    let is_fresh = ["volatile", "acquire", "relaxed", "mmio"].iter().any(|word| words.contains(word));
    if words.contains(&"async") {
        let is_mbarrier = words.contains(&"mbarrier::complete_tx::bytes");
        return match words {
            _ if is_mbarrier => Some(Op::Memory(Memory::Filled)),
            ["cp", "async", "ca" | "cg", ..] => Some(Op::Copy),
            ["cp", "async", "mbarrier", ..] => Some(Op::Beyond),
            ["cp", ..] => None,
            _ => Some(Op::Beyond),
        };
    }
    Some(match words[0] {
        "ld" | "ldu" if of.bits == 128 => Op::Opaque,
        "ld" | "ldu" => Op::Load { space, of, is_fresh },
        "st" if of.bits == 128 => Op::Beyond,
        "st" => Op::Store { space, of },
        "red" if is_narrow => Op::Nothing,
        "atom" if is_narrow => Op::Opaque,
        "atom" | "red" => {
            let known = ["add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"];
            let by = words.iter().find(|word| known.contains(word))?;
            Op::Atomic { space, of, by: (*by).to_owned(), returns: words[0] == "atom" }
        }
        _ => return None,
    })
}

fn mbarrier(words: &[&str]) -> Option<Op> {
    let expects = words.contains(&"expect_tx");
    let no_complete = words.contains(&"noComplete");
    let by_parity = words.contains(&"parity");
    Some(Op::Memory(match words[1] {
        "init" => Memory::Initialise,
        "inval" => Memory::Invalidate,
        "arrive" => Memory::Arrive { expects, drops: false, no_complete },
        "arrive_drop" => Memory::Arrive { expects, drops: true, no_complete },
        "expect_tx" => Memory::Expect,
        "test_wait" | "try_wait" => Memory::Test { by_parity },
        _ => return Some(Op::Beyond),
    }))
}

fn together(words: &[&str], of: Type) -> Option<Op> {
    let by = |known: &[&str]| words.iter().find(|word| known.contains(word)).map(|word| (*word).to_owned());
    let what = match words[0] {
        "shfl" => Together::Shuffle(by(&["up", "down", "bfly", "idx"])?),
        "vote" => Together::Vote(by(&["all", "any", "uni", "ballot"])?),
        "match" if words.contains(&"any") => Together::Match,
        "redux" if of.kind == Kind::Float => Together::Reduce("xor".to_owned(), of),
        "redux" => Together::Reduce(by(&["add", "min", "max", "and", "or", "xor"])?, of),
        "elect" => Together::Elect,
        _ => return Some(Op::Beyond),
    };
    Some(Op::Together { what, has_mask: words.contains(&"sync") })
}

fn barrier(words: &[&str]) -> Option<Op> {
    if words.contains(&"warp") {
        return Some(Op::Together { what: Together::Meet, has_mask: true });
    }
    if words.contains(&"cluster") {
        return Some(Op::Beyond);
    }
    let is_aligned = words[0] == "bar" || words.contains(&"aligned");
    let of = |word: &&str| match *word {
        "sync" => Some(Arrival::Sync),
        "arrive" => Some(Arrival::Arrive),
        "and" => Some(Arrival::And),
        "or" => Some(Arrival::Or),
        "popc" => Some(Arrival::Popc),
        _ => None,
    };
    Some(Op::Barrier { what: words.iter().find_map(of)?, is_aligned })
}

fn convert(words: &[&str], types: &[Type]) -> Option<Op> {
    let [to, from] = types else { return None };
    let how = words[1..words.len() - 2].join(".");
    (to.bits >= 8 && !is_half(*to) && !is_half(*from)).then_some(Op::Convert(*to, *from, how))
}

fn is_half(of: Type) -> bool {
    of.kind == Kind::Float && of.bits < 32
}

fn compare(words: &[&str], types: &[Type]) -> Option<Op> {
    let of = *types.last()?;
    let masks = (words[0] == "set").then(|| types.first().copied()).flatten();
    let by = words.get(1)?;
    let with = words[2..].iter().find(|word| ["and", "or", "xor"].contains(word));
    Some(Op::Compare { by: (*by).to_owned(), with: with.map(|word| (*word).to_owned()), of, masks })
}

/// What `arithmetic` computes.
const ALU: [&str; 35] = [
    "add", "sub", "mul", "div", "rem", "abs", "neg", "min", "max", "and", "or", "xor", "not", "cnot", "shl",
    "shr", "popc", "clz", "brev", "bfind", "bfe", "bfi", "prmt", "shf", "lop3", "selp", "slct", "sad", "fma",
    "mad", "mul24", "mad24", "fns", "szext", "bmsk",
];

fn arithmetic(words: &[&str], of: Type) -> Option<Op> {
    let half = |word: &&str| match *word {
        "lo" => Some('l'),
        "hi" => Some('h'),
        "wide" => Some('w'),
        _ => None,
    };
    let is_float = of.kind == Kind::Float;
    match words[0] {
        "mov" => Some(Op::Move(of)),
        "mul24" | "mad24" => {
            let is_low = words.contains(&"lo");
            is_low.then(|| Op::Alu(words[0].to_owned(), of))
        }
        "mul" | "mad" if !is_float => {
            let is_plain = !words.contains(&"cc") && !words.contains(&"sat");
            let half = words.iter().find_map(half)?;
            is_plain.then_some(Op::Product { half, adds: words[0] == "mad", of })
        }
        "add" | "sub" if words.contains(&"cc") || words.contains(&"sat") && !is_float => Some(Op::Beyond),
        "fns" | "szext" | "bmsk" => Some(Op::Beyond),
        "shf" | "prmt" if words.len() > 2 && words[0] == "prmt" => Some(Op::Beyond),
        "shf" => Some(Op::Alu(format!("shf.{}.{}", words[1], words[2]), of)),
        "bfind" if words.contains(&"shiftamt") => Some(Op::Beyond),
        "lop3" if of.bits == 1 => Some(Op::Beyond),
        name if ALU.contains(&name) => Some(Op::Alu(name.to_owned(), of)),
        "cvta" => {
            let to = words.contains(&"to");
            Some(Op::ToGeneric(space(words), !to))
        }
        "isspacep" => Some(Op::IsIn(space(words))),
        _ => None,
    }
}

fn control(words: &[&str]) -> Option<Op> {
    Some(match words[0] {
        "bra" => Op::Branch,
        "brx" => Op::Jump,
        "exit" | "ret" => Op::Exit,
        "trap" => Op::Trap,
        "activemask" => Op::ActiveMask,
        _ => return None,
    })
}
