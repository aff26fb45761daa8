//! What the names of diagnostics mean, for those who want to know more than the message says.

/// A kind of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name, as it stands in brackets behind `error` or `warning`.
    pub name: &'static str,
    /// What is wrong, in sentences.
    pub meaning: &'static str,
    /// What to do about it, in sentences.
    pub fix: &'static str,
}

/// The kind with this name.
///
/// ```
/// let kind = barcheck_specs::kinds::kind("no-size").expect("there is one");
/// assert_eq!(kind.meaning, "The size of the group is missing.");
/// ```
#[must_use]
pub fn kind(name: &str) -> Option<Kind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

const fn of(name: &'static str, meaning: &'static str, fix: &'static str) -> Kind {
    Kind { name, meaning, fix }
}

/// All of them, in the order of their names.
pub const KINDS: &[Kind] = &[
    of(
        "agents-missing",
        "Some agents of the group belong to no block, so that nobody says what they do.",
        "Give every agent a block; agents that do nothing have an empty one, as they may still be \
         counted by a barrier. A range ends before its last number.",
    ),
    of(
        "agents-outside",
        "A block names an agent that the group does not have.",
        "Agents are counted from 0. Make the group larger, or the range smaller: it ends before \
         its last number.",
    ),
    of(
        "agents-overlap",
        "Two blocks name the same agent.",
        "Each agent belongs to one block. What two roles have in common stands in both, or under \
         an `if` by the agent's index.",
    ),
    of(
        "arguments",
        "A block is used with too many or too few arguments.",
        "Give one for each of its parameters.",
    ),
    of(
        "array-length",
        "An array has no elements, or more than a protocol can have.",
        "Locations stand for parts of memory, not for words: one for each part that is handed \
         over as a whole is enough.",
    ),
    of(
        "assumed",
        "A verdict on a kernel rests on this, and the kernel does not show it.",
        "If it does not hold, the verdict does not either. The note says where it is taken for \
         true.",
    ),
    of(
        "block-as-value",
        "The name of a block stands where a number is wanted.",
        "A block is used in a statement of its own: `fill(i % 4);`.",
    ),
    of(
        "block-inside-block",
        "A block of agents stands inside another block.",
        "Close the block before it. To have only some of a block's agents do something, ask for \
         their index: `if warp == 0 { … }`.",
    ),
    of(
        "call",
        "An expression calls a function.",
        "There are no functions. Write the expression itself; what only the data decide is `?`.",
    ),
    of("comparison-chain", "Comparisons follow each other, as in `a < b < c`.", "Write `a < b && b < c`."),
    of("compound-assignment", "An assignment with an operator, as in `i += 1`.", "Write `i = i + 1;`."),
    of(
        "constant-fails",
        "A constant divides by zero, overflows or shifts too far.",
        "Look at the values that it is made of, those of `-D` included.",
    ),
    of(
        "data-dependent",
        "A kernel decides here by what it has loaded or computed of loaded values, and threads \
         may see different ones. Both outcomes are explored.",
        "Nothing, where the verdict is `verified`. Otherwise see whether threads can go \
         different ways: `--deny data-dependent` makes an error of it, `--param` settles what \
         rests on parameters.",
    ),
    of(
        "declaration-inside-block",
        "A `const`, `param`, `shared` or `global` stands inside a block.",
        "Declare it before the blocks. A number of one agent is `let n = 4;`.",
    ),
    of("declared-later", "A name is used above its declaration.", "Move the declaration up."),
    of(
        "duplicate-name",
        "Two declarations have the same name.",
        "Rename one of them. Constants, params and locations share their names.",
    ),
    of("duplicate-size", "The size of the group is declared twice.", "Leave one of the two out."),
    of(
        "empty-range",
        "The range of a block holds no agent.",
        "Ranges are half-open: `0..4` is 0, 1, 2 and 3, and `4..4` is nothing.",
    ),
    of(
        "evaluation",
        "An expression has no value where a run comes to it: an index is outside its array, a number is divided \
         by 0 or is beyond 64 bits. The protocol does not say what comes next, so nothing is decided behind it.",
        "The path shows by which values it comes about. Bound the loop or the index as the kernel does.",
    ),
    of("for-of-c", "A loop is written as in C.", "Write `for i in 0..4 { … }`."),
    of(
        "group-size",
        "The number of threads of a CTA is not known, or is none that a kernel can be launched with.",
        "Say with how many it is launched: `--cta X`, or `--cta X,Y,Z`. `.reqntid` and `.maxntid` of the \
         kernel must agree with it.",
    ),
    of("guard", "An instruction has a guard, which this target does not have.", "Write `if … { … }`."),
    of(
        "head",
        "The head of a file, which `--expect` reads, says what cannot be.",
        "A head has `// expect: verified` (or violated, inconclusive, error) and `// rules: none` \
         (or their names, joined by commas), and may have `// options: -D N=4`.",
    ),
    of("increment", "A variable is counted up or down with `++` or `--`.", "Write `i = i + 1;`."),
    of(
        "indexing",
        "An array without an index, or a single location with one.",
        "Write `buf[0]` for an array and `flag` for a single location.",
    ),
    of("invalid-utf8", "The file is not text in UTF-8.", "Save it as UTF-8. Is it a protocol at all?"),
    of(
        "location-as-value",
        "The name of a location stands where a number is wanted.",
        "Locations have no values. What depends on data is `?`; a number of one agent is `let n = \
         …;`.",
    ),
    of(
        "malformed-number",
        "A number has digits that it cannot have.",
        "Numbers are decimal, or hexadecimal after `0x`.",
    ),
    of("missing-semicolon", "A statement does not end.", "Add `;` at the place that is marked."),
    of("more-errors", "There are more errors than are shown.", "Mend those that are shown and look again."),
    of(
        "no-braces",
        "A statement stands where a block is wanted.",
        "Write braces, also around a single statement.",
    ),
    of(
        "no-entry",
        "A module has no kernel, or none with the number that is asked for.",
        "Only functions with `.entry` and a body are launched. A module of functions alone is linked into \
         another first.",
    ),
    of(
        "no-name",
        "Something stands where a name is wanted and is none.",
        "A name has letters, digits and `_`. Registers of other languages are locals here: `let \
         r1 = …;`.",
    ),
    of(
        "no-reason",
        "An `allow` has no reason.",
        "Say why the finding may be: `allow arrival-race \"either may come first\";`. Reports show it.",
    ),
    of(
        "no-result",
        "The result of an instruction is assigned that has none.",
        "Leave `… =` out, or name the instruction that gives a handle.",
    ),
    of(
        "no-size",
        "The size of the group is missing.",
        "Declare it before the blocks: `cta 64;`, `thread_group 2;` or `workgroup 4;`, as the \
         target has it.",
    ),
    of(
        "no-subgroup-size",
        "A barrier has the scope `Subgroup`, and nothing says how many invocations are in a subgroup.",
        "Declare it before the blocks, as the compiler makes them: `subgroup_size 16;`.",
    ),
    of(
        "no-target",
        "The file does not begin with a target.",
        "Write `target`, a name and `;` first: it says whose instructions the file has. There is \
         no reader of kernels: describe what one does at its barriers.",
    ),
    of(
        "not-allowed",
        "An `allow` names a rule at which the run ends: what happens behind it nobody knows.",
        "Mend the protocol. For one run, `--allow` and `--warn` change what is reported.",
    ),
    of(
        "not-assignable",
        "What stands on the left of `=` cannot be changed.",
        "Declare a number of the agent's own: `let n = i;`.",
    ),
    of(
        "not-constant",
        "A constant depends on who computes it.",
        "What differs between agents stands in their blocks only.",
    ),
    of(
        "not-followed",
        "A kernel does something here that is not followed. Nothing need be wrong with it: the verdict is \
         `inconclusive`.",
        "Do what the help below it says, if there is one. `barcheck doctor` shows what is found in the kernel \
         and what is not. What the kernel does at its barriers can be written down as a protocol: `barcheck new` \
         begins one.",
    ),
    of(
        "not-mlir",
        "What is read as MLIR is none.",
        "A module has operations with the name of their dialect. `mlir-opt` writes bytecode as text.",
    ),
    of(
        "not-modelled",
        "An instruction of the target that barcheck knows of and does not model.",
        "The note says why. If no barrier depends on it, leave it out.",
    ),
    of(
        "not-ptx",
        "What is read as PTX is none.",
        "A module begins with `.version`. `cuobjdump -ptx` takes PTX out of an object or a library.",
    ),
    of(
        "not-sass",
        "What is read as a listing of machine code holds no instruction.",
        "`cuobjdump -sass` and `nvdisasm` make a listing of an object or a library. An instruction ends with a \
         semicolon: `BAR.SYNC 0x0 ;`.",
    ),
    of(
        "not-spirv",
        "What is read as SPIR-V is none.",
        "A binary begins with the word 0x07230203, text with an instruction. `spirv-dis` makes text of a binary.",
    ),
    of(
        "not-visa",
        "What is read as vISA is none.",
        "A kernel begins with `.kernel`. What is read is the text, not what is assembled from it.",
    ),
    of(
        "number-too-large",
        "A number does not fit into 64 bits.",
        "Numbers are signed: at most 9223372036854775807.",
    ),
    of(
        "object-as-value",
        "The name of an mbarrier object stands where a number is wanted.",
        "Instructions act on objects: `mbarrier.arrive full[0];`.",
    ),
    of(
        "object-count",
        "An mbarrier object is to expect a number of arrivals that none can expect.",
        "A phase expects 1 to 1048575 arrivals, counted by lanes.",
    ),
    of(
        "operand",
        "An operand is not of the kind that its instruction takes.",
        "The help says what it takes.",
    ),
    of(
        "operand-count",
        "An instruction has more or fewer operands than it takes.",
        "The help shows its forms.",
    ),
    of(
        "outside-loop",
        "A `break` or `continue` stands outside of any loop.",
        "To end an agent, write `exit;`.",
    ),
    of(
        "parentheses",
        "The operands of an instruction stand in parentheses.",
        "Write them without: `bar.sync 1, 64;`.",
    ),
    of(
        "register-name",
        "A name is declared that is one of the target's registers.",
        "Registers need no declaration. Choose another name for anything else.",
    ),
    of(
        "reserved-word",
        "A keyword stands where a name is wanted.",
        "Choose another name. Keywords are matched without regard to case.",
    ),
    of("reversed-range", "A range runs backwards.", "Write the smaller number first."),
    of(
        "rule-elsewhere",
        "An `allow` names a rule that the target of the protocol does not have.",
        "`barcheck rules --target ptx` lists those of a target.",
    ),
    of("second-target", "The file has two targets.", "A protocol has one. Make two files."),
    of(
        "sequence-differs",
        "One name for shared decisions and for shared numbers, or for numbers of different ranges.",
        "All that has one name is decided together, so it must be the same: give each a name of its own.",
    ),
    of(
        "several-entries",
        "A module has several kernels with barriers, and one is wanted.",
        "Choose it by `--entry NAME`.",
    ),
    of(
        "size-range",
        "The size of the group is 0, negative, or more than the target has.",
        "The note says what it may be. Is it given in the right unit: threads, or agents?",
    ),
    of(
        "statement-outside-block",
        "A statement stands outside of any block.",
        "Say who runs it: `warps 0..4 { … }`, as the target calls its agents.",
    ),
    of("step", "A loop has a step.", "Loops step by 1: write `for k in 0..4 { let i = 2 * k; … }`."),
    of("stray-else", "An `else` belongs to no `if`.", "It stands directly behind the `}` of an `if`."),
    of("syntax", "The text is not of the language at this place.", "The message says what is expected."),
    of(
        "too-deep",
        "Blocks or expressions are nested too deeply.",
        "Write it flatter: no kernel nests its barriers so deep.",
    ),
    of(
        "too-long",
        "The file is longer than a protocol can be.",
        "Describe the barriers and leave everything else out.",
    ),
    of(
        "too-many-locations",
        "There are more locations than a protocol can have.",
        "One location for each part of memory that is handed over as a whole is enough.",
    ),
    of(
        "too-many-objects",
        "There are more mbarrier objects than shared memory has room for.",
        "One object for each stage and direction is enough.",
    ),
    of(
        "too-much-expanded",
        "The statements that stand in the place of uses of blocks are too many.",
        "Write a loop around one use.",
    ),
    of("twice", "Something is given twice that may be given once.", "Leave one of the two out."),
    of(
        "unclosed",
        "A kernel ends before what was opened in it is closed.",
        "The file may have been cut short: compile it again, or copy it whole.",
    ),
    of(
        "unclosed-block",
        "A block is never closed.",
        "Add `}`. If the place that is marked looks right, the indentation may show another.",
    ),
    of("unclosed-comment", "A comment is never closed.", "End it with `*/`."),
    of("unclosed-string", "A text between quotation marks does not end on its line.", "End it with `\"`."),
    of(
        "uniform-range",
        "A number that all agents share has no value, or too many.",
        "Every value is searched: name a range as small as shows what matters.",
    ),
    of(
        "unknown-character",
        "A character that no protocol has.",
        "Names have the letters a to z, digits and `_`; comments begin with `//`.",
    ),
    of(
        "unknown-declaration",
        "A word begins no declaration and no block.",
        "Is it misspelt, or a `}` too many before it?",
    ),
    of(
        "unknown-format",
        "Nothing is known that is written like this.",
        "Name the file with its ending: `.bar`.",
    ),
    of(
        "unknown-id",
        "A module uses a value, a block or a function that nothing in it defines.",
        "The module may have been cut short or put together by hand. `spirv-val` and `mlir-opt` say more.",
    ),
    of(
        "unknown-instruction",
        "The target has no such instruction.",
        "The help says what was probably meant, or to which target it belongs.",
    ),
    of(
        "unknown-label",
        "A branch goes to a label that cannot be seen from where it stands.",
        "A label is known in the braces around it, and a function does not see those of another.",
    ),
    of(
        "unknown-name",
        "Nobody declares this name.",
        "Declare it: `const`, `param` or a location before the blocks, `let` inside them.",
    ),
    of(
        "unknown-register",
        "A name looks like a register of the target and is none.",
        "The note lists those that there are.",
    ),
    of("unknown-rule", "An `allow` names no rule and no lint.", "`barcheck rules` lists them."),
    of(
        "unknown-statement",
        "A word begins no statement.",
        "Is it misspelt? There are no calls: write what is called where it is called. Arithmetic \
         that no barrier depends on is left out.",
    ),
    of("unknown-target", "There is no such target.", "The note lists those that there are."),
    of("unknown-word", "A word that an operand does not have.", "The note lists those that there are."),
    of("unmatched-brace", "A `}` closes nothing.", "Remove it, or add the `{` that it belongs to."),
    of(
        "uses-itself",
        "A block is used inside itself.",
        "Its statements stand in the place of each use, which would never end. Write a loop.",
    ),
    of(
        "wrong-index-for-target",
        "The index of another target's agents.",
        "The help says what agents of this target are called.",
    ),
    of(
        "wrong-word-for-target",
        "A declaration or block of another target.",
        "The help says how this target has it.",
    ),
];
