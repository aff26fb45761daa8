//! Reads the entries of a module in PTX. It is a reader of its own and knows no more than kernels need.

use super::kernel::{CALLS, GLOBAL, Instruction, Kernel, Operand};
use super::opcode::{Op, decode};
use super::operands::operand;
use super::statements::{Piece, parts, pieces};
use std::collections::HashMap;

/// Calls that are worked in, one within another.
const DEPTH: usize = 8;

/// A function as it stands in the module.
struct Function {
    name: String,
    is_entry: bool,
    header: String,
    /// Names of what it returns and of its parameters.
    formal: Vec<String>,
    params: Vec<(u64, u64)>,
    body: Vec<(usize, Piece)>,
}

/// What names stand for, block by block.
#[derive(Default)]
struct Scope {
    parent: Option<usize>,
    registers: HashMap<String, usize>,
    /// `%r<9>`: what the names begin with, how many there are, the first register.
    ranges: Vec<(String, usize, usize)>,
    symbols: HashMap<String, u64>,
    labels: HashMap<String, usize>,
    tables: HashMap<String, Vec<String>>,
}

#[derive(Default)]
struct Reader {
    scopes: Vec<Scope>,
    code: Vec<Instruction>,
    /// Branches: the instruction, its block, the labels.
    pending: Vec<(usize, usize, Vec<String>)>,
    registers: usize,
    shared: u64,
    dynamic: Vec<(usize, String)>,
    global: u64,
    calls: u64,
}

/// The entries of a module.
pub fn kernels(text: &str) -> Vec<Kernel> {
    let (globals, functions) = functions(text);
    let entries = functions.iter().filter(|function| function.is_entry);
    entries.map(|entry| kernel(entry, &globals, &functions)).collect()
}

fn kernel(entry: &Function, globals: &[String], functions: &[Function]) -> Kernel {
    let mut reader = Reader { global: GLOBAL, calls: CALLS, ..Reader::default() };
    reader.scopes.push(Scope::default());
    for declaration in globals {
        reader.declare(declaration, 0);
    }
    let scope = reader.open(Some(0));
    for (name, (at, _)) in entry.formal.iter().zip(&entry.params) {
        reader.scopes[scope].symbols.insert(name.clone(), *at);
    }
    reader.body(&entry.body, scope, functions, None, 0);
    let end = reader.code.len();
    reader.emit((0, "exit".to_owned()), None, Op::Exit, Vec::new());
    reader.resolve(end);
    let number = |directive| Some(u64::from(size(&entry.header, directive)?[0]));
    Kernel {
        name: entry.name.clone(),
        required: size(&entry.header, ".reqntid"),
        most: size(&entry.header, ".maxntid"),
        code: reader.code,
        registers: reader.registers,
        compiled_for: (number(".maxnreg"), number(".minnctapersm")),
        params: entry.params.clone(),
    }
}

fn size(header: &str, directive: &str) -> Option<[u32; 3]> {
    let after = header.split(directive).nth(1)?;
    let numbers = after.split(|c: char| !c.is_ascii_digit() && c != ',' && c != ' ').next()?;
    let mut size = [1; 3];
    for (place, number) in size.iter_mut().zip(numbers.split(',')) {
        *place = number.trim().split(' ').next()?.parse().ok()?;
    }
    Some(size)
}

/// Declarations of the module, and its functions.
fn functions(text: &str) -> (Vec<String>, Vec<Function>) {
    let (mut globals, mut functions) = (Vec::new(), Vec::new());
    let mut pieces = pieces(text).into_iter().peekable();
    while let Some((_, piece)) = pieces.next() {
        let Piece::Statement(header) = piece else { continue };
        if pieces.peek().is_none_or(|(_, piece)| *piece != Piece::Open) {
            globals.push(header);
            continue;
        }
        let (mut body, mut depth) = (Vec::new(), 0);
        for piece in pieces.by_ref() {
            depth += i32::from(piece.1 == Piece::Open) - i32::from(piece.1 == Piece::Close);
            if depth == 0 {
                break;
            }
            body.push(piece);
        }
        body.remove(0);
        functions.extend(function(header, body));
    }
    (globals, functions)
}

fn function(header: String, body: Vec<(usize, Piece)>) -> Option<Function> {
    let is_entry = header.contains(".entry");
    let after = header.split(if is_entry { ".entry" } else { ".func" }).nth(1)?.trim().to_owned();
    let list = |text: &str| {
        let open = text.find('(')?;
        let close = text.find(')')?;
        Some((text[..open].trim().to_owned(), parts(&text[open + 1..close]), text[close + 1..].to_owned()))
    };
    let (mut declared, mut rest) = (Vec::new(), after.clone());
    if after.starts_with('(') {
        let (_, returns, behind) = list(&after)?;
        (declared, rest) = (returns, behind);
    }
    let bare = rest.trim().split([' ', '(', '\t']).next()?.to_owned();
    if rest.trim()[bare.len()..].trim().starts_with('(') {
        declared.extend(list(&rest)?.1);
    }
    let (mut at, mut params, mut formal) = (0_u64, Vec::new(), Vec::new());
    for declaration in &declared {
        let (name, bytes, align) = declared_as(declaration);
        at = at.next_multiple_of(align);
        params.push((at, bytes));
        formal.push(name);
        at += bytes;
    }
    Some(Function { name: bare, is_entry, header, formal, params, body })
}

