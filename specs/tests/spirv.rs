//! SPIR-V that is none, or no good one: each is refused with its place, or not followed, quickly.

use barcheck_specs::{LoadOptions, Loaded, Source, load, render};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const HEAD: &str = "OpCapability Kernel\nOpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\"\n\
                    OpExecutionMode %k LocalSize 2 1 1\n%void = OpTypeVoid\n%u = OpTypeInt 32 0\n\
                    %f = OpTypeFunction %void\n%c2 = OpConstant %u 2\n%c264 = OpConstant %u 264\n\
                    %k = OpFunction %void None %f\n%e = OpLabel\n";
const END: &str = "OpReturn\nOpFunctionEnd\n";
const BARRIER: &str = "OpControlBarrier %c2 %c2 %c264\n";

/// The protocol, or the code and the message of the first error.
fn read(text: &str) -> Result<Loaded, (&'static str, String)> {
    let start = Instant::now();
    let loaded = load(&Source::new("k.spvasm", text.as_bytes()), &LoadOptions { defines: BTreeMap::new() });
    // Generous for slow machines without optimisation.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    loaded.map_err(|error| {
        assert!(render(&error.diagnostics, "k.spvasm", &error.text, false).starts_with("error["));
        (error.diagnostics[0].code, error.diagnostics[0].message.clone())
    })
}

#[test]
fn a_function_that_is_cut_short_is_refused() {
    let whole = format!("{HEAD}{BARRIER}{BARRIER}{END}");
    assert!(read(&whole).is_ok());
    for lines in 11..14 {
        let short: Vec<&str> = whole.lines().take(lines).collect();
        assert_eq!(read(&short.join("\n")).err().map(|(code, _)| code), Some("unclosed"), "{lines}");
    }
}

#[test]
fn what_leads_round_is_not_followed() {
    let calls_itself = format!("{HEAD}{BARRIER}%r = OpFunctionCall %void %k\n{END}");
    assert_eq!(read(&calls_itself).err().map(|(code, _)| code), Some("not-followed"));
    let of_itself = HEAD.replace("OpConstant %u 2\n", "OpSpecConstantOp %u IAdd %c2 %c2\n");
    assert_eq!(read(&format!("{of_itself}{BARRIER}{END}")).err().map(|(code, _)| code), Some("not-followed"));
    let undefined = format!("{HEAD}OpControlBarrier %none %c2 %c264\n{END}");
    assert!(read(&undefined).is_err());
    let unknown = format!("{HEAD}OpFrobnicate %c2\n{BARRIER}{END}");
    assert!(read(&unknown).is_err());
}

#[test]
fn a_size_that_may_be_specialised_is_what_is_launched() {
    let text = format!("{HEAD}{BARRIER}{END}")
        .replace(
            "OpExecutionMode %k LocalSize 2 1 1\n",
            "OpExecutionModeId %k LocalSizeId %s %c1 %c1\nOpName %s \"s\"\nOpDecorate %s SpecId 1\n",
        )
        .replace("%c2 = ", "%c1 = OpConstant %u 1\n%s = OpSpecConstant %u 8\n%c2 = ");
    let with = |defines: &[(&str, i64)]| {
        let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        load(&Source::new("k.spvasm", text.as_bytes()), &LoadOptions { defines })
    };
    let size = |loaded: Loaded| loaded.extracted.expect("a kernel").text.contains("workgroup 16;");
    assert!(!size(with(&[]).expect("a kernel")));
    assert!(size(with(&[("cta.x", 16)]).expect("more than by default")));
    assert!(size(with(&[("cta.x", 16), ("param.s", 16)]).expect("the same twice")));
    let error = with(&[("param.s", 16)]).expect_err("another size");
    assert_eq!(error.diagnostics[0].message, "`s` is the size of the workgroup here, which is 8 and not 16");
}

#[test]
fn many_instructions_are_read_in_linear_time() {
    let many: String = (0..100_000).map(|at| format!("%v{at} = OpIAdd %u %c2 %c2\n")).collect();
    assert!(read(&format!("{HEAD}{many}{BARRIER}{END}")).is_ok());
}
