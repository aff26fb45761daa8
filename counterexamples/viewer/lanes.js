// The schedule: a lane for each agent, steps from left to right. Only what can be seen is drawn.

const LABEL = 148;
const AXIS = 44;
const ROW = 26;
const ZOOMS = [1, 2, 4, 7, 12, 20, 30, 44, 64];
/** What a long run is shown at: smaller, its signs are not told apart. */
const READABLE = 5;

/** Shapes, so that no sign is told by its colour alone. */
const SHAPES = {
  acts: (r) => svg("circle", { r: r * 0.45 }),
  passes: (r) => svg("path", { d: `M${-r * 0.7} ${-r * 0.7}L${r * 0.1} 0L${-r * 0.7} ${r * 0.7}M0 ${-r * 0.7}L${r * 0.8} 0L0 ${r * 0.7}`, class: "line" }),
  arrives: (r) => svg("path", { d: `M0 ${-r * 0.85}L${r * 0.9} ${r * 0.7}L${-r * 0.9} ${r * 0.7}Z` }),
  blocks: (r) => svg("rect", { x: -r * 0.75, y: -r * 0.75, width: r * 1.5, height: r * 1.5 }),
  completes: (r) => svg("path", { d: `M0 ${-r * 1.1}L${r * 1.1} 0L0 ${r * 1.1}L${-r * 1.1} 0Z` }),
  released: (r) => svg("path", { d: `M${-r * 0.6} ${-r * 0.8}L${r * 0.9} 0L${-r * 0.6} ${r * 0.8}Z` }),
  notified: (r) => svg("path", { d: `M${-r * 0.5} ${r * 0.9}V${-r * 0.8}L${r * 0.7} ${-r * 0.3}L${-r * 0.5} ${r * 0.2}`, class: "line" }),
  accesses: (r) => svg("circle", { r: r * 0.65, class: "line" }),
  exits: (r) => svg("path", { d: `M${-r * 0.7} ${-r * 0.7}L${r * 0.7} ${r * 0.7}M${r * 0.7} ${-r * 0.7}L${-r * 0.7} ${r * 0.7}`, class: "line" }),
  stands: (r) => svg("path", { d: `M0 ${-r * 0.85}L${r * 0.9} ${r * 0.7}L${-r * 0.9} ${r * 0.7}Z`, class: "line" }),
  spins: (r) => svg("path", { d: `M${r * 0.8} 0A${r * 0.8} ${r * 0.8} 0 1 1 0 ${-r * 0.8}L${r * 0.5} ${-r * 0.8}`, class: "line" }),
  fails: (r) => svg("path", { d: `M0 ${-r * 1.1}L${r * 1.1} ${r * 0.9}L${-r * 1.1} ${r * 0.9}ZM0 ${-r * 0.3}V${r * 0.35}`, class: "alert" }),
};
const MEANINGS = {
  arrives: "arrives", blocks: "arrives or waits, and blocks", completes: "completes a generation", released: "released",
  notified: "notified", passes: "passes its wait", accesses: "accesses memory", acts: "another step", exits: "exits",
  spins: "runs for ever", fails: "violates", stands: "stands at the arrival in question",
};

/** A sign at a place. */
function sign(kind, x, y, r, attributes, title) {
  return svg("g", { transform: `translate(${x} ${y})`, ...attributes, class: `sign ${kind} ${attributes?.class ?? ""}` },
    SHAPES[kind](r), title && svg("title", null, title));
}

/** Lanes of agents beyond which roles are folded, but for whoever is to blame. */
const MOST_LANES = 12;

