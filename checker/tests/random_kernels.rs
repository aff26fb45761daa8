//! Random kernels: each is written twice, as a protocol and as PTX in the manner of a compiler, and the two
//! get the same verdict. What is extracted without the value of a parameter is verified only if the protocol
//! is verified for each value.
//!
//! `BARCHECK_RANDOM=N` sets the number of kernels, `BARCHECK_SEED=N` the first seed.

mod two;

use barcheck::{Budgets, LoadOptions, Options, Settings, Source, Verdict, decide};
use barcheck_model::rule::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const WARPS: u64 = 3;
/// Values of the parameter.
const VALUES: std::ops::Range<i64> = 0..4;

/// A generator of numbers (Steele, Lea and Flood, SplitMix, 2014).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

#[derive(Clone, Debug)]
enum Statement {
    /// A barrier, by its number; with a count; by the counter of the innermost loop; arriving only.
    Barrier {
        id: u64,
        by_counter: bool,
        count: Option<u64>,
        arrives: bool,
        is_aligned: bool,
    },
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// A loop that is asked at its end, or at its beginning.
    Loop {
        trips: Trips,
        asked_first: bool,
        body: Vec<Statement>,
    },
    Exit,
}

#[derive(Clone, Copy, Debug)]
enum Condition {
    Warp(u64),
    Lane(u64),
    Param(u64),
    /// The other parameter is not 0.
    Other,
    /// The counter of the innermost loop is odd.
    Odd,
    /// Something that is 1 or 2, by a branch on the warp, is 1.
    Chosen(u64),
}

#[derive(Clone, Copy, Debug)]
enum Trips {
    Known(u64),
    Param,
    Warp,
}

fn block(chance: &mut Chance, depth: u32, in_loop: bool) -> Vec<Statement> {
    let length = 1 + chance.below(3);
    (0..length).map(|_| statement(chance, depth, in_loop)).collect()
}

fn statement(chance: &mut Chance, depth: u32, in_loop: bool) -> Statement {
    match chance.below(if depth == 0 { 5 } else { 10 }) {
        0..=4 => {
            let count = match chance.below(4) {
                0 => None,
                1 => Some(64),
                _ => Some(96),
            };
            let arrives = count.is_some() && chance.below(4) == 0;
            let by_counter = in_loop && chance.below(3) == 0;
            let is_aligned = chance.below(5) > 0;
            Statement::Barrier { id: chance.below(3), by_counter, count, arrives, is_aligned }
        }
        5..=7 => {
            let condition = match chance.below(12) {
                0..=3 => Condition::Warp(chance.below(WARPS)),
                4 => Condition::Lane(1 + chance.below(31)),
                5..=7 => Condition::Param(chance.below(3)),
                8 => Condition::Chosen(chance.below(WARPS)),
                _ if in_loop => Condition::Odd,
                _ => Condition::Warp(1),
            };
            let then = block(chance, depth - 1, in_loop);
            let otherwise = if chance.below(2) == 0 { Vec::new() } else { block(chance, depth - 1, in_loop) };
            Statement::If(condition, then, otherwise)
        }
        8 => {
            let trips = match chance.below(5) {
                0 | 1 => Trips::Known(1 + chance.below(3)),
                2 | 3 => Trips::Param,
                _ => Trips::Warp,
            };
            let body = block(chance, depth - 1, true);
            Statement::Loop { trips, asked_first: chance.below(2) == 0, body }
        }
        _ => match chance.below(4) {
            0 => Statement::Exit,
            _ => {
                Statement::Barrier { id: 0, by_counter: false, count: None, arrives: false, is_aligned: true }
            }
        },
    }
}

/// Loops over the parameter one behind the other, some of which one may go past, for one warp and for the
/// others: perhaps with a slip.
fn phased(chance: &mut Chance) -> Vec<Statement> {
    let one = phases(chance, 2);
    let mut other = one.clone();
    if chance.below(2) == 0 {
        slip(chance, &mut other);
    }
    vec![Statement::If(Condition::Warp(0), one, other)]
}

fn phases(chance: &mut Chance, depth: u32) -> Vec<Statement> {
    let length = 1 + chance.below(3);
    (0..length).map(|_| phase(chance, depth)).collect()
}

