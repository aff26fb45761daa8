//! What people read after a mistake. Every case is shown whole in `snapshots/`; `INSTA_UPDATE=always` accepts
//! changes, which are then to be read.

use barcheck_specs::bar::{LoadOptions, load};
use barcheck_specs::{LineIndex, Lint, Linted, Severity, render};

/// Renders what is wrong with `source` and compares it with the snapshot called `name`. That a piece of text
/// uses nothing of what it declares is another matter.
#[track_caller]
fn check(name: &str, source: &str) {
    check_all(name, source, |linted| linted.lint != Lint::Unused);
}

#[track_caller]
fn check_all(name: &str, source: &str, wanted: impl Fn(&Linted) -> bool) {
    let diagnostics = match load(source.as_bytes(), &LoadOptions::default()) {
        Ok(loaded) => loaded.lints.into_iter().filter(wanted).map(|linted| linted.diagnostic).collect(),
        Err(diagnostics) => diagnostics,
    };
    assert!(!diagnostics.is_empty(), "{name}: nothing to report");
    insta::assert_snapshot!(name, render(&diagnostics, "file.bar", source, false));
}

/// As [`check`], for the statements of a block of `target`.
#[track_caller]
fn check_in(target: &str, name: &str, statements: &str) {
    let (size, agents) = match target {
        "ptx" | "bcu" => ("cta 64", "warps 0..2"),
        "nbarrier" => ("thread_group 2", "threads 0..2"),
        "split_barrier" => ("workgroup 2", "invocations 0..2"),
        _ => ("workgroup 2", "subgroups 0..2"),
    };
    check(name, &format!("target {target};\n{size};\nshared buf[4], flag;\n{agents} {{\n{statements}\n}}\n"));
}

#[test]
fn text() {
    check("unknown_character", "target ptx;\ncta 64 §;\nwarps 0..2 {}\n");
    check("curly_quotes", "target xegpu; workgroup 1; subgroup 0 { xegpu.mfence {memory_kind = “slm”}; }");
    check("unclosed_comment", "target ptx; /* cta 64;\nwarps 0..2 {}\n");
    check(
        "unclosed_string",
        "target xegpu; workgroup 1;\nsubgroup 0 { xegpu.mfence {memory_kind = \"slm}; }\n",
    );
    check("malformed_number", "target ptx; cta 0xg;\nconst A = 12ab; const B = 0x;");
    check("number_too_large", "target ptx;\nconst A = 9223372036854775808;\nconst B = -9223372036854775809;");
    check("letters_beyond_ascii", "target ptx; cta 32; warp 0 { let é = 1; }");
    check("define", "#define N 4\ntarget ptx; cta 32; warp 0 {}");
    check("nul_byte", "target ptx;\0 cta 64;");
}

#[test]
fn invalid_utf8() {
    let source = b"target ptx;\ncta \xe9\xff;\n";
    let diagnostics = load(source, &LoadOptions::default()).expect_err("not UTF-8");
    let text = String::from_utf8_lossy(source);
    insta::assert_snapshot!("invalid_utf8", render(&diagnostics, "file.bar", &text, false));
    let place = diagnostics[0].place(&LineIndex::new(&text));
    assert_eq!((place.line, place.column), (2, 5));
}

