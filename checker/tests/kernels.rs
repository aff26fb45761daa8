//! Compiled kernels: each gets the verdict that the comment before it names, and so does the protocol that is
//! extracted from it.

use barcheck::{Budgets, Decision, LoadOptions, Options, Settings, Source, Verdict, decide};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::{MEMORY, Severity, bar, entries, load};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads of a CTA, where the kernel does not say.
const THREADS: i64 = 128;

/// A module of kernels.
struct Module {
    name: String,
    text: String,
}

impl Module {
    /// What is expected of each kernel: `// expect NAME: VERDICT RULE…`, in a comment of the notation.
    fn expectations(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let lines = self.text.lines().map(str::trim_start).filter_map(|line| {
            let remark = line.strip_prefix("//").or_else(|| line.strip_prefix(';'))?;
            remark.strip_prefix(" expect ")
        });
        lines
            .map(|line| {
                let (name, words) = line.split_once(": ").expect("NAME: VERDICT");
                (name, words.split_whitespace().collect())
            })
            .collect()
    }

    fn options(&self, index: usize) -> Options {
        let mut defines = BTreeMap::from([("entry.index".to_owned(), index as i64)]);
        let source = Source::new(&self.name, self.text.as_bytes());
        let only_index = LoadOptions { defines: defines.clone() };
        let is_sized = load(&source, &only_index).map_or_else(
            |error| error.diagnostics.iter().all(|diagnostic| diagnostic.code != "group-size"),
            |_| true,
        );
        if !is_sized {
            defines.insert("cta.x".to_owned(), THREADS);
        }
        Options { load: LoadOptions { defines }, ..Options::default() }
    }
}

fn modules() -> Vec<Module> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension != "cu"));
    let mut modules: Vec<Module> = files
        .map(|path| Module {
            name: path.file_name().expect("a file").to_string_lossy().into_owned(),
            text: std::fs::read_to_string(&path).expect("a text"),
        })
        .collect();
    modules.sort_by(|a, b| a.name.cmp(&b.name));
    modules
}

/// A kernel with what it came to.
type Decided = (Module, String, Options, Decision);

/// Each kernel with what it came to: decided once for all tests.
fn decided() -> impl Iterator<Item = &'static Decided> {
    static DECIDED: LazyLock<Vec<Decided>> = LazyLock::new(decide_all);
    DECIDED.iter()
}

fn decide_all() -> Vec<Decided> {
    let mut kernels = Vec::new();
    for module in modules() {
        let found = entries(&Source::new(&module.name, module.text.as_bytes())).expect("a module");
        for entry in found.into_iter().filter(|entry| entry.synchronises) {
            let options = module.options(entry.index);
            let module = Module { name: module.name.clone(), text: module.text.clone() };
            kernels.push((module, entry.name, options));
        }
    }
    let decisions = in_parallel(&kernels, |(module, _, options)| {
        decide(&Source::new(&module.name, module.text.as_bytes()), options)
    });
    let both = kernels.into_iter().zip(decisions);
    both.map(|((module, name, options), decision)| (module, name, options, decision)).collect()
}

