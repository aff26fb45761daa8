// Pictures of objects, of what is in flight, of what a rule is about, and of what a kernel was compiled from.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { axe, drawn, look, press, step, text, verified, violated, WORK } from "./harness.js";

const early = () => violated("ptx/mbarrier_stage_freed_early_broken");
const missing = () => violated("ptx/mbarrier_missing_bytes_broken");

for (const colorScheme of ["light", "dark"]) {
  test(`objects have lanes, phases are bands and copies are arrows, ${colorScheme}`, () => look(early(), { colorScheme }, async (page) => {
    await drawn(page);
    assert.deepEqual(await page.locator(".lane-label.object .name").allInnerTexts(), ["full[0]", "full[1]", "empty[0]", "empty[1]"]);
    assert.equal(await page.locator(".drawing rect.phase").count(), 6);
    assert.equal(await page.locator(".drawing rect.phase.open").count(), 4);
    assert.equal(await page.locator(".drawing .flight").count(), 3);
    assert.equal(await page.locator(".drawing .flight.lost").count(), 2);
    assert.match(await page.locator(".drawing .flight").first().textContent(), /4 KiB.*the copy of 4096 bytes to buf\[0\] by warp 0 for full\[0\], begun in step 3: lands in step 10/);
    assert.match(await text(page, "#legend"), /never lands/);
    assert.match(await text(page, "#barriers-body"), /in flight\s+the copy of 4096 bytes to buf\[0\] by warp 0 since step 14/);
    assert.deepEqual(await axe(page), []);
    await page.locator(".lane-label.object").first().click();
    await page.waitForURL(/barrier=\d+/);
    await page.getByRole("button", { name: /mbarriers/ }).click();
    await drawn(page);
    assert.equal(await page.locator(".lane-label.object").count(), 0, "folded");
  }));
}

test("a landing is nobody's step", () => look(missing(), { hash: "#step=10" }, async (page) => {
  await drawn(page);
  assert.match(await text(page, "#now-body"), /Nobody makes this step: the copy of 2048 bytes to buf\[0\] by warp 0 for full\[0\], begun in step 3: lands in step 10/);
  await page.locator("#now-body .link").first().click();
  assert.equal(await step(page), 3);
}));

test("what if offers to land a copy", () => look(missing(), { hash: "#step=7" }, async (page) => {
  await press(page, "w");
  await page.waitForSelector("#whatif-body .way");
  const ways = await page.locator("#whatif-body .way").allInnerTexts();
  const at = ways.findIndex((way) => /land the copy of 2048 bytes to buf\[1\] on full\[1\]\s+begun by warp 0, line 21/.test(way));
  assert.ok(at > 0, ways.join("\n"));
  assert.match(await text(page, "#whatif-body .unable"), /warp 0\s+waits at empty\[0\] \(line 18\): 0 of 2 arrivals made; missing: warps 1 and 2/);
  await press(page, "ArrowRight");
  assert.match(await text(page, "#whatif-body .unable"), /warp 1\s+waits at full\[0\] [^]*in flight: the copy of 2048 bytes to buf\[0\]/);
  assert.match(await text(page, "#graph"), /warp 1 at full\[0\] for what is in flight[^]*Something is in flight for what they wait for/);
  await press(page, "ArrowLeft");
  await page.locator("#whatif-body .way").nth(at).click();
  assert.match(await text(page, "#branch"), /1 step of your own/);
  await drawn(page);
  assert.equal(await page.locator(".drawing .flight.lost").count(), 1, "the other one has not landed");
}));

test("a race with a copy lacks a wait for the phase in which it lands", () => look(early(), {}, async (page) => {
  assert.equal(await page.locator(".conflict .access").count(), 2);
  assert.match(await text(page, ".race"), /The copy has not landed on full\[0\] when warp 1 makes its read/);
  assert.match(await text(page, ".race"), /Needed: warp 1 waits for the phase of full\[0\]/);
}));

test("of an arrival race it is drawn who stands where and for how many there is room", () => look(violated("ptx/arrival_race_two_pairs"), {}, async (page) => {
  await drawn(page);
  assert.equal(await page.locator(".drawing .sign.stands").count(), 4);
  assert.equal(await page.locator(".slot.free").count(), 2);
  assert.deepEqual([await page.locator(".slot.coming").count(), await page.locator(".slot.beyond").count()], [2, 2]);
  assert.match(await text(page, ".confronted"), /barrier 1: room for 2\s+4 could come next/);
  assert.equal(await page.locator(".side").count(), 2, "two places");
  assert.deepEqual(await axe(page), []);
}));

test("instances of a barrier stand side by side", () => look(violated("split_barrier/same_barrier_in_different_iterations"), {}, async (page) => {
  assert.deepEqual(await page.locator(".side .differs").allInnerTexts(), ["i = 0", "i = 1"]);
  await page.locator(".side .link").first().click();
  assert.equal(await step(page), 1);
}));

test("a barrier's state on its way is drawn in the lane of whoever moves it", () => look(violated("bcu/state_moved_to_another_id"), {}, async (page) => {
  await drawn(page);
  assert.match(await page.locator(".drawing .flight").textContent(), /b1\u2192b2the state of barrier 1, saved in step 2, is put onto barrier 2/);
  assert.equal(await page.locator(".side").count(), 3);
  assert.match(await text(page, ".sides"), /saves the state of b1[^]*puts the state onto b2[^]*violates mixed-red/);
}));

const EVIL = "<img src=x onerror=window.broken=1>";
const KERNEL = `.version 8.0
.target sm_90
.file 1 "${EVIL}.cu"
.visible .entry k() .reqntid 64
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\tmov.u32 %r1, %tid.x;
\tsetp.gt.u32 %p1, %r1, 31;
\t@%p1 bra $L;
\t.loc 1 2 3
\tbar.sync 2, 64;
$L:
\tret;
}
`;

test("below a compiled kernel stands what it was compiled from, whatever its name is", () => {
  const folder = join(WORK, "compiled");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "kernel.ptx");
  writeFileSync(file, KERNEL);
  writeFileSync(join(folder, `${EVIL}.cu`), "void k() {\n  sync(); // </script><script>window.broken=1</script>\n}\n");
  return look(verified(file, join(folder, "kernel.html"), 1), {}, async (page) => {
    assert.match(await text(page, "#compiled-note"), /<img src=x onerror=window\.broken=1>\.cu:2/);
    assert.match(await text(page, "#compiled-body .line.wrong"), /sync\(\); \/\/ <\/script>/);
    assert.match(await text(page, "#compiled-body .line.wrong"), /w0/);
    assert.deepEqual(await axe(page), []);
  });
});

test("a source that is not there is named", () => {
  const file = join(WORK, "alone.ptx");
  writeFileSync(file, KERNEL.replace(`${EVIL}.cu`, "/src/nowhere.cu"));
  return look(verified(file, join(WORK, "alone.html"), 1), { viewport: { width: 390, height: 844 } }, async (page) => {
    assert.match(await text(page, "#compiled-body"), /The file \/src\/nowhere\.cu is not there/);
    assert.match(await text(page, "#source-body"), /bar\.sync 2, 64/);
  });
});
