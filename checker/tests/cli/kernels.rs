//! Compiled kernels on the command line: which of a module, of which size, and what is said of them.

use crate::support::{Folder, command, finish, run, run_on};

/// Two kernels: the first is fine, the second hangs; a third has no barrier.
const MODULE: &str = "\
.version 8.0
.target sm_90
.file 1 \"/src/k.cu\"
.visible .entry fine(.param .u32 n)
{
\t.loc 1 5 3
\tbar.sync 0;
\tret;
}
.visible .entry hangs(.param .u32 n)
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\tmov.u32 %r1, %tid.x;
\tsetp.gt.u32 %p1, %r1, 31;
\t@%p1 bra $L;
\t.loc 1 15 3
\tbar.sync 1, 64;
$L:
\tret;
}
.visible .entry plain() { ret; }
";

/// Which lanes come depends on the data.
const BY_DATA: &str = "\
.version 8.0
.target sm_90
.visible .entry k(.param .u64 in)
.reqntid 32
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\tld.global.u32 %r1, [%r2];
\tsetp.gt.s32 %p1, %r1, 0;
\t@%p1 bra $L;
\tbar.sync 0;
$L:
\tbar.sync 0;
\tret;
}
";

fn folder(text: &str) -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.add("kernel.ptx", text);
    (folder, path)
}

#[test]
fn every_kernel_with_barriers_is_a_row() {
    let (_folder, path) = folder(MODULE);
    let verified = run(&["verify", "--cta", "64", &path]).expect(1);
    let verified = verified.prints("kernel fine").prints("kernel hangs");
    assert!(
        !verified.out.contains("kernel plain") && verified.out.contains("2 kernels: 1 verified, 1 violated")
    );
    let rows = run(&["verify", "--cta", "64", "--format", "json", &path]).expect(1).json();
    let kernels: Vec<_> = rows.iter().map(|row| (row["kernel"].as_str(), row["verdict"].as_str())).collect();
    assert_eq!(kernels, [(Some("fine"), Some("verified")), (Some("hangs"), Some("violated"))]);
    assert_eq!(rows[1]["findings"][0]["location"]["line"].as_u64(), Some(18));
    let origin = &rows[1]["findings"][0]["origin"];
    assert_eq!((origin["file"].as_str(), origin["line"].as_u64()), (Some("/src/k.cu"), Some(15)));
}

#[test]
fn findings_name_the_line_of_the_source() {
    let (_folder, path) = folder(MODULE);
    run(&["verify", "--cta", "64", "--entry", "hangs", &path])
        .expect(1)
        .prints("kernel.ptx:16:2")
        .prints("compiled from /src/k.cu:15")
        .prints("memory is not looked at");
}

/// How the two addresses lie to one another is known in the first kernel alone.
const TWO_ADDRESSES: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry next()
.reqntid 64
{
    .reg .b32 %r<12>;
    .shared .align 4 .b8 tile[4096];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    ld.shared.u32 %r7, [%r4+4];
    ret;
}
.visible .entry further(.param .u32 n)
.reqntid 64
{
    .reg .b32 %r<12>;
    .shared .align 4 .b8 tile[4096];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
    ld.param.u32 %r5, [n];
    add.s32 %r6, %r4, %r5;
    st.shared.u32 [%r4], %r1;
    ld.shared.u32 %r7, [%r6];
    ret;
}
.visible .entry aligned()
.reqntid 64
{
    .reg .b32 %r<12>;
    .shared .align 4 .b8 tile[4096];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
    add.s32 %r8, %r3, 127;
    and.b32 %r9, %r8, -128;
    add.s32 %r10, %r9, %r2;
    st.shared.u32 [%r4], %r1;
    ld.shared.u32 %r7, [%r10];
    ret;
}
";

#[test]
fn accesses_that_lie_to_others_nobody_knows_how_are_not_followed() {
    let (_folder, path) = folder(TWO_ADDRESSES);
    let next = run(&["verify", "--entry", "next", &path]).expect(1);
    next.prints("data-race").prints("2 of 2 accesses to shared memory are followed");
    for entry in ["further", "aligned"] {
        let verified = run(&["verify", "--entry", entry, &path]).expect(0);
        verified.prints("1 of 2 accesses to shared memory are followed, not that at line");
    }
    run(&["verify", "--no-memory", "--entry", "next", &path]).expect(0).prints("memory is not looked at");
}

