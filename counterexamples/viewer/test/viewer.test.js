// The page in a real browser: what it shows, how it is used, and what it must not do.

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { axe, barcheck, decided, drawn, look, made, press, step, text, verified, violated, PROTOCOLS, WORK } from "./harness.js";
import { hostile, long, poison } from "./traces.js";

const crossed = () => violated("ptx/deadlock_crossed_order");
const pairs = () => violated("ptx/ring_never_frees");
const race = () => violated("ptx/buffer_overwritten_too_early");
const stuck = () => violated("ptx/stuck_behind_a_loop");

test("a page says what the trace shows, and is small", async () => {
  const file = crossed();
  assert.ok(statSync(file).size < 900 * 1024, "of which the model takes two thirds");
  await look(file, {}, async (page) => {
    assert.match(await page.title(), /^deadlock: warp 0 waits/);
    assert.match(await text(page, "#badge"), /deadlock . error/);
    assert.match(await text(page, "#facts"), /ptx, 2 warps/);
    const why = await text(page, "#why-body");
    assert.match(why, /No warp can take another step/);
    assert.match(why, /The rule deadlock/);
    assert.match(why, /PTX ISA/);
    assert.equal(await page.locator("#departure").isHidden(), true);
  });
});

test("for a deadlock, who waits for whom is drawn and said", () => look(crossed(), {}, async (page) => {
  assert.equal(await page.locator("#graph .node").count(), 2);
  assert.equal(await page.locator("#graph .edge.cyclic").count(), 2);
  assert.match(await text(page, "#graph"), /warp 0 at barrier 1 for warp 1 \(waits at b2\)/);
  assert.match(await text(page, "#graph"), /close a cycle/);
  await press(page, "Home");
  assert.match(await text(page, "#graph"), /Nobody waits/);
}));

test("of many agents, whoever is to blame has a lane of its own beside its folded role, and all steps fit", () => {
  const trace = long(20, 200);
  trace.outcome = { ...trace.outcome, blamed: [0] };
  return look(made("blamed", trace), {}, async (page) => {
    await drawn(page);
    assert.match(await text(page, ".lane-label.blamed"), /^warp 0/);
    assert.equal(await page.locator(".lane-label:not(.head)").count(), 1, "the others are folded");
    assert.equal(await page.locator(".lane-label.head").count(), 3);
    assert.equal(await page.getAttribute("#fold", "aria-pressed"), "true");
    await page.click("#fold");
    await drawn(page);
    assert.ok(await page.locator(".lane-label:not(.head)").count() > 8);
    const wide = () => page.evaluate(() => { const s = document.getElementById("lane-scroll"); return s.scrollWidth > s.clientWidth; });
    assert.equal(await wide(), true);
    await page.click("#fit");
    await drawn(page);
    assert.equal(await wide(), false);
  });
});

