//! Conversions and graphs from outside: where they go, what is refused, and what the help says.

use crate::support::{DEADLOCK, Folder, GOOD, WARNING, no_traces, ring, run, run_on};
use std::fs;

const FORMATS: [&str; 6] = ["text", "svg", "mermaid", "dot", "perfetto", "itf"];

#[test]
fn a_conversion_goes_to_standard_output_or_where_it_is_told() {
    let (folder, text) = ring();
    let trace = folder.text("ring.json");
    for (format, begins) in FORMATS.into_iter().zip([
        "deadlock: ",
        "<svg ",
        "sequenceDiagram\n",
        "digraph ",
        "{\"traceEvents\"",
        "{\"#meta\"",
    ]) {
        let converted = run(&["convert", &trace, "--to", format]).expect(0);
        assert!(converted.out.starts_with(begins), "{}", converted.out);
        assert!(converted.err.is_empty() && converted.out.ends_with('\n'));
        assert_eq!(run_on(&["convert", "-", "--to", format], text.as_bytes()).expect(0).out, converted.out);
        assert_eq!(run(&["convert", &trace, "--to", format, "-o", "-"]).expect(0).out, converted.out);
        let place = folder.text(&format!("new/ring.{format}"));
        run(&["convert", &trace, "--to", format, "-o", &place])
            .expect(0)
            .prints(&format!("{format} written to"));
        assert_eq!(fs::read_to_string(&place).expect("it is there"), converted.out);
    }
}

#[test]
fn what_is_no_trace_is_converted_to_nothing() {
    let (folder, text) = ring();
    let others = [
        ("index.json", text.replace("\"index\":1,\"agent\"", "\"index\":7,\"agent\""), "is 7 and must be 1"),
        ("other.json", "[]".to_owned(), "cannot convert"),
    ];
    for (name, contents, said) in no_traces(&text).into_iter().chain(others) {
        let file = folder.add(name, contents);
        let place = folder.text("converted");
        for format in FORMATS {
            for anyway in [&[][..], &["--anyway"]] {
                let options = [&["convert", &file, "--to", format, "-o", &place], anyway].concat();
                run(&options).expect(2).says("cannot convert").says(said);
            }
        }
        assert!(!folder.at("converted").exists());
    }
    run(&["convert", &folder.text("nowhere.json"), "--to", "svg"]).expect(2).says("cannot convert");
}

#[test]
fn a_trace_that_departs_is_converted_only_if_asked_for_and_what_is_made_of_it_says_so() {
    let (folder, text) = ring();
    let edited = folder.add("edited.json", text.replacen("\"arrived\":32", "\"arrived\":64", 1));
    for format in FORMATS {
        let refused = run(&["convert", &edited, "--to", format])
            .expect(1)
            .says("departs from the model")
            .says("step 1");
        assert!(refused.out.is_empty());
        run(&["convert", "--anyway", &edited, "--to", format]).expect(0).prints("departs from");
    }
}

#[test]
fn wrong_use_of_convert_is_said_to_be() {
    let (folder, text) = ring();
    let trace = folder.text("ring.json");
    run(&["convert", &trace]).expect(2).says("--to <FORMAT>");
    run(&["convert", &trace, "--to", "pdf"]).expect(2).says("text, svg, mermaid, dot, perfetto, itf");
    run(&["convert", "--to", "svg"]).expect(2).says("<TRACE>");
    run(&["convert", &trace, "--to", "svg", "-o", &trace]).expect(2).says("would overwrite");
    let roundabout = folder.text("./ring.json");
    run(&["convert", &trace, "--to", "svg", "-o", &roundabout]).expect(2).says("would overwrite");
    assert_eq!(fs::read_to_string(&trace).expect("it is there"), text);
    let within = folder.text("ring.json/ring.svg");
    run(&["convert", &trace, "--to", "svg", "-o", &within]).expect(2).says("cannot write");
    let itself = folder.path().to_str().expect("UTF-8");
    run(&["convert", &trace, "--to", "svg", "-o", itself]).expect(2).says("cannot write");
    let help = run(&["convert", "--help"]).expect(0);
    for format in FORMATS {
        assert!(help.out.contains(&format!("\n  {format} ")), "{format} in {}", help.out);
    }
}

