//! What is said of a kernel's accesses to shared memory.

use super::output::grouped;
use barcheck_specs::Accesses;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long accesses are followed at most where a kernel is shown, and not decided.
pub(crate) const A_WHILE: Duration = Duration::from_secs(10);

/// Lines of accesses that are not followed, of which it is said where they are.
const UNFOLLOWED: usize = 6;

/// How many accesses to shared memory are followed, and where others stand.
pub(crate) fn followed(memory: &Accesses) -> String {
    if let Some(why) = &memory.undecided {
        return format!("data races are not decided: {why}");
    }
    let all = memory.followed + memory.others.len();
    if all == 0 {
        return "nothing is accessed in shared memory".to_owned();
    }
    let (known, all) = (grouped(memory.followed as u64), grouped(all as u64));
    let said = format!("{known} of {all} accesses to shared memory are followed");
    let lines: BTreeSet<u32> = memory.others.iter().map(|place| place.line).collect();
    let shown: Vec<String> = lines.iter().take(UNFOLLOWED).map(u32::to_string).collect();
    match lines.len() {
        0 => said,
        all if all > shown.len() => {
            format!("{said}, not those at lines {} and {} more", shown.join(", "), all - shown.len())
        }
        1 => format!("{said}, not that at line {}", shown.join(", ")),
        _ => format!("{said}, not those at lines {}", shown.join(", ")),
    }
}
