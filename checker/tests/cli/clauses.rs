//! A finding cites the clause that is broken, in the words of what is counted.

use crate::support::verify;

#[track_caller]
fn cites(source: &str, clause: &str, says: &str) {
    let run = verify(source, &[]).expect(1).prints("error[count-range]").prints(says);
    run.prints(&format!("({clause})"));
    let report = &verify(source, &["--format", "json"]).expect(1).json()[0];
    assert_eq!(report["findings"][0]["clause"]["id"], clause, "{report}");
}

fn signal(operands: &str) -> String {
    format!("target nbarrier; thread_group 4; threads 0..4 {{ nbarrier.signal {operands}; }}")
}

#[test]
fn a_number_of_consumers_is_bounded_by_the_clause_of_consumers() {
    let says = "`nbarrier.signal 1, 0, 2, 9` with 9 consumers: the number of consumers is from 1 to";
    cites(&signal("1, 0, 2, 9"), "nbarrier.consumers-range", says);
    let says = "`nbarrier.signal 1, 0, 0, 9` with 0 producers: the number of producers is from 1 to";
    cites(&signal("1, 0, 0, 9"), "nbarrier.producers-range", says);
    cites(&signal("1, 5"), "nbarrier.producers-range", "count 5 in");
}

#[test]
fn registers_and_arrivals_are_no_threads() {
    let of = |operation: &str| {
        format!("target ptx; cta 64; mbarrier b; warps 0..2 {{ if warp == 0 {{ {operation} }} }}")
    };
    let registers = "`setmaxnreg.inc 260` with 260 registers: the number of registers is from 24";
    cites(&of("setmaxnreg.inc 260;"), "ptx.registers-range", registers);
    // Eight warps would be 256 threads, which has nothing to do with it.
    let eight = verify(of("setmaxnreg.dec 8;"), &[]).expect(1);
    assert!(!eight.out.contains("warps are"), "{}", eight.out);
    let arrivals = "`mbarrier.init b, 0` with 0 arrivals: the number of arrivals is from 1";
    cites(&of("if lane == 0 { mbarrier.init b, 0; }"), "ptx.mbarrier-count-range", arrivals);
    cites(&of("bar.arrive 1, 48;"), "ptx.count-multiple", "count 48 in `bar.arrive 1, 48`: a count is");
}

#[test]
fn copies_out_of_shared_memory_have_clauses_of_their_own() {
    let of = |body: &str| {
        format!(
            "target ptx; cta 32; shared x;\nwarp 0 {{ if lane == 0 {{ {body} }} bar.warp.sync 0xffffffff; write x; }}"
        )
    };
    let fenced = "fence.proxy.async; cp.async.bulk.global x;";
    let done = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;";
    for (body, rule, clause, says) in [
        (
            format!("write x; cp.async.bulk.global x; {done}"),
            "missing-fence",
            "ptx.proxies",
            "let warp 0 execute `fence.proxy.async` between the two",
        ),
        (
            format!("{fenced} cp.async.bulk.commit_group;"),
            "data-race",
            "ptx.bulk-wait-group",
            "The copy may be reading until warp 0 has executed `cp.async.bulk.wait_group.read`",
        ),
    ] {
        let run = verify(of(&body), &[]).expect(1);
        let run = run.prints(&format!("error[{rule}]")).prints(&format!("({clause})"));
        assert!(run.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{}", run.out);
    }
    let left = format!("target ptx; cta 32; shared x; warp 0 {{ {fenced} cp.async.bulk.commit_group; }}");
    verify(left, &[]).expect(1).prints("error[in-flight-at-exit]").prints("(ptx.bulk-source-lifetime)");
    let early = "target ptx; cta 64; shared x; warp 0 { write x; } warp 1 { cp.async.bulk.global x; \
                 cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; }";
    verify(early, &[]).expect(1).prints("error[data-race]");
}

#[test]
fn an_object_that_each_lane_initialises_says_so() {
    let source = "target ptx; cta 32; mbarrier b; warp 0 { mbarrier.init b, 1; }";
    verify(source, &[])
        .expect(1)
        .prints("32 lanes of warp 0 execute `mbarrier.init b, 1`: the object is in use after the first")
        .prints("write `if lane == 0 { … }`");
}

#[test]
fn a_first_wait_for_a_free_stage_with_the_parity_of_a_full_one_hears_of_the_phase_before_the_first() {
    let says = "Of a fresh object the phase before the first, whose parity is 1, counts as complete";
    let of = |parity: &str| {
        format!(
            "target ptx; cta 64; mbarrier full count 1, empty count 1;
            warp 0 {{ mbarrier.wait.parity empty, {parity}; if elect {{ mbarrier.arrive full; }} }}
            warp 1 {{ mbarrier.wait.parity full, 0; if elect {{ mbarrier.arrive empty; }} }}"
        )
    };
    verify(of("0"), &[]).expect(1).prints("error[deadlock]").prints(says);
    // Where something else is missing, nothing is said of it.
    let other = verify(of("1").replace("mbarrier.arrive full; ", ""), &[]).expect(1);
    assert!(other.out.contains("error[deadlock]") && !other.out.contains(says), "{}", other.out);
}

#[test]
fn an_arrival_that_publishes_nothing_is_not_called_an_exit() {
    let source = "target ptx; cta 64; shared x; mbarrier full count 1;
        warp 0 { write x; if elect { mbarrier.arrive.relaxed full; } }
        warp 1 { mbarrier.wait.parity full, 0; read x; }";
    let run = verify(source, &[])
        .expect(1)
        .prints("error[missing-fence]")
        .prints("Warp 0 has arrived since at protocol.bar:2, but so that");
    assert!(!run.out.contains("has exited, which"), "{}", run.out);
}