test("for a race, both accesses are drawn, and what is missing", () => look(race(), {}, async (page) => {
  assert.equal(await page.locator(".conflict .access").count(), 2);
  assert.equal(await page.locator(".conflict .unordered").count(), 1);
  assert.match(await text(page, "#why-body"), /no barrier orders the two/);
  assert.equal(await page.locator(".conflict .needed").count(), 1);
  assert.equal(await page.locator(".conflict path.orders").count(), 1, "the generation that comes too early");
  assert.match(await text(page, ".race"), /b1 #1: warp 0 arrives in step 2, before its write/);
  assert.match(await text(page, ".race"), /Needed: warp 0 arrives on b1 after its write, and warp 1 goes on in step 4 only after that/);
  assert.deepEqual(await page.locator(".race button.link").allInnerTexts(), ["step 3", "step 5", "step 2", "step 4", "step 4"]);
  const earlier = page.locator("#why-body figure button.link").first();
  const time = Number((await earlier.innerText()).replace("step ", ""));
  await earlier.click();
  assert.equal(await step(page), time);
}));

test("where there is no barrier at all, both halves of one are needed", () => look(violated("ptx/data_race_no_barrier"), {}, async (page) => {
  assert.equal(await page.locator(".conflict .needed").count(), 2);
  assert.equal(await page.locator(".conflict path.orders").count(), 0);
  assert.match(await text(page, ".race"), /Needed: warp 0 arrives on a barrier after its write, and warp 1 waits for it before its write/);
  assert.deepEqual(await axe(page), []);
}));

test("what is ordered in time and not in memory lacks a fence, or both halves of an order", async () => {
  await look(violated("nbarrier/fence_of_the_reader"), { colorScheme: "dark" }, async (page) => {
    assert.equal(await page.locator(".conflict path.orders").count(), 1);
    assert.match(await text(page, ".race"), /That orders the two in time/);
    assert.match(await text(page, ".race"), /thread 1 executes a fence/);
    assert.match(await text(page, ".race"), /Needed: a fence by thread 0 between its write and its arrival/);
    assert.deepEqual(await axe(page), []);
  });
  await look(violated("split_barrier/release_without_acquire"), {}, async (page) => {
    assert.equal(await page.locator(".conflict .needed").count(), 0);
    assert.match(await text(page, ".race"), /an arrive of invocation 1 with Release and a wait of invocation 0 with Acquire/);
  });
});

test("an evaluation error and a path that cannot be followed are shown like any other outcome", async () => {
  await look(decided("ptx/count_divided_by_zero", 2), {}, async (page) => {
    assert.match(await text(page, "#badge"), /evaluation error/);
    assert.match(await text(page, "#why-body"), /division by zero/);
    await press(page, "Home", "v");
    assert.equal(await step(page), 1);
    assert.deepEqual(await axe(page), []);
  });
  await look(decided("split_barrier/subgroup_in_two_arms", 3), {}, async (page) => {
    assert.match(await text(page, "#badge"), /not modelled/);
    assert.match(await text(page, "#why-body"), /nothing is claimed about what comes next/);
    await press(page, "Home", "v");
    assert.equal(await step(page), 2);
    assert.deepEqual(await axe(page), []);
  });
});

test("steps by keys: on, back, start, end, violation", () => look(pairs(), {}, async (page) => {
  const last = await step(page);
  assert.ok(last >= 5);
  await press(page, "Home");
  assert.equal(await step(page), 0);
  assert.match(await text(page, "#now-body"), /The beginning/);
  await press(page, "ArrowRight", "ArrowRight", "ArrowLeft");
  assert.equal(await step(page), 1);
  assert.match(await text(page, "#now-body"), /arrives on b1/);
  await press(page, "End");
  assert.equal(await step(page), last);
  await press(page, "ArrowRight");
  assert.equal(await step(page), last);
  await press(page, "PageUp", "v");
  assert.equal(await step(page), last);
  assert.match(await text(page, "#live"), new RegExp(`Step ${last} of ${last}: warp`));
}));

test("steps by the mouse: buttons, slider, number, list and lanes", () => look(pairs(), {}, async (page) => {
  const last = await step(page);
  await page.getByRole("button", { name: "Step back" }).click();
  assert.equal(await step(page), last - 1);
  await page.getByRole("button", { name: "Beginning" }).click();
  await page.getByRole("button", { name: "Step on" }).click();
  assert.equal(await step(page), 1);
  await page.locator("#scrubber").fill("3");
  assert.equal(await step(page), 3);
  await page.locator("#step-number").fill("2");
  await page.keyboard.press("Enter");
  assert.equal(await step(page), 2);
  await page.locator("#step-4").click();
  assert.equal(await step(page), 4);
  await drawn(page);
  await page.locator('.sign[data-step="1"]').first().click({ force: true });
  assert.equal(await step(page), 1);
  await page.waitForURL(/agent=0/);
}));

test("the next event on this barrier, of this agent", () => look(pairs(), {}, async (page) => {
  await press(page, "Home", "ArrowRight", "a", "a");
  assert.match(await text(page, "#now-body .act"), /warp 0/);
  const third = await step(page);
  await press(page, "A");
  assert.ok((await step(page)) < third);
  await press(page, "Escape", "Home", "]", "b");
  const first = await step(page);
  assert.equal(await page.locator(".card.chosen").count(), 1);
  await press(page, "b");
  assert.ok((await step(page)) > first);
  await press(page, "B", "B", "B");
  assert.equal(await step(page), first);
  assert.match(await text(page, "#live"), /No earlier event on barrier/);
}));

test("play and pause", () => look(pairs(), {}, async (page) => {
  await press(page, " ");
  assert.equal(await page.locator("#play").getAttribute("aria-pressed"), "true");
  await page.waitForFunction(() => document.getElementById("step-number").value >= 2);
  await press(page, " ");
  const now = await step(page);
  await page.waitForTimeout(800);
  assert.equal(await step(page), now);
}));

test("barriers: counts, class, who is where, history, changes", () => look(pairs(), { hash: "#step=3" }, async (page) => {
  const card = page.locator('.card[data-barrier="2"]');
  const said = await card.innerText();
  for (const part of [/32 of 64/, /threads/, /arrived\s+warp 0/, /waits\s+warp 0/, /missing\s+nobody is left that could arrive/, /plain/, /gathering/, /changed/]) assert.match(said, part);
  await page.locator('.card[data-barrier="1"] summary').click();
  const history = page.locator('.card[data-barrier="1"] li').first();
  assert.match(await history.innerText(), /#1 step 1.4: warps 0 and 1/);
  await history.getByRole("button").click();
  assert.equal(await step(page), 4);
  assert.equal(await page.locator('.card[data-barrier="1"] details').getAttribute("open"), "", "stays open");
}));

test("lanes: signs, lives, bands and joints", () => look(pairs(), {}, async (page) => {
  await drawn(page);
  for (const kind of [".sign.arrives", ".sign.blocks", ".sign.completes", ".life.blocked", ".band", ".band.open", ".joint", ".flag", ".column.current"]) {
    assert.ok((await page.locator(`.drawing ${kind}`).count()) > 0, kind);
  }
  assert.equal(await page.locator(".lane-label:not(.head)").count(), 2);
}));

test("roles fold", () => look(pairs(), {}, async (page) => {
  await page.locator(".lane-label.head").first().click();
  await drawn(page);
  assert.equal(await page.locator(".lane-label:not(.head)").count(), 1);
  assert.equal(await page.locator(".crowd").count(), 1);
  assert.equal(await page.locator(".lane-label.head").first().getAttribute("aria-expanded"), "false");
  await press(page, "f");
  await drawn(page);
  assert.equal(await page.locator(".lane-label:not(.head)").count(), 0);
  await press(page, "f");
  await drawn(page);
  assert.equal(await page.locator(".lane-label:not(.head)").count(), 2);
}));

test("zoom", () => look(pairs(), {}, async (page) => {
  const width = () => page.evaluate(() => document.getElementById("lane-space").offsetWidth);
  const before = await page.evaluate(() => document.getElementById("lane-space").style.width);
  await press(page, "-", "-");
  assert.notEqual(await page.evaluate(() => document.getElementById("lane-space").style.width), before);
  await press(page, "+", "+");
  assert.equal(await page.evaluate(() => document.getElementById("lane-space").style.width), before);
  assert.ok((await width()) > 0);
}));

test("the source marks where the agent stands and what is executed", () => look(pairs(), { hash: "#step=1&agent=1" }, async (page) => {
  assert.match(await text(page, "mark.done >> nth=1"), /bar\.arrive/);
  assert.match(await text(page, "#source-body mark.at"), /bar\.sync/);
  assert.match(await text(page, "#source-body"), /w0/);
  await press(page, "v");
  assert.match(await text(page, "#source-body .label >> nth=0"), /waits here/);
}));

test("filters and search", () => look(pairs(), {}, async (page) => {
  const all = await page.locator("#list-space .row").count();
  await page.selectOption("#filter-agent", { label: "warp 1" });
  assert.ok((await page.locator("#list-space .row").count()) < all);
  await drawn(page);
  assert.ok((await page.locator(".sign.dim").count()) > 0);
  await page.selectOption("#filter-barrier", { label: "barrier 1" });
  await page.selectOption("#filter-kind", { label: "completions" });
  assert.equal(await text(page, "#matches"), "1 of 6 steps");
  await press(page, "Escape");
  await page.locator("#filter-clear").click();
  assert.equal(await page.locator("#list-space .row").count(), all);
  await page.locator("#headline").click();
  await press(page, "Home", "/");
  await page.keyboard.type("BAR.SYNC");
  assert.match(await text(page, "#matches"), /4 of 6/);
  await press(page, "Enter");
  assert.equal(await step(page), 3);
  await press(page, "Escape", "n");
  assert.equal(await step(page), 4);
  await press(page, "N");
  assert.equal(await step(page), 3);
}));

test("a link leads to a step and a selection, and follows both", () => look(pairs(), { hash: "#step=2&agent=1&barrier=3" }, async (page) => {
  assert.equal(await step(page), 2);
  assert.equal(await page.locator('.lane-label[data-agent="1"]').getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator(".card.chosen").getAttribute("data-barrier"), "3");
  await press(page, "ArrowRight", "ArrowUp");
  await page.waitForFunction(() => location.hash === "#step=3&agent=0&barrier=3");
  await page.evaluate(() => { location.hash = "#step=1"; });
  await page.waitForFunction(() => document.getElementById("step-number").value === "1");
  await page.evaluate(() => { location.hash = "#step=99999&agent=-1&barrier=x"; });
  await page.waitForFunction(() => document.getElementById("step-number").value === "6");
  // A link is followed while the address of what was shown before is still to be written.
  await page.evaluate(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { location.hash = "#step=4"; };
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
    port2.postMessage("");
    for (const since = performance.now(); performance.now() < since + 100;);
  });
  await page.waitForFunction(() => document.getElementById("step-number").value === "4");
}));

test("a run without end has its cycle drawn, and can be stepped through", () => look(stuck(), {}, async (page) => {
  await drawn(page);
  assert.equal(await page.locator(".lasso").count(), 1);
  assert.equal(await page.locator(".column.cycle").count(), 1);
  await press(page, "c");
  const from = await step(page);
  await press(page, "End", "ArrowRight");
  assert.equal(await step(page), from + 1);
}));

test("a field gives the keys back: Enter takes what was typed, Escape does not", () => look(pairs(), {}, async (page) => {
  await press(page, "Home", "g");
  await page.keyboard.type("3");
  await press(page, "Enter", "ArrowRight");
  assert.equal(await step(page), 4);
  await press(page, "g");
  await page.keyboard.type("1");
  await press(page, "Escape", "ArrowRight");
  assert.equal(await step(page), 5);
  await press(page, "Home", "/");
  await page.keyboard.type("sync");
  await press(page, "Enter");
  const first = await step(page);
  assert.ok(first > 0, "the first match");
  await press(page, "n");
  assert.notEqual(await step(page), first, "the next match");
}));

test("everything by keyboard: help, letters off, tab order", () => look(pairs(), {}, async (page) => {
  await press(page, "?");
  assert.equal(await page.locator("#help").evaluate((help) => help.open), true);
  assert.match(await text(page, "#help"), /next and previous step of the agent/);
  await page.locator("#letters").focus();
  await page.waitForFunction(() => document.activeElement.id === "letters");
  await press(page, " ");
  await page.waitForFunction(() => !document.getElementById("letters").checked);
  await press(page, "Escape");
  assert.equal(await page.locator("#help").evaluate((help) => help.open), false);
  for (const key of ["Escape", "?"]) {
    const left = await page.evaluate((key) => {
      const help = document.getElementById("help");
      help.showModal();
      document.getElementById("letters").focus();
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      return !help.open && !help.contains(document.activeElement);
    }, key);
    assert.ok(left, `${key} closes the help, and nothing in it takes the next key`);
  }
  await press(page, "Home", "v");
  assert.equal(await step(page), 0, "letters are off");
  await press(page, "ArrowRight");
  assert.equal(await step(page), 1);
  await page.locator("#list-body").focus();
  await press(page, "ArrowDown", "ArrowDown", "ArrowUp");
  assert.equal(await step(page), 2);
  await page.evaluate(() => document.querySelectorAll("#why-body details").forEach((details) => { details.open = true; }));
  await page.locator("#why-body").focus();
  await press(page, "End");
  await page.waitForFunction(() => document.getElementById("why-body").scrollTop > 0);
  assert.equal(await step(page), 2, "a panel scrolls");
  await page.locator("#theme").focus();
  const seen = new Set();
  for (let i = 0; i < 60; i += 1) {
    await press(page, "Tab");
    seen.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
  }
  for (const id of ["help-open", "play", "step-number", "scrubber", "filter-agent", "filter-text", "lane-scroll", "source-body", "list-body"]) assert.ok(seen.has(id), id);
}));

for (const colorScheme of ["light", "dark"]) {
  test(`nothing in the way of anybody, ${colorScheme}`, async () => {
    for (const file of [crossed(), pairs(), race(), stuck(), made("hostile", hostile())]) {
      await look(file, { colorScheme }, async (page) => {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
        assert.deepEqual(await axe(page), []);
        await press(page, "?");
        assert.deepEqual(await axe(page), []);
      });
    }
  });
}

test("light and dark: as the system, or as one likes", () => look(pairs(), { colorScheme: "dark" }, async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await press(page, "t");
  const light = await ground();
  assert.notEqual(light, dark);
  await press(page, "t");
  assert.equal(await ground(), dark);
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await ground(), dark, "chosen");
  await press(page, "t");
  assert.equal(await ground(), light, "the system's");
}));