/// What comes of each of some items, in their order: as many at a time as there are processors.
fn in_parallel<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            done.push((at, of(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn rules(decision: &Decision) -> BTreeSet<&'static str> {
    let counts =
        decision.findings.iter().filter(|found| found.level == Level::Error || !found.data.is_empty());
    counts.map(|found| found.rule.name()).collect()
}

#[test]
fn every_kernel_gets_the_verdict_that_is_expected() {
    let (mut seen, mut others) = (0, Vec::new());
    for (module, name, _, decision) in decided() {
        let expectations = module.expectations();
        let expected = expectations.get(name.as_str()).unwrap_or_else(|| panic!("{name}: nothing expected"));
        let mut found = rules(decision);
        found.insert(decision.verdict.name());
        if decision.findings.iter().any(|finding| !finding.data.is_empty()) {
            found.insert("data");
        }
        let assumed = |diagnostic: &barcheck_specs::Diagnostic| diagnostic.message.starts_with("assumed:");
        if expected.contains("assumed") && decision.diagnostics.iter().any(assumed) {
            found.insert("assumed");
        }
        if &found != expected {
            others.push((module.name.clone(), name, expected.clone(), found, decision.reason.clone()));
        }
        seen += 1;
    }
    assert!(others.is_empty(), "not as expected: {others:#?}");
    assert_eq!(seen, modules().iter().map(|module| module.expectations().len()).sum::<usize>());
    assert!(seen >= 30, "{seen}");
}

#[test]
fn what_is_not_followed_is_named_with_its_line() {
    for (module, name, _, decision) in decided().filter(|(.., decision)| decision.trouble().is_some()) {
        if decision.findings.iter().any(|finding| !finding.data.is_empty()) {
            continue;
        }
        let reason = decision.reason.as_ref().unwrap_or_else(|| panic!("{name}: no reason"));
        let place = reason.place.unwrap_or_else(|| panic!("{name}: no place"));
        let line = module.text.lines().nth(place.line as usize - 1).unwrap_or_default();
        let is_statement = !line.trim().is_empty() && !line.trim_start().starts_with("//");
        assert!(is_statement, "{name}: {}: {line}", place.line);
    }
}

/// States that are looked at for all violations of a kernel.
const MOST: u64 = 10_000;

#[test]
fn the_protocol_that_is_extracted_gets_the_verdict_of_the_kernel() {
    let kernels: Vec<&Decided> = decided().collect();
    let seen = in_parallel(&kernels, |(module, name, options, decided)| {
        let source = Source::new(&module.name, module.text.as_bytes());
        let mut as_decided = options.load.clone();
        let memory = decided.extracted.as_ref().and_then(|extracted| extracted.memory.as_ref());
        if memory.is_some_and(|memory| memory.undecided.is_none()) {
            as_decided.defines.insert(MEMORY.to_owned(), 1);
        }
        let Ok(loaded) = load(&source, &as_decided) else { return false };
        let extracted = loaded.extracted.expect("a kernel");
        // A search that ends at the first violation need not come to the same one: all are looked for, and
        // held against one another, unless too many states lie behind the first.
        let text = extracted.text.as_bytes();
        let both = |all: bool| {
            let settings = |of: Options| {
                let max_states = if all { Some(MOST) } else { of.settings.budgets.max_states };
                let budgets = Budgets { max_states, ..of.settings.budgets };
                Options { settings: Settings { all, budgets, ..of.settings }, ..of }
            };
            let of_kernel = decide(&source, &settings(options.clone()));
            (of_kernel, decide(&Source::new("x.bar", text), &settings(Options::default())))
        };
        let is_whole = |decision: &Decision| decision.statistics.states < MOST;
        let mut is_all = false;
        // Of a kernel that is verified nothing else is to be found.
        let (decision, protocol) = if decided.verdict == Verdict::Verified {
            (decided.clone(), decide(&Source::new("x.bar", text), &Options::default()))
        } else {
            let (of_kernel, of_protocol) = both(true);
            is_all = is_whole(&of_kernel) && is_whole(&of_protocol);
            if is_all { (of_kernel, of_protocol) } else { both(false) }
        };
        // What rests on data is a violation of the protocol, which knows of no data; and an index outside an
        // array is wrong in its text.
        let is_as_expected = match decision.verdict {
            Verdict::Inconclusive => matches!(protocol.verdict, Verdict::Violated | Verdict::Error),
            other => protocol.verdict == other,
        };
        let verdicts = (decision.verdict, protocol.verdict);
        assert!(is_as_expected, "{name}: {verdicts:?}\n{}", extracted.text);
        // With a value for a parameter fewer runs are looked at.
        let (of_protocol, of_kernel) = (rules(&protocol), rules(&decision));
        let is_same = of_protocol == of_kernel;
        let is_part = !decision.given.is_empty() && of_kernel.is_subset(&of_protocol);
        assert!(is_same || is_part || !is_all, "{name}: {of_protocol:?} {of_kernel:?}");
        let formatted = bar::format(text).expect("it is a protocol");
        assert_eq!(formatted, extracted.text, "{name}");
        true
    });
    let seen = seen.into_iter().filter(|seen| *seen).count();
    assert!(seen >= 25, "{seen}");
}

#[test]
fn findings_stand_at_lines_of_the_kernel() {
    for (module, name, _, decision) in decided() {
        for found in &decision.findings {
            let line = module.text.lines().nth(found.place.line as usize - 1).unwrap_or_default();
            let small = line.to_ascii_lowercase();
            if matches!(found.rule, Rule::DataRace | Rule::MissingFence) {
                assert!(small.contains(".shared"), "{name}: {}: {line}", found.place.line);
                continue;
            }
            let is_one =
                ["bar", "bra", "exit", "ret", "scf.", "syncs", "bulk", "ublkcp", "utmaldg", "wgmma", "hgmma"]
                    .iter()
                    .any(|word| small.contains(word));
            assert!(is_one, "{name}: {}: {line}", found.place.line);
        }
    }
}

#[test]
fn lines_of_the_source_are_known_where_the_kernel_names_them() {
    let text = ".version 8.0\n.target sm_90\n.file 1 \"/src/k.cu\"\n.visible .entry k()\n.reqntid 64\n{\n\
                .loc 1 7 3\n\tbar.sync 0;\n.loc 1 9 3, function_name $L, inlined_at 1 2 3\n\tbar.sync 0;\n\tret;\n}\n";
    let loaded = load(&Source::new("k.ptx", text.as_bytes()), &LoadOptions::default()).expect("a kernel");
    let extracted = loaded.extracted.expect("a kernel");
    let line = |of: u32| extracted.origin(of).map(|origin| (origin.file.as_str(), origin.line));
    assert_eq!((line(8), line(10)), (Some(("/src/k.cu", 7)), Some(("/src/k.cu", 9))));
    assert_eq!(line(5), None);
}

#[test]
fn a_parameter_that_is_given_decides() {
    let text = ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n)\n.reqntid 64\n{\n\
                .reg .pred %p<2>;\n.reg .b32 %r<3>;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n\
                setp.lt.u32 %p1, %r2, %r1;\n@%p1 bra $L;\nbar.sync 1, 64;\n$L:\nbar.sync 0;\nret;\n}\n";
    let of = |given: &[(&str, i64)]| {
        let defines = given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let options = Options { load: LoadOptions { defines }, ..Options::default() };
        let decision = decide(&Source::new("k.ptx", text.as_bytes()), &options);
        (decision.verdict, rules(&decision).into_iter().collect::<Vec<_>>())
    };
    assert_eq!(of(&[("param.0", 0)]), (Verdict::Verified, vec![]));
    assert_eq!(of(&[("param.n", 64)]), (Verdict::Verified, vec![]));
    assert_eq!(of(&[("param.n", 32)]), (Verdict::Violated, vec!["deadlock"]));
    assert_eq!(of(&[("param.0", 7)]), (Verdict::Violated, vec!["partial-warp"]));
    assert_eq!(of(&[]), (Verdict::Violated, vec!["partial-warp"]), "it comes about with one of those tried");
}

/// What a kernel of two warps comes to, given what its parameter is at least.
fn at_least(least: i64, first: &str, second: &str) -> Verdict {
    said(&[("param.n..", least)], first, second)
}

/// The same, given what is said of its parameter.
fn said(given: &[(&str, i64)], first: &str, second: &str) -> Verdict {
    let text = format!(
        ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n)\n.reqntid 64\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<6>;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmov.b32 %r3, 0;\n\
         setp.lt.u32 %p1, %r2, 32;\n@%p1 bra $FIRST;\n{second}\nbra.uni $END;\n$FIRST:\n{first}\n$END:\nret;\n}}\n"
    );
    let defines = given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let options = Options { load: LoadOptions { defines }, ..Options::default() };
    decide(&Source::new("k.ptx", text.as_bytes()), &options).verdict
}

