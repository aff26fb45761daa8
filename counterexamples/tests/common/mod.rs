//! Small protocols built by hand, and a plain search for what they violate.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use barcheck_counterexamples::{SourceInfo, Trace, What, build};
use barcheck_model::machine::{Choice, End, Finding, Machine, Options, Path, State, StepOutcome};
use barcheck_model::program::{
    AccessKind, Array, ArrayId, Code, Condition, Construct, ConstructId, ConstructKind, Expr, Local, LocalId,
    LocationId, NbarrierOp, Op, Pc, Place, Program, PtxKind, PtxOp, Role, RoleId, Scope, Semantics, Space,
    SplitKind, SplitOp, Target,
};
use barcheck_model::rule::{Level, Rule};

/// A block under construction: statements, each on a line of its own.
#[derive(Default)]
pub(crate) struct Block {
    name: Option<&'static str>,
    ops: Vec<(Op, String)>,
    locals: Vec<Local>,
    constructs: Vec<Construct>,
}

pub(crate) fn block(name: &'static str) -> Block {
    Block { name: Some(name), ..Block::default() }
}

impl Block {
    pub(crate) fn op(mut self, op: Op, text: &str) -> Self {
        self.ops.push((op, text.to_owned()));
        self
    }

    pub(crate) fn local(mut self, local: Local) -> Self {
        self.locals.push(local);
        self
    }

    pub(crate) fn sync(self, id: i64, count: i64) -> Self {
        self.ptx(PtxKind::Sync, Expr::Int(id), count, &format!("bar.sync {id}, {count}"))
    }

    pub(crate) fn arrive(self, id: i64, count: i64) -> Self {
        self.ptx(PtxKind::Arrive, Expr::Int(id), count, &format!("bar.arrive {id}, {count}"))
    }

    pub(crate) fn ptx(self, kind: PtxKind, id: Expr, count: i64, text: &str) -> Self {
        self.op(Op::from(PtxOp { kind, aligned: true, id, count: Some(Expr::Int(count)) }), text)
    }

    pub(crate) fn access(self, kind: AccessKind, text: &str) -> Self {
        self.op(Op::Access(kind, ArrayId(0), None, None), text)
    }

    pub(crate) fn signal(self, id: i64, kind: i64, producers: i64, consumers: i64) -> Self {
        let int = Expr::Int;
        let op = NbarrierOp::Signal {
            id: int(id),
            kind: int(kind),
            producers: int(producers),
            consumers: int(consumers),
        };
        self.op(Op::from(op), &format!("nbarrier.signal {id}, {kind}, {producers}, {consumers}"))
    }

    pub(crate) fn wait(self, id: i64) -> Self {
        self.op(Op::from(NbarrierOp::Wait { id: Expr::Int(id) }), &format!("nbarrier.wait {id}"))
    }

    pub(crate) fn split(self, kind: SplitKind, text: &str) -> Self {
        let semantics = Semantics::default();
        let op = SplitOp { kind, execution: Scope::Workgroup, memory: Scope::Workgroup, semantics };
        self.op(Op::from(op), text)
    }

    /// Everything so far, as often as the agent decides.
    pub(crate) fn while_open(mut self) -> Self {
        let construct = ConstructId(0);
        let test = Op::Test { construct, condition: Condition::Private };
        self = self.endless();
        self.ops.insert(1, (test, "while ?".to_owned()));
        self.constructs[0].end.0 += 1;
        self
    }

    /// Everything so far, for ever.
    pub(crate) fn endless(mut self) -> Self {
        let id = ConstructId(0);
        self.ops.insert(0, (Op::Enter(id), String::new()));
        self.ops.push((Op::Back(id, Pc(1)), String::new()));
        self.ops.push((Op::End(id), String::new()));
        let end = Pc(u32::try_from(self.ops.len() - 1).expect("small"));
        self.constructs.push(Construct { kind: ConstructKind::Loop, parent: None, end });
        self
    }

    fn code(mut self, first_line: u32) -> Code {
        self.ops.push((Op::Exit, "}".to_owned()));
        let lines = first_line..;
        let place = |(line, text): (u32, &String)| Place {
            line,
            column: 5,
            length: u32::try_from(text.len()).expect("small"),
        };
        let texts: Vec<String> = self.ops.iter().map(|(_, text)| text.clone()).collect();
        Code {
            places: lines.zip(&texts).map(place).collect(),
            empty: self.ops.len() == 1,
            ops: self.ops.into_iter().map(|(op, _)| op).collect(),
            texts,
            locals: self.locals,
            constructs: self.constructs,
        }
    }
}

