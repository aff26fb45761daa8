//! Loops, branches and calls.

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Comparison, Function, Operation as Op, Type};
use crate::xegpu::lexer::Kind;
use crate::xegpu::syntax::{Operation, Region};

use super::arithmetic::ty;
use super::state::{Context, LONG, Lowerer, Value};

/// The most functions inside one another.
const DEPTH: usize = 64;

/// A counted loop.
struct Counted<'s> {
    variable: &'s str,
    bounds: [Argument; 3],
    ty: Type,
    /// What is carried from iteration to iteration: names inside, and what it begins with.
    carried: Vec<(&'s str, Value)>,
}

impl<'s> Lowerer<'_, 's> {
    /// Operations by which control goes on; whether it was one.
    pub(super) fn control(&mut self, operation: &Operation<'s>) -> bool {
        let span = operation.span;
        match operation.name {
            "scf.for" | "affine.for" => self.counted(operation),
            "scf.if" => self.choice(operation),
            "scf.while" => self.repeated(operation),
            "scf.execute_region" => self.once(operation),
            "scf.yield" | "affine.yield" => {
                let given = operation.values(self.source);
                let from = self.named(&given, span);
                if let Some(Context::Yield(to)) = self.contexts.last() {
                    let to = to.clone();
                    self.hand_over(&to, &from, span);
                } else {
                    self.beyond(span, "a `scf.yield` of something that is not followed");
                }
            }
            "scf.condition" => self.condition(operation),
            "cf.br" | "br" | "cf.cond_br" | "cond_br" | "spirv.Branch" | "spirv.BranchConditional" => {
                self.jumps(operation);
            }
            "gpu.return" | "func.return" | "return" | "spirv.Return" | "spirv.ReturnValue"
            | "llvm.return" => {
                self.leave(operation);
            }
            "func.call" | "call" | "spirv.FunctionCall" | "llvm.call" => self.call(operation),
            "cf.assert" => {}
            "llvm.unreachable" | "spirv.Unreachable" | "ub.unreachable" => self.emit(span, Action::Abort),
            _ => return false,
        }
        true
    }

    /// `scf.for %i = %a to %b step %c iter_args(%x = %y) -> (…) : i32 {…}`
    fn counted(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let [region] = operation.regions.as_slice() else {
            return self.beyond(span, format!("`{}` without its body", operation.name));
        };
        let Some(counted) = self.header(operation, region) else {
            if self.tree.synchronises(operation) {
                self.beyond(span, format!("`{}`, as it is written here", operation.name));
            } else {
                self.anything_written(span);
                self.opaque(operation);
            }
            return;
        };
        self.scopes.push(std::collections::HashMap::new());
        let [from, to, step] = counted.bounds;
        let variable = self.reserve(counted.variable);
        let Value::Leaf(here) = variable else { return };
        self.hand_over(&[variable], &[Value::Leaf(from)], span);
        let mut inside = Vec::new();
        for (name, begin) in &counted.carried {
            let value = match begin {
                Value::Handle(_) => {
                    self.define(name, *begin);
                    *begin
                }
                Value::Leaf(_) => self.reserve(name),
            };
            inside.push(value);
        }
        let begin: Vec<Value> = counted.carried.iter().map(|(_, begin)| *begin).collect();
        self.hand_over(&inside, &begin, span);
        let top = self.code.instructions.len();
        let is_unsigned = operation.has(self.source, "unsigned") || operation.has(self.source, "unsignedCmp");
        let ty = Type { signed: !is_unsigned, ..counted.ty };
        let less = Function::Integer(Op::Compare(Comparison::Less), ty);
        let goes_on = self.intermediate(span, less, &[here, to]);
        let end = self.jump_unless(goes_on, span);
        self.contexts.push(Context::Yield(inside.clone()));
        self.region(region);
        self.contexts.pop();
        self.compute(span, variable, Function::Integer(Op::Add, ty), &[here, step]);
        self.emit(span, Action::Jump(top));
        self.land(end);
        self.scopes.pop();
        self.results_are(operation, &inside);
    }

    /// The results of a loop or branch are these. A handle stays what it is.
    fn results_are(&mut self, operation: &Operation<'s>, from: &[Value]) {
        let to = self.results(operation);
        let names: Vec<String> = operation
            .results
            .iter()
            .flat_map(|(name, count)| (0..*count).map(move |at| format!("{name}#{at}")))
            .collect();
        for (name, from) in names.iter().zip(from) {
            if let Value::Handle(_) = from {
                self.define(name, *from);
                if let Some(plain) = name.strip_suffix("#0") {
                    self.define(plain, *from);
                }
            }
        }
        let pairs = to.iter().zip(from).filter(|(_, from)| matches!(from, Value::Leaf(_)));
        let (to, from): (Vec<Value>, Vec<Value>) = pairs.map(|(to, from)| (*to, *from)).unzip();
        self.hand_over(&to, &from, operation.span);
    }

    fn header(&mut self, operation: &Operation<'s>, region: &Region<'s>) -> Option<Counted<'s>> {
        let (source, span) = (self.source, operation.span);
        if operation.is_generic {
            if operation.name != "scf.for" {
                return None;
            }
            let params = &region.first()?.params;
            let names = operation.values(source);
            let (variable, rest) = params.split_first()?;
            let bounds = [*names.first()?, *names.get(1)?, *names.get(2)?].map(|name| self.leaf(name, span));
            let begin = self.named(names.get(3..)?, span);
            (begin.len() == rest.len()).then_some(())?;
            let carried = rest.iter().copied().zip(begin).collect();
            let ty = operation.types(source).first().and_then(|name| ty(name)).unwrap_or(LONG);
            return Some(Counted { variable, bounds, ty, carried });
        }
        // `unsigned` may stand in front.
        let first = operation.words.iter().position(|word| word.kind == Kind::Value)?;
        let variable = operation.text(source, first);
        let (to, step) = (operation.find(source, "to")?, operation.find(source, "step"));
        let is_affine = operation.name == "affine.for";
        let from = self.bound(operation, first + 2..to, is_affine)?;
        let behind = |at: usize| {
            let is_end = |word: usize| {
                let text = operation.text(source, word);
                matches!(text, "step" | "iter_args" | ":" | "{" | "->")
            };
            (at..operation.words.len()).find(|word| is_end(*word)).unwrap_or(operation.words.len())
        };
        let until = self.bound(operation, to + 1..behind(to + 1), is_affine)?;
        let by = match step {
            Some(at) => self.leaf(operation.text(source, at + 1), span),
            None if is_affine => Argument::Number(1),
            None => return None,
        };
        let mut carried = Vec::new();
        if let Some(at) = operation.find(source, "iter_args") {
            let mut at = at + 2;
            while operation.words.get(at)?.kind == Kind::Value {
                let name = operation.text(source, at);
                let begin = self.value(operation.text(source, at + 2), span);
                carried.push((name, begin));
                at += 4;
            }
        }
        let is_typed = operation.words.last().and_then(|word| ty(word.span.text(source)));
        let colon = operation.words.len().checked_sub(2).is_some_and(|at| operation.words[at].is(b':'));
        let ty = is_typed.filter(|_| colon).unwrap_or(LONG);
        Some(Counted { variable, bounds: [from, until, by], ty, carried })
    }

    /// A bound: a value, a number, or a map of values.
    fn bound(
        &mut self,
        operation: &Operation<'s>,
        words: std::ops::Range<usize>,
        is_affine: bool,
    ) -> Option<Argument> {
        let span = operation.span;
        let first = operation.words.get(words.start)?;
        if words.len() == 1 {
            let text = operation.text(self.source, words.start);
            let is_number = first.kind == Kind::Number && is_affine;
            return (first.kind == Kind::Value || is_number).then(|| self.leaf(text, span));
        }
        let inside = operation.words.get(words)?;
        let given: Vec<&str> = inside
            .iter()
            .filter(|word| word.kind == Kind::Value)
            .map(|word| word.span.text(self.source))
            .collect();
        let given: Vec<Argument> = given.into_iter().map(|name| self.leaf(name, span)).collect();
        match first.kind {
            Kind::Alias => {
                let map = self.tree.alias(first.span.text(self.source))?.to_vec();
                self.map(map.get(1..)?, &given, span)
            }
            Kind::Word if first.span.text(self.source) == "affine_map" => {
                let map = inside.to_vec();
                self.map(&map[1..], &given, span)
            }
            _ => None,
        }
    }

    /// `scf.if %c -> (…) {…} else {…}`
    fn choice(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let Some(condition) = operation.values(self.source).first().copied() else {
            return self.beyond(span, "`scf.if` without a condition");
        };
        let condition = self.leaf(condition, span);
        let results = self.results(operation);
        let otherwise = self.jump_unless(condition, span);
        let mut regions = operation.regions.iter();
        self.contexts.push(Context::Yield(results));
        if let Some(then) = regions.next() {
            self.region(then);
        }
        let end = self.jump(span);
        self.land(otherwise);
        match regions.next() {
            Some(region) => self.region(region),
            None => self.opaque(operation),
        }
        self.land(end);
        self.contexts.pop();
    }

    /// A region that is executed once.
    fn once(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        match operation.regions.as_slice() {
            [region] if region.len() == 1 => {
                let results = self.results(operation);
                self.contexts.push(Context::Yield(results));
                self.region(region);
                self.contexts.pop();
            }
            _ if self.tree.synchronises(operation) => {
                self.beyond(span, format!("`{}` of several blocks", operation.name));
            }
            _ => {
                self.anything_written(span);
                self.opaque(operation);
            }
        }
    }

    /// `scf.while (%x = %y) : (…) -> (…) {… scf.condition(%c) %z} do {^b(%w): … scf.yield %v}`
    fn repeated(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let [before, after] = operation.regions.as_slice() else {
            return self.beyond(span, "`scf.while` without its bodies");
        };
        let names = operation.values(self.source);
        let params: Vec<&str> = before.first().map(|block| block.params.clone()).unwrap_or_default();
        let (names, begin): (Vec<&str>, Vec<&str>) = if operation.is_generic || !params.is_empty() {
            (params, names)
        } else {
            (names.iter().copied().step_by(2).collect(), names.iter().copied().skip(1).step_by(2).collect())
        };
        let begin = self.named(&begin, span);
        self.scopes.push(std::collections::HashMap::new());
        let inside: Vec<Value> = names.iter().map(|name| self.reserve(name)).collect();
        self.hand_over(&inside, &begin, span);
        let top = self.code.instructions.len();
        let results = self.results(operation);
        let params = after.first().map(|block| block.params.clone()).unwrap_or_default();
        let register = |lowerer: &mut Self, name: &&str| {
            let plain = name.trim_start_matches('%');
            Value::Leaf(Argument::Register(lowerer.code.register(plain)))
        };
        let behind: Vec<Value> = params.iter().map(|name| register(self, name)).collect();
        let after_values = behind.clone();
        self.contexts.push(Context::Condition { results, after: after_values, exits: Vec::new() });
        self.region(before);
        let exits = match self.contexts.pop() {
            Some(Context::Condition { exits, .. }) => exits,
            _ => Vec::new(),
        };
        if exits.is_empty() {
            self.beyond(span, "`scf.while` without a condition");
        }
        // What is named in the first region is not known in the second.
        self.scopes.pop();
        self.scopes.push(params.iter().map(|name| (*name).to_owned()).zip(behind).collect());
        self.contexts.push(Context::Yield(inside));
        self.region(after);
        self.contexts.pop();
        self.emit(span, Action::Jump(top));
        exits.into_iter().for_each(|exit| self.land(exit));
        self.scopes.pop();
    }

    /// `scf.condition(%c) %a, %b : …`
    fn condition(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let names = operation.values(self.source);
        let (Some((condition, given)), Some(Context::Condition { results, after, .. })) =
            (names.split_first(), self.contexts.last())
        else {
            return self.beyond(span, "a `scf.condition` of something that is not followed");
        };
        let (results, after) = (results.clone(), after.clone());
        let from = self.named(given, span);
        let condition = self.leaf(condition, span);
        self.hand_over(&results, &from, span);
        self.hand_over(&after, &from, span);
        let exit = self.jump_unless(condition, span);
        if let Some(Context::Condition { exits, .. }) = self.contexts.last_mut() {
            exits.push(exit);
        }
    }

    /// `cf.br ^b(%x : t)`, `cf.cond_br %c, ^b(%x : t), ^c`
    fn jumps(&mut self, operation: &Operation<'s>) {
        let (source, span) = (self.source, operation.span);
        let mut targets: Vec<(&'s str, Vec<&'s str>)> = Vec::new();
        let mut condition = None;
        for word in &operation.words {
            let text = word.span.text(source);
            match (word.kind, targets.last_mut()) {
                (Kind::Block, _) => targets.push((text, Vec::new())),
                (Kind::Value, Some((_, given))) => given.push(text),
                (Kind::Value, None) if condition.is_none() => condition = Some(text),
                _ => {}
            }
        }
        if operation.is_generic {
            return self.generic_jumps(operation, targets);
        }
        match (condition, targets.as_slice()) {
            (None, [(to, given)]) => self.go(to, given, span),
            (Some(condition), [(then, first), (otherwise, second)]) => {
                let condition = self.leaf(condition, span);
                let other = self.jump_unless(condition, span);
                self.go(then, first, span);
                self.land(other);
                self.go(otherwise, second, span);
            }
            _ => self.beyond(span, format!("`{}`, as it is written here", operation.name)),
        }
    }

    /// `"cf.cond_br"(%c, %x, %y)[^b, ^c] <{operandSegmentSizes = array<i32: 1, 1, 1>}>`
    fn generic_jumps(&mut self, operation: &Operation<'s>, targets: Vec<(&'s str, Vec<&'s str>)>) {
        let (source, span) = (self.source, operation.span);
        let names = operation.values(source);
        let labels: Vec<&str> = targets.into_iter().map(|(label, _)| label).collect();
        match (labels.as_slice(), names.split_first()) {
            ([to], _) => self.go(to, &names, span),
            ([then, otherwise], Some((condition, given))) => {
                let sizes = operation.attribute(source, "operandSegmentSizes").unwrap_or_default();
                let sizes: Vec<usize> =
                    sizes.iter().take(9).filter_map(|word| word.span.text(source).parse().ok()).collect();
                let first = sizes.get(1).copied().unwrap_or(0).min(given.len());
                if given.len() != first + sizes.get(2).copied().unwrap_or(0) {
                    return self.beyond(span, format!("`{}`, as it is written here", operation.name));
                }
                let condition = self.leaf(condition, span);
                let other = self.jump_unless(condition, span);
                self.go(then, &given[..first], span);
                self.land(other);
                self.go(otherwise, &given[first..], span);
            }
            _ => self.beyond(span, format!("`{}`, as it is written here", operation.name)),
        }
    }

    fn go(&mut self, to: &'s str, given: &[&str], span: Span) {
        let from = self.named(given, span);
        let params = self.blocks.last().and_then(|blocks| blocks.params.get(to)).cloned().unwrap_or_default();
        self.hand_over(&params, &from, span);
        let at = self.jump(span);
        if let Some(blocks) = self.blocks.last_mut() {
            blocks.jumps.push((at, to));
        }
    }

    fn leave(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let given = operation.values(self.source);
        let from = self.named(&given, span);
        match self.contexts.last() {
            Some(Context::Entry) => self.emit(span, Action::Exit),
            Some(Context::Return { results, .. }) => {
                let results = results.clone();
                self.hand_over(&results, &from, span);
                let at = self.jump(span);
                if let Some(Context::Return { jumps, .. }) = self.contexts.last_mut() {
                    jumps.push(at);
                }
            }
            _ => self.beyond(span, "a return out of a region"),
        }
    }

    /// A call is inlined.
    fn call(&mut self, operation: &Operation<'s>) {
        let (source, span) = (self.source, operation.span);
        let symbol = operation.words.iter().find(|word| word.kind == Kind::Symbol);
        let Some(symbol) = symbol.map(|symbol| symbol.span.text(source)) else {
            return self.beyond(span, "a call of a function that is known only when it runs");
        };
        let callee = self.tree.function(symbol).filter(|callee| !callee.regions.is_empty());
        let Some(callee) = callee else {
            return self.beyond(span, format!("a call of `{symbol}`, whose code is not here"));
        };
        if self.calls.contains(&symbol) {
            return self.beyond(span, "a recursive call");
        }
        if self.calls.len() >= DEPTH {
            return self.beyond(span, "a call too deep inside other calls");
        }
        let given = operation.values(source);
        let params = self.tree.params(callee);
        if params.len() != given.len() {
            return self.beyond(span, "a call with other parameters than the function has");
        }
        let values = self.named(&given, span);
        let results = self.results(operation);
        let scopes = std::mem::take(&mut self.scopes);
        self.scopes.push(params.iter().map(|name| (*name).to_owned()).zip(values).collect());
        self.contexts.push(Context::Return { results, jumps: Vec::new() });
        self.calls.push(symbol);
        if let Some(region) = callee.regions.first() {
            self.region(region);
        }
        self.calls.pop();
        if let Some(Context::Return { jumps, .. }) = self.contexts.pop() {
            jumps.into_iter().for_each(|jump| self.land(jump));
        }
        self.scopes = scopes;
    }
}
