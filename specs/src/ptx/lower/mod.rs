//! From the syntax tree of a module to the code of one entry, as the extraction of protocols reads it.

mod accesses;
mod addresses;
mod arithmetic;
mod bits;
mod calls;
mod clusters;
mod data;
mod dispatch;
mod flow;
mod functions;
mod objects;
mod opcodes;
mod pairs;
mod registers;
mod selections;
mod state;
mod stores;
mod types;

use std::collections::HashMap;

use crate::kernel::code::Code;
use crate::module::Launch;

use super::syntax::Module;
use state::Lowerer;

pub(super) use calls::synchronises;
pub(super) use registers::each as registers_of_each;
pub(super) use stores::shares;

/// The code of the entry at `entry` in the module, with what it calls as far as that may synchronise.
pub(super) fn lower(source: &str, module: &Module, entry: usize, launch: &Launch) -> Code {
    // Of a cluster each CTA has memory of its own, which others may access.
    let follows_memory = launch.follows_memory && launch.groups() == 1;
    // In this entry, or in what it may call.
    let some = |is: &dyn Fn(&str) -> bool| {
        let entries = module.functions.iter().enumerate();
        let mut own = entries.filter(|(at, function)| *at == entry || !function.is_entry);
        own.any(|(_, function)| {
            let mut instructions = function.body.iter().flat_map(|body| &body.instructions);
            instructions.any(|instruction| is(instruction.opcode.text(source)))
        })
    };
    let occurs = |word: &str| some(&|opcode| opcode.contains(word));
    let mut lowerer = Lowerer {
        source,
        module,
        launch,
        code: Code::default(),
        names: HashMap::new(),
        cells: HashMap::new(),
        concerned: calls::concerned(source, module),
        writing: stores::writing(source, module),
        sharing: stores::sharing(source, module),
        frames: Vec::new(),
        frame_count: 0,
        halves: HashMap::new(),
        copies_arrive: follows_memory && occurs("cp.async.mbarrier.arrive"),
        copies_out: follows_memory && occurs("bulk_group"),
        lands: follows_memory && occurs("mbarrier::complete_tx::bytes"),
        // Objects are looked at wherever they are initialised.
        releases: (follows_memory || occurs("mbarrier.init"))
            && some(&|opcode| {
                opcode.contains("barrier") && opcode.contains(".arrive") && opcode.contains(".relaxed")
            }),
        masks: Vec::new(),
        asks: source.contains("_wait"),
        loads: source.split("ld.").skip(1).any(|rest| !rest.starts_with("param"))
            || ["ldmatrix", "ldu.", "atom.", "tex.", "tld4.", "suld.", "multimem."]
                .iter()
                .any(|word| source.contains(word)),
    };
    lowerer.code.follows_memory = follows_memory;
    if let Some(function) = module.functions.get(entry)
        && let Some(body) = &function.body
    {
        lowerer.inline(entry, body, HashMap::new());
    }
    lowerer.meetings_by_register();
    if addresses::changes_boxes(source, module, entry) {
        lowerer.code.maps.clear();
    }
    lowerer.code
}
