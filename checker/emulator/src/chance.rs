//! Numbers that look random and are the same every time.

/// A generator of numbers (Steele, Lea and Flood, SplitMix, 2014).
pub struct Chance(pub u64);

impl Chance {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() % bound.max(1) as u64).unwrap_or(0)
    }

    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The same for the same numbers.
pub fn hash(numbers: &[u64]) -> u64 {
    let mix = |hash: u64, number: &u64| mixed((hash ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15));
    numbers.iter().fold(0x1234_5678, mix)
}

/// A word as one meets it in the data of kernels: small more often than not.
pub fn likely(bits: u64) -> u32 {
    let number = (bits >> 8) as u32;
    match bits % 16 {
        0..=4 => number % 4,
        5..=7 => number % 40,
        8 => number % 17 * 32,
        9 => u32::MAX,
        10 | 11 => ((number % 512) as f32 / 16.0 - 16.0).to_bits(),
        12 => number ^ (bits >> 32) as u32,
        13 => number % 4096,
        _ => number & 0x0101_0101,
    }
}
