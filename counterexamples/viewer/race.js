// Two accesses that nothing orders: the lanes of both agents, what barriers there are between them and what those order, and
// what there would have to be.

/** What memory needs besides an order in time, by target: what the earlier agent is to do before it arrives. */
const PUBLISHES = { nbarrier: "a fence", xegpu: "an xegpu.mfence", bcu: "BAR.SYNC or BAR.RED" };
const MOST_MEETINGS = 3;
const MOST_FENCES = 3;

/** The figure: a drawing, and a list that says the same. */
function raceFigure(conflict) {
  const { earlier, later, missing } = conflict;
  const { points, links, sentences, leftOut } = raceStory(conflict);
  const more = leftOut > 0 && el("li", null, `${leftOut} more in between ${leftOut === 1 ? "is" : "are"} left out.`);
  return [
    raceDrawing(conflict, points, links),
    el("ol", { class: "race" }, sentences.map((sentence) => el("li", null, el("bdi", null, sentenceOf(sentence.slice(0, 3000))))), more,
      el("li", null, el("strong", null, "Needed: "), neededFor(conflict, links))),
    el("p", { class: "note" }, button(`step ${earlier.step ?? "?"}`, () => go(earlier.step ?? 0), { class: "link" }), " and ",
      button(`step ${later.step}`, () => go(later.step), { class: "link" }), `: ${missing}.`),
  ];
}

/**
 * The generations that the earlier agent has arrived in and those that have let the later one go on, each with the times at which
 * they did, as far as they lie before the later access.
 */
function meetings({ earlier, later }) {
  const end = later.step;
  return view.barriers.flatMap(({ barrier, generations }) => generations.map((generation) => {
    const last = (agent) => generation.arrivals.findLast(([who, time]) => who === agent && time < end)?.[1] ?? null;
    const done = generation.completed !== null && generation.completed < end ? generation.completed : null;
    return {
      barrier, done, number: generation.generation, arrives: last(earlier.agent), comes: last(later.agent),
      freed: done === null ? null : freedBy(barrier, done, later),
    };
  }));
}

/** When a completed generation lets the later agent go on, if it does before its access. */
function freedBy(barrier, done, { agent, step: end }) {
  const mine = (kind) => stepAt(done).events.some((event) => event.kind === kind && event.barrier === barrier && event.agents.includes(agent));
  if (mine("released")) return done;
  if (!mine("notified")) return null;
  const passed = (step) => step.agent === agent && step.events.some((event) => event.kind === "passed" && event.barrier === barrier);
  const time = seek(done, (step, at) => at >= end || passed(step));
  return time !== null && time < end ? time : null;
}

/** What the figure shows: points on the lanes by time, links between them, and the same in sentences. */
function raceStory(conflict) {
  const { location, earlier, later } = conflict;
  const [from, end] = [earlier.step ?? 0, later.step];
  const [first, second] = [agentName(earlier.agent), agentName(later.agent)];
  // Its agent's arrivals order no copy: it is over when it lands.
  const all = earlier.copy ? [] : meetings(conflict);
  const early = all.filter((m) => m.arrives !== null && m.arrives < from && m.freed > from).slice(-1);
  const after = all.filter((m) => m.arrives > from);
  const alone = all.filter((m) => m.arrives === null && m.freed > from);
  const relevant = [...early, ...after, ...alone].sort((a, b) => (a.arrives ?? a.freed) - (b.arrives ?? b.freed));
  const kept = relevant.slice(-MOST_MEETINGS);
  const fences = steps.flatMap((step, index) => {
    const time = index + 1;
    return has(step, "fenced") && time > from && time < end && (step.agent === earlier.agent || step.agent === later.agent) ? [{ time, agent: step.agent, text: "fence" }] : [];
  });
  const points = [
    { time: earlier.step, agent: earlier.agent, text: `${earlier.access} ${location}`, access: true },
    { time: end, agent: later.agent, text: `${later.access} ${location}`, access: true },
    ...fences.slice(0, MOST_FENCES),
  ];
  const links = [];
  const sentences = [`${first}: ${earlier.access} ${location} (step ${earlier.step ?? "?"}); ${second}: ${later.access} ${location} (step ${end}).`];
  if (earlier.copy) {
    const { point, said: told } = landing(conflict);
    if (point) points.push(point);
    sentences.push(told);
  }
  for (const meeting of kept) {
    const { barrier, arrives, comes, freed, done } = meeting;
    const on = barrierShort(barrier);
    const link = { barrier, label: done === null ? on : `${on} #${meeting.number}`, inTime: arrives > from && freed !== null, early: arrives !== null && arrives < from };
    if (arrives !== null) points.push(link.from = { time: arrives, agent: earlier.agent, text: `arrives on ${on}` });
    if (freed !== null) points.push(link.to = { time: freed, agent: later.agent, text: `goes on after ${on}` });
    else if (comes > from) points.push({ time: comes, agent: later.agent, text: `arrives on ${on}` });
    links.push(link);
    sentences.push(said(meeting, link, { first, second, access: earlier.access }));
  }
  if (outcome.rule === "missing-fence" && !links.some((link) => link.inTime)) sentences.push("Other agents hand the order in time on from the one to the other.");
  fences.slice(0, MOST_FENCES).forEach(({ time, agent }) => sentences.push(`${agentName(agent)} executes a fence (step ${time}).`));
  return { points, links, sentences, leftOut: relevant.length - kept.length + Math.max(0, fences.length - MOST_FENCES) };
}

