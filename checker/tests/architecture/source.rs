//! The Rust files of the workspace, read once, and what the tests ask of each.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use syn::visit::{self, Visit};

/// The members that only judge others in tests.
pub(crate) const JUDGES: [&str; 2] = ["checker/emulator", "checker/naive"];

/// The most characters of a line, comments included.
const LINE_WIDTH: usize = 110;

/// A Rust file.
pub(crate) struct Source {
    /// From the top level of the repository: `model/src/rule.rs`.
    pub(crate) path: String,
    /// Number of lines.
    pub(crate) lines: usize,
    /// The lines that are too wide, from 1, and their texts: a text between quotation marks may be.
    pub(crate) wide: Vec<(usize, String)>,
    /// Every function outside tests: its name, and its number of lines.
    pub(crate) functions: Vec<(String, usize)>,
    /// Every path outside tests, from a `use` or written where it is needed.
    pub(crate) paths: Vec<Mention>,
    /// Macros that are called, attributes on items included, tests included too.
    pub(crate) macros: Vec<String>,
    /// Attributes, tests included.
    pub(crate) attributes: Vec<String>,
}

/// A path that a file mentions.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    /// Its segments, `crate`, `self` and `super` among them; `*` for a glob.
    pub(crate) segments: Vec<String>,
    pub(crate) how: How,
}

/// How a file mentions a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By a private `use`.
    Import,
    /// By a `use` that others may look through, under this name.
    Export(String),
    /// Where it is needed.
    Inline,
}

/// The top level of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A manifest.
pub(crate) fn manifest(path: &str) -> toml::Table {
    let text = std::fs::read_to_string(root().join(path)).expect("a manifest");
    text.parse().expect("a valid manifest")
}

/// The folders of the workspace's members.
pub(crate) fn members() -> Vec<String> {
    let workspace = manifest("Cargo.toml");
    let members = workspace["workspace"]["members"].as_array().expect("a list of members");
    members.iter().map(|member| member.as_str().expect("a path").to_owned()).collect()
}

/// The Rust files of all members: what they are made of, their tests and their benches.
pub(crate) fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let mut paths = Vec::new();
        for member in members() {
            for folder in ["src", "tests", "benches"] {
                collect(&format!("{member}/{folder}"), &mut paths);
            }
        }
        paths.sort();
        paths.into_iter().map(read).collect()
    });
    &SOURCES
}

fn collect(folder: &str, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(root().join(folder)) else { return };
    for entry in entries.map(|entry| entry.expect("an entry of the folder")) {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&path, found);
        } else if path.ends_with(".rs") {
            found.push(path);
        }
    }
}

fn read(path: String) -> Source {
    let text = std::fs::read_to_string(root().join(&path)).expect("a readable file");
    let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{path}: {e}"));
    let file: syn::File = syn::parse2(tokens.clone()).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lines = text.lines().count();
    let mut quoted = Vec::new();
    find_quoted(tokens.clone(), &mut quoted);
    let wide = text.lines().enumerate().map(|(number, line)| (number + 1, line.to_owned()));
    let is_quoted = |number: usize| quoted.iter().any(|lines| lines.contains(&number));
    let is_wide = |(number, line): &(usize, String)| line.chars().count() > LINE_WIDTH && !is_quoted(*number);
    let wide = wide.filter(is_wide).collect();
    let mut source = Source {
        path,
        lines,
        wide,
        functions: Vec::new(),
        paths: Vec::new(),
        macros: Vec::new(),
        attributes: Vec::new(),
    };
    source.scan(tokens);
    Reader { source: &mut source, depth: 0 }.visit_file(&file);
    source
}

