//! Lists the protocols of the library and the starting points, so that programs can carry them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_LIBRARY").is_none() {
        return Ok(());
    }
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut text = String::new();
    for (name, folder) in [("PROTOCOLS", "protocols"), ("TEMPLATES", "templates")] {
        println!("cargo::rerun-if-changed={folder}");
        let _ = writeln!(text, "static {name}: &[(&str, &str)] = &[");
        for (file, path) in files(&here.join(folder))? {
            let _ = writeln!(text, "    ({file:?}, include_str!({path:?})),");
        }
        text.push_str("];\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("library.rs"), text)
}

/// The protocols in the folders of a folder: `FOLDER/NAME` and where each is, in order.
fn files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for below in fs::read_dir(folder)? {
        let below = below?.path();
        if !below.is_dir() {
            continue;
        }
        for file in fs::read_dir(&below)? {
            let path = file?.path();
            if path.extension().is_some_and(|ending| ending == "bar") {
                let part = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                found.push((format!("{}/{}", part(&below), part(&path)), path));
            }
        }
    }
    found.sort();
    Ok(found)
}