/** Where the copy lands, that the earlier access is: a point, if that is before the later access, and a sentence. */
function landing({ earlier, later }) {
  const { barrier, landed } = earlier.copy;
  const on = barrierShort(barrier);
  if (landed === null || landed >= later.step) return { point: null, said: `The copy has not landed on ${on} when ${agentName(later.agent)} makes its ${later.access}.` };
  return { point: { time: landed, agent: earlier.agent, text: `lands on ${on}` }, said: `The copy lands on ${on} in step ${landed}; ${agentName(later.agent)} has not seen that phase complete.` };
}

/** What a generation does for the order of the two, in a sentence. */
function said({ arrives, comes, freed, done }, link, { first, second, access }) {
  const on = link.label;
  if (link.early) return `${on}: ${first} arrives in step ${arrives}, before its ${access}, and ${second} goes on in step ${freed}. That orders what ${first} did before, not its ${access}.`;
  if (arrives === null) return `${on}: ${second} goes on in step ${freed}; ${first} takes no part in it.`;
  if (link.inTime) return `${on}: ${first} arrives in step ${arrives}, after its ${access}, and ${second} goes on in step ${freed}. That orders the two in time.`;
  if (done === null) return `${on}: ${first} arrives in step ${arrives}, after its ${access}, but the generation is not complete when ${second} goes on.`;
  if (comes === null) return `${on}: ${first} arrives in step ${arrives}, after its ${access}; ${second} takes no part in it.`;
  return `${on}: ${first} arrives in step ${arrives}, after its ${access}; ${second} arrives in step ${comes}, but does not wait for it before its own access.`;
}

/** The ends of the order that is missing: of each, what is there already, or what is needed instead. */
function ends({ earlier, later }, links, known) {
  const arrival = links.findLast((link) => link.from && !link.early);
  const wait = links.findLast((link) => link.to);
  const needed = (agent, time, text) => ({ agent, time, text, needed: true });
  const [from, end] = [(earlier.step ?? 0) + 0.4, later.step - 0.4];
  if (earlier.copy) {
    const on = barrierShort(earlier.copy.barrier);
    const left = known.find((point) => point.time === earlier.copy.landed) ?? needed(earlier.agent, from, `lands on ${on}`);
    return { left, right: needed(later.agent, end, `waits for ${on}`) };
  }
  if (outcome.rule === "missing-fence") {
    const publishes = PUBLISHES[trace.protocol.target];
    return { left: publishes ? needed(earlier.agent, from, publishes) : null, right: null };
  }
  if (arrival) return { left: arrival.from, right: needed(later.agent, end, `waits for ${barrierShort(arrival.barrier)}`) };
  if (wait) return { left: needed(earlier.agent, from, `arrives on ${barrierShort(wait.barrier)}`), right: wait.to };
  return { left: needed(earlier.agent, from, "arrives on a barrier"), right: needed(later.agent, end, "waits for it") };
}