#[test]
fn declarations() {
    check("no_target", "cta 64;\n");
    check("a_kernel", "module {\n  gpu.func @k() kernel { gpu.return }\n}\n");
    check("empty_file", "");
    check("unknown_target", "target pxt;\ncta 64;\n");
    check("second_target", "target ptx;\ntarget bcu;\ncta 32; warp 0 {}\n");
    check("no_size", "// a ring\ntarget nbarrier;\nthreads 0..2 {}\n");
    check("wrong_size_word", "target ptx;\nworkgroup 64;\nwarps 0..2 {}\n");
    check("wrong_agents_word", "target ptx;\ncta 64;\nthreads 0..2 {}\n");
    check("size_zero", "target ptx;\ncta 0;\n");
    check("size_too_large", "target ptx;\ncta 1000000;\nwarps 0..2 {}\n");
    check("second_size", "target ptx;\ncta 64;\ncta 32;\nwarps 0..2 {}\n");
    check("subgroup_size_elsewhere", "target xegpu;\nworkgroup 2;\nsubgroup_size 1;\nsubgroups 0..2 {}\n");
    check(
        "subgroup_size_range",
        "target split_barrier;\nworkgroup 4;\nsubgroup_size 8;\ninvocations 0..4 {}\n",
    );
    check("misspelt_declaration", "target ptx;\ncta 64;\nparma N = 3;\nwrap 0 {}\n");
    check("duplicate_name", "target ptx;\ncta 64;\nconst N = 3;\nshared N;\nwarps 0..2 {}\n");
    check(
        "constant_fails",
        "target ptx;\ncta 64;\nconst A = 4 / (2 - 2);\nconst B = 1 << 64;\nconst C = 9223372036854775807 + \
         1;\nwarps 0..2 {}\n",
    );
    check("constant_of_agent", "target ptx;\ncta 64;\nconst A = warp + 1;\nwarps 0..2 {}\n");
    check(
        "declared_later",
        "target ptx;\ncta 64;\nwarps 0..2 { bar.sync N; write x; }\nconst N = 1;\nshared x;\n",
    );
    check("array_length", "target ptx;\ncta 64;\nshared a[0], b[65537];\nwarps 0..2 {}\n");
    check("too_many_locations", "target ptx;\ncta 64;\nshared a[65536], b;\nwarps 0..2 {}\n");
    check(
        "reserved_word",
        "target ptx;\ncta 64;\nconst loop = 1;\nwarps 0..2 { let warp = 1; let If = 2; }\n",
    );
    check("missing_semicolon", "target ptx\ncta 64\nwarps 0..2 {\n    bar.sync 0\n    bar.sync 1 }\n");
}

#[test]
fn what_is_declared_and_used_nowhere() {
    let text = "target ptx;\ncta 64;\nparam N = 4;\nparam _M = N;\nparam K = 1;\nshared buf[4], flag; mbarrier b count 64;\n\
                warps 0..2 {\n    let n = 0;\n    let c = 0;\n    bar.red.popc.u32 n, 0, ?;\n    c = c + 1;\n    \
                write flag;\n    let t = 0;\n    t = mbarrier.arrive b;\n    mbarrier.wait b, t;\n}\n";
    check_all("unused", text, |_| true);
}

#[test]
fn allowances() {
    let allow = |allows: &str| format!("target ptx;\ncta 64;\n{allows}\nwarps 0..2 {{}}\n");
    check(
        "allow_unknown_rule",
        &allow("allow data-rcae \"it is meant\";\nallow nothing-of-the-kind \"so\";"),
    );
    check("allow_of_another_target", &allow("allow lost-notification \"it is meant\";"));
    check("allow_what_ends_a_path", &allow("allow deadlock \"it is meant\";"));
    check("allow_without_reason", &allow("allow data-race;\nallow unused \"  \";"));
    check(
        "allow_twice",
        &allow("allow data-race \"one\";\nallow missing-fence \"two\";\nallow data-race \"three\";"),
    );
    check(
        "allow_in_a_block",
        "target ptx;\ncta 64;\nwarps 0..2 {\n    allow data-race \"it is meant\";\n}\n",
    );
    check("allow_no_rule", &allow("allow \"data-race\";\nallow data- \"it is meant\";"));
}

