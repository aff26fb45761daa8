//! Colours and lines.

use super::xml::{Xml, px};

/// Colours of barriers, after those of Okabe and Ito: people see them apart whose eyes do not tell red from
/// green.
pub(super) const HUES: [&str; 6] = ["#0072b2", "#b35900", "#00795b", "#a3437d", "#7a6a00", "#3a6f8f"];
pub(super) const INK: &str = "#1b2129";
pub(super) const WAIT: &str = "#5c3a00";
pub(super) const BAD: &str = "#a1121a";

/// A line along a path.
pub(super) fn line(xml: &mut Xml, class: &str, path: &str, colour: &str, width: f64, dashes: Option<&str>) {
    xml.empty(
        "path",
        &[
            ("class", &class),
            ("d", &path),
            ("fill", &"none"),
            ("stroke", &colour),
            ("stroke-width", &px(width)),
            ("stroke-dasharray", &dashes.unwrap_or("none")),
        ],
    );
}
