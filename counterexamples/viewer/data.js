// The trace, and the state after any number of its steps. Time counts steps: 0 is the beginning, and after
// step 7 it is 7.

const view = JSON.parse(document.getElementById("data").textContent);
const trace = view.trace;
const steps = trace.steps;
const outcome = trace.outcome;
const LAST = steps.length;
/** The time before the cycle, for a run without end. */
const CYCLE = outcome.cycle_from;

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

const agentHistory = trace.initial.agents.map((state) => new History(state));
// Every barrier that occurs is among them.
const barriers = new Map(view.barriers.map((barrier, i) => [barrier.barrier, { ...barrier, hue: i % 6 }]));
const barrierHistory = new Map(view.barriers.map(({ barrier }) => [barrier, new History(idle(barrier))]));
trace.initial.barriers.forEach((state) => { barrierHistory.get(state.barrier).values[0] = state; });
steps.forEach((step, index) => {
  step.changes.agents.forEach((state) => agentHistory[state.agent].set(index + 1, state));
  step.changes.barriers.forEach((state) => barrierHistory.get(state.barrier).set(index + 1, state));
});

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

/** When the outcome shows. */
const VIOLATION = view.violation;

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
  return `${view.noun}s ${ranges([...agents].sort((a, b) => a - b))}`;
}