const lanes = {
  zoom: READABLE + 1,
  collapsed: new Set(),
  rows: [],
  rowOf: [],
  /** The rows of objects. */
  objectRows: new Map(),
  objectsFolded: null,
  labels: new Map(),

  get cell() { return ZOOMS[this.zoom]; },
  get width() { return (LAST + 2) * this.cell; },

  layout() {
    this.rows = [];
    const named = groups.length > 1 || groups[0]?.role || trace.agents.length > MOST_LANES;
    for (const group of groups) {
      const folded = named && this.collapsed.has(group);
      if (named) this.rows.push({ group, folded });
      const at = this.rows.length - 1;
      for (const agent of group.agents) {
        const apart = !folded || isBlamed(agent);
        if (apart) this.rows.push({ agent });
        this.rowOf[agent] = apart ? this.rows.length - 1 : at;
      }
    }
    this.layoutObjects();
    $("lane-space").style.width = `${LABEL + this.width}px`;
    $("lane-space").style.height = `${AXIS + this.rows.length * ROW + 6}px`;
    this.labels.clear();
    this.stageLabels.replaceChildren();
  },

  /** Objects have lanes below those of the agents. */
  layoutObjects() {
    this.objectRows.clear();
    const objects = objectsOf();
    if (objects.length === 0) return;
    this.objectsFolded ??= objects.length > MOST_OBJECTS;
    this.rows.push({ objects, folded: this.objectsFolded });
    objects.forEach((object) => {
      if (!this.objectsFolded) this.rows.push({ object });
      this.objectRows.set(object.barrier, this.rows.length - 1);
    });
  },

  start() {
    const stage = $("lane-stage");
    this.drawing = svg("svg", { role: "img", class: "drawing" });
    this.stageLabels = el("div", { class: "lane-labels" });
    stage.append(this.drawing, this.stageLabels);
    this.fit(READABLE);
    // Of many, whoever is to blame is to be seen beside its role.
    if (trace.agents.length > MOST_LANES && outcome.blamed) this.collapsed = new Set(groups);
    $("lane-scroll").addEventListener("scroll", () => this.soon());
    new ResizeObserver(() => this.soon()).observe($("lane-scroll"));
    this.drawing.addEventListener("click", (event) => this.click(event));
    const zoomBy = (by) => () => this.rezoom(by);
    $("zoom").append(
      ...(groups.length > 1 ? [button("Fold roles", () => this.foldAll(), { id: "fold", "aria-pressed": String(this.collapsed.size > 0) })] : []),
      button("Fit", () => { this.fit(0); this.rezoom(0); }, { id: "fit", title: "The whole run, as far as there is room" }),
      button("\u2212", zoomBy(-1), { "aria-label": "Zoom out", "aria-keyshortcuts": "-" }),
      button("+", zoomBy(1), { "aria-label": "Zoom in", "aria-keyshortcuts": "+" }));
    this.changed();
  },

  /** Another run is shown. */
  changed() {
    groups.forEach((group) => { delete group.blocked; });
    this.layout();
    this.legend();
  },

  /** The greatest zoom at which all steps have room, but none below this one. */
  fit(least) {
    const room = $("lane-scroll").clientWidth - LABEL;
    const fits = ZOOMS.findLastIndex((cell) => (LAST + 2) * cell <= room);
    this.zoom = Math.max(fits, least);
  },

  legend() {
    const used = new Set(steps.map(actOf));
    if (steps.some((step) => has(step, "released"))) used.add("released");
    if (steps.some((step) => has(step, "notified"))) used.add("notified");
    const entry = (kind) => el("span", null,
      svg("svg", { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" }, sign(kind, 0, 0, 6)), MEANINGS[kind]);
    const waits = el("span", null, svg("svg", { width: 22, height: 16, "aria-hidden": "true" },
      svg("path", { d: "M1 8H21", class: "life blocked" })), "blocked");
    const band = (kind, told) => el("span", null, svg("svg", { width: 22, height: 16, "aria-hidden": "true" },
      svg("rect", { x: 1, y: 2, width: 20, height: 12, rx: 4, class: `band k0 ${kind}` })), told);
    const all = [...barriers.values()].flatMap((barrier) => (isObject(barrier.barrier) ? [] : barrier.generations));
    const phases = [...barriers.values()].flatMap((barrier) => barrier.phases);
    const flies = (kind, told) => el("span", null, svg("svg", { width: 26, height: 16, "aria-hidden": "true" },
      svg("g", { class: `flight k0 now ${kind}` }, svg("path", { d: "M1 8H22", "marker-end": `url(#${kind ? "flies" : "lands"})` }))), told);
    put($("legend"), Object.keys(MEANINGS).filter((kind) => used.has(kind)).map(entry), agentHistory.some(({ values }) => values.some(({ status }) => status === "blocked")) && waits,
      all.some((g) => g.completed) && band("", "a generation, from arrival to completion"),
      all.some((g) => !g.completed) && band("open", "a generation that stays open"),
      phases.length > 0 && band("", "a phase, filled from the first thing that happens in it"),
      phases.some((phase) => !phase.complete && phase.stirs !== null) && band("open", "a phase that stays open"),
      view.flights.some(({ landed }) => landed !== null) && flies("", "in flight, up to where it lands"),
      view.flights.some(({ landed }) => landed === null) && flies("lost", "never lands"),
      view.figure?.room && entry("stands"));
  },

  fold(group) {
    if (!group) this.objectsFolded = !this.objectsFolded;
    else if (!this.collapsed.delete(group)) this.collapsed.add(group);
    this.layout();
    this.soon();
  },

  foldAll() {
    const all = this.collapsed.size < groups.length;
    this.objectsFolded = all;
    this.collapsed = new Set(all ? groups : []);
    $("fold").setAttribute("aria-pressed", String(all));
    this.layout();
    this.soon();
  },

  rezoom(by) {
    this.zoom = Math.max(0, Math.min(ZOOMS.length - 1, this.zoom + by));
    this.layout();
    this.reveal(true);
    this.soon();
  },

  click(event) {
    const box = this.drawing.getBoundingClientRect();
    const scroll = $("lane-scroll");
    const x = event.clientX - box.left - LABEL + scroll.scrollLeft;
    const y = event.clientY - box.top - AXIS + scroll.scrollTop;
    if (event.clientX - box.left < LABEL) return;
    const row = event.clientY - box.top < AXIS ? undefined : this.rows[Math.floor(y / ROW)];
    const chosen = row?.agent !== undefined ? { agent: row.agent } : row?.object ? { barrier: row.object.barrier } : {};
    select({ ...chosen, t: Math.max(0, Math.min(LAST, Math.floor(x / this.cell))) });
  },

  /** Scrolls so that the step and the agent can be seen. */
  reveal(center) {
    const scroll = $("lane-scroll");
    const x = state.t * this.cell;
    const room = scroll.clientWidth - LABEL;
    if (center || x < scroll.scrollLeft + this.cell || x + 2 * this.cell > scroll.scrollLeft + room) {
      scroll.scrollLeft = x - room / 2;
    }
    const agent = subject();
    if (agent === null) return;
    const y = this.rowOf[agent] * ROW;
    const height = scroll.clientHeight - AXIS;
    if (y < scroll.scrollTop || y + ROW > scroll.scrollTop + height) scroll.scrollTop = y - height / 2;
  },

  soon() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  },

  draw() {
    const scroll = $("lane-scroll");
    const [width, height] = [scroll.clientWidth, scroll.clientHeight];
    const [left, top] = [scroll.scrollLeft, scroll.scrollTop];
    const cell = this.cell;
    const frame = {
      width, height, cell, left, top,
      x: (time) => LABEL + (time + 0.5) * cell - left,
      y: (row) => AXIS + (row + 0.5) * ROW - top,
      from: Math.max(0, Math.floor(left / cell) - 1),
      to: Math.min(LAST, Math.ceil((left + width - LABEL) / cell)),
      first: Math.max(0, Math.floor(top / ROW) - 1),
      last: Math.min(this.rows.length - 1, Math.ceil((top + height - AXIS) / ROW)),
    };
    this.drawing.setAttribute("width", width);
    this.drawing.setAttribute("height", height);
    this.drawing.setAttribute("aria-label", `Lanes of ${trace.agents.length} agents, at step ${state.t} of ${LAST}`);
    const clip = (id, x, y) => svg("clipPath", { id }, svg("rect", { x, y, width: Math.max(0, width - x), height: Math.max(0, height - y) }));
    this.drawing.replaceChildren(
      svg("defs", null, clip("clip-lanes", LABEL, AXIS), clip("clip-axis", LABEL, 0), flightTips()),
      svg("g", { "clip-path": "url(#clip-axis)" }, this.columns(frame)),
      svg("g", { "clip-path": "url(#clip-lanes)" },
        this.stripes(frame), this.bands(frame), phaseBands(frame, (id) => this.objectRows.get(id)), this.lives(frame),
        arrows(frame, (id) => this.objectRows.get(id)), stateMoves(frame), this.signs(frame), this.standing(frame)),
      svg("g", { "clip-path": "url(#clip-axis)" }, this.axis(frame)));
    this.drawLabels(frame);
  },

  /** The columns that stand out: the cycle, the violation, the step. */
  columns({ x, cell, height }) {
    const column = (time, kind) =>
      svg("rect", { x: x(time) - cell / 2, y: 0, width: Math.max(cell, 3), height, class: `column ${kind}` });
    const cycle = CYCLE === null ? null
      : svg("rect", { x: x(CYCLE) + cell / 2, y: 0, width: (LAST - CYCLE) * cell, height, class: "column cycle" });
    return [cycle, VIOLATION !== null && column(VIOLATION, "violation"), column(state.t, "current")];
  },

  stripes({ y, first, last, width }) {
    const subjectRow = subject() === null ? -1 : this.rowOf[subject()];
    const stripes = [];
    for (let row = first; row <= last; row += 1) {
      const { group, objects, object } = this.rows[row];
      const kind = group || objects ? "head" : row === subjectRow || (object && object.barrier === state.barrier) ? "chosen" : "";
      stripes.push(svg("rect", { x: LABEL, y: y(row) - ROW / 2, width, height: ROW, class: `stripe ${kind}` }));
    }
    return stripes;
  },

  /** Generations: from each arrival to the step that completes it, in the lanes that took part. */
  bands(frame) {
    const { x, y, cell, from, to, first, last } = frame;
    const drawn = [];
    for (const barrier of barriers.values()) {
      if (dimmedBarrier(barrier.barrier) || isObject(barrier.barrier)) continue;
      for (const generation of visibleGenerations(barrier, from, to)) {
        const end = generation.completed ?? LAST;
        // Of different heights, so that each of several in one lane can be seen.
        const half = ROW * (0.44 - 0.07 * (barrier.hue % 3));
        const rows = generation.arrivals.map(([agent]) => this.rowOf[agent]);
        const kind = `${hueOf(barrier.barrier)} ${generation.completed ? "" : "open"}`;
        const told = generation.completed
          ? `${barrier.short}: generation ${generation.generation}` : `${barrier.short}: a generation that is not complete`;
        // A lane has one band, from its first arrival; of a folded role likewise.
        const begins = new Map(generation.arrivals.map(([agent, time]) => [this.rowOf[agent], time]).reverse());
        for (const [row, time] of begins) {
          if (row < first || row > last) continue;
          const start = x(Math.max(time, from)) - cell / 2;
          drawn.push(svg("rect", {
            x: start, y: y(row) - half, width: Math.max(2, x(Math.min(end, to + 1)) + cell / 2 - start), height: 2 * half,
            rx: Math.min(5, cell / 4), class: `band ${kind}`,
          }, svg("title", null, told)));
        }
        if (generation.completed && rows.length > 0) {
          const actor = this.rowOf[stepAt(end).agent];
          drawn.push(svg("path", { class: `joint ${kind}`, d: `M${x(end)} ${y(Math.min(actor, ...rows))}V${y(Math.max(actor, ...rows))}` }));
        }
      }
    }
    return drawn;
  },

  /** What agents do between their steps: nothing is drawn of those that have exited. */
  lives({ x, y, cell, from, to, first, last }) {
    const drawn = [];
    for (let row = first; row <= last; row += 1) {
      const { agent, group, folded } = this.rows[row];
      if (group && folded) drawn.push(crowd(group, { x, y: y(row), cell, from, to }));
      if (agent === undefined) continue;
      const history = agentHistory[agent];
      for (let i = history.index(from); i < history.times.length && history.times[i] <= to; i += 1) {
        const { status } = history.values[i];
        if (status === "exited") continue;
        const until = history.times[i + 1] ?? LAST;
        const start = Math.max(history.times[i], from - 1);
        if (until > start) drawn.push(svg("path", { d: `M${x(start)} ${y(row)}H${x(Math.min(until, to + 1))}`, class: `life ${status}` }));
      }
    }
    return drawn;
  },

  signs({ x, y, cell, from, to, first, last }) {
    const r = Math.min(cell * 0.42, 7.5);
    const drawn = [];
    let full = new Set();
    const mark = (kind, agent, time, title, extra, row = this.rowOf[agent]) => {
      // In the lane of a folded role the step itself goes before what it does to others.
      if (row < first || row > last || full.has(row)) return;
      full.add(row);
      drawn.push(sign(kind, x(time), y(row), r, { class: extra, "data-step": time, "data-agent": agent }, title));
    };
    for (let time = Math.max(1, from); time <= to; time += 1) {
      const step = stepAt(time);
      const extra = `${matches(time) ? "" : "dim"} ${time === state.t ? "current" : ""}`;
      const title = `${time}: ${cut(agentName(step.agent), 40)}: ${cut(step.resolved, 80)}; ${cut(wordsAt(time).join(", "), 200)}`;
      full = new Set();
      // What lands is nobody's step.
      const landing = landingAt(time);
      mark(actOf(step), step.agent, time, title, extra, landing && this.objectRows.get(landing.barrier));
      for (const event of step.events) {
        if (event.kind === "released" || event.kind === "notified") event.agents.forEach((agent) => mark(event.kind, agent, time, title, extra));
      }
    }
    return drawn;
  },

  /** In the end, those that could arrive where not all of them have room. */
  standing({ x, y, cell, to, first, last }) {
    if (!view.shows || !view.figure?.room || to < LAST) return null;
    const r = Math.min(cell * 0.42, 7.5);
    return view.figure.sides.flatMap(({ agents, instruction }) => agents.map((agent) => {
      const row = this.rowOf[agent];
      return row < first || row > last ? null : sign("stands", x(LAST) + cell * 0.85, y(row), r, { "data-agent": agent }, `${cut(agentName(agent), 40)} stands at ${cut(instruction, 80)}`);
    }));
  },

  axis({ x, cell, width, from, to }) {
    const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * cell >= 30) ?? 200;
    const drawn = [svg("rect", { x: LABEL, y: 0, width, height: AXIS - 1, class: "axis" })];
    drawn.push(branched(this, x));
    if (CYCLE !== null) drawn.push(lasso(x(CYCLE) + cell / 2, x(LAST) + cell / 2));
    for (let time = from; time <= to; time += 1) {
      const current = time === state.t;
      if (!current && (time % every !== 0 || Math.abs(time - state.t) * cell < 22)) continue;
      drawn.push(svg("text", { x: x(time), y: 15, class: current ? "tick current" : "tick" }, time === 0 && cell > 40 ? "start" : `${time}`));
    }
    if (VIOLATION !== null && VIOLATION >= from && VIOLATION <= to) drawn.push(sign("fails", x(VIOLATION), 31, 7, {}, "what the trace shows"));
    let free = -Infinity;
    // A generation that is complete is named where it completes, another where it begins, or where there is room.
    const named = [...barriers.values()].flatMap((barrier) => dimmedBarrier(barrier.barrier) || isObject(barrier.barrier) ? []
      : visibleGenerations(barrier, from, to).map((g) => (g.completed ? [g.completed, barrier, `#${g.generation}`] : [Math.min(...g.arrivals.map(([, time]) => time)), barrier, "open"])));
    const end = VIOLATION !== null && VIOLATION <= to ? x(VIOLATION) - 10 : Infinity;
    for (const [time, barrier, told] of named.sort((a, b) => a[0] - b[0])) {
      const label = `${cut(narrow(barrier.short, 8), 8)} ${told}`;
      const half = label.length * 3 + 3;
      const isOpen = told === "open";
      const middle = isOpen ? Math.min(Math.max(x(time), LABEL + half + 2, free + half + 2), end - half) : x(time);
      if (middle - half < free || (!isOpen && time === VIOLATION && cell < 20)) continue;
      free = middle + half;
      drawn.push(svg("g", { class: `flag ${hueOf(barrier.barrier)}` },
        svg("rect", { x: middle - half, y: 23, width: 2 * half, height: 15, rx: 4 }),
        svg("text", { x: middle, y: 34 }, label)));
    }
    return drawn;
  },

  drawLabels({ y, first, last, height }) {
    this.stageLabels.style.height = `${height - AXIS}px`;
    for (const [row, label] of this.labels) {
      if (row < first || row > last) {
        label.remove();
        this.labels.delete(row);
      }
    }
    for (let row = first; row <= last; row += 1) {
      if (!this.labels.has(row)) {
        this.labels.set(row, this.label(row));
        this.stageLabels.append(this.labels.get(row));
      }
      const label = this.labels.get(row);
      label.style.top = `${y(row) - ROW / 2 - AXIS}px`;
      const { agent, object } = this.rows[row];
      if (object) {
        label.setAttribute("aria-pressed", String(state.barrier === object.barrier));
        label.lastChild.textContent = objectStatus(object, state.t);
      }
      if (agent === undefined) continue;
      const { status } = agentAt(agent, state.t);
      label.setAttribute("aria-pressed", String(state.agent === agent));
      label.classList.toggle("subject", subject() === agent);
      const changed = state.t > 0 && stepAt(state.t).changes.agents.some((after) => after.agent === agent);
      label.lastChild.textContent = `${changed ? "\u25c6 " : ""}${status === "running" ? "" : status}`;
      label.lastChild.className = `status ${status}`;
    }
  },

  label(row) {
    const { agent, group, objects, object, folded } = this.rows[row];
    if (objects) {
      return button([el("span", { class: "twist", "aria-hidden": "true" }, folded ? "\u25b8" : "\u25be"), "mbarriers", ` \u00d7${objects.length}`],
        () => this.fold(null), { class: "lane-label head", "aria-expanded": String(!folded), title: "Fold mbarrier objects" });
    }
    if (object) {
      return button([el("span", { class: `swatch ${hueOf(object.barrier)}`, "aria-hidden": "true" }), name(narrow(barrierShort(object.barrier), 12)), el("span", { class: "status" })],
        () => select({ barrier: state.barrier === object.barrier ? null : object.barrier }), { class: "lane-label object", "data-barrier": object.barrier, title: cut(object.name, 80) });
    }
    if (group) {
      return button([el("span", { class: "twist", "aria-hidden": "true" }, folded ? "\u25b8" : "\u25be"), name(group.role ?? (groups.length > 1 ? "no role" : "all")), ` \u00d7${group.agents.length}`],
        () => this.fold(group), { class: "lane-label head", "aria-expanded": String(!folded), title: `Fold ${cut(group.role ?? "agents without a role", 60)}` });
    }
    return button([name(agentName(agent)), el("span", { class: "status" })], () => select({ agent: state.agent === agent ? null : agent }),
      { class: `lane-label${isBlamed(agent) ? " blamed" : ""}`, "data-agent": agent, title: cut(`${agentName(agent)}${trace.agents[agent].role ? `, ${trace.agents[agent].role}` : ""}`, 80) });
  },
};

const isBlamed = (agent) => Boolean(outcome.blamed?.includes(agent));

/** The line behind which a run is the reader's own. */
function branched({ cell }, x) {
  const { branch } = whatif;
  if (!branch) return null;
  return svg("g", { class: "branched" },
    svg("path", { d: `M${x(branch.at) + cell / 2} 0V4000` }),
    svg("text", { x: x(LAST) + cell / 2 + 6, y: 15 }, "\u2190 your own"));
}

/** The generations of a barrier that reach into an interval of time. They follow one another. */
function visibleGenerations(barrier, from, to) {
  const all = barrier.generations;
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle].completed ?? LAST) < from) low = middle + 1;
    else high = middle;
  }
  const visible = [];
  for (let i = low; i < all.length && (all[i].arrivals[0]?.[1] ?? all[i].completed) <= to; i += 1) visible.push(all[i]);
  return visible;
}

