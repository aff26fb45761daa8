//! Elements of a picture.

use std::fmt::{Display, Write as _};

use crate::render::escape;

/// The elements so far.
#[derive(Default)]
pub(super) struct Xml {
    out: String,
}

impl Xml {
    /// An element without content. Values are text: they are escaped here.
    pub(super) fn empty(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.start(name, attributes);
        self.out.push_str("/>\n");
    }

    /// An element that holds text.
    pub(super) fn text(&mut self, name: &str, attributes: &[(&str, &dyn Display)], text: &str) {
        self.start(name, attributes);
        let _ = writeln!(self.out, ">{}</{name}>", escape::html(text));
    }

    /// Text at a place.
    pub(super) fn write(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.text("text", &[("class", &class), ("x", &px(x)), ("y", &px(y))], text);
    }

    /// Begins an element that holds others, with what it is for people.
    pub(super) fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)], title: Option<&str>) {
        self.start(name, attributes);
        self.out.push('>');
        if let Some(title) = title {
            let _ = write!(self.out, "<title>{}</title>", escape::html(title));
        }
    }

    /// Ends an element.
    pub(super) fn close(&mut self, name: &str) {
        let _ = writeln!(self.out, "</{name}>");
    }

    /// Text that is not escaped: a style sheet.
    pub(super) fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        let _ = write!(self.out, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.out, " {key}=\"{}\"", escape::html(&value.to_string()));
        }
    }
}

/// A length, to a tenth of a pixel.
pub(super) fn px(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
