//! The table of rules: for whom they hold, how grave they are, which end their path.

use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use std::fmt::Write as _;

#[test]
fn rules_levels_and_endings_are_those_of_the_table() {
    // clause: barcheck.path
    // clause: barcheck.levels
    let mut table = String::new();
    for rule in Rule::ALL {
        write!(table, "{:22}", rule.name()).expect("a string takes it");
        for target in Target::ALL {
            let word = if rule.holds_for(target) {
                let ends = if rule.ends_path(target) { " ends" } else { "" };
                format!("{}{ends}", rule.default_level(target).name())
            } else {
                "-".to_owned()
            };
            write!(table, " {word:12}").expect("a string takes it");
        }
        table.truncate(table.trim_end().len());
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}

#[test]
fn names_are_what_users_type() {
    assert_eq!(Rule::ALL.len(), 43);
    for rule in Rule::ALL {
        assert_eq!(rule.to_string(), rule.name());
        assert_eq!(Rule::from_name(rule.name()), Some(*rule));
        assert!(rule.name().chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    }
    assert_eq!(Rule::from_name("Deadlock"), None);
    let levels = [Level::Allow, Level::Pedantic, Level::Warning, Level::Error];
    assert_eq!(levels.map(Level::name), ["allow", "pedantic", "warning", "error"]);
    assert!(levels.is_sorted());
    let targets = Target::ALL.map(Target::name);
    assert_eq!(targets, ["ptx", "bcu", "nbarrier", "split_barrier", "xegpu"]);
    assert_eq!(Target::ALL.map(|t| t.to_string()), targets);
    let nouns = Target::ALL.map(Target::agent_noun);
    assert_eq!(nouns, ["warp", "warp", "thread", "invocation", "subgroup"]);
    assert_eq!(Target::ALL.map(Target::has_lanes), [true, true, false, false, false]);
}
