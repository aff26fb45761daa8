// What is to be seen at once of a hang: who is to blame, where, and which barriers stay open.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { drawn, KERNELS, look, verified, WORK } from "./harness.js";

const hang = (name) => verified(join(KERNELS, "..", "hangs", `${name}.bar`), join(WORK, `hang_${name}.html`), 1);

/** One warp leaves the ring a tile early: its exit stands further down than what the others wait for. */
function exited() {
  const file = join(WORK, "exits_early.bar");
  writeFileSync(file, `target ptx;
cta 1024;
param ROUNDS = 8;
warps 0..8 as producer {
    for i in 0..ROUNDS {
        if i >= 2 { bar.sync 8 + i % 2, 1024; }
        bar.arrive 6 + i % 2, 1024;
    }
}
warps 8..32 as consumer {
    for i in 0..ROUNDS {
        if warp == 17 && i == ROUNDS - 1 { break; }
        bar.sync 6 + i % 2, 1024;
        if i + 2 < ROUNDS { bar.arrive 8 + i % 2, 1024; }
    }
}
`);
  return verified(file, join(WORK, "exits_early.html"), 1);
}

/** All warps run the same code, which has no name. */
function ofOneRole() {
  const file = join(WORK, "of_one_role.bar");
  writeFileSync(file, `target ptx;
cta 1024;
shared stage[32];
warps 0..32 {
    for i in 0..8 {
        if warp == 17 && i == 7 { break; }
        write stage[warp];
        bar.sync 1 + i % 2, 1024;
    }
}
`);
  return verified(file, join(WORK, "of_one_role.html"), 1);
}

const HANGS = [
  ["a consumer forgets an arrive", () => hang("forgotten_arrive"), 6, /warp 6 went on here/, ["b2 open", "b4 open"]],
  ["a warp leaves its loop a tile early", () => hang("a_tile_early"), 17, /warp 17 went on here/, ["b1 open", "b3 open"]],
  ["a warp exits a tile early", exited, 17, /warp 17 left its loop here/, ["b7 open"]],
  ["one of many warps of one role leaves its loop", ofOneRole, 17, /warp 17 left its loop here/, ["b2 open"]],
];

/** What is not in view, or covers something else. */
function hidden([blamed, place, open]) {
  const wrong = [];
  const box = (node) => node.getBoundingClientRect();
  const within = (node, frame) => box(node).top >= box(frame).top - 1 && box(node).bottom <= box(frame).bottom + 1;
  const [head] = document.getElementsByTagName("h1");
  if (!head.innerText.includes(`warp ${blamed} `) || box(head).bottom > innerHeight) wrong.push("headline");
  const lane = document.querySelector(`.lane-label[data-agent="${blamed}"]`);
  if (!lane?.classList.contains("blamed") || box(lane).bottom > innerHeight) wrong.push("lane");
  const label = [...document.querySelectorAll("#source-body .label")].find((node) => new RegExp(place).test(node.innerText));
  if (!label || !within(label, document.getElementById("source-body"))) wrong.push("place");
  const flags = [...document.querySelectorAll(".drawing .flag")];
  const frame = document.querySelector(".drawing");
  for (const told of open) {
    const flag = flags.find((node) => node.textContent === told);
    if (!flag || box(flag).left < box(frame).left || box(flag).right > box(frame).right) wrong.push(told);
  }
  const signs = [...document.querySelectorAll(".drawing .sign.fails")];
  [...flags, ...signs].forEach((one, i, all) => all.slice(i + 1).forEach((two) => {
    if (box(one).left < box(two).right - 1 && box(two).left < box(one).right - 1) wrong.push(`${one.textContent} over ${two.textContent}`);
  }));
  for (const here of document.querySelectorAll("#source-body .here")) if (here.scrollWidth > here.clientWidth) wrong.push(`cut: ${here.textContent}`);
  for (const node of document.querySelectorAll("#graph .node")) {
    const [frame, texts] = [box(node.querySelector("rect")), [...node.querySelectorAll("text")]];
    if (texts.some((text) => box(text).left < frame.left || box(text).right > frame.right)) wrong.push(`wider than its box: ${node.textContent}`);
  }
  return wrong;
}

for (const [name, page, blamed, place, open] of HANGS) {
  test(`${name}: who is to blame, where, and what stays open is in view`, async () => {
    const file = page();
    for (const [width, height] of [[1440, 900], [1024, 768]]) {
      for (const colorScheme of ["light", "dark"]) {
        await look(file, { viewport: { width, height }, colorScheme }, async (shown) => {
          await drawn(shown);
          assert.deepEqual(await shown.evaluate(hidden, [blamed, place.source, open]), [], `${width}x${height}, ${colorScheme}`);
        });
      }
    }
  });
}
