/**
 * Links and traces that nobody made: each is read, or refused in one line, within a second. `ACKCLOCK_FUZZ` sets the number of
 * each, `ACKCLOCK_FUZZ_FROM` the number of the first.
 */
import { expect, test } from "vitest";
import { broken, damaged, random } from "../tests/random";
import { loadHere } from "./engine/node";
import type { RunTrace } from "./engine/trace";
import { presets } from "./scenario/presets";
import { decode, encode, type State } from "./scenario/state";
import { fromToml, toToml } from "./scenario/toml";

const { ACKCLOCK_FUZZ, ACKCLOCK_FUZZ_FROM } = process.env;
const FIRST = Number(ACKCLOCK_FUZZ_FROM ?? 0);
const cases = (standard: number) => Number(ACKCLOCK_FUZZ ?? standard);
/** The longest that a case may take, ms of processor time: the machine may be busy. */
const LONGEST = 1000;
/** The most memory that this process may use, kB: Node, the engine, the page's code and any input. */
const MOST_KB = 1_000_000;
/** A case that waits for ever ends the test after ten minutes, unless more are asked for, ms. */
const PATIENCE = ACKCLOCK_FUZZ === undefined ? 600_000 : 24 * 3_600_000;

/** The processor time of this process, ms. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

type Next = () => number;

/** Runs numbered cases; `act` returns the refusal if there is one. Returns how many were read and how many refused. */
async function each<I>(
  count: number,
  draw: (next: Next) => I | Promise<I>,
  act: (input: I) => Promise<string | undefined>,
) {
  const counted = { read: 0, refused: 0 };
  for (let number = FIRST; number < FIRST + count; number++) {
    const input = await draw(random(number));
    const about = () =>
      `case ${number}: ${input instanceof Uint8Array ? Buffer.from(input).toString("base64") : input}`;
    const began = processorTime();
    const refusal = await act(input).catch((error) => {
      throw new Error(about(), { cause: error });
    });
    const ms = processorTime() - began;
    if (ms > LONGEST) expect.fail(`${ms} ms, ${about()}`);
    if (refusal !== undefined && (refusal === "" || refusal.includes("\n"))) expect.fail(`"${refusal}", ${about()}`);
    counted[refusal === undefined ? "read" : "refused"] += 1;
  }
  expect(process.resourceUsage().maxRSS).toBeLessThan(MOST_KB);
  return counted;
}

const opened = (file: BlobPart, kind: "csv" | "parquet" = "csv") => engine.opened({ file: new Blob([file]), kind });

/** The reader's refusal, or `undefined`. An error of a kind that only wrong code throws is no refusal. */
async function refusal(read: () => RunTrace | Promise<RunTrace>): Promise<string | undefined> {
  try {
    const { flows, durationS } = await read();
    for (const { sends } of flows)
      if (sends.time.length !== sends.fate.length) expect.fail("columns of several lengths");
    expect(durationS).toBeGreaterThanOrEqual(0);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message;
  }
}

const pick = <T>(of: readonly T[], next: Next) => of[Math.floor(next() * of.length)] as T;

/** A short run, with losses and SACK, whose trace has a few hundred rows. */
const engine = await loadHere();
const brief = { ...fromToml((await presets())[0]?.scenario ?? ""), run: { duration: "1 s" } };
const run = { scenario: toToml(brief), seed: 1 };
const csv = new TextDecoder().decode((await engine.csv(run)).bytes);
const parquet = (await engine.parquet(run)).bytes.slice();