#[test]
fn a_graph_goes_to_standard_output_or_where_it_is_told() {
    let folder = Folder::new();
    let file = folder.add("ring.bar", DEADLOCK);
    let usual = run(&["graph", &file]).expect(0);
    for view in ["usage", "waits", "automata"] {
        let graph = run(&["graph", "--what", view, &file]).expect(0);
        assert!(graph.out.starts_with("digraph ") && graph.out.ends_with("}\n"), "{}", graph.out);
        assert_eq!(graph.out == usual.out, view == "usage");
        let place = folder.text(&format!("graphs/{view}.dot"));
        run(&["graph", "--what", view, &file, "-o", &place]).expect(0).prints("graph written to");
        assert_eq!(fs::read_to_string(&place).expect("it is there"), graph.out);
    }
    run_on(&["graph", "-"], GOOD.as_bytes()).expect(0).prints("<stdin>: ptx, 2 warps");
}

#[test]
fn a_param_changes_the_graph_and_an_unknown_one_is_refused() {
    let folder = Folder::new();
    let file = folder
        .add("rounds.bar", "target ptx; cta 32; param N = 2; warp 0 { for i in 0..N { bar.sync 1, 32; } }");
    let nodes = |n: &str| {
        let graph = run(&["graph", "--what", "automata", "-D", n, &file]).expect(0);
        graph.out.lines().filter(|line| line.contains("waits on b1")).count()
    };
    assert_eq!((nodes("N=3"), nodes("N=5")), (3, 5));
    run(&["graph", "-D", "M=3", &file]).expect(2).says("the file has no `param M`").says("`N`");
    let many = ["graph", "--what", "automata", "-D", "N=100000", &file];
    run(&many).expect(3).says("does not stay within 1000 states").says("--max-states");
    run(&["graph", "--max-states", "4", &file]).expect(3).says("does not stay within 4 states");
}

#[test]
fn what_has_no_graph_is_said_to_have_none() {
    let folder = Folder::new();
    let broken = folder.add("broken.bar", "target ptx; cta 64; warps 0..2 { bar.sync 1 64; }");
    run(&["graph", &broken]).expect(2).says("broken.bar:1:");
    run(&["graph", &folder.text("nowhere.bar")]).expect(2).says("cannot read");
    let file = folder.add("good.bar", GOOD);
    run(&["graph", &file, "-o", &file]).expect(2).says("would overwrite");
    run(&["graph", &file, "-o", &folder.text("good.bar/x.dot")]).expect(2).says("cannot write");
    run(&["graph", &file, "--what", "colours"]).expect(2).says("usage, waits, automata");
    let picks = folder.add("picks.bar", "target ptx; cta 32; warp 0 { let n = any 0..1000; }");
    let said = run(&["graph", &picks]).expect(3).says("a choice in it has too many alternatives");
    assert!(!said.err.contains("--max-states"), "{}", said.err);
}

#[test]
fn a_model_goes_to_standard_output_or_where_it_is_told_with_what_belongs_beside_it() {
    let folder = Folder::new();
    let file = folder.add("good.bar", GOOD);
    let promela =
        run(&["export", "--to", "promela", &file]).expect(0).prints("active [AGENTS] proctype warp()");
    let place = folder.text("models/good.pml");
    run(&["export", "--to", "promela", &file, "-o", &place]).expect(0).prints("model written to");
    assert_eq!(fs::read_to_string(&place).expect("it is there"), promela.out);
    let tla = run(&["export", "--to", "tla", &file]).expect(0).prints("---- MODULE good ----");
    let place = folder.text("models/other.tla");
    run(&["export", "--to", "tla", &file, "-o", &place]).expect(0).prints("configuration written to");
    let text = fs::read_to_string(&place).expect("it is there");
    assert!(text.starts_with("---- MODULE other ----"), "{text}");
    let configuration = fs::read_to_string(folder.text("models/other.cfg")).expect("it is there");
    assert!(configuration.contains("INVARIANT No_deadlock") && tla.out.ends_with(&configuration));
}

/// SPIN counts none where it has not looked at everything either.
#[test]
fn a_model_says_when_no_errors_prove_nothing() {
    let model = run_on(&["export", "--to", "promela", "-"], GOOD.as_bytes()).expect(0);
    let (head, _) = model.out.split_once("*/").expect("a head");
    for said in ["errors: 0", "max search depth too small", "larger -m", "Search not completed", "-DCOLLAPSE"]
    {
        assert!(head.contains(said), "no `{said}` in {head}");
    }
}