#[test]
fn a_parameter_that_is_a_multiple_is_not_looked_at_between() {
    let every = |by: u32| {
        format!(
            "setp.ge.s32 %p2, %r3, %r1;\n@%p2 bra $END;\n$ROUND_{by}:\nbar.sync 1, 64;\nadd.s32 %r3, %r3, {by};\n\
             setp.lt.s32 %p3, %r3, %r1;\n@%p3 bra $ROUND_{by};"
        )
    };
    // n rounds of one, and as many in fours: one more barrier for what is left of n.
    let fours = every(4)
        .replace("bar.sync 1, 64;", "bar.sync 1, 64;\nbar.sync 1, 64;\nbar.sync 1, 64;\nbar.sync 1, 64;");
    assert_ne!(said(&[("param.n*", 4)], &fours, &every(1)), Verdict::Violated);
    assert_eq!(said(&[], &fours, &every(1)), Verdict::Violated);
    let from = |least: u32| format!("setp.lt.s32 %p2, %r1, {least};\n@%p2 bra $END;\nbar.sync 1, 64;");
    assert_eq!(said(&[("param.n*", 4)], &from(1), &from(4)), Verdict::Verified);
    assert_eq!(said(&[("param.n*", 4)], &from(1), &from(5)), Verdict::Violated);
    assert_eq!(said(&[], &from(1), &from(4)), Verdict::Violated);
    // What is at least 5 and a multiple of 4 is at least 8.
    let if_less = |than: u32| format!("setp.lt.s32 %p2, %r1, {than};\n@%p2 bra $END;\nbar.sync 1, 64;");
    assert_eq!(said(&[("param.n*", 4), ("param.n..", 5)], &if_less(8), "bar.sync 1, 64;"), Verdict::Verified);
    assert_eq!(said(&[("param.n*", 4), ("param.n..", 5)], &if_less(9), "bar.sync 1, 64;"), Verdict::Violated);
}

