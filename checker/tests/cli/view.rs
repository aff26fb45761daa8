//! Pages: written where they should be, of traces that hold, and harmless whatever a trace says.

use crate::support::{DEADLOCK, Folder, WARNING, no_traces, ring, run, run_on};
use serde_json::{Value, json};
use std::fs;

/// More than this is no page to attach to a report.
const LARGEST: usize = 900 << 10;

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.at(name)).expect("the page is there")
}

#[test]
fn a_page_lies_beside_its_trace_or_where_it_is_told() {
    let (folder, text) = ring();
    let trace = folder.text("ring.json");
    run(&["view", &trace]).expect(0).prints("ring.html");
    let page = read(&folder, "ring.html");
    assert!(page.starts_with("<!doctype html>") && page.len() < LARGEST, "{} bytes", page.len());
    run(&["view", &trace, "-o", &folder.text("new/page.htm")]).expect(0);
    assert_eq!(read(&folder, "new/page.htm"), page);
    assert_eq!(run(&["view", &trace, "-o", "-"]).expect(0).out, page);
    assert_eq!(run_on(&["view", "-"], text.as_bytes()).expect(0).out, page);
    let other = folder.add("other.json", text);
    run(&["view", &trace, &other, "-o", &folder.text("pages")]).expect(0);
    assert_eq!(read(&folder, "pages/ring.html"), page);
    assert_eq!(read(&folder, "pages/other.html"), page);
}

#[test]
fn verify_writes_pages_as_it_writes_traces() {
    let folder = Folder::new();
    let (ring, warning) = (folder.add("ring.bar", DEADLOCK), folder.add("warning.bar", WARNING));
    run(&["verify", "--html", &folder.text("one.html"), &ring]).expect(1).prints("page written to");
    let (pages, traces) = (folder.text("pages"), folder.text("traces"));
    run(&["verify", "--html", &pages, "--trace", &traces, &ring, &warning])
        .expect(1)
        .prints("trace written to");
    run(&["view", &folder.text("traces/ring-deadlock.json")]).expect(0);
    let page = read(&folder, "traces/ring-deadlock.html");
    assert_eq!(read(&folder, "pages/ring-deadlock.html"), page);
    assert_eq!(read(&folder, "one.html"), page);
    assert!(read(&folder, "pages/warning-nobody-waits.html").contains("nobody-waits"));
}

/// Protocols that nothing is violated in, and that no verdict is reached on: what each is called, and what
/// its trace and its narrative say.
const UNDECIDED: [(&str, &str, &str, &str, &str); 3] = [
    (
        "zero.bar",
        "target ptx; cta 64; param N = 0;\nwarp 0 { bar.arrive 2, 32; bar.sync 1, 64 / N; }\nwarp 1 { bar.sync 1, 64; }\n",
        "zero-evaluation-error",
        "evaluation error: warp 0: division by zero",
        "warp 0  fails",
    ),
    (
        "device.bar",
        "target split_barrier; workgroup 2;\ninvocations 0..2 { OpControlBarrier Device, Device, None; }\n",
        "device-inconclusive",
        "not modelled: invocation 0: a barrier with execution scope Device is not modelled",
        "invocation 0  cannot be followed",
    ),
    (
        "endless.bar",
        "target ptx; cta 64;\nwarp 0 { let n = 0; bar.sync 1, 64; loop { n = n - (0 - 1); } }\nwarp 1 { bar.sync 1, 64; }\n",
        "endless-inconclusive",
        "not modelled: warp 0",
        "Warp 0 computes at endless.bar:2",
    ),
];

#[test]
fn the_way_to_where_no_verdict_is_reached_is_shown_like_any_other() {
    let folder = Folder::new();
    for (name, source, written, headline, ends) in UNDECIDED {
        let file = folder.add(name, source);
        let (page, trace) = (folder.text("one.html"), folder.text("one.json"));
        let status = if written.ends_with("error") { 2 } else { 3 };
        let run_of = |options: &[&str]| run(&[&["verify", &file], options].concat()).expect(status);
        run_of(&["--html", &page, "--trace", &trace])
            .prints("page written to")
            .prints("The path ends here")
            .prints(ends);
        run(&["replay", &trace]).expect(0).prints("confirmed");
        run(&["view", &trace]).expect(0);
        assert!(read(&folder, "one.html").contains(headline), "{name}");
        // What follows a narrative stands apart from it.
        run(&["verify", &file, &file]).expect(status).prints("comes next.\n\n");
        // Among several files, by name.
        run_of(&["--all", "--trace", &folder.text("traces")]).prints(written);
        run(&["replay", &folder.text(&format!("traces/{written}.json"))]).expect(0);
    }
}

