//! MLIR with places of the source.

use barcheck_specs::{LoadOptions, Loaded, Source, load};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn read(body: &str, aliases: &str) -> Loaded {
    let text = format!(
        "{aliases}gpu.module @m {{\n  gpu.func @k() kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{\n\
         {body}    gpu.return\n  }}\n}}\n"
    );
    let start = Instant::now();
    let source = Source::new("k.mlir", text.as_bytes());
    let loaded = load(&source, &LoadOptions { defines: BTreeMap::new() });
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    loaded.unwrap_or_else(|error| panic!("{:?}", error.diagnostics))
}

/// A line of the kernel, the file and the line of the source, and where that was inlined.
type Place = (u32, String, u32, Option<(String, u32)>);

/// For each line of the kernel that has one, the line of the source.
fn places(body: &str, aliases: &str) -> Vec<Place> {
    let loaded = read(body, aliases);
    let origins = loaded.extracted.expect("a kernel").origins;
    origins.into_iter().map(|o| (o.from, o.file, o.line, o.inlined_at)).collect()
}

#[test]
fn locations_are_places_of_the_source() {
    let name = |line| (line, "a.py".to_owned());
    let found =
        places("    gpu.barrier loc(\"a.py\":7:3)\n    gpu.barrier loc(#b)\n", "#b = loc(\"a.py\":9:1)\n");
    let found: Vec<_> = found.into_iter().map(|(from, file, line, _)| (from, (line, file))).collect();
    assert_eq!(found, [(4, name(7)), (5, name(9))]);
    let called =
        places("    gpu.barrier loc(callsite(\"f\"(\"a.py\":7:3) at #b))\n", "#b = loc(\"b.py\":2:1)\n");
    assert_eq!(called, [(4, "a.py".to_owned(), 7, Some(("b.py".to_owned(), 2)))]);
    let fused = places("    gpu.barrier loc(fused[\"x\", \"a.py\":3:1])\n", "");
    assert_eq!(fused, [(3, "a.py".to_owned(), 3, None)]);
    assert_eq!(places("    gpu.barrier loc(unknown)\n", ""), []);
}

#[test]
fn locations_that_lead_nowhere_are_left_out() {
    assert_eq!(places("    gpu.barrier loc(#a)\n", "#a = loc(#b)\n#b = loc(#a)\n"), []);
    assert_eq!(places("    gpu.barrier loc(#none)\n", ""), []);
    let deep = format!(
        "    gpu.barrier loc({}\"f\":1:2{})\n",
        "callsite(".repeat(3000),
        " at \"f\":1:2)".repeat(3000)
    );
    assert_eq!(places(&deep, ""), []);
    let many: String = (0..20_000).map(|at| format!("#l{at} = loc(\"f\":{}:2)\n", at + 1)).collect();
    let body: String =
        (0..10_000).map(|at| format!("    %v{at} = arith.constant 1 : index loc(#l{at})\n")).collect();
    assert_eq!(places(&body, &many).len(), 10_000);
}