test("names of any kind are harmless", () => look(made("hostile", hostile()), {}, async (page) => {
  for (let i = 0; i < 20; i += 1) await press(page, "ArrowLeft", "ArrowDown");
  assert.match(await text(page, "#headline"), /<\/script><script>window\.broken=1/);
  assert.match(await text(page, "#headline"), /⟨U\+202E⟩/);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.equal(await page.locator("#departure").isVisible(), true);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  assert.equal(await page.locator(".lane-label .name").first().evaluate((node) => getComputedStyle(node).unicodeBidi), "isolate");
}));

test("names of any kind are harmless in the drawing of a race, whose earlier access may be nowhere", async () => {
  const trace = JSON.parse(readFileSync(join(PROTOCOLS, "../../counterexamples/gallery/ptx/buffer_overwritten_too_early.json"), "utf8"));
  const found = poison(trace);
  const lost = structuredClone(found);
  lost.outcome.detail.location = "nowhere";
  for (const [name, evil, earlier] of [["race", found, "3: write cell"], ["lost", lost, "?: write nowhere"]]) {
    await look(made(name, evil), {}, async (page) => {
      assert.ok((await page.locator(".conflict text").allTextContents()).some((label) => label.startsWith(earlier)));
      assert.match(await text(page, ".race"), /Needed: /);
      assert.equal(await page.locator("main img, main script").count(), 0);
    });
  }
});