/// A protocol with a scalar `x` in shared memory: each block with the number of agents that run it.
pub(crate) fn protocol(target: Target, blocks: Vec<(usize, Block)>) -> Arc<Program> {
    let mut agents = Vec::new();
    let mut roles = Vec::new();
    let mut line = 10;
    for (count, block) in blocks {
        agents.extend(std::iter::repeat_n(RoleId::from_index(roles.len()), count));
        let name = block.name.map(str::to_owned);
        let place = Place { line, column: 1, length: 5 };
        let code = block.code(line + 1);
        line += 10;
        roles.push(Role { name, code, place });
    }
    let group = u32::try_from(agents.len()).expect("small");
    let x = Array { name: "x".to_owned(), space: Space::Shared, first: LocationId(0), length: None };
    Arc::new(Program {
        target,
        threads: if target.has_lanes() { 32 * group } else { group },
        ctas: 1,
        registers: 0,
        repeats_count: false,
        subgroup_size: group,
        arrays: vec![x],
        objects: Vec::new(),
        roles,
        agents,
        sequences: Vec::new(),
    })
}

/// A shortest path to a violation of a rule, by breadth-first search over every interleaving.
pub(crate) fn search(program: &Arc<Program>, rule: Rule) -> (Path, Finding) {
    let mut machine = Machine::new(program.clone(), Options::default());
    let initial = machine.initial();
    let mut from: HashMap<State, Vec<Choice>> = HashMap::from([(initial.clone(), Vec::new())]);
    let mut frontier = VecDeque::from([initial]);
    while let Some(state) = frontier.pop_front() {
        let steps = from[&state].clone();
        let path = |steps: Vec<Choice>| Path { steps, cycle_from: None };
        if let Some(found) = machine.judge(&state).into_iter().find(|f| f.rule == rule) {
            return (path(steps), found);
        }
        for choice in choices(&machine, &state) {
            let mut longer = steps.clone();
            longer.push(choice);
            match machine.step(&state, choice) {
                StepOutcome::Error(end) => {
                    if let End::Violation(found) = *end
                        && found.rule == rule
                    {
                        return (path(longer), found);
                    }
                }
                StepOutcome::Noted(next, noted) => {
                    if let Some(found) = noted.into_iter().find(|f| f.rule == rule) {
                        return (path(longer), found);
                    }
                    extend(&mut from, &mut frontier, next.state, longer);
                }
                StepOutcome::Progress(next) => extend(&mut from, &mut frontier, next.state, longer),
                StepOutcome::Disabled | StepOutcome::NoEffect => {}
            }
        }
    }
    panic!("{rule} is not violated");
}

fn choices(machine: &Machine, state: &State) -> Vec<Choice> {
    let mut all = Vec::new();
    for agent in machine.agents() {
        for (index, made) in (0..).zip(machine.moves(state, agent)) {
            let picks = machine.picks(state, agent, made);
            let pick = |p| u32::try_from(p).expect("small");
            all.extend(picks.map(|p| Choice::of(agent, index, pick(p))));
        }
    }
    all
}

fn extend(
    from: &mut HashMap<State, Vec<Choice>>,
    frontier: &mut VecDeque<State>,
    next: State,
    steps: Vec<Choice>,
) {
    if !from.contains_key(&next) {
        from.insert(next.clone(), steps);
        frontier.push_back(next);
    }
}

/// Where the protocols come from, as far as the trace is concerned.
pub(crate) fn source() -> SourceInfo {
    SourceInfo {
        file: "examples/ring.bar".to_owned(),
        format: "bar".to_owned(),
        text: "// by hand\n".to_owned(),
        defines: [("ROUNDS".to_owned(), 4)].into(),
    }
}

/// The trace of a violation.
pub(crate) fn trace_of(program: &Arc<Program>, rule: Rule) -> Trace {
    let (path, finding) = search(program, rule);
    build(program.clone(), Options::default(), &source(), &path, What::Finding(&finding, Level::Error))
        .expect("the path leads there")
}

/// The trace of a violation in the state at the end of a path.
pub(crate) fn trace_along(program: &Arc<Program>, path: &Path, rule: Rule) -> Trace {
    let mut machine = Machine::new(program.clone(), Options::default());
    let mut state = machine.initial();
    for choice in &path.steps {
        let StepOutcome::Progress(next) = machine.step(&state, *choice) else { panic!("it goes on") };
        state = next.state;
    }
    let finding = machine.judge(&state).into_iter().find(|f| f.rule == rule).expect("it is violated there");
    build(program.clone(), Options::default(), &source(), path, What::Finding(&finding, Level::Error))
        .expect("the path leads there")
}

/// Three warps wait for a fourth, which has exited.
pub(crate) fn deadlock() -> Arc<Program> {
    // It never comes to what it would have to do.
    let absent = block("absent").arrive(2, 32).op(Op::Exit, "exit").sync(1, 128);
    protocol(Target::Ptx, vec![(3, block("worker").sync(1, 128)), (1, absent)])
}

/// Two warps write one location.
pub(crate) fn race() -> Arc<Program> {
    let writer = |name| block(name).access(AccessKind::Write, "write x");
    protocol(Target::Ptx, vec![(1, writer("left")), (1, writer("right").sync(1, 32))])
}

