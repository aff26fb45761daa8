// The run that is shown, and the state after any number of its steps. It is the trace, or one that the reader makes.
// Time counts steps: 0 is the beginning, and after step 7 it is 7.

/** What the page was made with: the trace. */
const given = JSON.parse(document.getElementById("data").textContent);
/** The run that is shown, and its parts. */
let view, trace, steps, outcome, agentHistory;
let LAST;
/** The time before the cycle, for a run without end. */
let CYCLE;
/** When the outcome shows: the last step that says so, or the end. Nothing for a run that has shown nothing. */
let VIOLATION;

/** A value that changes now and then. */
class History {
  constructor(first) {
    this.times = [0];
    this.values = [first];
  }
  set(time, value) {
    this.times.push(time);
    this.values.push(value);
  }
  /** The position of the change that is in force at a time. */
  index(time) {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  at(time) {
    return this.values[this.index(time)];
  }
}

const idle = (barrier) => ({
  barrier, generation: 0, active: false, all: false, class: null, counts: [],
  arrived: [], waiting: [], missing: [], notified: [],
});

const barrierHistory = new Map();
const barriers = new Map();
/** A barrier keeps its colour in every run. */
const hues = new Map();
/** What lands, by the step at which it does. */
const landings = new Map();
/** The outcome of a run that has shown nothing. */
const NOTHING = {
  kind: "open", rule: null, level: null, agent: 0, agents: [], barrier: null, location: null, cycle_from: null,
  headline: "", explanation: "",
};

/** Takes a run to show. */
function load(run) {
  view = run;
  ({ trace } = view);
  ({ steps } = trace);
  outcome = view.shows ? trace.outcome : NOTHING;
  LAST = steps.length;
  CYCLE = outcome.cycle_from;
  agentHistory = trace.initial.agents.map((state) => new History(state));
  barrierHistory.clear();
  barriers.clear();
  // Every barrier that occurs is among them.
  view.barriers.forEach((barrier) => {
    const id = barrier.barrier;
    if (!hues.has(id)) hues.set(id, hues.size % 6);
    barriers.set(id, { ...barrier, hue: hues.get(id) });
    barrierHistory.set(id, new History(idle(id)));
  });
  landings.clear();
  view.flights.forEach((flight) => flight.landed !== null && landings.set(flight.landed, flight));
  trace.initial.barriers.forEach((state) => { barrierHistory.get(state.barrier).values[0] = state; });
  steps.forEach((step, index) => {
    step.changes.agents.forEach((state) => agentHistory[state.agent].set(index + 1, state));
    step.changes.barriers.forEach((state) => barrierHistory.get(state.barrier).set(index + 1, state));
  });
  VIOLATION = view.shows ? view.violation : null;
}

load(given);

const agentAt = (agent, time) => agentHistory[agent].at(time);
const barrierAt = (barrier, time) => barrierHistory.get(barrier)?.at(time) ?? idle(barrier);
const stepAt = (time) => steps[time - 1];
const wordsAt = (time) => view.words[time - 1] ?? [];
const agentName = (agent) => trace.agents[agent].name;
const barrierName = (barrier) => barriers.get(barrier)?.name ?? `barrier ${barrier}`;
const barrierShort = (barrier) => barriers.get(barrier)?.short ?? `b${barrier}`;
const hueOf = (barrier) => `k${barriers.get(barrier)?.hue ?? 0}`;

const touchesAgent = (step, agent) =>
  step.agent === agent || step.events.some((event) => event.agents?.includes(agent));
const touchesBarrier = (step, barrier) =>
  step.operands?.barrier === barrier || step.events.some((event) => event.barrier === barrier);
const has = (step, ...kinds) => step.events.some((event) => kinds.includes(event.kind));

/** The first time after (or, with `back`, the last before) a time whose step passes a test. */
function seek(time, test, back = false) {
  for (let at = time + (back ? -1 : 1); at >= 1 && at <= LAST; at += back ? -1 : 1) {
    if (test(stepAt(at), at)) return at;
  }
  return null;
}

/** What becomes of the agent that makes a step, by what weighs most. */
const actOf = (step) => view.acts[step.index];

/** Lanes by role, in the order in which roles first occur. */
const groups = view.groups;

/** `0-3, 6 and 9`, as the words of the trace have it. */
function ranges(sorted) {
  const runs = [];
  for (const number of sorted) {
    const run = runs.at(-1);
    if (run && run[1] + 1 === number) run[1] = number;
    else runs.push([number, number]);
  }
  const parts = runs.flatMap(([a, b]) => (b - a === 1 ? [`${a}`, `${b}`] : [a === b ? `${a}` : `${a}-${b}`]));
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** `warps 0-3`; one agent by its name. */
function agentsInWords(agents) {
  if (agents.length === 1) return agentName(agents[0]);
  const sorted = [...agents].sort((a, b) => a - b);
  const plain = (noun, numbers) => `${noun}${numbers.length === 1 ? "" : "s"} ${ranges(numbers)}`;
  const { ctas = 1 } = trace.protocol;
  if (ctas === 1) return plain(view.noun, sorted);
  // Agents of a cluster are numbered within their CTAs.
  const each = Math.max(1, Math.floor(trace.agents.length / ctas));
  const byCta = new Map();
  sorted.forEach((agent) => {
    const cta = Math.floor(agent / each);
    byCta.set(cta, [...(byCta.get(cta) ?? []), agent % each]);
  });
  const alike = new Map();
  byCta.forEach((within, cta) => alike.set(plain(view.noun, within), [...(alike.get(plain(view.noun, within)) ?? []), cta]));
  const parts = [...alike].map(([within, of]) => (of.length === 1 ? `cta ${of[0]} ${within}` : `${within} of ctas ${ranges(of)}`));
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