test(
  "a damaged link is opened, or refused in one line; what is opened can be linked again",
  async () => {
    const all = await presets();
    const scenarios = all.map(({ scenario }) => fromToml(scenario));
    const draw = async (next: Next) => {
      const at = Math.floor(next() * all.length);
      const whole = { scenario: scenarios[at], stacks: all[at]?.stacks, seed: all[at]?.seed };
      const state = damaged(structuredClone(whole) as never, next) as unknown as State;
      const hash = await encode(state);
      const how = next();
      if (how < 0.6) return hash;
      if (how < 0.7) return hash.slice(0, Math.floor(next() * hash.length));
      if (how < 0.75)
        return decodeURIComponent(encodeURIComponent(`preset=${pick(all, next).id}%${pick([..."%2uz é"], next)}`));
      return new TextDecoder().decode(broken(new TextEncoder().encode(hash), next));
    };
    const counted = await each(cases(2000), draw, async (hash) => {
      const asked = await decode(hash);
      if (asked.what === "state") expect(await decode(await encode(asked.state))).toEqual(asked);
      return asked.what === "bad" ? asked.message : undefined;
    });
    expect(counted.read).toBeGreaterThan(cases(2000) / 10);
    expect(counted.refused).toBeGreaterThan(cases(2000) / 10);
  },
  PATIENCE,
);

/** Values that are wrong in most columns of a trace. */
const CELLS = [
  "",
  "0",
  "-1",
  "65536",
  "65537",
  "1e308",
  "-1e308",
  "NaN",
  "inf",
  "-inf",
  "9007199254740993",
  "0.5",
  "x",
  "true",
  "0x10",
  " ",
  "1-2 3-4",
  "-",
  "sender",
  "receiver",
  "sent",
  "delivered",
  "dropped",
  "refused",
  "queue",
  "window",
  "phase",
  "mistake",
];

/** A trace with rows changed, left out, repeated or at another place. */
function rows(next: Next): string {
  const [head = "", ...body] = csv.trimEnd().split("\n");
  const from = Math.floor(next() * body.length);
  const lines = [head, ...body.slice(from, from + 200)];
  for (let n = 1 + Math.floor(next() * 6); n > 0; n--) {
    const [at, to] = [0, 0].map(() => Math.floor(next() * lines.length)) as [number, number];
    const how = next();
    const cells = (lines[at] ?? "").split(",");
    if (how < 0.1) lines.splice(at, 1);
    else if (how < 0.2) lines.splice(to, 0, lines[at] ?? "");
    else if (how < 0.25) lines.splice(to, 0, ...lines.slice(at, at + 20));
    else {
      cells[Math.floor(next() * cells.length)] = pick(CELLS, next);
      lines[at] = cells.join(",");
    }
  }
  return lines.join(pick(["\n", "\n", "\n", "\r\n"], next));
}

test(
  "a damaged trace in CSV is read, or refused in one line",
  async () => {
    const counted = await each(cases(1500), rows, (text) => refusal(() => opened(text)));
    expect(counted.read).toBeGreaterThan(cases(1500) / 10);
    expect(counted.refused).toBeGreaterThan(cases(1500) / 10);
  },
  PATIENCE,
);

test(
  "a damaged trace in Parquet is read, or refused in one line",
  async () => {
    const draw = (next: Next) => broken(parquet, next);
    const counted = await each(cases(300), draw, (bytes) => refusal(() => opened(bytes.slice(), "parquet")));
    expect(counted.read).toBeGreaterThan(0);
    expect(counted.refused).toBeGreaterThan(cases(300) / 10);
  },
  PATIENCE,
);

test("a column of a trace that has -1 children is left out, and the others are read", async () => {
  const damaged = Buffer.from(parquet);
  // In the list of columns: a name of seven letters. Two of them become the number of children.
  const at = damaged.indexOf("\x18\x07episode", "latin1");
  expect(at).toBeGreaterThan(0);
  damaged.write("\x18\x05episo\x15\x01", at, "latin1");
  expect(await refusal(() => opened(Uint8Array.from(damaged), "parquet"))).toBeUndefined();
});

test("a row of the last flow costs no memory for the flows before it", async () => {
  const { flows } = await opened("time_ns,flow,side,event,packet,seq,len\n5,65535,sender,sent,0,1,1000\n");
  expect(flows.map(({ name }) => name)).toEqual(["flow 65535"]);
});

test("copies of one segment cost no more than other segments", async () => {
  const head = "time_ns,flow,side,event,packet,seq,len\n";
  const began = processorTime();
  const { flows } = await opened(head + "5,0,sender,sent,0,1,1000\n".repeat(100_000));
  expect(flows[0]?.sends.time.length).toBe(100_000);
  expect(processorTime() - began).toBeLessThan(3 * LONGEST);
});
