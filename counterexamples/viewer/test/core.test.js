// The packed core as a page unpacks it, whole and damaged.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { verified, violated, KERNELS, VIEWER, WORK } from "./harness.js";

const coreOf = (page) => /<script type="application\/zlib" id="core">([^<]*)</.exec(readFileSync(page, "utf8"))[1];
const inPage = coreOf(violated("ptx/deadlock_crossed_order"));
const packed = readFileSync(join(VIEWER, "core-protocols.wasm.zlib"));
const whole = readFileSync(join(VIEWER, "core.wasm.zlib"));
const unpacked = runInNewContext(`${readFileSync(join(VIEWER, "core.js"), "utf8")}; unpacked`, { atob, Blob, DecompressionStream, Response });
const unpackedOf = (bytes) => unpacked(Buffer.from(bytes).toString("base64"));

test("the text in the page is the packed core, which unpacks to what was compiled", async () => {
  assert.equal(inPage, packed.toString("base64"));
  const digest = (bytes) => createHash("sha256").update(new Uint8Array(bytes)).digest("hex");
  const [, ofWhole, ofProtocols] = readFileSync(join(VIEWER, "core.txt"), "utf8").split("\n");
  assert.equal(digest(await unpacked(inPage)), ofProtocols);
  assert.equal(digest(await unpackedOf(whole)), ofWhole);
});

test("only the pages of compiled kernels carry what reads them", () => {
  const kernel = join(KERNELS, "ring.ptx");
  assert.equal(coreOf(verified(kernel, join(WORK, "ring.html"), 1, "--entry", "ring_one_less")), whole.toString("base64"));
  assert.ok(packed.length < 0.75 * whole.length);
});

test("a core that was cut short is refused", async () => {
  for (const length of [0, 1, 2, 3, 17, 1000, packed.length - 100, packed.length - 1]) {
    await assert.rejects(unpackedOf(packed.subarray(0, length)), `${length} bytes`);
  }
});

test("a damaged core is refused, and nothing goes on for ever", async () => {
  for (let at = 0; at < 4096; at += 61) {
    const damaged = Buffer.from(packed);
    damaged[at] ^= 0x55;
    await assert.rejects(unpackedOf(damaged), `byte ${at}`);
  }
});