#[test]
fn what_a_model_asserts_follows_the_levels() {
    let folder = Folder::new();
    let file = folder.add("warning.bar", WARNING);
    let usual = run(&["export", "--to", "promela", &file]).expect(0).prints("#define note_nobody_waits skip");
    assert!(usual.out.contains("#define end_count_mismatch violated(count_mismatch)"));
    let denied = ["export", "--to", "promela", "--deny", "nobody-waits", "--allow", "count-mismatch", &file];
    let changed = run(&denied).expect(0).prints("#define note_nobody_waits noted(nobody_waits)");
    assert!(changed.out.contains("#define end_count_mismatch cut(cut_by_count_mismatch)"));
}

#[test]
fn an_exported_model_looks_for_stuck_agents_where_agents_may_run_for_ever_and_says_where_it_may_be_wrong() {
    let folder = Folder::new();
    let group = |does: &str| format!("target ptx; cta 64; warps 0..2 {{ {does} }}\n");
    let ends = folder.add("ends.bar", group("bar.sync 1, 64;"));
    let endless = folder.add("endless.bar", group("loop { bar.sync 1, 64; }"));
    let chooses = folder.add("chooses.bar", group("while uniform ? { bar.sync 1, 64; }"));
    let asserts = |file: &str, language: &str| {
        let exported = run(&["export", "--to", language, file]).expect(0);
        let looks =
            exported.out.contains("-DSTUCK_AGENT") || exported.out.contains("INVARIANT No_stuck_agent");
        let says = "stuck-agent is judged on one continuation of each state";
        assert_eq!(
            exported.out.contains(says),
            exported.err.contains(says),
            "the head and the command say the same"
        );
        (looks, exported.err.contains(says))
    };
    for (file, language, expected) in [
        (&ends, "promela", (false, false)),
        (&endless, "promela", (true, false)),
        (&chooses, "promela", (true, true)),
        (&ends, "tla", (false, false)),
        (&endless, "tla", (true, false)),
        (&chooses, "tla", (true, false)),
    ] {
        assert_eq!(asserts(file, language), expected, "{file}, {language}");
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = Folder::new();
    let picks = folder.add("picks.bar", "target ptx; cta 32; warp 0 { let n = any 0..1000; }\n");
    run(&["export", "--to", "promela", &picks]).expect(2).says("warp 0").says("too many alternatives");
    let each = |bar: usize, op: &str| {
        if op == "B2R" {
            format!("B2R.BAR R{bar}, {};", bar % 16)
        } else {
            format!("R2B.BAR {}, R{bar};", bar % 16)
        }
    };
    let all = |op: &str, most: usize| (0..most).map(|bar| each(bar, op)).collect::<String>();
    let holds =
        |most: usize| format!("target bcu; cta 32; warp 0 {{ {} {} }}\n", all("B2R", most), all("R2B", most));
    let most = folder.add("most.bar", holds(31));
    run(&["export", "--to", "promela", &most]).expect(0);
    let many = folder.add("many.bar", holds(32));
    run(&["export", "--to", "promela", &many]).expect(2).says("32 states of barriers in registers");
    run(&["export", "--to", "tla", &many]).expect(0);
    let counts = "target ptx; cta 32; warp 0 { let i = 0; loop { i = i + 1; bar.sync i * i % 2, 32; } }\n";
    let counts = folder.add("counts.bar", counts);
    run(&["export", "--to", "promela", &counts]).expect(2).says("does not stay within");
    let registers = folder.add("registers.bar", "target ptx; cta 32; warp 0 { setmaxnreg.dec 24; }\n");
    for language in ["promela", "tla"] {
        run(&["export", "--to", language, &registers]).expect(2).says("no exported models of `setmaxnreg`");
    }
    // Groups and fences mean nothing without copies.
    let group = "fence.proxy.async;\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n";
    let with =
        |copy: &str| format!("target ptx; cta 32; shared x;\nwarp 0 {{\n    write x;\n    {copy}{group}}}\n");
    let copies = folder.add("copies.bar", with("fence.proxy.async;\n    cp.async.bulk.global x;\n    "));
    let none = folder.add("none.bar", with(""));
    for language in ["promela", "tla"] {
        let refused = run(&["export", "--to", language, &copies]).expect(2);
        refused.says("line 5: there are no exported models of copies").says("`cp.async.bulk.global x`");
        run(&["export", "--to", language, &none]).expect(0);
    }
    let file = folder.add("good.bar", GOOD);
    run(&["export", "--to", "promela", &file, "-o", &file]).expect(2).says("would overwrite");
    run(&["export", "--to", "fortran", &file]).expect(2).says("promela, tla");
    run(&["export", "--to", "tla", "-D", "N=3", &file]).expect(2).says("param");
}
