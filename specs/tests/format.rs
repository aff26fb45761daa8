//! `fmt`: what it prints, and that it changes nothing but the layout.

use barcheck_model::program::{Place, Program};
use barcheck_specs::bar::{LoadOptions, format, load};

#[track_caller]
fn formatted(source: &str) -> String {
    match format(source.as_bytes()) {
        Ok(text) => text,
        Err(diagnostics) => {
            panic!("{}", barcheck_specs::render(&diagnostics, "file.bar", source, false))
        }
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let once = formatted(source);
    assert_eq!(once, expected);
    assert_eq!(formatted(&once), once, "not stable");
}

/// The statements of one block.
#[track_caller]
fn check_in(target: &str, statements: &str, expected: &str) {
    let agents = match target {
        "nbarrier" => "thread",
        "split_barrier" => "invocation",
        "xegpu" => "subgroup",
        _ => "warp",
    };
    let source = format!("target {target}; {agents} 0 {{\n{statements}\n}}");
    let lines: String = expected
        .lines()
        .map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("    {line}\n"),
        })
        .collect();
    check(&source, &format!("target {target};\n{agents} 0 {{\n{lines}}}\n"));
}

/// A program without what formatting changes.
fn stripped(mut program: Program) -> Program {
    for role in &mut program.roles {
        role.place = Place::default();
        role.code.places.fill(Place::default());
        role.code.texts.fill(String::new());
    }
    program
}

#[test]
fn allowances() {
    check(
        "target ptx;cta 64;ALLOW  data - race   \"it  is meant\" ; // why\nconst allow=1;allow unused\"so\";warps 0..2{}",
        "target ptx;\ncta 64;\nallow data-race \"it  is meant\"; // why\nconst allow = 1;\nallow unused \"so\";\n\
         warps 0..2 {}\n",
    );
}

#[test]
fn blocks_of_some_ctas() {
    check(
        "target ptx;cluster 2;cta 64;WARPS 0..2  OF CTA 1-1 AS a{}warps 0..=1 of   CTAS 1..2{}",
        "target ptx;\ncluster 2;\ncta 64;\nwarps 0..2 of cta 1 - 1 as a {}\nwarps 0..=1 of ctas 1..2 {}\n",
    );
}

#[test]
fn declarations() {
    check(
        "\u{feff}TARGET PTX ;CTA 32*2;\r\nCONST  A=-1 ;param B = ( A+1 ) ;\n\n\n\nshared x[ 2 ],y;global z \
         ; WARPS 0 .. 2 AS p{}",
        "target ptx;\ncta 32 * 2;\nconst A = -1;\nparam B = (A + 1);\n\nshared x[2], y;\nglobal z;\nwarps \
         0..2 as p {}\n",
    );
}

#[test]
fn statements() {
    check_in("ptx", "for i in 0 ..4{bar.sync i;}", "for i in 0..4 { bar.sync i; }");
    check_in("ptx", "LOOP{if ?{break;}else{continue;}}", "loop { if ? { break; } else { continue; } }");
    check_in("ptx", "loop {\nexit;}", "loop {\n    exit;\n}");
    check_in(
        "ptx",
        "loop { exit; exit; exit; exit; }",
        "loop {\n    exit;\n    exit;\n    exit;\n    exit;\n}",
    );
    check_in(
        "ptx",
        "if ? {\n exit; }\n\nelse if Uniform k?{}",
        "if ? {\n    exit;\n} else if uniform k ? {}",
    );
    check_in("ptx", "if ? { exit; }\n  else { exit; }", "if ? { exit; }\nelse { exit; }");
    check_in(
        "ptx",
        "let x=any 0..4;x=x<<1-  -1;assert ! x==( WARP );",
        "let x = any 0..4;\nx = x << 1 - -1;\nassert !x == (warp);",
    );
    check_in("ptx", "\n\nexit;\n\n\n\nexit;\n\n", "exit;\n\nexit;");
}

