// Traces for the tests: a long one of many agents, and one whose every name is hostile.

const place = (line) => ({ line, column: 5, length: 12 });

function agentState(agent, line, status, barrier, rounds) {
  const exited = status === "exited";
  const doing = status === "blocked" ? "blocked" : "running";
  return {
    agent, status, location: exited ? null : place(line), instruction: exited ? "" : `bar.sync ${barrier}`,
    waits: status === "blocked" ? { barrier, awaits: "agents" } : null, notified: [],
    fragments: exited ? [] : [{ lanes: "0xffffffff", location: place(line), doing, barrier: status === "blocked" ? barrier : null, locals: { i: `${rounds}` } }],
  };
}

/** All agents meet at three barriers in turn, until the first one exits and the others wait for it. */
export function long(agents, most) {
  const roles = ["loader", "math", "store"];
  const roleOf = (agent) => roles[Math.min(2, Math.floor((agent * 4) / agents))];
  const steps = [];
  const generations = [0, 0, 0];
  const everybody = [...Array(agents).keys()];
  for (let round = 0; steps.length + agents <= most; round += 1) {
    const barrier = round % 3;
    const line = 4 + barrier;
    const left = round * agents + 2 * agents > most ? everybody.slice(1) : everybody;
    if (left.length < agents) steps.push(exit());
    const arrived = [];
    for (const agent of left) {
      arrived.push(agent);
      const last = arrived.length === agents;
      if (last) generations[barrier] += 1;
      steps.push(arrival(steps.length, agent, barrier, line, arrived, agents, generations[barrier], round));
    }
    if (left.length < agents) break;
  }
  return {
    format: "barcheck-trace/1",
    protocol: {
      file: "long.bar", format: "bar", target: "ptx", defines: {}, exited_threads: "hold", group_size: agents * 32, subgroup_size: 1,
      source: "target ptx;\ncta 2048;\nwarps 0..64 {\n    bar.sync 0;   // one\n    bar.sync 1;   // two\n    bar.sync 2;   // three\n}\n",
    },
    agents: everybody.map((index) => ({ index, name: `warp ${index}`, role: roleOf(index), lanes: 32, line: 3 })),
    barriers: [0, 1, 2].map((barrier) => ({ barrier, name: `barrier ${barrier}`, short: `b${barrier}` })),
    initial: { agents: everybody.map((agent) => agentState(agent, 4, "running", 0, 0)), barriers: [] },
    steps: steps.map((step, index) => ({ ...step, index })),
    outcome: {
      kind: "violation", rule: "deadlock", level: "error", basis: "state", agent: 1, agents: everybody.slice(1), barrier: 0, location: place(4),
      instruction: "bar.sync 0", detail: null, cycle_from: null, headline: "deadlock: warps wait for warp 0", message: "warps wait for warp 0",
      explanation: "Warp 0 has exited (step 1).", related: [],
    },
  };
}

function exit() {
  return {
    index: 0, agent: 0, lanes: null, choice: { move: 0, pick: 0 }, instruction: "exit", resolved: "exit", operands: null, location: place(7),
    events: [{ kind: "exited" }], changes: { agents: [agentState(0, 0, "exited", 0, 0)], barriers: [] },
  };
}

function arrival(index, agent, barrier, line, arrived, agents, generation, round) {
  const last = arrived.length === agents;
  const counts = [{ of: "threads", arrived: arrived.length * 32, expected: agents * 32 }];
  const events = [{ kind: "arrived", barrier }, { kind: "blocked", barrier }];
  if (last) events.push({ kind: "completed", barrier, generation, result: null }, { kind: "released", barrier, agents: [...arrived] });
  const next = (barrier + 1) % 3;
  const changed = last ? arrived.map((a) => agentState(a, 4 + next, "running", next, round + 1)) : [agentState(agent, line, "blocked", barrier, round)];
  const missing = [...Array(agents).keys()].filter((a) => !arrived.includes(a));
  const gathering = { barrier, generation, active: true, all: false, class: "plain", counts, arrived: [...arrived], waiting: [...arrived], missing, notified: [] };
  const idle = { barrier, generation, active: false, all: false, class: null, counts: [], arrived: [], waiting: [], missing: [], notified: [] };
  return {
    index, agent, lanes: null, choice: { move: 0, pick: 0 }, instruction: `bar.sync ${barrier}`, resolved: `bar.sync ${barrier}, ${agents * 32}`,
    operands: { operation: "sync", barrier, counts, all: false }, location: place(line), events, changes: { agents: changed, barriers: [last ? idle : gathering] },
  };
}

const evil = "</script><script>window.broken=1</script><img src=x onerror=window.broken=1>'\"`${1}\u202eGNP\u2066\u2028\u2029<!--<script>";

/** A trace with markup, scripts, quotes, reordering and line ends of JavaScript wherever it holds text. */
export function poison(value, key) {
  if (Array.isArray(value)) return value.map((entry) => poison(entry, key === "locations" ? "location" : undefined));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, poison(v, k)]));
  const free = ["file", "name", "short", "role", "instruction", "resolved", "headline", "message", "explanation", "of", "class", "lanes", "location"];
  return typeof value === "string" && free.includes(key) ? `${value} ${evil}` : value;
}

/** The same, and text of great length. */
export function hostile() {
  const trace = long(4, 20);
  const poisoned = poison(trace);
  poisoned.protocol.source = `// ${evil}\n${trace.protocol.source}`;
  poisoned.agents[1].name = `warp ${"x".repeat(10_000)}`;
  poisoned.agents[2].name = `\u202ewarp two\u0007`;
  poisoned.barriers[1].name = "b".repeat(10_000);
  poisoned.agents[3].role = "r".repeat(10_000);
  poisoned.outcome.headline = `deadlock: ${evil} ${"h".repeat(10_000)}`;
  poisoned.outcome.related = [{ agent: 1, line: 4, column: 5, role: evil.repeat(20) }];
  return poisoned;
}