#[test]
fn a_kernel_is_chosen_by_its_name_or_a_part_of_it() {
    let (_folder, path) = folder(MODULE);
    run(&["verify", "--cta", "64", "--entry", "fine", &path]).expect(0).prints("kernel fine");
    run(&["verify", "--cta", "64", "--entry", "in", &path]).expect(0).prints("kernel fine");
    run(&["verify", "--cta", "64", "--entry", "plain", &path]).expect(0).prints("kernel plain");
    run(&["verify", "--cta", "64", "--entry", "none", &path]).expect(2).says("there are: fine, hangs, plain");
}

#[test]
fn the_size_of_the_group_is_asked_for_by_its_option() {
    let (_folder, path) = folder(MODULE);
    run(&["verify", "--entry", "fine", &path])
        .expect(2)
        .says("the size of the CTA is not known")
        .says("--cta");
    run(&["verify", "--cta", "2048", "--entry", "fine", &path]).expect(2).says("1 to 1024 threads");
    run(&["verify", "--cta", "0", &path]).expect(2).says("no number of threads");
    run(&["verify", "--cta", "8,8,1,1", &path]).expect(2).says("at most three");
    run(&["verify", "--cta", "8,8", "--entry", "fine", &path]).expect(0);
}

#[test]
fn a_parameter_that_no_kernel_has_is_a_mistake() {
    let (_folder, path) = folder(MODULE);
    run(&["verify", "--cta", "64", "--param", "7=1", &path]).expect(2).says("no kernel has a parameter `7`");
    run(&["verify", "--cta", "64", "--param", "n=1", "--entry", "fine", &path]).expect(0);
    run(&["verify", "--cta", "64", "--param", "n", &path]).expect(2).says("PARAM=VALUE");
    run(&["verify", "--cta", "64", "--param", "7=1..", &path])
        .expect(2)
        .says("no kernel has a parameter `7`");
    run(&["verify", "--cta", "64", "--param", "n=1..", "--entry", "fine", &path]).expect(0);
    run(&["verify", "--cta", "64", "--param", "n=1..4", &path]).expect(2).says("--param 3=1..");
    run(&["verify", "--cta", "64", "--param", "n=-1..", &path]).expect(2).says("is not negative");
}

#[test]
fn a_violation_that_needs_nothing_to_do_says_how_to_leave_that_out() {
    let module = ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n)\n.reqntid 64\n{\n\
                  .reg .pred %p<4>;\n.reg .b32 %r<6>;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n\
                  setp.ge.u32 %p1, %r2, 32;\n@%p1 bra $S;\nsetp.lt.s32 %p2, %r1, 1;\n@%p2 bra $E;\n\
                  $S:\nbar.sync 1, 64;\n$E:\nret;\n}\n";
    let (_folder, path) = folder(module);
    run(&["verify", &path]).expect(1).prints("if it is never launched so, say `--param n=1..`");
    run(&["verify", "--param", "n=1..", &path]).expect(0);
    // The same of a number of which something is computed.
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/warm_up.ptx");
    run(&["verify", "--entry", "first_by_itself", ring]).expect(1).prints("say `--param rounds=1..`");
}

#[test]
fn a_kernel_whose_launches_are_too_many_says_how_to_narrow_them_down() {
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/ring.ptx");
    let arguments = ["verify", "--reduction", "none", "--max-states", "20", "--entry", "ring", ring];
    run(&arguments).expect(3).prints("`--param param_0=1..` where that is never 0");
    // What is not followed needs no fewer launches.
    let beyond = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/by_state.ptx");
    let beyond = run(&["verify", "--entry", "a_number_for_a_state", beyond]).expect(3);
    assert!(!beyond.out.contains("=1.."), "{}", beyond.out);
}

#[test]
fn kernels_have_no_params_to_vary_and_stand_beside_protocols_that_have() {
    let (folder, path) = folder(MODULE);
    run(&["verify", "--cta", "64", "-D", "N=1..2", &path]).expect(2).says("there are no params");
    let protocol =
        folder.add("meet.bar", "target ptx; cta 32; param N = 1; warp 0 { for i in 0..N { bar.sync 0; } }");
    run(&["verify", "--cta", "64", "--entry", "fine", "-D", "N=1..2", &path, &protocol])
        .expect(0)
        .prints("kernel.ptx, kernel fine (ptx):")
        .prints("meet.bar (ptx) with N=2:")
        .prints("3 combinations: 3 verified");
}