#[test]
fn instructions() {
    check_in(
        "ptx",
        "BAR.CTA.Sync 1 ,64;@ ! p bar.sync 0;bar.red.popc.u32 _,0,! ?;",
        "bar.cta.sync 1, 64;\n@!p bar.sync 0;\nbar.red.popc.u32 _, 0, !?;",
    );
    check_in("bcu", "bar.red.popc R4,! P0;", "BAR.RED.POPC R4, !P0;");
    check_in("nbarrier", "NBARRIER.Signal 0 1 2 x;", "nbarrier.signal 0, 1, 2, x;");
    check_in(
        "split_barrier",
        "opcontrolbarrierarriveintel Subgroup , Device,Release | WorkgroupMemory;",
        "OpControlBarrierArriveINTEL Subgroup, Device, Release|WorkgroupMemory;",
    );
    check_in(
        "xegpu",
        "%h=XeGPU.init_nbarrier 1%2,4;xegpu.mfence{ memory_kind=slm ,fence_op = \"none\" \
         };xegpu.compile_hint { a ; b{c}};",
        "%h = xegpu.init_nbarrier 1 % 2, 4;\nxegpu.mfence {memory_kind = slm, fence_op \
         = \"none\"};\nxegpu.compile_hint { a ; b{c}};",
    );
}

#[test]
fn comments() {
    check(
        "// one\n\n/* two */ target /* three */ ptx; // four\n   // five\nwarp 0 { // six\n}\n// seven",
        "// one\n\n/* two */ target /* three */ ptx; // four\n// five\nwarp 0 { // six\n}\n// seven\n",
    );
    check_in(
        "ptx",
        "bar.sync 0, // id\n64; /* a */\n/* b */ exit; // c\n// d",
        "bar.sync 0, // id\n    64; /* a */\n/* b */ exit; // c\n// d",
    );
    check_in("ptx", "exit; // é\nbar.sync 0; //x", "exit; // é\nbar.sync 0; //x");
    check_in(
        "ptx",
        "exit;       // a\nbar.sync 0; // b\n\nexit;       // c",
        "exit;       // a\nbar.sync 0; // b\n\nexit;       // c",
    );
    check_in("ptx", "exit;         // a\nbar.sync 0;   // b", "exit;       // a\nbar.sync 0; // b");
    check_in(
        "ptx",
        "if ? { exit; } // a\nelse /* b */ { exit; /* c */ }",
        "if ? { exit; } // a\nelse /* b */ {\n    exit; /* c */\n}",
    );
    check_in("nbarrier", "nbarrier.signal 0 /* id */ 4 /* n */ ;", "nbarrier.signal 0 /* id */, 4 /* n */;");
    check_in("ptx", "loop {\n\n// a\n\nexit;\n\n// b\n\n}", "loop {\n    // a\n\n    exit;\n\n    // b\n}");
    check_in("ptx", "bar /* a */ . sync 0;", "bar /* a */ .sync 0;");
}

#[test]
fn errors_are_reported() {
    assert!(format(b"target ptx; warp 0 { bar.snyc 0; }").is_err());
    assert!(format(b"target ptx; \xff").is_err());
    assert!(format(b"").is_err());
}

#[test]
fn every_protocol_of_the_library_keeps_its_meaning() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("protocols");
    let mut folders = vec![root];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "bar") {
                let source = std::fs::read_to_string(&path).expect("a readable file");
                let once = formatted(&source);
                assert_eq!(formatted(&once), once, "{}", path.display());
                let options = LoadOptions::default();
                let before = load(source.as_bytes(), &options).expect("a protocol").program;
                let after = load(once.as_bytes(), &options).expect("a protocol").program;
                assert_eq!(stripped(before), stripped(after), "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 100, "{files} protocols");
}

#[test]
fn shared_blocks_and_their_uses() {
    check(
        "target ptx;cta 64;BLOCK fill ( a,b ){bar.sync a+b;}const block=1;\nwarps 0 ..= 1{fill( 1 ,block );ADVANCE s,p , 4;for i in 0 ..=3{}let n=UNIFORM tiles ANY 1..=8;}",
        "target ptx;\ncta 64;\nblock fill(a, b) { bar.sync a + b; }\nconst block = 1;\n\
         warps 0..=1 { fill(1, block); advance s, p, 4; for i in 0..=3 {} let n = uniform tiles any 1..=8; }\n",
    );
}
