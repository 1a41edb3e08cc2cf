// Loads the laboratory: `const lab = await load(bytes)`, where bytes are those of ackclock_wasm.wasm.

export async function load(bytes) {
  const module = await WebAssembly.compile(bytes);

  // Runs the text of a scenario once, in an instance of its own. `stack` may be left out: the scenario's own. Returns what
  // `ackclock run --json` prints, parsed; throws an Error, for a refusal with its fields as `details`.
  async function run(scenario, { stack = "", seed = 1 } = {}) {
    const { exports } = await WebAssembly.instantiate(module, {});
    const put = (text) => {
      const utf8 = new TextEncoder().encode(text);
      const at = exports.alloc(utf8.length);
      new Uint8Array(exports.memory.buffer, at, utf8.length).set(utf8);
      return [at, utf8.length];
    };
    const take = (packed) => {
      const word = BigInt.asUintN(64, packed);
      const [at, length] = [Number(word >> 32n), Number(word & 0xffff_ffffn)];
      return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length));
    };
    let text;
    try {
      text = take(exports.run(...put(scenario), ...put(stack), BigInt(seed)));
    } catch (trap) {
      if (!(trap instanceof WebAssembly.RuntimeError)) throw trap;
      throw new Error(`the simulator stopped: ${take(exports.panic_message())}`, { cause: trap });
    }
    const answer = JSON.parse(text);
    if (answer.error) throw Object.assign(new Error(answer.error.message), { details: answer.error });
    return answer.ok;
  }

  return { run };
}
