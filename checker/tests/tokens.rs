//! States of arrivals that a warp keeps in several places name one phase, or are not modelled.

use barcheck::{Decision, Options, Source, Verdict, decide};

fn decided(body: &str) -> Decision {
    let text = format!(
        "target ptx; cta 64; shared x[2]; mbarrier b count 64;\nwarps 0..2 {{ let t = 0; let u = 0;\n{body}\n}}\n"
    );
    let decision = decide(&Source::new("tokens.bar", text.as_bytes()), &Options::default());
    assert!(decision.defects.is_empty(), "{:?}", decision.defects);
    decision
}

/// How the verdict is explained, if it is none.
fn why(decision: &Decision) -> &str {
    decision.reason.as_ref().map_or("", |reason| reason.what.as_str())
}

#[test]
fn lanes_that_arrive_one_after_the_other_keep_tokens_of_one_phase() {
    let apart = "for i in 0..3 { write x[warp];
        if lane == 0 { t = mbarrier.arrive b; } else { t = mbarrier.arrive b; }
        mbarrier.wait b, t; read x[1 - warp]; u = 0;
        t = mbarrier.arrive b; mbarrier.wait b, t; }";
    let decision = decided(apart);
    assert_eq!(decision.verdict, Verdict::Verified, "{:?}", decision.reason);
}

#[test]
fn lanes_apart_whose_sibling_warp_does_not_come_wait_for_ever() {
    let short = "if warp == 0 {
        if lane == 0 { t = mbarrier.arrive b; } else { t = mbarrier.arrive b; }
        mbarrier.wait b, t; }";
    let decision = decided(short);
    let rules: Vec<&str> = decision.findings.iter().map(|found| found.rule.name()).collect();
    assert_eq!((decision.verdict, rules), (Verdict::Violated, vec!["deadlock"]));
}

#[test]
fn a_token_of_a_phase_before_that_is_kept_beside_is_not_modelled() {
    let kept = "t = mbarrier.arrive b; mbarrier.wait b, t;
        u = mbarrier.arrive b; mbarrier.wait b, u; mbarrier.wait b, t;";
    let decision = decided(kept);
    assert_eq!(decision.verdict, Verdict::Inconclusive, "{decision:?}");
    assert!(why(&decision).contains("tokens of several phases"), "{}", why(&decision));
}