fn phase(chance: &mut Chance, depth: u32) -> Statement {
    match chance.below(if depth == 0 { 6 } else { 10 }) {
        0..=3 => {
            let asked_first = chance.below(4) > 0;
            Statement::Loop { trips: Trips::Param, asked_first, body: vec![meeting(chance)] }
        }
        4 | 5 => meeting(chance),
        9 => Statement::If(Condition::Other, vec![Statement::Exit], Vec::new()),
        number => {
            let condition = if number == 6 { Condition::Param(chance.below(3)) } else { Condition::Other };
            let otherwise = if chance.below(2) == 0 { Vec::new() } else { phases(chance, depth - 1) };
            Statement::If(condition, phases(chance, depth - 1), otherwise)
        }
    }
}

fn meeting(chance: &mut Chance) -> Statement {
    let id = chance.below(3);
    Statement::Barrier { id, by_counter: false, count: None, arrives: false, is_aligned: true }
}

/// Leaves out a statement, or adds one.
fn slip(chance: &mut Chance, statements: &mut Vec<Statement>) {
    let at = chance.below(statements.len() as u64) as usize;
    match &mut statements[at] {
        Statement::If(_, inside, _) if chance.below(3) > 0 => slip(chance, inside),
        _ if chance.below(2) == 0 => statements.insert(at, phase(chance, 0)),
        _ => drop(statements.remove(at)),
    }
}

fn word(arrives: bool, is_aligned: bool) -> &'static str {
    match (arrives, is_aligned) {
        (false, true) => "bar.sync",
        (true, true) => "bar.arrive",
        (false, false) => "barrier.sync",
        (true, false) => "barrier.arrive",
    }
}

/// The kernel as a protocol.
fn protocol(statements: &[Statement], threads: u64) -> String {
    let mut text = format!("target ptx;\ncta {threads};\nparam n = 0;\nparam m = 0;\nwarps 0..{WARPS} {{\n");
    in_protocol(statements, &mut Vec::new(), &mut 0, &mut text);
    text.push_str("bar.sync 15;\n}\n");
    text
}

fn in_protocol(statements: &[Statement], loops: &mut Vec<u64>, names: &mut u64, text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Barrier { id, by_counter, count, arrives, is_aligned } => {
                let word = word(*arrives, *is_aligned);
                let id = match loops.last().filter(|_| *by_counter) {
                    Some(counter) => format!("{id} + i{counter} % 2"),
                    None => id.to_string(),
                };
                let count = count.map(|count| format!(", {count}")).unwrap_or_default();
                let _ = writeln!(text, "{word} {id}{count};");
            }
            Statement::If(condition, then, otherwise) => {
                let condition = match condition {
                    Condition::Warp(number) => format!("warp == {number}"),
                    Condition::Lane(number) => format!("lane < {number}"),
                    Condition::Param(number) => format!("n > {number}"),
                    Condition::Other => "m > 0".to_owned(),
                    Condition::Odd => format!("i{} % 2 == 1", loops.last().copied().unwrap_or(0)),
                    Condition::Chosen(number) => format!("warp < {number}"),
                };
                let _ = writeln!(text, "if {condition} {{");
                in_protocol(then, loops, names, text);
                text.push_str("} else {\n");
                in_protocol(otherwise, loops, names, text);
                text.push_str("}\n");
            }
            Statement::Loop { trips, asked_first, body } => {
                let trips = match trips {
                    Trips::Known(number) => number.to_string(),
                    Trips::Param => "n".to_owned(),
                    Trips::Warp => "(warp + 1)".to_owned(),
                };
                let name = *names;
                *names += 1;
                let _ = writeln!(text, "let i{name} = 0;\nloop {{");
                if *asked_first {
                    let _ = writeln!(text, "if i{name} >= {trips} {{ break; }}");
                }
                loops.push(name);
                in_protocol(body, loops, names, text);
                loops.pop();
                let _ = writeln!(text, "i{name} = i{name} + 1;");
                if !*asked_first {
                    let _ = writeln!(text, "if i{name} >= {trips} {{ break; }}");
                }
                text.push_str("}\n");
            }
            // Where nothing is left to do, lanes that jump to the end cannot be told from lanes that meet
            // there.
            Statement::Exit => text.push_str("bar.sync 14;\nexit;\n"),
        }
    }
}

/// The kernel in PTX.
struct Compiler {
    text: String,
    labels: u64,
    registers: u64,
    predicates: u64,
}