#[test]
fn agents() {
    check("agents_missing", "target ptx;\ncta 256;\nwarps 0..3 {}\nwarp 4 {}\n");
    check("agent_missing", "target ptx;\ncta 64;\nwarp 0 {}\n");
    check("agents_overlap", "target ptx;\ncta 128;\nwarps 0..3 as a {}\nwarps 2..4 as b {}\n");
    check("agents_outside", "target ptx;\ncta 100;\nwarps 0..5 {}\n");
    check("agent_negative", "target nbarrier;\nthread_group 1;\nthreads -1..1 {}\n");
    check("agents_reversed", "target ptx;\ncta 64;\nwarps 2..0 {}\n");
    check("agents_empty", "target ptx;\ncta 64;\nwarps 0..0 {}\n");
    check("functions", "target ptx;\ncta 64;\nfn work() {}\nwarps 0..2 {}\n");
    check("agents_inclusive", "target ptx;\ncta 64;\nwarps 0..=2 {}\n");
}

#[test]
fn structure() {
    check("unclosed_block", "target ptx;\ncta 64;\nwarps 0..2 {\n    loop {\n        bar.sync 0;\n    }\n");
    check(
        "missing_brace_before_role",
        "target ptx;\ncta 64;\nwarp 0 {\n    loop { bar.sync 0;\n}\nwarp 1 { bar.sync 0; }\n",
    );
    check(
        "block_in_a_block",
        "target ptx;\ncta 64;\nwarps 0..2 {\n    warp 0 { bar.sync 1, 32; }\n    brr;\n}\nwarps 0..2 { \
         bar.sync 0; }\n",
    );
    let one_line = "target nbarrier; thread_group 2; threads 0..2 { thread 0 { nbarrier.wait 1; } brr; }";
    check("block_in_a_block_on_one_line", one_line);
    check(
        "block_in_a_block_on_a_long_line",
        &one_line.replace("threads 0..2", &format!("{}threads 0..2", " ".repeat(2000))),
    );
    check("semicolon_behind_a_block", "target ptx;\ncta 32;\nwarp 0 {};\n");
    check("unmatched_brace", "target ptx;\ncta 64;\nwarps 0..2 { bar.sync 0; } }\n");
    check("statement_outside", "target ptx;\ncta 64;\nbar.sync 0;\nwarps 0..2 {}\n");
    check("declaration_inside", "target ptx;\ncta 64;\nwarps 0..2 { const N = 3; }\n");
    let deep = format!("target ptx;\ncta 64;\nwarps 0..2 {{ {}", "loop { ".repeat(300));
    check("too_deep_blocks", &deep);
    let deep = format!("target ptx;\ncta 64;\nconst A = {}1;", "(".repeat(300));
    check("too_deep_parentheses", &deep);
    check("many_errors", &format!("target ptx;\ncta 64;\nwarps 0..2 {{\n{}}}\n", "    brr;\n".repeat(50)));
}

#[test]
fn statements() {
    check_in("ptx", "misspelt_keyword", "whlie ? { bar.sync 0; }");
    check_in("ptx", "let_missing", "x = 1;");
    check_in("ptx", "let_of_another_language", "int x = 1;");
    check_in("ptx", "compound_assignment", "let i = 0;\ni += 1;");
    check_in("ptx", "unknown_name", "let stage = 0;\nbar.sync stgae;\nbar.sync k;");
    check_in("ptx", "assign_loop_variable", "for i in 0..4 {\n    i = 2;\n}");
    check_in("ptx", "break_outside", "break;\nif ? { continue; }");
    check_in("ptx", "comparison_chain", "if 0 < warp < 2 { bar.sync 0; }");
    check_in("ptx", "uniform_without_question", "if uniform k { bar.sync 0; }");
    check_in("ptx", "question_in_expression", "let x = ? + 1;");
    check_in("ptx", "any_in_expression", "let x = 1 + any 0..4;");
    check_in("ptx", "indexing", "read buf;\nwrite flag[0];\natomic bfu[0];\nread other;");
    check_in("ptx", "index_outside", "read buf[4];");
    check_in("ptx", "memory_as_value", "bar.sync flag;");
    check_in("ptx", "other_index", "let t = thread;\nlet s = subgroup;");
    check_in("nbarrier", "guard_elsewhere", "let p = 1;\n@p nbarrier.wait 0;");
    check_in("ptx", "stray_semicolon", "bar.sync 0;;");
}