/** What would order the two, in words. */
function neededFor(conflict, links) {
  const { earlier, later } = conflict;
  const [first, second] = [agentName(earlier.agent), agentName(later.agent)];
  if (earlier.copy) return name(`${second} waits for the phase of ${barrierName(earlier.copy.barrier)} in which the copy lands before its ${later.access}.`);
  const { left, right } = ends(conflict, links, []);
  if (outcome.rule === "missing-fence") {
    if (left) return name(`${left.text} by ${first} between its ${earlier.access} and its arrival, so that memory follows the order in time.`);
    return name(`an arrive of ${first} with Release and a wait of ${second} with Acquire, for the scope and the storage class of the location.`);
  }
  const arrives = left.needed ? `${first} ${left.text} after its ${earlier.access}` : `${first}'s arrival in step ${left.time}`;
  const waits = right.needed ? `${second} ${right.text} before its ${later.access}` : `${second} goes on in step ${right.time} only after that`;
  return el("bdi", null, sentenceOf(`${arrives}, and ${waits}.`));
}

function raceDrawing(conflict, known, links) {
  const { earlier, later } = conflict;
  const { left, right } = ends(conflict, links, known);
  const points = [...known, left, right].filter((point, i, all) => point && all.indexOf(point) === i);
  // What is needed on both sides stands side by side where nothing lies between.
  const between = points.some((point) => !point.needed && !point.access && point.time > (earlier.step ?? 0) && point.time < later.step);
  const rowOf = ({ needed, time }) => (needed && !between ? (earlier.step ?? 0) + 0.4 : time);
  const times = [...new Set(points.map(rowOf))].sort((a, b) => a - b);
  const [width, row, top] = [460, 36, 36];
  const height = top + times.length * row + 6;
  const column = (agent) => (agent === earlier.agent ? 98 : 362);
  const y = (point) => top + times.indexOf(rowOf(point)) * row + row / 2;
  const boxes = points.map((point) => raceBox(point, column(point.agent), y(point)));
  const arrow = (from, to, attributes) => svg("path", { d: `M190 ${y(from)}L268 ${y(to)}`, ...attributes });
  const on = (from, to, part, kind, text) => svg("text", { x: 190 + 78 * part, y: y(from) + (y(to) - y(from)) * part + 4, class: kind }, text);
  const orders = links.filter((link) => link.from && link.to);
  const [start, stop] = [left ?? points[0], right ?? points[1]];
  // An order in time alone runs across the order that is missing: their signs keep out of each other's way.
  const across = outcome.rule === "missing-fence";
  const lack = across ? [points[0], points[1]] : [start, stop];
  const title = (agent) => svg("text", { x: column(agent), y: 16, class: "strong" }, cut(agentName(agent), 24));
  return svg("svg", { class: "graph conflict", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Drawing of what the list below says" },
    svg("defs", null, ["orders", "lacks"].map((kind) => svg("marker", { id: `race-${kind}`, class: `tip ${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8Z" })))),
    [earlier, later].map(({ agent }) => [title(agent), svg("path", { d: `M${column(agent)} 24V${height - 2}`, class: "thread" })]),
    orders.map(({ from, to }) => arrow(from, to, { class: "orders", "marker-end": "url(#race-orders)" })),
    arrow(...lack, { class: "unordered", "marker-end": "url(#race-lacks)" }),
    boxes,
    orders.map(({ from, to, label }) => on(from, to, across ? 0.6 : 0.5, "link-text", cut(label, 9))),
    on(...lack, across ? 0.2 : 0.5, "alert-text", "\u2717"));
}

/** A point on a lane: an access with a thick rim, what is needed with a broken one. */
function raceBox(point, x, y) {
  const kind = point.access ? "access" : point.needed ? "needed" : "other";
  const text = point.needed ? `needed: ${point.text}` : `${point.time ?? "?"}: ${point.text}`;
  return svg("g", null, svg("rect", { x: x - 92, y: y - 13, width: 184, height: 26, rx: 5, class: kind }),
    svg("text", { x, y: y + 4, class: point.access ? "strong" : "" }, cut(text, 30)), svg("title", null, cut(text, 200)));
}
