//! Findings about the text: what no agent comes to, what nothing uses, and the levels of both.

use crate::support::{DEADLOCK, Folder, GOOD, Run, run, run_on, verify};
use serde_json::Value;

/// A block of two warps in a file of its own.
fn block(statements: &str) -> String {
    format!(
        "target ptx;\ncta 64;\nparam N = 0;\nparam LESS = 1;\nwarps 0..2 {{\n{statements}\n}}\nconst _USE = N + LESS;\n"
    )
}

/// The rules and lines of what is found, in order.
#[track_caller]
fn found(run: &Run) -> Vec<(String, u64)> {
    let findings = run.json()[0]["findings"].as_array().expect("a list").clone();
    let name = |found: &Value| found["rule"].as_str().expect("a name").to_owned();
    findings.iter().map(|found| (name(found), found["location"]["line"].as_u64().expect("a line"))).collect()
}

#[track_caller]
fn unreached(statements: &str, lines: &[u64]) {
    let run = verify(block(statements), &["--format", "json", "--allow", "unused,reserved-barrier"]);
    let found: Vec<_> = found(&run).into_iter().filter(|(rule, _)| rule == "unreached").collect();
    let expected: Vec<_> = lines.iter().map(|line| ("unreached".to_owned(), *line)).collect();
    assert_eq!(found, expected, "{statements}\n{}", run.out);
}

#[test]
fn what_no_agent_comes_to_is_said_at_its_cause() {
    unreached("if warp == 7 { bar.sync 1, 64; }", &[6]);
    unreached("bar.sync 0;\nif warp < 2 { bar.sync 1, 64; } else { bar.sync 2, 64; }", &[7]);
    unreached("for i in 0..LESS - 1 { bar.sync 1, 64; }", &[6]);
    unreached("for i in 0..N {\n if i == 3 { bar.sync 1, 64; }\n}", &[6]);
    unreached("let i = 5;\nwhile i < 5 { bar.sync 1, 64; }", &[7]);
    unreached("loop { bar.sync 0; }\nbar.sync 1, 64;\nbar.sync 2, 64;", &[7]);
    unreached("exit;\nbar.sync 1, 64;", &[7]);
    unreached("for i in 0..4 {\n bar.sync 0;\n continue;\n bar.sync 1, 64;\n}", &[9]);
    unreached("if warp == 0 { exit; } else { exit; }\nbar.sync 0;", &[7]);
    unreached("for i in 0..4 { let x = 0; if i == 9 { x = 1; } assert x == 0; }", &[6]);
}

#[test]
fn what_some_agent_comes_to_is_not_said() {
    unreached("if warp == 0 { bar.sync 1, 32; }", &[]);
    unreached("if warp == 0 { bar.sync 1, 32; } else { bar.sync 2, 32; }", &[]);
    unreached("if lane == 31 && warp == 1 { let x = 1; assert x == 1; }", &[]);
    unreached("if ? { bar.sync 0; } else { exit; }", &[]);
    unreached("let n = any 0..3;\nif n == 2 { bar.sync 0; }", &[]);
    unreached("loop { bar.sync 0; if ? { break; } }\nbar.sync 0;", &[]);
    unreached("loop { bar.sync 0; }", &[]);
    unreached("for i in 0..300 { if i == 299 { bar.sync 0; } }", &[]);
    unreached("let n = 0;\nbar.red.popc.u32 n, 0, ?;\nif n == 64 { bar.sync 0; }", &[]);
}

#[test]
fn what_a_named_constant_alone_turns_off_is_meant() {
    unreached("if N { bar.sync 1, 64; }", &[]);
    unreached("if !LESS { bar.sync 1, 64; } else { bar.sync 0; }", &[]);
    unreached("while N { bar.sync 1, 64; }", &[]);
    unreached("if N > 0 { bar.sync 1, 64; }", &[6]);
    unreached("for i in 0..1 { if i { bar.sync 1, 64; } }", &[6]);
}

