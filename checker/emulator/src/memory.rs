//! Memory whose contents nobody knows: random, and the same whenever the same place is read.

use super::chance::{hash, likely};
use std::collections::HashMap;

/// Words of four bytes.
#[derive(Default)]
pub struct Words {
    salt: u64,
    stored: HashMap<u64, u32>,
}

impl Words {
    pub fn new(salt: u64) -> Self {
        Self { salt, stored: HashMap::new() }
    }

    fn word(&self, index: u64) -> u32 {
        self.stored.get(&index).copied().unwrap_or_else(|| likely(hash(&[self.salt, index])))
    }

    /// The bytes from an address on, 8 at the most.
    pub fn load(&self, address: u64, bytes: u32) -> u64 {
        if address.is_multiple_of(4) && bytes == 4 {
            return self.word(address / 4).into();
        }
        let byte = |place: u32| {
            let at = address.wrapping_add(place.into());
            let byte = self.word(at / 4) >> (8 * (at % 4));
            u64::from(byte & 255) << (8 * place)
        };
        (0..bytes.min(8)).map(byte).sum()
    }

    pub fn store(&mut self, address: u64, bytes: u32, value: u64) {
        if address.is_multiple_of(4) && bytes == 4 {
            self.stored.insert(address / 4, value as u32);
            return;
        }
        for place in 0..bytes.min(8) {
            let at = address.wrapping_add(place.into());
            let shift = 8 * (at % 4);
            let word = self.word(at / 4) & !(255 << shift);
            let byte = (value >> (8 * place)) as u32 & 255;
            self.stored.insert(at / 4, word | byte << shift);
        }
    }
}
