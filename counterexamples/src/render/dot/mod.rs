//! Graphs in the language of Graphviz. They can be read without colours.

pub(crate) mod protocol;
pub(crate) mod waiting;

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::IntoNodeReferences;

use crate::render::escape;
use crate::render::text::wrap;

/// Columns of a line, at most.
const MOST_COLUMNS: usize = 72;

/// A box with lines of text in it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) lines: Vec<String>,
    /// Attributes besides the label: `shape=box`.
    pub(crate) look: &'static str,
}

/// An arrow with lines of text beside it.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) lines: Vec<String>,
    /// Attributes besides the label: `style=dashed`.
    pub(crate) look: &'static str,
}

/// A graph with a title, some of its nodes in frames.
#[derive(Default)]
pub(crate) struct Picture {
    pub(crate) title: Vec<String>,
    pub(crate) graph: DiGraph<Node, Edge>,
    pub(crate) frames: Vec<(String, Vec<NodeIndex>)>,
    /// Drawn from left to right instead of from top to bottom.
    pub(crate) sideways: bool,
}

impl Picture {
    pub(crate) fn node(&mut self, lines: Vec<String>, look: &'static str) -> NodeIndex {
        self.graph.add_node(Node { lines, look })
    }

    pub(crate) fn edge(&mut self, from: NodeIndex, to: NodeIndex, lines: Vec<String>, look: &'static str) {
        self.graph.add_edge(from, to, Edge { lines, look });
    }

    /// The title in lines that are not wider than most graphs.
    fn title(&self) -> Vec<String> {
        self.title.iter().flat_map(|text| wrap(&escape::line(text, 8 * MOST_COLUMNS), MOST_COLUMNS)).collect()
    }

    /// The graph in DOT, ended by a line break.
    pub(crate) fn to_dot(&self) -> String {
        let direction = if self.sideways { "LR" } else { "TB" };
        let mut dot = format!(
            "digraph barcheck {{\n    graph [rankdir={direction}, labelloc=t, labeljust=l, \
             fontname=\"Helvetica\", label={}]\n    node [fontname=\"Helvetica\", fontsize=11]\n    edge \
             [fontname=\"Helvetica\", fontsize=10]\n",
            label(&self.title(), 'l')
        );
        for (number, (name, nodes)) in self.frames.iter().enumerate() {
            let inside: Vec<String> = nodes.iter().map(|node| node.index().to_string()).collect();
            let name = label(std::slice::from_ref(name), 'l');
            dot.push_str(&format!(
                "    subgraph cluster_{number} {{ style=rounded; label={name}; {} }}\n",
                inside.join("; ")
            ));
        }
        let content = [Config::GraphContentOnly, Config::NodeNoLabel, Config::EdgeNoLabel];
        let attributes = |lines: &[String], look: &str| format!("label={}, {look}", label(lines, 'n'));
        let of_edge = |_, edge: petgraph::graph::EdgeReference<'_, Edge>| {
            attributes(&edge.weight().lines, edge.weight().look)
        };
        let of_node = |_, (_, node): <&DiGraph<Node, Edge> as IntoNodeReferences>::NodeRef| {
            attributes(&node.lines, node.look)
        };
        let drawn = Dot::with_attr_getters(&self.graph, &content, &of_edge, &of_node);
        dot.push_str(&format!("{drawn:?}}}\n"));
        dot
    }
}

/// Lines as a quoted string; each ends with the escape that says how it is set: `n` centred, `l` to the left.
fn label(lines: &[String], set: char) -> String {
    let mut quoted = String::from("\"");
    for (number, line) in lines.iter().enumerate() {
        for c in escape::line(line, MOST_COLUMNS).chars() {
            match c {
                '"' => quoted.push_str("\\\""),
                '\\' => quoted.push_str("\\\\"),
                // Graphviz takes the entities of HTML for what they mean.
                '&' => quoted.push_str("&amp;"),
                c => quoted.push(c),
            }
        }
        if set != 'n' || number + 1 < lines.len() {
            quoted.push('\\');
            quoted.push(set);
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_graphviz_is_text() {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(label(&lines(&["a \"b\" \\N", "&lt;\nc"]), 'n'), r#""a \"b\" \\N\n&amp;lt; c""#);
        assert_eq!(label(&lines(&["\u{202e}", "b"]), 'l'), r#""⟨U+202E⟩\lb\l""#);
        assert_eq!(label(&[], 'l'), "\"\"");
    }
}