#[test]
fn what_stands_behind_a_violation_is_not_unreached() {
    // A verdict tells of the barrier that nobody can pass, and of the assertion.
    unreached("bar.sync 16, 64;\nbar.sync 1, 64;", &[]);
    unreached("assert warp == 7;\nbar.sync 1, 64;", &[]);
    unreached("let n = 0;\nbar.sync 1 / n, 64;\nbar.sync 1, 64;", &[]);
    unreached("if warp == 0 { bar.sync 1, 96; }\nbar.sync 0;", &[]);
}

#[test]
fn an_outer_statement_stands_for_those_inside_and_counts_its_barriers() {
    let text = block("for i in 0..N { bar.sync 1, 64; if i > 2 { bar.sync 2, 64; } }");
    verify(&text, &[])
        .expect(0)
        .prints("warning[unreached]: `for i in 0..N` makes no round")
        .prints("nobody comes here")
        .prints("the 2 barrier instructions in it are executed by nobody")
        .prints("verified")
        .prints(", 1 warning: ");
}

#[test]
fn what_nothing_uses_is_said_where_it_is_declared() {
    let text = "target ptx;\ncta 64;\nparam N = 4;\nshared a, b[2];\nglobal g;\nwarps 0..2 {\n    let n = 1;\n    \
                let c = 0;\n    for i in 0..3 { c = c + 1; write a; bar.sync 1, 64; }\n}\n";
    let run = verify(text, &["--format", "json", "--allow", "data-race"]).expect(0);
    let expected = [3, 4, 5, 7, 8].map(|line| ("unused".to_owned(), line));
    assert_eq!(found(&run), expected);
    verify(text, &["--allow", "data-race"]).prints("warning[unused]: `param N` is used nowhere");
}

#[test]
fn what_is_used_at_all_is_not_unused() {
    let text = "target ptx;\ncta 64;\nparam N = 4;\nparam _M = 1;\nconst K = N;\nshared a[N], _b;\nwarps 0..2 {\n    \
                let _n = 1;\n    let m = 0;\n    bar.red.popc.u32 m, 0, ?;\n    if m > 3 { read a[m % 4]; }\n}\n";
    assert_eq!(found(&verify(text, &["--format", "json"]).expect(0)), []);
}

#[test]
fn lints_have_the_levels_that_rules_have() {
    let text = "target ptx; cta 64; param N = 2; warps 0..2 { bar.sync 1, 64; }\n";
    verify(text, &[]).expect(0).prints("warning[unused]");
    for denied in ["unused", "warnings", "all", "deadlock,unused"] {
        verify(text, &["--deny", denied]).expect(1).prints("violated").prints("error[unused]");
    }
    verify(text, &["--deny", "warnings", "--warn", "unused"]).expect(0).prints("warning[unused]");
    let allowed = verify(text, &["--deny", "all", "--allow", "unused"]).expect(0);
    assert!(!allowed.out.contains("unused"), "{}", allowed.out);
    let run = verify(text, &["--deny", "unused", "--format", "json"]).expect(1);
    let (report, found) = (&run.json()[0], &run.json()[0]["findings"][0]);
    assert_eq!((&report["verdict"], &found["level"]), (&"violated".into(), &"error".into()));
    assert_eq!(found["trace"], Value::Null);
    assert_eq!(found["fingerprint"].as_str().map(str::len), Some(16));
}

#[test]
fn a_denied_lint_violates_what_no_search_has_finished() {
    let large = crate::support::LARGE.replace("shared a[32];", "shared a[32], b;");
    let run = verify(&large, &["--max-states", "100", "--deny", "unused"]).expect(1);
    run.prints("error[unused]").prints("more rules may be violated than are shown").prints("100 states");
}

#[test]
fn every_format_tells_of_lints() {
    let text = "target ptx; cta 64; param N = 2; warps 0..2 { bar.sync 1, 64; }\n";
    verify(text, &["--format", "github"]).prints("::warning file=").prints("title=unused::");
    verify(text, &["--format", "github", "--deny", "unused"]).expect(1).prints("::error file=");
    let run = crate::sarif::log(&verify(text, &["--format", "sarif"]));
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"unused".into(), &"warning".into()));
    let index = result["ruleIndex"].as_u64().expect("an index") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "unused");
    assert_eq!(result.get("codeFlows"), None, "there is no run to show");
    verify(text, &["--format", "junit"]).prints("warning[unused]").prints("system-out");
    verify(text, &["--format", "junit", "--deny", "unused"]).expect(1).prints("type=\"unused\"");
}

