//! How long a frame takes. What it takes is printed, since machines differ:
//! `cargo test -p barcheck --bins frames -- --nocapture`.

use super::*;
use std::time::Instant;

/// Warps 0 to 15 meet again and again, until one of them goes.
fn long() -> Trace {
    let source = "target ptx; cta 512;\nwarps 0..15 as many { for i in 0..625 { bar.sync 1, 512; } }\n\
                  warp 15 as short { for i in 0..624 { bar.sync 1, 512; } }\n";
    let mut trace = trace_of("long.bar", source);
    // Three more of each kind, which do nothing: what has to be drawn is what counts.
    for index in 16..64 {
        let mut agent = trace.agents[(index % 15) as usize].clone();
        agent.index = index;
        agent.name = format!("warp {index}");
        let mut state = trace.initial.agents[0].clone();
        state.agent = index;
        trace.agents.push(agent);
        trace.initial.agents.push(state);
    }
    trace
}

#[test]
fn frames_of_ten_thousand_steps_and_sixty_four_agents() {
    let trace = long();
    assert!(trace.steps.len() >= 9_900, "{}", trace.steps.len());
    let begun = Instant::now();
    let mut viewer = viewer(&trace);
    println!("{} steps, {} agents: {:?} to begin", trace.steps.len(), trace.agents.len(), begun.elapsed());
    for (width, height) in [(80, 24), (160, 50), (300, 100)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory can be drawn on");
        let frames = 50;
        let begun = Instant::now();
        for _ in 0..frames {
            press(&mut viewer, &[KeyCode::Left]);
            terminal.draw(|frame| draw(frame, &mut viewer)).expect("memory can be drawn on");
        }
        println!("{width}x{height}: {:?} for a frame", begun.elapsed() / frames);
    }
    let begun = Instant::now();
    press(&mut viewer, &[KeyCode::Char('/'), KeyCode::Char('x')]);
    println!("{:?} for a letter of a search", begun.elapsed());
    assert!(screen(&mut viewer, 160, 50).contains("exit"));
}
