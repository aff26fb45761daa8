// The protocol's text, with the places that matter now.

const sourceLines = trace.protocol.source.split(/\r\n|\n/);
if (sourceLines.at(-1) === "") sourceLines.pop();

const source = {
  rows: [],
  marked: new Set(),

  start() {
    this.rows = sourceLines.map((line, index) => {
      const number = index + 1;
      const row = {
        here: el("span", { class: "here" }),
        text: el("code", null, line),
        line: el("div", { class: "line" }),
      };
      fill(row.line, null, [el("span", { class: "number" }, `${number}`), row.here, row.text]);
      row.labels = el("div");
      row.block = el("div", { class: "block" }, row.line, row.labels);
      return row;
    });
    $("source-body").append(...this.rows.map((row) => row.block));
    this.changed();
    put($("source-note"), el("mark", { class: "done" }, "executed"), " ", el("mark", { class: "at" }, "where the agent stands"), " ", el("mark", { class: "wrong" }, "what it is about"));
  },

  /** Another run is shown: other places matter. */
  changed() {
    this.rows.forEach((row, index) => {
      const said = new Set(view.labels.filter((label) => label.line === index + 1).map((label) => label.text));
      put(row.labels, [...said].map((label) => el("div", { class: "label" }, "\u2514 ", name(cut(label, 400)))));
    });
  },

  /** The marks of a step: by line, ranges of text and what they are. */
  spans() {
    const spans = new Map();
    const put = (place, kind, label) => {
      if (!place || place.line < 1 || place.line > this.rows.length) return;
      if (!spans.has(place.line)) spans.set(place.line, []);
      spans.get(place.line).push({ from: place.column - 1, to: place.column - 1 + place.length, kind, label });
    };
    if (state.t === VIOLATION || state.t === LAST) put(outcome.location, "wrong", "the violation");
    if (state.t > 0) put(stepAt(state.t).location, "done", "executed by this step");
    const agent = subject();
    if (agent !== null) put(agentAt(agent, state.t).location, "at", `${agentName(agent)} stands here`);
    return spans;
  },

  render() {
    const spans = this.spans();
    const standing = new Map();
    for (const { index } of trace.agents) {
      const line = agentAt(index, state.t).location?.line;
      if (!line) continue;
      if (standing.has(line)) standing.get(line).push(index);
      else standing.set(line, [index]);
    }
    for (const line of new Set([...this.marked, ...spans.keys(), ...standing.keys()])) {
      const row = this.rows[line - 1];
      if (!row) continue;
      const here = standing.get(line) ?? [];
      const letter = view.noun[0];
      row.here.textContent = here.length ? cut(letter + ranges(here).replace(" and ", ","), 9) : "";
      row.here.title = here.length ? `${agentsInWords(here)} stand${here.length === 1 ? "s" : ""} here` : "";
      const kinds = (spans.get(line) ?? []).map((span) => span.kind);
      row.line.className = `line ${kinds.join(" ")}`;
      row.text.replaceChildren(...pieces(sourceLines[line - 1], spans.get(line) ?? []));
    }
    this.marked = new Set([...spans.keys(), ...standing.keys()]);
    this.spanned = spans;
  },

  /** From where to where a row reaches, and in the end the place of whoever is to blame, if both can be seen. */
  reach(row, body) {
    const blamed = state.t === LAST && view.shows && outcome.blamed?.length ? this.rows[outcome.related[0]?.line - 1] : null;
    const edges = (...rows) => [Math.min(...rows.map(({ block }) => block.offsetTop)) - body.offsetTop, Math.max(...rows.map(({ block }) => block.offsetTop + block.offsetHeight)) - body.offsetTop];
    const [top, bottom] = edges(row, blamed ?? row);
    return bottom - top < body.clientHeight - 20 ? [top, bottom] : edges(row);
  },

  /** Scrolls to what is marked. */
  reveal() {
    const spans = this.spanned;
    const find = (kind) => [...spans].find(([, marks]) => marks.some((mark) => mark.kind === kind))?.[0];
    const line = state.agent !== null ? find("at") ?? find("done") : find("done") ?? find("at") ?? find("wrong");
    const row = this.rows[(line ?? 0) - 1];
    if (!row) return;
    const body = $("source-body");
    const [top, bottom] = this.reach(row, body);
    if (top < body.scrollTop + 20 || bottom > body.scrollTop + body.clientHeight) body.scrollTop = (top + bottom - body.clientHeight) / 2;
    const mark = row.text.querySelector(state.agent === null ? "mark.done" : "mark.at") ?? row.text.querySelector("mark");
    if (!mark) return;
    const [box, frame] = [mark.getBoundingClientRect(), body.getBoundingClientRect()];
    // It opens at the left, where a line says what it does; only what begins out of sight is gone after.
    const seen = 80;
    if (box.left - frame.left + body.scrollLeft < frame.width - seen) body.scrollLeft = 0;
    else if (box.left > frame.right - seen || box.left < frame.left) body.scrollLeft += box.left - frame.left - 60;
  },
};

/** A line cut at the borders of its marks. Columns count characters, not units. */
function pieces(line, spans) {
  const letters = Array.from(line);
  const borders = [...new Set([0, letters.length, ...spans.flatMap((span) => [span.from, span.to])])]
    .filter((at) => at >= 0 && at <= letters.length).sort((a, b) => a - b);
  return borders.slice(1).map((to, i) => {
    const text = letters.slice(borders[i], to).join("");
    const marks = spans.filter((span) => span.from <= borders[i] && span.to >= to);
    if (marks.length === 0) return clean(text);
    return el("mark", { class: marks.map((mark) => mark.kind).join(" "), title: cut(marks.map((mark) => mark.label).join("; "), 120) }, text);
  });
}
