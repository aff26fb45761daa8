// The model itself, compiled to WebAssembly. It is unpacked when it is first asked, so that opening a page takes no longer.

const core = {
  /** Why there is none here. */
  missing: typeof WebAssembly !== "object" ? "This browser has no WebAssembly"
    : typeof DecompressionStream !== "function" ? "This browser has no DecompressionStream" : null,
  ready: null,
  exports: null,

  /** Gets it ready to be asked. */
  start() {
    this.ready ??= this.unpack();
    return this.ready;
  },

  async unpack() {
    const packed = Uint8Array.from(atob($("core").textContent), (c) => c.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const { instance } = await WebAssembly.instantiate(await new Response(unpacked).arrayBuffer());
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

/** How a step is made: agent, move and pick. */
const choiceOf = ({ agent, choice }) => [agent, choice.move, choice.pick];
const written = (own) => own.map((choice) => choice.join(".")).join(",");
const alike = (a, b) => a !== undefined && b !== undefined && a.join() === b.join();
