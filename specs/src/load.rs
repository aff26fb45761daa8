//! The one door for notations: bytes in some format go in, a protocol comes out.
//!
//! A new format is an entry of the list in this file and a folder of its own beside it, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use barcheck_model::Patience;
use barcheck_model::program::{Place, Program};

use crate::bar;
use crate::common::contents::{Allow, Contents, Extracted, LoadOptions, Params};
use crate::common::diagnostic::{BEYOND, Diagnostic, LATE};
use crate::common::lint::Linted;
use crate::common::span::Span;
use crate::module::Notation;
#[cfg(feature = "kernels")]
use crate::ptx;
#[cfg(feature = "kernels")]
use crate::sass;
#[cfg(feature = "kernels")]
use crate::spirv;
#[cfg(feature = "kernels")]
use crate::visa;
#[cfg(feature = "kernels")]
use crate::xegpu;

pub use crate::module::{Entry, naming};

/// How a format is read.
enum Reader {
    /// Modules of compiled kernels.
    Kernels(&'static Notation),
    /// The protocol language.
    Protocols,
}

use Reader::{Kernels, Protocols};

macro_rules! formats {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $Format:ident = $reader:expr;)+) => {
        /// The formats in which protocols are written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $Format,)+
        }

        impl Format {
            /// All of them. The first that takes a content gets it, so one that takes any text stands last.
            pub const ALL: [Self; [$($(#[cfg($cfg)])? stringify!($Format)),+].len()] =
                [$($(#[cfg($cfg)])? Self::$Format),+];

            fn reader(self) -> Reader {
                match self {
                    $($(#[cfg($cfg)])? Self::$Format => $reader,)+
                }
            }
        }
    };
}

formats! {
    /// Compiled kernels: PTX.
    #[cfg(feature = "kernels")]
    Ptx = Kernels(&ptx::NOTATION);
    /// Disassembled kernels: SASS.
    #[cfg(feature = "kernels")]
    Sass = Kernels(&sass::NOTATION);
    /// Kernels for Intel's graphics, as text: vISA.
    #[cfg(feature = "kernels")]
    Visa = Kernels(&visa::NOTATION);
    /// Compiled kernels: SPIR-V.
    #[cfg(feature = "kernels")]
    Spirv = Kernels(&spirv::NOTATION);
    /// Kernels in MLIR, with operations of XeGPU.
    #[cfg(feature = "kernels")]
    Xegpu = Kernels(&xegpu::NOTATION);
    /// The protocol language `.bar`.
    Bar = Protocols;
}

impl Format {
    /// Its name, as traces have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.reader() {
            Kernels(notation) => notation.name,
            Protocols => "bar",
        }
    }

    /// The endings of its files, without the dot.
    #[must_use]
    pub fn extensions(self) -> &'static [&'static str] {
        match self.reader() {
            Kernels(notation) => notation.extensions,
            Protocols => &bar::EXTENSIONS,
        }
    }

    /// Whether its files are modules of kernels, each of which has a protocol of its own.
    #[must_use]
    pub fn has_entries(self) -> bool {
        matches!(self.reader(), Kernels(_))
    }

    /// Whether these bytes may be in this format, if their name does not say.
    fn takes(self, bytes: &[u8]) -> bool {
        match self.reader() {
            Kernels(notation) => (notation.takes)(bytes),
            Protocols => bar::takes(bytes),
        }
    }

    /// What people read of these bytes.
    fn text(self, bytes: &[u8]) -> String {
        match self.reader() {
            Kernels(notation) => (notation.text)(bytes),
            Protocols => bar::text_of(bytes),
        }
    }

    /// The names that these bytes declare with `param`, if they can be parsed.
    fn params(self, bytes: &[u8]) -> Option<Params> {
        match self.reader() {
            // What a kernel is launched with has options of its own.
            Kernels(_) => Some(Params::new()),
            Protocols => bar::params(bytes),
        }
    }

    fn read(
        self,
        bytes: &[u8],
        options: &LoadOptions,
        patience: &Patience,
    ) -> Result<Contents, Vec<Diagnostic>> {
        match self.reader() {
            Kernels(notation) => notation.load_within(bytes, options, patience),
            Protocols => bar::load_within(bytes, options, patience),
        }
    }

    fn entries(self, bytes: &[u8]) -> Result<Vec<Entry>, Vec<Diagnostic>> {
        match self.reader() {
            Kernels(notation) => notation.entries(bytes),
            Protocols => Ok(Vec::new()),
        }
    }

    /// The format with this name.
    ///
    /// ```
    /// use barcheck_specs::Format;
    ///
    /// assert_eq!(Format::named("bar"), Ok(Format::Bar));
    /// let unknown = Format::named("elf").unwrap_err();
    /// assert!(unknown.to_string().starts_with("format `elf` is unknown; the formats are: `ptx`, "));
    /// ```
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat { name: name.chars().take(40).collect() })
    }

    /// The format of a file with this name, by its ending alone.
    #[must_use]
    pub fn of_name(name: &Path) -> Option<Self> {
        let ending = name.extension()?;
        Self::ALL.into_iter().find(|format| format.extensions().iter().any(|known| ending == *known))
    }

    /// The format of what is called `name` and holds `bytes`: by the ending of its name, else by its content.
    #[must_use]
    pub fn recognise(name: &str, bytes: &[u8]) -> Option<Self> {
        let by_content = || Self::ALL.into_iter().find(|format| format.takes(bytes));
        Self::of_name(Path::new(name)).or_else(by_content)
    }
}

/// A format that is called for by a name that none has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    /// The name, as much of it as a message shows.
    pub name: String,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Format::ALL.map(|format| format!("`{}`", format.name()));
        write!(f, "format `{}` is unknown; the formats are: {}", self.name, known.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}

/// What is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// What it is called: a path, or `-` for standard input. Nothing is read from there.
    pub name: &'s str,
    /// What it holds.
    pub bytes: &'s [u8],
    /// Its format, if somebody says so; otherwise it is recognised.
    pub format: Option<Format>,
}

impl<'s> Source<'s> {
    /// Bytes whose format is to be recognised.
    #[must_use]
    pub fn new(name: &'s str, bytes: &'s [u8]) -> Self {
        Self { name, bytes, format: None }
    }
}

/// A protocol that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The format in which it is written.
    pub format: Format,
    /// What people read of it, and what places in it refer to.
    pub text: String,
    /// The protocol.
    pub program: Program,
    /// The names that it declares with `param`.
    pub params: Params,
    /// What it says is not to be reported of it, each once.
    pub allows: Vec<Allow>,
    /// The places of branches and loops whose condition is the name of a constant alone, or its negation:
    /// which way they go was set on purpose.
    pub switches: BTreeSet<Place>,
    /// What looks unintended without being wrong, in the order of the text.
    pub lints: Vec<Linted>,
    /// What is taken for true of a kernel.
    pub warnings: Vec<Diagnostic>,
    /// Where the protocol was not written but extracted from a kernel, how.
    pub extracted: Option<Extracted>,
}

