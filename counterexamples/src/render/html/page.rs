//! The page itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::data::View;
use super::notes::Notes;
use crate::render::escape;
use crate::render::text::{Style, narrative};
use crate::timeline::Timeline;
use crate::trace::{Trace, TraceError};

/// The parts of the page, in the order in which they follow each other in one script.
const SCRIPT: &str = concat!(
    include_str!("../../../viewer/data.js"),
    include_str!("../../../viewer/dom.js"),
    include_str!("../../../viewer/core.js"),
    include_str!("../../../viewer/flights.js"),
    include_str!("../../../viewer/lanes.js"),
    include_str!("../../../viewer/list.js"),
    include_str!("../../../viewer/panels.js"),
    include_str!("../../../viewer/source.js"),
    include_str!("../../../viewer/compiled.js"),
    include_str!("../../../viewer/race.js"),
    include_str!("../../../viewer/sides.js"),
    include_str!("../../../viewer/why.js"),
    include_str!("../../../viewer/whatif.js"),
    include_str!("../../../viewer/main.js"),
);
const STYLE: &str = include_str!("../../../viewer/style.css");
/// What answers "what if": the crate in `viewer/core`, compiled by its `build` and compressed.
const CORE: &[u8] = include_bytes!("../../../viewer/core.wasm.zlib");
/// The same without readers for compiled kernels, which make the larger part of it.
const CORE_OF_PROTOCOLS: &[u8] = include_bytes!("../../../viewer/core-protocols.wasm.zlib");
const PAGE: &str = include_str!("../../../viewer/index.html");

/// A trace as a page.
///
/// # Errors
/// None in practice: every field of a trace can be written as JSON.
pub fn page(trace: &Trace, notes: &Notes) -> Result<String, TraceError> {
    let data = View::of(&Timeline::of(trace), notes, true)
        .to_json()
        .map_err(|error| TraceError::from_json(&error))?;
    let data = escape::json(&data);
    // Strict from the first line on; nothing of it is seen from outside.
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", without_comments(SCRIPT));
    let policy = format!(
        "default-src 'none'; script-src '{}' 'wasm-unsafe-eval'; style-src '{}'; base-uri 'none'; \
         form-action 'none'",
        source_of(&script),
        source_of(STYLE),
    );
    let core = if trace.protocol.format == "bar" { CORE_OF_PROTOCOLS } else { CORE };
    let told = narrative(trace, &Style::default());
    Ok(fill(
        PAGE,
        &[
            ("policy", &policy),
            ("title", &escape::html(&trace.outcome.headline)),
            ("style", STYLE),
            ("narrative", &escape::html(&told)),
            ("data", &data),
            ("core", &STANDARD.encode(core)),
            ("script", &script),
        ],
    ))
}

/// The script without lines that are comments: they are for those who read its sources.
fn without_comments(script: &str) -> String {
    let is_comment = |line: &&str| {
        let line = line.trim();
        line.starts_with("//") || line.starts_with("/*") && line.ends_with("*/")
    };
    script.lines().filter(|line| !is_comment(line)).flat_map(|line| [line, "\n"]).collect()
}

/// How a policy names an inline text that it allows.
fn source_of(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(hmac_sha256::Hash::hash(text.as_bytes())))
}

/// Puts values where a template says `{{name}}`. What is put in is not looked at again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        let values = [("a", "<{{b}}>"), ("b", "no")];
        assert_eq!(fill("1{{a}}2{{a}}3{{unknown}}4", &values), "1<{{b}}>2<{{b}}>34");
    }

    #[test]
    fn lines_that_are_comments_are_left_out_of_a_page() {
        let script = "/** What it does. */\nf(\"// stays\"); // stays\n  // goes\n/* a */ g();\n";
        assert_eq!(without_comments(script), "f(\"// stays\"); // stays\n/* a */ g();\n");
    }

    #[test]
    fn an_inline_text_is_named_by_its_hash() {
        assert_eq!(source_of(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn script_and_style_cannot_end_early() {
        // The elements that they stand in end at the first end tag, whatever it means there.
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
        // What a script would take for the end of a comment of HTML.
        assert!(!SCRIPT.lines().any(|line| line.trim_start().starts_with("-->")));
        assert!(!STYLE.contains("</"));
    }

    #[test]
    fn the_page_names_nothing_outside_itself() {
        for part in [SCRIPT, STYLE, PAGE] {
            for mention in ["https:", "src=", "@import", "fetch(", "XMLHttpRequest", "eval("] {
                assert!(!part.contains(mention), "{mention}");
            }
            assert!(!part.contains("innerHTML") && !part.contains("insertAdjacentHTML"));
        }
    }
}
