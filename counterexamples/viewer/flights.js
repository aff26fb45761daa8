// mbarrier objects in the schedule: a lane for each, with its phases, and what is in flight for them.

/** More objects than this are folded at first. */
const MOST_OBJECTS = 24;
/** Arrows that are drawn at a time, those in flight now aside. */
const MOST_ARROWS = 200;

/** The objects on which something happens. */
const objectsOf = () => [...barriers.values()].filter(({ phases }) => phases.length > 0);
const isObject = (barrier) => (barriers.get(barrier)?.phases.length ?? 0) > 0;

/** Whether something is in flight after a step. */
const inFlight = ({ issued, landed }, time) => (issued ?? 0) <= time && (landed === null || landed > time);

/** What lands at a step, if anything does. */
const landingAt = (time) => landings.get(time);

/** `the copy of 2048 bytes to buf[0]`. */
const flightName = ({ what, writes }) => `${what}${writes ? ` to ${writes}` : ""}`;

/** What there is to say of something in flight. */
function flightSaid(flight) {
  const begun = flight.issued === null ? "" : `, begun in step ${flight.issued}`;
  const end = flight.landed === null ? "has not landed when the run ends" : `${flight.fails ? "must not land" : "lands"} in step ${flight.landed}`;
  return `${flightName(flight)} by ${agentName(flight.agent)} for ${barrierName(flight.barrier)}${begun}: ${end}`;
}

/** Bytes in as little room as may be. */
const inShort = ({ bytes, what }) => (bytes === null ? what.replace("the ", "") : bytes >= 1024 && bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} B`);

/** The phases of an object that reach into an interval of time. They follow one another. */
function visiblePhases(phases, from, to) {
  const first = lowerBound(phases.map(({ ends }) => ends ?? LAST), from);
  const visible = [];
  for (let i = first; i < phases.length && phases[i].begins <= to; i += 1) visible.push(phases[i]);
  return visible;
}

/** How an object stands after a step, in a lane's label: `1/1 2K/4K`. */
function objectStatus(object, time) {
  const { active, counts } = barrierAt(object.barrier, time);
  const few = (number, of) => (of === "bytes" && number >= 1024 ? `${Math.round(number / 102.4) / 10}K` : `${number}`);
  return active ? counts.map(({ of, arrived, expected }) => `${few(arrived, of)}/${few(expected, of)}`).join(" ") : "";
}

/** One band for each phase: an outline from its beginning, filled from the first thing that happens in it. */
function phaseBands(frame, rowOfObject) {
  const { x, y, cell, from, to, first, last } = frame;
  const drawn = [];
  for (const object of objectsOf()) {
    const row = rowOfObject(object.barrier);
    if (row === undefined || row < first || row > last || dimmedBarrier(object.barrier)) continue;
    const hue = hueOf(object.barrier);
    for (const phase of visiblePhases(object.phases, from, to)) {
      const end = x(Math.min(phase.ends ?? LAST, to + 1)) + cell / 2;
      const band = (time, half, kind) => {
        const start = Math.max(x(Math.max(time, from - 1)) + (time === 0 ? -cell / 2 : cell / 2), LABEL - 8);
        return svg("rect", { x: start, y: y(row) - half, width: Math.max(2, end - start), height: 2 * half, rx: Math.min(4, cell / 4), class: `${kind} ${hue}${phase.complete ? "" : " open"}` });
      };
      const told = `${object.name}: phase ${phase.number} (parity ${phase.number & 1}), from step ${phase.begins} on${phase.complete ? `, complete in step ${phase.ends}` : phase.ends === null ? ", not complete in the end" : `, ended in step ${phase.ends}`}`;
      const begins = band(phase.begins, 10, "phase");
      drawn.push(svg("g", null, begins, phase.stirs === null ? null : band(phase.stirs - 1, 10, "band"),
        phaseNumber(phase, begins, y(row), hue), svg("title", null, told)));
      if (phase.complete) drawn.push(phaseJoint(frame, row, phase.ends, hue));
    }
  }
  return drawn;
}

/** The number of a phase, where it has room. */
function phaseNumber(phase, rect, y, hue) {
  const left = Math.max(Number(rect.getAttribute("x")), LABEL);
  const width = Number(rect.getAttribute("x")) + Number(rect.getAttribute("width")) - left;
  const text = width > 58 ? `phase ${phase.number}` : `${phase.number}`;
  return width < 14 ? null : svg("text", { x: left + 4, y: y + 4, class: `phase-number ${hue}` }, text);
}

/** From whoever completes a phase to the object, and on to those that it lets go on. */
function phaseJoint({ x, y }, row, time, hue) {
  const step = stepAt(time);
  const rows = step.events.flatMap((event) => (event.kind === "released" ? event.agents : [])).map((agent) => lanes.rowOf[agent]);
  if (!step.choice.lands) rows.push(lanes.rowOf[step.agent]);
  return svg("path", { class: `joint ${hue}`, d: `M${x(time)} ${y(Math.min(row, ...rows))}V${y(Math.max(row, ...rows))}` });
}

/** Arrows from where something is begun to where it lands; what never lands has none of an end. */
function arrows(frame, rowOfObject) {
  const { x, y, cell, from, to } = frame;
  const seen = view.flights.filter(({ issued, landed, barrier }) => (issued ?? 0) <= to && (landed ?? LAST) >= from && !dimmedBarrier(barrier));
  const kept = seen.length > MOST_ARROWS ? seen.filter((flight) => inFlight(flight, state.t) || flight.landed === state.t) : seen;
  return kept.slice(0, MOST_ARROWS).map((flight) => {
    const row = rowOfObject(flight.barrier);
    if (row === undefined) return null;
    const { issued, landed, agent } = flight;
    const begin = [x(issued ?? 0), y(lanes.rowOf[agent])];
    const lands = landed !== null;
    const end = [lands ? x(landed) : x(LAST) + cell / 2 - 2, y(row) - (lands ? 9 : 0)];
    // Down first, then along the lane of the object, so that what is in flight at a time is seen there.
    const bend = Math.min(cell * 1.2, 40, Math.max(8, (end[0] - begin[0]) / 2));
    const corner = [begin[0] + bend, y(row) - 9];
    const d = `M${begin[0]} ${begin[1] + 5}C${begin[0]} ${(begin[1] + corner[1]) / 2} ${begin[0]} ${corner[1]} ${corner[0]} ${corner[1]}H${Math.max(corner[0], end[0] - 8)}${lands ? `Q${end[0]} ${corner[1]} ${end[0]} ${end[1] + 4}` : ""}`;
    const now = inFlight(flight, state.t) || landed === state.t;
    const room = end[0] - corner[0];
    return svg("g", { class: `flight ${lands ? "" : "lost"} ${flight.fails ? "wrong" : ""} ${now ? "now" : ""} ${hueOf(flight.barrier)}` },
      svg("path", { d, "marker-end": `url(#${lands ? "lands" : "flies"})` }),
      room > 44 ? svg("text", { x: corner[0] + 4, y: y(row) + 4 }, cut(inShort(flight), 10)) : null,
      svg("title", null, cut(flightSaid(flight), 300)));
  });
}

