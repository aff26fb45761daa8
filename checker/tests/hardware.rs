//! Kernels for the points where the texts are silent: what they come to here. Nothing is run on a GPU.
//!
//! The table stands in the book; `BLESS=1` writes it anew.

use barcheck::{LoadOptions, Options, Source, Verdict, decide};
use barcheck_specs::clauses::catalogue;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A kernel, and what its head says.
struct Kernel {
    name: String,
    text: String,
}

impl Kernel {
    fn all() -> Vec<Self> {
        let folder = root().join("checker/examples/hardware/kernels");
        let files =
            std::fs::read_dir(folder).expect("the kernels").map(|entry| entry.expect("a file").path());
        let mut all: Vec<_> = files
            .map(|path| Self {
                name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
                text: std::fs::read_to_string(&path).expect("a text"),
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn title(&self) -> &str {
        self.text.lines().next().and_then(|line| line.strip_prefix("// ")).expect("a title")
    }

    fn facts(&self, name: &str) -> Vec<&str> {
        let start = format!("// {name}: ");
        self.text.lines().filter_map(|line| line.strip_prefix(start.as_str())).collect()
    }

    fn fact(&self, name: &str) -> &str {
        let facts = self.facts(name);
        let [fact] = facts[..] else { panic!("{}: `{name}` once", self.name) };
        fact
    }

    /// Threads of each CTA, and CTAs.
    fn launch(&self) -> (i64, i64) {
        let number = |text: &str, word: &str| -> Option<i64> {
            text.strip_prefix(word).map(|number| number.parse().expect("a number"))
        };
        let launch = self.fact("launch");
        let (cta, cluster) = launch.split_once(", ").unwrap_or((launch, "cluster 1"));
        let (cta, cluster) = (number(cta, "cta "), number(cluster, "cluster "));
        (cta.expect("`cta N`"), cluster.expect("`cluster N`"))
    }
}

#[test]
fn each_silent_point_is_reported_by_the_rule_that_its_head_names_or_is_none() {
    let kernels = Kernel::all();
    assert_eq!(kernels.len(), 13);
    for kernel in &kernels {
        let (threads, ctas) = kernel.launch();
        assert_eq!(kernel.text.contains(&format!(".reqnctapercluster {ctas}")), ctas > 1, "{}", kernel.name);
        let load = LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), threads)]) };
        let options = Options { load, ..Options::default() };
        let decision = decide(&Source::new("kernel.ptx", kernel.text.as_bytes()), &options);
        let clause = catalogue().clause(kernel.fact("clause")).expect("a clause");
        assert!(kernel.facts("expected").len() >= 2, "{}: one outcome would settle nothing", kernel.name);
        assert_eq!(kernel.facts("seen").len(), 1, "{}", kernel.name);
        if kernel.fact("barcheck") == "verified" {
            assert_eq!(decision.verdict, Verdict::Verified, "{}", kernel.name);
            continue;
        }
        let rules: Vec<_> = decision.findings.iter().map(|finding| finding.rule.name()).collect();
        assert_eq!(decision.verdict, Verdict::Violated, "{}", kernel.name);
        assert_eq!(rules.first(), Some(&kernel.fact("barcheck")), "{}", kernel.name);
        let rule = catalogue().rule(kernel.fact("barcheck")).expect("a rule");
        let names_it = clause.rules.contains(&rule.name) || rule.clauses.values().any(|id| *id == clause.id);
        assert!(names_it, "{}: {}", kernel.name, clause.id);
    }
}

fn table() -> String {
    let mut table =
        "| kernel | question | here | what could be seen | seen |\n|---|---|---|---|---|\n".to_owned();
    for kernel in Kernel::all() {
        let link = format!("../../examples/hardware/kernels/{}.ptx", kernel.name);
        let (asks, rule, clause) = (kernel.fact("asks"), kernel.fact("barcheck"), kernel.fact("clause"));
        let expected = kernel.facts("expected").join("; ");
        let _ = write!(table, "| [{}]({link}) | {}: {asks} ", kernel.name, kernel.title());
        let _ = writeln!(table, "| `{rule}` ({clause}) | {expected} | **{}** |", kernel.fact("seen"));
    }
    table
}

#[test]
fn the_book_has_the_table_of_today() {
    const MARK: &str = "<!-- kernels -->\n";
    let path = root().join("checker/book/src/hardware.md");
    let page = std::fs::read_to_string(&path).expect("a chapter");
    let (before, _) = page.split_once(MARK).expect("the mark");
    let wanted = format!("{before}{MARK}{}", table());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("it can be written");
        return;
    }
    assert!(page == wanted, "`BLESS=1 cargo test -p barcheck --test hardware` writes it anew");
}
