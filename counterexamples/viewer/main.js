// What is looked at: a step, an agent, a barrier. Keys, buttons and links change it; everything else follows.

const state = { t: LAST, agent: null, barrier: null };
let playing = null;

/** The agent that is looked at: the one selected, or the one that makes the step. */
const subject = () => state.agent ?? (state.t > 0 ? stepAt(state.t).agent : null);

function select(change) {
  Object.assign(state, change);
  keepAddress();
  render();
}

function go(time) {
  if (time !== null) select({ t: Math.max(0, Math.min(LAST, time)) });
}

/** One step on; a run without end goes back to the beginning of its cycle. */
function forward() {
  if (state.t < LAST) go(state.t + 1);
  else if (CYCLE !== null) go(CYCLE + 1);
}

function jump(test, back, missing) {
  const found = seek(state.t, test, back);
  if (found === null) say(missing);
  else go(found);
}

function jumpAgent(back) {
  const agent = subject();
  if (agent === null) return say("No agent is selected");
  if (state.agent === null) state.agent = agent;
  jump((step) => touchesAgent(step, agent), back, `No ${back ? "earlier" : "later"} step of ${agentName(agent)}`);
}

function jumpBarrier(back) {
  const barrier = state.barrier ?? nearestBarrier();
  if (barrier === null) return say("There is no barrier");
  state.barrier = barrier;
  jump((step) => touchesBarrier(step, barrier), back, `No ${back ? "earlier" : "later"} event on ${barrierName(barrier)}`);
}

/** The barrier that the step is about, or else that the outcome is about. */
function nearestBarrier() {
  const step = state.t > 0 ? stepAt(state.t) : null;
  const about = step?.operands?.barrier ?? step?.events.find((event) => Number.isInteger(event.barrier))?.barrier;
  return about ?? outcome.barrier ?? [...barriers.keys()][0] ?? null;
}

function neighbour(by) {
  const agent = subject();
  const next = agent === null ? 0 : Math.max(0, Math.min(trace.agents.length - 1, agent + by));
  select({ agent: next });
}

function neighbourBarrier(by) {
  const all = [...barriers.keys()];
  if (all.length === 0) return;
  const at = all.indexOf(state.barrier);
  select({ barrier: all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length] });
}

function play() {
  if (playing) {
    clearInterval(playing);
    playing = null;
  } else {
    if (state.t === LAST && CYCLE === null) go(0);
    playing = setInterval(() => {
      if (state.t === LAST && CYCLE === null) play();
      else forward();
    }, LAST > 200 ? 150 : 600);
  }
  $("play").textContent = playing ? "\u275a\u275a Pause" : "\u25b6 Play";
  $("play").setAttribute("aria-pressed", String(playing !== null));
}

function say(text) {
  $("live").textContent = clean(text);
}

/** All that depends on what is looked at. */
function render() {
  $("step-number").value = state.t;
  $("scrubber").value = state.t;
  const about = state.t === 0 ? "The beginning"
    : `Step ${state.t} of ${LAST}: ${cut(agentName(stepAt(state.t).agent), 60)}: ${cut(stepAt(state.t).resolved, 100)}. ${cut(wordsAt(state.t).join(", "), 300)}`;
  $("scrubber").setAttribute("aria-valuetext", about);
  renderNow();
  renderBarriers();
  renderGraph();
  whatif.render();
  source.render();
  compiled.render();
  // What asks for places comes last, or the page would be laid out again and again.
  revealBarrier();
  source.reveal();
  compiled.reveal();
  list.reveal();
  list.draw();
  lanes.reveal(false);
  lanes.soon();
  if (!playing) say(about + whatif.said());
}

/** Another run is shown. */
function changed() {
  lanes.changed();
  list.changed();
  source.changed();
  renderWhy();
  limits();
}

/* Links: #step=12&agent=3&barrier=1&if=10:3.0.0 */

function keepAddress() {
  const parts = [`step=${state.t}`];
  if (state.agent !== null) parts.push(`agent=${state.agent}`);
  if (state.barrier !== null) parts.push(`barrier=${state.barrier}`);
  const own = whatif.address();
  if (own) parts.push(own);
  clearTimeout(keepAddress.later);
  const from = location.hash;
  // Browsers refuse to be asked too often.
  keepAddress.later = setTimeout(() => {
    // Somebody has asked for something else meanwhile, and it is about to be shown.
    if (location.hash !== from) return;
    try {
      window.history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      // Within another page that allows nothing there is no address to keep.
    }
  }, 60);
}

function readAddress() {
  if (whatif.branch) whatif.show(null, 0);
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (key, most) => {
    const text = asked.get(key);
    return text !== null && /^\d{1,9}$/.test(text) && Number(text) <= most ? Number(text) : null;
  };
  const barrier = number("barrier", Infinity);
  state.t = number("step", LAST) ?? VIOLATION;
  state.agent = number("agent", trace.agents.length - 1);
  state.barrier = barriers.has(barrier) ? barrier : null;
  if (asked.has("if")) whatif.restore(asked.get("if"), number("step", Infinity) ?? Infinity);
}

