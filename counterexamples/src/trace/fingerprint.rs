//! A name for a finding that stays while the finding does.

use crate::trace::Trace;

/// What a fingerprint is made of: nothing that changes when lines are added elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The file; its folders are left out.
    pub file: &'a str,
    /// The barrier system.
    pub target: &'a str,
    /// The rule, or what else ended the run.
    pub rule: &'a str,
    /// The instruction, as written.
    pub instruction: &'a str,
    /// The barrier.
    pub barrier: Option<u32>,
}

/// The fingerprint of what a trace shows: 16 hexadecimal digits.
#[must_use]
pub fn fingerprint(trace: &Trace) -> String {
    let outcome = &trace.outcome;
    fingerprint_of(Identity {
        file: &trace.protocol.file,
        target: &trace.protocol.target,
        rule: outcome.rule.as_deref().unwrap_or(&outcome.headline),
        instruction: &outcome.instruction,
        barrier: outcome.barrier,
    })
}

/// The fingerprint of a finding: 16 hexadecimal digits. The same on every machine and in every version.
#[must_use]
pub fn fingerprint_of(identity: Identity<'_>) -> String {
    let name = identity.file.rsplit(['/', '\\']).next().unwrap_or(identity.file);
    // Spacing is a matter of taste, not of what is found.
    let instruction = identity.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    let barrier = identity.barrier.map_or_else(|| "-".to_owned(), |b| b.to_string());
    let mut hash = Fnv::default();
    for part in [name, identity.target, identity.rule, &instruction, &barrier] {
        // The length first, so that parts cannot run into one another.
        hash.write(&(part.len() as u64).to_le_bytes());
        hash.write(part.as_bytes());
    }
    format!("{:016x}", hash.0)
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity<'static> {
        let (target, rule) = ("ptx", "deadlock");
        Identity { file: "a/ring.bar", target, rule, instruction: "bar.sync  1, 64", barrier: Some(1) }
    }

    #[test]
    fn a_fingerprint_stays_what_it_is() {
        let expected = fingerprint_of(identity());
        assert_eq!(expected.len(), 16);
        assert_eq!(expected, fingerprint_of(Identity { file: "b\\ring.bar", ..identity() }));
        assert_eq!(expected, fingerprint_of(Identity { instruction: "bar.sync 1, 64", ..identity() }));
        let others = [
            Identity { rule: "data-race", ..identity() },
            Identity { barrier: None, ..identity() },
            Identity { target: "bcu", ..identity() },
            Identity { file: "other.bar", ..identity() },
            Identity { instruction: "bar.sync 1, 96", ..identity() },
        ];
        assert!(others.into_iter().all(|other| fingerprint_of(other) != expected));
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = Fnv::default();
        hash.write(b"foobar");
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }
}
