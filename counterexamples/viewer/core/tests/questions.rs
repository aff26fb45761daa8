//! Questions of every kind get an answer, and those that make no sense are told so.

use barcheck_whatif::Session;
use serde_json::Value;

const SOURCE: &str = "target ptx; cta 64; param N = 2;
warp 0 { for i in 0..N { bar.sync 1, 64; } let n = any 0..200; bar.sync 2, 64; }
warp 1 { for i in 0..N { bar.sync 1, 64; } if ? { bar.sync 2, 64; } else { while ? { } } }";

fn fields() -> [&'static str; 8] {
    ["a.bar", "bar", "N=2", "hold", "deadlock", "error", "0.0.0,1.0.0", SOURCE]
}

fn open(fields: [&str; 8]) -> Result<Session, String> {
    Session::open(&fields.join("\0"))
}

fn ask(session: &mut Session, question: &str) -> Value {
    serde_json::from_str(&session.ask(question)).expect("an answer is JSON, whatever the question")
}

fn error(told: &Value) -> &str {
    told["error"].as_str().unwrap_or_default()
}

#[test]
fn what_is_no_trace_is_not_opened() {
    assert!(open(fields()).is_ok());
    let changed = |at: usize, to: &'static str| {
        let mut fields = fields();
        fields[at] = to;
        open(fields).err().unwrap_or_default()
    };
    let unknown = "the protocol cannot be read: format `elf` is unknown; the formats are: `ptx`, `sass`, `visa`, `spirv`, `xegpu`, `bar`";
    assert_eq!(changed(1, "elf"), unknown);
    assert_eq!(changed(0, "kernel.ptx"), "", "the format counts, and not the name");
    assert_eq!(changed(2, "N"), "`N` cannot be read");
    assert_eq!(changed(2, "N=99999999999999999999"), "`N=99999999999999999999` cannot be read");
    assert_eq!(changed(3, "sometimes"), "exited threads either hold or release");
    assert_eq!(changed(6, "0.0"), "`0.0` cannot be read");
    assert_eq!(changed(6, "0.0.0.0"), "`0.0.0.0` cannot be read");
    assert_eq!(changed(6, "-1.0.0"), "`-1.0.0` cannot be read");
    assert!(changed(7, "target ptx; cta").starts_with("the protocol cannot be read: "));
    assert_eq!(changed(4, "no-such-rule"), "", "a rule that nobody knows changes no level");
    for fields in ["", "\0", "a.bar\0bar"] {
        assert!(Session::open(fields).is_err_and(|message| message.contains("8 fields")));
    }
}

#[test]
fn questions_that_make_no_sense_get_an_error() {
    let mut session = open(fields()).expect("it opens");
    let long = format!("run 0:{}", vec!["0.0.0"; 20_001].join(","));
    for (question, expected) in [
        ("", "a question begins with"),
        ("run", "a question begins with"),
        ("walk 0:", "a question begins with"),
        ("run 0", "has a `:`"),
        ("run x:", "`x` is no number"),
        ("run 3:", "the trace has no 3 steps"),
        ("run 18446744073709551616:", "is no number"),
        ("run 18446744073709551615:", "the trace has no"),
        ("run 0:0.0", "`0.0` cannot be read"),
        ("run 0:,", "`` cannot be read"),
        ("run 0:7.0.0", "a group of 2 agents"),
        ("run 0:4294967295.0.0", "a group of 2 agents"),
        ("run 0:0.1.0", "a step of warp 0 (move 1)"),
        ("run 0:0.0.1", "choices from 0 to below 1"),
        ("run 0:0.0.0,0.0.0", "warp 0 is blocked on barrier 1"),
        ("after 3 2:", "the run has no 3 steps"),
        ("after -1 2:", "`-1` is no number"),
        ("on nobody 1 0:", "`nobody` is no number"),
        ("on all much 0:", "`much` is no number"),
        (&long, "20000 steps at most"),
    ] {
        let told = ask(&mut session, question);
        let shown: String = question.chars().take(40).collect();
        assert!(error(&told).contains(expected), "{shown}: {told}");
    }
    assert_eq!(ask(&mut session, "run 2:")["at"], 2, "it answers as before");
}