/// A warp waits for another that runs for ever.
pub(crate) fn lasso() -> Arc<Program> {
    let looping = block("looping").access(AccessKind::Atomic, "atomic x").endless();
    protocol(Target::Ptx, vec![(1, block("waiting").sync(1, 64)), (1, looping)])
}

/// A warp waits for another that comes when it decides to.
pub(crate) fn lasso_with_a_way_out() -> Arc<Program> {
    let looping = block("looping").access(AccessKind::Atomic, "atomic x").while_open().sync(1, 64);
    protocol(Target::Ptx, vec![(1, block("waiting").sync(1, 64)), (1, looping)])
}

/// The path into the loop of [`lasso`], once round it, and who is said to be stuck.
pub(crate) fn lasso_trace(program: &Arc<Program>) -> Trace {
    use barcheck_model::program::AgentId;
    let mut machine = Machine::new(program.clone(), Options::default());
    let mut state = machine.initial();
    let mut path = Path::default();
    let mut visited: Vec<State> = Vec::new();
    for agent in std::iter::once(0).chain(std::iter::repeat(1)) {
        if let Some(at) = visited.iter().position(|s| *s == state) {
            path.cycle_from = Some(at);
            break;
        }
        visited.push(state.clone());
        // Where there is a decision, the loop goes on.
        let moves = machine.moves(&state, AgentId(agent));
        let pick = u32::from(matches!(moves[0].choices, barcheck_model::agent::Choices::Open(_)));
        let choice = Choice::of(AgentId(agent), 0, pick);
        let StepOutcome::Progress(next) = machine.step(&state, choice) else { panic!("it goes on") };
        state = next.state;
        path.steps.push(choice);
    }
    let finding = Finding {
        rule: Rule::StuckAgent,
        agent: AgentId(0),
        pc: machine.stands_at(&state, AgentId(0)),
        agents: [AgentId(0)].into_iter().collect(),
        barrier: Some(barcheck_model::barrier::BarrierId(1)),
        detail: barcheck_model::machine::Detail::None,
    };
    build(program.clone(), Options::default(), &source(), &path, What::Finding(&finding, Level::Error))
        .expect("the path leads there")
}

/// A producer runs ahead of a consumer that has not waited.
pub(crate) fn lost_notification() -> Arc<Program> {
    let consumer = block("consumer").signal(1, 2, 1, 1).signal(1, 2, 1, 1).wait(1).wait(1);
    let producer = block("producer").signal(1, 1, 1, 1).signal(1, 1, 1, 1);
    protocol(Target::Nbarrier, vec![(1, consumer), (1, producer)])
}

/// One invocation leaves without waiting.
pub(crate) fn missing_wait() -> Arc<Program> {
    let arrive =
        |name| block(name).split(SplitKind::Arrive, "OpControlBarrierArriveINTEL Workgroup, Workgroup, None");
    let waits =
        arrive("patient").split(SplitKind::Wait, "OpControlBarrierWaitINTEL Workgroup, Workgroup, None");
    protocol(Target::SplitBarrier, vec![(1, waits), (1, arrive("hasty"))])
}

/// A warp fetches a count after an AND.
pub(crate) fn undefined_result() -> Arc<Program> {
    use barcheck_model::program::{BcuOp, BcuOperand, BcuRedOperands, LocalKind, Predicate, ReductionOp};
    let operand = |value| BcuOperand { value: Expr::Int(value), register: false };
    let red = BcuOp::Red {
        op: ReductionOp::And,
        operands: BcuRedOperands::Separate(operand(3), Some(operand(64))),
        predicate: Predicate { negated: false, value: None },
    };
    let fetch = BcuOp::Result { register: Some(LocalId(0)), predicate: None };
    let warp = block("all")
        .local(Local { name: "R4".to_owned(), kind: LocalKind::Register })
        .op(Op::from(red), "BAR.RED.AND 0x3, 0x40, ?")
        .op(Op::from(fetch), "B2R.RESULT R4");
    protocol(Target::Bcu, vec![(2, warp)])
}

/// Every case: its name, its protocol, its trace.
pub(crate) fn cases() -> Vec<(&'static str, Arc<Program>, Trace)> {
    let of = |name, program: Arc<Program>, rule| {
        let trace = trace_of(&program, rule);
        (name, program, trace)
    };
    let lasso = lasso();
    let cycle = lasso_trace(&lasso);
    vec![
        of("deadlock", deadlock(), Rule::Deadlock),
        of("race", race(), Rule::DataRace),
        of("lost notification", lost_notification(), Rule::LostNotification),
        of("reuse", lost_notification(), Rule::ReuseBeforeFree),
        of("missing wait", missing_wait(), Rule::MissingWait),
        of("undefined result", undefined_result(), Rule::UndefinedResult),
        ("lasso", lasso, cycle),
    ]
}
