//! Many files: what failed is listed again at the end, and pages have one that lists them all.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, WARNING, run, verify};

/// A page without anything that a browser would fetch or run.
#[track_caller]
fn harmless(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for mention in ["<script", "https:", "src=", "@import", "url(", "javascript:"] {
        assert!(!page.contains(mention), "{mention}");
    }
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn mixed() -> Folder {
    let folder = Folder::new();
    folder.add("a_hangs.bar", DEADLOCK);
    folder.add("b_good.bar", GOOD);
    folder.add("c_malformed.bar", "target ptx;");
    folder.add("d_fault.bar", FAULT);
    folder.add("e_warns.bar", WARNING);
    folder
}

#[test]
fn failures_are_listed_again_where_their_reports_have_left_the_screen() {
    let run = run(&["verify", &mixed().text("")]).expect(1);
    let (_, list) = run.out.split_once("\nnot verified").expect("a list");
    let rows: Vec<_> = list.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows[0].contains("a_hangs.bar  ") && rows[0].contains("  violated  deadlock: warp 0 waits"));
    assert!(rows[1].contains("c_malformed.bar  error"), "{}", rows[1]);
    assert!(rows[2].contains("d_fault.bar") && rows[2].contains("division by zero"), "{}", rows[2]);
    assert!(run.out.ends_with("\n5 files: 2 verified, 1 violated, 2 with errors\n"), "{}", run.out);
}

#[test]
fn what_fits_on_a_screen_or_is_all_verified_is_not_listed_again() {
    let folder = Folder::new();
    let (good, fault) = (folder.add("good.bar", GOOD), folder.add("bad.bar", "target ptx;"));
    let few = run(&["verify", &good, &fault]).expect(2);
    assert!(!few.out.contains("not verified"), "{}", few.out);
    let one = verify(DEADLOCK, &[]).expect(1);
    assert!(!one.out.contains("not verified"), "{}", one.out);
    for number in 0..40 {
        folder.add(&format!("{number}.bar"), GOOD);
    }
    std::fs::remove_file(fault).expect("it is there");
    let all = run(&["verify", &folder.text("")]).expect(0);
    assert!(!all.out.contains("not verified"), "{}", all.out);
    folder.add("z.bar", DEADLOCK);
    run(&["verify", &folder.text("")]).expect(1).prints("not verified");
}

#[test]
fn what_differs_from_its_head_is_listed_again() {
    let folder = mixed();
    let run = run(&["verify", "--expect", &folder.text("")]).expect(1);
    let (_, list) = run.out.split_once("\nnot as expected").expect("a list");
    assert_eq!(list.lines().skip(1).take_while(|line| !line.is_empty()).count(), 5, "{list}");
}

#[test]
fn a_page_lists_all_files_and_leads_to_the_pages_of_each() {
    let folder = mixed();
    let pages = folder.text("pages");
    let run = run(&["verify", "--html", &pages, &folder.text("")]).expect(1);
    run.prints("all files are listed in ");
    let index = read(&folder, "pages/index.html");
    harmless(&index);
    assert!(index.contains("5 files: 2 verified, 1 violated, 2 with errors"), "{index}");
    let at = |text: &str| index.find(text).unwrap_or_else(|| panic!("no {text} in {index}"));
    // What fails comes first, otherwise as decided.
    let order = ["a_hangs.bar", "c_malformed.bar", "d_fault.bar", "b_good.bar", "e_warns.bar"];
    assert!(order.map(at).is_sorted(), "{index}");
    assert!(index.contains("deadlock: warp 0 waits on barrier 1"), "{index}");
    let links: Vec<&str> = index.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let wanted = [
        "a_hangs-deadlock.html",
        "d_fault-evaluation-error.html",
        "b_good-verified.html",
        "e_warns-verified.html",
        "e_warns-nobody-waits.html",
    ];
    assert_eq!(links, wanted);
    for link in links {
        assert!(folder.at(&format!("pages/{link}")).is_file(), "{link}");
    }
}

#[test]
fn the_page_of_a_verified_protocol_says_what_was_proved() {
    let folder = Folder::new();
    let source =
        "target ptx; cta 64; param N = 1; // <b>\nwarps 0..2 { for i in 0..N { bar.sync 0, 64; } }\n";
    let (file, page) = (folder.add("meet.bar", source), folder.text("meet.html"));
    run(&["verify", "-DN=3", "--html", &page, &file]).expect(0).prints("page written to");
    let page = read(&folder, "meet.html");
    harmless(&page);
    for part in [">verified</span>", "<code>deadlock</code>", "never violated", "-D N=3", "&lt;b&gt;"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The schedule: three generations, to the end.
    assert!(page.contains("One complete schedule") && page.contains("b0 complete #3"), "{page}");
    // A pedantic rule counts only where it is asked for.
    assert!(page.contains("not reported") && !page.contains(">reserved-barrier</text>"), "{page}");
    run(&["verify", "-DN=3", "--strict", "--html", &folder.text("strict.html"), &file]).expect(0);
    assert!(!read(&folder, "strict.html").contains("not reported"));
}

#[test]
fn a_schedule_without_end_is_shown_up_to_a_limit_and_no_verdict_has_no_such_page() {
    let folder = Folder::new();
    let endless = "target ptx; cta 64; warps 0..2 { loop { bar.sync 1, 64; } }\n";
    let (file, page) = (folder.add("endless.bar", endless), folder.text("endless.html"));
    run(&["verify", "--html", &page, &file]).expect(0);
    assert!(read(&folder, "endless.html").contains("The first 200 steps"));
    let fault = folder.add("malformed.bar", "target ptx;");
    run(&["verify", "--html", &folder.text("none.html"), &fault]).expect(2);
    assert!(!folder.at("none.html").exists());
}

#[test]
fn a_schedule_of_many_agents_is_not_shown_and_the_page_says_so() {
    let folder = Folder::new();
    let many = "target split_barrier; workgroup 40;\n\
                invocations 0..40 { OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory; }\n";
    let (file, page) = (folder.add("many.bar", many), folder.text("many.html"));
    run(&["verify", "--html", &page, &file]).expect(0);
    let page = read(&folder, "many.html");
    assert!(page.contains("there are more than 32 agents") && !page.contains("<svg"), "{page}");
}

#[test]
fn an_index_of_somebody_else_is_not_replaced() {
    let folder = mixed();
    std::fs::create_dir(folder.at("pages")).expect("a folder can be made");
    folder.add("pages/index.html", "<h1>mine</h1>");
    let pages = folder.text("pages");
    let refused = run(&["verify", "--html", &pages, &folder.text("")]).expect(2);
    assert_eq!(refused.says("index.html").says("another folder").out, "");
    assert_eq!(read(&folder, "pages/index.html"), "<h1>mine</h1>");
    std::fs::remove_file(folder.at("pages/index.html")).expect("it is there");
    run(&["verify", "--html", &pages, &folder.text("")]).expect(1);
    run(&["verify", "--html", &pages, &folder.text("")]).expect(1);
}

#[cfg(unix)]
#[test]
fn hostile_names_stay_text_in_the_index() {
    let folder = crate::support::hostile_folder();
    run(&["verify", "--html", &folder.text("pages"), &folder.text("")]).expect(1);
    let index = read(&folder, "pages/index.html");
    harmless(&index);
    assert!(!index.contains("a<b>") && index.contains("a&lt;b&gt;"), "{index}");
    assert_eq!(index.matches("<tr>").count(), crate::support::hostile_names().len() + 1);
}
