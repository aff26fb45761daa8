//! Values of options: sizes, times, definitions, reports, parts.

use super::sweep::ranged;
use barcheck_specs::definition;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// What a report looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    Human,
    /// One JSON object for each FILE, one per line
    Json,
    /// JUnit XML: one test case for each FILE
    Junit,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// A table with a row for each file or kernel, and what stands in the way, grouped
    Table,
    /// The same in Markdown
    Markdown,
}

/// `--report FORMAT=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportTo {
    /// What it looks like.
    pub(crate) format: ReportFormat,
    /// The file that it goes to.
    pub(crate) path: PathBuf,
}

/// Reads `FORMAT=PATH`.
pub(crate) fn report(text: &str) -> Result<ReportTo, String> {
    let (name, path) = text.split_once('=').ok_or("expected FORMAT=PATH, as in `sarif=barcheck.sarif`")?;
    let names = || {
        let values = ReportFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        values.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    let format = ReportFormat::from_str(name, false)
        .map_err(|_| format!("`{name}` is not a format; there are {}", names()))?;
    match path {
        "" => Err("expected a PATH after `=`".to_owned()),
        "-" => Err(format!("standard output is what `--format {name}` is for")),
        _ => Ok(ReportTo { format, path: PathBuf::from(path) }),
    }
}

/// `--partition i/n`: one of several parts of the list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// From 1.
    part: u32,
    /// At least `part`.
    of: u32,
}

impl Partition {
    /// How many files stand before the first of this part.
    pub(crate) fn skip(self) -> usize {
        usize::try_from(self.part - 1).unwrap_or(usize::MAX)
    }

    /// Each file of this part is so many behind the one before it.
    pub(crate) fn step(self) -> usize {
        usize::try_from(self.of).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// Reads `i/n`.
pub(crate) fn partition(text: &str) -> Result<Partition, String> {
    let wanted = "expected i/n with i from 1 to n, as in `1/3`, `2/3` and `3/3`";
    let number = |digits: &str| -> Option<u32> {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    };
    let (part, of) = text.split_once('/').ok_or(wanted)?;
    match (number(part), number(of)) {
        (Some(part), Some(of)) if (1..=of).contains(&part) => Ok(Partition { part, of }),
        _ => Err(wanted.to_owned()),
    }
}

/// Parses one of a fixed list of names; what is not on it gets a suggestion, and completion scripts know the
/// list.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [(T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|(_, name)| PossibleValue::new(*name))).try_map(|typed| {
        all.iter().find(|(_, name)| *name == typed).map(|(value, _)| *value).ok_or("unknown name")
    })
}

/// `--cta X,Y,Z`: lengths in three directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent(pub(crate) [u32; 3]);

/// Reads `X`, `X,Y` or `X,Y,Z`.
pub(crate) fn extent(text: &str) -> Result<Extent, String> {
    let mut size = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > size.len() {
        return Err("expected at most three lengths, as in `16,16,1`".to_owned());
    }
    for (length, part) in size.iter_mut().zip(parts) {
        let number: Option<u32> = part.trim().parse().ok();
        *length = number
            .filter(|number| *number > 0)
            .ok_or_else(|| format!("`{part}` is no number of threads; expected X, X,Y or X,Y,Z"))?;
    }
    Ok(Extent(size))
}

/// `--param PARAM=VALUE`, `--param PARAM=LEAST..` or `--param PARAM=*MULTIPLE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelParam {
    /// The parameter's position from 0, or its name.
    pub(crate) name: String,
    /// Its value, or what is said of it.
    pub(crate) value: i64,
    pub(crate) is: ParamIs,
}

/// What a parameter is to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamIs {
    Equal,
    AtLeast,
    MultipleOf,
}

/// Reads `PARAM=VALUE`, `PARAM=LEAST..` or `PARAM=*MULTIPLE`.
pub(crate) fn kernel_param(text: &str) -> Result<KernelParam, String> {
    let (name, value) = text.split_once('=').ok_or("expected PARAM=VALUE, as in `--param 3=64`")?;
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$%+[].".contains(c));
    if !is_name {
        return Err(format!("`{name}` is neither the position nor the name of a parameter"));
    }
    let (value, is) = match (value.split_once(".."), value.strip_prefix('*')) {
        (None, None) => (value, ParamIs::Equal),
        (None, Some(multiple)) => (multiple, ParamIs::MultipleOf),
        (Some((least, "")), None) => (least, ParamIs::AtLeast),
        (Some(_), _) => {
            return Err("a parameter has one value, is at least one, or a multiple of one: `--param 3=64`, \
                        `--param 3=1..`, `--param 3=*8`"
                .to_owned());
        }
    };
    let value = barcheck_specs::definition::integer(value)?;
    match is {
        ParamIs::AtLeast if value < 0 => {
            Err(format!("`{value}..`: what a parameter is at least is not negative"))
        }
        ParamIs::MultipleOf if !(1..1 << 31).contains(&value) => {
            Err(format!("`*{value}`: what a parameter is a multiple of is from 1 to 2147483647"))
        }
        _ => Ok(KernelParam { name: name.to_owned(), value, is }),
    }
}

