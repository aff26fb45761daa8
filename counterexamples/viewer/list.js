// The steps as a list, and what restricts it. It says in words what the lanes draw.

const LINE = 28;
/** Agents that can be chosen from a list; more can be searched for. */
const MOST_CHOICES = 1000;
const filter = { agent: "", barrier: "", kind: "", text: "" };

/** What steps can be asked for by kind. */
const KINDS = [
  ["arrivals", (step) => has(step, "arrived")],
  ["blocks", (step) => has(step, "blocked", "parked")],
  ["releases", (step) => has(step, "released", "notified")],
  ["passed waits", (step) => has(step, "passed")],
  ["completions", (step) => has(step, "completed")],
  ["memory accesses", (step) => has(step, "accessed", "fenced")],
  ["decisions", (step) => has(step, "decided")],
  ["exits", (step) => has(step, "exited", "lanes_exited")],
  ["violations and failures", (step) => has(step, "violated", "failed", "cut")],
];

const option = (value, text) => el("option", { value }, text);
const dimmedBarrier = (barrier) => filter.barrier !== "" && Number(filter.barrier) !== barrier;
const filtering = () => Object.values(filter).some((value) => value !== "");

function passes(step, time) {
  if (filter.agent.startsWith("r")) {
    if (!groups[filter.agent.slice(1)].agents.includes(step.agent)) return false;
  } else if (filter.agent !== "" && !touchesAgent(step, Number(filter.agent))) return false;
  if (filter.barrier !== "" && !touchesBarrier(step, Number(filter.barrier))) return false;
  if (filter.kind !== "" && !KINDS[filter.kind][1](step)) return false;
  if (filter.text === "") return true;
  const role = trace.agents[step.agent].role ?? "";
  const told = [agentName(step.agent), role, step.instruction, step.resolved, ...wordsAt(time)].join(" ");
  return told.toLowerCase().includes(filter.text.toLowerCase());
}

const list = {
  /** The times of the steps that pass, in order, and whether each does. */
  times: [],
  passed: new Uint8Array(0),
  rows: new Map(),

  start() {
    const agents = groups.flatMap((group, i) => [
      ...(group.role ? [option(`r${i}`, cut(`all of ${group.role}`, 40))] : []),
      ...group.agents.filter((agent) => agent < MOST_CHOICES).map((agent) => option(`${agent}`, cut(agentName(agent), 40))),
    ]);
    $("filter-agent").append(option("", "any"), ...agents);
    const inputs = { agent: "filter-agent", barrier: "filter-barrier", kind: "filter-kind", text: "filter-text" };
    for (const [key, id] of Object.entries(inputs)) {
      $(id).addEventListener("input", () => {
        filter[key] = $(id).value;
        this.refilter();
        render();
      });
    }
    $("filters").addEventListener("submit", (event) => {
      event.preventDefault();
      this.match(false);
    });
    $("match-moves").append(
      button("\u2039 match", () => this.match(true), { "aria-label": "Previous match", "aria-keyshortcuts": "Shift+N" }),
      button("match \u203a", () => this.match(false), { "aria-label": "Next match", "aria-keyshortcuts": "N" }),
      button("Clear", () => this.clear(), { id: "filter-clear" }));
    $("list-body").addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe($("list-body"));
    this.changed();
  },

  /** Another run is shown: it may know other barriers, and do other things. */
  changed() {
    const offer = (key, id, options) => {
      put($(id), options);
      $(id).value = filter[key];
      // What is no longer there cannot be asked for.
      if ($(id).value !== filter[key]) $(id).value = filter[key] = "";
    };
    offer("barrier", "filter-barrier", [option("", "any"), [...barriers.values()].map((b) => option(`${b.barrier}`, cut(b.name, 40)))]);
    offer("kind", "filter-kind", [option("", "anything"), KINDS.flatMap(([text, test], i) => (steps.some(test) ? [option(`${i}`, text)] : []))]);
    this.refilter();
  },

  refilter() {
    this.times = [];
    this.passed = new Uint8Array(LAST + 1);
    steps.forEach((step, index) => {
      const passed = passes(step, index + 1);
      this.passed[index + 1] = passed ? 1 : 0;
      if (passed) this.times.push(index + 1);
    });
    const shown = filtering();
    $("matches").textContent = shown ? `${this.times.length} of ${LAST} steps` : "";
    $("match-moves").hidden = !shown;
    $("list-note").textContent = shown ? "those that match" : "";
    $("list-space").style.height = `${this.times.length * LINE}px`;
    this.rows.forEach((row) => row.remove());
    this.rows.clear();
  },

  clear() {
    Object.keys(filter).forEach((key) => { filter[key] = ""; });
    $("filters").reset();
    this.refilter();
    render();
  },

  match(back) {
    const found = seek(state.t, (_, time) => this.passed[time] === 1, back);
    if (found === null) say(`No ${back ? "earlier" : "later"} step matches`);
    else go(found);
  },

  reveal() {
    const body = $("list-body");
    const at = lowerBound(this.times, state.t) * LINE;
    if (at < body.scrollTop || at + LINE > body.scrollTop + body.clientHeight) {
      body.scrollTop = at - body.clientHeight / 2;
    }
  },

  draw() {
    const body = $("list-body");
    const first = Math.max(0, Math.floor(body.scrollTop / LINE) - 4);
    const last = Math.min(this.times.length - 1, first + Math.ceil(body.clientHeight / LINE) + 8);
    for (const [at, row] of this.rows) {
      if (at < first || at > last) {
        row.remove();
        this.rows.delete(at);
      }
    }
    let before = null;
    for (let at = first; at <= last; at += 1) {
      let row = this.rows.get(at);
      if (!row) {
        row = this.row(at);
        this.rows.set(at, row);
        if (before) before.after(row);
        else $("list-space").prepend(row);
      }
      before = row;
      row.setAttribute("aria-selected", String(this.times[at] === state.t));
    }
    const current = this.rows.get(lowerBound(this.times, state.t));
    if (current && this.times[lowerBound(this.times, state.t)] === state.t) body.setAttribute("aria-activedescendant", current.id);
    else body.removeAttribute("aria-activedescendant");
  },

  row(at) {
    const time = this.times[at];
    const row = el("div", {
      role: "option", id: `step-${time}`, class: `row ${actOf(stepAt(time))}`,
      "aria-setsize": this.times.length, "aria-posinset": at + 1, onclick: () => go(time),
    }, ...cells(time));
    row.style.top = `${at * LINE}px`;
    return row;
  },
};

/** What weighs most in a line that may be cut. */
const FIRST = ["violated", "failed", "cut", "completed", "released", "notified"];

/** A step in a line. */
function cells(time) {
  const step = stepAt(time);
  const weight = ({ kind }) => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
  const order = step.events.map((event, i) => [weight(event), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const words = order.map(([, i]) => wordsAt(time)[i]);
  const icon = svg("svg", { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" }, sign(actOf(step), 0, 0, 6));
  return [
    el("span", { class: "number" }, `${time}`), icon, name(cut(agentName(step.agent), 40), "who"),
    el("code", null, cut(step.resolved, 200)),
    el("span", { class: "said" }, cut(words.join(", "), 300)),
  ];
}

const matches = (time) => list.passed[time] === 1;

/** The position of the first number that is not below. */
function lowerBound(sorted, number) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
