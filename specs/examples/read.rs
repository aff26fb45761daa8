//! Reads protocols and shows what they become, or what is wrong with them.
use barcheck_specs::bar;
fn main() {
    let mut args = std::env::args().skip(1).peekable();
    let raw = args.next_if(|a| a == "-p").is_some();
    for name in args {
        let bytes = std::fs::read(&name).expect("a readable file");
        let text = String::from_utf8_lossy(&bytes);
        match bar::load(&bytes, &bar::LoadOptions::default()) {
            Ok(loaded) => {
                print!("{}", barcheck_specs::render(&loaded.warnings, &name, &text, false));
                if raw { println!("{:#?}", loaded.program); continue; }
                println!("{name}: {} {}", loaded.program.target, loaded.program.threads);
                for role in &loaded.program.roles {
                    println!("role {:?}", role.name);
                    for (i, op) in role.code.ops.iter().enumerate() {
                        let p = role.code.places[i];
                        println!("  {i:3} {}:{}+{} {:?}   `{}`", p.line, p.column, p.length, op, role.code.texts[i]);
                    }
                }
            }
            Err(diagnostics) => {
                print!("{}", barcheck_specs::render(&diagnostics, &name, &text, false));
            }
        }
    }
}
