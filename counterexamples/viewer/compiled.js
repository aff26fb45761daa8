// What a compiled kernel was compiled from, below the kernel itself.

const compiledFrom = given.notes.compiled_from;
const compiledAt = new Map((compiledFrom?.lines ?? []).map((entry) => [entry.line, entry]));

const compiled = {
  file: null,
  rows: new Map(),

  start() {
    if (!compiledFrom) return;
    $("compiled").hidden = false;
    $("source").classList.add("both");
  },

  /** The places of the source that are marked now: by what they are, the entry. */
  marks() {
    const marks = [];
    const add = (line, kind) => {
      const entry = line ? compiledAt.get(line) : undefined;
      if (entry) marks.push({ entry, kind });
    };
    const agent = subject();
    const order = [
      ["done", state.t > 0 ? stepAt(state.t).location.line : null],
      ["at", agent === null ? null : agentAt(agent, state.t).location?.line],
      ["wrong", state.t === VIOLATION || state.t === LAST ? outcome.location?.line : null],
    ];
    if (state.agent !== null) order.unshift(...order.splice(1, 1));
    order.forEach(([kind, line]) => add(line, kind));
    return marks;
  },

  render() {
    if (!compiledFrom) return;
    const marks = this.marks();
    const shown = marks[0]?.entry ?? compiledFrom.lines[0];
    this.show(shown.file);
    const name = compiledFrom.files[shown.file].name;
    const short = name.split(/[/\\]/).at(-1);
    $("compiled-note").textContent = cut(`${short}:${shown.at}${shown.said ? `, where ${shown.said} is inlined` : ""}`, 160);
    $("compiled-note").title = cut(name, 400);
    this.rows.forEach(({ line, here }) => { line.className = "line"; here.textContent = ""; });
    this.standing();
    for (const { entry, kind } of marks) {
      if (entry.file === this.file) this.rows.get(entry.at)?.line.classList.add(kind);
    }
    this.wanted = shown.at;
  },

  /** Who stands at which line. */
  standing() {
    const standing = new Map();
    for (const { index } of trace.agents) {
      const entry = compiledAt.get(agentAt(index, state.t).location?.line);
      if (entry?.file !== this.file) continue;
      standing.set(entry.at, [...(standing.get(entry.at) ?? []), index]);
    }
    for (const [at, agents] of standing) {
      const row = this.rows.get(at);
      if (row) row.here.textContent = cut(view.noun[0] + ranges(agents).replace(" and ", ","), 9);
    }
  },

  /** Fills the panel with a file. */
  show(file) {
    if (this.file === file) return;
    this.file = file;
    this.rows.clear();
    const { name, lines } = compiledFrom.files[file];
    let last = 0;
    const rows = Object.entries(lines).map(([number, text]) => {
      const line = el("div", { class: "line" });
      const here = el("span", { class: "here" });
      fill(line, null, [el("span", { class: "number" }, number), here, el("code", null, text)]);
      this.rows.set(Number(number), { line, here });
      const gap = Number(number) > last + 1 && el("div", { class: "note gap" }, "\u22ee");
      last = Number(number);
      return [gap, line];
    });
    put($("compiled-body"), rows.length > 0 ? rows : el("p", { class: "note" }, "The file ", el("bdi", { class: "name" }, cut(name, 300)), " is not there, or is no source."));
  },

  reveal() {
    const row = this.rows.get(this.wanted)?.line;
    if (!row) return;
    const body = $("compiled-body");
    const top = row.offsetTop - body.offsetTop;
    if (top < body.scrollTop + 20 || top + 40 > body.scrollTop + body.clientHeight) body.scrollTop = top - body.clientHeight / 2;
  },
};
