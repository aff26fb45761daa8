// What `barcheck convert` makes for browsers: sequence diagrams, read and drawn by Mermaid itself, and pictures.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { hostile, long } from "./traces.js";

const { BARCHECK, CHROMIUM, PROTOCOLS, WORK } = process.env;
const MERMAID = createRequire(import.meta.url).resolve("mermaid/dist/mermaid.min.js");

let browser;
let traces;
before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const folder = mkdtempSync(join(WORK, "formats-"));
  try {
    execFileSync(BARCHECK, ["verify", "-q", "--all", "--strict", "--trace", folder, PROTOCOLS], { stdio: "pipe" });
  } catch (error) {
    assert.equal(error.status, 1, String(error.stderr));
  }
  for (const [name, trace] of [["hostile", hostile()], ["long", long(64, 2000)]]) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(trace));
  }
  traces = readdirSync(folder).map((name) => [name, join(folder, name)]);
});
after(() => browser.close());

function convert(trace, format) {
  return execFileSync(BARCHECK, ["convert", "--anyway", "--to", format, trace], { encoding: "utf8" });
}

/** A page that says if anything went wrong, or something was asked for. */
async function quiet() {
  const page = await browser.newPage();
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => trouble.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => /^(https?|ftp|ws):/.test(request.url()) && trouble.push(`request: ${request.url()}`));
  return [page, trouble];
}

test("Mermaid reads every sequence diagram and draws what it says", { timeout: 300_000 }, async () => {
  assert.ok(traces.length > 150, `${traces.length} traces`);
  const [page, trouble] = await quiet();
  await page.setContent("<!doctype html><div id='place'></div>");
  await page.addScriptTag({ content: readFileSync(MERMAID, "utf8") });
  await page.evaluate(() => window.mermaid.initialize({ startOnLoad: false, securityLevel: "strict" }));
  for (const [name, trace] of traces) {
    const diagram = convert(trace, "mermaid");
    const read = await page.evaluate((text) => window.mermaid.parse(text).then((kind) => kind.diagramType, (error) => String(error)), diagram);
    assert.equal(read, "sequence", `${name}:\n${diagram}`);
  }
  const draw = (text) => page.evaluate(async (text) => {
    const place = document.getElementById("place");
    place.innerHTML = (await window.mermaid.render("drawn", text)).svg;
    return { text: place.textContent, scripts: place.querySelectorAll("script, img, foreignObject").length };
  }, text);
  const ring = await draw(convert(traces.find(([name]) => name === "ring_never_frees-deadlock.json")[1], "mermaid"));
  for (const told of ["warp 0", "producer", "barrier 3", "4. bar.sync 1, 64", "b1 complete #1", "released", "deadlock: nobody but warp 0 comes to barrier 2"]) {
    assert.ok(ring.text.includes(told), `${told} in ${ring.text}`);
  }
  const evil = await draw(convert(traces.find(([name]) => name === "hostile.json")[1], "mermaid"));
  assert.equal(evil.scripts, 0);
  assert.ok(evil.text.includes("</script><script>window.broken=1"), evil.text);
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.deepEqual(trouble, []);
});

test("in every picture all text is inside, and nothing runs or is asked for", { timeout: 300_000 }, async () => {
  const [page, trouble] = await quiet();
  for (const [name, trace] of traces) {
    const file = join(WORK, "picture.svg");
    writeFileSync(file, convert(trace, "svg"));
    await page.goto(pathToFileURL(file).href);
    const outside = await page.evaluate(() => {
      const { width, height } = document.documentElement.viewBox.baseVal;
      return [...document.querySelectorAll("text")].filter((text) => {
        const box = text.getBBox();
        return box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height;
      }).map((text) => text.textContent);
    });
    assert.deepEqual(outside, [], name);
    assert.equal(await page.evaluate(() => document.querySelectorAll("script, image, foreignObject, a").length), 0);
    assert.equal(await page.evaluate(() => window.broken), undefined);
  }
  assert.deepEqual(trouble, []);
});
