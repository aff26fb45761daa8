//! How much memory a search may use when the user does not say.

use std::fs;
use std::path::{Path, PathBuf};

const LEAST: u64 = 256 << 20;
const UNKNOWN: u64 = 2 << 30;

/// Half of the memory that this process can still get: what the machine has available, or what its control
/// group leaves it, whichever is less. At least 256 MiB; 2 GiB where nothing can be found out.
pub(crate) fn default_budget() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| group_leaves(&text));
    budget(machine, group)
}

fn budget(machine: Option<u64>, group: Option<u64>) -> u64 {
    match [machine, group].into_iter().flatten().min() {
        Some(bytes) => (bytes / 2).max(LEAST),
        None => UNKNOWN,
    }
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What the control groups of `/proc/self/cgroup` leave: limit less use, the least over the group and those
/// around it.
fn group_leaves(cgroup: &str) -> Option<u64> {
    cgroup
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let path = path.trim_start_matches('/');
            if controllers.is_empty() {
                least(Path::new("/sys/fs/cgroup"), path, "memory.max", "memory.current")
            } else if controllers.split(',').any(|c| c == "memory") {
                let root = Path::new("/sys/fs/cgroup/memory");
                least(root, path, "memory.limit_in_bytes", "memory.usage_in_bytes")
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
        assert_eq!(budget(Some(1 << 20), None), LEAST);
        assert_eq!(budget(None, None), UNKNOWN);
        assert!(default_budget() >= LEAST);
    }
}
