// The packed core as a page unpacks it, whole and damaged.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { VIEWER, violated } from "./harness.js";

const page = readFileSync(violated("ptx/deadlock_crossed_order"), "utf8");
const inPage = /<script type="application\/x-lzma" id="core">([^<]*)</.exec(page)[1];
const packed = readFileSync(join(VIEWER, "core.wasm.lzma"));
const { bytesOf, unpacked } = runInNewContext(`${readFileSync(join(VIEWER, "lzma.js"), "utf8")}; ({ bytesOf, unpacked })`);

test("the text in the page is the packed core, which unpacks to what was compiled", () => {
  const bytes = bytesOf(inPage);
  assert.deepEqual(Buffer.from(bytes).subarray(0, packed.length), packed);
  const [, digest] = readFileSync(join(VIEWER, "core.txt"), "utf8").split("\n");
  assert.equal(createHash("sha256").update(unpacked(bytes)).digest("hex"), digest);
});

test("a core that was cut short is refused", () => {
  for (const length of [0, 4, 12, 13, 17, 18, 1000, packed.length - 100]) {
    assert.throws(() => unpacked(new Uint8Array(packed.subarray(0, length))), `${length} bytes`);
  }
});

test("a damaged core is refused or unpacks to other bytes, and nothing goes on for ever", () => {
  const whole = createHash("sha256").update(unpacked(new Uint8Array(packed))).digest("hex");
  let refused = 0;
  for (let at = 0; at < 4096; at += 61) {
    const damaged = new Uint8Array(packed);
    damaged[at] ^= 0x55;
    try {
      const other = createHash("sha256").update(unpacked(damaged)).digest("hex");
      assert.notEqual(other, whole, `byte ${at}`);
    } catch (error) {
      assert.match(error.message, /^the packed data /);
      refused++;
    }
  }
  assert.ok(refused > 10);
});
