// What the trace shows and why: the rule and its clauses, the narrative, and a drawing of who waits for whom
// or of the two accesses.

function renderWhy() {
  const sentences = el("ul", { class: "sentences" }, outcome.explanation.split("\n").filter(Boolean).slice(0, 200)
    .map((sentence) => el("li", null, el("bdi", null, sentenceOf(sentence.slice(0, 3000))))));
  const conflict = view.conflict && el("figure", null, el("figcaption", null, "The two accesses, and what lies between them"), raceFigure(view.conflict));
  const graph = el("figure", { id: "graph" });
  const nothing = !view.shows && el("p", { class: "note" }, "This run has come to nothing that a rule forbids.");
  // What the rule is about comes first.
  const hangs = agentAt(outcome.agent, LAST).status === "blocked" && !view.conflict;
  const told = [el("h3", null, "At the end of the run"), sentences];
  const figure = view.shows && view.figure && sidesFigure(view.figure);
  put($("why-body"), nothing, hangs ? [graph, figure, told] : [conflict, figure, told, graph], ruleNote());
}

/** What is known of the rule. Of the rules that the trace does not violate that is little. */
function ruleNote() {
  if (outcome.rule === null) return null;
  const head = el("h3", null, "The rule ", el("code", null, outcome.rule));
  const rule = outcome.rule === given.trace.outcome.rule ? given.notes.rule : null;
  if (!rule) {
    const meaning = given.notes.meanings[outcome.rule];
    return meaning ? [head, el("p", null, meaning), el("p", { class: "note" }, el("code", null, `barcheck explain ${outcome.rule}`), " says more.")] : null;
  }
  const clause = (note) => el("li", null, el("strong", null, `${note.document}, ${note.section} `), el("code", null, note.id), el("p", null, note.says));
  const [first, ...others] = rule.clauses;
  return [
    head, el("p", null, rule.meaning),
    first && el("ul", { class: "clauses" }, clause(first)),
    el("details", null, el("summary", null, "Why it hurts, and how to fix it"), el("p", null, rule.why), el("p", null, rule.fix)),
    others.length > 0 && el("details", null, el("summary", null, `${others.length} more clause${others.length === 1 ? "" : "s"}`), el("ul", { class: "clauses" }, others.map(clause)))];
}

/**
 * Who waits for whom. Agents in the same position are one node; an edge leads from those that wait to those that
 * their barrier misses.
 */
function waitGraph(time) {
  const missing = new Map();
  const waits = trace.agents.map(({ index }) => {
    const now = agentAt(index, time);
    return now.status === "blocked" && now.waits ? now.waits : null;
  });
  for (const wait of waits) {
    if (wait && wait.awaits === "agents" && !missing.has(wait.barrier)) missing.set(wait.barrier, new Set(barrierAt(wait.barrier, time).missing));
  }
  const nodes = new Map();
  trace.agents.forEach(({ index }) => {
    const wait = waits[index];
    const missed = [...missing].filter(([, who]) => who.has(index)).map(([barrier]) => barrier);
    if (!wait && missed.length === 0) return;
    const { status, location } = agentAt(index, time);
    const key = JSON.stringify([wait, missed, status, wait ? 0 : location?.line]);
    if (!nodes.has(key)) nodes.set(key, { agents: [], wait, missed, status, location });
    nodes.get(key).agents.push(index);
  });
  const all = [...nodes.values()];
  const edges = all.flatMap((from) => {
    if (!from.wait) return [];
    if (from.wait.awaits === "lanes") return [{ from, to: from, barrier: from.wait.barrier }];
    return all.filter((to) => to.missed.includes(from.wait.barrier)).map((to) => ({ from, to, barrier: from.wait.barrier }));
  });
  edges.forEach((edge) => { edge.cyclic = reaches(edges, edge.to, edge.from); });
  return { nodes: all, edges };
}

function reaches(edges, start, goal) {
  const seen = new Set([start]);
  for (const node of seen) {
    if (node === goal) return true;
    edges.forEach((edge) => edge.from === node && seen.add(edge.to));
  }
  return false;
}

/** What a node says of itself. */
function standing({ agents, wait, status, location }) {
  const one = agents.length === 1;
  if (wait?.awaits === "lanes") return one ? "waits for its own lanes" : "wait for their own lanes";
  if (wait) return `${one ? "waits" : "wait"} at ${barrierShort(wait.barrier)}`;
  if (status === "exited") return "exited";
  return location?.line ? `${status}, line ${location.line}` : status;
}

const MOST_NODES = 14;

