//! One execution: a thread for each agent, which runs the agent's program on the executable barriers.
//!
//! What an agent does next is for the model's agents to say ([`barcheck_model::agent`]), which know nothing
//! of barriers; what becomes of it is for the barriers of [`crate::barriers`] to say, which know nothing of
//! the model.

use super::choices::Point;
use super::memory::Memory;
use super::operands::Reader;
use super::plan::Plan;
use super::record::Ending;
use super::systems::{Done, Seat, Stopped, System};
use crate::barriers::Runtime;
use barcheck_model::agent::{self, Action, Config, Context, Move, Outcome, ProxyAction};
use barcheck_model::program::{AgentId, Op, SequenceId};
use barcheck_model::rule::{Level, Rule};
use std::collections::HashMap;
use std::sync::Arc;

/// Runs all agents once.
pub(super) fn execute<R: Runtime>(plan: &Arc<Plan>) {
    let agents = plan.program.agents.len();
    plan.record.begin(agents);
    let memory = Arc::new(Memory::<R>::new(plan.program.locations()));
    let system = System::<R>::new(plan, &memory);
    let threads: Vec<_> = (0..agents)
        .filter(|index| !system.has_exited(*index))
        .map(|index| {
            let (plan, system, memory) = (Arc::clone(plan), Arc::clone(&system), Arc::clone(&memory));
            R::spawn(move || Runner::new(&plan, &system, &memory, AgentId::from_index(index)).run())
        })
        .collect();
    system.land_all(plan, || stop_if_ended(plan));
    for thread in threads {
        // Whatever an agent panics with, the hook has ended the process before.
        let _ = R::join(thread);
    }
    system.finish(&plan.record);
    let target = plan.program.target;
    plan.record.finish(|rule| rule.default_level(target) == Level::Error);
    stop_if_ended(plan);
}

/// Ends the exploration, by way of the panic hook, if this execution has ended for a reason that ends it all.
fn stop_if_ended(plan: &Plan) {
    if let Some(ending) = plan.record.ending() {
        panic!("the execution has ended: {ending:?}");
    }
}

/// An agent on its thread.
struct Runner<'a, R: Runtime> {
    plan: &'a Plan,
    context: Context<'a>,
    system: &'a System<R>,
    seat: Seat<R>,
    memory: &'a Memory<R>,
    config: Config,
    /// Private decisions made so far.
    decisions: u32,
    /// Uniform decisions made so far.
    uniform: HashMap<SequenceId, u32>,
}

impl<'a, R: Runtime> Runner<'a, R> {
    fn new(plan: &'a Plan, system: &'a System<R>, memory: &'a Memory<R>, agent: AgentId) -> Self {
        let role = plan.program.agents[agent.index()];
        let code = &plan.program.roles[role.index()].code;
        let context = Context {
            program: &plan.program,
            code,
            facts: &plan.facts[role.index()],
            role,
            agent,
            watched: None,
            trail: None,
            patience: &plan.patience,
        };
        let config = agent::initial(context);
        let seat = system.seat(agent);
        Self { plan, context, system, seat, memory, config, decisions: 0, uniform: HashMap::new() }
    }

    fn run(mut self) {
        self.make_steps();
        self.seat.end();
        if self.plan.record.rests() {
            self.system.abort();
        }
        stop_if_ended(self.plan);
    }

    /// Makes steps until the agent has exited or the execution ends.
    fn make_steps(&mut self) {
        let mut steps = 0;
        while !self.config.has_exited() {
            if steps == self.plan.most_steps {
                if self.plan.must_end {
                    let who = self.context.agent.0;
                    self.give_up(format!(
                        "agent {who} goes on after {steps} steps: loom explores only what ends"
                    ));
                }
                self.plan.record.cut();
                self.system.abort();
                return;
            }
            steps += 1;
            if self.plan.record.ending().is_some() || self.step().is_err() {
                return;
            }
        }
    }

    fn give_up(&self, why: String) {
        self.plan.record.end(Ending::Unfit(why));
    }

    /// One step of the agent. The error says that the execution has ended.
    fn step(&mut self) -> Result<(), Ended> {
        let who = self.context.agent.0;
        if self.config.fault.is_some() {
            return Err(
                self.unfit(format!("agent {who} comes to an evaluation error, which `verify` explains"))
            );
        }
        let moves = agent::moves(self.context, &self.config);
        // Others may wait where those who can go on will join them.
        let together = self.config.fragments.len() == 1 || self.seat.may_separate() && moves.len() == 1;
        let Some(made) = moves.first().filter(|made| together && !matches!(made.action, Action::Park(..)))
        else {
            let name = self.context.program.agent_name(self.context.agent);
            let why = format!("the lanes of {name} separate, and a warp is one thread here");
            return Err(self.unfit(why));
        };
        let pick = self.pick(made);
        self.plan.record.picked(self.context.agent, pick);
        self.act(made, pick)
    }