/// The name, the bytes and the alignment of a declaration.
fn declared_as(text: &str) -> (String, u64, u64) {
    let text = text.split('=').next().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| word.parse::<u64>().ok();
    let align = words.iter().position(|word| *word == ".align").and_then(|at| number(words.get(at + 1)?));
    let width = |word: &&str| {
        let is_type = word.starts_with([',', '.']) && "busf".contains(word.chars().nth(1)?);
        is_type.then(|| number(word.get(2..)?)).flatten()
    };
    let bytes = words.iter().find_map(width).unwrap_or(32) / 8;
    let last = words.last().copied().unwrap_or_default();
    let name = last.split('[').next().unwrap_or_default().to_owned();
    let lengths = last.split('[').skip(1).map(|part| part.trim_end_matches(']').parse().unwrap_or(0));
    let vector = words.iter().find_map(|word| number(word.strip_prefix(".v")?)).unwrap_or(1);
    let count: u64 = lengths.product::<u64>() * vector;
    (name, bytes * count, align.unwrap_or(bytes.max(1)).max(1))
}

impl Reader {
    fn open(&mut self, parent: Option<usize>) -> usize {
        self.scopes.push(Scope { parent, ..Scope::default() });
        self.scopes.len() - 1
    }

    fn emit(&mut self, at: (usize, String), guard: Option<(usize, bool)>, op: Op, operands: Vec<Operand>) {
        let (line, text) = at;
        self.code.push(Instruction { line, text, guard, op, operands, targets: Vec::new() });
    }

    /// The code of a block and of those within it. `returns` is where `ret` leads, if it is a call.
    fn body(
        &mut self,
        pieces: &[(usize, Piece)],
        mut scope: usize,
        functions: &[Function],
        returns: Option<(usize, &str)>,
        depth: usize,
    ) {
        let mut label = None;
        for (line, piece) in pieces {
            match piece {
                Piece::Open => scope = self.open(Some(scope)),
                Piece::Close => scope = self.scopes[scope].parent.unwrap_or(scope),
                Piece::Label(name) => {
                    let at = self.code.len();
                    self.scopes[scope].labels.insert(name.clone(), at);
                    label = Some(name.clone());
                }
                Piece::Statement(text) if text.starts_with(".branchtargets") => {
                    let listed = parts(text.trim_start_matches(".branchtargets"));
                    self.scopes[scope].tables.insert(label.clone().unwrap_or_default(), listed);
                }
                Piece::Statement(text) if text.starts_with('.') => self.declare(text, scope),
                Piece::Statement(text) => self.statement((*line, text), scope, functions, returns, depth),
            }
        }
    }

    fn declare(&mut self, text: &str, scope: usize) {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words[0] == ".reg" {
            let names = text.split_whitespace().skip(2).collect::<String>();
            for name in names.split(',') {
                let (first, length) = (self.registers, name.find('<'));
                match length {
                    Some(at) => {
                        let count = name[at + 1..].trim_end_matches('>').parse().unwrap_or(0);
                        self.scopes[scope].ranges.push((name[..at].to_owned(), count, first));
                        self.registers += count;
                    }
                    None => {
                        self.scopes[scope].registers.insert(name.to_owned(), first);
                        self.registers += 1;
                    }
                }
            }
            return;
        }
        let (name, bytes, align) = declared_as(text);
        let next = match () {
            () if words.contains(&".shared") && bytes == 0 => {
                self.dynamic.push((scope, name));
                return;
            }
            () if words.contains(&".shared") => &mut self.shared,
            () if words.contains(&".local") || words.contains(&".param") => &mut self.calls,
            () if words.contains(&".global") || words.contains(&".const") => &mut self.global,
            () => return,
        };
        *next = next.next_multiple_of(align);
        let at = *next;
        *next += bytes.max(8);
        self.scopes[scope].symbols.insert(name, at);
    }

