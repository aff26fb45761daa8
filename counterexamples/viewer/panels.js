// What is so after a step, and what the step has changed.

const counter = (barrier) => barrier.counts.map((count) => `${count.arrived}/${count.expected}`).join(" + ");

/** What a step changes, as rows of what, before and after. Agents that change alike share a row. */
function differences(time) {
  if (time === 0) return [];
  const alike = new Map();
  const differ = (agent, what, before, after) => {
    if (before === after) return;
    const key = JSON.stringify([what, before, after]);
    if (!alike.has(key)) alike.set(key, { agents: [], what, before, after });
    alike.get(key).agents.push(agent);
  };
  for (const after of stepAt(time).changes.agents) {
    const before = agentAt(after.agent, time - 1);
    const notified = (state) => state.notified.map(barrierShort).join(", ") || "nothing";
    differ(after.agent, "", doing(before), doing(after));
    // Within a line the words for its place are the same.
    if (doing(before) === doing(after)) differ(after.agent, ", next", before.instruction, after.instruction);
    differ(after.agent, ", notified of", notified(before), notified(after));
    const [old, now] = [locals(before), locals(after)];
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) differ(after.agent, `, ${key}`, old[key] ?? "\u2013", now[key] ?? "\u2013");
  }
  const rows = [...alike.values()].map(({ agents, what, before, after }) => [`${cut(agentsInWords(agents), 80)}${what}`, before, after]);
  for (const after of stepAt(time).changes.barriers) {
    const before = barrierAt(after.barrier, time - 1);
    const facts = (state) => [state.active ? counter(state) : "idle", state.class ?? "none", `${state.generation}`];
    const [old, now] = [facts(before), facts(after)];
    ["", ", class", ", generations"].forEach((what, i) => {
      if (old[i] !== now[i]) rows.push([`${cut(barrierName(after.barrier), 80)}${what}`, old[i], now[i]]);
    });
  }
  return rows;
}

/** Where an agent is, in few words. */
function doing(state) {
  const place = state.location?.line ? ` at line ${state.location.line}` : "";
  if (state.status === "exited") return "exited";
  if (state.status === "blocked" && state.waits) {
    return state.waits.awaits === "lanes"
      ? `waits for its own lanes at ${barrierShort(state.waits.barrier)}${place}`
      : `blocked on ${barrierShort(state.waits.barrier)}${place}`;
  }
  return `${state.status}${place}`;
}

/** The locals of an agent; those of lanes that have separated are told apart. */
function locals(state) {
  if (state.fragments.length === 1) return state.fragments[0].locals;
  return Object.fromEntries(state.fragments.flatMap((fragment) =>
    Object.entries(fragment.locals).map(([key, value]) => [`${key} of lanes ${fragment.lanes}`, value])));
}

const table = (rows, heads) => el("table", null,
  el("thead", null, el("tr", null, heads.map((head) => el("th", { scope: "col" }, head)))),
  el("tbody", null, rows.map(([head, ...cells]) =>
    el("tr", null, el("th", { scope: "row" }, name(cut(head, 120))), cells.map((cell) => el("td", null, name(cut(cell, 400))))))));

function renderNow() {
  const body = $("now-body");
  const time = state.t;
  if (time === 0) {
    put(body, el("p", null, "The beginning: no step has been made."), agentCard());
    return;
  }
  const step = stepAt(time);
  const kind = actOf(step);
  const lanesOf = step.lanes ? ` (lanes ${step.lanes})` : "";
  const rows = differences(time);
  put(body,
    el("p", { class: "act" },
      svg("svg", { width: 20, height: 20, viewBox: "-9 -9 18 18", "aria-hidden": "true" }, sign(kind, 0, 0, 7)),
      el("strong", null, `${time}`), agentChip(step.agent), lanesOf, el("code", { class: "name" }, cut(step.resolved, 400))),
    landingNote(time),
    step.resolved !== step.instruction && !step.choice.lands && el("p", { class: "note" }, "written ", el("code", { class: "name" }, cut(step.instruction, 400))),
    wordsAt(time).length > 0 && el("ul", { class: "happened" }, wordsAt(time).map((word, i) =>
      el("li", { class: step.events[i].kind }, name(cut(word, 600))))),
    rows.length > 0 ? el("div", { class: "changed" }, table(rows, ["Changed", "before", "after"])) : el("p", { class: "note" }, "Nothing changes."),
    agentCard());
}