    fn unfit(&self, why: String) -> Ended {
        self.give_up(why);
        Ended
    }

    /// The choice that a move leaves open.
    fn pick(&mut self, made: &Move) -> u32 {
        let (point, options) = match made.choices {
            agent::Choices::One => return 0,
            agent::Choices::Open(options) => {
                self.decisions += 1;
                (Point::Private(self.context.agent, self.decisions), options)
            }
            agent::Choices::Uniform(sequence) => {
                let made = self.uniform.entry(sequence).or_default();
                *made += 1;
                (Point::Uniform(sequence, *made), 2)
            }
        };
        u32::try_from(self.plan.choices.pick(point, options)).unwrap_or(u32::MAX)
    }

    fn act(&mut self, made: &Move, pick: u32) -> Result<(), Ended> {
        let agent = self.context.agent;
        let record = &self.plan.record;
        match &made.action {
            Action::Fault(_) => {
                let why = format!("agent {} comes to an evaluation error, which `verify` explains", agent.0);
                return Err(self.unfit(why));
            }
            Action::NotModelled(_) => {
                let why = format!("agent {} does what is not modelled, which `verify` explains", agent.0);
                return Err(self.unfit(why));
            }
            Action::Spin => {
                return Err(self.unfit(format!("agent {} is in a local loop without end", agent.0)));
            }
            Action::Assert(false) => {
                record.violation(agent, Rule::Assertion);
                return Err(Ended);
            }
            Action::Access(kind, locations) => {
                match self.seat.access(record, agent, locations) {
                    Err(Stopped::Refused | Stopped::Aborted) => return Err(Ended),
                    Err(Stopped::Unfit(why)) => return Err(self.unfit(why)),
                    Ok(()) => {}
                }
                if self.memory.access(*kind, locations) {
                    record.note(Rule::DataRace);
                }
            }
            Action::Proxy(ProxyAction::Begin(..)) => {
                let text = &self.context.code.texts[made.pc.index()];
                let why =
                    format!("`{text}` copies by a proxy of its own, and threads have one path to memory");
                return Err(self.unfit(why));
            }
            Action::Decide
            | Action::Assert(true)
            | Action::Fence(_)
            | Action::Proxy(_)
            | Action::MemoryBarrier(..) => {
                record.step(agent);
            }
            _ => return self.barrier(made, pick),
        }
        self.follow(made, pick, Outcome::Pass);
        Ok(())
    }

    fn follow(&mut self, made: &Move, pick: u32, outcome: Outcome) {
        self.config = agent::follow(self.context, &self.config, made, pick, outcome);
    }

    /// An instruction for the executable barriers: everything that has to do with them, fences and exits
    /// included.
    fn barrier(&mut self, made: &Move, pick: u32) -> Result<(), Ended> {
        let op = &self.context.code.ops[made.pc.index()];
        let (program, agent) = (self.context.program, self.context.agent);
        let reader = Reader { program, agent, config: &self.config, fragment: made.fragment };
        let exits = matches!(op, Op::Exit);
        if exits && reader.is_apart() {
            self.plan.record.step(agent);
            self.follow(made, pick, Outcome::Pass);
            return Ok(());
        }
        let done = self.seat.execute(reader, op, &made.action, pick);
        match done {
            // The barriers have told the record what it was.
            Err(Stopped::Refused | Stopped::Aborted) => Err(Ended),
            Err(Stopped::Unfit(why)) => Err(self.unfit(why)),
            Ok(_) if let Action::Refuse(rule, _) = made.action => {
                let what = format!(
                    "agent {} violates `{rule}` at its step, and the barriers accept it",
                    reader.agent.0
                );
                self.plan.record.end(Ending::Contradiction(what));
                Err(Ended)
            }
            Ok(Done::Passed) => {
                self.follow(made, pick, Outcome::Pass);
                Ok(())
            }
            Ok(Done::Tested(complete)) => {
                self.follow(made, pick, Outcome::Tested(complete));
                Ok(())
            }
            Ok(Done::Read(value)) => {
                self.follow(made, pick, Outcome::Read(value));
                Ok(())
            }
            Ok(Done::Fetched(result)) => {
                if let Action::Fetch(expected) = made.action
                    && result.is_some()
                    && expected != result
                {
                    let what =
                        format!("agent {} fetches {result:?}, and {expected:?} in the model", reader.agent.0);
                    self.plan.record.end(Ending::Contradiction(what));
                    return Err(Ended);
                }
                self.follow(made, pick, Outcome::Pass);
                Ok(())
            }
            Ok(Done::Waited(result)) if !exits => {
                self.follow(made, pick, Outcome::Block);
                self.config = agent::release(self.context, &self.config, result);
                Ok(())
            }
            Ok(Done::Waited(_)) => Err(self.unfit("an exit that waits".to_owned())),
        }
    }
}

/// The execution has ended; the record says why.
struct Ended;
