// What if: other steps than the trace's, in a real browser.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { axe, barcheck, look, press, step, text, verified, violated, WORK } from "./harness.js";

const crossed = () => violated("ptx/deadlock_crossed_order");
const trips = () => violated("ptx/weft_unknown_trip_count");
const short = () => violated("ptx/wavelet_one_short_broken");

/** Opens the panel, and waits until the model has been unpacked. */
async function ask(page) {
  await press(page, "w");
  await page.waitForSelector("#whatif-body .way, #whatif-body .end, #whatif-body .trouble");
}
const ways = (page) => page.locator("#whatif-body .way").allInnerTexts();
const banner = (page) => text(page, "#branch");
const hidden = (page, selector) => page.locator(selector).isHidden();

test("asking what if lists what every agent could do, and what the others wait for", () => look(short(), { hash: "#step=1" }, async (page) => {
  assert.equal(await hidden(page, "#whatif"), true);
  await ask(page);
  const listed = await ways(page);
  assert.equal(listed.length, 1);
  assert.match(listed[0], /warp 0[^]*bar\.sync 1, 64[^]*b1 complete #1, releases w0, w1[^]*the trace's step/);
  assert.match(await text(page, "#whatif-body .unable"), /warp 1\s+waits at barrier 1 \(line 15\): 32 of 64 threads have arrived; missing: warp 0/);
  assert.match(await text(page, "#live"), /1 way to go on/);
  await press(page, "ArrowLeft");
  assert.equal((await ways(page)).length, 2, "the panel follows the steps");
  assert.equal(await step(page), 0);
  await press(page, "End");
  assert.match(await text(page, "#whatif-body"), /The run ends here: deadlock/);
  assert.match(await text(page, "#whatif-body .unable"), /warp 0\s+exited/);
  await press(page, "w");
  assert.equal(await hidden(page, "#whatif"), true);
}));

test("the step that the trace took leads on along the trace", () => look(crossed(), { hash: "#step=0" }, async (page) => {
  await ask(page);
  await press(page, "1");
  assert.equal(await step(page), 1);
  assert.equal(await hidden(page, "#branch"), true);
}));

test("from a deadlock to a good end, by keys alone, and back", () => look(trips(), { hash: "#step=1" }, async (page) => {
  const last = Number((await text(page, "#step-count")).replace("of ", ""));
  await ask(page);
  assert.match((await ways(page))[1], /warp 0\s+n = 2/);
  await press(page, "2");
  assert.equal(await step(page), 2);
  assert.match(await banner(page), /Your own run: branched off after step 1, 1 step of your own\. So far no rule is violated/);
  assert.match(await text(page, "#now-body"), /decides 2/);
  assert.equal(await page.locator("#list-space .row").count(), 2, "the trace's other steps are not shown");
  assert.equal(await page.locator("#jumps .bad").count(), 0, "no violation to go to");
  await press(page, "l");
  assert.match(await banner(page), /Every agent has exited; no rule was violated on this run, pedantic ones aside\. That is one run, no proof/);
  assert.match(await text(page, "#live"), /Every agent has exited/);
  assert.match(await text(page, "#why-body"), /nothing that a rule forbids/);
  assert.equal(await page.locator("#save").isDisabled(), true);
  await press(page, "Home", "ArrowRight", "ArrowRight");
  assert.equal(await step(page), 2, "steps lead through the own run");
  await press(page, "Escape");
  assert.equal(await hidden(page, "#branch"), true);
  assert.equal(await step(page), 1);
  assert.equal(await text(page, "#step-count"), `of ${last}`);
  await press(page, "v");
  assert.match(await text(page, "#why-body"), /exited without arriving/);
}));

test("the same violation in another order, in the words of a trace, saved and replayed", () => look(crossed(), { hash: "#step=0" }, async (page) => {
  await ask(page);
  await press(page, "2", "1");
  assert.match(await banner(page), /✗ deadlock after step 2: warp 0 waits on barrier 1/);
  assert.match(await text(page, "#why-body"), /They wait for one another in a cycle/);
  assert.match(await text(page, "#why-body"), /Why it hurts/);
  assert.equal(await page.locator("#graph .edge.cyclic").count(), 2);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  const saved = join(WORK, "own.json");
  await download.saveAs(saved);
  assert.match(barcheck("replay", saved), /confirmed/);
}));

test("another violation than the trace's is found by hand", () => {
  const file = join(WORK, "two.bar");
  writeFileSync(file, "target ptx;\ncta 64;\nshared x;\nwarp 0 { write x; bar.sync 1, 64; }\nwarp 1 { if ? { bar.sync 2, 64; } else { bar.arrive 1, 128; } read x; }\n");
  return look(verified(file, join(WORK, "two.html"), 1), { hash: "#step=0" }, async (page) => {
    assert.match(await text(page, "#badge"), /count-range/);
    await ask(page);
    assert.match((await ways(page))[2], /warp 1\s+\? = true/);
    await press(page, "3", "l");
    assert.match(await banner(page), /✗ deadlock after step 4: .*It went on by itself until something was found/);
    assert.match(await text(page, "#why-body"), /The rule deadlock[^]*barcheck explain deadlock/);
    await press(page, "Escape", "2", "2", "2");
    assert.equal(await step(page), 2);
    assert.equal(await hidden(page, "#branch"), true, "the trace's own steps");
  });
});

test("one agent alone goes as far as it gets; choices are undone", () => look(short(), { hash: "#step=0" }, async (page) => {
  await ask(page);
  await page.getByRole("button", { name: "Let warp 0 alone run" }).click();
  assert.match(await banner(page), /It went on by itself until it has no step/);
  assert.match(await text(page, "#whatif-body .unable"), /warp 0\s+waits at barrier 1/);
  await press(page, "1");
  assert.equal(await step(page), 2);
  await press(page, "u");
  assert.equal(await step(page), 1);
  await press(page, "u");
  assert.equal(await hidden(page, "#branch"), true);
  assert.equal(await step(page), 0);
  await press(page, "u");
  assert.match(await text(page, "#live"), /nothing to undo/);
}));

test("choosing otherwise within one's own run leaves it there", () => look(trips(), { hash: "#step=1" }, async (page) => {
  await ask(page);
  await press(page, "2", "1", "ArrowLeft", "2");
  assert.match(await banner(page), /2 steps of your own/);
  await press(page, "ArrowLeft");
  assert.match((await ways(page))[1], /your step/);
  await press(page, "2");
  assert.equal(await step(page), 3, "the step that was chosen leads on");
  await press(page, "Home", "4");
  assert.equal(await step(page), 1, "so does the trace's");
  assert.match(await banner(page), /2 steps of your own/);
}));

test("a link leads back to one's own run", async () => {
  let hash;
  await look(trips(), { hash: "#step=1" }, async (page) => {
    await ask(page);
    await press(page, "2", "1");
    await page.waitForFunction(() => location.hash === "#step=3&if=1:0.0.1,0.0.0");
    hash = new URL(page.url()).hash;
  });
  await look(trips(), { hash }, async (page) => {
    await page.waitForSelector("#branch:not([hidden])");
    assert.match(await banner(page), /branched off after step 1, 2 steps/);
    assert.equal(await step(page), 3);
    // The page keeps its address a little later than it changes.
    const follow = async (link) => {
      await page.waitForTimeout(100);
      await page.evaluate((to) => { location.hash = to; }, link);
    };
    const said = (words) => page.waitForFunction((expected) => document.getElementById("live").textContent.includes(expected), words);
    await follow("#step=2");
    await page.waitForSelector("#branch", { state: "hidden" });
    assert.equal(await step(page), 2);
    await follow("#step=1&if=1:7.0.0");
    await said("cannot be made");
    await follow("#if=99999999:0.0.0");
    await said("has no 99999999 steps");
    await follow("#step=4&if=<img src=x>");
    await said("Step 4");
    assert.equal(await hidden(page, "#branch"), true);
  });
});

test("by keyboard alone the focus stays where one chooses", () => look(crossed(), { hash: "#step=0" }, async (page) => {
  await page.locator("#whatif-open").focus();
  await press(page, "Enter");
  await page.waitForSelector("#whatif-body .way:focus");
  await press(page, "Tab", "Tab", "Enter");
  assert.equal(await step(page), 1);
  assert.match(await banner(page), /1 step of your own/);
  assert.equal(await page.evaluate(() => document.activeElement.className), "way");
  await press(page, "Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "whatif-body");
  await page.locator("#whatif-close").press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "whatif-open");
  await press(page, "?");
  assert.match(await text(page, "#help"), /What if: which steps could be made here/);
}));

for (const colorScheme of ["light", "dark"]) {
  test(`nothing in the way of anybody who asks what if, ${colorScheme}`, () => look(trips(), { colorScheme, hash: "#step=1" }, async (page) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await ask(page);
    assert.deepEqual(await axe(page), []);
    await press(page, "2");
    assert.deepEqual(await axe(page), []);
    await press(page, "l");
    assert.deepEqual(await axe(page), []);
    await press(page, "Escape", "End");
    assert.deepEqual(await axe(page), []);
  }));
}

