//! A place in the text, in reports for scripts.

use barcheck_model::program::Place;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct JsonPlace {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

pub(crate) fn place(place: Place) -> JsonPlace {
    JsonPlace { line: place.line, column: place.column }
}