#[test]
fn instructions() {
    check_in("ptx", "misspelt_instruction", "bar.arive 1, 64;");
    check_in("ptx", "unknown_instruction", "mbarrier.try_wait 0;");
    check_in("ptx", "instruction_of_another_target", "nbarrier.signal 0, 2;\nBAR.ARV 0, 64;");
    check_in("nbarrier", "instruction_of_two_targets", "bar.sync 0;");
    check_in("nbarrier", "too_many_operands", "nbarrier.wait 1, 2;\nnbarrier.signal 0 1 2;");
    check_in("ptx", "too_few_operands", "bar.sync;\nbar.red.popc.u32 _, 0;\nmembar.cta 0;");
    check_in("ptx", "missing_comma", "bar.sync 0 64;");
    check_in(
        "ptx",
        "red_destination",
        "bar.red.popc.u32 1, 0, ?;\nbar.red.and.pred d, 0, ?;\nlet n = 0;\nbar.red.or.pred n, 0, 64;",
    );
    check_in(
        "bcu",
        "bcu_operands",
        "BAR.ARV 1;\nBAR.RED.AND R4, R5;\nB2R R4, R5;\nR2B 0, 12;\nB2R.RESULT P0;\nBAR.SYNC P0;\nBAR.RESULT \
         R4;",
    );
    check_in(
        "bcu",
        "bcu_red_of_two_registers",
        "R5 = 0x41;\nP0 = 1;\nBAR.RED.AND R5, R5, P0;\nBAR.RED.OR R5, P0;",
    );
    check_in("bcu", "bcu_registers", "let R4 = 1;\nR255 = 1;\nBAR.SYNC P7;");
    check_in(
        "split_barrier",
        "split_words",
        "OpControlBarrier Workgrup, Device, None;\nOpControlBarrier Workgroup, 2, None;\nOpMemoryBarrier \
         Device, Aquire|WorkgroupMemory;\nOpMemoryBarrier Device, Acquire|Release;\nOpMemoryBarrier \
         Device, None|ImageMemory;",
    );
    check_in("split_barrier", "split_operands", "OpControlBarrierArriveINTEL Workgroup, None;");
    check_in(
        "xegpu",
        "xegpu_handles",
        "%bar = xegpu.init_nbarrier 0, 2;\nxegpu.nbarrier_arrive %baz;\nxegpu.nbarrier_wait \
         0;\nxegpu.init_nbarrier 0, 2;\n%a = xegpu.alloc_nbarrier 2;",
    );
    check_in("xegpu", "xegpu_remainder", "let a = 3;\nlet b = a %a;");
    check_in(
        "xegpu",
        "xegpu_fence",
        "xegpu.mfence {memory_kin = \"slm\"};\nxegpu.mfence {memory_kind = \"smem\"};\nxegpu.mfence \
         {fence_op = \"flush\"};\nxegpu.mfence {fence_scope = \"local\", fence_scope = \"tile\"};",
    );
    check_in("xegpu", "xegpu_types", "%h = xegpu.init_nbarrier 0, 2 : i8, i8;");
}

#[test]
fn statements_of_other_languages() {
    check_in(
        "ptx",
        "foreign_statements",
        "let x = 0;\nif x = 1 { bar.sync 0; }\n__syncthreads();\nreturn;\n@!x exit;\nbar 0;\nfor i in 0..4 \
         bar.sync 0;",
    );
}