impl Loaded {
    /// The definitions among `options` that concern this protocol.
    #[must_use]
    pub fn used_defines(&self, options: &LoadOptions) -> BTreeMap<String, i64> {
        let used = options.defines.iter().filter(|(name, _)| self.params.contains(*name));
        used.map(|(name, value)| (name.clone(), *value)).collect()
    }
}

/// Why something is no protocol. In words: the first of the diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The format in which it was read; `None` if no format recognises it.
    pub format: Option<Format>,
    /// What people read of it, and what places in it refer to; empty if there is nothing to be read.
    pub text: String,
    /// What is wrong, at least one an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadError {
    /// Whether nothing is known to be wrong: the reading was ended, since patience was over.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.code == LATE)
    }

    /// What the reader met that it does not follow, if that is why there is no protocol. Nothing need be
    /// wrong with the text.
    #[must_use]
    pub fn not_followed(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|diagnostic| diagnostic.code == BEYOND)
    }

    fn unrecognised(bytes: &[u8]) -> Self {
        let known = Format::ALL.map(|format| {
            let endings: Vec<String> = format.extensions().iter().map(|e| format!("`.{e}`")).collect();
            format!("`{}` ({})", format.name(), endings.join(", "))
        });
        let message = "no format recognises what this holds";
        let error = Diagnostic::error("unknown-format", message, Span::default())
            .note(format!("the formats are: {}", known.join(", ")))
            .help(if bytes.starts_with(b"\x7fELF") {
                "this is compiled: `cuobjdump -sass kernel.cubin > kernel.sass` makes a listing of it, `cuobjdump -ptx` \
                 shows its PTX"
            } else {
                "the ending of a file's name says in which format it is"
            });
        Self { format: None, text: String::new(), diagnostics: vec![error] }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.diagnostics.first().map_or("malformed", |first| first.message.as_str()))
    }
}

