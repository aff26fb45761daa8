// The model itself, compiled to WebAssembly. It is unpacked when it is first asked, so that opening a page takes no longer.

const core = {
  /** Why there is none here. */
  missing: typeof WebAssembly !== "object" ? "This browser has no WebAssembly"
    : typeof DecompressionStream !== "function" ? "This browser cannot unpack what is compressed" : null,
  ready: null,
  exports: null,

  /** Gets it ready to be asked. */
  start() {
    this.ready ??= this.unpack();
    return this.ready;
  },

  async unpack() {
    const { instance } = await WebAssembly.instantiate(await unpacked($("core").textContent));
    this.exports = instance.exports;
    const { protocol, outcome: { rule, level }, steps: own } = given.trace;
    const opened = JSON.parse(this.call("open", [
      protocol.file, protocol.format, given.defines, protocol.exited_threads, rule ?? "", level ?? "",
      written(own.map(choiceOf)), protocol.source,
    ].join("\0")));
    if (opened.error) throw new Error(opened.error);
  },

  /** Text in, text out. */
  call(name, text) {
    const { memory, room, answer } = this.exports;
    const bytes = new TextEncoder().encode(text);
    const place = room(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const length = this.exports[name]() >>> 0;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, answer() >>> 0, length));
  },

  /** The answer to a question; `error` says why there is none, `text` is how it was written. */
  ask(question) {
    try {
      const text = this.call("ask", question);
      return { ...JSON.parse(text), text };
    } catch (error) {
      // What has failed once is not asked again; the next question begins anew.
      this.ready = null;
      return { error: `the model has failed (${error.message})` };
    }
  },
};

/** What was compiled, from the page's text: base 64 of a zlib stream, whose checksum is looked at. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** How a step is made: agent, move and pick, and a 1 where something lands that the agent has left pending. */
const numbers = ({ agent, move, pick, lands }) => [agent, move, pick, ...(lands ? [1] : [])];
const choiceOf = ({ agent, choice }) => numbers({ agent, ...choice });
const written = (own) => own.map((choice) => choice.join(".")).join(",");
const alike = (a, b) => a !== undefined && b !== undefined && a.join() === b.join();