/// The lines on which something between quotation marks stands; comments on items are none of that.
fn find_quoted(tokens: TokenStream, found: &mut Vec<RangeInclusive<usize>>) {
    let mut is_attribute = false;
    for token in tokens {
        match token {
            TokenTree::Literal(literal) if literal.to_string().contains('"') => {
                found.push(literal.span().start().line..=literal.span().end().line);
            }
            // `///` is an attribute, too.
            TokenTree::Group(group) if !(is_attribute && is_comment(&group.stream())) => {
                find_quoted(group.stream(), found);
            }
            TokenTree::Punct(mark) if matches!(mark.as_char(), '#' | '!') => {
                is_attribute |= mark.as_char() == '#';
                continue;
            }
            _ => {}
        }
        is_attribute = false;
    }
}

fn is_comment(attribute: &TokenStream) -> bool {
    attribute.clone().into_iter().next().is_some_and(|first| first.to_string() == "doc")
}

impl Source {
    /// The member that the file belongs to.
    pub(crate) fn member(&self) -> &str {
        let parts = ["/src/", "/tests/", "/benches/"];
        let end = parts.iter().filter_map(|part| self.path.find(part)).min();
        &self.path[..end.unwrap_or_default()]
    }

    /// Whether it is part of what its member is made of: not of tests, benches, or the judges in them.
    pub(crate) fn is_product(&self) -> bool {
        !JUDGES.contains(&self.member()) && self.path[self.member().len()..].starts_with("/src/")
    }

    /// Notes macro calls and attributes, which may stand inside other macros' tokens.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            let next = tokens.get(index + 1);
            match (token, next) {
                (TokenTree::Ident(name), Some(TokenTree::Punct(mark))) if mark.as_char() == '!' => {
                    self.macros.push(name.to_string());
                }
                (TokenTree::Punct(mark), Some(TokenTree::Group(group)))
                    if mark.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
                {
                    self.attributes.push(group.stream().to_string());
                }
                _ => {}
            }
            if let TokenTree::Group(group) = token {
                self.scan(group.stream());
            }
        }
    }
}

/// Notes functions and paths, leaving out what is compiled for tests only.
struct Reader<'s> {
    source: &'s mut Source,
    /// Modules open inside the file.
    depth: usize,
}

impl Reader<'_> {
    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let (first, last) = (signature.fn_token.span.start(), body.brace_token.span.close().end());
        let lines = last.line - first.line + 1;
        self.source.functions.push((signature.ident.to_string(), lines));
    }

    /// Notes a path as it is seen from the file itself: modules inside it count as part of it.
    fn mention(&mut self, mut segments: Vec<String>, how: How) {
        let up = segments.iter().take_while(|segment| *segment == "super").count().min(self.depth);
        segments.drain(..up);
        if up > 0 && segments.first().is_none_or(|segment| segment != "super") {
            segments.insert(0, "self".to_owned());
        }
        self.source.paths.push(Mention { segments, how });
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String], exported: bool) {
        let with = |last: &dyn ToString| {
            let mut segments = before.to_vec();
            segments.push(last.to_string());
            segments
        };
        let how = |name: &dyn ToString| if exported { How::Export(name.to_string()) } else { How::Import };
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident), exported),
            syn::UseTree::Name(name) => self.mention(with(&name.ident), how(&name.ident)),
            syn::UseTree::Rename(name) => self.mention(with(&name.ident), how(&name.rename)),
            syn::UseTree::Glob(_) => self.mention(with(&"*"), how(&"*")),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, before, exported);
                }
            }
        }
    }

    /// Notes the paths among tokens that are not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut segments: Vec<String> = Vec::new();
        let mut joined = true;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if !joined {
                        self.mention(std::mem::take(&mut segments), How::Inline);
                    }
                    segments.push(name.to_string());
                    joined = false;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => joined = true,
                other => {
                    self.mention(std::mem::take(&mut segments), How::Inline);
                    joined = true;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.mention(segments, How::Inline);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_for_tests(&module.attrs) {
            return;
        }
        self.depth += 1;
        visit::visit_item_mod(self, module);
        self.depth -= 1;
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.function(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        let exported = !matches!(import.vis, syn::Visibility::Inherited);
        self.tree(&import.tree, &[], exported);
    }

    /// Who may see an item is not what it uses.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.mention(segments, How::Inline);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.tokens(called.tokens.clone());
    }
}