#[test]
fn every_report_tells_the_kernels_of_a_module_apart() {
    let (folder, path) = folder(MODULE);
    let of = |format: &str| run(&["verify", "--cta", "64", "--format", format, &path]).expect(1);
    of("junit").prints("kernel.ptx, kernel fine").prints("kernel.ptx, kernel hangs");
    of("github").prints("kernel hangs: ");
    of("sarif").prints("kernel hangs: ");
    let pages = folder.path().join("pages").to_string_lossy().into_owned();
    run(&["verify", "--cta", "64", "--html", &pages, &path]).expect(1);
    let index = std::fs::read_to_string(format!("{pages}/index.html")).expect("a page");
    assert!(index.contains("kernel.ptx, kernel hangs") && index.contains("kernel-hangs-deadlock.html"));
    run(&[&path]).expect(2).says("to decide these kernels: `barcheck verify ");
}

#[test]
fn a_kernel_is_held_to_the_head_of_its_module() {
    let head = "// expect: violated\n// rules: deadlock\n";
    let (_folder, path) = folder(&format!("{head}{MODULE}"));
    run(&["verify", "--expect", "--cta", "64", "--entry", "hangs", &path]).expect(0).prints("as expected");
    run(&["verify", "--expect", "--cta", "64", "--entry", "fine", &path])
        .expect(1)
        .prints("kernel fine: expected");
}

#[test]
fn what_rests_on_data_is_a_warning_unless_denied() {
    let (_folder, path) = folder(BY_DATA);
    run(&["verify", &path])
        .expect(3)
        .prints("warning[partial-warp]")
        .prints("--deny data-dependent")
        .prints("it rests on data that is not known: warp 0");
    run(&["verify", "--deny", "data-dependent", &path]).expect(1).prints("error[partial-warp]");
    let rows = run(&["verify", "--format", "json", &path]).expect(3).json();
    assert_eq!(rows[0]["findings"][0]["data"][0]["line"].as_u64(), Some(10));
}

#[test]
fn what_is_extracted_is_verified_as_it_is() {
    let (_folder, path) = folder(MODULE);
    let printed = run(&["extract", "--cta", "64", "--entry", "hangs", &path]).expect(0).out;
    assert!(printed.starts_with("// Extracted from the kernel hangs,"), "{printed}");
    run_on(&["verify", "-"], printed.as_bytes()).expect(1).prints("deadlock");
    run(&["extract", "--cta", "64", &path]).expect(2).says("choose one by --entry: fine, hangs");
    run_on(&["extract", "--cta", "64", "--entry", "fine", "-"], MODULE.as_bytes())
        .expect(0)
        .prints("bar.sync 0;");
    run(&["extract", "--cta", "64", "--entry", "fine", "-o", &path, &path]).expect(2).says("overwrite");
}

#[test]
fn a_protocol_is_not_extracted() {
    let folder = Folder::new();
    let path = folder.add("meet.bar", "target ptx; cta 64; warps 0..2 { bar.sync 0; }\n");
    run(&["extract", &path]).expect(2).says("is a protocol already");
}

#[test]
fn the_doctor_says_what_a_kernel_is_made_of() {
    let (_folder, path) = folder(MODULE);
    run(&["doctor", "--cta", "64", &path])
        .expect(0)
        .prints("warp 0")
        .prints("bar.sync 1, 64  at line 18 (/src/k.cu:15)")
        .prints("nothing is accessed in shared memory");
    let (_folder, path) = folder(
        ".version 8.0\n.entry k() .reqntid 32\n{\nmbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [8], 1;\nret;\n}\n",
    );
    run(&["doctor", &path])
        .expect(3)
        .prints("line 4: not followed: `mbarrier.arrive_drop.expect_tx.shared::cta")
        .prints("in its code, whoever comes there:\n    mbarrier.arrive_drop.expect_tx")
        .prints(" at line 4");
}

#[test]
fn the_doctor_names_the_object_of_a_register_and_where_it_is_initialised() {
    let (_folder, path) = folder(
        ".version 8.0\n.target sm_90\n.visible .entry k() .reqntid 64\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<5>;\n\t\
         .shared .align 8 .b8 bars[16];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, bars;\n\tadd.s32 %r3, %r2, 8;\n\t\
         setp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra $L;\n\tmbarrier.init.shared.b64 [%r2], 64;\n\t\
         mbarrier.init.shared.b64 [%r3], 64;\n$L:\n\tbar.sync 0;\n\tmbarrier.arrive.shared.b64 _, [%r3];\n\tret;\n}\n",
    );
    run(&["doctor", &path])
        .expect(0)
        .prints("mbarrier.init.shared.b64 [%r2], 64  at line 13; [%r2] = bars_bar[0]\n")
        .prints(
            "mbarrier.arrive.shared.b64 _, [%r3]  at line 17; [%r3] = bars_bar[1], initialised at line 14\n",
        );
}