/** What lands is nobody's step: what it is, and since when. */
function landingNote(time) {
  const flight = landingAt(time);
  return flight && el("p", { class: "note" }, el("bdi", null, sentenceOf(cut(`Nobody makes this step: ${flightSaid(flight)}.`, 400))));
}

/** The agent that is looked at. */
function agentCard() {
  const agent = subject();
  if (agent === null) return null;
  const now = agentAt(agent, state.t);
  const about = trace.agents[agent];
  const facts = [["doing", doing(now)]];
  if (about.role) facts.unshift(["role", about.role]);
  if (now.instruction && now.status !== "exited") facts.push([now.status === "blocked" ? "stands at" : "next", now.instruction]);
  if (now.notified.length) facts.push(["notified of", now.notified.map(barrierName).join(", ")]);
  if (now.fragments.length > 1) {
    now.fragments.forEach((f) => facts.push([`lanes ${f.lanes}`, `${f.doing}${f.barrier === null ? "" : ` at ${barrierShort(f.barrier)}`}, line ${f.location.line}`]));
  }
  Object.entries(locals(now)).forEach(([key, value]) => facts.push([key, value]));
  return el("section", { class: "agent-card", "aria-label": "Agent" },
    el("h3", null, name(cut(agentName(agent), 120)), state.agent === null ? el("span", { class: "note" }, " follows the step") : ""),
    el("dl", null, facts.map(([key, value]) => [el("dt", null, name(cut(key, 60))), el("dd", null, name(cut(value, 400)))])));
}

/** Whether the violation, which is on show, is about this barrier. */
const isAbout = (barrier) => state.t === LAST && view.shows && barrier === outcome.barrier;

function renderBarriers() {
  const open = new Set([...document.querySelectorAll("#barriers-body details[open]")].map((d) => d.dataset.barrier));
  const all = [...barriers.keys()].filter((barrier) => !dimmedBarrier(barrier));
  const changed = new Set(state.t ? stepAt(state.t).changes.barriers.map((b) => b.barrier) : []);
  // With many barriers, the one that the violation is about, those in use and those that were used last come first.
  const weight = (id) => (isAbout(id) ? 4 : 0) + (changed.has(id) ? 2 : 0) + (barrierAt(id, state.t).active ? 1 : 0);
  const order = all.length > 6 ? all.sort((a, b) => weight(b) - weight(a) || a - b) : all;
  const shown = order.slice(0, MOST_CARDS);
  $("barriers-note").textContent = order.length > shown.length ? `${shown.length} of ${order.length}, those in use first` : "";
  $("barriers-body").replaceChildren(...(order.length ? shown.map((id) => barrierCard(id, changed.has(id), open.has(`${id}`)))
    : [el("p", { class: "note" }, "No barrier occurs.")]));
}

/** Scrolls to the barrier that is selected, at the end to the one that the violation is about, elsewhere to one that has changed. */
function revealBarrier() {
  const body = $("barriers-body");
  const card = [".chosen", ".about", ".changed"].map((kind) => body.querySelector(`.card${kind}`)).find(Boolean);
  const top = card && card.offsetTop - body.offsetTop;
  if (card && (top < body.scrollTop || top + card.offsetHeight > body.scrollTop + body.clientHeight)) body.scrollTop = top - 8;
}

const MOST_CARDS = 40;

function barrierCard(id, changed, open) {
  const now = barrierAt(id, state.t);
  const info = barriers.get(id);
  const chips = (agents, label, mark) => (agents.length === 0 ? null : [
    el("dt", null, label), el("dd", null, chipsOf(agents, mark))]);
  const selected = state.barrier === id;
  return el("article", { class: `card ${hueOf(id)} ${changed ? "changed" : ""} ${isAbout(id) ? "about" : ""} ${selected ? "chosen" : ""}`, "data-barrier": id },
    el("header", null,
      button([el("span", { class: "swatch", "aria-hidden": "true" }), name(cut(info.name, 80))], () => select({ barrier: selected ? null : id }),
        { class: "pick", "aria-pressed": String(selected) }),
      el("span", { class: "tag" }, `${now.generation} complete`),
      el("span", { class: "tag" }, now.active ? "gathering" : now.notified.length ? "yet to be waited for" : "idle"),
      now.class && el("span", { class: "tag" }, name(cut(now.class, 20))),
      now.all && el("span", { class: "tag" }, "every live one"),
      changed && el("span", { class: "tag new" }, "\u25c6 changed")),
    now.counts.map((count) => el("div", { class: "meter" },
      el("span", null, `${count.arrived} of ${count.expected} `, name(cut(count.of, 40)), " arrived"), meter(count))),
    el("dl", { class: "who" },
      chips(now.arrived, "arrived"), chips(now.waiting, "waits", "waits"), chips(now.missing, "missing", "missing"), nobodyComes(now),
      chips(now.notified, "notified"), flying(id), comers(id)),
    history(info, open));
}

