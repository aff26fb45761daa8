//! What MLIR has, and what it is here.

use crate::bar::foreign_syntax::hint::{ACCESS, Foreign, Hint, Kernel, is};
use Hint::NotModelled;

pub(in crate::bar::system) const FOREIGN: Foreign = Foreign {
    compiled: &[MLIR, Kernel { sign: "gpu.module", ..MLIR }, Kernel { sign: "func.func", ..MLIR }],
    written: &[],
    statement,
};

const MLIR: Kernel = Kernel {
    sign: "gpu.func",
    language: "MLIR",
    how: "name the file `kernel.mlir`: `barcheck verify kernel.mlir`",
};

fn statement(text: &str) -> Option<Hint> {
    Some(match text {
        "gpu.barrier" => {
            NotModelled("only named barriers are; one that all subgroups initialise does the same")
        }
        _ if is(text, &["xegpu.load", "xegpu.load_nd", "xegpu.store", "xegpu.store_nd"]) => ACCESS,
        _ if is(text, &["xegpu.atomic_rmw", "memref.load", "memref.store"]) => ACCESS,
        _ => return None,
    })
}