const flightTips = () => [["lands", "M0 0L8 4L0 8Z"], ["flies", "M0 0L8 4L0 8"]].map(([id, d]) =>
  svg("marker", { id, class: `tip ${id}`, viewBox: "-1 -1 10 10", refX: 6, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { d })));

/** A barrier's state on its way: from where it was saved to where it is put back, along the lane of whoever does it. */
function stateMoves({ x, y, from, to, first, last, cell }) {
  const saved = new Map();
  const drawn = [];
  steps.forEach((step, index) => {
    const { agent, operands } = step;
    if (operands?.operation === "read-state") saved.set(agent, { time: index + 1, barrier: operands.barrier });
    const save = saved.get(agent);
    if (operands?.operation !== "write-state" || !save) return;
    const row = lanes.rowOf[agent];
    const time = index + 1;
    if (row < first || row > last || time < from || save.time > to) return;
    const [left, right, top] = [x(save.time), x(time) - 3, y(row) - 7];
    const told = `the state of ${barrierName(save.barrier)}, saved in step ${save.time}, is put onto ${barrierName(operands.barrier)}`;
    drawn.push(svg("g", { class: `flight now ${hueOf(save.barrier)}` },
      svg("path", { d: `M${left} ${top + 2}C${left + cell * 0.2} ${top - 8} ${right - cell * 0.2} ${top - 8} ${right} ${top}`, "marker-end": "url(#lands)" }),
      right - left > 40 ? svg("text", { x: (left + right) / 2 - 16, y: y(row) + 11 }, cut(`${barrierShort(save.barrier)}\u2192${barrierShort(operands.barrier)}`, 12)) : null,
      svg("title", null, cut(told, 300))));
  });
  return drawn;
}