test("on paper everything is shown", () => look(pairs(), {}, async (page) => {
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("#paper .row").count(), 6);
  assert.equal(await page.locator(".bar").first().isVisible(), false);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator("#paper").count(), 0);
  assert.ok((await page.pdf()).length > 10_000);
}));

test("without scripts the page still shows the narrative", () => look(crossed(), { javaScriptEnabled: false }, async (page) => {
  // `look` cannot ask the page anything; the text is read from outside.
  assert.match(await page.locator("noscript").innerText(), /why/);
}));

test("the trace can be saved", () => look(crossed(), {}, async (page) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  const saved = join(WORK, "saved.json");
  await download.saveAs(saved);
  assert.equal(download.suggestedFilename(), "deadlock_crossed_order-deadlock.json");
  assert.match(barcheck("replay", saved), /confirmed/);
}));

test("a trace without steps", () => {
  const trace = long(4, 20);
  trace.steps = [];
  return look(made("none", trace), {}, async (page) => {
    assert.match(await text(page, "#now-body"), /The beginning/);
    await press(page, "ArrowRight", "ArrowLeft", "a", "b", "n", "v", "f", "f", "End", "Home");
    assert.equal(await step(page), 0);
    assert.deepEqual(await axe(page), []);
  });
});

test("a narrow window", () => look(pairs(), { viewport: { width: 380, height: 720 } }, async (page) => {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 380);
  await press(page, "Home", "ArrowRight");
  assert.equal(await step(page), 1);
}));

