//! Links and paths lead to something.

use super::{Page, pages, root};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, from the top level; `None` if it leaves the repository.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => parts.pop().then_some(())?,
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

/// What is wrong with a link, if anything is.
fn broken(page: &Page, target: &str, pages: &BTreeMap<&Path, &Page>) -> Option<String> {
    if target.starts_with("https://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let from = Path::new(&page.path);
    let path = if file.is_empty() {
        from.to_owned()
    } else {
        let Some(path) = normal(&from.parent().unwrap_or(Path::new("")).join(file)) else {
            return Some("leaves the repository".to_owned());
        };
        path
    };
    if !root().join(&path).exists() {
        return Some("leads nowhere".to_owned());
    }
    let known = |page: &&Page| page.anchors.iter().any(|name| name == anchor);
    let there = anchor.is_empty() || pages.get(path.as_path()).is_some_and(known);
    (!there).then(|| format!("{} has no heading `{anchor}`", path.display()))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let by_path: BTreeMap<&Path, &Page> = pages.iter().map(|page| (Path::new(&page.path), page)).collect();
    let mut wrong = Vec::new();
    for page in &pages {
        for link in &page.links {
            if let Some(why) = broken(page, &link.target, &by_path) {
                wrong.push(format!("{}: [{}]({}): {why}", page.path, link.text, link.target));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pages.iter().map(|page| page.links.len()).sum::<usize>() > 100);
}

#[test]
fn links_that_lead_nowhere_are_noticed() {
    let page = Page::read(&root(), "README.md".to_owned());
    let pages = BTreeMap::from([(Path::new("README.md"), &page)]);
    let why = |target: &str| broken(&page, target, &pages).unwrap_or_default();
    assert_eq!(why("checker/book/src/limits.md"), "");
    assert_eq!(why("#limits"), "");
    assert_eq!(why("checker/book/src/limit.md"), "leads nowhere");
    assert_eq!(why("../outside"), "leaves the repository");
    assert_eq!(why("README.md#nothing"), "README.md has no heading `nothing`");
}

/// Paths that stand in the text as code.
#[test]
fn every_path_of_the_repository_that_is_mentioned_exists() {
    let mut seen = 0;
    for page in pages() {
        for span in &page.spans {
            let of_ours =
                ["model/", "specs/", "counterexamples/", "checker/"].iter().any(|top| span.starts_with(top));
            if of_ours && !span.contains(['*', ' ']) {
                assert!(root().join(span).exists(), "{}: there is no {span}", page.path);
                seen += 1;
            }
        }
    }
    assert!(seen > 3, "{seen}");
}
