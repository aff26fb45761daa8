//! What counterexamples may cost.

use crate::support::{Folder, run, verify};

/// Nothing is wrong but what warp 0 leaves in the end, 48,033 steps on.
const LEFT_OVER: &str = "target ptx; cta 1024;\nwarps 0..32 { for i in 0..1500 { bar.sync 0; } \
                         if warp == 0 { bar.arrive 1, 64; } }\n";

/// A ring of which the consumers make one round less than the producers.
fn ring(producers: u32, consumers: u32, stages: u32, rounds: u32) -> String {
    let all = 32 * (producers + consumers);
    format!(
        "target ptx; const S = {stages}; const I = {rounds}; cta {all};\n\
         warps 0..{producers} as producer {{ for i in 0..I {{\n\
             if i >= S {{ bar.sync 2 * (i % S) + 1, {all}; }}\n\
             bar.arrive 2 * (i % S), {all};\n\
         }} }}\n\
         warps {producers}..{} as consumer {{ for i in 0..I - 1 {{\n\
             bar.sync 2 * (i % S), {all};\n\
             if i + S < I - 1 {{ bar.arrive 2 * (i % S) + 1, {all}; }}\n\
         }} }}\n",
        producers + consumers,
    )
}

#[test]
fn a_counterexample_that_has_no_room_is_left_out_and_its_finding_is_not() {
    let options = ["--timeout", "5", "--max-memory", "50M"];
    let run =
        verify(LEFT_OVER, &options).expect(0).prints("1 warning").prints("barrier 1 still holds arrivals");
    let run = run.prints("the counterexample has 48,033 steps, and ").prints("--max-memory");
    assert!(!run.out.contains("step  line"), "{}", run.out);
    let report = &verify(LEFT_OVER, &[&options[..], &["--format", "json"]].concat()).expect(0).json()[0];
    let finding = &report["findings"][0];
    assert_eq!((&finding["rule"], &finding["location"]["line"]), (&"dangling-arrival".into(), &2.into()));
    assert!(finding["trace"].is_null() && finding["message"].is_string());
    assert!(finding["headline"].is_string() && finding["explanation"].is_string());
    assert!(finding["left_out"].as_str().expect("a sentence").contains("48,033 steps"));
    let peak = report["statistics"]["peak_memory_bytes"].as_u64().expect("a number");
    // The process takes some beside what so small a budget counts; the whole counterexample would take 150
    // MiB.
    assert!(peak <= 110 << 20, "{peak}");
}