#[test]
fn many_findings_of_one_lint_are_counted() {
    let names: Vec<_> = (0..50).map(|n| format!("x{n}")).collect();
    let text = format!("target ptx; cta 32; shared {}; warp 0 {{ }}\n", names.join(", "));
    let run = verify(&text, &[]).expect(0).prints("and 30 more findings of `unused`");
    assert_eq!(run.out.matches("warning[unused]").count(), 20);
    let arms = "if warp == 9 { bar.sync 1, 64; }\n".repeat(25);
    verify(block(&arms), &[]).prints("and 5 more findings of `unreached`");
}

#[test]
fn the_library_has_no_lints() {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/protocols");
    let run = run(&["verify", "--format", "github", library]);
    for lint in ["unreached", "unused", "index-outside", "number-as-predicate"] {
        let said: Vec<_> = run.out.lines().filter(|line| line.contains(&format!("title={lint}::"))).collect();
        assert!(said.is_empty(), "{said:#?}");
    }
}

#[test]
fn lints_are_explained_and_listed() {
    for lint in ["index-outside", "number-as-predicate", "two-registers", "unreached", "unused"] {
        let explained = run(&["explain", lint]).expect(0);
        explained.prints("Why it matters").prints("How to fix it").prints(&format!("--allow {lint}"));
        run(&["rules"]).expect(0).prints(lint);
    }
    let rules = run(&["rules", "--format", "json"]).expect(0).json();
    let unused = rules[0].as_array().and_then(|all| all.iter().find(|rule| rule["rule"] == "unused"));
    assert_eq!(unused.expect("it is listed")["targets"]["xegpu"]["level"], "warning");
    run(&["verify", "--deny", "unusde", "x.bar"]).expect(2).says("unused");
}

#[test]
fn coverage_lists_who_executes_which_barrier() {
    let text = "target ptx;\ncta 96;\nwarp 0 as load {\n    for i in 0..4 {\n        if i == 2 { break; }\n        \
                bar.arrive 1 + i % 2, 96;\n    }\n}\nwarps 1..3 as math {\n    bar.sync 1, 96;\n    bar.sync 2, 96;\n    \
                if warp == 0 { bar.sync 3, 96; }\n}\n";
    let run = verify(text, &["--coverage"]).expect(0);
    let lines: Vec<_> =
        run.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in [
        "coverage: what agents can execute, whatever the others do",
        "line can be executed by on instruction",
        "6 load (warp 0) b1 b2 bar.arrive 1 + i % 2, 96",
        "10 math (warps 1 and 2) b1 bar.sync 1, 96",
        "12 nobody - bar.sync 3, 96",
        "line 4: 3 of 4 rounds at most for i in 0..4",
    ] {
        assert!(lines.iter().any(|line| line == expected), "no `{expected}` in {}", run.out);
    }
    let json = verify(text, &["--coverage", "--format", "json"]).json();
    let load = &json[0]["coverage"][0];
    assert_eq!((&load["role"], &load["complete"]), (&"load".into(), &true.into()));
    assert_eq!(load["barriers"][0]["barriers"], serde_json::json!([1, 2]));
    assert_eq!(
        load["loops"][0],
        serde_json::json!({
            "location": { "line": 4, "column": 5 }, "head": "for i in 0..4", "made": 3, "written": 4,
        })
    );
    assert_eq!(json[0]["coverage"][1]["barriers"][2]["reached"], false);
    assert_eq!(verify(GOOD, &["--format", "json"]).json()[0].get("coverage"), None, "nobody has asked");
    verify(DEADLOCK, &["--coverage", "-q"]).expect(1).prints("bar.sync 2, 64");
}

