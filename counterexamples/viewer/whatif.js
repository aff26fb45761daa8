// What if: the reader chooses another step than the trace's, and goes on from there by hand.

/** Steps made at once when a run is let run. */
const MOST_STEPS = 1000;
const MOST_WAYS = 200;
/** Steps of one's own that an address holds. */
const MOST_LINKED = 300;

const whatif = {
  open: false,
  /** The reader's run: after how many steps it leaves the trace, its own steps, and what the model says of it. */
  branch: null,
  /** What was shown before each choice. */
  past: [],
  /** What can be done in the state that is shown. */
  next: null,
  trouble: null,

  toggle() {
    if (this.open) return this.close();
    this.open = true;
    $("whatif").hidden = false;
    $("main").classList.add("asking");
    $("whatif-open").setAttribute("aria-expanded", "true");
    this.start(() => { render(); this.focus(); });
    render();
  },

  close() {
    const within = $("whatif").contains(document.activeElement);
    this.open = false;
    $("whatif").hidden = true;
    $("main").classList.remove("asking");
    $("whatif-open").setAttribute("aria-expanded", "false");
    if (within) $("whatif-open").focus();
    render();
  },

  /** Does something once the model can be asked. */
  start(then) {
    this.trouble = core.missing && `${core.missing}, which this takes. Everything else on this page works without.`;
    if (this.trouble) return;
    core.start().then(() => { this.started = true; then(); }, (error) => {
      core.ready = null;
      this.trouble = `The model cannot follow this trace: ${error.message}`;
      render();
    });
  },

  focus() {
    ($("whatif-body").querySelector("button.way") ?? $("whatif-body")).focus({ preventScroll: true });
  },

  goesOn() {
    return this.branch?.stands === "open";
  },

  /** The run that is shown, up to the state that is shown. */
  here() {
    const { at, own } = this.branch ?? { at: LAST, own: [] };
    return state.t <= at ? { at: state.t, own: [] } : { at, own: own.slice(0, state.t - at) };
  },

  /** Takes one of the steps that can be made. */
  choose(way) {
    const choice = numbers(way);
    const next = steps[state.t];
    if (next && alike(choiceOf(next), choice)) return this.keepFocus(() => go(state.t + 1));
    const { at, own } = this.here();
    this.make(`run ${at}:${written([...own, choice])}`);
  },

  /** Lets the run go on by itself: everybody in turns, or one agent alone. */
  letRun(agent) {
    if (!this.next?.choices?.length) return say("Nobody can take a step");
    const { at, own } = this.here();
    this.make(`on ${agent ?? "all"} ${MOST_STEPS} ${at}:${written(own)}`);
  },

  /** Makes a run and shows it. */
  make(question) {
    const answer = core.ask(question);
    if (answer.error) {
      this.trouble = `This cannot be done: ${answer.error}`;
      return this.renderPanel();
    }
    this.past = [...this.past.slice(-99), { branch: this.branch, t: state.t }];
    this.keepFocus(() => this.take(answer));
  },

  /** Shows a run that the model has answered with. Steps that are the trace's own are not the reader's. */
  take(answer, time) {
    let { at, own } = answer;
    const trace = given.trace.steps;
    while (own.length > 0 && at < trace.length && alike(choiceOf(trace[at]), own[0])) {
      at += 1;
      own = own.slice(1);
    }
    this.show(own.length === 0 ? null : { ...answer, at, own }, time ?? at + own.length);
  },

  /** Shows the reader's run, or the trace. */
  show(branch, time) {
    this.branch = branch;
    this.trouble = null;
    load(branch?.view ?? given);
    changed();
    select({ t: Math.min(time, LAST), barrier: barriers.has(state.barrier) ? state.barrier : null });
  },

  undo() {
    const before = this.past.pop();
    if (!before) return say("There is nothing to undo");
    this.keepFocus(() => this.show(before.branch, before.t));
  },

  leave() {
    if (!this.branch) return;
    this.past = [...this.past.slice(-99), { branch: this.branch, t: state.t }];
    this.keepFocus(() => this.show(null, this.branch.at));
  },

  /** The panel is filled anew; whoever was in it stays in it. */
  keepFocus(act) {
    const within = $("whatif").contains(document.activeElement) || $("branch").contains(document.activeElement);
    act();
    if (within) this.focus();
  },

  /** The run of an address: `12:3.0.0,1.0.0`. */
  restore(text, time) {
    if (!/^\d{1,9}:[\d.,]{1,20000}$/.test(text)) return;
    this.start(() => {
      const answer = core.ask(`run ${text}`);
      if (answer.error) return say(`The run of this address cannot be made: ${answer.error}`);
      this.take(answer, time);
    });
  },

  /** What an address says of the reader's run. */
  address() {
    const { branch } = this;
    return branch && branch.own.length <= MOST_LINKED ? `if=${branch.at}:${written(branch.own)}` : null;
  },

  /** All of it that depends on what is looked at. */
  render() {
    this.renderBanner();
    if (this.open) this.renderPanel();
  },

  /** What is read aloud besides the step. */
  said() {
    if (!this.open || this.trouble) return this.trouble ?? "";
    const ways = this.next?.choices?.length;
    if (ways === undefined) return "";
    if (ways > 0) return ` ${ways} way${ways === 1 ? "" : "s"} to go on.`;
    return this.next.stands === "finished" ? ` ${FINISHED}.` : " The run ends here.";
  },

  renderBanner() {
    const { branch } = this;
    $("branch").hidden = $("about").hidden = !branch;
    if (!branch) return put($("branch"));
    const count = branch.own.length;
    put($("branch"),
      el("p", null, el("strong", null, "Your own run"), `: branched off ${branch.at === 0 ? "at the beginning" : `after step ${branch.at}`}, ${count} step${count === 1 ? "" : "s"} of your own. `, verdict(branch),
        branch.stopped && ` It went on by itself until ${branch.stopped}.`),
      el("div", { class: "group" },
        button(["Undo ", el("kbd", null, "U")], () => this.undo(), { "aria-keyshortcuts": "U" }),
        button(["Back to the trace ", el("kbd", null, "Esc")], () => this.leave(), { "aria-keyshortcuts": "Escape" })));
  },

  renderPanel() {
    const body = $("whatif-body");
    $("whatif-note").textContent = state.t === 0 ? "at the beginning" : `after step ${state.t}`;
    this.next = null;
    if (this.trouble) return put(body, el("p", { class: "trouble" }, name(cut(this.trouble, 600))));
    if (!this.started) return put(body, el("p", { class: "note" }, "Unpacking the model\u2026"));
    const { at, own } = this.here();
    const next = core.ask(`after ${state.t} ${at}:${written(own)}`);
    if (next.error) return put(body, el("p", { class: "trouble" }, name(cut(`The model cannot follow: ${next.error}`, 600))));
    this.next = next;
    put(body, this.ways(next), next.stands !== "finished" && this.unable(next), this.branch === null && next.choices.length > 0
      && el("p", { class: "note" }, "Choose a step, and go on from there as you like. The trace stays as it is."));
  },

  /** The steps that can be made. */
  ways({ choices, capped, stands }) {
    if (choices.length === 0) {
      return el("p", { class: "end" }, stands === "finished" ? `${FINISHED}: this run is over. Step back to choose otherwise.` : view.shows && state.t === LAST
        ? `The run ends here: ${cut(outcome.headline, 400)}.` : "Nobody can take a step.");
    }
    // The agent that is selected comes first.
    // What is in flight, and may land, comes last.
    const order = [...choices].sort((a, b) => Boolean(a.landing) - Boolean(b.landing) || (b.agent === state.agent) - (a.agent === state.agent));
    this.offered = order.slice(0, MOST_WAYS);
    const firsts = new Set();
    const rows = this.offered.map((way, i) => {
      const first = !way.landing && !firsts.has(way.agent);
      if (first) firsts.add(way.agent);
      return this.way(way, i, first);
    });
    const more = order.length - rows.length;
    return [
      el("ol", { class: "ways" }, rows),
      more > 0 && el("p", { class: "note" }, `${more} more: select an agent to see its own first.`),
      capped.length > 0 && el("p", { class: "note" }, `Of ${cut(agentsInWords(capped), 80)} not every choice is listed: there are too many.`),
      el("p", { class: "group" }, button(["Let it run, in turns ", el("kbd", null, "L")], () => this.letRun(null), { id: "let-run", "aria-keyshortcuts": "L", title: "Everybody in turns, until something happens; where there is a choice, the first" })),
    ];
  },

  way(way, i, first) {
    const choice = numbers(way);
    const onTrace = state.t <= (this.branch?.at ?? LAST);
    const its = onTrace && given.trace.steps[state.t] && alike(choiceOf(given.trace.steps[state.t]), choice);
    const yours = this.branch && state.t >= this.branch.at && alike(this.branch.own[state.t - this.branch.at], choice);
    const lanesOf = way.lanes ? ` (lanes ${way.lanes})` : "";
    return el("li", null,
      button([
        i < 9 && el("kbd", null, `${i + 1}`), way.landing ? name(cut(way.landing, 200), "who") : [name(cut(agentName(way.agent), 60), "who"), el("code", null, cut(way.resolved, 200) + lanesOf)],
        (way.landing || way.line > 0) && el("span", { class: "note" }, way.landing ? `begun by ${cut(agentName(way.agent), 60)}${way.line > 0 ? `, line ${way.line}` : ""}` : `line ${way.line}`),
        el("span", { class: "said" }, cut(way.words.join(", "), 300)),
        its && el("span", { class: "tag" }, "\u2713 the trace's step"),
        yours && el("span", { class: "tag" }, "\u2713 your step"),
        way.violates.map((rule) => el("span", { class: "tag bad" }, `\u2717 ${rule}`)),
      ], () => this.choose(way), { class: "way", "data-agent": way.agent }),
      first && !way.spins && button("\u00bb", () => this.letRun(way.agent), {
        class: "alone", "aria-label": `Let ${cut(agentName(way.agent), 60)} alone run as far as it gets`, title: "this agent alone, as far as it gets",
      }));
  },

  /** Whether the run has been ended by its last step, and not because nobody has another. */
  ended(stands) {
    return stands === "over" && view.shows && state.t === LAST && trace.agents.some(({ index }) => agentAt(index, LAST).status === "running");
  },

  /** Those that have no step, and what they wait for. */
  unable({ choices, stands }) {
    const able = new Set(choices.filter(({ landing }) => !landing).map(({ agent }) => agent));
    const alike = new Map();
    for (const { index } of trace.agents) {
      if (able.has(index)) continue;
      const why = unableSince(agentAt(index, state.t), this.ended(stands));
      if (!alike.has(why)) alike.set(why, []);
      alike.get(why).push(index);
    }
    if (alike.size === 0) return null;
    const rows = [...alike].slice(0, MOST_WAYS).map(([why, agents]) =>
      [el("dt", null, name(cut(agentsInWords(agents), 80))), el("dd", null, name(cut(why, 400)))]);
    return [el("h3", null, "Without a step"), el("dl", { class: "unable" }, rows)];
  },
};