/// The kernel as a compiler might leave it behind.
fn kernel(statements: &[Statement], threads: u64) -> String {
    let mut compiler = Compiler { text: String::new(), labels: 0, registers: 20, predicates: 0 };
    compiler.list(statements, &mut Vec::new());
    format!(
        ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n, .param .u32 m)\n.reqntid {threads}\n{{\n.reg .pred %p<999>;\n\
         .reg .b32 %r<999>;\nmov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nand.b32 %r3, %r1, 31;\n\
         ld.param.u32 %r4, [n];\nld.param.u32 %r6, [m];\nadd.s32 %r5, %r2, 1;\n{}bar.sync 15;\nret;\n}}\n",
        compiler.text
    )
}

impl Compiler {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn next(counter: &mut u64) -> u64 {
        *counter += 1;
        *counter
    }

    fn predicate(&mut self) -> u64 {
        Self::next(&mut self.predicates)
    }

    fn register(&mut self) -> u64 {
        Self::next(&mut self.registers)
    }

    fn list(&mut self, statements: &[Statement], loops: &mut Vec<u64>) {
        for statement in statements {
            match statement {
                Statement::Barrier { id, by_counter, count, arrives, is_aligned } => {
                    let word = word(*arrives, *is_aligned);
                    let id = match loops.last().filter(|_| *by_counter) {
                        Some(counter) => {
                            let (odd, sum) = (self.register(), self.register());
                            self.line(&format!(
                                "and.b32 %r{odd}, %r{counter}, 1;\nadd.s32 %r{sum}, %r{odd}, {id};"
                            ));
                            format!("%r{sum}")
                        }
                        None => id.to_string(),
                    };
                    let count = count.map(|count| format!(", {count}")).unwrap_or_default();
                    self.line(&format!("{word} {id}{count};"));
                }
                Statement::If(condition, then, otherwise) => self.branch(*condition, then, otherwise, loops),
                Statement::Loop { trips, asked_first, body } => {
                    self.repeat(*trips, *asked_first, body, loops);
                }
                Statement::Exit => self.line("bar.sync 14;\nret;"),
            }
        }
    }

    fn branch(
        &mut self,
        condition: Condition,
        then: &[Statement],
        otherwise: &[Statement],
        loops: &mut Vec<u64>,
    ) {
        let (p, label) = (self.predicate(), Self::next(&mut self.labels));
        match condition {
            Condition::Warp(number) => self.line(&format!("setp.ne.u32 %p{p}, %r2, {number};")),
            Condition::Lane(number) => self.line(&format!("setp.ge.u32 %p{p}, %r3, {number};")),
            Condition::Param(number) => self.line(&format!("setp.le.s32 %p{p}, %r4, {number};")),
            Condition::Other => self.line(&format!("setp.le.s32 %p{p}, %r6, 0;")),
            Condition::Odd => {
                let (odd, counter) = (self.register(), loops.last().copied().unwrap_or(0));
                self.line(&format!("and.b32 %r{odd}, %r{counter}, 1;\nsetp.eq.s32 %p{p}, %r{odd}, 0;"));
            }
            Condition::Chosen(number) => {
                let (r, q) = (self.register(), self.predicate());
                self.line(&format!("setp.lt.u32 %p{q}, %r2, {number};\nmov.u32 %r{r}, 2;"));
                self.line(&format!("@!%p{q} bra $C{label};\nmov.u32 %r{r}, 1;\n$C{label}:"));
                self.line(&format!("setp.ne.s32 %p{p}, %r{r}, 1;"));
            }
        }
        self.line(&format!("@%p{p} bra $E{label};"));
        self.list(then, loops);
        self.line(&format!("bra.uni $J{label};\n$E{label}:"));
        self.list(otherwise, loops);
        self.line(&format!("$J{label}:"));
    }

    fn repeat(&mut self, trips: Trips, asked_first: bool, body: &[Statement], loops: &mut Vec<u64>) {
        let (counter, label) = (self.register(), Self::next(&mut self.labels));
        let bound = match trips {
            Trips::Known(number) => number.to_string(),
            Trips::Param => "%r4".to_owned(),
            Trips::Warp => "%r5".to_owned(),
        };
        self.line(&format!("mov.u32 %r{counter}, 0;"));
        // A compiler asks once before the loop, and then at the end of each iteration.
        if asked_first {
            let p = self.predicate();
            self.line(&format!("setp.ge.s32 %p{p}, %r{counter}, {bound};\n@%p{p} bra $X{label};"));
        }
        self.line(&format!("$L{label}:"));
        loops.push(counter);
        self.list(body, loops);
        loops.pop();
        let p = self.predicate();
        self.line(&format!("add.s32 %r{counter}, %r{counter}, 1;\nsetp.lt.s32 %p{p}, %r{counter}, {bound};"));
        self.line(&format!("@%p{p} bra $L{label};\n$X{label}:"));
    }
}