test("markup in a protocol stays text", () => {
  const evil = "<img src=x onerror=window.broken=1></script><script>window.broken=1</script>\u202e";
  const file = join(WORK, "<img src=x onerror=window.broken=1>'\"`.bar");
  writeFileSync(file, `// ${evil}\ntarget ptx;\ncta 64;\nwarp 0 as script { bar.sync /* ${evil} */ 1, 64; }\nwarp 1 as img { bar.sync /* ${evil} */ 2, 64; }\n`);
  return look(verified(file, join(WORK, "markup.html"), 1), { hash: "#step=0" }, async (page) => {
    await ask(page);
    await press(page, "2");
    assert.match(await banner(page), /1 step of your own/);
    await press(page, "1", "Home");
    assert.equal(await page.locator("main img, main script, header img, header script").count(), 0);
  });
});

test("without WebAssembly the page says so, and the rest works", () => look(short(), {
  init: () => { delete window.WebAssembly; },
  hash: "#step=1",
}, async (page) => {
  await ask(page);
  assert.match(await text(page, "#whatif-body"), /no WebAssembly/);
  await press(page, "1", "l", "ArrowRight");
  assert.equal(await step(page), 2);
  assert.equal(await hidden(page, "#branch"), true);
}));

test("the model is unpacked only when it is asked", () => look(short(), {
  init: () => {
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (...given) => { window.asked = true; return instantiate(...given); };
  },
}, async (page) => {
  await press(page, "Home", "ArrowRight", "End");
  assert.equal(await page.evaluate(() => window.asked), undefined);
  await ask(page);
  assert.equal(await page.evaluate(() => window.asked), true);
}));

test("what if on paper and in a narrow window", () => look(trips(), { viewport: { width: 380, height: 720 }, hash: "#step=1" }, async (page) => {
  await ask(page);
  await press(page, "2");
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 380);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#branch").isVisible(), true);
  assert.match(await text(page, "#whatif-body"), /bar\.sync/);
}));
