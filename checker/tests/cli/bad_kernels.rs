//! Kernels that are none, or that nobody would write: each is an error with its place or inconclusive, and
//! the other kernels of the module are decided.

use crate::support::{Folder, Run, run};
use std::fmt::Write;

const HEAD: &str = ".version 8.0\n.target sm_90\n";
/// What is decided whatever else stands in the module.
const GOOD: &str = ".visible .entry good() .reqntid 64\n{\nbar.sync 0;\nret;\n}\n";

fn verified(contents: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    run(&["verify", "--timeout", "60", &folder.add("k.ptx", contents)])
}

/// A module of a kernel with this body, and a good one.
fn module(body: &str) -> String {
    let registers = ".reg .pred %p<4>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;";
    format!("{HEAD}.visible .entry k() .reqntid 64\n{{\n{registers}\n{body}\nret;\n}}\n{GOOD}")
}

#[test]
fn what_is_no_module_is_an_error() {
    let whole = module("bar.sync 0;");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = [vec![0xff, 0xfe], wide(&whole)].concat();
    verified(&whole[..whole.len() - 20]).expect(2).says("k.ptx").says("the text ends before");
    verified((0..=255).cycle().take(5000).collect::<Vec<u8>>()).expect(2).says("this is no text");
    verified(wide(&whole)).expect(2).says("this is no text");
    verified(marked).expect(2).says("UTF-16");
    let bar = verified("target ptx;\ncta 64;\nwarps 0..2 { bar.sync 1, 64; }\n").expect(2);
    bar.says("a module begins with `.version`").says("a protocol written by hand is a `.bar` file");
    verified(HEAD).expect(2).says("there is no entry in this module");
    verified(format!("{HEAD}.func f() {{ bar.sync 0; ret; }}\n")).expect(2).says("there is no entry");
    // However it would be launched.
    let folder = Folder::new();
    for name in ["k.ptx", "k.spvasm", "k.mlir"] {
        let sized = run(&["verify", "--cta", "64", &folder.add(name, "")]).expect(2);
        assert!(!sized.err.contains("no FILE is one"), "{name}: {}", sized.err);
    }
}

#[test]
fn labels_lead_to_one_place() {
    verified(module("bra $NOWHERE;")).expect(2).says("there is no label `$NOWHERE` here");
    let twice = verified(module("$L:\nbar.sync 0;\n$L:\nbra $L;")).expect(2);
    twice.says("the label `$L` stands in two places");
    // In braces of their own they are two.
    verified(module("{\n$L:\nbar.sync 0;\n}\n{\nbra $M;\n$M:\n}\n{\nbra $M;\n$M:\n}")).expect(0);
}

#[test]
fn what_is_not_followed_leaves_the_other_kernels_decided() {
    let recursive =
        format!(".func f() {{ bar.sync 0; call.uni f; ret; }}\n{}", &module("call.uni f;")[HEAD.len()..]);
    let recursive = verified(format!("{HEAD}{recursive}")).expect(3);
    recursive.prints("a recursive call").prints("kernel good (ptx)");
    let indirect = "mov.u64 %rd1, %rd2;\np: .callprototype ()_ ();\ncall %rd1, p;\nbar.sync 0;";
    verified(module(indirect)).expect(3).prints("known only when it runs").prints("kernel good (ptx)");
    let two_doors = "mov.u32 %r1, %tid.x;\nld.global.u32 %r2, [%rd1];\nsetp.gt.u32 %p1, %r2, 31;\n\
                     @%p1 bra $B;\n$A:\nbar.sync 1, 64;\n$B:\nadd.u32 %r1, %r1, 1;\nld.global.u32 %r2, [%rd2];\n\
                     setp.lt.u32 %p2, %r2, 90;\n@%p2 bra $A;";
    let two_doors = verified(module(two_doors)).expect(3);
    two_doors.prints("a loop that is entered in two places").prints("kernel good (ptx)");
    verified(module("bar.sync %rd1;")).expect(3).prints("the number of this barrier is not known");
    verified(module("frobnicate.u32 %r1, %r2;\nbar.sync %r1;")).expect(3).prints("`frobnicate.u32`");
    let large = module("bar.sync 0;").replacen(".reqntid 64", ".reqntid 2048", 1);
    verified(large).expect(2).says("this one would have 2048").prints("kernel good (ptx)");
}

#[test]
fn what_an_unknown_operand_is_computed_from_is_named() {
    let params = |names: &str, code: &str| {
        module(code).replacen(".entry k()", &format!(".entry k(.param .u32 {names})"), 1)
    };
    let product = "ld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\nmov.u32 %r3, %nctaid.x;\n\
                   mad.lo.u32 %r1, %r1, %r2, %r3;\nbar.sync 1, %r1;";
    let product = params("n, .param .u32 m, .param .u32 other", product);
    verified(product).expect(3).prints("give `%nctaid.x`, `m` and `n` by --param: it is computed from that");
    let loaded = verified(module("ld.global.u32 %r1, [%rd1];\nbar.sync %r1, 64;")).expect(3);
    loaded.prints("it is computed from what line ").prints(" loads, which nothing can give");
    let either =
        "ld.param.u32 %r1, [n];\nld.global.u32 %r2, [%rd1];\nadd.u32 %r1, %r1, %r2;\nbar.sync 1, %r1;";
    let either = verified(params("n", either)).expect(3);
    either.prints("it is computed from `n`, which --param gives, and from what line ");
    // Nothing is known of what nobody has written.
    let nothing = verified(module("bar.sync %r1, 64;")).expect(3);
    assert!(!nothing.out.contains("computed from"), "{}", nothing.out);
}

#[test]
fn much_of_one_thing_takes_bounded_time() {
    let mut labels = String::new();
    (0..100_000).for_each(|label| writeln!(labels, "$L{label}:").expect("it can be written"));
    verified(module(&format!("{labels}bar.sync 0;"))).expect(0).prints("kernel k (ptx)");
    let block = "add.u32 %r1, %r1, 1;\n".repeat(1_000_000);
    verified(module(&format!("{block}bar.sync 0;"))).expect(0).prints("kernel k (ptx)");
    let (mut heads, mut ends) = (String::new(), String::new());
    for depth in 0..10_000 {
        writeln!(heads, "$L{depth}:").expect("it can be written");
        let label = 9_999 - depth;
        writeln!(ends, "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra $L{label};").expect("it can be written");
    }
    let loops = verified(module(&format!("{heads}bar.sync 0;\n{ends}"))).expect(3);
    loops.prints("kernel good (ptx)");
}
