// Unpacks what LZMA has packed, since browsers cannot. After "LZMA specification (DRAFT version)" of Igor Pavlov's LZMA SDK.

/** Bytes from text: two characters stand for 13 bits, as digits to the base of the 91 that mean nothing to HTML. */
function bytesOf(text) {
  const digit = (at) => {
    const c = text.charCodeAt(at);
    return c - 33 - (c > 38) - (c > 60) - (c > 62);
  };
  const bytes = new Uint8Array((text.length >> 1) * 13 >> 3);
  let [held, bits, made] = [0, 0, 0];
  for (let at = 0; at + 1 < text.length; at += 2) {
    held = held << 13 | digit(at) * 91 + digit(at + 1);
    for (bits += 13; bits > 7; bits -= 8) bytes[made++] = held >> bits - 8;
    held &= (1 << bits) - 1;
  }
  return bytes;
}

/** The range coder: bits that are guessed at, each by an odds of its own, and bits that are not. */
function rangeCoder(packed, at, odds) {
  let [range, code] = [0xffffffff, 0];
  const next = () => {
    if (at >= packed.length) throw new Error("the packed data end too early");
    return packed[at++];
  };
  const refill = () => {
    if (range >= 0x1000000) return;
    range = range << 8 >>> 0;
    code = (code << 8 | next()) >>> 0;
  };
  for (let i = 0; i < 5; i++) code = (code << 8 | next()) >>> 0;
  const bit = (place) => {
    refill();
    const bound = (range >>> 11) * odds[place];
    if (code < bound) {
      range = bound;
      odds[place] += 2048 - odds[place] >> 5;
      return 0;
    }
    range -= bound;
    code -= bound;
    odds[place] -= odds[place] >> 5;
    return 1;
  };
  const plain = (count) => {
    let value = 0;
    for (; count > 0; count--) {
      refill();
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code -= range;
      value = value * 2 + one;
    }
    return value;
  };
  /** A number of so many bits, the highest first; those before decide which odds the next has. */
  const tree = (place, bits) => {
    let node = 1;
    for (let i = 0; i < bits; i++) node = node << 1 | bit(place + node);
    return node - (1 << bits);
  };
  /** The same, the lowest first. */
  const reverse = (place, bits) => {
    let [node, value] = [1, 0];
    for (let i = 0; i < bits; i++) {
      const one = bit(place + node);
      node = node << 1 | one;
      value |= one << i;
    }
    return value;
  };
  return { bit, plain, tree, reverse };
}

/** What an LZMA file holds whose header gives its length. */
function unpacked(packed) {
  const [lc, lp, pb] = [packed[0] % 9, Math.floor(packed[0] / 9) % 5, Math.floor(packed[0] / 45)];
  const length = new DataView(packed.buffer).getUint32(5, true);
  if (pb > 4 || length > 1 << 24) throw new Error("the packed data begin wrongly");
  // Where each kind of bit has its odds.
  const [MATCH, REP, REP0, REP1, REP2, LONG, SLOT, SPECIAL, ALIGN] = [0, 192, 204, 216, 228, 240, 432, 688, 816];
  const [LENGTH, REP_LENGTH, LITERAL] = [832, 1346, 1860];
  const odds = new Uint16Array(LITERAL + (0x300 << lc + lp)).fill(1024);
  const { bit, plain, tree, reverse } = rangeCoder(packed, 13, odds);
  const out = new Uint8Array(length);
  let [made, state, rep] = [0, 0, [0, 0, 0, 0]];

  const literal = () => {
    const before = made > 0 ? out[made - 1] : 0;
    const place = LITERAL + 0x300 * (((made & (1 << lp) - 1) << lc) + (before >> 8 - lc));
    let node = 1;
    // After a match, the byte that would have gone on with it says what this one is not.
    if (state > 6) {
      for (let other = out[made - rep[0] - 1], same = true; same && node < 0x100; other <<= 1) {
        const guess = other >> 7 & 1;
        const one = bit(place + (1 + guess << 8) + node);
        node = node << 1 | one;
        same = guess === one;
      }
    }
    while (node < 0x100) node = node << 1 | bit(place + node);
    out[made++] = node;
    state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
  };
  const lengthAt = (place, lower) => {
    if (!bit(place)) return 2 + tree(place + 2 + lower * 8, 3);
    return bit(place + 1) ? 18 + tree(place + 258, 8) : 10 + tree(place + 130 + lower * 8, 3);
  };
  const distance = (count) => {
    const slot = tree(SLOT + 64 * Math.min(count - 2, 3), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | slot & 1) * 2 ** bits;
    return slot < 14 ? base + reverse(SPECIAL + base - slot, bits) : base + plain(bits - 4) * 16 + reverse(ALIGN, 4);
  };
  /** How many bytes come again, and from now on from how far back. */
  const repeat = (lower) => {
    if (!bit(REP + state)) {
      const count = lengthAt(LENGTH, lower);
      rep = [distance(count), ...rep.slice(0, 3)];
      state = state < 7 ? 7 : 10;
      return count;
    }
    if (!bit(REP0 + state)) {
      if (!bit(LONG + state * 16 + lower)) {
        state = state < 7 ? 9 : 11;
        return 1;
      }
    } else {
      const [which] = rep.splice(!bit(REP1 + state) ? 1 : 2 + bit(REP2 + state), 1);
      rep.unshift(which);
    }
    state = state < 7 ? 8 : 11;
    return lengthAt(REP_LENGTH, lower);
  };
  while (made < length) {
    const lower = made & (1 << pb) - 1;
    if (!bit(MATCH + state * 16 + lower)) {
      literal();
      continue;
    }
    const count = repeat(lower);
    if (rep[0] >= made || count > length - made) throw new Error("the packed data are damaged");
    for (let i = 0; i < count; i++, made++) out[made] = out[made - rep[0] - 1];
  }
  return out;
}