#[test]
fn a_violation_outweighs_the_way_to_where_a_path_ends() {
    let folder = Folder::new();
    let source = "target ptx; cta 64; param N = 0;\nwarp 0 { if ? { bar.sync 1, 64; } else { bar.sync 1, 64 / N; } }\nwarp 1 { }\n";
    let file = folder.add("both.bar", source);
    run(&["verify", &file, "--all", "--trace", &folder.text("traces")]).expect(1);
    let written: Vec<_> = fs::read_dir(folder.at("traces")).expect("a folder").flatten().collect();
    assert_eq!(written.len(), 1, "{written:?}");
    run(&["replay", &folder.text("traces/both-deadlock.json")]).expect(0);
}

#[test]
fn what_is_no_trace_gets_no_page() {
    let (folder, text) = ring();
    let others = [
        ("index.json", text.replace("\"index\":1,\"agent\"", "\"index\":7,\"agent\""), "is 7 and must be 1"),
        ("other.json", "[]".to_owned(), "cannot show"),
    ];
    for (name, contents, said) in no_traces(&text).into_iter().chain(others) {
        let file = folder.add(name, contents);
        for options in [vec!["view", &file], vec!["view", "--anyway", &file]] {
            run(&options).expect(2).says("cannot show").says(said);
        }
        assert!(!folder.at(name).with_extension("html").exists());
    }
    run(&["view", &folder.text("nowhere.json")]).expect(2).says("cannot show");
}

#[test]
fn a_trace_that_departs_gets_a_page_only_if_asked_for_and_the_page_says_so() {
    let (folder, text) = ring();
    let edited = folder.add("edited.json", text.replacen("\"arrived\":32", "\"arrived\":64", 1));
    run(&["view", &edited]).expect(1).says("departs from the model").says("step 1");
    assert!(!folder.at("edited.html").exists());
    run(&["view", "--anyway", &edited]).expect(0);
    assert!(read(&folder, "edited.html").contains("\"departure\":\"step 1"));
}

#[test]
fn a_page_overwrites_neither_a_trace_nor_a_page() {
    let (folder, _) = ring();
    let trace = folder.text("ring.json");
    run(&["view", &trace, "-o", &trace]).expect(2).says("would overwrite");
    run(&["view", &trace, &trace, "-o", &folder.text("pages")]).expect(2).says("written twice");
    run(&["view", &trace, &trace, "-o", "-"]).expect(2).says("only one page");
    run(&["view", "-", "-"]).expect(2).says("only once");
    run(&["view", &trace, "-o", &folder.text("ring.json/page.html")]).expect(2).says("cannot write");
    let page = folder.text("page.html");
    let file = folder.text("ring.bar");
    run(&["verify", &file, "--html", &page, "--report", &format!("json={page}")]).expect(2);
}

#[test]
fn text_from_a_trace_stays_text() {
    let (folder, text) = ring();
    let evil = "</script><script>bad()</script><!-- \u{2028}\u{202e} ' \" {{script}}";
    let mut trace: Value = serde_json::from_str(&text).expect("it is JSON");
    for pointer in [
        "/protocol/file",
        "/protocol/source",
        "/agents/0/name",
        "/barriers/0/name",
        "/outcome/headline",
        "/outcome/explanation",
        "/steps/0/resolved",
    ] {
        *trace.pointer_mut(pointer).expect("there is such a field") = json!(evil);
    }
    let file = folder.add("evil.json", trace.to_string());
    run(&["view", "--anyway", &file]).expect(0);
    let page = read(&folder, "evil.html");
    let honest = run(&["view", &folder.text("ring.json"), "-o", "-"]).expect(0).out;
    for mark in ["<script", "</script", "<!--", "\u{2028}", "\u{202e}", "bad()</"] {
        assert_eq!(page.matches(mark).count(), honest.matches(mark).count(), "{mark:?}");
    }
    assert!(page.contains(r"\u003c/script\u003e"));
}

#[test]
fn a_page_allows_its_own_script_and_style_and_nothing_else() {
    let (folder, _) = ring();
    let page = run(&["view", &folder.text("ring.json"), "-o", "-"]).expect(0).out;
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
    let policy = policy.expect("there is a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    // The model in the page is WebAssembly, which no policy can allow by its hash.
    let (before, after) = policy.split_once(" 'wasm-unsafe-eval'").expect("the model may be compiled");
    let policy = format!("{before}{after}");
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    for handler in [" onclick=", " onload=", " onerror=", " style=\"", "<link", "<iframe", "<img"] {
        assert!(!page.contains(handler), "{handler}");
    }
}
