//! What a reader accepts at most, in one place, each with its reason.

/// Bytes of a source file. Positions are 32 bits wide, reading takes up to a hundred times the memory of the
/// text, and a file beyond this size is not a protocol.
pub const SOURCE_BYTES: usize = 24 << 20;

/// Levels of nesting, of blocks (an `else if` is one inside the other) and of the operators in an expression.
/// Everything that walks a tree recurses at most this deep, so that no text can exhaust the stack.
pub const NESTING: u32 = 200;

/// Errors shown for one file; the others are counted.
pub const ERRORS: usize = 20;

/// Threads of a CTA: what every CUDA device has allowed since compute capability 2.0.
pub const CTA_THREADS: i64 = 1024;

/// CTAs of a cluster: what devices allow that are asked for more than the portable 8.
pub const CLUSTER_CTAS: i64 = 16;

/// Members of a thread group or workgroup: the largest that Intel's devices run (`nbarrier`, `xegpu`), and
/// what OpenCL and Vulkan implementations offer (`split_barrier`).
pub const GROUP_SIZE: i64 = 1024;

/// Memory locations, of one array and of all together, in all CTAs of a cluster. Each costs the search
/// knowledge of every agent.
pub const LOCATIONS: i64 = 65_536;

/// mbarrier objects, of one array and of all together: as many as fit into the largest shared memory of a
/// CTA, 227 KiB, at 8 bytes each.
pub const OBJECTS: i64 = 29_056;

/// Statements that stand in the place of uses of shared blocks. Blocks that use one another twice each would
/// double them with every block.
pub const EXPANDED: usize = 100_000;

/// Numbers in a range that all agents draw from. Every one is searched.
pub const UNIFORM_NUMBERS: i128 = 65_536;

/// Bytes of a word that is compared with others to find what was meant.
pub const SUGGESTED_WORD: usize = 64;
