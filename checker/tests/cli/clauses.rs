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
    let says = "number of consumers 9 in `nbarrier.signal 1, 0, 2, 9`: the number of consumers is from 1 to";
    cites(&signal("1, 0, 2, 9"), "nbarrier.consumers-range", says);
    let says = "number of producers 0 in `nbarrier.signal 1, 0, 0, 9`: the number of producers is from 1 to";
    cites(&signal("1, 0, 0, 9"), "nbarrier.producers-range", says);
    cites(&signal("1, 5"), "nbarrier.producers-range", "count 5 in");
}

#[test]
fn registers_and_arrivals_are_no_threads() {
    let of = |operation: &str| {
        format!("target ptx; cta 64; mbarrier b; warps 0..2 {{ if warp == 0 {{ {operation}; }} }}")
    };
    let registers = "number of registers 260 in `setmaxnreg.inc 260`: the number of registers is from 24";
    cites(&of("setmaxnreg.inc 260"), "ptx.registers-range", registers);
    // Eight warps would be 256 threads, which has nothing to do with it.
    let eight = verify(&of("setmaxnreg.dec 8"), &[]).expect(1);
    assert!(!eight.out.contains("warps are"), "{}", eight.out);
    let arrivals = "number of arrivals 0 in `mbarrier.init b, 0`: the number of arrivals is from 1";
    cites(&of("if lane == 0 { mbarrier.init b, 0; }"), "ptx.mbarrier-count-range", arrivals);
    cites(&of("bar.arrive 1, 48"), "ptx.count-multiple", "count 48 in `bar.arrive 1, 48`: a count is");
}

#[test]
fn an_object_that_each_lane_initialises_says_so() {
    let source = "target ptx; cta 32; mbarrier b; warp 0 { mbarrier.init b, 1; }";
    verify(source, &[])
        .expect(1)
        .prints("32 lanes of warp 0 execute `mbarrier.init b, 1`: the object is in use after the first")
        .prints("write `if lane == 0 { … }`");
}