    fn statement(
        &mut self,
        (line, text): (usize, &str),
        scope: usize,
        functions: &[Function],
        returns: Option<(usize, &str)>,
        depth: usize,
    ) {
        let (guard, rest) = match text.strip_prefix('@') {
            Some(guarded) => {
                let (guard, rest) = guarded.trim().split_once(char::is_whitespace).unwrap_or((guarded, ""));
                (self.named(guard.trim_start_matches('!'), scope).map(|r| (r, guard.starts_with('!'))), rest)
            }
            None => (None, text),
        };
        let rest = rest.trim();
        let (opcode, written) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let at = (line, text.split_whitespace().collect::<Vec<_>>().join(" "));
        if opcode == "call" || opcode.starts_with("call.") {
            return self.call(at, guard, written, scope, functions, depth);
        }
        let op = if text.starts_with('@') && guard.is_none() { Op::Beyond } else { decode(opcode) };
        let written = parts(written);
        let index = self.code.len();
        match (&op, returns) {
            (Op::Branch, _) => self.pending.push((index, scope, written.clone())),
            (Op::Jump, _) => {
                let table = written.get(1).cloned().unwrap_or_default();
                self.pending.push((index, scope, vec![format!("[{table}")]));
            }
            (Op::Exit, Some((scope, label))) if opcode.starts_with("ret") => {
                self.pending.push((index, scope, vec![label.to_owned()]));
                return self.emit(at, guard, Op::Branch, Vec::new());
            }
            _ => {}
        }
        let mut operands: Vec<Operand> = written.iter().map(|text| self.operand(text, scope)).collect();
        // `cvta` and the like name a variable of their window.
        if matches!(op, Op::Branch) {
            operands.clear();
        }
        self.emit(at, guard, op, operands);
    }

    /// What is called is worked in.
    fn call(
        &mut self,
        at: (usize, String),
        guard: Option<(usize, bool)>,
        written: &str,
        scope: usize,
        functions: &[Function],
        depth: usize,
    ) {
        let mut actual = Vec::new();
        let mut name = String::new();
        for part in parts(written) {
            match part.strip_prefix('(') {
                Some(list) => actual.extend(parts(list.trim_end_matches(')'))),
                None => name = part,
            }
        }
        if name == "__assertfail" {
            return self.emit(at, guard, Op::Trap, Vec::new());
        }
        let called = functions.iter().find(|function| function.name == name && depth < DEPTH);
        let places: Option<Vec<u64>> = actual.iter().map(|name| self.symbol(name, scope)).collect();
        let (Some(called), Some(places)) = (called, places.filter(|_| guard.is_none())) else {
            return self.emit(at, guard, Op::Beyond, Vec::new());
        };
        let inner = self.open(Some(0));
        for (name, place) in called.formal.iter().zip(places) {
            self.scopes[inner].symbols.insert(name.clone(), place);
        }
        let end = " end";
        self.body(&called.body, inner, functions, Some((inner, end)), depth + 1);
        let after = self.code.len();
        self.scopes[inner].labels.insert(end.to_owned(), after);
        self.emit((at.0, "end of the call".to_owned()), None, Op::Nothing, Vec::new());
    }

    fn operand(&self, text: &str, scope: usize) -> Operand {
        operand(text, &|name| self.named(name, scope), &|name| self.symbol(name, scope))
    }

    fn chain(&self, scope: usize) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(&self.scopes[scope]), |scope| Some(&self.scopes[scope.parent?]))
    }

    fn named(&self, name: &str, scope: usize) -> Option<usize> {
        let in_range = |scope: &Scope| {
            let of = |(prefix, count, first): &(String, usize, usize)| {
                let index: usize = name.strip_prefix(prefix.as_str())?.parse().ok()?;
                (index < *count).then_some(first + index)
            };
            scope.registers.get(name).copied().or_else(|| scope.ranges.iter().find_map(of))
        };
        self.chain(scope).find_map(in_range)
    }

    fn symbol(&self, name: &str, scope: usize) -> Option<u64> {
        // What is sized by the launch lies behind all else, at a place that does not depend on it.
        let dynamic = self.dynamic.iter().any(|(_, dynamic)| dynamic == name).then_some(0x1_0000);
        self.chain(scope).find_map(|scope| scope.symbols.get(name).copied()).or(dynamic)
    }

    fn resolve(&mut self, end: usize) {
        for (index, scope, labels) in std::mem::take(&mut self.pending) {
            let table = |name: &str| self.chain(scope).find_map(|scope| scope.tables.get(name).cloned());
            let labels = match labels.first().and_then(|label| label.strip_prefix('[')) {
                Some(name) => table(name).unwrap_or_default(),
                None => labels,
            };
            let lead = |label: &String| self.chain(scope).find_map(|scope| scope.labels.get(label).copied());
            let targets: Option<Vec<usize>> = labels.iter().map(lead).collect();
            let instruction = &mut self.code[index];
            match targets.filter(|targets| !targets.is_empty() && targets.iter().all(|to| *to <= end)) {
                Some(targets) => instruction.targets = targets,
                None => instruction.op = Op::Beyond,
            }
        }
    }
}
