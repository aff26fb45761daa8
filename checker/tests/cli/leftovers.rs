//! What is left on a barrier in the end: data that somebody should have waited for, or nothing of value.

use crate::support::{Folder, Run, run, verify};

/// A ring between a producer and two consumers. The consumers make some rounds fewer than the producer, and
/// may say of all stages at the beginning that they are free.
fn ring(fewer: u32, primed: bool, memory: bool) -> String {
    let only = |condition: bool, text: &'static str| if condition { text } else { "" };
    let (sync, arrive) = ("bar.sync 2 + 2 * (i % STAGES), ALL;", "bar.arrive 2 + 2 * (i % STAGES), ALL;");
    let (wait, first, free) = match primed {
        true => (sync.to_owned(), "for i in 0..STAGES { bar.arrive 2 + 2 * i, ALL; }", arrive.to_owned()),
        false => {
            (format!("if i >= STAGES {{ {sync} }}"), "", format!("if i + STAGES < ROUNDS {{ {arrive} }}"))
        }
    };
    format!(
        "target ptx; const ALL = 96; param STAGES = 2; param ROUNDS = 6; cta ALL; {}\n\
         warp 0 as producer {{ for i in 0..ROUNDS {{\n\
             {wait}\n\
             {}\n\
             bar.arrive 1 + 2 * (i % STAGES), ALL;\n\
         }} }}\n\
         warps 1..3 as consumer {{ {first} for i in 0..ROUNDS - {fewer} {{\n\
             bar.sync 1 + 2 * (i % STAGES), ALL;\n\
             {}\n\
             {free}\n\
         }} }}\n",
        only(memory, "shared stage[STAGES];"),
        only(memory, "write stage[i % STAGES];"),
        only(memory, "read stage[i % STAGES];"),
    )
}

const LOST: &str = "nobody waits for warp 0's write of stage[1]";

#[test]
fn a_consumer_that_leaves_out_the_last_tile_is_an_error() {
    let found: Run = verify(ring(1, false, true), &[]).expect(1);
    found
        .prints(&format!("error[dangling-arrival]: {LOST}"))
        .prints("warps 1 and 2 exited here")
        .prints("Warp 0 wrote stage[1] at")
        .prints("either they make one");
    let report = &verify(ring(1, false, true), &["--format", "json"]).expect(1).json()[0];
    assert_eq!((&report["verdict"], &report["findings"][0]["level"]), (&"violated".into(), &"error".into()));
    // Of a long run only the ends are kept, in which it shows as well.
    let long = verify(ring(1, false, true), &["-D", "ROUNDS=6000"]).expect(1);
    long.prints(LOST).prints("steps left out");
}

#[test]
fn what_a_ring_leaves_that_says_at_first_that_all_stages_are_free_is_a_warning() {
    let harmless = verify(ring(0, true, true), &[]).expect(0);
    let harmless =
        harmless.prints("warning[dangling-arrival]: every warp has exited and barrier 2 still holds");
    assert!(!harmless.out.contains("nobody waits for"), "{}", harmless.out);
    verify(ring(0, false, true), &[]).expect(0).prints("verified");
    // Where nothing says what is announced, it cannot be told.
    verify(ring(1, false, false), &[]).expect(0).prints("warning[dangling-arrival]: every warp has exited");
}

#[test]
fn data_that_is_lost_on_one_stage_is_not_hidden_by_a_stage_that_holds_none() {
    let text = ring(2, false, true);
    for (empty, lost) in [(4, 1), (5, 0)] {
        let write = "write stage[i % STAGES];";
        let text = text.replace(write, &format!("if i != {empty} {{ {write} }}"));
        let named = format!("error[dangling-arrival]: nobody waits for warp 0's write of stage[{lost}]");
        verify(&text, &[]).expect(1).prints(&named);
    }
}

#[test]
fn of_data_that_is_read_after_all_nothing_is_lost() {
    let text = ring(1, false, true);
    let (producer, consumers) = text.trim_end().split_once("\nwarps").expect("two blocks");
    let at_the_end = |block: &str, more: &str| format!("{} {more} }}\n", block.trim_end_matches('}'));
    let (producer, consumers) = (
        at_the_end(producer, "bar.sync 0;"),
        at_the_end(&format!("warps{consumers}"), "bar.sync 0; read stage[1];"),
    );
    let read = verify(format!("{producer}{consumers}"), &[]).expect(0);
    let read = read.prints("warning[dangling-arrival]: every warp has exited");
    assert!(!read.out.contains("nobody waits for"), "{}", read.out);
}

#[test]
fn whoever_names_a_level_for_what_is_left_over_gets_it() {
    let text = ring(1, false, true);
    verify(&text, &["--warn", "dangling-arrival"]).expect(0).prints("warning[dangling-arrival]");
    verify(&text, &["--allow", "dangling-arrival"]).expect(0).prints("verified");
    let allowed =
        text.replace("target ptx;", "target ptx; allow dangling-arrival \"the last tile is padding\";");
    verify(&allowed, &[]).expect(0).prints("the last tile is padding");
}

#[test]
fn a_trace_of_data_that_is_lost_is_confirmed_with_its_level() {
    let folder = Folder::new();
    let (file, trace) = (folder.add("ring.bar", ring(1, false, true)), folder.at("lost.json"));
    let trace = trace.to_str().expect("UTF-8");
    run(&["verify", "--trace", trace, &file]).expect(1);
    let replayed = run(&["replay", trace]).expect(0).prints(LOST);
    assert!(!replayed.out.contains("has chosen the level"), "{}", replayed.out);
}