test("64 agents and 10,000 steps", async (t) => {
  const file = made("long", long(64, 10_000));
  const start = performance.now();
  await look(file, {}, async (page) => {
    await page.waitForSelector("#app:not([hidden]) .sign");
    t.diagnostic(`opened in ${Math.round(performance.now() - start)} ms, ${Math.round(statSync(file).size / 1e6)} MB`);
    const times = await page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const measured = [];
      for (let i = 0; i < 60; i += 1) {
        const from = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: i % 20 === 19 ? "PageUp" : "ArrowLeft", bubbles: true }));
        document.body.offsetHeight;
        measured.push(performance.now() - from);
        await frame();
      }
      return measured.sort((a, b) => a - b);
    });
    t.diagnostic(`a step: median ${times[30].toFixed(1)} ms, slowest ${times[59].toFixed(1)} ms, the drawing of lanes aside`);
    assert.ok((await page.locator("#app *").count()) < 6_000, "only what can be seen is drawn");
    await press(page, "Home");
    assert.equal(await step(page), 0);
    await page.locator("#scrubber").fill("5000");
    assert.equal(await step(page), 5000);
    await drawn(page);
    assert.ok((await page.locator('.sign[data-step="5000"]').count()) > 0);
  });
});

test("a long line of the source opens at its left, and what stands out of sight is gone after", async () => {
  const page = (name, padding) => {
    const file = join(WORK, `${name}.bar`);
    writeFileSync(file, `target ptx;\ncta 64;\nwarp 0 {${padding} bar.sync 1, 64;${" ".repeat(200)}bar.sync 2, 64; }\nwarp 1 { bar.sync 2, 64; }\n`);
    return verified(file, join(WORK, `${name}.html`), 1);
  };
  const scrolled = async (page) => {
    await drawn(page);
    return page.locator("#source-body").evaluate((body) => body.scrollLeft);
  };
  await look(page("long_line", ""), {}, async (page) => assert.equal(await scrolled(page), 0));
  await look(page("far_right", " ".repeat(300)), { hash: "#t=1" }, async (page) => {
    await press(page, "Home", "ArrowRight");
    const seen = await page.evaluate(() => {
      const [mark, frame] = ["#source-body mark", "#source-body"].map((at) => document.querySelector(at)?.getBoundingClientRect());
      return mark && mark.left >= frame.left && mark.left < frame.right;
    });
    assert.ok(seen, "what the step does is in view");
  });
});

test("objects of the CTAs of a cluster are told apart in their lanes", () => look(violated("ptx/cluster_multicast_unannounced_broken"), {}, async (page) => {
  const objects = page.locator(".lane-label.object .name");
  if (await objects.count() === 0) await page.locator(".lane-label.head", { hasText: "mbarriers" }).click();
  await drawn(page);
  const names = await objects.allInnerTexts();
  assert.ok(names.length > 1 && new Set(names).size === names.length, names.join(" "));
  assert.ok(names.every((name) => /^c\d\./.test(name)), names.join(" "));
}));