#[test]
fn whatever_is_asked_gets_an_answer() {
    let mut session = open(fields()).expect("it opens");
    let words = [
        "run", "after", "on", "all", "0", "1", "2:", "0:", "0.0.0", ",", ":", ".", " ", "\0", "é", "-1",
        "0:1.0.0",
    ];
    let mut seed = 7_u32;
    for _ in 0..5_000 {
        let mut question = String::new();
        for _ in 0..6 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            question.push_str(words[(seed >> 16) as usize % words.len()]);
            question.push_str(if seed & 0x8000 == 0 { " " } else { "" });
        }
        let told = ask(&mut session, &question);
        assert!(
            told["error"].is_string() || told["at"].is_u64() || told["choices"].is_array(),
            "{question}: {told}"
        );
    }
}

#[test]
fn of_many_choices_some_are_listed_and_that_is_said() {
    let mut session = open(fields()).expect("it opens");
    let told = ask(&mut session, "after 4 0:0.0.0,1.0.0,0.0.0,1.0.0");
    let first: Vec<_> =
        told["choices"].as_array().expect("a list").iter().filter(|c| c["agent"] == 0).collect();
    assert_eq!(first.len(), 64);
    assert_eq!(first[3]["resolved"], "n = 3");
    assert_eq!(told["capped"], serde_json::json!([0]));
    // Those that are not listed can be made all the same.
    let told = ask(&mut session, "run 0:0.0.0,1.0.0,0.0.0,1.0.0,0.0.199");
    assert_eq!(told["view"]["trace"]["steps"][4]["resolved"], "n = 199");
}

#[test]
fn a_run_that_ends_well_says_so_and_one_that_does_not_says_why() {
    let mut session = open(fields()).expect("it opens");
    let meet = "0.0.0,1.0.0,0.0.0,1.0.0,0.0.5,";
    let told = ask(&mut session, &format!("on all 100 0:{meet}1.0.1"));
    assert_eq!((&told["stands"], &told["stopped"]), (&"finished".into(), &"every agent has exited".into()));
    assert_eq!((&told["found"], &told["view"]["shows"]), (&serde_json::json!([]), &false.into()));
    let told = ask(&mut session, &format!("on all 100 0:{meet}1.0.0"));
    assert_eq!(told["stands"], "over");
    assert_eq!(told["found"][0]["rule"], "deadlock");
    assert_eq!(told["found"][0]["level"], "error");
    let stopped = told["stopped"].as_str().expect("words");
    assert!(stopped.contains("one choice was made, the first in its list"), "{stopped}");
}

#[test]
fn a_run_let_run_into_a_violation_says_that_something_was_found() {
    let mut fields = fields();
    fields[6] = "";
    fields[7] = "target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { bar.arrive 1, 128; }";
    let mut session = open(fields).expect("it opens");
    let told = ask(&mut session, "on all 100 0:");
    assert_eq!(told["found"][0]["rule"], "count-range");
    assert_eq!((&told["stopped"], &told["stands"]), (&"something was found".into(), &"over".into()));
    // Once it has ended it goes no further.
    let told = ask(&mut session, "on all 100 0:1.0.0");
    assert_eq!((&told["stopped"], &told["stands"]), (&"it ended".into(), &"over".into()));
}

#[test]
fn a_run_that_is_taken_back_is_as_it_was() {
    let mut fields = fields();
    fields[2] = "N=180";
    fields[6] = "";
    let mut session = open(fields).expect("it opens");
    let told = ask(&mut session, "on all 600 0:");
    assert_eq!(told["found"][0]["rule"], "deadlock");
    let own: Vec<String> = told["own"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|s| format!("{}.{}.{}", s[0], s[1], s[2]))
        .collect();
    assert!(own.len() > 350);
    for count in [own.len() - 1, 301, 300, 299, 1, 0] {
        let question = format!("run 0:{}", own[..count].join(","));
        let back = session.ask(&question);
        assert_eq!(back, open(fields).expect("it opens").ask(&question), "{count} steps");
        // And on again.
        let whole: Value = ask(&mut session, &format!("run 0:{}", own.join(",")));
        assert_eq!((&whole["found"], &whole["view"]), (&told["found"], &told["view"]), "{count} steps");
    }
}
