//! A page in Markdown, as far as the tests need to understand it.

use std::path::Path;

/// A page.
pub(crate) struct Page {
    /// From the top level of the repository.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Fenced blocks, in order.
    pub(crate) blocks: Vec<Block>,
    /// Links outside blocks.
    pub(crate) links: Vec<Link>,
    /// Code between backticks, outside blocks.
    pub(crate) spans: Vec<String>,
    /// What its headings are called in addresses.
    pub(crate) anchors: Vec<String>,
}

/// A fenced block.
pub(crate) struct Block {
    /// What stands behind the fence.
    pub(crate) kind: String,
    pub(crate) text: String,
    /// Nothing but empty lines stands between this block and the one before.
    pub(crate) follows: bool,
    /// The line of its fence, from 1.
    pub(crate) line: usize,
}

/// `[text](target)`.
pub(crate) struct Link {
    pub(crate) text: String,
    pub(crate) target: String,
}

impl Page {
    pub(crate) fn read(root: &Path, path: String) -> Self {
        let text = std::fs::read_to_string(root.join(&path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        let (mut blocks, mut prose, mut anchors) = (Vec::new(), String::new(), Vec::new());
        let mut open: Option<(usize, Block)> = None;
        let mut follows = false;
        for (number, line) in text.lines().enumerate() {
            let (indent, bare) = (line.len() - line.trim_start().len(), line.trim_start());
            match (&mut open, bare.strip_prefix("```")) {
                (Some(_), Some("")) => {
                    blocks.extend(open.take().map(|(_, block)| block));
                    follows = true;
                }
                (Some((indent, block)), _) => {
                    block.text.push_str(line.get(*indent..).unwrap_or_default());
                    block.text.push('\n');
                }
                (None, Some(kind)) => {
                    let kind = kind.to_owned();
                    open = Some((indent, Block { kind, text: String::new(), follows, line: number + 1 }));
                }
                (None, None) => {
                    follows = follows && line.trim().is_empty();
                    prose.push_str(line);
                    prose.push('\n');
                    if line.starts_with('#') {
                        anchors.push(anchor(line.trim_start_matches('#').trim()));
                    }
                }
            }
        }
        assert!(open.is_none(), "{path}: a block has no end");
        let (plain, spans) = without_spans(&prose);
        Self { links: links(&plain), path, text, blocks, spans, anchors }
    }
}

/// What a heading is called in an address.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The text with all code between backticks replaced by a mark, and that code, white space made one.
fn without_spans(prose: &str) -> (String, Vec<String>) {
    let mut parts = prose.split('`');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    let mut spans = Vec::new();
    while let Some(code) = parts.next() {
        spans.push(code.split_whitespace().collect::<Vec<_>>().join(" "));
        plain.push('`');
        plain.push_str(parts.next().unwrap_or_else(|| panic!("a backtick has no partner: {code:.60}")));
    }
    (plain, spans)
}

fn links(plain: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (middle, _) in plain.match_indices("](") {
        let (before, after) = (&plain[..middle], &plain[middle + 2..]);
        let text = before.rsplit('[').next().unwrap_or_default();
        let target = after.split(')').next().unwrap_or_default();
        found.push(Link { text: text.to_owned(), target: target.to_owned() });
    }
    found
}

#[test]
fn pages_are_understood() {
    let folder = tempfile::TempDir::new().expect("a folder can be made");
    let text = "# A `b` c-d: e!\n\nsee [x y](z.md#w) and `[no](link) \n two`\n\n```sh\na\n```\n\n```text\nb\n```\n\
                * c\n\n  ```bar\n  d\n    e\n  ```\n";
    std::fs::write(folder.path().join("p.md"), text).expect("a file can be written");
    let page = Page::read(folder.path(), "p.md".to_owned());
    assert_eq!(page.anchors, ["a-b-c-d-e"]);
    let links: Vec<_> = page.links.iter().map(|link| (link.text.as_str(), link.target.as_str())).collect();
    assert_eq!(links, [("x y", "z.md#w")]);
    assert_eq!(page.spans, ["b", "[no](link) two"]);
    let blocks: Vec<_> =
        page.blocks.iter().map(|b| (b.kind.as_str(), b.text.as_str(), b.follows, b.line)).collect();
    let wanted = [("sh", "a\n", false, 6), ("text", "b\n", true, 10), ("bar", "d\n  e\n", false, 15)];
    assert_eq!(blocks, wanted);
}