/// `-D NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Define {
    /// The `param`.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: i64,
}

/// Reads `NAME=VALUE`, for commands that do something with one protocol and not with several.
pub(crate) fn define(text: &str) -> Result<Define, String> {
    let several = ranged(text).is_ok_and(|ranged| ranged.values.len() > 1);
    if several {
        let said = "are several values, and this command takes one; `barcheck verify` decides each of them";
        return Err(format!("`{}` {said}", text.split_once('=').map_or(text, |(_, values)| values)));
    }
    let (name, value) = definition(text)?;
    Ok(Define { name, value })
}

/// What is said of a definition that sets no `param`: of the one file, or of all of several, whose params are
/// `known`.
pub(crate) fn no_such_param(unknown: &str, one_file: bool, known: &BTreeSet<String>) -> String {
    let (files, verb) = if one_file { ("the file", "has no") } else { ("no FILE", "has a") };
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let there_are = match known.as_slice() {
        [] => "there are no params".to_owned(),
        [one] => format!("there is {one}"),
        _ => format!("there are {}", known.join(", ")),
    };
    format!("{files} {verb} `param {unknown}` to set with -D; {there_are}")
}

/// Reads a number of threads.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse::<NonZeroUsize>().ok().filter(|number| number.get() <= 64);
    number.ok_or_else(|| "expected a number of threads, from 1 to 64".to_owned())
}

/// Reads a number of bytes, with K, M or G in powers of 1,024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&text[..at], 1 << 30),
        _ => (text, 1_u64),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("expected a number of bytes, or a number followed by K, M or G".to_owned());
    }
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    match number {
        None => Err("the size does not fit into 64 bits".to_owned()),
        Some(0) => Err("the size must be positive".to_owned()),
        Some(bytes) => Ok(bytes),
    }
}

/// Reads a positive number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 =
        text.parse().map_err(|_| "expected a number of seconds, as in `0.5` or `60`".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err("the time must be positive".to_owned()),
        Err(_) => Err("expected a number of seconds, as in `0.5` or `60`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_takes_one_value_refuses_several() {
        let one = Define { name: "N".to_owned(), value: -16 };
        assert_eq!(define("N=-0x10"), Ok(one));
        for several in ["N=2..8", "N=2,4"] {
            assert!(define(several).is_err_and(|error| error.contains("takes one")), "{several}");
        }
        assert!(define("N=8..2").is_err_and(|error| error.contains("is not an integer")));
    }

    #[test]
    fn sizes() {
        assert_eq!(size("123"), Ok(123));
        assert_eq!(size("2K"), Ok(2048));
        assert_eq!(size("3m"), Ok(3 << 20));
        assert_eq!(size("4G"), Ok(4 << 30));
        for bad in ["", "K", "0", "-1", "1.5G", "1T", "99999999999G", "1é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "0", "-1", "nan", "inf", "1e300", "x"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parts_are_counted_from_one() {
        for text in ["1/1", "1/3", "3/3", "7/4294967295"] {
            assert_eq!(partition(text).map(|part| part.to_string()).as_deref(), Ok(text));
        }
        for text in [
            "",
            "/",
            "1",
            "0/3",
            "4/3",
            "1/0",
            "0/0",
            "-1/3",
            "+1/3",
            "1/3/3",
            "a/b",
            "1/ 3",
            "1/99999999999",
        ] {
            assert!(partition(text).is_err_and(|message| message.contains("from 1 to n")), "{text}");
        }
    }

    #[test]
    fn reports_name_format_and_path() {
        let path = |text| report(text).map(|report| (report.format, report.path));
        assert_eq!(path("sarif=a=b"), Ok((ReportFormat::Sarif, PathBuf::from("a=b"))));
        assert!(path("sarif").is_err_and(|message| message.contains("FORMAT=PATH")));
        assert!(path("xml=a").is_err_and(|message| message.contains("human, json, junit, sarif, github")));
        assert!(path("junit=").is_err_and(|message| message.contains("PATH")));
        assert!(path("junit=-").is_err_and(|message| message.contains("--format junit")));
    }
}
