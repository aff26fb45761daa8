//! What is being laid out: the code so far, and the functions on the way.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Code, Function, Guard, Instruction, Memory, Register};
use crate::module::Launch;
use crate::spirv::declarations::Declarations;
use crate::spirv::error::SpirvError;
use crate::spirv::syntax::Listing;
use crate::spirv::words::Builtin;

/// What an id stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// The numbers that it is made of.
    Leaves(Vec<Argument>),
    Pointer(Pointer),
}

/// Where a pointer leads, as far as that is known.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) root: Root,
    /// The type of what is there.
    pub(super) ty: u32,
    /// The first of its numbers among those of the root.
    pub(super) first: usize,
    /// That is known.
    pub(super) is_exact: bool,
    /// Others may write there at any time.
    pub(super) is_watched: bool,
}

/// What a pointer is counted from.
#[derive(Clone, Debug)]
pub(super) enum Root {
    /// A variable of one invocation.
    Local(Rc<[Register]>),
    Builtin(Builtin),
    /// Memory, at an address.
    Memory(Memory, Argument),
    /// Anything.
    Anywhere,
}

/// A function whose code is being laid out.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Its position among the functions.
    pub(super) function: usize,
    /// Which of the calls that are inlined it is.
    pub(super) call: usize,
    pub(super) values: HashMap<u32, Value>,
    /// Where blocks begin in the code.
    pub(super) labels: HashMap<u32, usize>,
    /// Jumps to be set: the instruction of the code, and the block that it leads to.
    pub(super) jumps: Vec<(usize, u32)>,
    /// Jumps to the end of the function.
    pub(super) returns: Vec<usize>,
    /// What gets the result.
    pub(super) result: Vec<Argument>,
    /// The block that is being laid out.
    pub(super) block: u32,
    /// Where the phis of each block begin in the module.
    pub(super) phis: HashMap<u32, usize>,
}

pub(super) struct Lowerer<'m> {
    pub(super) listing: &'m Listing,
    pub(super) declarations: &'m Declarations,
    pub(super) launch: &'m Launch,
    /// The constants that are what it says of the size of a group.
    pub(super) launched: HashMap<u32, u64>,
    /// The invocations of a subgroup, if they are known.
    pub(super) subgroup: Option<u64>,
    pub(super) code: Code,
    /// The positions of names in the code.
    pub(super) names: HashMap<String, u32>,
    /// What is outside of functions and has been needed.
    pub(super) globals: HashMap<u32, Value>,
    /// Variables whose address is handed on.
    pub(super) escaped: HashSet<u32>,
    /// Calls that have been inlined.
    pub(super) calls: usize,
    /// The functions that are being laid out, the innermost last.
    pub(super) frames: Vec<Frame>,
    pub(super) has_subgroups: bool,
    /// The module has barriers in two halves, between which there may be no other.
    pub(super) has_halves: bool,
    /// The first thing that is wrong.
    pub(super) error: Option<SpirvError>,
}

impl Lowerer<'_> {
    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn emit(&mut self, span: Span, action: Action) {
        self.code.instructions.push(Instruction { guard: None, action, span });
    }

    pub(super) fn emit_if(&mut self, guard: Guard, span: Span, action: Action) {
        self.code.instructions.push(Instruction { guard: Some(guard), action, span });
    }

    pub(super) fn beyond(&mut self, span: Span, what: impl Into<String>) {
        self.emit(span, Action::Beyond(what.into()));
    }

    pub(super) fn compute(&mut self, span: Span, to: Argument, function: Function, arguments: &[Argument]) {
        if let Argument::Register(to) = to {
            self.emit(span, Action::Compute { to, function, arguments: arguments.to_vec() });
        }
    }

    /// The value of a function, in a register of this reader's own.
    pub(super) fn intermediate(
        &mut self,
        span: Span,
        function: Function,
        arguments: &[Argument],
    ) -> Argument {
        let to = Argument::Register(self.code.register("t"));
        self.compute(span, to, function, arguments);
        to
    }

    pub(super) fn unknown(&mut self, span: Span) -> Argument {
        self.intermediate(span, Function::Unknown, &[])
    }

    /// Something that is the same for all, by its name.
    pub(super) fn same(&mut self, name: &str) -> Argument {
        Argument::Same(self.name(name))
    }

    /// The position of a name.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let position = self.code.names.len() as u32;
        self.code.names.push(name.to_owned());
        self.names.insert(name.to_owned(), position);
        position
    }

    /// What an id is called: as the module names it, else by its number.
    pub(super) fn called(&self, id: u32) -> String {
        called(self.listing, self.declarations, id)
    }

    /// The first thing that is wrong.
    pub(super) fn undefined(&mut self, id: u32, span: Span) {
        if self.error.is_none() {
            let name = self.listing.id_name(id);
            self.error = Some(SpirvError::Undefined(name, span));
        }
    }
}

/// What an id is called: as the module names it, else by its number.
pub(in crate::spirv) fn called(listing: &Listing, declarations: &Declarations, id: u32) -> String {
    let own = listing.id_name(id);
    let is_word = own.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = if is_word { own.clone() } else { format!("v{own}") };
    match declarations.names.get(&id) {
        // What is the same for all is told apart by its name.
        Some(name) if declarations.is_named_once(name) => name.chars().take(60).collect(),
        Some(name) if !name.is_empty() => format!("{}_{own}", name.chars().take(60).collect::<String>()),
        _ if declarations.is_free(&plain) => plain,
        _ => format!("{plain}_{own}"),
    }
}
