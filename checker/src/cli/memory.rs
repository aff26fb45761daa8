//! How much memory a search may use when the user does not say, and how much the process has taken.

use std::fs;
use std::path::{Path, PathBuf};

/// The least that is worth beginning with, where there is so much.
const LEAST: u64 = 256 << 20;
/// What the process takes besides what a budget counts: its code, the text, counterexamples, the pages of
/// files that it reads and writes.
const BESIDES: u64 = 48 << 20;
const UNKNOWN: u64 = 2 << 30;

/// Half of the memory that this process can still get: what the machine has available, or what its control
/// group leaves it, whichever is less. Where that is little, 256 MiB, if so much is left beside what the
/// process takes for itself; a process that takes more than its group has is killed. 2 GiB where nothing can
/// be found out.
pub(crate) fn default_budget() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok();
    let group = group.and_then(|text| group_leaves(Path::new("/sys/fs/cgroup"), &text));
    budget(machine, group)
}

/// Where the count begins of the most memory that the process takes.
pub(crate) struct Mark {
    /// The most that it had taken before, if that could not be forgotten.
    before: Option<u64>,
}

impl Mark {
    /// The count begins here, as far as the system lets it: what the process has taken before is forgotten.
    pub(crate) fn set() -> Self {
        // As proc_pid_clear_refs(5) has it: the peak is what is resident now.
        let is_forgotten = fs::write("/proc/self/clear_refs", "5").is_ok();
        Self { before: if is_forgotten { None } else { most_resident() } }
    }

    /// The most that the process has taken since, in bytes, where the system says so; otherwise what was
    /// `counted`. Where what was taken before cannot be forgotten, only what exceeds it is known.
    pub(crate) fn most(&self, counted: u64) -> u64 {
        let taken = most_resident().filter(|most| self.before.is_none_or(|before| *most > before));
        taken.unwrap_or(counted)
    }
}

/// The most memory that the process has had resident, in bytes.
fn most_resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn budget(machine: Option<u64>, group: Option<u64>) -> u64 {
    let Some(bytes) = [machine, group].into_iter().flatten().min() else { return UNKNOWN };
    // A tenth may be used beyond the budget.
    let most = bytes.saturating_sub(BESIDES) / 11 * 10;
    (bytes / 2).max(LEAST).min(most).max(1 << 20)
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What the control groups of `/proc/self/cgroup` leave: limit less use, the least over the group and those
/// around it. `root` is where control groups are mounted.
fn group_leaves(root: &Path, cgroup: &str) -> Option<u64> {
    cgroup
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let path = path.trim_start_matches('/');
            if controllers.is_empty() {
                least(root, path, "memory.max", "memory.current")
            } else if controllers.split(',').any(|c| c == "memory") {
                least(&root.join("memory"), path, "memory.limit_in_bytes", "memory.usage_in_bytes")
            } else {
                None
            }
        })
        .min()
}

/// The least that a group below `root` and those around it leave. A group that is not visible from inside a
/// container is passed over.
fn least(root: &Path, path: &str, limit: &str, current: &str) -> Option<u64> {
    let number = |file: PathBuf| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let group = root.join(path);
    group
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .filter_map(|folder| {
            let bytes = number(folder.join(limit))?;
            Some(bytes.saturating_sub(number(folder.join(current)).unwrap_or(0)))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_there_is() {
        let meminfo = "MemTotal:       24000000 kB\nMemAvailable:   16777216 kB\n";
        assert_eq!(available(meminfo), Some(16 << 30));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        assert_eq!(budget(Some(16 << 30), None), 8 << 30);
        assert_eq!(budget(Some(16 << 30), Some(4 << 30)), 2 << 30);
        assert_eq!(budget(Some(400 << 20), None), LEAST);
        assert_eq!(budget(None, None), UNKNOWN);
        assert!(default_budget() > 0);
    }

    #[test]
    fn what_a_process_takes_after_a_mark_is_what_it_takes_at_least() {
        let counted = 7;
        let mark = Mark::set();
        let held = vec![1_u8; 64 << 20];
        let most = mark.most(counted);
        assert!(most == counted || most >= 64 << 20, "{most}");
        assert!(held.iter().all(|byte| *byte == 1));
        if cfg!(target_os = "linux") {
            assert_ne!(most, counted);
        }
    }

    #[test]
    fn what_cannot_be_forgotten_is_not_told_again() {
        let most = most_resident().unwrap_or(0);
        assert_eq!(Mark { before: Some(most + (1 << 40)) }.most(7), 7);
    }

    #[test]
    fn the_default_budget_fits_below_the_limit_of_a_small_group() {
        for mib in [1_u64, 64, 100, 200, 256, 300, 512, 4096] {
            let limit = mib << 20;
            let budget = budget(Some(16 << 30), Some(limit));
            assert!(budget > 0);
            let taken = budget / 10 * 11 + BESIDES;
            assert!(taken <= limit || limit < BESIDES + (2 << 20), "{mib} MiB: {budget} bytes");
        }
    }

    /// A folder in which control groups look mounted, with these files.
    fn groups(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    #[test]
    fn what_groups_of_both_versions_leave_is_found() {
        let second = groups(&[
            ("box/memory.max", "209715200\n"),
            ("box/memory.current", "9715200\n"),
            ("box/inner/memory.max", "max\n"),
        ]);
        assert_eq!(group_leaves(second.path(), "0::/box/inner\n"), Some(200_000_000));
        assert_eq!(group_leaves(second.path(), "0::/\n"), None);
        let first = groups(&[
            ("memory/box/memory.limit_in_bytes", "209715200\n"),
            ("memory/box/memory.usage_in_bytes", "209715201\n"),
        ]);
        assert_eq!(group_leaves(first.path(), "9:cpu:/box\n4:memory,hugetlb:/box\n"), Some(0));
    }
}
