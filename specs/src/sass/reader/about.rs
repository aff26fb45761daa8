//! What `.nv.info` sections say about a kernel.

use crate::common::span::Span;
use crate::module::Extent;
use crate::sass::syntax::About;

/// An attribute that is being read.
#[derive(Debug, Default)]
pub(super) struct Attribute {
    name: String,
    span: Span,
    /// The numbers of its directives, with how many bytes each has.
    numbers: Vec<(u8, u64)>,
}

impl Attribute {
    pub(super) fn new(name: &str, span: Span) -> Self {
        Self { name: name.to_owned(), span, numbers: Vec::new() }
    }

    /// A directive with data: `.word 0x00000080`.
    pub(super) fn add(&mut self, code: &str) {
        let (directive, values) = code.split_once([' ', '\t']).unwrap_or((code, ""));
        let bytes = match directive {
            ".byte" => 1,
            ".short" => 2,
            ".word" => 4,
            _ => return,
        };
        for value in values.split(',') {
            if let Some(number) = value.trim().strip_prefix("0x").map(|hex| u64::from_str_radix(hex, 16)) {
                self.numbers.push((bytes, number.unwrap_or_default()));
            }
        }
    }

    fn of_size(&self, bytes: u8) -> Vec<u32> {
        let numbers = self.numbers.iter().filter(|(size, _)| *size == bytes);
        numbers.map(|(_, number)| u32::try_from(*number).unwrap_or_default()).collect()
    }

    /// The registers that it says a thread has.
    pub(super) fn registers(&self) -> Option<u32> {
        (self.name == "EIATTR_REGCOUNT").then(|| self.of_size(4).last().copied())?
    }

    /// What it says.
    pub(super) fn tell(&self, about: &mut About) {
        let (words, shorts, bytes) = (self.of_size(4), self.of_size(2), self.of_size(1));
        let extent = || match words.as_slice() {
            [x, y, z, ..] => Some(Extent { size: [*x, *y, *z], span: self.span }),
            _ => None,
        };
        match self.name.as_str() {
            "EIATTR_REQNTID" => about.required = extent(),
            "EIATTR_MAX_THREADS" => about.most = extent(),
            "EIATTR_CTA_PER_CLUSTER" => {
                about.cluster = extent().filter(|extent| !extent.size.contains(&0));
            }
            "EIATTR_EXPLICIT_CLUSTER" => about.explicit_cluster = Some(self.span),
            "EIATTR_PARAM_CBANK" => about.first_param = shorts.first().copied().or(about.first_param),
            "EIATTR_KPARAM_INFO" => {
                // The first two bytes are the format and the number of the attribute.
                let size = match bytes.get(2..6) {
                    Some([_, _, low, high]) => (low | high << 8) >> 2,
                    _ => words.get(1).map_or(0, |flags| flags >> 18),
                };
                if let [position, offset, ..] = shorts.as_slice() {
                    about.params.insert(*position, (*offset, size));
                }
            }
            _ => {}
        }
    }
}