const FINISHED = "Every agent has exited";

/** Why an agent has no step. */
function unableSince(now, ended) {
  const line = now.location?.line ? ` (line ${now.location.line})` : "";
  if (now.status === "exited") return "exited";
  if (!now.waits && ended) return `was at line ${now.location?.line ?? "?"}; nothing is said of what comes after the violation`;
  if (!now.waits) return `${doing(now)}: no step`;
  const { barrier, awaits } = now.waits;
  if (awaits === "lanes") return `waits for its own lanes at ${barrierName(barrier)}${line}`;
  const { counts, missing } = barrierAt(barrier, state.t);
  const come = { arrivals: " made", bytes: " landed", registers: " free" };
  const arrived = counts.map(({ arrived: so, expected, of }) => `${so} of ${expected} ${of}${come[of] ?? " have arrived"}`).join(" and ");
  const whom = missing.length > 0 ? `; missing: ${agentsInWords(missing)}` : "";
  const flying = view.flights.filter((flight) => flight.barrier === barrier && inFlight(flight, state.t)).map(flightName);
  const pending = flying.length > 0 ? `; in flight: ${flying.slice(0, 3).join(", ")}${flying.length > 3 ? " and more" : ""}` : "";
  return `waits at ${barrierName(barrier)}${line}${arrived ? `: ${arrived}` : ""}${whom}${pending}`;
}

/** What the reader's run has shown, in words. */
function verdict({ found, stands }) {
  const shown = found.map(({ step, rule, headline }) => [
    el("span", { class: "tag bad" }, `\u2717 ${rule ?? "ends"}`), " ", button(`after step ${step}`, () => go(step), { class: "link" }), ": ",
    name(cut(rule && headline.startsWith(`${rule}: `) ? headline.slice(rule.length + 2) : headline, 300)), ". "]);
  if (stands === "finished") {
    return shown.length > 0 ? [`${FINISHED}. On the way: `, shown]
      : [el("span", { class: "tag good" }, "\u2713 finished"), ` ${FINISHED}; no rule was violated on this run, pedantic ones aside. That is one run, no proof.`];
  }
  return shown.length > 0 ? shown : "So far no rule is violated.";
}