#[test]
fn blocks_without_braces() {
    check_in(
        "ptx",
        "no_braces",
        "if (warp == 0) bar.sync 0;\nif warp == 0 bar.sync 0; else exit;\nwhile ? read flag;\n\
         for i in 0..4 if i > 2 break;\nif warp == 0 and lane < 3 { exit; }\nif not warp { exit; }\n\
         if warp == 0 then { exit; }\nfor i in 0..4: bar.sync 0;\nelse { bar.sync 0; }",
    );
    check("no_braces_around_a_role", "target ptx;\ncta 32;\nwarp 0 as all bar.sync 0;\n");
}

#[test]
fn loops_of_other_languages() {
    check_in(
        "ptx",
        "loops",
        "for i in 0..8 step 2 { bar.sync 0; }\nfor i in (0..8).step_by(2) { bar.sync 0; }\n\
         for (int i = 0; i < 4; i++) { bar.sync 0; }\nfor (;;) bar.sync 0;\n\
         for i in range(4) { bar.sync 0; }\n\
         for i in 4 { bar.sync 0; }\nlet i = 0;\ni++;\n--i;\ni <<= 1;",
    );
}

#[test]
fn locals_of_other_languages() {
    check_in(
        "ptx",
        "locals",
        "let x: i32 = 3;\nlet mut y = 3;\nlet z;\nlet u = warp ? 1 : 2;\nlet v = min(1, 2);",
    );
}

#[test]
fn names_of_other_languages() {
    check_in("ptx", "cuda_names", "let a = warp_id;\nlet b = laneid;\nlet c = tid;\nlet d = blockDim;");
    check_in(
        "ptx",
        "cuda_registers",
        "let a = threadIdx.x / 32;\nlet b = blockIdx.x;\nlet c = %laneid + %tid.x;\nbar.sync %r1, 64;\n@%p1 \
         bar.sync 0;",
    );
    check_in(
        "split_barrier",
        "opencl_names",
        "let a = get_local_id(0);\nlet b = get_sub_group_id();\nlet c = f(a;",
    );
    check_in("nbarrier", "visa_names", "let a = tid;\nlet b = thread_id;");
}

#[test]
fn instructions_of_other_languages() {
    check_in(
        "ptx",
        "cuda_instructions",
        "__syncthreads();\n__syncthreads_count(1);\n__syncwarp();\nbar.warp.sync \
         0xffffffff;\nmbarrier.try_wait 0;\n\
         barrier.cluster.arrive;\nmembar.gl;\n__threadfence();\nld.shared.u32 r1, 0;\n\
         cp.async.wait_group 0;\n\
         __shfl_sync(0);\nfence.proxy.async;\ngrid.sync();\nbar 0;\nasm volatile(\"bar.sync 0;\");",
    );
    check_in(
        "bcu",
        "sass_instructions",
        "BAR.SYNC.DEFER_BLOCKING 0x0;\nWARPSYNC 0;\nMEMBAR.SC.GPU;\nSTS R1, R2;",
    );
    check_in(
        "nbarrier",
        "visa_instructions",
        "barrier;\nsbarrier.signal;\nnbarrier.arrive 1, 2;\nlsc_fence.slm;",
    );
    check_in(
        "split_barrier",
        "opencl_instructions",
        "barrier(1);\nwork_group_barrier_arrive(1);\nOpNamedBarrierInitialize 1;",
    );
    check_in("xegpu", "mlir_instructions", "gpu.barrier;\nxegpu.load_nd 1;");
}

#[test]
fn operands_in_parentheses() {
    check_in("ptx", "call_of_an_instruction", "bar.sync(1, 64);\nbar.sync();\nbar.sync(1);");
    check_in(
        "nbarrier",
        "call_of_a_signal",
        "nbarrier.signal(1, 2);\nnbarrier.signal 1;\nnbarrier.signal(1);",
    );
}

