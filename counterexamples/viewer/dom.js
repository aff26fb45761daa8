// Elements from data. Whatever comes from the trace becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

/** Control characters and those that turn the direction of text are named instead of obeyed. */
function clean(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => `\u27e8U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`,
  );
}

/** The beginning of a text. */
function cut(text, most) {
  const letters = Array.from(clean(text));
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : letters.join("");
}

/** A name for so many letters: of an element of an array the index is kept, in which it differs from its neighbours. */
function narrow(text, most) {
  const letters = Array.from(clean(text));
  const at = letters.lastIndexOf("[");
  if (letters.length <= most || at < 1 || letters.at(-1) !== "]" || letters.length - at + 2 > most) return cut(text, Math.max(most, 40));
  return letters.slice(0, most - (letters.length - at) - 1).join("") + "\u2026" + letters.slice(at).join("");
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : clean(child));
  }
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Text from the trace, set apart from the direction of what stands around it. */
const name = (text, kind) => el("bdi", { class: kind ? `name ${kind}` : "name" }, text);
const button = (label, onclick, attributes) => el("button", { type: "button", onclick, ...attributes }, label);

/** An agent to click on. */
const agentChip = (agent, extra) =>
  button(name(agentName(agent)), () => select({ agent }), {
    class: `chip ${extra ?? ""} ${agentHistory[agent].at(state.time).status}`,
    "data-agent": agent,
    "aria-pressed": String(state.agent === agent),
    title: `Select ${cut(agentName(agent), 60)}`,
  });

/** A sentence in which `step 7` can be clicked on, and what stands in backquotes is code. */
function sentenceOf(text) {
  return clean(text).split(/(\bstep \d+\b|`.+?`)/).map((part) => {
    if (part.length > 2 && part.startsWith("`")) return el("code", null, part.slice(1, -1));
    const time = /^step (\d+)$/.exec(part)?.[1];
    return time && time <= LAST ? button(part, () => go(Number(time)), { class: "link" }) : part;
  });
}

/** Puts children in the place of those that are there; what is nothing is left out. */
function put(element, ...children) {
  element.replaceChildren();
  return fill(element, null, children);
}