#[test]
fn coverage_that_is_too_much_says_so() {
    let text = "target ptx;\ncta 32;\nwarp 0 as long {\n    for i in 0..100000 { bar.sync 1, 32; }\n    bar.sync 2, 32;\n}\n";
    verify(text, &["--coverage"])
        .expect(0)
        .prints("not known")
        .prints("too much to be worked out")
        .prints("line 3: long (warp 0)");
    let json = verify(text, &["--coverage", "--format", "json"]).json();
    assert_eq!(json[0]["coverage"][0]["complete"], false);
    let folder = Folder::new();
    let file = folder.add("long.bar", text);
    assert_eq!(found(&run(&["verify", "--format", "json", &file]).expect(0)), []);
}

#[test]
fn several_values_bring_a_remark_once_for_people_and_each_time_for_scripts() {
    let text = "target ptx;\ncta 64;\nparam N = 1;\nshared a;\nwarps 0..2 { bar.sync N; }\n";
    let people = verify(text, &["-D", "N=1..3"]).expect(0).prints("as before: unused");
    assert_eq!(people.out.matches("warning[unused]").count(), 1, "{}", people.out);
    let scripts = verify(text, &["-D", "N=1..3", "--format", "json"]);
    assert_eq!(scripts.out.matches("\"rule\":\"unused\"").count(), 3, "{}", scripts.out);
}

#[test]
fn remarks_are_left_to_others_where_a_head_is_held_to() {
    let head = "// expect: verified\n// rules: none\n";
    let text = format!("{head}target ptx;\ncta 64;\nshared a;\nwarps 0..2 {{ bar.sync 0; }}\n");
    let run = verify(&text, &["--expect"]).expect(0).prints("as expected");
    assert!(!run.out.contains("unused"), "{}", run.out);
    for format in ["github", "sarif"] {
        let run = verify(&text, &["--expect", "--format", format]).expect(0);
        assert!(!run.out.contains("accessed nowhere"), "{format}: {}", run.out);
    }
}

#[test]
fn an_object_that_no_instruction_names_is_unused() {
    let text = "target ptx;\ncta 64;\nmbarrier full count 2;\nwarps 0..2 { bar.sync 0; }\n";
    verify(text, &[]).expect(0).prints("warning[unused]: no instruction names `full`");
    let named = text
        .replace("bar.sync 0;", "mbarrier.arrive full; mbarrier.wait.parity full, 0;")
        .replace("64;", "64;\nparam _N = 1;");
    let run = verify(named.replace("count 2", "count 64"), &[]).expect(0);
    assert!(!run.out.contains("unused"), "{}", run.out);
}

/// Pedantic: protocols that are extracted from kernels have no fences.
#[test]
fn an_initialisation_without_a_fence_is_said_where_it_is_asked_for() {
    let text = "target ptx;\ncta 32;\nmbarrier done;\nwarp 0 {\n    if lane == 0 { mbarrier.init done, 1; \
                tcgen05.commit done; }\n    mbarrier.wait.parity done, 0;\n}\n";
    let said = |more: &[&str]| found(&verify(text, &[&["--format", "json"], more].concat()));
    assert_eq!(said(&[]), []);
    let unfenced = [("unfenced-init".to_owned(), 5)];
    assert_eq!(said(&["--strict"]), unfenced);
    assert_eq!(said(&["--warn", "unfenced-init"]), unfenced);
}

#[test]
fn decisions_that_look_like_one_are_told_apart_under_the_headline() {
    let text = |name: &str| {
        format!(
            "target ptx; cta 64;\nwarp 0 {{ loop {{ bar.sync 1, 64; if uniform {name} ? {{ break; }} }} }}\n\
             warp 1 {{ loop {{ bar.sync 1, 64; if uniform {name} ? {{ break; }} }} }}\n"
        )
    };
    let apart = run_on(&["verify", "-"], text("").as_bytes()).expect(1);
    let note = "the decisions `uniform ?` in lines 2 and 3 are different ones, since they have no name";
    let (at, why) = (apart.out.find(note).expect("a note"), apart.out.find("\nwhy").expect("why"));
    assert!(at < why, "{}", apart.out);
    run_on(&["verify", "-"], text("more").as_bytes()).expect(0);
}