#[test]
fn attributes() {
    check_in(
        "xegpu",
        "xegpu_attributes",
        "xegpu.mfence {fence_scope};\nxegpu.mfence {memory_kind: slm};\nxegpu.nbarrier_wait {};",
    );
    check_in(
        "xegpu",
        "xegpu_handles_unknown",
        "%bar = xegpu.init_nbarrier 0, 2;\nxegpu.nbarrier_arrive %baz;\nxegpu.nbarrier_wait \
         0;\nxegpu.init_nbarrier 0, 2;",
    );
}

#[test]
fn a_block_that_ends_less_indented_than_it_begins_is_pointed_at() {
    let source = "target ptx;\ncta 64;\nwarps 0..2 {\n  for i in 0..3 {\n    bar.sync 1;\n  if warp == 0 {\n    bar.sync 2;\n  }\n}\n";
    check("unclosed_block_by_indentation", source);
}

#[test]
fn comments_and_calls_of_other_languages_are_one_error_each() {
    check("hash_comment", "target ptx;\ncta 64;\n# the barrier of { all }\nwarps 0..2 { bar.sync 0; }\n");
    check_in("ptx", "calls", "load_tile(1, x); wile (1) { }");
}

#[test]
fn long_lines_are_cut() {
    let source = format!("target ptx; cta 64; warps 0..2 {{ {} x = 1; }}", "bar.sync 0; ".repeat(100));
    check("long_line", &source);
    let source = source.replace("bar.sync 0; ", &"bar.sync 0; ".repeat(10));
    check("very_long_line", &source);
}

#[test]
fn places_count_characters_and_codes_are_stable() {
    let source = "target ptx; cta 64; /* é */ warps 0..2 { x = 1; }";
    let diagnostics = load(source.as_bytes(), &LoadOptions::default()).expect_err("undeclared");
    let place = diagnostics[0].place(&LineIndex::new(source));
    assert_eq!((place.line, place.column, place.length), (1, 42, 1));
    assert_eq!((diagnostics[0].severity, diagnostics[0].code), (Severity::Error, "unknown-name"));
}

#[test]
fn calls_are_answered_as_calls_and_accesses_as_accesses() {
    check_in("ptx", "call_of_load", "load(1);\nstore(buf, 2);");
    check_in("ptx", "load_and_store", "load buf[0];\nstore flag;");
}

#[test]
fn unnamed_uniform_decisions_of_two_blocks_are_apart() {
    let two = |first: &str, second: &str| {
        format!(
            "target ptx; cta 64;\nwarp 0 {{ while {first} {{ bar.sync 1, 64; }} }}\n\
                 warp 1 {{ while {second} {{ bar.sync 1, 64; }} }}\n"
        )
    };
    check("uniform_apart", &two("uniform ?", "uniform ?"));
    for (first, second) in
        [("uniform more ?", "uniform more ?"), ("uniform a ?", "uniform b ?"), ("uniform ?", "?")]
    {
        let text = two(first, second);
        let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("it is well formed");
        assert_eq!(loaded.lints, [], "{text}");
    }
    let one =
        "target ptx; cta 64;\nwarps 0..2 { while uniform ? { bar.sync 1, 64; } if uniform ? { exit; } }\n";
    assert_eq!(load(one.as_bytes(), &LoadOptions::default()).expect("it is well formed").lints, []);
}

/// Names in the sources that stand as the first argument of an error or a warning.
fn names_used(folder: &std::path::Path, names: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            names_used(&path, names);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        for call in ["error(", "warning(", "note("] {
            let arguments = text.split(call).skip(1).map(str::trim_start);
            let quoted = arguments.filter_map(|rest| rest.strip_prefix('"')?.split('"').next());
            let plain =
                |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            names.extend(quoted.filter(plain).map(str::to_owned));
        }
    }
}