/** That a barrier waits for more than could come. */
function nobodyComes(now) {
  if (!now.active || now.missing.length > 0) return null;
  const completes = now.counts.some(({ of }) => of === "arrivals") && now.arrived.length > 0;
  return [el("dt", null, "missing"), el("dd", null, completes ? "nobody else could arrive" : "nobody is left that could arrive")];
}

/** Who could arrive in the end where not all of them have room. */
function comers(id) {
  const { figure } = view;
  if (!view.shows || !figure?.room || figure.barrier !== id || state.t !== LAST) return null;
  const agents = figure.sides.flatMap((side) => side.agents).sort((a, b) => a - b);
  return [el("dt", null, "could arrive"), el("dd", null, chipsOf(agents, "missing"), ` ${figure.room.standing} for ${figure.room.room} places`)];
}

/** What is in flight for a barrier. */
function flying(id) {
  const now = view.flights.filter((flight) => flight.barrier === id && inFlight(flight, state.t));
  if (now.length === 0) return null;
  const rest = now.length - MOST_FLYING;
  const said = (flight) => el("div", null, el("bdi", null, sentenceOf(cut(`${flightName(flight)} by ${agentName(flight.agent)}${flight.issued === null ? "" : ` since step ${flight.issued}`}`, 200))));
  return [el("dt", null, "in flight"), el("dd", null, now.slice(0, MOST_FLYING).map(said), rest > 0 && el("div", { class: "note" }, `and ${rest} more`))];
}

const MOST_FLYING = 6;

/** Agents one by one as far as there is room, the rest by number. */
function chipsOf(agents, mark) {
  const most = 12;
  if (agents.length <= most) return agents.map((agent) => agentChip(agent, mark));
  return el("span", { class: `crowded ${mark ?? ""}` }, name(agentsInWords(agents)));
}

function meter({ arrived, expected }) {
  const part = expected > 0 ? Math.min(1, arrived / expected) : 0;
  return svg("svg", { class: "gauge", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { width: 100, height: 6, class: "ground" }), svg("rect", { width: 100 * part, height: 6, class: "part" }));
}

/** The generations of a barrier, listed while they are looked at. */
function history(info, open) {
  const count = info.generations.length;
  if (count === 0) return null;
  const details = el("details", { open, "data-barrier": info.barrier },
    el("summary", null, `History: ${count} generation${count === 1 ? "" : "s"}`), open && generationsOf(info));
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(...generationsOf(info)));
  return details;
}

/** Generations; those around the present if there are many. */
function generationsOf(info) {
  const all = info.generations;
  const most = 30;
  const at = all.findIndex((g) => (g.completed ?? LAST) >= state.t);
  const from = Math.max(0, Math.min((at < 0 ? all.length : at) - most / 2, all.length - most));
  const entry = (g) => {
    const time = g.completed ?? g.arrivals.at(-1)?.[1];
    const label = g.completed ? `#${g.generation}` : "not complete";
    const who = agentsInWords([...new Set(g.arrivals.map(([agent]) => agent))]);
    const result = g.result === null || g.result === undefined ? "" : `, result ${g.result}`;
    return el("li", { class: time <= state.t ? "past" : "future" }, button(label, () => go(time), { class: "link" }),
      ` step ${g.arrivals[0]?.[1] ?? time}${time > (g.arrivals[0]?.[1] ?? time) ? `\u2013${time}` : ""}: `, g.arrivals.length ? name(who) : "nobody", result);
  };
  const note = (count, where) => (count > 0 ? [el("p", { class: "note" }, `${count} ${where} these`)] : []);
  return [...note(from, "before"), el("ol", null, all.slice(from, from + most).map(entry)), ...note(all.length - from - most, "after")];
}
