//! How files and kernels are named to people.

use barcheck_counterexamples::harmless;
use barcheck_specs::naming::cut;
use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, Symbol};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The most bytes of a mangled name that is read: those of compilers have a few thousand.
const LONGEST_MANGLED: usize = 8 << 10;

/// What is written of a mangled name, in bytes and pieces, before it is given up. What was said before is
/// referred to by two letters, so a short name can stand for more than there is memory.
const MOST_WRITTEN: usize = 1 << 18;

/// A path as it is shown: whoever has named a file must not command the terminal, or the log, of others.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// A name out of a file, likewise.
pub(crate) fn plain(name: &str) -> String {
    harmless(name)
}

/// A kernel as it is shown: `cutlass::device_kernel<…> (entry 3)`. A short name stays as it is, for people
/// search for it. Kernels whose names are made short are told apart by their positions in the module.
pub(crate) fn kernel(name: &str, entry: Option<usize>) -> String {
    let whole = plain(name);
    let Cow::Owned(halves) = cut(&whole) else { return whole };
    let short = demangled(name).map_or(halves, |said| cut(&plain(&said)).into_owned());
    match entry {
        Some(entry) => format!("{short} (entry {entry})"),
        None => short,
    }
}

/// A mangled name of C++ without its parameters, and without what template arguments say.
fn demangled(name: &str) -> Option<String> {
    if name.len() > LONGEST_MANGLED {
        return None;
    }
    let symbol = Symbol::new(name).ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut outline = Outline { text: String::new(), nodes: Vec::new(), depth: 0, room: MOST_WRITTEN };
    symbol.structured_demangle(&mut outline, &options).ok()?;
    // So kernels of SYCL are called.
    let text = outline.text.strip_prefix("typeinfo name for ").unwrap_or(&outline.text);
    (!text.is_empty()).then(|| text.to_owned())
}

/// What stands outside of template arguments.
struct Outline {
    text: String,
    /// What is begun and not ended: whether it is template arguments.
    nodes: Vec<bool>,
    /// How many of it are.
    depth: usize,
    room: usize,
}

impl DemangleWrite for Outline {
    fn push_demangle_node(&mut self, node: DemangleNodeType) {
        let is_arguments = node == DemangleNodeType::TemplateArgs;
        if is_arguments && self.depth == 0 {
            self.text.push('…');
        }
        self.nodes.push(is_arguments);
        self.depth += usize::from(is_arguments);
    }

    fn write_string(&mut self, piece: &str) -> fmt::Result {
        self.room = self.room.checked_sub(piece.len() + 1).ok_or(fmt::Error)?;
        if self.depth == 0 {
            self.text.push_str(piece);
        }
        Ok(())
    }

    fn pop_demangle_node(&mut self) {
        self.depth -= usize::from(self.nodes.pop() == Some(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stay_as_they_are() {
        for name in ["scan", "_ZN4ring4scanILi4EEEvPf", &"x".repeat(60)] {
            assert_eq!(kernel(name, Some(3)), name);
        }
    }

    #[test]
    fn long_mangled_names_are_shown_in_outline() {
        let arguments = "NS_15StagesOfTheRingILi4ENS_5TilesILi128ELi64EEEEE";
        let scan = kernel(&format!("_ZN4ring4tileI{arguments}E4scanIfEEvT_"), Some(3));
        assert_eq!(scan, "ring::tile<…>::scan<…> (entry 3)");
        // So SYCL names the type of a kernel.
        let of_type = kernel(&format!("_ZTSN4ring4tileI{arguments}E4scanIfEE"), Some(3));
        assert_eq!(of_type, scan);
        let other = kernel(&format!("_ZN{}4scanIfEEvT_", "8inner_ns".repeat(12)), None);
        assert_eq!(other, "inner_ns::inner_ns::inner_ns::…::inner_ns::inner_ns::scan<…>");
    }

    #[test]
    fn what_is_no_mangled_name_is_cut_in_the_middle() {
        let name = format!("{}{}", "a".repeat(50), "z".repeat(50));
        assert_eq!(kernel(&name, Some(0)), format!("{}…{} (entry 0)", "a".repeat(30), "z".repeat(29)));
        let odd = kernel(&format!("_ZN{}\u{1b}[2J", "4ring".repeat(20)), Some(0));
        assert!(odd.chars().all(|c| !c.is_control()), "{odd}");
    }

    /// Each type names the one before it twice.
    #[test]
    fn a_name_that_stands_for_more_than_there_is_memory_is_given_up() {
        let number = |n: usize| match n {
            0 => "S_".to_owned(),
            n => format!("S{}_", char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n - 1])),
        };
        let doubled = |times: usize| {
            let types: String = (1..times).map(|n| format!("S_I{0}{0}E", number(n))).collect();
            format!("_Z{}scanI1AIiiE{types}Evv", 4)
        };
        assert_eq!(kernel(&doubled(8), None), "scan<…>");
        assert!(kernel(&doubled(34), None).starts_with("_Z4scanI1AIiiES_I"));
        for long in ["_ZN4ring", "_Z1fI", "P", "9", "_Z1fIX"] {
            assert_eq!(kernel(&long.repeat(1 << 20), None).chars().count(), 60);
        }
    }
}