/// Whether some lanes of a warp exit inside a branch or loop and others do not. Those wait behind a branch in
/// a protocol, and not in a kernel, where all of them meet at the end alone.
fn parts_for_good(statements: &[Statement], is_apart: bool) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Exit => is_apart,
        Statement::If(condition, then, otherwise) => {
            let is_apart = is_apart || matches!(condition, Condition::Lane(_));
            parts_for_good(then, is_apart) || parts_for_good(otherwise, is_apart)
        }
        Statement::Loop { body, .. } => parts_for_good(body, is_apart),
        Statement::Barrier { .. } => false,
    })
}

/// The verdict, and the rules that are violated.
type Answer = (Verdict, BTreeSet<&'static str>);

fn answer(name: &str, text: &str, defines: BTreeMap<String, i64>) -> Answer {
    let budgets = Budgets { max_states: Some(60_000), ..Budgets::default() };
    let settings = Settings { all: true, budgets, ..Settings::default() };
    let options = Options { settings, load: LoadOptions { defines }, ..Options::default() };
    let decision = decide(&Source::new(name, text.as_bytes()), &options);
    assert_ne!(decision.verdict, Verdict::Error, "{:?}\n{text}", decision.reason);
    let errors = decision.findings.iter().filter(|found| found.level == Level::Error);
    (decision.verdict, errors.map(|found| found.rule.name()).collect())
}

fn of(names: [&str; 2], values: [i64; 2]) -> BTreeMap<String, i64> {
    names.map(str::to_owned).into_iter().zip(values).collect()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Holds what is found of the kernel of statements against what is found of their protocol: how many were
/// verified, violated and undecided, and whether it is verified for all values.
fn judged(statements: &[Statement], seed: u64, others: std::ops::Range<i64>) -> [u32; 4] {
    let (mut verified, mut violated, mut unknown) = (0, 0, 0);
    // The last warp may be a partial one.
    let threads = if seed.is_multiple_of(4) { WARPS * 32 - 12 } else { WARPS * 32 };
    let (protocol, kernel) = (protocol(statements, threads), kernel(statements, threads));
    let without = answer("k.ptx", &kernel, BTreeMap::new());
    for (n, m) in VALUES.flat_map(|n| others.clone().map(move |m| (n, m))) {
        let expected = answer("k.bar", &protocol, of(["n", "m"], [n, m]));
        let found = answer("k.ptx", &kernel, of(["param.n", "param.m"], [n, m]));
        let is_alike =
            if parts_for_good(statements, false) { found.0 == expected.0 } else { found == expected };
        assert!(
            is_alike || found.0 == Verdict::Inconclusive || expected.0 == Verdict::Inconclusive,
            "seed {seed}, n = {n}, m = {m}: {found:?}, not {expected:?}\n{protocol}\n{kernel}"
        );
        match expected.0 {
            Verdict::Verified => verified += 1,
            Verdict::Violated => violated += 1,
            _ => unknown += 1,
        }
        assert!(
            without.0 != Verdict::Verified || expected.0 != Verdict::Violated,
            "seed {seed}: verified, but not for n = {n}, m = {m}: {expected:?}\n{protocol}\n{kernel}"
        );
    }
    [verified, violated, unknown, u32::from(without.0 == Verdict::Verified)]
}

fn compared(most: u64, least: u32, of_seed: impl Fn(u64) -> [u32; 4] + Sync) {
    let first = number("BARCHECK_SEED", 0);
    let all = two::of_seeds(first..first + number("BARCHECK_RANDOM", most), of_seed);
    let sum = |of: usize| all.iter().map(|counts| counts[of]).sum::<u32>();
    let [verified, violated, unknown, whole] = [0, 1, 2, 3].map(sum);
    println!("{verified} verified, {violated} violated, {unknown} undecided; {whole} for every value");
    assert!(verified > 50 && violated > 50 && whole > least, "{verified} {violated} {whole}");
}

#[test]
fn a_kernel_gets_the_verdict_of_the_protocol_that_it_was_compiled_from() {
    compared(300, 10, |seed| judged(&block(&mut Chance(seed), 3, false), seed, 0..1));
}

#[test]
fn a_kernel_of_several_passes_over_one_number_gets_the_verdict_of_its_protocol() {
    compared(200, 50, |seed| judged(&phased(&mut Chance(seed)), seed, 0..2));
}
