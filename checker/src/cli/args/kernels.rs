//! Options for compiled kernels.

use crate::cli::values;
use barcheck_specs::LoadOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::TimeArgs;

/// What is said of kernels.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct KernelArgs {
    /// Only the kernels of this name, or with NAME in theirs, or the one at this position from 0 [default:
    /// every one that has barriers]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Threads of a CTA, or members of a workgroup: X, or X,Y or X,Y,Z [default: what the kernel requires, or
    /// allows at most]
    #[arg(long, visible_alias = "workgroup", value_name = "X[,Y[,Z]]", value_parser = values::extent)]
    pub(crate) cta: Option<values::Extent>,
    /// CTAs of a cluster: X, or X,Y or X,Y,Z [default: what the kernel requires, else no cluster]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = values::extent)]
    pub(crate) cluster: Option<values::Extent>,
    /// Fix a parameter of the kernel, by its position from 0 or by its name; `1..` says that it is at least
    /// 1, `*8` that it is a multiple of 8 (may be repeated)
    #[arg(long, value_name = "PARAM=VALUE", value_parser = values::kernel_param)]
    pub(crate) param: Vec<values::KernelParam>,
    /// When `wgmma` is complete that the four warps of a warpgroup execute: for all of them together, once
    /// all have committed it, or for each warp by itself
    #[arg(long, value_name = "READING", value_enum, default_value_t)]
    pub(crate) warpgroups: Warpgroups,
    /// A warp that arrives twice in one generation of a named barrier of PTX with a count: an error, or
    /// counted twice, as GPUs do
    #[arg(long, value_name = "READING", value_enum, default_value_t)]
    pub(crate) repeated_arrivals: RepeatedArrivals,
}

impl KernelArgs {
    /// The option that gives the size of a group, if one does.
    pub(crate) fn group(&self) -> Option<&'static str> {
        let cluster = self.cluster.is_some().then_some("`--cluster`");
        self.cta.is_some().then_some("`--cta`").or(cluster)
    }
}

/// What it is that a warp arrives twice in one generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RepeatedArrivals {
    #[default]
    Error,
    Count,
}

/// When what a warpgroup computes is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Warpgroups {
    #[default]
    Together,
    Apart,
}

impl KernelArgs {
    /// Adds what is said to what a reader is told, for the kernel with this position in its module.
    pub(crate) fn tell(&self, load: &mut LoadOptions, entry: Option<usize>) {
        if let Some(values::Extent(size)) = self.cta {
            for (name, length) in ["cta.x", "cta.y", "cta.z"].into_iter().zip(size) {
                load.defines.insert(name.to_owned(), i64::from(length));
            }
        }
        if let Some(values::Extent(size)) = self.cluster {
            for (name, length) in ["cluster.x", "cluster.y", "cluster.z"].into_iter().zip(size) {
                load.defines.insert(name.to_owned(), i64::from(length));
            }
        }
        for param in &self.param {
            let is = match param.is {
                values::ParamIs::Equal => "",
                values::ParamIs::AtLeast => "..",
                values::ParamIs::MultipleOf => "*",
            };
            load.defines.insert(format!("param.{}{is}", param.name), param.value);
        }
        if self.warpgroups == Warpgroups::Apart {
            load.defines.insert("warpgroups.apart".to_owned(), 1);
        }
        if self.repeated_arrivals == RepeatedArrivals::Count {
            load.defines.insert("repeated_arrivals.count".to_owned(), 1);
        }
        if let Some(entry) = entry {
            load.defines.insert("entry.index".to_owned(), i64::try_from(entry).unwrap_or(i64::MAX));
        }
    }
}

/// `barcheck extract`.
#[derive(Debug, Args)]
#[command(after_help = EXTRACT_EXAMPLES)]
pub(crate) struct ExtractArgs {
    /// A module of compiled kernels (`.ptx` and others); `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// Without accesses to shared memory
    #[arg(long)]
    pub(crate) no_memory: bool,
    /// Write the protocol to PATH instead of standard output
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const EXTRACT_EXAMPLES: &str = "\
Examples:
  barcheck extract --cta 256 kernel.ptx > kernel.bar
  barcheck extract --entry attention --cta 128,2 --param 3=64 kernel.ptx | barcheck verify -

What is printed is a protocol: `verify` takes it as it is, and says of it what it says of the kernel.

Exit status: 0 it was extracted, 2 FILE cannot be read, 3 the kernel does what is not followed, or time was up.";

/// `barcheck doctor`.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Modules of compiled kernels (`.ptx` and others); `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  barcheck doctor --cta 256 kernel.ptx

Says of each kernel how its agents divide into roles, which barriers they use and where, what would be taken for
true, and what would not be followed. It decides nothing.

Exit status: 0 every kernel can be followed, 2 some FILE cannot be read, 3 some kernel cannot be followed.";