function renderGraph() {
  const { nodes, edges } = waitGraph(state.t);
  const figure = $("graph");
  const caption = el("figcaption", null, state.t === LAST && !whatif.goesOn() ? "Who waits for whom in the end" : `Who waits for whom after step ${state.t}`);
  const awaitsFlight = ({ wait }) => wait && view.flights.some((flight) => flight.barrier === wait.barrier && inFlight(flight, state.t));
  const flies = nodes.some(awaitsFlight) ? [el("p", { class: "note" }, "Something is in flight for what they wait for, and lands later.")] : [];
  if (edges.length === 0) {
    figure.replaceChildren(caption, ...(flies.length ? flies : [el("p", { class: "note" }, nodes.length ? "Those that wait miss nobody in particular." : "Nobody waits.")]));
    return;
  }
  const sentences = nodes.filter((node) => node.wait).map((node) => {
    const targets = edges.filter((edge) => edge.from === node && edge.to !== node).map(({ to }) =>
      `${cut(agentsInWords(to.agents), 120)} (${standing(to)})`);
    const whom = node.wait.awaits === "lanes" ? "the rest of its own lanes" : targets.join("; ") || (awaitsFlight(node) ? "what is in flight" : "others");
    return el("li", null, name(`${cut(agentsInWords(node.agents), 120)} at ${barrierName(node.wait.barrier)} for ${whom}`));
  });
  const cyclic = edges.some((edge) => edge.cyclic);
  figure.replaceChildren(caption, ...(nodes.length <= MOST_NODES ? [graphDrawing(nodes, edges)] : []),
    el("ul", { class: "waiting" }, sentences), ...(cyclic ? [el("p", { class: "note" }, "Bold edges close a cycle: each of these waits for the next.")] : []),
    ...flies);
}

/** Nodes on an ellipse, so that a cycle of waits looks like one. */
function graphDrawing(nodes, edges) {
  const few = nodes.length <= 2;
  const [width, height] = [460, few ? 118 : Math.min(340, 110 + nodes.length * 34)];
  const half = { x: 82, y: 19 };
  // A loop at the topmost node goes up to above it.
  const top = edges.some(({ from, to }) => from === to) ? -22 : 0;
  nodes.forEach((node, i) => {
    const angle = few ? Math.PI * (1 + i) : (2 * Math.PI * i) / nodes.length - Math.PI / 2;
    node.x = width / 2 + Math.cos(angle) * (width / 2 - half.x - 16);
    node.y = height / 2 + Math.sin(angle) * (height / 2 - half.y - 14);
  });
  const lines = edges.map((edge) => edgeDrawing(edge, half));
  const boxes = nodes.map((node) => svg("g", { class: `node ${node.status}`, transform: `translate(${node.x} ${node.y})` },
    svg("rect", { x: -half.x, y: -half.y, width: 2 * half.x, height: 2 * half.y, rx: 6 }),
    svg("text", { y: -3, class: "strong" }, cut(agentsInWords(node.agents), 20)),
    svg("text", { y: 12 }, cut(standing(node), 24)),
    svg("title", null, cut(agentsInWords(node.agents), 200))));
  return svg("svg", { class: "graph", viewBox: `0 ${top} ${width} ${height - top}`, role: "img", "aria-label": "Drawing of what the list below says" },
    svg("defs", null, ["plain", "cyclic"].map((kind) => svg("marker", { id: `tip-${kind}`, class: `tip ${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8Z" })))),
    lines.map((line) => line.path), boxes, lines.map((line) => line.label));
}

function edgeDrawing({ from, to, barrier, cyclic }, half) {
  const kind = cyclic ? "cyclic" : "plain";
  const attributes = { class: `edge ${kind}`, "marker-end": `url(#tip-${kind})` };
  const text = cut(barrierShort(barrier), 10);
  const wide = Math.max(32, Array.from(text).length * 7 + 10);
  const label = (x, y) => svg("g", { class: `flag ${hueOf(barrier)}`, transform: `translate(${x} ${y})` },
    svg("rect", { x: -wide / 2, y: -9, width: wide, height: 18, rx: 5 }), svg("text", { y: 4 }, text));
  if (from === to) {
    const [x, y] = [from.x, from.y - half.y];
    return { path: svg("path", { d: `M${x - 20} ${y}C${x - 30} ${y - 26} ${x + 30} ${y - 26} ${x + 20} ${y}`, ...attributes }), label: label(x, y - 12) };
  }
  // Bent to the left, so that two edges between the same nodes part.
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const bend = { x: (from.x + to.x) / 2 - dy * 0.16, y: (from.y + to.y) / 2 + dx * 0.16 };
  const start = rim(from, bend, half);
  const end = rim(to, bend, half);
  return {
    path: svg("path", { d: `M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`, ...attributes }),
    label: label((start.x + 2 * bend.x + end.x) / 4, (start.y + 2 * bend.y + end.y) / 4),
  };
}

/** Where a line from a node's middle towards a point leaves its box. */
function rim(node, towards, half) {
  const [dx, dy] = [towards.x - node.x, towards.y - node.y];
  const scale = Math.min(half.x / Math.abs(dx || 1e-9), half.y / Math.abs(dy || 1e-9), 1);
  return { x: node.x + dx * scale, y: node.y + dy * scale };
}
