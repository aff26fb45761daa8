// A browser, pages to look at in it, and what holds of every page.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const { BARCHECK, CHROMIUM } = process.env;
export const { KERNELS, PROTOCOLS, VIEWER, WORK } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

let browser;
before(async () => { browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS }); });
after(() => browser.close());

export const barcheck = (...options) => String(execFileSync(BARCHECK, options, { stdio: "pipe" }));

/** A page of a protocol's file, for which `verify` has this exit status. */
export function verified(file, page, status, ...options) {
  try {
    barcheck("verify", "-q", ...options, "--html", page, file);
  } catch (error) {
    assert.equal(error.status, status, String(error.stderr));
  }
  return page;
}

/** A page of a protocol of the library for which `verify` has this exit status. */
export const decided = (protocol, status, ...options) =>
  verified(join(PROTOCOLS, `${protocol}.bar`), join(WORK, `${protocol.replaceAll("/", "_")}.html`), status, ...options);

/** A page of a protocol of the library that is violated. */
export const violated = (protocol, ...options) => decided(protocol, 1, ...options);

/** A page of a trace that no protocol stands behind. */
export function made(name, trace) {
  const file = join(WORK, `${name}.json`);
  writeFileSync(file, JSON.stringify(trace));
  barcheck("view", "--anyway", file);
  return join(WORK, `${name}.html`);
}

/** Opens a page, runs a test on it, and holds that it was silent, asked for nothing, and did not break out. */
export async function look(file, { hash = "", init, ...options } = {}, run) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: false, ...options });
  const page = await context.newPage();
  if (init) await page.addInitScript(init);
  const trouble = [];
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
  page.on("request", (request) => request.url().split("#")[0] !== pathToFileURL(file).href && !request.url().startsWith("blob:") && trouble.push(`request: ${request.url().slice(0, 100)}`));
  page.on("dialog", (dialog) => trouble.push(`dialog: ${dialog.message()}`));
  await page.goto(pathToFileURL(file).href + hash);
  try {
    await run(page);
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.deepEqual(trouble, []);
  } finally {
    await context.close();
  }
}

export const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };
export const step = async (page) => Number(await page.inputValue("#step-number"));
export const text = (page, selector) => page.locator(selector).innerText();
/** Waits until what has been asked for is drawn, however busy the machine is. */
export async function drawn(page) {
  await page.waitForTimeout(60);
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
}

/** What axe finds. It runs beside the page's own policy. */
export async function axe(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: AXE });
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  assert.ok(found.passes.length > 20, "axe has looked");
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} ${n.failureSummary}`).slice(0, 4).join("; ")}`);
}
