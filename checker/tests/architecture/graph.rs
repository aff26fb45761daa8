//! Which module of a member uses which.

use crate::source::{How, Mention, Source, sources};
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use std::collections::{BTreeMap, BTreeSet};

/// A module by its path: `agent::config`; the member's root is empty.
type Module = String;

/// The modules of one member. Modules inside a file count as part of it.
pub(crate) struct Modules {
    files: BTreeMap<Module, Vec<&'static Source>>,
}

impl Modules {
    pub(crate) fn of(member: &str) -> Self {
        let mut files: BTreeMap<Module, Vec<_>> = BTreeMap::new();
        for source in sources().iter().filter(|s| s.is_product() && s.member() == member) {
            files.entry(module_of(&source.path)).or_default().push(source);
        }
        Self { files }
    }

    /// Every pair of modules of which the first uses something that the second holds. A module that only
    /// passes on what another holds, by `pub use`, does not use it, and is not used by those who reach the
    /// other through it.
    pub(crate) fn edges(&self) -> BTreeSet<(&str, &str)> {
        let mut edges = BTreeSet::new();
        for (from, sources) in &self.files {
            let mentions = || sources.iter().flat_map(|source| &source.paths);
            let inline: BTreeSet<&str> = mentions()
                .filter(|mention| mention.how == How::Inline)
                .filter_map(|mention| mention.segments.first().map(String::as_str))
                .collect();
            for mention in mentions() {
                // What is passed on is used as well if the file itself speaks of it.
                if matches!(&mention.how, How::Export(name) if !inline.contains(name.as_str())) {
                    continue;
                }
                if let Some(to) = self.resolve(from, &mention.segments, 0)
                    && to != from
                {
                    edges.insert((from.as_str(), to));
                }
            }
        }
        edges
    }

    /// The module that holds what a path in `from` leads to; `None` for what is not of this member.
    fn resolve(&self, from: &str, segments: &[String], followed: usize) -> Option<&str> {
        let mut module = from.to_owned();
        let mut rest = segments;
        let mut anchored = false;
        while let Some(first) = rest.first() {
            match first.as_str() {
                "crate" => module.clear(),
                "self" => {}
                "super" => module = parent(&module).to_owned(),
                _ => break,
            }
            anchored = true;
            rest = &rest[1..];
        }
        if !anchored && !rest.first().is_some_and(|name| self.files.contains_key(&inner(&module, name))) {
            return None;
        }
        while let Some(name) = rest.first() {
            let child = inner(&module, name);
            if self.files.contains_key(&child) {
                module = child;
                rest = &rest[1..];
                continue;
            }
            // Passed on by `pub use`: what it leads to is what counts.
            if let Some(passed) = self.exported(&module, name)
                && followed < 8
            {
                let further: Vec<String> = passed.segments.iter().chain(&rest[1..]).cloned().collect();
                let found = self.resolve(&module, &further, followed + 1);
                if found.is_some() {
                    return found;
                }
            }
            break;
        }
        self.files.get_key_value(&module).map(|(module, _)| module.as_str())
    }

    fn exported(&self, module: &str, name: &str) -> Option<&Mention> {
        let sources = self.files.get(module)?;
        let exports = |mention: &&Mention| matches!(&mention.how, How::Export(passed) if passed == name);
        sources.iter().flat_map(|source| &source.paths).find(exports)
    }
}

/// The sets of modules that use one another, each sorted.
pub(crate) fn cycles<'m>(edges: &BTreeSet<(&'m str, &'m str)>) -> Vec<Vec<&'m str>> {
    let mut graph = DiGraph::<&str, ()>::new();
    let mut nodes = BTreeMap::new();
    for module in edges.iter().flat_map(|(from, to)| [*from, *to]) {
        nodes.entry(module).or_insert_with(|| graph.add_node(module));
    }
    graph.extend_with_edges(edges.iter().map(|(from, to)| (nodes[from], nodes[to])));
    let circles = tarjan_scc(&graph).into_iter().filter(|set| set.len() > 1);
    let mut cycles: Vec<Vec<&str>> =
        circles.map(|set| set.into_iter().map(|node| graph[node]).collect()).collect();
    cycles.iter_mut().for_each(|cycle| cycle.sort_unstable());
    cycles.sort();
    cycles
}

fn module_of(path: &str) -> Module {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let mut names: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if matches!(names.last(), Some(&("lib" | "main" | "mod"))) {
        names.pop();
    }
    names.join("::")
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

fn inner(module: &str, name: &str) -> Module {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}