#[test]
fn what_is_not_followed_is_inconclusive_at_its_line() {
    let (_folder, path) = folder(
        ".version 8.0\n.entry k() .reqntid 32\n{\nmbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [8], 1;\nret;\n}\n",
    );
    run(&["verify", &path])
        .expect(3)
        .prints("kernel.ptx:4:1: not followed: `mbarrier.arrive_drop.expect_tx.shared::cta");
}

#[test]
fn a_counterexample_of_a_kernel_is_replayed() {
    let (folder, path) = folder(MODULE);
    let trace = folder.text("hang.json");
    run(&["verify", "--cta", "64", "--entry", "hangs", "--trace", &trace, &path]).expect(1);
    run(&["replay", &trace]).expect(0);
    let traces = folder.text("traces");
    run(&["verify", "--cta", "64", "--trace", &traces, &path]).expect(1);
    assert!(folder.path().join("traces/kernel-hangs-deadlock.json").is_file());
}

#[test]
fn a_baseline_knows_the_kernels_of_a_module_apart() {
    let (folder, path) = folder(&MODULE.replace(
        "entry fine(.param .u32 n)\n{\n\t.loc 1 5 3",
        "entry fine(.param .u32 n)\n{\n\tbar.sync 1, 96;",
    ));
    let baseline = folder.text("known.txt");
    let size = ["--cta", "64"];
    run(&[&["verify", "--write-baseline", &baseline, &path], &size[..]].concat()).expect(0);
    let lines = std::fs::read_to_string(&baseline).expect("it is there");
    assert!(lines.contains(" kernel.ptx:fine #") && lines.contains(" kernel.ptx:hangs #"), "{lines}");
    let run = run(&[&["verify", "--baseline", &baseline, &path], &size[..]].concat()).expect(0);
    assert!(!run.out.contains("gone") && !run.err.contains("is not there"), "{}{}", run.out, run.err);
}

/// The second warp skips a barrier that stands in a function which was inlined at line 9.
const INLINED: &str = "\
.version 8.0
.target sm_90
.file 1 \"/src/deep/k.cu\"
.visible .entry k() .reqntid 64
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\tmov.u32 %r1, %tid.x;
\tsetp.gt.u32 %p1, %r1, 31;
\t@%p1 bra $L;
\t.loc 1 2 3, function_name $L__info_string0, inlined_at 1 9 5
\tbar.sync 2, 64;
$L:
\tret;
}
";