#[test]
fn every_name_of_a_diagnostic_is_explained() {
    let mut used = std::collections::BTreeSet::new();
    names_used(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut used);
    used.insert(barcheck_specs::head::WRONG_HEAD.to_owned());
    // It is said of kernels by readers of all kinds, under a name that stands in one place.
    used.insert("not-followed".to_owned());
    // It is said of runs, and by whoever shows one.
    used.insert("evaluation".to_owned());
    // What is said where words are left out, and what never is.
    for silent in ["malformed", "meaning"] {
        assert!(used.remove(silent), "{silent}");
    }
    let explained: Vec<&str> = barcheck_specs::kinds::KINDS.iter().map(|kind| kind.name).collect();
    assert!(explained.is_sorted() && explained.len() > 60);
    assert_eq!(explained, used.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn uses_of_blocks_that_cannot_be() {
    let with = |blocks: &str, statements: &str| {
        format!("target ptx;\ncta 64;\nshared a;\n{blocks}\nwarps 0..2 {{\n{statements}\n}}\n")
    };
    check("block_arguments", &with("block two(x, y) { bar.sync x + y; }", "two(1);\ntwo(1, 2, 3);"));
    check("block_as_value", &with("block one(x) { bar.sync x; }", "bar.sync one;\none = 2;"));
    check("block_uses_itself", &with("block p(x) { q(x); }\nblock q(x) { p(x); }", "p(1);"));
    check("block_unknown", &with("", "fill(1);"));
    check("block_knows_no_outer_local", &with("block b() { bar.sync n; }", "let n = 1;\nb();\nb();"));
    check("block_break_outside", &with("block b() { break; }", "loop { b(); }"));
    check("block_without_parameters", "target ptx;\ncta 64;\nblock b { bar.sync 0; }\nwarps 0..2 {}\n");
    check_all("block_unused", &with("block b(x) { bar.sync x; }", "bar.sync 0;\nread a;"), |_| true);
    let doubling: String =
        (1..40).map(|i| format!("block b{i}() {{ b{}(); b{}(); }}\n", i - 1, i - 1)).collect();
    check("block_doubles", &with(&format!("block b0() {{ bar.sync 0; }}\n{doubling}"), "b39();"));
    let nested = "if warp == 0 { ".repeat(150);
    let deep = format!("{nested} {{}} {}", "} ".repeat(150)).replace("{} ", "");
    let blocks = format!(
        "block inner() {{ {} }}\nblock outer() {{ {} }}",
        deep.replacen("  ", " bar.sync 0; ", 1),
        deep.replacen("  ", " inner(); ", 1)
    );
    check("block_too_deep", &with(&blocks, "outer();"));
}

#[test]
fn shared_numbers_that_cannot_be() {
    check_in("ptx", "uniform_range", "let n = uniform any 3..3;\nlet m = uniform any 0..=65536;");
    check_in("ptx", "uniform_local", "let k = 2;\nlet n = uniform any 0..k;");
    check_in(
        "ptx",
        "uniform_differs",
        "let n = uniform tiles any 1..4;\nlet m = uniform tiles any 1..5;\nif uniform tiles ? { bar.sync n + m; }",
    );
    check_in("ptx", "uniform_value", "let n = uniform ?;");
}

#[test]
fn words_from_elsewhere_for_sizes_counts_and_families_hear_what_they_are_here() {
    check("size_by_agents", "target nbarrier;\nthreads 4;\nthreads 0..4 { nbarrier.signal 1, 4; }\n");
    check("size_elsewhere", "target nbarrier;\ngroup 4;\nthreads 0..4 { nbarrier.signal 1, 4; }\n");
    check("object_without_count", "target ptx;\ncta 64;\nmbarrier full[2] 1;\nwarps 0..2 {}\n");
    check_in("xegpu", "family_left_out", "alloc_nbarrier 4;\nnbarrier_arrive %b;\nmfence;");
}

#[test]
fn a_name_without_as_hears_of_it() {
    check("role_name", "target ptx;\ncta 64;\nwarp 0 load { bar.sync 0; }\nwarps 1..2 { bar.sync 0; }\n");
}
