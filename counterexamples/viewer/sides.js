// What a rule is about: steps that do not go together side by side, or who stands at a barrier that has not room for all.

/** Places drawn for arrivals, at most. */
const MOST_SLOTS = 32;

function sidesFigure({ title, barrier, sides, room }) {
  return el("figure", { class: "confronted" }, el("figcaption", null, title),
    room && slotsOf(barrier, room),
    el("div", { class: sides.length > 2 ? "sides several" : "sides" }, sides.map((side, i) => sideCard(side, i > 0 && !room))));
}

/** A step, or those who have yet to make it. */
function sideCard({ agents, step: time, line, instruction, said, locals: held, fails }, after) {
  const shown = [...held].sort((a, b) => b.differs - a.differs);
  return el("article", { class: `side ${fails ? "fails" : ""} ${after ? "after" : ""}` },
    el("p", { class: "side-head" }, el("strong", null, name(cut(agentsInWords(agents), 60))),
      time === null ? "" : [" ", button(`step ${time}`, () => go(time), { class: "link" })], line > 0 ? el("span", { class: "note" }, ` line ${line}`) : ""),
    el("code", null, cut(instruction, 200)),
    shown.length > 0 && el("p", { class: "held" }, shown.slice(0, 8).map(({ name: local, value, differs }) =>
      el(differs ? "strong" : "span", { class: differs ? "differs" : "" }, name(cut(`${local} = ${value}`, 40)), " "))),
    said && el("p", { class: fails ? "trouble" : "note" }, name(cut(said, 200))));
}

/** How many have arrived, for how many there is room, and how many could come. */
function slotsOf(barrier, { arrived, room, standing }) {
  const slot = (kind) => svg("svg", { class: `slot ${kind}`, viewBox: "-8 -8 16 16", width: 18, height: 18 },
    svg("rect", { x: -7, y: -7, width: 14, height: 14, rx: 3 }), kind === "free" ? null : SHAPES[kind === "taken" ? "arrives" : "stands"](5));
  const row = (parts) => parts.flatMap(([count, kind]) => Array(Math.max(0, count)).fill(kind)).slice(0, MOST_SLOTS).map(slot);
  const on = barrier === null ? "the barrier" : barrierName(barrier);
  return el("div", { class: `slots ${hueOf(barrier)}` },
    el("p", null, name(cut(on, 60)), `: ${arrived === 0 ? "" : `${arrived} arrived, `}room for ${room}`),
    el("div", { class: "slot-row", "aria-hidden": "true" }, row([[arrived, "taken"], [room, "free"]])),
    el("p", null, `${standing} could come next`),
    el("div", { class: "slot-row", "aria-hidden": "true" }, row([[Math.min(room, standing), "coming"], [standing - room, "beyond"]])));
}
