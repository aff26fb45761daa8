//! Decisions as people read them, and as protocols name them.

/// What a decision asks, for people: without the widths of numbers, and not too long.
pub(super) fn plain(key: &str) -> String {
    let mut text = super::expression::unwrapped(key).replace(":64", "");
    for comparison in ["<=", ">=", "==", "!=", "<", ">"] {
        for (width, short) in [("64", ""), ("u64", "u"), ("16", ""), ("u16", "u")] {
            let long = format!(" {comparison}{width} ");
            text = text.replace(&long, &format!(" {comparison}{short} "));
        }
    }
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // How it ends says what is asked: `… == 0`.
    let length = text.chars().count();
    if length <= WORDS {
        return text;
    }
    let begin = text.chars().take(WORDS - END);
    begin.chain(['…']).chain(text.chars().skip(length - END)).collect()
}

/// Characters of what a decision asks that are shown, and those of them that are its end.
const WORDS: usize = 72;
const END: usize = 20;

/// A name for a decision, of letters, digits and underscores.
pub(super) fn slug(key: &str) -> String {
    let replaced = [
        ("<<", " shl "),
        (">>", " shr "),
        ("<=u", " le "),
        (">=u", " ge "),
        ("<u", " lt "),
        (">u", " gt "),
        ("==u", " eq "),
        ("!=u", " ne "),
        ("<=", " le "),
        (">=", " ge "),
        ("==", " eq "),
        ("!=", " ne "),
        ("<", " lt "),
        (">", " gt "),
        ("%", " "),
        (":64", ""),
        ("!", " not "),
        ("*", " times "),
        ("-", " minus "),
        ("+", " plus "),
    ];
    let mut text = key.to_owned();
    for (sign, word) in replaced {
        text = text.replace(sign, word);
    }
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('_') && !slug.is_empty() {
            slug.push('_');
        }
    }
    let slug = slug.trim_matches('_');
    let cut: String = slug.chars().take(48).collect();
    let cut = cut.trim_end_matches('_');
    let is_name = cut.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_taken(cut);
    if is_name { cut.to_owned() } else { format!("d_{cut}") }
}

/// Whether a word means something else in protocols.
fn is_taken(word: &str) -> bool {
    const TAKEN: &str = "target cta cluster thread_group workgroup subgroup_size const param shared global object warp \
        warps thread threads invocation invocations subgroup subgroups lane as for in loop while if else \
        let read write atomic break continue exit assert uniform any true false part allow use block \
        None";
    TAKEN.split_ascii_whitespace().any(|taken| taken.eq_ignore_ascii_case(word))
}