/* Keys */

const KEYS = [
  ["\u2190 \u2192", "one step back, one on", { ArrowLeft: () => go(state.t - 1), ArrowRight: forward }],
  ["Home End", "the beginning, the end", { Home: () => go(0), End: () => go(LAST) }],
  ["Page Up, Page Down", "ten steps back, ten on", { PageUp: () => go(state.t - 10), PageDown: () => go(state.t + 10) }],
  ["V", "the violation", { v: () => (VIOLATION === null ? say("This run has shown no violation") : go(VIOLATION)) }],
  ["C", "the beginning of the cycle, if the run has no end", { c: () => (CYCLE === null ? say("This run ends: there is no cycle") : go(CYCLE)) }],
  ["A, Shift A", "next and previous step of the agent", { a: () => jumpAgent(false), A: () => jumpAgent(true) }],
  ["B, Shift B", "next and previous event on the barrier", { b: () => jumpBarrier(false), B: () => jumpBarrier(true) }],
  ["\u2191 \u2193", "select the agent above, below; in the list of steps: the listed step above, below", { ArrowUp: () => neighbour(-1), ArrowDown: () => neighbour(1) }],
  ["[ ]", "select the previous, the next barrier", { "[": () => neighbourBarrier(-1), "]": () => neighbourBarrier(1) }],
  ["Escape", "from a run of your own back to the trace; close What if; select nothing: follow the steps", { Escape: escape }],
  ["W", "What if: which steps could be made here", { w: () => whatif.toggle() }],
  ["1 to 9", "take the step of this number in What if", Object.fromEntries([...Array(9).keys()].map((i) => [`${i + 1}`, () => take(i)]))],
  ["L, U", "in What if: let the run go on by itself, undo a choice", { l: () => (whatif.open ? whatif.letRun(null) : say(ASK)), u: () => whatif.undo() }],
  ["Space", "play, pause", { " ": play }],
  ["G", "type a step's number", { g: () => $("step-number").select() }],
  ["/", "find", { "/": () => $("filter-text").select() }],
  ["N, Shift N", "next and previous match", { n: () => list.match(false), N: () => list.match(true) }],
  ["F", "fold and unfold roles", { f: () => $("fold")?.click() }],
  ["+ \u2212", "zoom", { "+": () => lanes.rezoom(1), "=": () => lanes.rezoom(1), "-": () => lanes.rezoom(-1) }],
  ["T", "light, dark, or as the system", { t: () => nextTheme() }],
  ["?", "these keys", { "?": () => toggleHelp() }],
];
const ASK = "W asks which steps could be made here";

function escape() {
  if (whatif.branch) whatif.leave();
  else if (whatif.open) whatif.toggle();
  else select({ agent: null, barrier: null });
}

function take(i) {
  const way = whatif.open ? whatif.next?.choices.length && whatif.offered[i] : null;
  if (way) whatif.choose(way);
  else say(whatif.open ? "There is no such step" : ASK);
}

const ACTIONS = Object.assign({}, ...KEYS.map(([, , actions]) => actions));
let letterKeys = true;
/** Keys that scroll a panel which has the focus, as anywhere else. */
const SCROLLS = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if ($("help").open) {
    if (key !== "?" && key !== "Escape") return;
    event.preventDefault();
    return toggleHelp();
  }
  const types = target.matches("input, select, textarea");
  if (types && (key === "Escape" || key === "Enter")) return leaveField(target, key === "Enter");
  if (target.matches(".body, .code") && SCROLLS.includes(key) && target.scrollHeight > target.clientHeight) return;
  if (target.id === "list-body" && (key === "ArrowUp" || key === "ArrowDown")) {
    event.preventDefault();
    return list.match(key === "ArrowUp");
  }
  if (types || (key === " " && target.matches("button, summary")) || (!letterKeys && key.length === 1)) return;
  const action = ACTIONS[key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** Back to the keys: Enter takes what was typed, Escape does not. */
function leaveField(field, takes) {
  if (!takes && field.id === "step-number") field.value = state.t;
  field.blur();
  if (takes && field.id === "filter-text") list.match(false);
}

function toggleHelp() {
  const help = $("help");
  if (!help.open) return help.showModal();
  help.close();
  // Until the next picture the focus would stay on a field that is hidden now, and take the next key.
  if (help.contains(document.activeElement)) document.activeElement.blur();
}

function buildHelp() {
  const letters = el("input", { type: "checkbox", id: "letters", checked: true, onchange: (event) => { letterKeys = event.target.checked; } });
  $("help").append(
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", { class: "keys" }, KEYS.map(([keys, meaning]) => [el("dt", null, el("kbd", null, keys)), el("dd", null, meaning)])),
    el("label", null, letters, " letters and signs act as keys"),
    el("p", { class: "note" }, "Click on a lane, a step, a generation or an agent to go there. The address of the page leads back to what is shown."),
    button("Close", toggleHelp, { id: "help-close" }));
}

/* Light and dark */

const THEMES = ["system", "light", "dark"];
let theme = "system";

function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = `Theme: ${theme}`;
}

