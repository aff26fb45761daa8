//! Enumerants that matter, by name and number.

/// Storage classes.
pub(super) mod class {
    pub(in crate::spirv) const UNIFORM_CONSTANT: u32 = 0;
    pub(in crate::spirv) const INPUT: u32 = 1;
    pub(in crate::spirv) const UNIFORM: u32 = 2;
    pub(in crate::spirv) const WORKGROUP: u32 = 4;
    pub(in crate::spirv) const CROSS_WORKGROUP: u32 = 5;
    pub(in crate::spirv) const PRIVATE: u32 = 6;
    pub(in crate::spirv) const FUNCTION: u32 = 7;
    pub(in crate::spirv) const PUSH_CONSTANT: u32 = 9;
    pub(in crate::spirv) const STORAGE_BUFFER: u32 = 12;
    pub(in crate::spirv) const PHYSICAL_STORAGE_BUFFER: u32 = 5349;

    pub(in crate::spirv) const WORDS: [(&str, u32); 10] = [
        ("UniformConstant", UNIFORM_CONSTANT),
        ("Input", INPUT),
        ("Uniform", UNIFORM),
        ("Workgroup", WORKGROUP),
        ("CrossWorkgroup", CROSS_WORKGROUP),
        ("Private", PRIVATE),
        ("Function", FUNCTION),
        ("PushConstant", PUSH_CONSTANT),
        ("StorageBuffer", STORAGE_BUFFER),
        ("PhysicalStorageBuffer", PHYSICAL_STORAGE_BUFFER),
    ];
}

/// Execution models whose invocations are launched in workgroups.
pub(super) const MODELS: [(&str, u32); 6] = [
    ("GLCompute", 5),
    ("Kernel", 6),
    ("TaskNV", 5267),
    ("MeshNV", 5268),
    ("TaskEXT", 5364),
    ("MeshEXT", 5365),
];

/// Execution modes.
pub(super) mod mode {
    pub(in crate::spirv) const LOCAL_SIZE: u32 = 17;
    pub(in crate::spirv) const SUBGROUP_SIZE: u32 = 35;
    pub(in crate::spirv) const LOCAL_SIZE_ID: u32 = 38;
    pub(in crate::spirv) const MAX_WORKGROUP_SIZE: u32 = 5893;

    pub(in crate::spirv) const WORDS: [(&str, u32); 4] = [
        ("LocalSize", LOCAL_SIZE),
        ("SubgroupSize", SUBGROUP_SIZE),
        ("LocalSizeId", LOCAL_SIZE_ID),
        ("MaxWorkgroupSizeINTEL", MAX_WORKGROUP_SIZE),
    ];
}

/// Decorations.
pub(super) mod decoration {
    pub(in crate::spirv) const SPEC_ID: u32 = 1;
    pub(in crate::spirv) const BUFFER_BLOCK: u32 = 3;
    pub(in crate::spirv) const BUILT_IN: u32 = 11;
    pub(in crate::spirv) const VOLATILE: u32 = 21;
    pub(in crate::spirv) const COHERENT: u32 = 23;

    pub(in crate::spirv) const WORDS: [(&str, u32); 5] = [
        ("SpecId", SPEC_ID),
        ("BufferBlock", BUFFER_BLOCK),
        ("BuiltIn", BUILT_IN),
        ("Volatile", VOLATILE),
        ("Coherent", COHERENT),
    ];
}

/// What an invocation knows of itself and of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    WorkgroupSize,
    WorkgroupId,
    LocalInvocationId,
    GlobalInvocationId,
    LocalInvocationIndex,
    /// Equal to the subgroup's size, where that is known.
    SubgroupSize,
    NumSubgroups,
    SubgroupId,
    SubgroupLocalInvocationId,
    /// The same for the whole group: by this name.
    Same(&'static str),
    Other,
}

const BUILTINS: [(&str, u32, Builtin); 18] = [
    ("NumWorkgroups", 24, Builtin::Same("NumWorkgroups")),
    ("WorkgroupSize", 25, Builtin::WorkgroupSize),
    ("WorkgroupId", 26, Builtin::WorkgroupId),
    ("LocalInvocationId", 27, Builtin::LocalInvocationId),
    ("GlobalInvocationId", 28, Builtin::GlobalInvocationId),
    ("LocalInvocationIndex", 29, Builtin::LocalInvocationIndex),
    ("WorkDim", 30, Builtin::Same("WorkDim")),
    ("GlobalSize", 31, Builtin::Same("GlobalSize")),
    // Of the last workgroup of a launch the size may be another than that which is enqueued.
    ("EnqueuedWorkgroupSize", 32, Builtin::Same("EnqueuedWorkgroupSize")),
    ("GlobalOffset", 33, Builtin::Same("GlobalOffset")),
    ("SubgroupSize", 36, Builtin::SubgroupSize),
    ("SubgroupMaxSize", 37, Builtin::Same("SubgroupMaxSize")),
    ("NumSubgroups", 38, Builtin::NumSubgroups),
    ("NumEnqueuedSubgroups", 39, Builtin::Same("NumEnqueuedSubgroups")),
    ("SubgroupId", 40, Builtin::SubgroupId),
    ("SubgroupLocalInvocationId", 41, Builtin::SubgroupLocalInvocationId),
    ("DeviceIndex", 4438, Builtin::Same("DeviceIndex")),
    ("ViewIndex", 4440, Builtin::Same("ViewIndex")),
];