/** How many of a folded role are blocked, as a profile. */
function crowd(group, { x, y, cell, from, to }) {
  group.blocked ??= blockedCounts(group.agents);
  let d = `M${x(from) - cell / 2} ${y + 9}`;
  for (let time = from; time <= to; time += 1) {
    d += `V${y + 9 - (18 * group.blocked[time]) / group.agents.length}H${x(time) + cell / 2}`;
  }
  return svg("path", { d: `${d}V${y + 9}Z`, class: "crowd" }, svg("title", null, "how many are blocked"));
}

function blockedCounts(agents) {
  const counts = new Int32Array(LAST + 2);
  for (const agent of agents) {
    const { times, values } = agentHistory[agent];
    values.forEach((value, i) => {
      if (value.status !== "blocked") return;
      counts[times[i]] += 1;
      counts[times[i + 1] ?? LAST + 1] -= 1;
    });
  }
  for (let time = 1; time <= LAST; time += 1) counts[time] += counts[time - 1];
  return counts;
}

/** From here on, again and again. */
function lasso(from, to) {
  const middle = (from + to) / 2;
  return svg("g", { class: "lasso" },
    svg("path", { d: `M${to - 2} 43V40Q${to - 2} 19 ${Math.max(to - 14, middle)} 19H${Math.min(from + 14, middle)}Q${from + 2} 19 ${from + 2} 40V43M${from - 2} 35L${from + 2} 42L${from + 7} 36` }),
    svg("title", null, `From step ${CYCLE + 1} on, again and again`),
    to - from > 130 ? svg("text", { x: middle, y: 31 }, "\u21bb again and again") : null);
}