#[test]
fn many_places_of_one_assumption_leave_no_other_kind_out() {
    let asks = |i: u32| {
        format!(
            "add.s32 %r4, %r1, {i};\nsetp.lt.s32 %p2, %r4, %r5;\n@%p2 bra $L{i};\nbar.sync 1, 64;\n$L{i}:\n"
        )
    };
    let asks: String = (0..25).map(asks).collect();
    let text = format!(
        ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n, .param .u32 m)\n.reqntid 64\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<6>;\nld.param.u32 %r1, [n];\nld.param.u32 %r5, [m];\n\
         mov.u32 %r2, %tid.x;\n{asks}and.b32 %r3, %r2, 31;\nsetp.ne.u32 %p3, %r3, 0;\n@%p3 bra $END;\n\
         bar.sync 2, 64;\n$END:\nret;\n}}\n"
    );
    let mut options = Options::default();
    options.settings.budgets.max_states = Some(10);
    let decision = decide(&Source::new("k.ptx", text.as_bytes()), &options);
    let told = |words: &str| decision.diagnostics.iter().filter(|said| said.message.contains(words)).count();
    assert!(told("do not overflow") >= 20, "{}", told("do not overflow"));
    assert!(told("threads that leave the kernel here") == 1);
}

/// The last tile is that of one CTA of a pair, unless there are as many as pairs have.
#[test]
fn tiles_that_pairs_share_out_are_a_multiple_of_2_where_that_is_said() {
    let module = modules().into_iter().find(|module| module.name == "agreed.ptx").expect("the kernels");
    let odd = "shl.b32 %r4, %r3, 5;\n    add.s32 %r4, %r4, 1;";
    assert!(module.text.contains(odd));
    let text = module.text.replace(odd, "mov.b32 %r4, %r3;");
    let of = |given: &[(&str, i64)]| {
        let entry =
            text[..text.find("expect last_tile_is_of_one").expect("the kernel")].matches(".entry").count();
        let mut defines: BTreeMap<String, i64> =
            given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        defines.insert("entry.index".to_owned(), entry as i64);
        let options = Options { load: LoadOptions { defines }, ..Options::default() };
        decide(&Source::new("agreed.ptx", text.as_bytes()), &options).verdict
    };
    assert_eq!(of(&[]), Verdict::Violated);
    assert_eq!(of(&[("param.0*", 2)]), Verdict::Verified);
    assert_eq!(of(&[("param.0*", 3)]), Verdict::Violated);
}

