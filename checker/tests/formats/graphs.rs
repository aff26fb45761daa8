//! Protocols as graphs: as many nodes and arrows as the model has positions and ways between them.

use crate::dot::Graphs;
use crate::{EVIL, PROTOCOLS};
use barcheck_counterexamples::{GraphError, GraphView, graph};
use barcheck_model::Patience;
use barcheck_model::machine::{ConfigId, Label, Machine, NotUnfolded, Options};
use barcheck_model::program::Program;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Graphviz takes long for larger ones.
const MOST: usize = 40;
/// Positions that all automata together have at least where they are too large together.
const TOGETHER: usize = 200;

/// What the model says: positions and ways between them in all automata, kinds of agents, and which kind uses
/// which barrier.
#[derive(Default)]
struct Model {
    positions: usize,
    ways: usize,
    kinds: usize,
    uses: BTreeSet<(usize, u32)>,
}

impl Model {
    /// What each view should have.
    fn expect(
        &self,
        graphs: &mut Graphs,
        name: &str,
        draw: impl Fn(GraphView) -> Result<String, GraphError>,
    ) {
        let draw = |view| draw(view).expect("it is small");
        let barriers: BTreeSet<u32> = self.uses.iter().map(|(_, barrier)| *barrier).collect();
        graphs.add(name, draw(GraphView::Automata), self.positions, self.ways);
        graphs.add(name, draw(GraphView::Usage), self.kinds + barriers.len(), self.uses.len());
        let waits = draw(GraphView::Waits);
        let arrow = |line: &&str| {
            let mut words = line.split_whitespace();
            words.next().is_some_and(|from| from.parse::<usize>().is_ok()) && words.next() == Some("->")
        };
        let arrows = waits.lines().filter(arrow).count();
        graphs.add(name, waits, self.kinds, arrows);
    }
}

/// `None` where an automaton is too large or cannot be listed.
fn model(program: &Arc<Program>) -> Option<Model> {
    let mut machine = Machine::new(program.clone(), Options::default());
    machine.merge_alike(MOST, &mut || true);
    let mut model = Model::default();
    let mut seen = BTreeSet::new();
    for agent in machine.agents() {
        let class = machine.class(agent);
        if !seen.insert(class) {
            continue;
        }
        let automaton = machine.unfolded(agent, MOST, &mut || true).ok()?;
        model.kinds += 1;
        model.positions += automaton.len();
        let ways = automaton.labelled_edges();
        let ways = ways.iter().map(|(from, label, to)| (from, to, matches!(label, Label::Released(_))));
        model.ways += ways.collect::<BTreeSet<_>>().len();
        let ids = (0..automaton.len()).map(|id| ConfigId(u32::try_from(id).expect("small")));
        let moves = ids.flat_map(|id| automaton.moves(id));
        model.uses.extend(moves.filter_map(|made| Some((class, made.action.barrier()?.0))));
    }
    Some(model)
}

#[test]
fn graphs_of_the_library_have_what_the_model_has() {
    let mut graphs = Graphs::default();
    let mut drawn = 0;
    for (name, program) in PROTOCOLS.iter() {
        let draw = |view| graph(program.clone(), Options::default(), name, view, MOST, &Patience::default());
        let model = model(program);
        if draw(GraphView::Automata).is_err() {
            // All automata together may be too large as well.
            assert!(model.is_none_or(|model| model.positions > TOGETHER), "{name}");
            continue;
        }
        let model = model.unwrap_or_else(|| panic!("{name} is drawn"));
        drawn += 1;
        model.expect(&mut graphs, name, draw);
    }
    assert!(drawn > 150, "{drawn}");
    graphs.check();
}

#[test]
fn who_waits_for_whom_is_who_waits_where_another_arrives() {
    let arrows = |file: &str| {
        let (_, program) = PROTOCOLS.iter().find(|(name, _)| name == file).expect("it is there");
        let dot =
            graph(program.clone(), Options::default(), "ring", GraphView::Waits, 1000, &Patience::default())
                .expect("it is small");
        let arrows = dot.lines().map(str::trim).filter(|line| line.contains("->"));
        arrows.map(str::to_owned).collect::<Vec<_>>()
    };
    let (forth, back) = (r#"0 -> 1 [ label="b1", ]"#, r#"1 -> 0 [ label="b0", ]"#);
    assert_eq!(arrows("ptx/producer_consumer.bar"), [forth, back]);
    // The consumer never says that a slot is free: nobody arrives where the producer waits.
    assert_eq!(arrows("ptx/ring_never_frees.bar"), [r#"1 -> 0 [ label="b1 and b3", ]"#]);
}

#[test]
fn an_automaton_that_does_not_stay_small_is_said_to() {
    let endless = "target ptx; cta 32; warp 0 { let n = 0; loop { bar.sync n * n % 2, 32; n = n + 1; } }";
    let load = |text: &str| {
        let loaded = barcheck_specs::bar::load(text.as_bytes(), &Default::default());
        Arc::new(loaded.expect("it is well formed").program)
    };
    let error =
        graph(load(endless), Options::default(), "endless", GraphView::Usage, 1000, &Patience::default())
            .expect_err("it is endless");
    assert_eq!(error.why, NotUnfolded::TooLarge);
    assert!(error.to_string().contains("warp 0") && error.to_string().contains("1000"), "{error}");
}

#[test]
fn a_register_that_holds_a_barriers_state_is_drawn_holding_one() {
    let reads = "target bcu; cta 64; warps 0..2 { B2R.BAR R1, 0x1; BAR.SYNC 0x2, 0x40; R2B.BAR 0x1, R1; }";
    let loaded = barcheck_specs::bar::load(reads.as_bytes(), &Default::default()).expect("it is well formed");
    let drawn = graph(
        Arc::new(loaded.program),
        Options::default(),
        "reads",
        GraphView::Automata,
        1000,
        &Patience::default(),
    );
    let drawn = drawn.expect("it is small");
    // From the step after the reading to the one that puts it back.
    assert_eq!(drawn.matches("R1 = state").count(), 3, "{drawn}");
}

#[test]
fn names_in_a_protocol_are_text_whatever_they_are() {
    let mut graphs = Graphs::default();
    for evil in EVIL.iter() {
        for (_, honest) in PROTOCOLS.iter().step_by(40) {
            let Some(model) = model(honest) else { continue };
            let mut program = Program::clone(honest);
            for role in &mut program.roles {
                role.name = Some(evil.clone());
                role.code.texts.iter_mut().for_each(|text| text.clone_from(evil));
                role.code.locals.iter_mut().for_each(|local| local.name.clone_from(evil));
            }
            let program = Arc::new(program);
            model.expect(&mut graphs, evil, |view| {
                graph(program.clone(), Options::default(), evil, view, MOST, &Patience::default())
            });
        }
    }
    graphs.check();
}
