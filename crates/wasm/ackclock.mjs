// Loads the laboratory: `const lab = await load(bytes)` with the bytes of ackclock_wasm.wasm, or with a compiled module.

const NO_MEMORY = "it needs more memory than it is given here; a shorter run or a smaller file needs less";
const ARRAYS = { f64: Float64Array, u32: Uint32Array, i32: Int32Array, u8: Uint8Array };

// An instance with more memory than this, bytes, serves one request: its memory never shrinks.
const MOST_KEPT = 96 * 2 ** 20;

export async function load(source) {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  let kept;

  // Handles a request (`Request` in src/lib.rs). Columns are returned as typed arrays that own their memory. `progress` is called with
  // the share that is done. `file` returns bytes of the file that comes with the request, if any: from a position on, up to the
  // requested length. Throws an Error; the Error of a refusal has the refusal's fields as `details`.
  async function ask(request, progress = () => {}, file = () => new Uint8Array(0)) {
    const side = kept ?? (await instance(module));
    kept = undefined;
    Object.assign(side, { progress, file });
    const answer = answered(side.exports, request);
    // After anything but an answer the instance is not used again.
    if (side.exports.memory.buffer.byteLength <= MOST_KEPT) {
      side.exports.release();
      kept = Object.assign(side, { progress: undefined, file: undefined });
    }
    if (answer.error) throw Object.assign(new Error(answer.error.message), { details: answer.error });
    return answer.ok;
  }

  // Runs the text of a scenario once and returns the parsed output of `ackclock run --json`.
  const run = (scenario, { stack, seed = 1 } = {}) => ask({ do: "run", scenario, stack, seed: String(seed) });

  return { ask, run };
}

// An instance of the module, with the services for its current request.
async function instance(module) {
  const side = {};
  const read = (from, into, length) => {
    const bytes = side.file(from, length);
    new Uint8Array(side.exports.memory.buffer, into, bytes.length).set(bytes);
    return bytes.length;
  };
  const { exports } = await WebAssembly.instantiate(module, { lab: { progress: (share) => side.progress(share), read } });
  return Object.assign(side, { exports });
}

// The answer with a copy of its columns.
function answered(exports, request) {
  const take = (packed) => {
    const word = BigInt.asUintN(64, packed);
    const [at, length] = [Number(word >> 32n), Number(word & 0xffff_ffffn)];
    return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length));
  };
  const utf8 = new TextEncoder().encode(JSON.stringify(request));
  const at = exports.alloc(utf8.length);
  new Uint8Array(exports.memory.buffer, at, utf8.length).set(utf8);
  let text;
  try {
    text = take(exports.ask());
  } catch (trap) {
    if (!(trap instanceof WebAssembly.RuntimeError)) throw trap;
    // When memory cannot grow, the engine stops without a panic, so there is no message.
    const why = take(exports.panic_message()) || NO_MEMORY;
    throw new Error(`the engine stopped: ${why}`, { cause: trap });
  }
  return JSON.parse(text, (_, value) => column(exports.memory, value));
}

// `{"f64": [[address, length], …]}` as one copy of these pieces of memory, any other value unchanged.
function column(memory, value) {
  for (const kind in ARRAYS) {
    const places = value?.[kind];
    if (Array.isArray(places)) return joined(ARRAYS[kind], memory.buffer, places);
  }
  return value;
}

function joined(kind, buffer, places) {
  let all;
  try {
    all = new kind(places.reduce((sum, [, length]) => sum + length, 0));
  } catch (error) {
    throw new Error(`the results: ${NO_MEMORY}`, { cause: error });
  }
  let at = 0;
  for (const [address, length] of places) {
    all.set(new kind(buffer, address, length), at);
    at += length;
  }
  return all;
}
