//! Tables of all that was decided: `--format table` and `markdown`.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, LARGE, run};

const KERNELS: &str = "\
.version 8.0
.target sm_90
.visible .entry fine() .reqntid 64
{
\tbar.sync 0;
\tret;
}
.visible .entry by_loaded_number(.param .u64 in) .maxntid 64
{
\t.reg .b32 %r<3>;
\t.reg .b64 %rd<3>;
\tld.param.u64 %rd1, [in];
\tld.global.u32 %r1, [%rd1];
\tbar.sync %r1;
\tret;
}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.add("a.bar", GOOD);
    folder.add("b.bar", DEADLOCK);
    folder.add("c.bar", FAULT);
    folder.add("d.bar", LARGE);
    folder.add("k.ptx", KERNELS);
    folder
}

#[test]
fn a_table_has_a_row_for_each_file_and_kernel_of_a_folder() {
    let folder = folder();
    let path = folder.path().display().to_string();
    let table = run(&["verify", "--format", "table", "--max-states", "2000", &path]).expect(1);
    let rows: Vec<Vec<&str>> = table.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["file", "kernel", "verdict", "rules", "assumed", "states", "time", "memory"]);
    assert_eq!(rows[2][1..3], ["violated", "deadlock"]);
    assert!(rows[5][1] == "fine" && rows[5][2] == "verified", "{:?}", rows[5]);
    assert!(rows[6][1] == "by_loaded_number" && rows[6][2] == "inconclusive", "{:?}", rows[6]);
    let table = table.prints("What stands in the way");
    let table =
        table.prints("not followed: the number of this barrier is not known, 1 time: by_loaded_number");
    table
        .prints("a budget is used up: gave up after N states, 1 time: ")
        .prints("6 kernels: 2 verified, 1 violated");
}

#[test]
fn the_same_in_markdown_goes_to_a_file_as_well() {
    let folder = folder();
    let (file, report) =
        (folder.at("k.ptx").display().to_string(), folder.at("table.md").display().to_string());
    run(&["verify", "--report", &format!("markdown={report}"), &file]).expect(3);
    let text = std::fs::read_to_string(&report).expect("it is written");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "| file | kernel | verdict | rules | assumed | states | time | memory |");
    assert_eq!(lines[1], "|---|---|---|---|---|---|---|---|");
    assert!(lines[2].contains("| `fine` | verified |"), "{}", lines[2]);
    assert!(
        text.contains("* not followed: the number of this barrier is not known, 1 time: `by_loaded_number`")
    );
    assert!(text.ends_with("2 kernels: 1 verified, 1 inconclusive\n"), "{text}");
}