/// The most memory that a run of the binary has had, in KiB.
#[cfg(target_os = "linux")]
fn peak(file: &str, options: &[&str]) -> u64 {
    use std::process::Stdio;
    let mut command = crate::support::command(&[&["verify", file], options].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("it ends").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(peak);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn counterexamples_stay_within_the_memory_that_is_given() {
    let folder = Folder::new();
    let file = folder.add("left_over.bar", LEFT_OVER);
    // The program itself needs some, too; the whole counterexample would take some 150 MiB.
    let peak = peak(&file, &["--max-memory", "50M"]);
    assert!((1 << 10..110 << 10).contains(&peak), "{peak} KiB");
}

/// Each stage of a ring that is primed is left with arrivals.
#[cfg(target_os = "linux")]
#[test]
fn what_one_instruction_leaves_on_many_barriers_costs_one_counterexample() {
    let folder = Folder::new();
    let primed = |stages: u32| {
        format!(
            "target ptx; const S = {stages}; cta 1024;\n\
             warps 0..4 {{ for i in 0..200 {{ bar.sync i % S, 1024; bar.arrive S + i % S, 1024; }} }}\n\
             warps 4..32 {{ for s in 0..S {{ bar.arrive s, 1024; }}\n\
             for i in 0..200 {{ bar.sync S + i % S, 1024; bar.arrive i % S, 1024; }} }}\n"
        )
    };
    let cost = |stages: u32| {
        let file = folder.add(&format!("{stages}.bar"), primed(stages));
        let report = &run(&["verify", "--format", "json", &file]).expect(0).json()[0];
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(1));
        assert_eq!(report["findings"][0]["barrier"], 0);
        peak(&file, &[])
    };
    let (one, eight) = (cost(1), cost(8));
    assert!(eight < 2 * one, "{eight} KiB for eight stages, {one} KiB for one");
}

#[test]
fn a_long_path_has_a_verdict_and_a_whole_counterexample() {
    let folder = Folder::new();
    let file = folder.add("ring.bar", ring(1, 3, 4, 6_000));
    let trace = folder.at("hang.json");
    let trace = trace.to_str().expect("UTF-8");
    let verified =
        run(&["verify", "--trace", trace, &file]).expect(1).prints("violated").prints("error[deadlock]");
    let verified = verified.prints("47980 steps").prints("steps left out").prints("in the end").prints("why");
    assert!(!verified.out.contains("the counterexample has"), "{}", verified.out);
    run(&["replay", trace]).expect(0);
}

#[test]
fn a_path_of_a_million_steps_has_a_verdict_and_the_ends_of_its_counterexample() {
    let folder = Folder::new();
    let file = folder.add("ring.bar", ring(4, 28, 8, 16_000));
    let run_verify = |options: &[&str]| run(&[&["verify", file.as_str()], options].concat());
    run_verify(&[])
        .expect(1)
        .prints("error[deadlock]")
        .prints("it is longer than 50,000 steps")
        .prints("steps left out\n")
        .prints("No warp can take another step: 28 of 32 exited, the others wait.");
    let report = &run_verify(&["--format", "json"]).expect(1).json()[0];
    assert!(report["findings"][0]["trace"].is_null());
    let sarif = &run_verify(&["--format", "sarif"]).expect(1).json()[0];
    let result = &sarif["runs"][0]["results"][0];
    assert!(result["message"]["text"].as_str().expect("text").contains("are left out"));
    let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(flow.as_array().map(Vec::len), Some(1000));
    let page = folder.at("hang.html");
    let page = page.to_str().expect("UTF-8");
    run_verify(&["--html", page]).expect(1).says("too few to replay it");
    assert!(!folder.at("hang.html").exists());
}

/// Two roles change places for ever, and one of the objects waits for one arrival where two are made.
const CHANGE_PLACES: &str = "target ptx;
cta 96;
mbarrier fullk[2] count 1, emptyk[2] count 2, fullv[2] count 1, emptyv[2] count 1;
block load(s, p, full, empty) {
    mbarrier.wait.parity empty[s], p;
    if elect { mbarrier.arrive.expect_tx full[s], 4096; cp.async.bulk.tensor _, 4096, full[s]; }
}
block math(own, other) {
    let s = 0; let p = 0; let t = 0; let q = 0;
    while uniform tiles ? {
        mbarrier.wait.parity fullk[s], p;
        bar.sync own, 64;
        bar.arrive other, 64;
        if lane == 0 { mbarrier.arrive emptyk[s]; }
        advance s, p, 2;
        while uniform blocks ? {
            mbarrier.wait.parity fullk[s], p;
            bar.sync own, 64;
            mbarrier.wait.parity fullv[t], q;
            bar.arrive other, 64;
            if lane == 0 { mbarrier.arrive emptyk[s]; mbarrier.arrive emptyv[t]; }
            advance s, p, 2;
            advance t, q, 2;
        }
        mbarrier.wait.parity fullv[t], q;
        if lane == 0 { mbarrier.arrive emptyv[t]; }
        advance t, q, 2;
    }
}
warp 0 {
    let s = 0; let p = 1; let t = 0; let q = 1;
    while uniform tiles ? {
        load(s, p, fullk, emptyk);
        advance s, p, 2;
        while uniform blocks ? {
            load(s, p, fullk, emptyk);
            advance s, p, 2;
            load(t, q, fullv, emptyv);
            advance t, q, 2;
        }
        load(t, q, fullv, emptyv);
        advance t, q, 2;
    }
}
warp 1 { math(2, 3); }
warp 2 { bar.arrive 2, 64; math(3, 2); }
";

#[test]
fn one_violation_is_shown_where_there_is_no_time_for_all() {
    verify(CHANGE_PLACES, &["--all", "--timeout", "3"]).expect(1).prints("error[");
}