#[test]
fn a_parameter_that_is_at_least_1_is_not_tried_with_0() {
    let if_not_0 = "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra $END;\nbar.sync 1, 64;";
    assert_eq!(at_least(1, if_not_0, "bar.sync 1, 64;"), Verdict::Verified);
    assert_eq!(at_least(0, if_not_0, "bar.sync 1, 64;"), Verdict::Violated);
}

#[test]
fn rounds_that_are_at_least_some_are_not_fewer() {
    let rounds =
        "$L:\nsetp.ge.s32 %p2, %r3, %r1;\n@%p2 bra $END;\nbar.sync 1, 64;\nadd.s32 %r3, %r3, 1;\nbra.uni $L;";
    // Two rounds, whatever is said, and all that are more.
    let two = "max.s32 %r4, %r1, 2;\n$M:\nbar.sync 1, 64;\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p3, %r3, %r4;\n@%p3 bra $M;";
    assert_eq!(at_least(3, rounds, two), Verdict::Verified);
    assert_eq!(at_least(2, rounds, two), Verdict::Verified);
    assert_eq!(at_least(1, rounds, two), Verdict::Violated);
}

/// `min((k + 127) / 128, 2 * blockIdx.x + 2)` rounds: of the lesser of a known number and one that is at
/// least 2 one role knows more than the other asks for.
#[test]
fn a_right_kernel_is_right_with_each_number_that_is_given() {
    let all = modules();
    let module = all.iter().find(|module| module.name == "counts.ptx").expect("it is there");
    let source = Source::new("counts.ptx", module.text.as_bytes());
    for value in [0, 1, 3, 100, 129, 300, 500, 5000] {
        let defines = BTreeMap::from([("entry.index".to_owned(), 0), ("param.0".to_owned(), value)]);
        let decision = decide(&source, &Options { load: LoadOptions { defines }, ..Options::default() });
        assert_ne!(decision.verdict, Verdict::Violated, "{value}");
    }
}

#[test]
fn a_ring_that_goes_on_by_a_number_goes_on_by_no_less_than_is_said_of_it() {
    let all = modules();
    let module = all.iter().find(|module| module.name == "warm_up.ptx").expect("it is there");
    let verdict = |text: &str, index: i64, least: i64| {
        let source = Source::new("warm_up.ptx", text.as_bytes());
        let defines =
            BTreeMap::from([("entry.index".to_owned(), index), ("param.rounds..".to_owned(), least)]);
        decide(&source, &Options { load: LoadOptions { defines }, ..Options::default() }).verdict
    };
    let first_by_itself = [0, 1, 2, 9].map(|least| verdict(&module.text, 0, least));
    let last_is_another = [0, 1, 2, 9].map(|least| verdict(&module.text, 1, least));
    // Of exactly two rounds the last is not given back: the least that is said is not left out.
    let line = "\tmbarrier.arrive.shared::cta.b64 \t_, [%r43+24];\n";
    assert!(module.text.contains(line));
    let but_of_two = format!("\tsetp.ne.s32 \t%p17, %r1, 2;\n\t@%p17 {}", line.trim_start());
    let but_of_two = module.text.replacen(line, &but_of_two, 1);
    let but_of_two = [1, 2, 3].map(|least| verdict(&but_of_two, 0, least));
    assert_eq!(but_of_two, [Verdict::Violated, Verdict::Violated, Verdict::Verified]);
    assert_eq!(first_by_itself, [Verdict::Violated, Verdict::Verified, Verdict::Verified, Verdict::Verified]);
    assert_eq!(last_is_another, [Verdict::Violated; 4]);
}