#[test]
fn findings_stand_at_the_lines_of_the_source_where_it_is_there() {
    let (folder, path) = folder(INLINED);
    let said = "compiled from /src/deep/k.cu:2, inlined at /src/deep/k.cu:9";
    run(&["verify", &path]).expect(1).prints(said);
    let here = |format: &str| {
        let mut verify = command(&["verify", "--format", format, "kernel.ptx"]);
        finish(verify.current_dir(folder.path())).expect(1)
    };
    here("github").prints("::error file=kernel.ptx,line=12,").prints(said);
    folder.add("k.cu", "void sync() {\n    barrier();\n}\n\n\n\n\nvoid k() {\n    sync();\n}\n");
    let github = here("github").prints("::error file=k.cu,line=9,col=1,title=deadlock::");
    github.prints("at kernel.ptx:12 of the compiled kernel");
    let sarif = &here("sarif").json()[0]["runs"][0];
    let result = &sarif["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "k.cu");
    assert_eq!(place["region"]["startLine"], 9);
    let related = result["relatedLocations"].as_array().expect("a list");
    let kernel = related.last().expect("one is there");
    assert_eq!(kernel["physicalLocation"]["artifactLocation"]["uri"], "kernel.ptx");
    assert_eq!(kernel["physicalLocation"]["region"]["startLine"], 12);
    let index = usize::try_from(place["artifactLocation"]["index"].as_u64().expect("a number"));
    assert_eq!(sarif["artifacts"][index.expect("a position")]["location"]["uri"], "k.cu");
    run(&["where", &path, "--at", "0=k.cu:9"]).expect(0).prints("line 12 (k.cu:9)");
    run(&["where", &path, "--at", "0=k.cu:2"]).expect(0);
}

#[test]
fn a_page_shows_the_lines_of_the_source_where_it_is_there() {
    let (folder, path) = folder(INLINED);
    let trace = folder.text("k.json");
    run(&["verify", "-q", "--trace", &trace, &path]).expect(1);
    let page = || run(&["view", "-o", "-", &trace]).expect(0).out;
    assert!(page().contains(r#""files":[{"name":"/src/deep/k.cu","lines":{}}]"#), "it is not there");
    folder.add("k.cu", "void sync() {\n    barrier();\n}\n\n\n\n\nvoid k() {\n    sync(); // </script>\n}\n");
    let shown = page();
    assert!(shown.contains(r#""9":"    sync(); // "#) && !shown.contains("sync(); // </script>"));
    assert!(shown.contains(r#""at":9,"said":"/src/deep/k.cu:2""#));
    // What is no source is not read, wherever it is.
    folder.add("passwd", "secret\n");
    let (other, named) = self::folder(&INLINED.replace("/src/deep/k.cu", "../../passwd"));
    other.add("passwd", "secret\n");
    let trace = other.text("k.json");
    run(&["verify", "-q", "--trace", &trace, &named]).expect(1);
    assert!(!run(&["view", "-o", "-", &trace]).expect(0).out.contains("secret"));
}

#[test]
fn an_extracted_protocol_says_what_it_does_not_know_of_its_kernel() {
    let (_folder, path) = folder(BY_DATA);
    let text = run(&["extract", &path]).expect(0);
    text.prints(
        "// Of the kernel, what is violated with some data that threads may see, and not with other, is",
    );
    let (_folder, path) = folder(INLINED);
    assert!(run(&["extract", &path]).expect(0).out.starts_with("// Extracted from the kernel k"));
}

/// Whether the second warp comes depends on a part of a structure whose address is taken.
const BY_PART: &str = "\
.version 8.0
.target sm_90
.visible .entry k(.param .align 8 .b8 k_param_0[24])
.reqntid 64
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\t.reg .b64 %rd<3>;
\tmov.b64 %rd1, k_param_0;
\tadd.s64 %rd2, %rd1, 8;
\tld.param.u32 %r2, [%rd2+4];
\tmov.u32 %r1, %tid.x;
\tsetp.lt.u32 %p1, %r1, 32;
\tsetp.ne.s32 %p2, %r2, 0;
\t@%p1 bra $B;
\t@%p2 bra $B;
\tbra.uni $L;
$B:
\tbar.sync 1, 64;
$L:
\tret;
}
";

#[test]
fn an_error_says_with_which_outcomes_it_comes_about_and_a_value_takes_it_away() {
    let (_folder, path) = folder(BY_PART);
    let found = run(&["verify", &path]).expect(1);
    found.prints("it comes about where `param_0+12 == 0` is true (line 16)");
    let json = run(&["verify", "--format", "json", &path]).expect(1);
    json.prints(
        "\"outcomes\":[{\"agent\":1,\"line\":16,\"column\":2,\"role\":\"finds `param_0+12 == 0` true\"}]",
    );
    run(&["verify", "--param", "param_0+12=1", &path]).expect(0);
    run(&["verify", "--param", "param_0+12=0", &path]).expect(1);
}

/// Tiles in turn, from the CTA's own on; the last barrier is left out where the grid has one CTA only.
const TILES: &str = ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n)\n.reqntid 64\n{\n\
                     .reg .pred %p<4>;\n.reg .b32 %r<8>;\nmov.u32 %r1, %nctaid.x;\nmov.u32 %r2, %tid.x;\n\
                     mov.u32 %r3, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra FULL;\nsetp.ne.u32 %p2, %r3, 0;\n\
                     @%p2 bra FULL;\nshr.u32 %r4, %r2, 5;\nsetp.eq.u32 %p3, %r4, 1;\n@%p3 bra DONE;\nFULL:\n\
                     bar.sync 0, 64;\nDONE:\nret;\n}\n";

#[test]
fn where_in_the_grid_a_cta_is_can_be_said() {
    let (_folder, path) = folder(TILES);
    let with = |params: &[&str]| {
        let mut args = vec!["verify"];
        params.iter().for_each(|param| args.extend(["--param", param]));
        args.push(&path);
        run(&args)
    };
    with(&["%nctaid.x=2"]).expect(0);
    with(&["%ctaid.x=1"]).expect(0);
    with(&["%nctaid.x=1", "%ctaid.x=0"]).expect(1).prints("deadlock");
    // Which grid there is need not be said for a hang to be found.
    with(&[]).expect(1).prints("deadlock");
    with(&["%nctaid.x=2", "%ctaid.x=2"]).expect(2).says("`%ctaid.x` is less than `%nctaid.x`, which is 2");
    with(&["%nctaid.x=0"]).expect(2).says("`%nctaid.x` is at least 1");
    with(&["%ctaid.x=-1"]).expect(2).says("`%ctaid.x` is not -1");
    with(&["%nctaid.x=1.."]).expect(2).says("`%nctaid.x` has one value, and no least one");
    with(&["%laneid=1"]).expect(2).says("no kernel has a parameter `%laneid`");
}