impl std::error::Error for LoadError {}

/// The names that a protocol declares with `param`, whatever their values; nothing if it cannot be parsed.
///
/// ```
/// use barcheck_specs::{Source, params};
///
/// let text = b"target ptx; param N = 0; cta 32 / N; warp 0 { }";
/// assert!(params(&Source::new("ring.bar", text)).is_some_and(|params| params.contains("N")));
/// assert_eq!(params(&Source::new("ring.bar", b"target")), None);
/// ```
#[must_use]
pub fn params(source: &Source<'_>) -> Option<Params> {
    let format = source.format.or_else(|| Format::recognise(source.name, source.bytes))?;
    format.params(source.bytes)
}

/// The kernels of a module, each of which has a protocol of its own; none where the format has a single
/// protocol to a file.
///
/// # Errors
/// As [`load`].
pub fn entries(source: &Source<'_>) -> Result<Vec<Entry>, LoadError> {
    let format = source.format.or_else(|| Format::recognise(source.name, source.bytes));
    let Some(format) = format else { return Err(LoadError::unrecognised(source.bytes)) };
    format.entries(source.bytes).map_err(|diagnostics| {
        let text = format.text(source.bytes);
        LoadError { format: Some(format), text, diagnostics }
    })
}

/// The instructions in the code of a kernel that concern barriers, or that cannot be followed: the place of
/// each and how it is written. Whether any way leads to them is not looked at, so that there is something to
/// see of a kernel that cannot be followed. Nothing where the format has no kernels, or where these cannot be
/// read.
///
/// ```
/// use barcheck_specs::{LoadOptions, Source, barriers_in_code};
///
/// let text = b".version 8.0\n.entry k() .reqntid 32\n{\nbar.sync 0;\nret;\n}\n";
/// let found = barriers_in_code(&Source::new("k.ptx", text), &LoadOptions::default());
/// assert_eq!((found[0].0.line, found[0].1.as_str()), (4, "bar.sync 0"));
/// ```
#[must_use]
pub fn barriers_in_code(source: &Source<'_>, options: &LoadOptions) -> Vec<(Place, String)> {
    match source.format.or_else(|| Format::recognise(source.name, source.bytes)).map(Format::reader) {
        Some(Kernels(notation)) => notation.barriers(source.bytes, options).unwrap_or_default(),
        Some(Protocols) | None => Vec::new(),
    }
}

/// Reads a protocol in any of the formats.
///
/// ```
/// use barcheck_specs::{Format, LoadOptions, Source, load};
///
/// let bytes = b"target ptx; cta 64; warps 0..2 { bar.sync 0; }";
/// let loaded = load(&Source::new("meet.bar", bytes), &LoadOptions::default()).expect("it is well formed");
/// assert_eq!((loaded.format, loaded.program.agents.len()), (Format::Bar, 2));
///
/// let error = load(&Source::new("kernel.bin", b"\x7fELF\xff"), &LoadOptions::default()).unwrap_err();
/// assert_eq!((error.format, error.diagnostics[0].code), (None, "unknown-format"));
/// ```
///
/// # Errors
/// No format recognises the bytes, or the reader of their format says why they are no protocol.
pub fn load(source: &Source<'_>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_within(source, options, &Patience::default())
}

/// The same as long as patience lasts.
///
/// # Errors
/// As [`load`], or patience is over: see [`LoadError::is_late`].
pub fn load_within(
    source: &Source<'_>,
    options: &LoadOptions,
    patience: &Patience,
) -> Result<Loaded, LoadError> {
    let recognised = || Format::recognise(source.name, source.bytes);
    let Some(format) = source.format.or_else(recognised) else {
        return Err(LoadError::unrecognised(source.bytes));
    };
    let text = format.text(source.bytes);
    match format.read(source.bytes, options, patience) {
        Ok(Contents { program, params, allows, switches, lints, warnings, extracted }) => {
            Ok(Loaded { format, text, program, params, allows, switches, lints, warnings, extracted })
        }
        Err(diagnostics) => Err(LoadError { format: Some(format), text, diagnostics }),
    }
}