/* The page */

const move = (label, act, key, said) => button(label, act, { "aria-label": said, title: `${said} (${key})` });

function buildBar() {
  $("moves").append(
    move("\u21e4", () => go(0), "Home", "Beginning"), move("\u2190", () => go(state.t - 1), "\u2190", "Step back"),
    button("\u25b6 Play", play, { id: "play", "aria-pressed": "false", title: "Space" }),
    move("\u2192", forward, "\u2192", "Step on"), move("\u21e5", () => go(LAST), "End", "End"));
  $("step-number").addEventListener("change", (event) => go(Number(event.target.value) || 0));
  $("scrubber").addEventListener("input", (event) => go(Number(event.target.value)));
  $("whatif-open").addEventListener("click", () => whatif.toggle());
  $("whatif-close").addEventListener("click", () => whatif.close());
  limits();
}

/** How far the run that is shown goes, and where there is to go. */
function limits() {
  put($("jumps"),
    VIOLATION !== null && button(outcome.kind === "violation" ? "Violation" : "Outcome", () => go(VIOLATION), { class: "bad", title: "V" }),
    CYCLE !== null && button("\u21bb Cycle", () => go(CYCLE), { title: "C" }),
    move("\u2039 agent", () => jumpAgent(true), "Shift A", "Previous step of the agent"), move("agent \u203a", () => jumpAgent(false), "A", "Next step of the agent"),
    ...(barriers.size ? [move("\u2039 barrier", () => jumpBarrier(true), "Shift B", "Previous event on the barrier"), move("barrier \u203a", () => jumpBarrier(false), "B", "Next event on the barrier")] : []));
  $("step-number").max = $("scrubber").max = LAST;
  $("step-count").textContent = `of ${LAST}`;
  $("save").disabled = !view.shows;
  $("save").title = view.shows ? "Save as JSON, for barcheck replay" : "A run that has shown nothing is no counterexample";
  $("save").textContent = whatif.branch ? "Save this run" : "Save trace";
}

function buildTop() {
  const level = outcome.level ? ` \u00b7 ${outcome.level}` : "";
  const kind = { violation: outcome.rule, fault: "evaluation error", cut: "not modelled", state: "reached" }[outcome.kind];
  $("badge").append(outcome.kind === "state" ? "\u25ce " : "\u2717 ", name(cut(kind, 60)), level);
  $("badge").classList.add(outcome.level ?? outcome.kind);
  // The badge has said it.
  const headline = outcome.headline.startsWith(`${kind}: `) ? outcome.headline.slice(kind.length + 2) : outcome.headline;
  $("headline").append(el("bdi", { class: "name" }, sentenceOf(cut(headline, 400))));
  $("facts").append(name(cut(view.facts, 300)));
  if (view.notes.departure) {
    $("departure").hidden = false;
    $("departure").append("Not confirmed. The model does not do what this trace says: ", name(cut(view.notes.departure, 600)));
  }
  document.title = cut(`${outcome.headline} \u2013 ${view.file}`, 200);
  $("theme").textContent = `Theme: ${theme}`;
  $("theme").addEventListener("click", nextTheme);
  $("help-open").addEventListener("click", toggleHelp);
  $("save").addEventListener("click", saveTrace);
}

/** The trace as it was written, since numbers here may hold less than those of a trace. It is the last of the data. */
function saveTrace() {
  const text = whatif.branch?.text.slice(0, -1) ?? $("data").textContent;
  const key = ',"trace":';
  const written = text.slice(text.indexOf(key) + key.length, text.lastIndexOf("}"));
  const address = URL.createObjectURL(new Blob([written], { type: "application/json" }));
  const base = view.file.split(/[/\\]/).at(-1).replace(/\.[^.]*$/, "");
  el("a", { href: address, download: `${cut(base, 60)}-${outcome.rule ?? "trace"}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** On paper there is no scrolling: all steps, as far as that makes sense, and every detail open. */
function beforePrint() {
  const most = 1000;
  const times = list.times.slice(0, most);
  const rest = list.times.length - times.length;
  const rows = times.map((time) => el("div", { class: `row ${actOf(stepAt(time))}` }, ...cells(time)));
  $("list").append(el("div", { id: "paper" }, rows, rest > 0 && el("p", null, `${rest} more steps`)));
  document.querySelectorAll("details:not([open])").forEach((details) => {
    details.open = true;
    details.dataset.opened = "";
    // The browser would tell too late.
    details.dispatchEvent(new Event("toggle"));
  });
}

function afterPrint() {
  $("paper")?.remove();
  document.querySelectorAll("details[data-opened]").forEach((details) => {
    details.open = false;
    delete details.dataset.opened;
  });
}

function start() {
  $("app").hidden = false;
  readAddress();
  buildTop();
  buildBar();
  buildHelp();
  list.start();
  source.start();
  compiled.start();
  renderWhy();
  lanes.start();
  render();
  lanes.reveal(true);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => { readAddress(); select({}); });
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", afterPrint);
}

start();
