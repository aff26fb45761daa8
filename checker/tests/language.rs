//! What the language has for people means what it stands for.

use barcheck::{Decision, Options, Reduction, Source, Verdict, decide};

#[track_caller]
fn decided(text: &str, reduction: Reduction) -> Decision {
    let mut options = Options::default();
    options.settings.reduction = reduction;
    let decision = decide(&Source::new("test.bar", text.as_bytes()), &options);
    assert!(decision.diagnostics.is_empty(), "{:?}", decision.diagnostics);
    decision
}

fn rules(decision: &Decision) -> Vec<&'static str> {
    decision.findings.iter().map(|found| found.rule.name()).collect()
}

/// Both texts come to the same, after as many states.
#[track_caller]
fn same(short: &str, written_out: &str) {
    for reduction in [Reduction::None, Reduction::Auto] {
        let (short, long) = (decided(short, reduction), decided(written_out, reduction));
        assert_eq!(short.verdict, long.verdict, "{reduction:?}");
        assert_eq!(rules(&short), rules(&long), "{reduction:?}");
        assert_eq!(short.statistics.states, long.statistics.states, "{reduction:?}");
    }
}

const HEAD: &str = "target ptx;\ncta 96;\nshared buf[2];\nmbarrier full[2] count 1, empty[2] count 2;\n";

#[test]
fn a_shared_block_is_what_stands_in_the_place_of_its_uses() {
    let ring = |consumed: &str| {
        let blocks = "block put(i, p) {\n    mbarrier.wait.parity empty[i], p ^ 1;\n    write buf[i];\n    \
                      mbarrier.arrive full[i];\n}\nblock take(bars, i, p) { mbarrier.wait.parity bars[i], p; }\n";
        let short = format!(
            "{HEAD}{blocks}warp 0 {{ for i in 0..5 {{ if lane == 0 {{ put(i % 2, (i / 2) & 1); }} }} }}\n\
             warps 1..=2 {{ for i in 0..=4 {{ take(full, i % 2, (i / 2) & 1); read buf[i % 2]; {consumed} }} }}\n"
        );
        let long = format!(
            "{HEAD}warp 0 {{ for i in 0..5 {{ if lane == 0 {{ mbarrier.wait.parity empty[i % 2], ((i / 2) & 1) ^ 1; \
             write buf[i % 2]; mbarrier.arrive full[i % 2]; }} }} }}\n\
             warps 1..3 {{ for i in 0..5 {{ mbarrier.wait.parity full[i % 2], (i / 2) & 1; read buf[i % 2]; {consumed} }} }}\n"
        );
        (short, long)
    };
    let (short, long) = ring("if lane == 0 { mbarrier.arrive empty[i % 2]; }");
    same(&short, &long);
    assert_eq!(decided(&short, Reduction::Auto).verdict, Verdict::Verified);
    let (short, long) = ring("if lane == 0 && i != 1 { mbarrier.arrive empty[i % 2]; }");
    same(&short, &long);
    assert_eq!(rules(&decided(&short, Reduction::Auto)), ["deadlock"]);
}

#[test]
fn stages_that_advance_are_those_of_a_counter() {
    let advanced = format!(
        "{HEAD}warps 0..3 {{ let s = 0; let p = 0; for i in 0..7 {{ assert s == i % 2 && p == ((i / 2) & 1); \
         advance s, p, 2; }} bar.sync 0; }}\n"
    );
    assert_eq!(decided(&advanced, Reduction::Auto).verdict, Verdict::Verified);
    let late = advanced.replace("p == ((i / 2) & 1)", "p == (((i + 1) / 2) & 1)");
    assert_eq!(rules(&decided(&late, Reduction::Auto)), ["assertion"]);
}

#[test]
fn a_shared_number_is_every_one_of_its_range_and_the_same_for_all() {
    let with = |first: &str, second: &str, assertion: &str| {
        format!(
            "target ptx;\ncta 64;\nwarp 0 {{ let n = {first}; for i in 0..n {{ bar.sync 1, 64; }} assert {assertion}; }}\n\
             warp 1 {{ let n = {second}; for i in 0..n {{ bar.sync 1, 64; }} }}\n"
        )
    };
    let range = "uniform tiles any 1..=6";
    for reduction in [Reduction::None, Reduction::Auto, Reduction::Stubborn] {
        assert_eq!(decided(&with(range, range, "n >= 1 && n <= 6"), reduction).verdict, Verdict::Verified);
        for value in 1..=6 {
            let found = decided(&with(range, range, &format!("n != {value}")), reduction);
            assert_eq!(rules(&found), ["assertion"], "{value}");
        }
        let apart = decided(&with(range, "uniform others any 1..=6", "1 == 1"), reduction);
        assert_eq!(rules(&apart), ["deadlock"]);
        let unnamed = decided(&with("uniform any 1..=6", "uniform any 1..=6", "1 == 1"), reduction);
        assert_eq!(rules(&unnamed), ["deadlock"], "two statements are two sequences");
    }
}

#[test]
fn an_unnamed_decision_in_a_shared_block_is_one_statement_for_all() {
    let text = "target ptx;\ncta 64;\nblock maybe(id) { if uniform ? { bar.sync id, 64; } }\n\
                warp 0 { maybe(1); maybe(2); }\nwarp 1 { maybe(1); maybe(2); }\n";
    let decision = decided(text, Reduction::None);
    assert_eq!(decision.verdict, Verdict::Verified);
    assert!(decision.remarks.is_empty(), "{:?}", decision.remarks);
}

#[test]
fn what_one_role_comes_to_in_a_shared_block_is_reached() {
    let text = |second: &str| {
        format!(
            "target ptx;\ncta 64;\nblock meet(on) {{ if on == 1 {{ bar.sync 1, 32; }} bar.sync 0; }}\n\
             warp 0 {{ meet(1); }}\nwarp 1 {{ meet({second}); }}\n"
        )
    };
    assert!(decided(&text("0"), Reduction::Auto).remarks.is_empty());
    let never = text("0").replace("meet(1)", "meet(2)");
    let remarks = decided(&never, Reduction::Auto).remarks;
    assert_eq!(remarks.len(), 1, "once, for all uses: {remarks:?}");
}

#[test]
fn a_result_that_declares_itself_is_known_in_its_block_alone() {
    let text = "target ptx;\ncta 64;\nwarps 0..2 { bar.red.popc.u32 k, 1, 64, 1; assert k == 64; }\n";
    assert_eq!(decided(text, Reduction::Auto).verdict, Verdict::Verified);
    let unread = text.replace("assert k == 64;", "");
    assert_eq!(decided(&unread, Reduction::Auto).remarks.len(), 1, "a name misspelt is told of");
}