#[test]
fn more_bytes_than_any_phase_has_are_violated() {
    let all = modules();
    let maps = all.iter().find(|module| module.name == "maps.ptx").expect("it is there");
    let text = maps.text.replace(", [%r3], 16384;", &format!(", [%r3], {};", i64::MAX));
    let source = Source::new("maps.ptx", text.as_bytes());
    for entry in entries(&source).expect("a module") {
        let defines = BTreeMap::from([("entry.index".to_owned(), entry.index as i64)]);
        let decision = decide(&source, &Options { load: LoadOptions { defines }, ..Options::default() });
        assert_eq!(decision.verdict, Verdict::Violated, "{}", entry.name);
    }
}

#[test]
fn what_is_assumed_is_a_note_and_no_warning() {
    let (_, _, _, decision) = decided().find(|(_, name, ..)| name == "told").expect("the kernel");
    assert!(decision.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Note));
}

#[test]
fn what_is_assumed_of_bytes_and_of_loops_is_told() {
    let (.., decision) = decided().find(|(_, name, ..)| name == "all_is_assumed").expect("the kernel");
    assert_eq!(decision.verdict, Verdict::Verified);
    let told = |what: &str| decision.diagnostics.iter().any(|diagnostic| diagnostic.message.contains(what));
    for what in [
        "as many bytes are announced here as the copies that follow complete",
        "this copy completes nothing: only some of the ways have it",
        "this loop comes to its end: what it asks for, again and again, comes about",
        "all threads lie along x, though this asks where they are along y or z",
    ] {
        assert!(told(what), "{what}: {:?}", decision.diagnostics);
    }
}

#[test]
fn values_with_which_a_violation_comes_about_are_told() {
    let given: Vec<_> = decided()
        .filter(|(module, ..)| module.name == "parameters.ptx")
        .map(|(_, name, _, decision)| (name.clone(), decision.given.clone()))
        .collect();
    let of = |kernel: &str| given.iter().find(|(name, _)| name == kernel).expect("it is there").1.clone();
    assert_eq!(of("strided"), BTreeMap::from([("param_0".to_owned(), 1)]));
    assert!(of("unrolled").is_empty() && of("asked_both_ways").is_empty());
}

#[test]
fn values_with_which_a_kernel_in_doubt_is_verified_are_told() {
    let (.., decision) = decided().find(|(_, name, ..)| name == "bit_is_not_all").expect("the kernel");
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    let tried = &decision.tried;
    assert!(!tried.verified.is_empty() && tried.verified.len() < tried.count, "{tried:?}");
    let reason = decision.reason.as_ref().expect("why").what.clone();
    let told = format!("with {} of {} it is verified", tried.verified.len(), tried.count);
    assert!(reason.contains(&told), "{reason}");
}

#[test]
fn accesses_are_followed_but_for_boxes_and_counters_of_which_something_is_not_known() {
    let partly = |name: &str| match name {
        "written_behind_a_box" => 2,
        "tiles_in_turn" | "tiles_in_turn_one_late" | "steps_over" => 1,
        _ => 0,
    };
    let is_of =
        |module: &Module| ["bulk.ptx", "steps_over.ptx", "stores.ptx"].contains(&module.name.as_str());
    for (_, name, _, decision) in decided().filter(|(module, ..)| is_of(module)) {
        let memory = decision.extracted.as_ref().and_then(|extracted| extracted.memory.as_ref());
        let memory = memory.unwrap_or_else(|| panic!("{name}: memory is looked at"));
        assert_eq!(memory.undecided, None, "{name}");
        assert_eq!(memory.others.len(), partly(name), "{name}: {:?}", memory.others);
    }
}