impl Builtin {
    pub(super) fn of_word(word: &str) -> Self {
        BUILTINS.iter().find(|(known, ..)| *known == word).map_or(Self::Other, |(.., builtin)| *builtin)
    }

    pub(super) fn of_number(number: u64) -> Self {
        let is_it = |known: &u32| u64::from(*known) == number;
        BUILTINS.iter().find(|(_, known, _)| is_it(known)).map_or(Self::Other, |(.., builtin)| *builtin)
    }
}

/// A scope as protocols write it. What is wider than a device contains whatever that contains.
pub(super) fn memory_scope(scope: u64) -> Option<&'static str> {
    Some(match scope {
        // clause: split_barrier.memory-scope
        0 | 1 | 5 => "Device",
        2 => "Workgroup",
        3 => "Subgroup",
        4 => "Invocation",
        _ => return None,
    })
}

/// The scope whose invocations meet, as protocols write it.
pub(super) fn execution_scope(scope: u64) -> Option<&'static str> {
    memory_scope(scope).filter(|_| matches!(scope, 1..=4))
}

/// Memory semantics as protocols write them; `None` for a combination that there is not.
pub(super) fn semantics(bits: u64) -> Option<String> {
    const ORDERS: u64 = 0x1e;
    const WORDS: [(u64, &str); 10] = [
        (0x2, "Acquire"),
        (0x4, "Release"),
        (0x8, "AcquireRelease"),
        (0x10, "SequentiallyConsistent"),
        (0x40, "UniformMemory"),
        (0x80, "SubgroupMemory"),
        (0x100, "WorkgroupMemory"),
        (0x200, "CrossWorkgroupMemory"),
        (0x400, "AtomicCounterMemory"),
        (0x800, "ImageMemory"),
    ];
    /// Outputs, availability, visibility, and what is volatile: no location of a protocol depends on them.
    const WITHOUT_WORD: u64 = 0x1000 | 0x2000 | 0x4000 | 0x8000;
    let known = WORDS.iter().fold(WITHOUT_WORD | 1, |known, (bit, _)| known | bit);
    if bits & !known != 0 || (bits & ORDERS).count_ones() > 1 {
        return None;
    }
    let words: Vec<&str> = WORDS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, word)| *word).collect();
    Some(if words.is_empty() { "None".to_owned() } else { words.join("|") })
}

/// Whether what is stored in the memory of a workgroup before a barrier with these semantics is seen behind
/// it.
// clause: split_barrier.semantics-none, split_barrier.storage-classes
pub(super) fn hands_on(bits: u64) -> bool {
    const BOTH_WAYS: u64 = 0x8 | 0x10;
    const WORKGROUP: u64 = 0x100;
    bits & BOTH_WAYS != 0 && bits & WORKGROUP != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semantics_are_words_again() {
        assert_eq!(semantics(0x108).as_deref(), Some("AcquireRelease|WorkgroupMemory"));
        assert_eq!(semantics(0).as_deref(), Some("None"));
        assert_eq!(
            semantics(912).as_deref(),
            Some("SequentiallyConsistent|SubgroupMemory|WorkgroupMemory|CrossWorkgroupMemory")
        );
        assert_eq!(semantics(0x106), None);
        assert_eq!(semantics(0x10000), None);
    }

    #[test]
    fn only_both_orders_of_the_memory_of_a_workgroup_hand_on_what_is_stored_there() {
        assert!(hands_on(0x108) && hands_on(0x110) && hands_on(0x318));
        assert!(!hands_on(0) && !hands_on(0x208) && !hands_on(0x100) && !hands_on(0x102) && !hands_on(0x104));
    }

    #[test]
    fn no_barrier_is_wider_than_a_device() {
        assert_eq!((memory_scope(0), execution_scope(0)), (Some("Device"), None));
        assert_eq!(execution_scope(2), Some("Workgroup"));
        assert_eq!(memory_scope(6), None);
    }
}
